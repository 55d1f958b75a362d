//! `rand_like`: uniform random numbers from [0, 1), of the shape and dtype of the input.

use super::fill_uniform;
use crate::meaning::{Array, Meaning, MeaningCx, lies_in};
use crate::op::{Body, DTypeRule, Grad, Kernel, KernelCx, Onnx, Param, Surface, shapes};
use crate::{OpDef, Result, rules};

pub static OP: OpDef = OpDef {
    name: "rand_like",
    doc: "Uniform random numbers from [0, 1), of the shape and dtype of the input.",
    meaning: Meaning::drawn(could_be),
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::FloatsToSame,
    infer: rules::same_as_input,
    body: Body::Kernels(&[Kernel::new("rand_like.mersenne", run)
        .taking_narrow()
        .on_cuda(|cx| super::cuda::uniform(cx, 0.0, 1.0))]),
    grad: Grad::Stops("the result does not depend on other tensors"),
    step: None,
    pure: false,
    method: false,
    internal: false,
    surface: Surface {
        shapes: shapes::SAME,
        complex: Some(|cx| super::complex_draw_like(cx, &super::rand::OP)),
        ..Surface::PLAIN
    },
    onnx: Onnx::written("RandomUniform", super::onnx::rand),
    aliases: &[],
    examples: &[("rand_like(zeros(2, 3)).shape", "torch.Size([2, 3])")],
};

fn could_be(cx: &MeaningCx<'_>, drawn: &Array) -> bool {
    lies_in(drawn, cx.shape(0), 0.0..=1.0) && drawn.floats().iter().all(|it| *it < 1.0)
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    fill_uniform(cx, 0.0, 1.0)
}

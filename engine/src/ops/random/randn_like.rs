//! `randn_like`: normal random numbers of the shape and dtype of the input.

use super::fill_normal;
use crate::meaning::{Array, Meaning, MeaningCx, lies_in};
use crate::op::{Body, DTypeRule, Grad, Kernel, KernelCx, Onnx, Param, Surface, shapes};
use crate::{OpDef, Result, rules};

pub static OP: OpDef = OpDef {
    name: "randn_like",
    doc: "Normal random numbers of the shape and dtype of the input.",
    meaning: Meaning::drawn(could_be),
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::FloatsToSame,
    infer: rules::same_as_input,
    body: Body::Kernels(&[Kernel::new("randn_like.mersenne", run)
        .taking_narrow()
        .on_cuda(|cx| super::cuda::normal(cx, 0.0, 1.0))]),
    grad: Grad::Stops("the result does not depend on other tensors"),
    step: None,
    pure: false,
    method: false,
    internal: false,
    surface: Surface {
        shapes: shapes::SAME,
        complex: Some(|cx| super::complex_draw_like(cx, &super::randn::OP)),
        ..Surface::PLAIN
    },
    onnx: Onnx::written("RandomNormal", super::onnx::randn),
    aliases: &[],
    examples: &[("randn_like(zeros(2, 3)).shape", "torch.Size([2, 3])")],
};

fn could_be(cx: &MeaningCx<'_>, drawn: &Array) -> bool {
    lies_in(drawn, cx.shape(0), f64::MIN..=f64::MAX)
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    fill_normal(cx, 0.0, 1.0)
}

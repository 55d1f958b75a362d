//! `rand`: uniform random numbers from [0, 1).

use super::{fill_uniform, size_infer};
use crate::meaning::{Array, Meaning, MeaningCx, lies_in};
use crate::op::{
    Body, DTypeRule, Default, Grad, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind, Surface,
    shapes,
};
use crate::{Metas, OpDef, Result};

pub static OP: OpDef = OpDef {
    name: "rand",
    doc: "Uniform random numbers from [0, 1).",
    meaning: Meaning::drawn(could_be),
    params: &[
        Param::required("size", ParamKind::Ints),
        Param::with("dtype", ParamKind::OptDType, Default::None),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::new("rand.mersenne", run)
        .taking_narrow()
        .on_cuda(|cx| super::cuda::uniform(cx, 0.0, 1.0))]),
    grad: Grad::Stops("the result does not depend on other tensors"),
    step: None,
    pure: false,
    method: false,
    internal: false,
    surface: Surface {
        shapes: shapes::SIZE,
        complex: Some(|cx| super::complex_draw(cx, &OP, &[])),
        ..Surface::PLAIN
    },
    onnx: Onnx::written("RandomUniform", super::onnx::rand),
    aliases: &["oneflow.rand"],
    examples: &[
        ("rand((2, 3)).shape", "torch.Size([2, 3])"),
        ("rand((0,))", "tensor([])"),
        ("((rand((100,)) >= 0) & (rand((100,)) < 1)).all()", "tensor(True)"),
    ],
};

fn could_be(cx: &MeaningCx<'_>, drawn: &Array) -> bool {
    lies_in(drawn, &cx.sizes(0), 0.0..=1.0) && drawn.floats().iter().all(|it| *it < 1.0)
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    size_infer(cx, 0, 1)
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    fill_uniform(cx, 0.0, 1.0)
}

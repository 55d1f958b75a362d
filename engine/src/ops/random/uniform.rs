//! `uniform`: uniform random numbers from [low, high).

use super::{fill_uniform, size_infer};
use crate::meaning::{Array, Meaning, MeaningCx, lies_in};
use crate::op::{
    Body, DTypeRule, Default, Grad, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind, Surface,
};
use crate::{Metas, OpDef, Result};

pub static OP: OpDef = OpDef {
    name: "uniform",
    doc: "Uniform random numbers from [low, high).",
    meaning: Meaning::drawn(could_be),
    params: &[
        Param::with("low", ParamKind::Float, Default::Float(0.0)),
        Param::with("high", ParamKind::Float, Default::Float(1.0)),
        Param::with("size", ParamKind::Ints, Default::Ints(&[1])),
        Param::with("dtype", ParamKind::OptDType, Default::None),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::new("uniform.mersenne", run)
        .taking_narrow()
        .on_cuda(|cx| super::cuda::uniform(cx, cx.float(0), cx.float(1)))]),
    grad: Grad::Stops("the result does not depend on other tensors"),
    step: None,
    pure: false,
    method: false,
    internal: false,
    surface: Surface {
        shapes: "the given size, or the broadcast shape of the bounds",
        ..Surface::PLAIN
    },
    onnx: Onnx::written("RandomUniform", super::onnx::uniform),
    aliases: &["megengine.random.uniform"],
    examples: &[
        ("uniform(2.0, 2.0, (2,))", "tensor([2., 2.])"),
        ("uniform(size=(3, 1)).shape", "torch.Size([3, 1])"),
    ],
};

fn could_be(cx: &MeaningCx<'_>, drawn: &Array) -> bool {
    lies_in(drawn, &cx.sizes(2), cx.float(0)..=cx.float(1))
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    size_infer(cx, 2, 3)
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (low, high) = (cx.float(0), cx.float(1));
    fill_uniform(cx, low, high)
}

//! `randn`: normal random numbers with mean 0 and standard deviation 1.

use std::f64::consts::SQRT_2;

use super::{fill_normal, size_infer};
use crate::meaning::{Array, Meaning, MeaningCx, lies_in};
use crate::op::{
    Body, DTypeRule, Default, Grad, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind, Surface,
    shapes,
};
use crate::{Metas, OpDef, Result};

pub static OP: OpDef = OpDef {
    name: "randn",
    doc: "Normal random numbers with mean 0 and standard deviation 1.",
    meaning: Meaning::drawn(could_be),
    params: &[
        Param::required("size", ParamKind::Ints),
        Param::with("dtype", ParamKind::OptDType, Default::None),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::new("randn.mersenne", run)
        .taking_narrow()
        .on_cuda(|cx| super::cuda::normal(cx, 0.0, 1.0))]),
    grad: Grad::Stops("the result does not depend on other tensors"),
    step: None,
    pure: false,
    method: false,
    internal: false,
    surface: Surface {
        shapes: shapes::SIZE,
        complex: Some(|cx| super::complex_draw(cx, &super::normal::OP, &[0.0, 1.0 / SQRT_2])),
        ..Surface::PLAIN
    },
    onnx: Onnx::written("RandomNormal", super::onnx::randn),
    aliases: &["oneflow.randn"],
    examples: &[("randn((2, 3)).shape", "torch.Size([2, 3])"), ("randn((0,))", "tensor([])")],
};

fn could_be(cx: &MeaningCx<'_>, drawn: &Array) -> bool {
    lies_in(drawn, &cx.sizes(0), f64::MIN..=f64::MAX)
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    size_infer(cx, 0, 1)
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    fill_normal(cx, 0.0, 1.0)
}

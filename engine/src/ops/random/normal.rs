//! `normal`: normal random numbers with the given mean and standard deviation.

use super::{fill_normal, size_infer};
use crate::meaning::{Array, Meaning, MeaningCx, lies_in};
use crate::op::{
    Body, DTypeRule, Default, Form, Grad, InferCx, Is, Kernel, KernelCx, Onnx, Param, ParamKind,
    Surface, When,
};
use crate::{Error, Metas, OpDef, Result};

pub static OP: OpDef = OpDef {
    name: "normal",
    doc: "Normal random numbers with the given mean and standard deviation.",
    meaning: Meaning::drawn(could_be),
    params: &[
        Param::with("mean", ParamKind::Float, Default::Float(0.0)),
        Param::with("std", ParamKind::Float, Default::Float(1.0)),
        Param::with("size", ParamKind::Ints, Default::Ints(&[1])),
        Param::with("dtype", ParamKind::OptDType, Default::None),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::new("normal.mersenne", run)
        .taking_narrow()
        .on_cuda(|cx| super::cuda::normal(cx, cx.float(0), cx.float(1)))]),
    grad: Grad::Stops("the result does not depend on other tensors"),
    step: None,
    pure: false,
    method: false,
    internal: false,
    surface: Surface {
        form: Some(Form::new(
            "normal",
            When::Any(&[When::Arg("mean", Is::Tensor), When::Arg("std", Is::Tensor)]),
        )),
        shapes: "the given size, or the broadcast shape of mean and std",
        ..Surface::PLAIN
    },
    onnx: Onnx::written("RandomNormal", super::onnx::normal),
    aliases: &["megengine.random.normal", "oneflow.normal"],
    examples: &[
        ("normal(5.0, 0.0, (2,))", "tensor([5., 5.])"),
        ("normal(size=(2, 2)).shape", "torch.Size([2, 2])"),
    ],
};

fn could_be(cx: &MeaningCx<'_>, drawn: &Array) -> bool {
    lies_in(drawn, &cx.sizes(2), f64::MIN..=f64::MAX)
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    if cx.float(1) < 0.0 {
        return Err(Error::Attr {
            op: cx.op.name,
            name: "std",
            problem: "must not be negative".into(),
        });
    }
    size_infer(cx, 2, 3)
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (mean, std) = (cx.float(0), cx.float(1));
    fill_normal(cx, mean, std)
}

//! `zeros`: a tensor of the number 0.

use super::{fill, sized};
use crate::Result;
use crate::dtype::Number;
use crate::meaning::{Array, Meaning};
use crate::op::{
    Body, DTypeRule, Default, Grad, Kernel, KernelCx, Onnx, OpDef, Param, ParamKind, Surface,
    shapes,
};

/// The row of `zeros`.
pub static OP: OpDef = OpDef {
    name: "zeros",
    doc: "A tensor of the given sizes in which every element is 0.",
    meaning: Meaning::of(|cx| Array::from_fn(&cx.sizes(0), cx.dtypes[0], |_| Number::Int(0))),
    params: &[
        Param::required("size", ParamKind::Ints),
        Param::with("dtype", ParamKind::OptDType, Default::None),
    ],
    dtypes: DTypeRule::Any,
    infer: sized,
    body: Body::Kernels(&[
        Kernel::moving("zeros.plain", run).on_cuda(|cx| super::cuda::fill(cx, Number::Int(0)))
    ]),
    grad: Grad::Stops("it has no tensor inputs"),
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface { shapes: shapes::SIZE, ..Surface::PLAIN },
    onnx: Onnx::written("Expand", super::onnx::zeros),
    aliases: &["megengine.functional.zeros", "oneflow.zeros", "numpy.zeros"],
    examples: &[
        ("zeros((2, 2))", "tensor([[0., 0.],\n        [0., 0.]])"),
        ("zeros((3,), dtype=int64)", "tensor([0, 0, 0])"),
        ("zeros((0,))", "tensor([])"),
    ],
};

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    fill(&mut cx.outputs[0], Number::Int(0));
    Ok(())
}

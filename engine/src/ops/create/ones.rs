//! `ones`: a tensor of the number 1.

use super::{fill, sized};
use crate::Result;
use crate::dtype::Number;
use crate::meaning::{Array, Meaning};
use crate::op::{
    Body, DTypeRule, Default, Grad, Kernel, KernelCx, Onnx, OpDef, Param, ParamKind, Surface,
    shapes,
};

/// The row of `ones`.
pub static OP: OpDef = OpDef {
    name: "ones",
    doc: "A tensor of the given sizes in which every element is 1.",
    meaning: Meaning::of(|cx| Array::from_fn(&cx.sizes(0), cx.dtypes[0], |_| Number::Int(1))),
    params: &[
        Param::required("size", ParamKind::Ints),
        Param::with("dtype", ParamKind::OptDType, Default::None),
    ],
    dtypes: DTypeRule::Any,
    infer: sized,
    body: Body::Kernels(&[
        Kernel::moving("ones.plain", run).on_cuda(|cx| super::cuda::fill(cx, Number::Int(1)))
    ]),
    grad: Grad::Stops("it has no tensor inputs"),
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface { shapes: shapes::SIZE, ..Surface::PLAIN },
    onnx: Onnx::written("Expand", super::onnx::ones),
    aliases: &["megengine.functional.ones", "oneflow.ones", "numpy.ones"],
    examples: &[
        ("ones((2, 2))", "tensor([[1., 1.],\n        [1., 1.]])"),
        ("ones((3,), dtype=int64)", "tensor([1, 1, 1])"),
        ("ones((0,))", "tensor([])"),
    ],
};

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    fill(&mut cx.outputs[0], Number::Int(1));
    Ok(())
}

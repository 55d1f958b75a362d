//! `sum`: the sum over dimensions, or of all elements.

use super::{accumulate, dims_attr, spread};
use crate::apply::complex::by_parts;
use crate::cpu::reduce;
use crate::meaning::{Array, Meaning, MeaningCx, Scalar, of_kind, over};
use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, Kernel, KernelCx, Onnx, Param, ParamKind, Saves,
    Surface, shapes,
};
use crate::{OpDef, Result, Tensor};

pub static OP: OpDef = OpDef {
    name: "sum",
    doc: "The sum over dimensions, or of all elements. Integers and bools add up in int64.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("input"),
        Param::with("dim", ParamKind::OptInts, Default::None),
        Param::with("keepdim", ParamKind::Bool, Default::Bool(false)),
        Param::with("dtype", ParamKind::OptDType, Default::None),
    ],
    dtypes: DTypeRule::Any,
    infer: super::infer_accumulated,
    body: Body::Kernels(&[Kernel::new("reduce.sum", run)
        .finishing()
        .with_prologue(super::accumulated)
        .on_cuda(|cx| super::cuda::accumulate(cx, "ng_sum"))]),
    grad: Grad::Rule(grad, Saves::Shapes),
    step: Some(|cx| if cx.has(0) { "SumBackward1" } else { "SumBackward0" }),
    pure: true,
    method: true,
    internal: false,
    surface: Surface { shapes: shapes::REDUCED, complex: Some(by_parts), ..Surface::PLAIN },
    onnx: Onnx::written("ReduceSum", super::onnx::sum),
    aliases: &["megengine.functional.sum", "oneflow.sum"],
    examples: &[
        ("sum(tensor([1.0, 2.0, 3.0]))", "tensor(6.)"),
        ("sum(tensor([[1, 2], [3, 4]]), 0)", "tensor([4, 6])"),
        ("sum(tensor([True, True, False]))", "tensor(2)"),
        ("sum(zeros(0))", "tensor(0.)"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (x, dims) = (cx.input(0).to(cx.dtypes[0]), cx.dims(0, cx.input(0).rank()));
    of_kind!(&x, x => over(x, &dims, cx.flag(1), Scalar::total))
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    accumulate(cx, reduce::Sum)
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let shape = cx.input(0).shape();
    let dims = dims_attr(cx.op.name, cx.attrs, 0, shape.rank())?;
    Ok(vec![Some(spread(&cx.output_grad()?, shape, &dims)?)])
}

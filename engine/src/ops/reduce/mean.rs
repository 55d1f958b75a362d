//! `mean`: the mean over dimensions, or of all elements.

use smallvec::smallvec;

use super::{dims_attr, fold_into, n_reduced, reduced_shape, spread};
use crate::apply::complex::by_parts;
use crate::cpu::reduce;
use crate::functional::{div, num};
use crate::meaning::{Array, Meaning, MeaningCx, Scalar, over};
use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind,
    Saves, Surface, shapes,
};
use crate::{Attr, DType, Error, Meta, Metas, OpDef, Result, Tensor, with_float};

pub static OP: OpDef = OpDef {
    name: "mean",
    doc: "The mean over dimensions, or of all elements. Of nothing it is NaN.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("input"),
        Param::with("dim", ParamKind::OptInts, Default::None),
        Param::with("keepdim", ParamKind::Bool, Default::Bool(false)),
        Param::with("dtype", ParamKind::OptDType, Default::None),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::new("reduce.mean", run)
        .finishing()
        .with_prologue(prologue)
        .on_cuda(|cx| super::cuda::accumulate(cx, "ng_mean"))]),
    grad: Grad::Rule(grad, Saves::Shapes),
    step: Some(|cx| if cx.has(0) { "MeanBackward1" } else { "MeanBackward0" }),
    pure: true,
    method: true,
    internal: false,
    surface: Surface { shapes: shapes::REDUCED, complex: Some(by_parts), ..Surface::PLAIN },
    onnx: Onnx::written("ReduceMean", super::onnx::mean),
    aliases: &["megengine.functional.mean", "oneflow.mean"],
    examples: &[
        ("mean(tensor([1.0, 2.0, 6.0]))", "tensor(3.)"),
        ("mean(tensor([[1.0, 2.0], [3.0, 5.0]]), 1)", "tensor([1.5000, 4.0000])"),
        ("mean(zeros(0))", "tensor(nan)"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (x, dims) = (cx.input(0).floats(), cx.dims(0, cx.input(0).rank()));
    over(&x, &dims, cx.flag(1), |all| f64::total(all) / all.len() as f64).into()
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let dims = dims_attr(cx.op.name, cx.attrs, 0, cx.shape(0).rank())?;
    Ok(smallvec![Meta::new(reduced_shape(cx.shape(0), &dims, cx.flag(1)), mean_dtype(cx)?)])
}

/// Whole numbers have no mean of their own dtype; one must be named.
fn mean_dtype(cx: &InferCx<'_>) -> Result<DType> {
    let dtype = match cx.attrs.get(2) {
        Some(Attr::DType(dtype)) => *dtype,
        _ => cx.dtype(0),
    };
    let allowed = "floats; convert with .float() or pass dtype=float32";
    if dtype.is_float() { Ok(dtype) } else { Err(Error::DType { op: cx.op.name, dtype, allowed }) }
}

/// What is summed is converted first.
fn prologue(cx: &InferCx<'_>) -> Option<DType> {
    mean_dtype(cx).ok().map(DType::computed)
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let shape = cx.operand().shape();
    let n = n_reduced(shape, &dims_attr(cx.op.name, cx.attrs, 0, shape.rank())?) as f64;
    with_float!(cx.op.name, cx.outputs[0].dtype(), T => {
        fold_into::<T, _, T>(cx, 0, reduce::Sum, |sum| (sum / n) as T)
    })
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let shape = cx.input(0).shape();
    let dims = dims_attr(cx.op.name, cx.attrs, 0, shape.rank())?;
    let scaled = div(&cx.output_grad()?, &num(n_reduced(shape, &dims) as f64))?;
    Ok(vec![Some(spread(&scaled, shape, &dims)?)])
}

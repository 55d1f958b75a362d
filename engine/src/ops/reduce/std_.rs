//! `std`: the standard deviation over dimensions, or of all elements: the root of the variance.

use smallvec::smallvec;

use crate::functional::{div, eq, mul, num, select_where, sqrt};
use crate::meaning::Meaning;
use crate::op::{
    Body, ComposedCx, DTypeRule, Default, Grad, GradCx, Kernel, KernelCx, Onnx, Param, ParamKind,
    Saves, Surface, shapes,
};
use crate::{OpDef, Outputs, Result, Tensor, apply_one, functional};

pub static OP: OpDef = OpDef {
    name: "std",
    doc: "The standard deviation over dimensions, or of all elements: the root of the variance.",
    meaning: Meaning::of(|cx| super::spreads(cx, f64::sqrt)),
    params: &[
        Param::tensor("input"),
        Param::with("dim", ParamKind::OptInts, Default::None),
        Param::with("correction", ParamKind::OptFloat, Default::Int(1)),
        Param::with("keepdim", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::FloatsToSame,
    infer: super::infer_variances,
    body: Body::Kernels(&[Kernel::new("reduce.std", run)
        .finishing()
        .with_prologue(super::streamed)
        .on_cuda(|cx| super::cuda::spread(cx, "ng_deviation"))]),
    grad: Grad::Rule(grad, Saves::Both),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface { shapes: shapes::REDUCED, complex: Some(of_complex), ..Surface::PLAIN },
    onnx: Onnx::written("ReduceMean", super::onnx::std),
    aliases: &["megengine.functional.std", "oneflow.std"],
    examples: &[
        ("std(tensor([1.0, 2.0, 4.0]))", "tensor(1.5275)"),
        ("std(tensor([[1.0, 2.0], [3.0, 5.0]]), 1, correction=0)", "tensor([0.5000, 1.0000])"),
        ("std(tensor([1.0]))", "tensor(nan)"),
    ],
};

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    super::variances(cx, f64::sqrt)
}

/// The root of the variance.
fn of_complex(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let variance = apply_one(&super::var::OP, std::slice::from_ref(cx.input(0)?), cx.attrs)?;
    Ok(smallvec![sqrt(&variance)?])
}

/// As for the variance, with `dy / (2 y)`; 0 where `y` is 0.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let (y, dy) = (cx.output(0), cx.output_grad()?);
    let scaled = div(&dy, &mul(y, &num(2.0))?)?;
    let zeros = functional::full(y.shape(), 0.0, y.dtype())?;
    let scaled = select_where(&eq(y, &num(0.0))?, &zeros, &scaled)?;
    Ok(vec![Some(super::variance_grad(cx, &scaled)?)])
}

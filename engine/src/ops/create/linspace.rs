//! `linspace`: numbers evenly spaced over a range, both ends included.

use smallvec::smallvec;

use super::{dtype_or, fill_with, number_or};
use crate::dtype::Number;
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    self, Body, DTypeRule, Default, Grad, InferCx, Kernel, KernelCx, Onnx, OpDef, Param, ParamKind,
    Surface,
};
use crate::tensor::Metas;
use crate::{DType, Error, Meta, Result, Shape};

/// The row of `linspace`.
pub static OP: OpDef = OpDef {
    name: "linspace",
    doc: "`steps` numbers evenly spaced from `start` to `end`, both included.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::required("start", ParamKind::Float),
        Param::required("end", ParamKind::Float),
        Param::required("steps", ParamKind::Int),
        Param::with("dtype", ParamKind::OptDType, Default::None),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::moving("linspace.plain", run).on_cuda(|cx| {
        let number = |idx| number_or(cx.attrs, idx, Number::Int(0)).as_f64();
        super::cuda::spaced(cx, number(0), number(1))
    })]),
    grad: Grad::Stops("it has no tensor inputs"),
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface { shapes: "[steps]", ..Surface::PLAIN },
    onnx: Onnx::written("Constant", super::onnx::elements),
    aliases: &["megengine.functional.linspace", "oneflow.linspace", "numpy.linspace"],
    examples: &[
        ("linspace(0.0, 1.0, 5)", "tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])"),
        ("linspace(3, -3, 3)", "tensor([ 3.,  0., -3.])"),
        ("linspace(2.0, 9.0, 1)", "tensor([2.])"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (start, end) = (cx.float(0), cx.float(1));
    let n_gaps = (cx.int(2) - 1).max(1) as f64;
    let at = |it: &[usize]| Number::Float(start + (end - start) * it[0] as f64 / n_gaps);
    Array::from_fn(&[cx.int(2) as usize], cx.dtypes[0], at)
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let steps = usize::try_from(cx.int(2)).map_err(|_| Error::Attr {
        op: "linspace",
        name: "steps",
        problem: "must not be negative".into(),
    })?;
    Ok(smallvec![Meta::new(Shape::from([steps]), dtype_or(cx.attrs, 3, DType::F32))])
}

/// Counts from both ends, so that the last number is `end` itself.
fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let steps = op::int(cx.attrs, 2).max(0) as usize;
    let number = |idx| number_or(cx.attrs, idx, Number::Int(0)).as_f64();
    let (start, end) = (number(0), number(1));
    let step = if steps > 1 { (end - start) / (steps - 1) as f64 } else { 0.0 };
    // From the nearer end, as one product and one sum.
    let near_start = if steps == 1 { 1 } else { steps / 2 };
    fill_with(&mut cx.outputs[0], |idx| {
        let (from, to) = if idx < near_start { (start, 0) } else { (end, steps - 1) };
        Number::Float(from + step * (idx as i64 - to as i64) as f64)
    });
    Ok(())
}

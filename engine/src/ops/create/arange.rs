//! `arange`: numbers in equal steps.

use smallvec::smallvec;

use super::{dtype_or, fill_with, number_or};
use crate::dtype::Number;
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, DTypeRule, Default, Grad, InferCx, Kernel, KernelCx, Onnx, OpDef, Param, ParamKind,
    Surface,
};
use crate::tensor::Metas;
use crate::{Attr, Attrs, DType, Error, Meta, Result, Shape};

/// The row of `arange`.
pub static OP: OpDef = OpDef {
    name: "arange",
    doc: "The numbers `start`, `start + step`, ... before `end`; with one number they run from 0 to it. Whole numbers give int64.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::required("start", ParamKind::Float),
        Param::with("end", ParamKind::OptFloat, Default::None),
        Param::with("step", ParamKind::Float, Default::Int(1)),
        Param::with("dtype", ParamKind::OptDType, Default::None),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::moving("arange.plain", run).on_cuda(|cx| {
        let (start, step) = stepped(cx.attrs);
        super::cuda::steps(cx, start, step)
    })]),
    grad: Grad::Stops("it has no tensor inputs"),
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface { shapes: "[n] with n = (end - start) / step, rounded up", ..Surface::PLAIN },
    onnx: Onnx::written("Range", super::onnx::arange),
    aliases: &["megengine.functional.arange", "oneflow.arange", "numpy.arange"],
    examples: &[
        ("arange(4)", "tensor([0, 1, 2, 3])"),
        ("arange(1.0, 2.0, 0.25)", "tensor([1.0000, 1.2500, 1.5000, 1.7500])"),
        ("arange(5, 0, -2)", "tensor([5, 3, 1])"),
        ("arange(3, 3)", "tensor([], dtype=torch.int64)"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let first = cx.number(0, Number::Int(0));
    let (start, end) = match cx.number(1, Number::Bool(false)) {
        Number::Bool(_) => (Number::Int(0), first),
        end => (first, end),
    };
    let step = cx.number(2, Number::Int(1));
    let from = |start: Number, step: Number, it: usize| match (start, step) {
        (Number::Int(start), Number::Int(step)) => Number::Int(start + step * it as i64),
        _ => Number::Float(start.as_f64() + step.as_f64() * it as f64),
    };
    let is_inside = |it: &usize| match step.as_f64() > 0.0 {
        true => from(start, step, *it).as_f64() < end.as_f64(),
        false => from(start, step, *it).as_f64() > end.as_f64(),
    };
    let len = (0..).take_while(is_inside).count();
    let [start, step] = [start, step].map(|it| match it {
        Number::Float(float) if cx.dtypes[0].is_int() => Number::Int(float.trunc() as i64),
        it => it,
    });
    Array::from_fn(&[len], cx.dtypes[0], |it| from(start, step, it[0]))
}

/// (start, end, step).
fn bounds(attrs: &Attrs) -> (Number, Number, Number) {
    let first = number_or(attrs, 0, Number::Int(0));
    let step = number_or(attrs, 2, Number::Int(1));
    match attrs.get(1) {
        None | Some(Attr::None) => (Number::Int(0), first, step),
        _ => (first, number_or(attrs, 1, Number::Int(0)), step),
    }
}

/// Start and step as they count: in an integer dtype without their fractions.
fn stepped(attrs: &Attrs) -> (Number, Number) {
    let (start, _, step) = bounds(attrs);
    let is_whole = matches!(attrs.get(3), Some(Attr::DType(it)) if it.is_int());
    let counted = |it: Number| if is_whole { Number::Int(it.as_i64()) } else { it };
    (counted(start), counted(step))
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let (start, end, step) = bounds(cx.attrs);
    let bad = |problem: &str| Error::Attr { op: "arange", name: "step", problem: problem.into() };
    let len = match (start, end, step) {
        (Number::Int(start), Number::Int(end), Number::Int(step)) => {
            let (gap, step) = (i128::from(end) - i128::from(start), i128::from(step));
            if step == 0 {
                return Err(bad("must not be 0"));
            }
            if gap.signum() * step.signum() < 0 {
                return Err(bad("leads away from `end`"));
            }
            usize::try_from((gap.abs() + step.abs() - 1) / step.abs()).unwrap_or(usize::MAX)
        }
        _ => {
            let (gap, step) = (end.as_f64() - start.as_f64(), step.as_f64());
            if step == 0.0 || !gap.is_finite() || !step.is_finite() {
                return Err(bad("must not be 0, and the bounds must be finite"));
            }
            if gap * step < 0.0 {
                return Err(bad("leads away from `end`"));
            }
            (gap / step).ceil() as usize
        }
    };
    let whole = [start, end, step].iter().all(|it| !matches!(it, Number::Float(_)));
    let own = if whole { DType::I64 } else { DType::F32 };
    Ok(smallvec![Meta::new(Shape::from([len]), dtype_or(cx.attrs, 3, own))])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (start, step) = stepped(cx.attrs);
    if let (Number::Int(start), Number::Int(step)) = (start, step) {
        let at = |idx: usize| Number::Int(start.wrapping_add(step.wrapping_mul(idx as i64)));
        fill_with(&mut cx.outputs[0], at);
        return Ok(());
    }
    let (start, step) = (start.as_f64(), step.as_f64());
    fill_with(&mut cx.outputs[0], |idx| Number::Float(start + step * idx as f64));
    Ok(())
}

//! `bincount`: how often each whole number from 0 on occurs in a vector, or the sum of the `weights` there.

use smallvec::smallvec;

use crate::cpu::interrupt;
use crate::cpu::lane::cast;
use crate::dtype::Number;
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::AdmitCx;
use crate::op::CudaCx;
use crate::op::{
    Body, DTypeRule, Default, Grad, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind, Surface,
};
use crate::ops::create;
use crate::ops::index::cuda::{ADD, place_along};
use crate::{
    Attr, DType, Error, Meta, Metas, OpDef, Result, Shape, Tensor, functional, with_dtype,
};

pub static OP: OpDef = OpDef {
    name: "bincount",
    doc: "How often each whole number from 0 on occurs in a vector, or the sum of the `weights` there.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("input"),
        Param::with("weights", ParamKind::OptTensor, Default::None),
        Param::with("minlength", ParamKind::Int, Default::Int(0)),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::new("bincount.loop", run).admitting(admits).on_cuda(on_cuda)]),
    grad: Grad::Stops("counts change in jumps"),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        shapes: "[N] gives [largest number + 1], or [minlength] if that is more",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("bincount(tensor([0, 2, 2]))", "tensor([1, 0, 2])"),
        ("bincount(tensor([1]), minlength=3)", "tensor([0, 1, 0])"),
        ("bincount(tensor([0, 1, 1]), tensor([0.5, 1.0, 2.0]))", "tensor([0.5000, 3.0000])"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let numbers = cx.input(0).ints();
    let len = numbers.iter().map(|it| it + 1).fold(cx.int(0), i64::max) as usize;
    let zeros = Array::from_fn(&[len], cx.dtypes[0], |_| Number::Int(0));
    let ones = Array::from(numbers.mapv(|_| 1));
    let weights = cx.inputs.get(1).unwrap_or(&ones);
    zeros.placed(weights, true, |at| Some(vec![numbers[at] as usize]))
}

/// The shape depends on the elements, so a tensor without elements is refused.
fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    if !cx.dtype(0).is_int() {
        let (op, dtype) = (cx.op.name, cx.dtype(0));
        return Err(Error::DType { op, dtype, allowed: "whole numbers; convert with .long()" });
    }
    if cx.int(0) < 0 {
        let (name, problem) = ("minlength", "must not be negative".into());
        return Err(Error::Attr { op: cx.op.name, name, problem });
    }
    if cx.shape(0).rank() != 1 || cx.inputs.get(1).is_some_and(|it| it.shape() != cx.shape(0)) {
        return Err(cx.bad_shapes("a vector of whole numbers is needed, with as many weights"));
    }
    let values = cx.inputs[0].to_f64_vec()?;
    let len = values.iter().fold(-1.0, |a: f64, &b| a.max(b)) as i64 + 1;
    let weighed = |it: &Tensor| if it.dtype() == DType::F32 { DType::F32 } else { DType::F64 };
    let dtype = cx.inputs.get(1).map_or(DType::I64, weighed);
    Ok(smallvec![Meta::new(Shape::from([len.max(cx.int(0)) as usize]), dtype)])
}

fn admits(cx: &AdmitCx<'_>) -> Result<()> {
    cx.each_int(0, |it| it >= 0, negative)
}

fn negative(_: i64) -> Error {
    Error::Attr { op: "bincount", name: "input", problem: "must not be negative".into() }
}

fn on_cuda(cx: &CudaCx<'_>) -> Result<()> {
    let out = &cx.outputs[0];
    create::cuda::fill(cx, Number::Int(0))?;
    let counted = match cx.inputs.get(1) {
        Some(weights) => functional::to(weights, out.dtype())?,
        None => functional::full(cx.shape(0), 1.0, out.dtype())?,
    };
    let index = cx.inputs[..1].iter().chain(&cx.inputs[..1]).cloned().collect::<Vec<_>>();
    let cx = CudaCx { inputs: &index, attrs: &smallvec![Attr::Int(0)], ..*cx };
    place_along(&cx, out, &counted, false, ADD, Some(negative))
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let index = crate::op::indices(cx.op.name, &cx.inputs[0])?;
    let weights = cx.inputs.get(1).map(cast::<f64>);
    with_dtype!(cx.outputs[0].dtype(), T => {
        let out = cx.outputs[0].as_mut_slice::<T>();
        interrupt::fill(out, T::default());
        for (at, &index) in index.iter().enumerate() {
            out[index as usize] += weights.as_ref().map_or(1.0, |it| it[at]) as T;
        }
    });
    Ok(())
}

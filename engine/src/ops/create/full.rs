//! `full`: a tensor of one number.

use smallvec::smallvec;

use super::{dtype_of, dtype_or, fill, number_or, sizes};
use crate::dtype::Number;
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, DTypeRule, Default, Grad, InferCx, Kernel, KernelCx, Onnx, OpDef, Param, ParamKind,
    Surface, shapes,
};
use crate::tensor::Metas;
use crate::{Meta, Result, rules};

/// The row of `full`.
pub static OP: OpDef = OpDef {
    name: "full",
    doc: "A tensor of the given sizes in which every element is `fill_value`.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::required("size", ParamKind::Ints),
        Param::required("fill_value", ParamKind::Number),
        Param::with("dtype", ParamKind::OptDType, Default::None),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::moving("full.plain", run)
        .on_cuda(|cx| super::cuda::fill(cx, number_or(cx.attrs, 1, Number::Float(0.0))))]),
    grad: Grad::Stops("it has no tensor inputs"),
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface { shapes: shapes::SIZE, ..Surface::PLAIN },
    onnx: Onnx::written("Expand", super::onnx::full),
    aliases: &["megengine.functional.full", "oneflow.full", "numpy.full"],
    examples: &[
        ("full((2, 2), 3.0)", "tensor([[3., 3.],\n        [3., 3.]])"),
        ("full((3,), 7)", "tensor([7, 7, 7])"),
        ("full((2,), True)", "tensor([True, True])"),
        ("full((0,), nan)", "tensor([])"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let number = cx.number(1, Number::Float(0.0));
    Array::from_fn(&cx.sizes(0), cx.dtypes[0], |_| number)
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let number = number_or(cx.attrs, 1, Number::Float(0.0));
    let dtype = dtype_or(cx.attrs, 2, dtype_of(number));
    rules::check_fits(cx.op.name, "fill_value", number, dtype)?;
    Ok(smallvec![Meta::new(sizes(cx, 0)?, dtype)])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    fill(&mut cx.outputs[0], number_or(cx.attrs, 1, Number::Float(0.0)));
    Ok(())
}

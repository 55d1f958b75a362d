//! `part`: the real or the imaginary part of complex numbers, where they lie.

use smallvec::smallvec;

use super::needs_complex;
use crate::functional::{complex, num};
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, DTypeRule, Grad, GradCx, InferCx, Onnx, Param, ParamKind, Returns, Saves, Surface,
};
use crate::{Attrs, Layout, Meta, Metas, OpDef, Result, Shape, Tensor};

/// The row of `part`.
pub static OP: OpDef = OpDef {
    name: "part",
    doc: "The real parts (0) or the imaginary parts (1) of complex numbers, where they lie.",
    meaning: Meaning::of(meaning),
    params: &[Param::tensor("input"), Param::required("which", ParamKind::Int)],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::View(view),
    grad: Grad::Rule(grad, Saves::Shapes),
    step: Some(|_| "SelectBackward0"),
    pure: true,
    method: false,
    internal: true,
    surface: Surface { returns: Returns::View, ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[("part(tensor([1 + 2j, 3 - 1j]), 1)", "tensor([ 2., -1.])")],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let [real, imag] = cx.input(0).parts();
    if cx.flag(0) { imag.into() } else { real.into() }
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    needs_complex(cx)?;
    Ok(smallvec![Meta::new(cx.shape(0).clone(), cx.dtype(0).part())])
}

fn view(layout: &Layout, attrs: &Attrs, _: &Shape) -> Option<Layout> {
    let strides = layout.strides.iter().map(|it| 2 * it).collect();
    let offset = 2 * layout.offset + usize::from(crate::op::flag(attrs, 0));
    Some(Layout { shape: layout.shape.clone(), strides, offset })
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let dy = cx.output_grad()?;
    let dx = if cx.flag(0) { complex(&num(0.0), &dy)? } else { complex(&dy, &num(0.0))? };
    Ok(vec![Some(dx)])
}

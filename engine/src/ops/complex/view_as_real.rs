//! `view_as_real`: complex numbers as pairs of floats.

use smallvec::smallvec;

use super::needs_complex;
use crate::functional::view_as_complex;
use crate::meaning::{Array, Meaning, MeaningCx, by_index};
use crate::op::{Body, DTypeRule, Grad, GradCx, InferCx, Onnx, Param, Returns, Saves, Surface};
use crate::{Attrs, Layout, Meta, Metas, OpDef, Result, Shape, Tensor};

/// The row of `view_as_real`.
pub static OP: OpDef = OpDef {
    name: "view_as_real",
    doc: "The same memory as floats, with a last dimension for the real and the imaginary part.",
    meaning: Meaning::of(meaning),
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::View(view),
    grad: Grad::Rule(grad, Saves::Shapes),
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface { returns: Returns::View, ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[(
        "view_as_real(tensor([1 + 2j, 3 - 1j]))",
        "tensor([[ 1.,  2.],\n        [ 3., -1.]])",
    )],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (shape, parts) = ([cx.shape(0), &[2]].concat(), cx.input(0).parts());
    by_index(&shape, |at| {
        let (place, which) = at.split_at(at.len() - 1);
        parts[which[0]][place]
    })
    .into()
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    needs_complex(cx)?;
    let shape = cx.shape(0).iter().copied().chain([2]).collect();
    Ok(smallvec![Meta::new(shape, cx.dtype(0).part())])
}

fn view(layout: &Layout, _: &Attrs, shape: &Shape) -> Option<Layout> {
    let strides = layout.strides.iter().map(|it| 2 * it).chain([1]).collect();
    Some(Layout { shape: shape.clone(), strides, offset: 2 * layout.offset })
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    Ok(vec![Some(view_as_complex(&cx.output_grad()?)?)])
}

//! `view_as_complex`: pairs of floats as complex numbers.

use smallvec::smallvec;

use crate::functional::view_as_real;
use crate::meaning::{Array, Meaning, MeaningCx, by_index};
use crate::op::{
    Autocast, Body, DTypeRule, Grad, GradCx, InferCx, Onnx, Param, Returns, Saves, Surface,
};
use crate::{Attrs, Error, Layout, Meta, Metas, OpDef, Result, Shape, Tensor};

/// The row of `view_as_complex`.
pub static OP: OpDef = OpDef {
    name: "view_as_complex",
    doc: "The same memory as complex numbers: the last dimension holds the real and the imaginary part.",
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
    surface: Surface { returns: Returns::View, autocast: Autocast::Float32, ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[("view_as_complex(tensor([[1.0, 2.0], [3.0, -1.0]]))", "tensor([1.+2.j, 3.-1.j])")],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (pairs, shape) = (cx.input(0).floats(), cx.shape(0));
    let part = |which: usize| {
        by_index(&shape[..shape.len() - 1], |at| pairs[&[at, &[which]].concat()[..]])
    };
    Array::Complex(part(0), part(1))
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let dtype = cx.dtype(0);
    if !dtype.is_full_float() {
        return Err(Error::DType { op: cx.op.name, dtype, allowed: "float32 or float64" });
    }
    match cx.shape(0).split_last() {
        Some((2, rest)) => Ok(smallvec![Meta::new(Shape::new(rest), dtype.complex())]),
        _ => Err(cx.bad_shapes("the last dimension must have size 2: real and imaginary part")),
    }
}

/// Where each pair lies side by side, and begins at an even place.
fn view(layout: &Layout, _: &Attrs, shape: &Shape) -> Option<Layout> {
    let (beside, strides) = layout.strides.split_last()?;
    let lies_in_pairs =
        *beside == 1 && layout.offset.is_multiple_of(2) && strides.iter().all(|it| it % 2 == 0);
    let strides = strides.iter().map(|it| it / 2).collect();
    let paired = Layout { shape: shape.clone(), strides, offset: layout.offset / 2 };
    lies_in_pairs.then_some(paired)
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    Ok(vec![Some(view_as_real(&cx.output_grad()?)?)])
}

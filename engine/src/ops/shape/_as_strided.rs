//! `_as_strided`: elements of the input, counted in row-major order, that lie at a start and at steps from there.

use smallvec::smallvec;

use crate::functional::{full, index_add, reshape};
use crate::meaning::{Array, Meaning, MeaningCx, by_index, of_kind};
use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, InferCx, Onnx, Param, ParamKind, Returns, Saves,
    Surface,
};
use crate::ops::create::arange;
use crate::{Attr, Attrs, DType, Layout, Meta, Metas, OpDef, Result, Shape, Tensor, apply_one};

pub static OP: OpDef = OpDef {
    name: "_as_strided",
    doc: "Elements of the input, counted in row-major order, that lie at a start and at steps from there.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("input"),
        Param::required("size", ParamKind::Ints),
        Param::required("stride", ParamKind::Ints),
        Param::with("storage_offset", ParamKind::Int, Default::Int(0)),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::View(view),
    grad: Grad::Rule(grad, Saves::Shapes),
    step: Some(|_| "AsStridedBackward0"),
    pure: true,
    method: false,
    internal: false,
    surface: Surface { returns: Returns::View, ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        (
            "_as_strided(tensor([0, 1, 2, 3, 4]), (3, 2), (1, 2))",
            "tensor([[0, 2],\n        [1, 3],\n        [2, 4]])",
        ),
        ("_as_strided(tensor([[0.0, 1.0], [2.0, 3.0]]), (2,), (3,))", "tensor([0., 3.])"),
        ("_as_strided(tensor([5, 6, 7]), (2, 2), (0, 1), 1)", "tensor([[6, 7],\n        [6, 7]])"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (steps, start) = (cx.ints(1).unwrap_or_default(), cx.int(2));
    let flat = cx.input(0).reshaped(&[cx.shape(0).iter().product()]);
    let place = |at: &[usize]| {
        at.iter().zip(&steps).fold(start, |sum, (&at, step)| sum + at as i64 * step) as usize
    };
    of_kind!(&flat, x => by_index(&cx.sizes(0), |at| x[[place(at)].as_slice()]))
}

/// Where the elements lie in a row from 0 on.
pub(super) fn lies(attrs: &Attrs, shape: &Shape) -> Layout {
    let strides = crate::attr::ints(attrs, 1).unwrap_or_default();
    let strides = strides.iter().map(|&it| it as isize).collect();
    Layout { shape: shape.clone(), strides, offset: crate::attr::int(attrs, 2).max(0) as usize }
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    Ok(smallvec![Meta::new(seen(cx)?.shape, cx.dtype(0))])
}

/// The places that the attributes name, which lie within the first operand.
pub(super) fn seen(cx: &InferCx<'_>) -> Result<Layout> {
    let sizes = cx.ints(0).unwrap_or_default();
    let strides = cx.ints(1).unwrap_or_default();
    if sizes.len() != strides.len() {
        return Err(cx.bad_shapes("mismatch in length of strides and shape"));
    }
    if sizes.iter().chain(&strides).any(|&it| it < 0) || cx.int(2) < 0 {
        return Err(cx.bad_shapes("sizes, strides and the offset must not be negative"));
    }
    let shape: Shape = sizes.iter().map(|&it| it as usize).collect();
    let lies = lies(cx.attrs, &shape);
    if lies.reach().is_none_or(|it| it > cx.shape(0).numel()) {
        return Err(cx.bad_shapes("size and stride reach beyond the last element"));
    }
    Ok(lies)
}

fn view(layout: &Layout, attrs: &Attrs, shape: &Shape) -> Option<Layout> {
    let own = lies(attrs, shape);
    layout.is_contiguous().then(|| Layout { offset: layout.offset + own.offset, ..own })
}

/// Each element gets the sum of what comes from all places where it is seen.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let (dy, shape) = (cx.output_grad()?, cx.input(0).shape().clone());
    let numel = Shape::from([shape.numel()]);
    let end = Attr::Int(numel.numel() as i64);
    let attrs = smallvec![Attr::Int(0), end, Attr::Int(1), Attr::DType(DType::I64)];
    let places = apply_one(&arange::OP, &[], &attrs)?;
    let places = apply_one(&OP, &[places], cx.attrs)?;
    let flat = |it: &Tensor| reshape(it, &Shape::from([it.numel()]));
    let zeros = full(&numel, 0.0, dy.dtype())?;
    Ok(vec![Some(reshape(&index_add(&zeros, 0, &flat(&places)?, &flat(&dy)?)?, &shape)?)])
}

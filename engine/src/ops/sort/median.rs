//! `median`: the median of all elements, or along `dim` with where it is; of an even number the lower one. A NaN is the median.

use smallvec::smallvec;

use crate::functional::{
    gather, gt, ne, reshape, select, select_where, squeeze, sub, sum, to, unsqueeze,
};
use crate::meaning::Meaning;
use crate::op::{
    Body, ComposedCx, DTypeRule, Default, Grad, Onnx, Param, ParamKind, Returns, Surface, shapes,
};
use crate::shape::resolve_dim;
use crate::{Attr, DType, Error, OpDef, Outputs, Result, Shape, Tensor, apply, rules};

pub static OP: OpDef = OpDef {
    name: "median",
    doc: "The median of all elements, or along `dim` with where it is; of an even number the lower one. Where there is a NaN, it is the median.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::with("dim", ParamKind::OptInt, Default::None),
        Param::with("keepdim", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface { returns: Returns::Named, shapes: shapes::WITH_INDICES, ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &["oneflow.median"],
    examples: &[
        ("median(tensor([3.0, 1.0, 2.0]))", "tensor(2.)"),
        ("median(tensor([4, 1, 3, 2]))", "tensor(2)"),
        (
            "median(tensor([[3.0, 1.0, 2.0], [9.0, 7.0, 8.0]]), 1)",
            "torch.return_types.median(\nvalues=tensor([2., 8.]),\nindices=tensor([2, 2]))",
        ),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    of(cx, false, |size, n_nan| {
        // In order, the first NaN stands behind all numbers.
        let first = sub(&Tensor::int_number(size), n_nan)?;
        let lower = Tensor::int_number((size - 1) / 2);
        select_where(&gt(n_nan, &Tensor::int_number(0))?, &first, &lower)
    })
}

/// The median of all elements; along a dimension, the element of each sorted line whose number `place` tells from the size of the
/// lines and from how many NaN there are in each.
pub(super) fn of(
    cx: &ComposedCx<'_>,
    skip_nan: bool,
    place: impl Fn(i64, &Tensor) -> Result<Tensor>,
) -> Result<Outputs> {
    let input = cx.input(0)?;
    if input.dtype().is_complex() {
        let allowed = "real numbers; take x.real, x.imag or x.abs()";
        return Err(Error::DType { op: cx.op.name, dtype: input.dtype(), allowed });
    }
    let Attr::Int(dim) = cx.attrs[0] else {
        let attrs = smallvec![Attr::Bool(skip_nan)];
        return apply(&super::middle::OP, std::slice::from_ref(input), &attrs);
    };
    let (line, dim) = match input.rank() {
        0 => (reshape(input, &Shape::from([1]))?, 0),
        rank => (input.clone(), resolve_dim(cx.op.name, dim, rank)?),
    };
    let size = line.shape()[dim];
    if size == 0 {
        return Err(Error::NoElements { op: cx.op.name, shape: input.shape().clone() });
    }
    let attrs = smallvec![Attr::Int(dim as i64), Attr::Bool(false), Attr::Bool(true)];
    let keepdim = cx.flag(1);
    let dim = dim as i64;
    let place = if line.dtype().is_float() {
        let n_nan = sum(&to(&ne(&line, &line)?, DType::I64)?, &[dim], true)?;
        Some(place(size as i64, &n_nan)?)
    } else {
        None
    };
    let sorted = apply(&super::sort::OP, &[line], &attrs)?;
    let middle = |it: &Tensor| match &place {
        Some(place) => {
            let res = gather(it, dim, place)?;
            if keepdim { Ok(res) } else { squeeze(&res, dim) }
        }
        None => {
            let res = select(it, dim, (size as i64 - 1) / 2)?;
            if keepdim { unsqueeze(&res, dim) } else { Ok(res) }
        }
    };
    sorted.iter().map(middle).collect()
}

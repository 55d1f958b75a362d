//! What rows say that are not elementwise: which of these their op is on complex numbers.

use smallvec::{SmallVec, smallvec};

use super::Pair;
use crate::functional::{abs, add, complex, ne, num, part, to, view_as_complex, view_as_real};
use crate::op::ComposedCx;
use crate::{Attr, Attrs, DType, Error, Outputs, Result, Tensor, apply};

/// A linear op: on the real parts, and on the imaginary parts.
pub(crate) fn by_parts(cx: &ComposedCx<'_>) -> Result<Outputs> {
    // Asked for real numbers, it is computed in these.
    if let Some(dtype) = cx.attrs.iter().find_map(real_dtype) {
        let inputs = cx.inputs.iter().flatten().map(|it| to(it, dtype));
        let inputs = inputs.collect::<Result<SmallVec<[_; 3]>>>()?;
        return apply::apply(cx.op, &inputs, cx.attrs);
    }
    let inputs = complex_inputs(cx)?;
    let of = |which: usize| -> Result<Tensor> {
        let one =
            |it: &Tensor| if it.dtype().is_complex() { part(it, which) } else { Ok(it.clone()) };
        let inputs = inputs.iter().map(one).collect::<Result<SmallVec<[_; 3]>>>()?;
        apply::apply_one(cx.op, &inputs, &attrs_of_parts(cx))
    };
    Ok(smallvec![complex(&of(0)?, &of(1)?)?])
}

/// An op that treats both numbers of a pair alike, along dimensions before them: `dim` is the attribute that names one.
pub(crate) fn in_pairs(cx: &ComposedCx<'_>, dim: usize) -> Result<Outputs> {
    let inputs = complex_inputs(cx)?;
    let rank = inputs.first().map_or(0, Tensor::rank).max(1) as i64;
    let one = |it: &Tensor| if it.dtype().is_complex() { view_as_real(it) } else { Ok(it.clone()) };
    let inputs = inputs.iter().map(one).collect::<Result<SmallVec<[_; 3]>>>()?;
    let mut attrs = attrs_of_parts(cx);
    if let Some(Attr::Int(dim)) = attrs.get_mut(dim)
        && *dim < 0
    {
        *dim += rank;
    }
    Ok(smallvec![view_as_complex(&apply::apply_one(cx.op, &inputs, &attrs)?)?])
}

/// The op on the absolute values.
pub(crate) fn absolute(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let inputs = cx.inputs.iter().flatten().map(abs).collect::<Result<SmallVec<[_; 3]>>>()?;
    apply::apply(cx.op, &inputs, cx.attrs)
}

/// What the op gives for both parts, added up: squared distances are.
pub(crate) fn added_up(cx: &ComposedCx<'_>) -> Result<Tensor> {
    let of = |which: usize| -> Result<Tensor> {
        let inputs = cx.inputs.iter().flatten().map(|it| part(it, which));
        let inputs = inputs.collect::<Result<SmallVec<[_; 3]>>>()?;
        apply::apply_one(cx.op, &inputs, cx.attrs)
    };
    add(&of(0)?, &of(1)?)
}

/// The op on what is not 0.
pub(crate) fn by_truth(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let truth = |it: &Tensor| ne(it, &num(0.0));
    let inputs = cx.inputs.iter().flatten().map(truth).collect::<Result<SmallVec<[_; 3]>>>()?;
    apply::apply(cx.op, &inputs, cx.attrs)
}

fn real_dtype(attr: &Attr) -> Option<DType> {
    match attr {
        Attr::DType(dtype) if !dtype.is_complex() => Some(*dtype),
        _ => None,
    }
}

/// The operands, floats among them as complex numbers of the dtype of all or of the one that is asked for.
fn complex_inputs(cx: &ComposedCx<'_>) -> Result<SmallVec<[Tensor; 3]>> {
    if cx.op.surface.by_places {
        agree(cx)?;
    }
    let asked = cx.attrs.iter().find_map(|it| match it {
        Attr::DType(it) if it.is_complex() => Some(*it),
        _ => None,
    });
    let given = cx.inputs.iter().flatten().map(Tensor::dtype).filter(|it| it.is_complex());
    let dtype = asked.or_else(|| given.reduce(DType::promote)).unwrap_or(DType::C64);
    let convert = |(at, it): (usize, &Tensor)| {
        let is_of_parts = it.dtype().is_differentiable() || at == 0 && asked.is_some();
        if is_of_parts { to(it, dtype) } else { Ok(it.clone()) }
    };
    cx.inputs.iter().flatten().enumerate().map(convert).collect()
}

/// Refuses to place numbers of one dtype into a tensor of another one, as for real numbers.
fn agree(cx: &ComposedCx<'_>) -> Result<()> {
    let of_parts = |it: &&Tensor| it.dtype().is_differentiable() && it.as_number().is_none();
    let dtypes: Vec<_> = cx.inputs.iter().flatten().filter(of_parts).map(Tensor::dtype).collect();
    match dtypes.windows(2).all(|it| it[0] == it[1]) {
        true => Ok(()),
        false => Err(Error::DTypes { op: cx.op.name, dtypes }),
    }
}

/// The attributes, where a complex dtype becomes that of its parts.
fn attrs_of_parts(cx: &ComposedCx<'_>) -> Attrs {
    let of_part = |it: &Attr| match it {
        Attr::DType(it) => Attr::DType(it.part()),
        it => it.clone(),
    };
    cx.attrs.iter().map(of_part).collect()
}

impl Pair {
    /// The parts of a tensor, in the dtype of its parts.
    pub(crate) fn of(x: &Tensor) -> Result<Self> {
        let [real, imag] = super::parts_of(x, x.dtype().part())?;
        Ok(Self::new(real, imag))
    }
}

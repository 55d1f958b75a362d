//! What `scatter`, `scatter_add` and `scatter_reduce` share: (input, dim, index, src).

use smallvec::smallvec;

use super::{Spread, add_one, index_dtype};
use crate::cpu::elements::{self, Elements};
use crate::cpu::typed::{self, Plain};
use crate::cpu::view::View;
use crate::cpu::{interrupt, strided};
use crate::dtype::Number;
use crate::functional::gather;
use crate::meaning::{Array, MeaningCx};
use crate::op::{GradCx, InferCx, KernelCx};
use crate::shape::resolve_dim;
use crate::storage;
use crate::{DType, Error, Layout, Metas, Result, Shape, Tensor, rules, with_dtype, with_size};

pub(super) fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let (to, index, src) = (cx.shape(0), cx.shape(1), cx.shape(2));
    let dim = resolve_dim(cx.op.name, cx.int(0), to.rank())?;
    index_dtype(cx.op.name, &cx.inputs[1])?;
    let number = cx.inputs[2].as_number();
    if let Some(number) = number {
        rules::check_fits(cx.op.name, "src", number, cx.dtype(0))?;
    }
    let is_number = number.is_some();
    if !is_number && cx.dtype(0) != cx.dtype(2) {
        return Err(Error::DTypes { op: cx.op.name, dtypes: vec![cx.dtype(0), cx.dtype(2)] });
    }
    let fits = to.rank() == index.rank()
        && (is_number || src.rank() == index.rank())
        && (0..index.rank())
            .all(|it| (it == dim || index[it] <= to[it]) && (is_number || index[it] <= src[it]));
    if !fits && index.numel() > 0 {
        return Err(cx.bad_shapes(format!(
            "the index must not be larger than the source, nor than the input except in dimension {dim}"
        )));
    }
    Ok(smallvec![cx.inputs[0].meta()])
}

/// A number stands for all that is placed, as does the only element of a scalar.
pub(super) fn meaning(cx: &MeaningCx<'_>, add: bool) -> Array {
    let (x, index) = (cx.input(0).raised(), cx.input(1).raised().ints());
    let dim = cx.dim(0, x.rank());
    let values = match cx.input(2).to(cx.dtypes[0]) {
        it if it.rank() == cx.input(1).rank() => {
            it.raised().moved(index.shape(), <[usize]>::to_vec)
        }
        number => number.expanded(index.shape()),
    };
    let placed = x.placed(&values, add, |at| {
        let mut to = at.to_vec();
        to[dim] = index[at] as usize;
        Some(to)
    });
    placed.reshaped(cx.shape(0))
}

/// Adds the elements of the source at their places.
pub(super) fn add(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (spread, dtype) = (spread(cx)?, cx.outputs[0].dtype());
    with_dtype!(dtype, T => {
        let src = source::<T>(&cx.inputs[1], cx.inputs[0].shape(), dtype)?;
        let (src, out) = (&*src, cx.outputs[0].as_mut_slice::<T>());
        let is_bool = dtype == DType::Bool;
        if spread.is_in_lines() {
            spread.for_each_line(out, |line, index, out| {
                for (&to, &it) in index.iter().zip(&src[line * index.len()..]) {
                    add_one(&mut out[to as usize], it, is_bool);
                }
            });
        } else {
            spread.for_each(|from, to| add_one(&mut out[to], src[from], is_bool));
        }
    });
    Ok(())
}

/// Puts the elements of the source at their places.
pub(super) fn put(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (spread, dtype) = (spread(cx)?, cx.outputs[0].dtype());
    with_size!(dtype, T => {
        let src = source::<T>(&cx.inputs[1], cx.inputs[0].shape(), dtype)?;
        let (src, out) = (&*src, cx.outputs[0].as_mut_slice::<T>());
        spread.for_each(|from, to| out[to] = src[from]);
    });
    Ok(())
}

pub(super) fn spread<'a>(cx: &KernelCx<'_, 'a>) -> Result<Spread<'a>> {
    let shape = cx.outputs[0].shape();
    let dim = resolve_dim(cx.op.name, cx.int(0), shape.rank())?;
    Spread::new(cx.op.name, shape, &cx.inputs[0], dim)
}

/// The elements that an index of `shape` names, in row-major order; a number, which has a shape of its own, stands for all of them.
pub(super) fn source<'a, T: Plain + Default>(
    src: &View<'a>,
    shape: &Shape,
    dtype: DType,
) -> Result<Elements<'a, T>> {
    let elements = if src.shape().rank() == shape.rank() && src.dtype() == dtype {
        let part = Layout { shape: shape.clone(), ..src.layout().clone() };
        let all = src.buffer::<T>();
        let lent = all.get(part.offset..part.offset + shape.numel());
        match lent.filter(|_| part.is_contiguous()) {
            Some(lent) => Elements::Lent(lent),
            None => strided::gather(all, &part),
        }
    } else {
        let bytes = storage::from_number(src.first().unwrap_or(Number::Int(0)), dtype)?;
        let number = typed::slice::<T>(&bytes)[0];
        Elements::written(shape.numel(), |out| interrupt::fill(out, number))
    };
    elements::all_made()?;
    Ok(elements)
}

/// The gradient of what is placed, input 2, where it is wanted.
pub(super) fn grad_of_placed(cx: &GradCx<'_>) -> Result<Option<Tensor>> {
    if !cx.needs(2) {
        return Ok(None);
    }
    let picked = gather(&cx.output_grad()?, cx.int(0), cx.input(1))?;
    super::outside_zero(&picked, cx.input(2).shape()).map(Some)
}

//! What `scatter` and `scatter_add` share: (input, dim, index, src).

use smallvec::smallvec;

use super::{Spread, index_dtype};
use crate::cpu::elements::Elements;
use crate::cpu::number::Num;
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

/// Adds the elements of the source at their places, or puts them there.
pub(super) fn run(cx: &mut KernelCx<'_, '_>, add: bool) -> Result<()> {
    let (input, index, src) = (cx.inputs[0], cx.inputs[1], cx.inputs[2]);
    let dim = resolve_dim(cx.op.name, cx.int(0), input.shape().rank())?;
    let spread = Spread::new(cx.op.name, &input, &index, dim)?;
    if add {
        with_dtype!(input.dtype(), T => {
            let (out, src) = start::<T>(cx, &src, index.shape())?;
            spread.for_each(|from, to| out[to] = out[to].plus(src[from]));
        });
        cx.outputs[0].settle_bools();
        return Ok(());
    }
    with_size!(input.dtype(), T => {
        let (out, src) = start::<T>(cx, &src, index.shape())?;
        spread.for_each(|from, to| out[to] = src[from]);
    });
    Ok(())
}

/// The output as a copy of the input, and the part of the source that an index of `shape` uses, in row-major order.
fn start<'c, T: Plain + Default>(
    cx: &'c mut KernelCx<'_, '_>,
    src: &View<'_>,
    shape: &Shape,
) -> Result<(&'c mut [T], Elements<'static, T>)> {
    let input = cx.inputs[0];
    let out = cx.outputs[0].as_mut_slice::<T>();
    interrupt::copy(out, &input.to_slice::<T>());
    Ok((out, source(src, shape, input.dtype())?))
}

/// The elements that an index of `shape` names; a number, which has a shape of its own, stands for all of them.
fn source<T: Plain + Default>(
    src: &View<'_>,
    shape: &Shape,
    dtype: DType,
) -> Result<Elements<'static, T>> {
    if src.shape().rank() == shape.rank() && src.dtype() == dtype {
        let part = Layout { shape: shape.clone(), ..src.layout().clone() };
        return Ok(strided::gather(src.buffer::<T>(), &part));
    }
    let bytes = storage::from_number(src.first().unwrap_or(Number::Int(0)), dtype)?;
    let number = typed::slice::<T>(&bytes)[0];
    Ok(Elements::written(shape.numel(), |out| interrupt::fill(out, number)))
}

/// The gradient of what is placed, input 2, where it is wanted.
pub(super) fn grad_of_placed(cx: &GradCx<'_>) -> Result<Option<Tensor>> {
    if !cx.needs(2) {
        return Ok(None);
    }
    let picked = gather(&cx.output_grad()?, cx.int(0), cx.input(1))?;
    super::outside_zero(&picked, cx.input(2).shape()).map(Some)
}

//! `scatter_reduce`: elements of `src` gathered along a dimension at the places that `index` names: their sum, product, mean, largest or smallest.

use ndarray::ArrayD;

use super::cuda::{Placing, place_along};
use super::placing::{self, source, spread};
use super::{add_row, admit_along, outside_zero};
use crate::cpu::alloc::Bytes;
use crate::cpu::number::Num;
use crate::cpu::typed;
use crate::functional::{
    add, div, eq, full, gather, mul, num, scatter_add, select_where, slice, to,
};
use crate::meaning::{Array, Meaning, MeaningCx, Scalar, best, of_kind};
use crate::op::{
    Body, CudaCx, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param,
    ParamKind, Saves, Surface, shapes,
};
use crate::ops::binary::floor_divide;
use crate::tensor::on_gpu::copy;
use crate::{Attr, Attrs, DType, Error, Metas, OpDef, Result, Tensor, apply_one, with_dtype};

pub static OP: OpDef = OpDef {
    name: "scatter_reduce",
    doc: "Elements of `src` gathered along a dimension at the places that `index` names: their sum, prod, mean, amax or amin. The element that was there takes part, unless include_self is False; where nothing comes, it stays.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("input"),
        Param::required("dim", ParamKind::Int),
        Param::tensor("index"),
        Param::tensor("src"),
        Param::required("reduce", ParamKind::Str),
        Param::with("include_self", ParamKind::Bool, Default::Bool(true)),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::new("scatter_reduce.loop", run)
        .updating()
        .admitting(admit_along)
        .on_cuda(on_cuda)]),
    grad: Grad::Rule(grad, Saves::Both),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        in_place: true,
        by_places: true,
        shapes: shapes::SCATTERED,
        ..Surface::PLAIN
    },
    onnx: Onnx::written("ScatterElements", super::onnx::scatter_reduce),
    aliases: &[],
    examples: &[
        (
            "scatter_reduce(ones(3), 0, tensor([2, 0, 2]), tensor([5.0, 6.0, 2.0]), \"prod\")",
            "tensor([ 6.,  1., 10.])",
        ),
        (
            "scatter_reduce(zeros(3), 0, tensor([2, 0, 2]), tensor([5.0, 6.0, 2.0]), \"mean\", include_self=False)",
            "tensor([6.0000, 0.0000, 3.5000])",
        ),
        (
            "scatter_reduce(tensor([[1, 9], [4, 4]]), 1, tensor([[0, 1], [0, 0]]), tensor([[3, 3], [2, 7]]), \"amax\")",
            "tensor([[3, 9],\n        [7, 4]])",
        ),
    ],
};

/// What is made of the elements that come to one place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reduce {
    Sum,
    Prod,
    Mean,
    Largest,
    Smallest,
}

impl Reduce {
    fn named(op: &'static str, attrs: &Attrs) -> Result<Self> {
        match attrs.get(1) {
            Some(Attr::Str("sum")) => Ok(Self::Sum),
            Some(Attr::Str("prod")) => Ok(Self::Prod),
            Some(Attr::Str("mean")) => Ok(Self::Mean),
            Some(Attr::Str("amax")) => Ok(Self::Largest),
            Some(Attr::Str("amin")) => Ok(Self::Smallest),
            _ => {
                let problem = "must be sum, prod, mean, amax or amin".into();
                Err(Error::Attr { op, name: "reduce", problem })
            }
        }
    }

    /// What an element is that changes nothing.
    fn neutral<T: Num>(self) -> T {
        match self {
            Self::Sum | Self::Mean => T::ZERO,
            Self::Prod => T::ONE,
            Self::Largest => T::LOWEST,
            Self::Smallest => T::HIGHEST,
        }
    }

    #[inline(always)]
    fn join<T: Num>(self, slot: &mut T, x: T, dtype: DType) {
        match self {
            Self::Sum | Self::Mean => add_row(std::slice::from_mut(slot), &[x], dtype),
            Self::Prod => *slot = slot.times(x),
            Self::Largest if x > *slot || x.is_nan() => *slot = x,
            Self::Smallest if x < *slot || x.is_nan() => *slot = x,
            Self::Largest | Self::Smallest => {}
        }
    }
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let reduce = Reduce::named(cx.op.name, cx.attrs)?;
    if reduce == Reduce::Mean && cx.dtype(0) == DType::Bool {
        let allowed = "numbers for a mean; convert with .float()";
        return Err(Error::DType { op: cx.op.name, dtype: DType::Bool, allowed });
    }
    placing::infer(cx)
}

/// As [`run`], in steps of the whole tensor.
fn on_cuda(cx: &CudaCx<'_>) -> Result<()> {
    let (reduce, includes_self) = (Reduce::named(cx.op.name, cx.attrs)?, cx.flag(2));
    let (out, dtype) = (&cx.outputs[0], cx.outputs[0].dtype());
    let along: Attrs = [Attr::Int(cx.int(0))].into_iter().collect();
    let placed = |op, x: &Tensor, what: Tensor| {
        apply_one(op, &[x.clone(), cx.inputs[1].clone(), what], &along)
    };
    let begun = match includes_self {
        true => cx.inputs[0].clone(),
        false => {
            let neutral = with_dtype!(dtype, T => reduce.neutral::<T>().to_f64());
            placed(&super::scatter::OP, &cx.inputs[0], num(neutral))?
        }
    };
    copy(&begun, cx.output(0)?, out.layout())?;
    let source = match cx.inputs[2].dtype() == dtype {
        true => cx.inputs[2].clone(),
        false => to(&cx.inputs[2], dtype)?,
    };
    let how = match reduce {
        Reduce::Sum | Reduce::Mean => "ng_sum_of",
        Reduce::Prod => "ng_product_of",
        Reduce::Largest => "ng_largest_of",
        Reduce::Smallest => "ng_smallest_of",
    };
    place_along(cx, out, &source, false, Placing::Combine(how), None)?;
    if reduce != Reduce::Mean {
        return Ok(());
    }
    let none = full(out.shape(), 0.0, DType::I64)?;
    let came = placed(&super::scatter_add::OP, &none, num(1.0))?;
    let own = Tensor::int_number(i64::from(includes_self));
    let count = select_where(&eq(&came, &num(0.0))?, &Tensor::int_number(1), &add(&came, &own)?)?;
    let mean = match dtype.is_float() {
        true => div(out, &to(&count, dtype)?)?,
        false => to(
            &apply_one(&floor_divide::OP, &[to(out, DType::I64)?, count], &Attrs::new())?,
            dtype,
        )?,
    };
    copy(&mean, cx.output(0)?, out.layout())
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (reduce, includes_self) = (Reduce::named(cx.op.name, cx.attrs)?, cx.flag(2));
    let (spread, dtype) = (spread(cx)?, cx.outputs[0].dtype());
    let numel = if reduce == Reduce::Mean { cx.outputs[0].shape().numel() } else { 0 };
    let mut counts = Bytes::zeroed(numel * size_of::<i64>())?;
    with_dtype!(dtype, T => {
        let src = source::<T>(&cx.inputs[1], cx.inputs[0].shape(), dtype)?;
        let out = cx.outputs[0].as_mut_slice::<T>();
        if !includes_self {
            spread.for_each(|_, to| out[to] = reduce.neutral());
        }
        spread.for_each(|from, to| reduce.join(&mut out[to], src[from], dtype));
        if reduce == Reduce::Mean {
            let counts = typed::slice_mut::<i64>(&mut counts);
            spread.for_each(|_, to| counts[to] += 1);
            spread.for_each(|_, to| {
                let count = std::mem::take(&mut counts[to]);
                if count > 0 {
                    out[to] = divided(out[to], count + i64::from(includes_self));
                }
            });
        }
    });
    Ok(())
}

/// Whole numbers are rounded down.
fn divided<T: Num>(total: T, count: i64) -> T {
    match T::IS_FLOAT {
        true => T::from_f64(total.to_f64() / count as f64),
        false => T::from_i64(total.to_i64().div_euclid(count)),
    }
}

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (x, index) = (cx.input(0).raised(), cx.input(1).raised().ints());
    let (dim, includes_self) = (cx.dim(0, x.rank()), cx.flag(2));
    let src = match cx.input(2).to(cx.dtypes[0]) {
        it if it.rank() == cx.input(1).rank() => {
            it.raised().moved(index.shape(), <[usize]>::to_vec)
        }
        number => number.expanded(index.shape()),
    };
    let place = |at: &[usize]| {
        let mut to = at.to_vec();
        to[dim] = index[at] as usize;
        to
    };
    let reduce = Reduce::named("scatter_reduce", cx.attrs);
    let reduced = match reduce {
        Ok(Reduce::Mean) => match (&x, &src) {
            (Array::Int(x), Array::Int(src)) => {
                let mean = |all: &[i64]| i64::total(all).div_euclid(all.len() as i64);
                gathered(x, src, place, includes_self, mean).into()
            }
            _ => {
                let mean = |all: &[f64]| f64::total(all) / all.len() as f64;
                gathered(&x.floats(), &src.floats(), place, includes_self, mean).into()
            }
        },
        _ => {
            of_kind!(&x, &src, (x, src) => gathered(x, src, place, includes_self, |all| match reduce {
                Ok(Reduce::Prod) => all.iter().copied().fold(Scalar::ONE, Scalar::multiplied),
                Ok(Reduce::Largest) => all[best(all, true)],
                Ok(Reduce::Smallest) => all[best(all, false)],
                _ => Scalar::total(all),
            }))
        }
    };
    reduced.reshaped(cx.shape(0))
}

/// What `reduce` makes of all that comes to a place, with what was there if it takes part.
fn gathered<T: Scalar>(
    x: &ArrayD<T>,
    src: &ArrayD<T>,
    place: impl Fn(&[usize]) -> Vec<usize>,
    includes_self: bool,
    reduce: impl Fn(&[T]) -> T,
) -> ArrayD<T> {
    let mut come = x.mapv(|_| Vec::new());
    for (at, &value) in src.indexed_iter() {
        let at: Vec<usize> = (0..src.ndim()).map(|dim| at[dim]).collect();
        come[&place(&at)[..]].push(value);
    }
    let mut res = x.clone();
    res.zip_mut_with(&come, |slot, come| {
        let own = includes_self.then_some(*slot);
        let all: Vec<T> = own.into_iter().chain(come.iter().copied()).collect();
        *slot = if come.is_empty() { *slot } else { reduce(&all) };
    });
    res
}

/// What a gradient rule looks at: the operands, the source without what the index does not name.
struct Placed<'a, 'b> {
    cx: &'a GradCx<'b>,
    dim: i64,
    index: &'a Tensor,
    src: Tensor,
    dy: Tensor,
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let (index, mut src) = (cx.input(1), cx.input(2).clone());
    for (dim, &size) in index.shape().iter().enumerate() {
        if src.shape()[dim] > size {
            src = slice(&src, dim as i64, 0, size as i64, 1)?;
        }
    }
    let placed = Placed { cx, dim: cx.int(0), index, src, dy: cx.output_grad()? };
    let (dx, dsrc) = match Reduce::named(cx.op.name, cx.attrs)? {
        Reduce::Sum => (placed.dy.clone(), placed.picked(&placed.dy)?),
        Reduce::Mean => placed.of_mean()?,
        Reduce::Prod => placed.of_product()?,
        Reduce::Largest | Reduce::Smallest => placed.of_extreme()?,
    };
    let dx = if cx.flag(2) { dx } else { placed.cleared(dx)? };
    Ok(vec![Some(dx), None, Some(outside_zero(&dsrc, cx.input(2).shape())?)])
}

impl Placed<'_, '_> {
    /// What stands at the places that the index names.
    fn picked(&self, x: &Tensor) -> Result<Tensor> {
        gather(x, self.dim, self.index)
    }

    /// `x` with `src` added at the places.
    fn added(&self, x: &Tensor, src: &Tensor) -> Result<Tensor> {
        scatter_add(x, self.dim, self.index, src)
    }

    /// `x`, 0 at the places.
    fn cleared(&self, x: Tensor) -> Result<Tensor> {
        let attrs = [Attr::Int(self.dim)].into_iter().collect();
        apply_one(&super::scatter::OP, &[x, self.index.clone(), num(0.0)], &attrs)
    }

    /// All `value`, like `x`.
    fn filled(x: &Tensor, value: f64) -> Result<Tensor> {
        full(x.shape(), value, x.dtype())
    }

    /// Each has its share of the mean.
    fn of_mean(&self) -> Result<(Tensor, Tensor)> {
        let own = Self::filled(&self.dy, if self.cx.flag(2) { 1.0 } else { 0.0 })?;
        let count = self.added(&own, &Self::filled(&self.src, 1.0)?)?;
        let none = eq(&count, &num(0.0))?;
        let share = div(&self.dy, &select_where(&none, &Self::filled(&count, 1.0)?, &count)?)?;
        Ok((share.clone(), self.picked(&share)?))
    }

    /// The product of the others. Where one factor is 0 the others are multiplied anew, since nothing can be divided by it; where
    /// several are, no other has a share.
    fn of_product(&self) -> Result<(Tensor, Tensor)> {
        let (x, y, src) = (self.cx.input(0), self.cx.output(0), &self.src);
        let product = |x: &Tensor, src: &Tensor| {
            apply_one(&OP, &[x.clone(), self.index.clone(), src.clone()], self.cx.attrs)
        };
        let without = |x: &Tensor, gone: &Tensor| select_where(gone, &Self::filled(x, 1.0)?, x);
        let x_is_zero = eq(x, &num(0.0))?;
        let nonzero = without(x, &x_is_zero)?;
        let dx = div(&mul(&self.dy, &product(&nonzero, src)?)?, &nonzero)?;

        let is_zero = eq(src, &num(0.0))?;
        let ones = to(&is_zero, src.dtype())?;
        let n_zeros = self.picked(&self.added(&Self::filled(x, 0.0)?, &ones)?)?;
        let is_only = eq(&mul(&n_zeros, &ones)?, &num(1.0))?;
        let others = self.picked(&mul(&self.dy, &product(x, &without(src, &is_only)?)?)?)?;
        let divided = div(&self.picked(&mul(&self.dy, y)?)?, &without(src, &is_zero)?)?;
        Ok((dx, select_where(&is_only, &others, &divided)?))
    }

    /// Equal extremes share.
    fn of_extreme(&self) -> Result<(Tensor, Tensor)> {
        let (x, y, src) = (self.cx.input(0), self.cx.output(0), &self.src);
        let hit = |a: &Tensor, b: &Tensor| to(&eq(a, b)?, x.dtype());
        let from_src = hit(src, &self.picked(y)?)?;
        let all = hit(x, y)?;
        let from_self = if self.cx.flag(2) { all } else { self.cleared(all)? };
        let count = self.added(&from_self, &from_src)?;
        let none = eq(&count, &num(0.0))?;
        let share = div(&self.dy, &select_where(&none, &Self::filled(&count, 1.0)?, &count)?)?;
        Ok((mul(&from_self, &share)?, mul(&from_src, &self.picked(&share)?)?))
    }
}

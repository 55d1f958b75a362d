//! Elements picked and placed by indices.

use super::super::args::Cx;
use super::super::calls::{
    call, count, expand, from_front, of_ints, reshape, scalar, whole_numbers,
};
use super::{Operator, one};
use crate::functional::{add, mul, select, to};
use crate::index::{self, Index};
use crate::{Attr, DType, Result, Tensor, apply_one, functional, ops};

pub(super) static ALL: &[Operator] = &[
    one("Gather", gather),
    one("GatherElements", gather_elements),
    one("GatherND", gather_nd),
    one("Scatter", scatter_elements),
    one("ScatterElements", scatter_elements),
    one("ScatterND", scatter_nd),
    one("TensorScatter", tensor_scatter),
];

fn gather(cx: &Cx<'_>) -> Result<Tensor> {
    let (x, places) = (cx.input(0)?, cx.input(1)?);
    let axis = cx.axis("axis", 0, x.rank())?;
    let whole = Index::Slice { start: None, stop: None, step: None };
    let mut index = vec![whole; axis];
    index.push(Index::Tensor(to(places, DType::I64)?));
    index::get(x, &index)
}

fn gather_elements(cx: &Cx<'_>) -> Result<Tensor> {
    let (x, places) = (cx.input(0)?, cx.input(1)?);
    let axis = cx.axis("axis", 0, x.rank())?;
    functional::gather(x, axis as i64, &from_front(places, x.shape()[axis])?)
}

/// Rows of index tuples as places among the elements of the dimensions `sizes`.
fn flat_places(cx: &Cx<'_>, tuples: &Tensor, sizes: &[usize]) -> Result<Tensor> {
    let last = tuples.rank() as i64 - 1;
    let mut stride = 1_i64;
    let mut strides = vec![0; sizes.len()];
    for (slot, &size) in strides.iter_mut().zip(sizes).rev() {
        *slot = stride;
        stride = stride.saturating_mul(size as i64);
    }
    let mut places = scalar(0)?;
    for (at, (&size, &stride)) in sizes.iter().zip(&strides).enumerate() {
        let at = select(tuples, last, at as i64)?;
        let seen = whole_numbers(&at)?;
        if let Some(it) = seen.iter().find(|it| !(-(size as i64)..size as i64).contains(it)) {
            return Err(cx.bad(format!("index {it} is out of range for a dimension of {size}")));
        }
        places = add(&places, &mul(&from_front(&at, size)?, &scalar(stride)?)?)?;
    }
    expand(&places, &tuples.shape()[..last as usize])
}

fn gather_nd(cx: &Cx<'_>) -> Result<Tensor> {
    let (x, tuples) = (cx.input(0)?, cx.input(1)?);
    let batch = usize::try_from(cx.int("batch_dims", 0)).unwrap_or(usize::MAX);
    let width = tuples.shape().last().copied().unwrap_or(0);
    let picked = batch.checked_add(width).filter(|it| *it <= x.rank() && batch < tuples.rank());
    let picked =
        picked.ok_or_else(|| cx.bad("its indices have more numbers than there are dimensions"))?;
    let n_batch: usize = x.shape()[..batch].iter().product();
    let inner: usize = x.shape()[batch..picked].iter().product();
    let mut places = flat_places(cx, tuples, &x.shape()[batch..picked])?;
    if batch > 0 {
        let mut sizes = tuples.shape()[..batch].to_vec();
        sizes.resize(places.rank(), 1);
        let offset = mul(&reshape(&count(n_batch)?, &sizes)?, &scalar(inner as i64)?)?;
        places = add(&places, &offset)?;
    }
    let mut rows = vec![n_batch * inner];
    rows.extend_from_slice(&x.shape()[picked..]);
    index::get(&reshape(x, &rows)?, &[Index::Tensor(places)])
}

/// `src` placed into `x` along a dimension; several at one place are combined as `reduction` says.
fn place(cx: &Cx<'_>, x: &Tensor, axis: usize, places: &Tensor, src: &Tensor) -> Result<Tensor> {
    let dim = Attr::Int(axis as i64);
    let (name, attrs) = match cx.text("reduction", "none") {
        "none" => ("scatter", vec![dim]),
        "add" => ("scatter_add", vec![dim]),
        "mul" => ("scatter_reduce", vec![dim, Attr::Str("prod")]),
        "max" => ("scatter_reduce", vec![dim, Attr::Str("amax")]),
        "min" => ("scatter_reduce", vec![dim, Attr::Str("amin")]),
        other => return Err(cx.bad(format!("its reduction '{other}' is not known"))),
    };
    call(name, &[x, places, src], &attrs)
}

fn scatter_elements(cx: &Cx<'_>) -> Result<Tensor> {
    let (x, places, src) = (cx.input(0)?, cx.input(1)?, cx.input(2)?);
    let axis = cx.axis("axis", 0, x.rank())?;
    place(cx, x, axis, &from_front(places, x.shape()[axis])?, src)
}

fn scatter_nd(cx: &Cx<'_>) -> Result<Tensor> {
    let (x, tuples, src) = (cx.input(0)?, cx.input(1)?, cx.input(2)?);
    let width = tuples.shape().last().copied().unwrap_or(0);
    if width > x.rank() || tuples.rank() == 0 {
        return Err(cx.bad("its indices have more numbers than there are dimensions"));
    }
    let places = flat_places(cx, tuples, &x.shape()[..width])?;
    let n: usize = x.shape()[..width].iter().product();
    let row: usize = x.shape()[width..].iter().product();
    let m = places.numel();
    let places = expand(&reshape(&places, &[m, 1])?, &[m, row])?;
    let res = place(cx, &reshape(x, &[n, row])?, 0, &places, &reshape(src, &[m, row])?)?;
    functional::reshape(&res, x.shape())
}

/// New rows of a cache, from a place on that each batch has.
fn tensor_scatter(cx: &Cx<'_>) -> Result<Tensor> {
    let (cache, update) = (cx.input(0)?, cx.input(1)?);
    let axis = cx.axis("axis", -2, cache.rank())?;
    let (n, most, new) = (cache.shape()[0], cache.shape()[axis], update.shape()[axis]);
    let starts = cx.ints_at(2)?.unwrap_or_else(|| vec![0; n]);
    if axis == 0 || starts.len() != n {
        return Err(cx.bad(format!("{} places are given for {n} batches", starts.len())));
    }
    let circular = cx.text("mode", "linear") == "circular";
    let place = |start: i64, at: i64| match circular {
        true => (start.saturating_add(at)).rem_euclid(most.max(1) as i64),
        false => start.saturating_add(at),
    };
    let places: Vec<i64> =
        starts.iter().flat_map(|&it| (0..new as i64).map(move |at| place(it, at))).collect();
    let mut sizes = vec![1; cache.rank()];
    (sizes[0], sizes[axis]) = (n, new);
    let places = expand(&reshape(&of_ints(&places)?, &sizes)?, update.shape())?;
    let scatter = ops::find("scatter").ok_or_else(|| cx.bad("the op scatter is missing"))?;
    let attrs = [Attr::Int(axis as i64)].into_iter().collect();
    apply_one(scatter, &[cache.clone(), places, update.clone()], &attrs)
}

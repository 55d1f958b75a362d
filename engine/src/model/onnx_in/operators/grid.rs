//! Elements of an image at any places in it.

use super::super::args::Cx;
use super::super::calls::{call, count, expand, full, reshape};
use super::{Operator, one};
use crate::functional::{
    abs, add, cat, div, gather, ge, gt, le, logical_and, logical_or, lt, matmul, matrix_transpose,
    maximum, minimum, mul, num, select, select_where, sub, to, unsqueeze,
};
use crate::{DType, Result, Tensor};

pub(super) static ALL: &[Operator] =
    &[one("AffineGrid", affine_grid), one("GridSample", grid_sample)];

/// Places of an image `[n, .., dims]`, in the range from -1 to 1, after an affine map.
fn affine_grid(cx: &Cx<'_>) -> Result<Tensor> {
    let theta = cx.input(0)?;
    let sizes = cx.ints_at(1)?.ok_or_else(|| cx.bad("its size is missing"))?;
    let image: Vec<usize> =
        sizes.iter().skip(2).map(|&it| usize::try_from(it).unwrap_or(0)).collect();
    let n = image.len();
    if theta.rank() != 3 || theta.shape()[1..] != [n, n + 1] || !(2..=3).contains(&n) {
        return Err(cx.bad(format!("{} is no map of {n} dimensions", theta.shape())));
    }
    let dtype = theta.dtype();
    let mut columns = Vec::with_capacity(n + 1);
    // The first coordinate runs along the last dimension.
    for dim in (0..n).rev() {
        let (size, at) = (image[dim] as f64, to(&count(image[dim])?, dtype)?);
        let line = match cx.flag("align_corners") {
            true if image[dim] == 1 => mul(&at, &num(0.0))?,
            true => sub(&mul(&at, &num(2.0 / (size - 1.0)))?, &num(1.0))?,
            false => sub(&div(&add(&mul(&at, &num(2.0))?, &num(1.0))?, &num(size))?, &num(1.0))?,
        };
        let mut shape = vec![1; n];
        shape[dim] = image[dim];
        let all = expand(&reshape(&line, &shape)?, &image)?;
        columns.push(reshape(&all, &[all.numel(), 1])?);
    }
    columns.push(full(&[image.iter().product(), 1], 1.0, dtype)?);
    let places = matmul(&cat(&columns, 1)?, &matrix_transpose(theta)?)?;
    reshape(&places, &[&[theta.shape()[0]], &image[..], &[n]].concat())
}

/// What lies outside an image.
#[derive(Clone, Copy, PartialEq)]
enum Outside {
    Zeros,
    Border,
    Reflection,
}

/// A dimension of an image: its size, and where it ends.
struct Side {
    size: f64,
    low: f64,
    high: f64,
}

impl Side {
    fn beyond(&self, x: &Tensor) -> Result<Tensor> {
        logical_or(&lt(x, &num(self.low))?, &gt(x, &num(self.high))?)
    }

    fn clamped(&self, x: &Tensor) -> Result<Tensor> {
        let limit = |it: f64| full(&[], it, x.dtype());
        minimum(&maximum(x, &limit(0.0)?)?, &limit(self.size - 1.0)?)
    }

    /// Mirrored at the ends until it is inside.
    fn reflected(&self, x: &Tensor) -> Result<Tensor> {
        let range = self.high - self.low;
        if range <= 0.0 {
            return full(&[], self.low, x.dtype());
        }
        let along = call("remainder", &[&sub(x, &num(self.low))?, &num(2.0 * range)], &[])?;
        let back = sub(&full(&[], 2.0 * range, x.dtype())?, &along)?;
        add(&minimum(&along, &back)?, &num(self.low))
    }
}

/// A neighbour of places along a dimension: where it is, its weight, and whether it counts.
struct Tap {
    place: Tensor,
    weight: Option<Tensor>,
    inside: Option<Tensor>,
}

fn grid_sample(cx: &Cx<'_>) -> Result<Tensor> {
    let (x, grid) = (cx.input(0)?, cx.input(1)?);
    let n = x.rank().saturating_sub(2);
    let fits = n > 0 && grid.rank() == n + 2 && grid.shape()[n + 1] == n;
    if !fits || grid.shape()[0] != x.shape()[0] || x.numel() == 0 {
        return Err(cx.bad(format!("{} are no places in {}", grid.shape(), x.shape())));
    }
    let outside = match cx.text("padding_mode", "zeros") {
        "zeros" => Outside::Zeros,
        "border" => Outside::Border,
        "reflection" => Outside::Reflection,
        other => return Err(cx.bad(format!("its padding_mode '{other}' is not known"))),
    };
    let (batch, channels) = (x.shape()[0], x.shape()[1]);
    let image = &x.shape()[2..];
    let n_places: usize = grid.shape()[1..=n].iter().product();
    let grid = reshape(grid, &[batch, n_places, n])?;
    let mut taps = Vec::with_capacity(n);
    for (dim, &size) in image.iter().enumerate() {
        let own = select(&grid, 2, (n - 1 - dim) as i64)?;
        taps.push(taps_of(cx, &own, size, outside)?);
    }
    let flat = reshape(x, &[batch, channels, image.iter().product()])?;
    let mut total: Option<Tensor> = None;
    let n_taps: usize = taps.iter().map(Vec::len).product();
    for mut which in 0..n_taps {
        let mut index = full(&[], 0.0, DType::I64)?;
        let (mut weight, mut inside): (Option<Tensor>, Option<Tensor>) = (None, None);
        for (own, &size) in taps.iter().zip(image) {
            let tap = &own[which % own.len()];
            which /= own.len();
            index = add(&mul(&index, &full(&[], size as f64, DType::I64)?)?, &tap.place)?;
            weight = both(weight, tap.weight.as_ref(), mul)?;
            inside = both(inside, tap.inside.as_ref(), logical_and)?;
        }
        let index = expand(&unsqueeze(&index, 1)?, &[batch, channels, n_places])?;
        let mut seen = gather(&flat, 2, &index)?;
        if let Some(it) = inside {
            seen = select_where(&unsqueeze(&it, 1)?, &seen, &full(&[], 0.0, x.dtype())?)?;
        }
        if let Some(it) = weight {
            seen = mul(&seen, &to(&unsqueeze(&it, 1)?, x.dtype())?)?;
        }
        total = Some(total.map_or_else(|| Ok(seen.clone()), |it| add(&it, &seen))?);
    }
    let total = total.ok_or_else(|| cx.bad("it has no dimensions"))?;
    reshape(&total, &[&[batch, channels], &cx.input(1)?.shape()[1..=n]].concat())
}

/// The one that is there, or what `op` makes of two.
fn both(
    a: Option<Tensor>,
    b: Option<&Tensor>,
    op: fn(&Tensor, &Tensor) -> Result<Tensor>,
) -> Result<Option<Tensor>> {
    match (a, b) {
        (Some(a), Some(b)) => op(&a, b).map(Some),
        (a, b) => Ok(a.or_else(|| b.cloned())),
    }
}

/// The neighbours of places along a dimension of this size.
fn taps_of(cx: &Cx<'_>, places: &Tensor, size: usize, outside: Outside) -> Result<Vec<Tap>> {
    let aligned = cx.flag("align_corners");
    let length = size as f64;
    let side = match aligned {
        true => Side { size: length, low: 0.0, high: length - 1.0 },
        false => Side { size: length, low: -0.5, high: length - 0.5 },
    };
    let moved = add(places, &num(1.0))?;
    let mut v = match aligned {
        true => mul(&div(&moved, &num(2.0))?, &num(length - 1.0))?,
        false => div(&sub(&mul(&moved, &num(length))?, &num(1.0))?, &num(2.0))?,
    };
    let (reach, cubic) = match cx.text("mode", "linear") {
        "nearest" => {
            v = call("round", &[&v], &[])?;
            (0..1, false)
        }
        "linear" | "bilinear" => (0..2, false),
        "cubic" | "bicubic" => (-1..3, true),
        other => return Err(cx.bad(format!("its mode '{other}' is not known"))),
    };
    let beyond = side.beyond(&v)?;
    v = match outside {
        Outside::Zeros => v,
        Outside::Border => select_where(&beyond, &side.clamped(&v)?, &v)?,
        Outside::Reflection => select_where(&beyond, &side.reflected(&v)?, &v)?,
    };
    let start = call("floor", &[&v], &[])?;
    let single = reach.len() == 1;
    reach
        .map(|step| {
            let at = add(&start, &num(f64::from(step)))?;
            let weight = match (single, cubic) {
                (true, _) => None,
                (_, false) => Some(sub(&full(&[], 1.0, v.dtype())?, &abs(&sub(&v, &at)?)?)?),
                (_, true) => Some(keys(&abs(&sub(&v, &at)?)?, (0..2).contains(&step))?),
            };
            let within = logical_and(&ge(&at, &num(0.0))?, &le(&at, &num(length - 1.0))?)?;
            let place = match outside {
                Outside::Reflection => side.clamped(&side.reflected(&at)?)?,
                _ => side.clamped(&at)?,
            };
            let inside = (outside == Outside::Zeros).then_some(within);
            Ok(Tap { place: to(&place, DType::I64)?, weight, inside })
        })
        .collect()
}

/// The cubic convolution of Keys, near (up to 1 apart) or further away.
fn keys(x: &Tensor, near: bool) -> Result<Tensor> {
    const A: f64 = -0.75;
    let polynomial = |factors: [f64; 4]| -> Result<Tensor> {
        let mut y = full(&[], factors[0], x.dtype())?;
        for it in &factors[1..] {
            y = add(&mul(&y, x)?, &num(*it))?;
        }
        Ok(y)
    };
    match near {
        true => polynomial([A + 2.0, -(A + 3.0), 0.0, 1.0]),
        false => polynomial([A, -5.0 * A, 8.0 * A, -4.0 * A]),
    }
}

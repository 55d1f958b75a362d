//! Transforms by products with matrices of factors, for devices that have no kernel for them.
//!
//! A size that has factors is split (Cooley and Tukey 1965), a large prime one becomes a convolution of a size that has (Bluestein 1970).

use std::f64::consts::{PI, TAU};

use smallvec::smallvec;

use crate::functional::{
    add, cat, full, matmul, mul, num, reshape, select, slice, sub, to, transpose, unsqueeze,
};
use crate::{Attr, DType, OpDef, Result, Shape, Tensor, apply_one, ops};

/// The largest size that is one product.
const MOST_AT_ONCE: usize = 64;

/// The largest prime size that is one product.
const MOST_PRIME: usize = 512;

/// Complex numbers by their parts, of one shape.
#[derive(Clone)]
pub(super) struct Waves {
    pub(super) re: Tensor,
    pub(super) im: Tensor,
}

impl Waves {
    /// Those that lie as pairs in the last dimension.
    pub(super) fn of_pairs(x: &Tensor) -> Result<Self> {
        Ok(Self { re: select(x, -1, 0)?, im: select(x, -1, 1)? })
    }

    /// As pairs, times a number.
    pub(super) fn pairs(&self, scale: f64) -> Result<Tensor> {
        let both = [unsqueeze(&self.re, -1)?, unsqueeze(&self.im, -1)?];
        mul(&cat(&both, -1)?, &num(scale))
    }

    fn times(&self, other: &Self) -> Result<Self> {
        self.combined(other, mul)
    }

    fn matmul(&self, other: &Self) -> Result<Self> {
        self.combined(other, matmul)
    }

    fn combined(
        &self,
        other: &Self,
        product: impl Fn(&Tensor, &Tensor) -> Result<Tensor>,
    ) -> Result<Self> {
        let re = sub(&product(&self.re, &other.re)?, &product(&self.im, &other.im)?)?;
        let im = add(&product(&self.re, &other.im)?, &product(&self.im, &other.re)?)?;
        Ok(Self { re, im })
    }

    fn each(&self, change: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Self> {
        Ok(Self { re: change(&self.re)?, im: change(&self.im)? })
    }

    fn conjugate(&self) -> Result<Self> {
        Ok(Self { re: self.re.clone(), im: mul(&self.im, &num(-1.0))? })
    }
}

/// The transform along a dimension.
pub(super) fn transformed(x: &Waves, dim: usize, backward: bool) -> Result<Waves> {
    let last = x.re.rank() as i64 - 1;
    let turned = x.each(|it| transpose(it, dim as i64, last))?;
    along_last(&turned, backward)?.each(|it| transpose(it, dim as i64, last))
}

fn along_last(x: &Waves, backward: bool) -> Result<Waves> {
    let n = x.re.shape().last().copied().unwrap_or(1);
    if n <= MOST_AT_ONCE {
        return x.matmul(&factors(n, n, n, backward, x.re.dtype())?);
    }
    match (2..=MOST_AT_ONCE).rev().find(|it| n.is_multiple_of(*it)) {
        Some(first) => split(x, first, backward),
        None if n <= MOST_PRIME => x.matmul(&factors(n, n, n, backward, x.re.dtype())?),
        None => as_convolution(x, backward),
    }
}

/// `exp(+-2 pi i j k / n)` for j in 0 .. rows and k in 0 .. columns.
fn factors(n: usize, rows: usize, columns: usize, backward: bool, dtype: DType) -> Result<Waves> {
    let turns = mul(&unsqueeze(&counted(rows)?, 1)?, &counted(columns)?)?;
    let step = if backward { TAU } else { -TAU } / n as f64;
    at_angles(&mul(&remainder(&turns, n)?, &num(step))?, dtype)
}

/// A transform of size n = `first` * rest: j = j1 rest + j2, k = k1 + first k2.
fn split(x: &Waves, first: usize, backward: bool) -> Result<Waves> {
    let shape = x.re.shape();
    let (n, dtype) = (shape[shape.rank() - 1], x.re.dtype());
    let rest = n / first;
    let lead = &shape[..shape.rank() - 1];
    let folded: Shape = lead.iter().copied().chain([first, rest]).collect();
    // [..., j2, j1] times [j1, k1].
    let x = x.each(|it| transpose(&reshape(it, &folded)?, -1, -2))?;
    let x = x.matmul(&factors(first, first, first, backward, dtype)?)?;
    let x = x.times(&factors(n, rest, first, backward, dtype)?)?;
    // [..., k1, j2], then [..., k2, k1].
    let x = along_last(&x.each(|it| transpose(it, -1, -2))?, backward)?;
    x.each(|it| reshape(&transpose(it, -1, -2)?, shape))
}

/// With `2 j k = j^2 + k^2 - (k - j)^2` the transform is a convolution with a chirp.
fn as_convolution(x: &Waves, backward: bool) -> Result<Waves> {
    let n = x.re.shape().last().copied().unwrap_or(1);
    let (m, dtype) = ((2 * n - 1).next_power_of_two(), x.re.dtype());
    let steps = counted(n)?;
    let angle = if backward { PI } else { -PI } / n as f64;
    let squares = remainder(&mul(&steps, &steps)?, 2 * n)?;
    let chirp = at_angles(&mul(&squares, &num(angle))?, dtype)?;
    let around = chirp.conjugate()?.each(|it| {
        let tail = crate::functional::flip(&slice(it, 0, 1, n as i64, 1)?, &[0])?;
        let gap = full(&Shape::from([m - 2 * n + 1]), 0.0, dtype)?;
        cat(&[it.clone(), gap, tail], 0)
    })?;
    let padded = x.times(&chirp)?.each(|it| {
        let shape = super::with_size(it.shape(), it.rank() - 1, m - n);
        cat(&[it.clone(), full(&shape, 0.0, dtype)?], -1)
    })?;
    let product = along_last(&padded, false)?.times(&along_last(&around, false)?)?;
    let result = along_last(&product, true)?;
    let result = result.each(|it| mul(&slice(it, -1, 0, n as i64, 1)?, &num(1.0 / m as f64)))?;
    result.times(&chirp)
}

/// All n numbers along a dimension whose backward transform is real, from the first half.
pub(super) fn mirrored(half: &Waves, dim: usize, n: usize) -> Result<Waves> {
    let dim = dim as i64;
    let rest =
        |it: &Tensor| crate::functional::flip(&slice(it, dim, 1, n.div_ceil(2) as i64, 1)?, &[dim]);
    let re = cat(&[half.re.clone(), rest(&half.re)?], dim)?;
    let im = cat(&[half.im.clone(), mul(&rest(&half.im)?, &num(-1.0))?], dim)?;
    Ok(Waves { re, im })
}

/// The half of a transform of n numbers where all have been multiplied that stand for two: not the first, nor the last of an even n.
pub(super) fn ends_and_middle(half: &Tensor, dim: usize, n: usize, by: f64) -> Result<Tensor> {
    let (dim, size) = (dim as i64, (n / 2 + 1) as i64);
    let end = (n as i64 + 1) / 2;
    let middle = mul(&slice(half, dim, 1, end, 1)?, &num(by))?;
    let mut parts = vec![slice(half, dim, 0, 1, 1)?, middle];
    if end < size {
        parts.push(slice(half, dim, end, size, 1)?);
    }
    cat(&parts, dim)
}

/// 0, 1, ... as doubles.
fn counted(n: usize) -> Result<Tensor> {
    let attrs = smallvec![
        Attr::Float(0.0),
        Attr::Float(n as f64),
        Attr::Float(1.0),
        Attr::DType(DType::F64)
    ];
    apply_one(&ops::create::arange::OP, &[], &attrs)
}

fn remainder(x: &Tensor, n: usize) -> Result<Tensor> {
    apply_one(&ops::binary::remainder::OP, &[x.clone(), num(n as f64)], &smallvec![])
}

fn at_angles(angles: &Tensor, dtype: DType) -> Result<Waves> {
    let of = |op: &'static OpDef| {
        to(&apply_one(op, std::slice::from_ref(angles), &op.default_attrs())?, dtype)
    };
    Ok(Waves { re: of(&ops::unary::cos::OP)?, im: of(&ops::unary::sin::OP)? })
}

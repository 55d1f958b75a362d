//! Elements that lie on one line, or differ in some dimensions only: what reductions, scans and sorting are defined on.

use ndarray::{ArrayD, Dimension, IxDyn};

use super::Scalar;

/// For each index into the other dimensions what `of` gives for the elements that differ in `dims` only, in row-major order; `dims`
/// stay with size 1 if `keep`.
pub(crate) fn over<T: Copy, U>(
    x: &ArrayD<T>,
    dims: &[usize],
    keep: bool,
    of: impl Fn(&[T]) -> U,
) -> ArrayD<U> {
    let (mut kept, mut reduced) = (x.shape().to_vec(), vec![1; x.ndim()]);
    for &dim in dims {
        reduced[dim] = std::mem::replace(&mut kept[dim], 1);
    }
    let group = |at: IxDyn| {
        let element = |within: IxDyn| {
            let sum: Vec<usize> = (0..x.ndim()).map(|it| at[it] + within[it]).collect();
            x[&sum[..]]
        };
        of(&ndarray::indices(&reduced[..]).into_iter().map(element).collect::<Vec<T>>())
    };
    let mut res = ArrayD::from_shape_fn(&kept[..], group);
    if !keep {
        for &dim in dims.iter().rev() {
            res = res.index_axis_move(ndarray::Axis(dim), 0);
        }
    }
    res
}

/// Each line along `dim` replaced by what `of` gives for it, which has the length `len`. A scalar is a line of one.
pub(crate) fn along<T: Copy, U: Copy>(
    x: &ArrayD<T>,
    dim: usize,
    len: usize,
    of: impl Fn(&[T]) -> Vec<U>,
) -> ArrayD<U> {
    let mut shape = x.shape().to_vec();
    if let Some(size) = shape.get_mut(dim) {
        *size = len;
    }
    let lines = lines_of(x, dim).mapv(|it| of(&it));
    ArrayD::from_shape_fn(&shape[..], |mut at| match at.ndim() {
        0 => lines[at][0],
        _ => {
            let place = std::mem::replace(&mut at[dim], 0);
            lines[at][place]
        }
    })
}

/// The lines along `dim`, which has size 1 then.
pub(crate) fn lines_of<T: Copy>(x: &ArrayD<T>, dim: usize) -> ArrayD<Vec<T>> {
    let dims: &[usize] = if x.ndim() == 0 { &[] } else { &[dim] };
    over(x, dims, true, <[T]>::to_vec)
}

/// The elements of each line at the places that another array names along `dim`.
pub(crate) fn picked<T: Copy>(x: &ArrayD<T>, dim: usize, places: &ArrayD<i64>) -> ArrayD<T> {
    ArrayD::from_shape_fn(places.raw_dim(), |mut at| {
        if at.ndim() > 0 {
            at[dim] = places[&at] as usize;
        }
        x[at]
    })
}

/// Where the largest element of a line is, or the smallest: the first of equal ones. NaN counts as either.
pub(crate) fn best<T: Scalar>(line: &[T], largest: bool) -> usize {
    let mut place = 0;
    for (at, &x) in line.iter().enumerate() {
        let beats = if largest { x > line[place] } else { x < line[place] };
        if !line[place].is_no_number() && (beats || x.is_no_number()) {
            place = at;
        }
    }
    place
}

/// The places of a line in the order of its elements, in which equal ones keep theirs.
pub(crate) fn in_order<T: Scalar>(line: &[T], descending: bool) -> Vec<usize> {
    let mut places: Vec<usize> = (0..line.len()).collect();
    places.sort_by(|&a, &b| match descending {
        true => line[b].order(line[a]),
        false => line[a].order(line[b]),
    });
    places
}

/// Whether `x` stands before `y` in a sorted line; `or_equal` says what holds where they are equal.
pub(crate) fn is_before<T: Scalar>(x: T, y: T, or_equal: bool) -> bool {
    let order = x.order(y);
    order.is_lt() || or_equal && order.is_eq()
}

/// `log(sum(exp(x)))`, which no exponential overflows.
pub(crate) fn log_sum_exp(all: &[f64]) -> f64 {
    let most = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let shift = if most.is_finite() { most } else { 0.0 };
    let parts: Vec<f64> = all.iter().map(|x| (x - shift).exp()).collect();
    f64::total(&parts).ln() + shift
}

//! Softmax of rows that lie in one piece, what belongs to it, and softmax of columns.
//!
//! What is NaN in a row makes all of it NaN, as does plus infinity, or nothing but minus infinity.

use super::Simd;
use super::exp::exp;
use crate::cpu::element::Element;

/// `n_rows` rows of `n` elements, one behind the other, and where what becomes of them goes.
pub(crate) struct Rows<T> {
    pub(crate) x: *const T,
    pub(crate) y: *mut T,
    pub(crate) n_rows: usize,
    pub(crate) n: usize,
    /// What the results are multiplied by.
    pub(crate) factor: T,
}

/// Columns of `n` elements, `len` of them side by side.
pub(crate) struct Columns<T> {
    pub(crate) x: *const T,
    pub(crate) y: *mut T,
    /// How far lines of `x` are apart, and those of `y`.
    pub(crate) steps: [usize; 2],
    pub(crate) n: usize,
    pub(crate) len: usize,
    /// Whether it is the logarithm that is wanted.
    pub(crate) log: bool,
}

/// Vectors that are computed side by side, so that one need not wait for another.
const N: usize = 4;

/// Groups of vectors after which sums go to a double: what they lose grows with their size.
const GROUPS: usize = 256;

/// `N` vectors of the `left` elements at `p`, with `fill` behind them.
///
/// # Safety
/// The CPU has the instruction set of `S`, and the elements exist.
#[inline(always)]
pub(super) unsafe fn load<S: Simd, const N: usize>(
    p: *const S::T,
    left: usize,
    fill: S::V,
) -> [S::V; N] {
    let mut res = [fill; N];
    // SAFETY: the masks name the elements that exist.
    unsafe {
        for (v, x) in res.iter_mut().enumerate() {
            let at = p.wrapping_add(v * S::LANES);
            *x = match left >= (v + 1) * S::LANES {
                true => S::load(at),
                false => S::load_or(at, S::mask(left.saturating_sub(v * S::LANES)), fill),
            };
        }
    }
    res
}

/// Stores `left` elements of `N` vectors.
///
/// # Safety
/// As for [`load`].
#[inline(always)]
pub(super) unsafe fn store<S: Simd, const N: usize>(p: *mut S::T, left: usize, x: [S::V; N]) {
    // SAFETY: the masks name the elements that exist.
    unsafe {
        for (v, &x) in x.iter().enumerate() {
            let at = p.wrapping_add(v * S::LANES);
            match left >= (v + 1) * S::LANES {
                true => S::store(at, x),
                false => S::store_mask(at, S::mask(left.saturating_sub(v * S::LANES)), x),
            }
        }
    }
}

/// The largest element of a row, of those that are not NaN.
///
/// # Safety
/// As for [`load`], with `n` elements.
#[inline(always)]
pub(super) unsafe fn largest<S: Simd>(x: *const S::T, n: usize) -> S::T {
    // SAFETY: promised by the caller.
    unsafe {
        let lowest = S::splat(S::T::NEG_INFINITY);
        let mut best = [lowest; N];
        let mut at = 0;
        while at + N * S::LANES <= n {
            let x = load::<S, N>(x.add(at), n - at, lowest);
            for v in 0..N {
                best[v] = S::max(x[v], best[v]);
            }
            at += N * S::LANES;
        }
        while at < n {
            let [x] = load::<S, 1>(x.add(at), n - at, lowest);
            best[0] = S::max(x, best[0]);
            at += S::LANES;
        }
        S::largest(S::max(S::max(best[0], best[1]), S::max(best[2], best[3])))
    }
}

/// Stores `exp(x - shift)` for a row and gives their sum; stores nothing where `y` is null.
///
/// # Safety
/// As for [`load`], with `n` elements; `y` may be `x`.
#[inline(always)]
pub(super) unsafe fn exps<S: Simd>(x: *const S::T, y: *mut S::T, n: usize, shift: S::T) -> f64 {
    // SAFETY: promised by the caller.
    unsafe {
        let (lowest, shift) = (S::splat(S::T::NEG_INFINITY), S::splat(shift));
        let mut sums = [S::splat(S::T::ZERO); N];
        let (mut total, mut at, mut groups) = (0.0, 0, 0);
        while at + N * S::LANES <= n {
            let mut e = load::<S, N>(x.add(at), n - at, lowest);
            for e in &mut e {
                *e = S::sub(*e, shift);
            }
            let e = exp::<S, N>(e);
            for v in 0..N {
                sums[v] = S::add(sums[v], e[v]);
            }
            if !y.is_null() {
                store::<S, N>(y.add(at), n - at, e);
            }
            at += N * S::LANES;
            groups += 1;
            if groups == GROUPS {
                total += sum_of::<S>(sums);
                (sums, groups) = ([S::splat(S::T::ZERO); N], 0);
            }
        }
        while at < n {
            let [x] = load::<S, 1>(x.add(at), n - at, lowest);
            let [e] = exp::<S, 1>([S::sub(x, shift)]);
            sums[0] = S::add(sums[0], e);
            if !y.is_null() {
                store::<S, 1>(y.add(at), n - at, [e]);
            }
            at += S::LANES;
        }
        total + sum_of::<S>(sums)
    }
}

/// The sum of all lanes.
#[inline(always)]
unsafe fn sum_of<S: Simd>(x: [S::V; N]) -> f64 {
    // SAFETY: the caller vouches for the instruction set.
    unsafe { S::sum(S::add(S::add(x[0], x[1]), S::add(x[2], x[3]))).to_f64() }
}

/// Multiplies a row.
///
/// # Safety
/// As for [`load`], with `n` elements.
#[inline(always)]
pub(super) unsafe fn scale<S: Simd>(y: *mut S::T, n: usize, by: S::T) {
    let mut at = 0;
    // SAFETY: promised by the caller.
    unsafe {
        let by = S::splat(by);
        while at < n {
            let [x] = load::<S, 1>(y.add(at), n - at, by);
            store::<S, 1>(y.add(at), n - at, [S::mul(x, by)]);
            at += S::LANES;
        }
    }
}

/// `exp(x - m) / sum(exp(x - m)) * factor`, where m is the largest element of the row.
///
/// # Safety
/// The CPU has the instruction set of `S`, and the rows exist.
#[inline(always)]
pub(super) unsafe fn softmax<S: Simd>(t: &Rows<S::T>) {
    for row in 0..t.n_rows {
        // SAFETY: promised by the caller.
        unsafe {
            let (x, y) = (t.x.add(row * t.n), t.y.add(row * t.n));
            if t.n <= N * S::LANES {
                short::<S>(x, y, t.n, t.factor);
                continue;
            }
            let sum = exps::<S>(x, y, t.n, largest::<S>(x, t.n));
            scale::<S>(y, t.n, t.factor / S::T::from_f64(sum));
        }
    }
}

/// As [`softmax`], of a row of at most `N` vectors, which stay in registers.
#[inline(always)]
unsafe fn short<S: Simd>(x: *const S::T, y: *mut S::T, n: usize, factor: S::T) {
    // SAFETY: promised by the caller.
    unsafe {
        if n <= S::LANES {
            few::<S, 1>(x, y, n, factor);
        } else if n <= 2 * S::LANES {
            few::<S, 2>(x, y, n, factor);
        } else {
            few::<S, N>(x, y, n, factor);
        }
    }
}

#[inline(always)]
unsafe fn few<S: Simd, const K: usize>(x: *const S::T, y: *mut S::T, n: usize, factor: S::T) {
    // SAFETY: promised by the caller.
    unsafe {
        let mut e = load::<S, K>(x, n, S::splat(S::T::NEG_INFINITY));
        let mut best = e[0];
        for &x in &e[1..] {
            best = S::max(x, best);
        }
        let shift = S::splat(S::largest(best));
        for e in &mut e {
            *e = S::sub(*e, shift);
        }
        let mut e = exp::<S, K>(e);
        let mut sum = e[0];
        for &it in &e[1..] {
            sum = S::add(sum, it);
        }
        let by = S::splat(factor / S::sum(sum));
        for e in &mut e {
            *e = S::mul(*e, by);
        }
        store::<S, K>(y, n, e);
    }
}

/// `x - m - log(sum(exp(x - m)))`, where m is the largest element of the row.
///
/// # Safety
/// As for [`softmax`].
#[inline(always)]
pub(super) unsafe fn log_softmax<S: Simd>(t: &Rows<S::T>) {
    for row in 0..t.n_rows {
        // SAFETY: promised by the caller.
        unsafe {
            let (x, y) = (t.x.add(row * t.n), t.y.add(row * t.n));
            let shift = largest::<S>(x, t.n);
            let sum = exps::<S>(x, std::ptr::null_mut(), t.n, shift);
            let (shift, rest) = (S::splat(shift), S::splat(S::T::from_f64(sum.ln())));
            let mut at = 0;
            while at < t.n {
                let [x] = load::<S, 1>(x.add(at), t.n - at, rest);
                store::<S, 1>(y.add(at), t.n - at, [S::sub(S::sub(x, shift), rest)]);
                at += S::LANES;
            }
        }
    }
}

/// The logarithm of the sum of exponentials of each row; minus infinity where there is no element.
///
/// # Safety
/// As for [`softmax`]; there are as many slots as rows.
#[inline(always)]
pub(super) unsafe fn log_sums<S: Simd>(t: &Rows<S::T>, sums: *mut f64) {
    for row in 0..t.n_rows {
        // SAFETY: promised by the caller.
        unsafe {
            let x = t.x.add(row * t.n);
            let shift = largest::<S>(x, t.n);
            *sums.add(row) = match shift.to_f64().is_infinite() {
                // The differences say nothing.
                true => infinite(std::slice::from_raw_parts(x, t.n), shift).to_f64(),
                false => {
                    let sum = exps::<S>(x, std::ptr::null_mut(), t.n, shift);
                    shift.to_f64() + sum.ln()
                }
            };
        }
    }
}

/// The largest element, which is infinite, of a row that may hold NaN.
#[inline(never)]
fn infinite<T: Element>(row: &[T], largest: T) -> T {
    if row.iter().any(|it| it.to_f64().is_nan()) { T::NAN } else { largest }
}

/// `y * (x - sum(x * y))`, the gradient of softmax where x is that of its result y.
///
/// # Safety
/// As for [`softmax`]; y has as many rows.
#[inline(always)]
pub(super) unsafe fn slopes<S: Simd>(t: &Rows<S::T>, y: *const S::T) {
    for row in 0..t.n_rows {
        // SAFETY: promised by the caller.
        unsafe {
            let (x, y) = (t.x.add(row * t.n), y.add(row * t.n));
            let sum = S::splat(S::T::from_f64(dot::<S>(x, y, t.n)));
            let out = t.y.add(row * t.n);
            let mut at = 0;
            while at < t.n {
                let [x] = load::<S, 1>(x.add(at), t.n - at, sum);
                let [y] = load::<S, 1>(y.add(at), t.n - at, sum);
                store::<S, 1>(out.add(at), t.n - at, [S::mul(y, S::sub(x, sum))]);
                at += S::LANES;
            }
        }
    }
}

/// `x - exp(y) * sum(x)`, the gradient of the logarithm of softmax where x is that of its result y.
///
/// # Safety
/// As for [`slopes`].
#[inline(always)]
pub(super) unsafe fn log_slopes<S: Simd>(t: &Rows<S::T>, y: *const S::T) {
    for row in 0..t.n_rows {
        // SAFETY: promised by the caller.
        unsafe {
            let (x, y, out) = (t.x.add(row * t.n), y.add(row * t.n), t.y.add(row * t.n));
            let sum = S::splat(S::T::from_f64(total::<S>(x, t.n)));
            let mut at = 0;
            while at + N * S::LANES <= t.n {
                log_slope::<S, N>([x.add(at), y.add(at)], out.add(at), t.n - at, sum);
                at += N * S::LANES;
            }
            while at < t.n {
                log_slope::<S, 1>([x.add(at), y.add(at)], out.add(at), t.n - at, sum);
                at += S::LANES;
            }
        }
    }
}

#[inline(always)]
unsafe fn log_slope<S: Simd, const K: usize>(
    [x, y]: [*const S::T; 2],
    out: *mut S::T,
    left: usize,
    sum: S::V,
) {
    // SAFETY: promised by the caller.
    unsafe {
        let mut res = load::<S, K>(x, left, sum);
        let e = exp::<S, K>(load::<S, K>(y, left, sum));
        for v in 0..K {
            res[v] = S::sub(res[v], S::mul(e[v], sum));
        }
        store::<S, K>(out, left, res);
    }
}

/// The sum of a row.
///
/// # Safety
/// As for [`load`], with `n` elements.
#[inline(always)]
unsafe fn total<S: Simd>(x: *const S::T, n: usize) -> f64 {
    // SAFETY: promised by the caller.
    unsafe {
        let zero = S::splat(S::T::ZERO);
        let mut sums = [zero; N];
        let mut at = 0;
        while at + N * S::LANES <= n {
            let x = load::<S, N>(x.add(at), n - at, zero);
            for v in 0..N {
                sums[v] = S::add(sums[v], x[v]);
            }
            at += N * S::LANES;
        }
        while at < n {
            let [x] = load::<S, 1>(x.add(at), n - at, zero);
            sums[0] = S::add(sums[0], x);
            at += S::LANES;
        }
        sum_of::<S>(sums)
    }
}

/// The sum of products of two rows.
///
/// # Safety
/// As for [`load`], with `n` elements of each.
#[inline(always)]
pub(super) unsafe fn dot<S: Simd>(x: *const S::T, y: *const S::T, n: usize) -> f64 {
    // SAFETY: promised by the caller.
    unsafe {
        let zero = S::splat(S::T::ZERO);
        let mut sums = [zero; N];
        let mut at = 0;
        while at + N * S::LANES <= n {
            let x = load::<S, N>(x.add(at), n - at, zero);
            let y = load::<S, N>(y.add(at), n - at, zero);
            for v in 0..N {
                sums[v] = S::fma(x[v], y[v], sums[v]);
            }
            at += N * S::LANES;
        }
        while at < n {
            let [x] = load::<S, 1>(x.add(at), n - at, zero);
            let [y] = load::<S, 1>(y.add(at), n - at, zero);
            sums[0] = S::fma(x, y, sums[0]);
            at += S::LANES;
        }
        sum_of::<S>(sums)
    }
}

/// Softmax of columns, or its logarithm, some vectors of columns at a time.
///
/// # Safety
/// The CPU has the instruction set of `S`, and the columns exist.
#[inline(always)]
pub(super) unsafe fn columns<S: Simd>(t: &Columns<S::T>) {
    let mut at = 0;
    // SAFETY: promised by the caller.
    unsafe {
        while at + N * S::LANES <= t.len {
            strip::<S, N>(t, at);
            at += N * S::LANES;
        }
        while at < t.len {
            strip::<S, 1>(t, at);
            at += S::LANES;
        }
    }
}

#[inline(always)]
unsafe fn strip<S: Simd, const K: usize>(t: &Columns<S::T>, at: usize) {
    // SAFETY: promised by the caller.
    unsafe {
        let (x, y, left) = (t.x.add(at), t.y.add(at), t.len - at);
        let zero = S::splat(S::T::ZERO);
        let (mut best, mut sums) = ([S::splat(S::T::NEG_INFINITY); K], [zero; K]);
        for row in 0..t.n {
            let x = load::<S, K>(x.add(row * t.steps[0]), left, zero);
            for v in 0..K {
                best[v] = S::max(x[v], best[v]);
            }
        }
        for row in 0..t.n {
            let mut e = load::<S, K>(x.add(row * t.steps[0]), left, zero);
            for v in 0..K {
                e[v] = S::sub(e[v], best[v]);
            }
            let e = exp::<S, K>(e);
            for v in 0..K {
                sums[v] = S::add(sums[v], e[v]);
            }
            if !t.log {
                store::<S, K>(y.add(row * t.steps[1]), left, e);
            }
        }
        for sum in &mut sums {
            *sum = each::<S>(*sum, |it| match t.log {
                true => S::T::from_f64(it.to_f64().ln()),
                false => S::T::ONE / it,
            });
        }
        for row in 0..t.n {
            let (x, y) = (x.add(row * t.steps[0]), y.add(row * t.steps[1]));
            let mut res = load::<S, K>(if t.log { x } else { y }, left, zero);
            for v in 0..K {
                res[v] = match t.log {
                    true => S::sub(S::sub(res[v], best[v]), sums[v]),
                    false => S::mul(res[v], sums[v]),
                };
            }
            store::<S, K>(y, left, res);
        }
    }
}

/// A function of each lane.
#[inline(always)]
unsafe fn each<S: Simd>(x: S::V, of: impl Fn(S::T) -> S::T) -> S::V {
    let mut lanes = [S::T::ZERO; 16];
    // SAFETY: the caller vouches for the instruction set; no vector has more lanes.
    unsafe {
        S::store(lanes.as_mut_ptr(), x);
        lanes[..S::LANES].iter_mut().for_each(|it| *it = of(*it));
        S::load(lanes.as_ptr())
    }
}

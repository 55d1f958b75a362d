//! The rows of a tile of scores, on their way to attention: their share in the softmax so far, and its gradient.

use super::Simd;
use super::exp::exp;
use super::softmax::{exps, largest, load, scale, store};
use crate::cpu::element::Element;

/// A tile of scores, whose rows are queries and whose columns are keys. Of what a query does not see the share is 0.
pub(crate) struct Scores<T> {
    pub(crate) s: *mut T,
    /// From a row to the next.
    pub(crate) stride: usize,
    pub(crate) rows: usize,
    /// Columns to write.
    pub(crate) n: usize,
    /// Columns that the first row sees, and how many more each further one; what is below 0 or above `n` counts as these.
    pub(crate) seen: isize,
    pub(crate) step: isize,
    /// What is added to the scores, with its strides; null where nothing is.
    pub(crate) mask: *const T,
    pub(crate) mask_row: isize,
    pub(crate) mask_column: isize,
}

/// What is known of rows of which some columns are done: the largest score, the sum of `exp(score - largest)`, and the values, added up
/// with these factors.
pub(crate) struct Running<T> {
    pub(crate) largest: *mut T,
    pub(crate) sums: *mut T,
    /// Rows of `width` elements, one behind the other.
    pub(crate) values: *mut T,
    pub(crate) width: usize,
    /// Whether nothing is known yet.
    pub(crate) first: bool,
}

impl<T> Scores<T> {
    #[inline(always)]
    fn seen(&self, row: usize) -> usize {
        (self.seen + row as isize * self.step).clamp(0, self.n as isize) as usize
    }
}

/// Adds the mask to the columns that a row sees.
///
/// # Safety
/// As for [`attend`].
#[inline(always)]
unsafe fn add_mask<S: Simd>(t: &Scores<S::T>, row: usize, s: *mut S::T, n: usize) {
    if t.mask.is_null() {
        return;
    }
    let mask = t.mask.wrapping_offset(row as isize * t.mask_row);
    // SAFETY: promised by the caller.
    unsafe {
        if t.mask_column != 1 {
            for at in 0..n {
                *s.add(at) += *mask.offset(at as isize * t.mask_column);
            }
            return;
        }
        let zero = S::splat(S::T::ZERO);
        for at in (0..n).step_by(S::LANES) {
            let [x] = load::<S, 1>(s.add(at), n - at, zero);
            let [mask] = load::<S, 1>(mask.add(at), n - at, zero);
            store::<S, 1>(s.add(at), n - at, [S::add(x, mask)]);
        }
    }
}

/// Puts `exp(score - largest)` in the place of each score, and what was known of the rows under the new largest score (M. Milakov and
/// N. Gimelshein 2018).
///
/// # Safety
/// The CPU has the instruction set of `S`; the scores, the mask where there is one, and what is known of the rows exist.
#[inline(always)]
pub(super) unsafe fn attend<S: Simd>(t: &Scores<S::T>, known: &Running<S::T>) {
    for row in 0..t.rows {
        // SAFETY: promised by the caller.
        unsafe {
            let (s, n) = (t.s.add(row * t.stride), t.seen(row));
            add_mask::<S>(t, row, s, n);
            let (best, sum) = (known.largest.add(row), known.sums.add(row));
            let found = largest::<S>(s, n);
            let before = *best;
            *best = if known.first || found > before { found } else { before };
            // Where nothing is seen, or minus infinity alone, all shares are 0.
            let shift = if *best == S::T::NEG_INFINITY { S::T::ZERO } else { *best };
            let total = S::T::from_f64(exps::<S>(s, s, n, shift));
            fill::<S>(s, n..t.n);
            if known.first {
                *sum = total;
            } else if before == *best {
                *sum += total;
            } else {
                let [factor] = exp::<S, 1>([S::splat(before - shift)]);
                let factor = S::largest(factor);
                *sum = *sum * factor + total;
                scale::<S>(known.values.add(row * known.width), known.width, factor);
            }
        }
    }
}

/// Sets elements to 0.
#[inline(always)]
unsafe fn fill<S: Simd>(s: *mut S::T, range: std::ops::Range<usize>) {
    // SAFETY: promised by the caller.
    unsafe {
        for at in range.clone().step_by(S::LANES) {
            store::<S, 1>(s.add(at), range.end - at, [S::splat(S::T::ZERO)]);
        }
    }
}

/// With `p = exp(score - log_sum)` puts p in the place of each score, and `p * (slope - mean)` in that of each of `slopes`, which lie as
/// the scores do: the gradient of softmax. Log sums and means are one for each row.
///
/// # Safety
/// As for [`attend`].
#[inline(always)]
pub(super) unsafe fn attend_slopes<S: Simd>(
    t: &Scores<S::T>,
    slopes: *mut S::T,
    log_sums: *const S::T,
    means: *const S::T,
) {
    for row in 0..t.rows {
        // SAFETY: promised by the caller.
        unsafe {
            let (s, n) = (t.s.add(row * t.stride), t.seen(row));
            let slopes = slopes.add(row * t.stride);
            add_mask::<S>(t, row, s, n);
            let log_sum = *log_sums.add(row);
            // Where nothing is seen all shares are 0.
            let infinity = S::T::ZERO - S::T::NEG_INFINITY;
            let shift = if log_sum == S::T::NEG_INFINITY { infinity } else { log_sum };
            let (shift, mean) = (S::splat(shift), S::splat(*means.add(row)));
            let mut at = 0;
            while at + 4 * S::LANES <= n {
                slopes_of::<S, 4>(s.add(at), slopes.add(at), n - at, shift, mean);
                at += 4 * S::LANES;
            }
            while at < n {
                slopes_of::<S, 1>(s.add(at), slopes.add(at), n - at, shift, mean);
                at += S::LANES;
            }
            fill::<S>(s, n..t.n);
            fill::<S>(slopes, n..t.n);
        }
    }
}

#[inline(always)]
unsafe fn slopes_of<S: Simd, const K: usize>(
    s: *mut S::T,
    slopes: *mut S::T,
    left: usize,
    shift: S::V,
    mean: S::V,
) {
    // SAFETY: promised by the caller.
    unsafe {
        let mut x = load::<S, K>(s, left, shift);
        for x in &mut x {
            *x = S::sub(*x, shift);
        }
        let p = exp::<S, K>(x);
        let mut slope = load::<S, K>(slopes, left, mean);
        for v in 0..K {
            slope[v] = S::mul(p[v], S::sub(slope[v], mean));
        }
        store::<S, K>(s, left, p);
        store::<S, K>(slopes, left, slope);
    }
}

//! Running sums, products and extremes, along one axis of a row-major block `[outer, n, inner]`.
//!
//! The blocks of a tensor are shared among threads; what one of them gives does not depend on that.

use super::interrupt;
use super::number::{Float, Num};
use super::pool::{self, Shared};

/// Calls `body` with each block of `x`, and what lies there in `out`, on several threads if there is enough to do.
fn for_each_block<T: Num>(
    x: &[T],
    block: usize,
    out: &mut [T],
    body: &(dyn Fn(&[T], &mut [T]) + Sync),
) {
    assert!(out.len() == x.len(), "as many results as elements");
    if block == 0 {
        return;
    }
    let out = Shared(out.as_mut_ptr());
    pool::for_each_range(x.len() / block, block, &|range| {
        let range = range.start * block..range.end * block;
        // SAFETY: each range is given once, and `out` is as long as `x`.
        let out = unsafe { out.part(range.clone()) };
        x[range]
            .chunks_exact(block)
            .zip(out.chunks_exact_mut(block))
            .for_each(|(x, out)| body(x, out));
    });
}

/// Lines that are walked at once: what each step of one waits for, the others do meanwhile.
const LINES: usize = 4;

/// Goes along lines of `n` elements that lie one behind the other, each from `start` on.
fn along_lines<T: Num, A: Copy + Sync>(
    x: &[T],
    n: usize,
    out: &mut [T],
    start: A,
    step: impl Fn(A, T) -> (A, T) + Sync,
) {
    assert!(out.len() == x.len(), "as many results as elements");
    if n == 0 {
        return;
    }
    let out = Shared(out.as_mut_ptr());
    pool::for_each_range(x.len() / n, n, &|range| {
        for first in range.clone().step_by(LINES) {
            let lines = LINES.min(range.end - first);
            let part = first * n..(first + lines) * n;
            // SAFETY: each range is given once, and `out` is as long as `x`.
            let (src, dst) = (&x[part.clone()], unsafe { out.part(part) });
            let mut states = [start; LINES];
            for steps in interrupt::pieces_of(n, lines) {
                if lines < LINES {
                    for (line, state) in states.iter_mut().enumerate().take(lines) {
                        for at in steps.clone().map(|it| line * n + it) {
                            (*state, dst[at]) = step(*state, src[at]);
                        }
                    }
                    continue;
                }
                let src: [&[T]; LINES] = std::array::from_fn(|line| &src[line * n..][..n]);
                let mut rest = &mut *dst;
                let dst: [&mut [T]; LINES] = std::array::from_fn(|_| {
                    let (line, others) = std::mem::take(&mut rest).split_at_mut(n);
                    rest = others;
                    line
                });
                for at in steps {
                    for line in 0..LINES {
                        (states[line], dst[line][at]) = step(states[line], src[line][at]);
                    }
                }
            }
        }
    });
}

/// `out[.., i, ..]` combines `x[.., 0..=i, ..]`, of which `start` changes nothing; integers wrap.
pub fn scan<T: Num>(
    x: &[T],
    (n, inner): (usize, usize),
    out: &mut [T],
    start: T,
    combine: impl Fn(T, T) -> T + Sync,
) {
    if inner == 1 {
        return along_lines(x, n, out, start, |total, x| {
            let total = combine(total, x);
            (total, total)
        });
    }
    for_each_block(x, n * inner, out, &|src, dst| {
        dst[..inner].copy_from_slice(&src[..inner]);
        for piece in interrupt::pieces((n - 1) * inner) {
            for at in piece {
                dst[at + inner] = combine(dst[at], src[at + inner]);
            }
        }
    });
}

/// As [`scan`] for floats, carried in `f64` from `start` on.
pub fn float_scan<T: Num>(
    x: &[T],
    (n, inner): (usize, usize),
    out: &mut [T],
    start: f64,
    combine: impl Fn(f64, f64) -> f64 + Sync,
) {
    if inner == 1 {
        return along_lines(x, n, out, start, |total, x| {
            let total = combine(total, x.to_f64());
            (total, T::from_f64(total))
        });
    }
    for_each_block(x, n * inner, out, &|src, dst| {
        let mut totals = vec![start; inner];
        for rows in interrupt::pieces_of(n, inner) {
            let part = rows.start * inner..rows.end * inner;
            let (src, dst) = (&src[part.clone()], &mut dst[part]);
            for (src, dst) in src.chunks_exact(inner).zip(dst.chunks_exact_mut(inner)) {
                for ((total, &x), slot) in totals.iter_mut().zip(src).zip(dst) {
                    *total = combine(*total, x.to_f64());
                    *slot = T::from_f64(*total);
                }
            }
        }
    });
}

/// `out[i] = b[i] + a[i] * out[i - 1]` along the axis; the first step takes `b` alone.
pub fn linear<T: Float>(a: &[T], b: &[T], (n, inner): (usize, usize), out: &mut [T]) {
    let block = n * inner;
    assert!(out.len() == b.len(), "as many results as elements");
    if block == 0 {
        return;
    }
    let out = Shared(out.as_mut_ptr());
    pool::for_each_range(b.len() / block, block, &|range| {
        for idx in range {
            let range = idx * block..(idx + 1) * block;
            // SAFETY: each range is given once, and `out` is as long as `b`.
            let out = unsafe { out.part(range.clone()) };
            let (a, b) = (&a[range.clone()], &b[range]);
            out[..inner].copy_from_slice(&b[..inner]);
            for piece in interrupt::pieces(block - inner) {
                for at in piece {
                    out[at + inner] = b[at + inner] + a[at + inner] * out[at];
                }
            }
        }
    });
}

/// `log(exp(a) + exp(b))`
pub fn log_add(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    // Two infinities of one sign have no difference.
    if low.is_nan() || high.is_nan() || high.is_infinite() {
        return if low.is_nan() { low } else { high };
    }
    high + (low - high).exp().ln_1p()
}

/// The largest (or smallest) element so far along the axis, and its last index; NaN beats everything.
pub fn running_best<T: Num>(
    largest: bool,
    x: &[T],
    (n, inner): (usize, usize),
    values: &mut [T],
    indices: &mut [i64],
) {
    let block = (n * inner).max(1);
    for piece in interrupt::pieces(x.len()) {
        for at in piece {
            let (step, before) = (at % block / inner, at.wrapping_sub(inner));
            let keeps = step > 0 && {
                let best = values[before];
                let behind = if largest { x[at] < best } else { x[at] > best };
                (best.is_nan() || behind) && !x[at].is_nan()
            };
            (values[at], indices[at]) =
                if keeps { (values[before], indices[before]) } else { (x[at], step as i64) };
        }
    }
}

//! Plain Rust over short arrays, which the compiler turns into the vectors that the target has at least.

use std::marker::PhantomData;

use super::{
    Axpy, Columns, Dots, Halves, Kernels, Lines, Panel, Rows, Running, Scores, Simd, Taps, Tile,
    Tiles, Windows, kernels, lines, softmax as softmax_rows, windows, winograd,
};
use crate::cpu::element::Element;

#[derive(Clone, Copy)]
pub(super) struct Array<T>(PhantomData<T>);

const LANES: usize = 4;

impl<T: Element> Simd for Array<T> {
    type T = T;
    type V = [T; LANES];
    type M = usize;
    const LANES: usize = LANES;

    #[inline(always)]
    unsafe fn splat(x: T) -> [T; LANES] {
        [x; LANES]
    }

    #[inline(always)]
    unsafe fn load(p: *const T) -> [T; LANES] {
        // SAFETY: the caller vouches for the address.
        unsafe { p.cast::<[T; LANES]>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn store(p: *mut T, v: [T; LANES]) {
        // SAFETY: the caller vouches for the address.
        unsafe { p.cast::<[T; LANES]>().write_unaligned(v) };
    }

    #[inline(always)]
    unsafe fn mask(n: usize) -> usize {
        n.min(LANES)
    }

    #[inline(always)]
    unsafe fn load_mask(p: *const T, m: usize) -> [T; LANES] {
        // SAFETY: the caller vouches for the masked lanes.
        unsafe {
            if m == LANES {
                return Self::load(p);
            }
            let mut v = [T::ZERO; LANES];
            for (i, x) in v.iter_mut().enumerate().take(m) {
                *x = *p.add(i);
            }
            v
        }
    }

    #[inline(always)]
    unsafe fn store_mask(p: *mut T, m: usize, v: [T; LANES]) {
        // SAFETY: the caller vouches for the masked lanes.
        unsafe {
            if m == LANES {
                return Self::store(p, v);
            }
            for (i, &x) in v.iter().enumerate().take(m) {
                *p.add(i) = x;
            }
        }
    }

    #[inline(always)]
    unsafe fn add(mut x: [T; LANES], y: [T; LANES]) -> [T; LANES] {
        for (a, b) in x.iter_mut().zip(y) {
            *a += b;
        }
        x
    }

    #[inline(always)]
    unsafe fn sub(mut x: [T; LANES], y: [T; LANES]) -> [T; LANES] {
        for i in 0..LANES {
            x[i] = x[i] - y[i];
        }
        x
    }

    #[inline(always)]
    unsafe fn mul(mut x: [T; LANES], y: [T; LANES]) -> [T; LANES] {
        for i in 0..LANES {
            x[i] = x[i] * y[i];
        }
        x
    }

    #[inline(always)]
    unsafe fn fma(x: [T; LANES], y: [T; LANES], mut z: [T; LANES]) -> [T; LANES] {
        for i in 0..LANES {
            z[i] += x[i] * y[i];
        }
        z
    }

    #[inline(always)]
    unsafe fn pick(
        x: [T; LANES],
        place: [T; LANES],
        mut best: ([T; LANES], [T; LANES]),
    ) -> ([T; LANES], [T; LANES]) {
        for i in 0..LANES {
            #[expect(clippy::eq_op, reason = "the test for NaN")]
            let better = (x[i] > best.0[i]) | (x[i] != x[i]);
            best.0[i] = if better { x[i] } else { best.0[i] };
            best.1[i] = if better { place[i] } else { best.1[i] };
        }
        best
    }

    #[inline(always)]
    unsafe fn sum(x: [T; LANES]) -> T {
        (x[0] + x[2]) + (x[1] + x[3])
    }

    #[inline(always)]
    unsafe fn largest(x: [T; LANES]) -> T {
        x.into_iter().fold(T::NEG_INFINITY, |best, x| if x > best { x } else { best })
    }

    #[inline(always)]
    unsafe fn max(x: [T; LANES], mut y: [T; LANES]) -> [T; LANES] {
        for i in 0..LANES {
            y[i] = if x[i] > y[i] { x[i] } else { y[i] };
        }
        y
    }

    #[inline(always)]
    unsafe fn keep_from(mut v: [T; LANES], x: [T; LANES], least: [T; LANES]) -> [T; LANES] {
        for i in 0..LANES {
            v[i] = if x[i] < least[i] { T::ZERO } else { v[i] };
        }
        v
    }

    #[inline(always)]
    unsafe fn raised(mut p: [T; LANES], shifted: [T; LANES]) -> [T; LANES] {
        for i in 0..LANES {
            p[i] = p[i].raised(shifted[i]);
        }
        p
    }

    #[inline(always)]
    unsafe fn load_or(p: *const T, m: usize, mut fill: [T; LANES]) -> [T; LANES] {
        // SAFETY: the caller vouches for the masked lanes.
        unsafe {
            for (i, x) in fill.iter_mut().enumerate().take(m) {
                *x = *p.add(i);
            }
        }
        fill
    }
}

unsafe fn tile<S: Simd, const R: usize, const NV: usize, const MODE: u8>(t: &Tile<S::T>) {
    // SAFETY: the caller vouches for the operands.
    unsafe { super::tile::tile::<S, R, NV, MODE>(t) }
}

unsafe fn finish<S: Simd>(t: &Tile<S::T>, rows: usize) {
    // SAFETY: as above.
    unsafe { super::tile::finish::<S>(t, rows) }
}

unsafe fn axpy<S: Simd>(t: &Axpy<S::T>) {
    // SAFETY: as above.
    unsafe { lines::axpy::<S>(t) }
}

unsafe fn dots<S: Simd, const R: usize>(t: &Dots<S::T>) {
    // SAFETY: as above.
    unsafe { lines::dots::<S, R>(t) }
}

unsafe fn pack<S: Simd>(t: &Panel<S::T>) {
    // SAFETY: as above.
    unsafe { lines::pack::<S>(t) }
}

unsafe fn halves<S: Simd>(t: &Halves<S::T>) {
    // SAFETY: as above.
    unsafe { windows::halves::<S>(t) }
}

unsafe fn windows<S: Simd, const COLUMNS: usize>(t: &Windows<S::T>) {
    // SAFETY: as above.
    unsafe { windows::windows::<S, COLUMNS>(t) }
}

unsafe fn gather<S: Simd>(t: &Lines<S::T>) {
    // SAFETY: as above.
    unsafe { lines::gather::<S>(t) }
}

unsafe fn softmax<S: Simd>(t: &Rows<S::T>) {
    // SAFETY: as above.
    unsafe { softmax_rows::softmax::<S>(t) }
}

unsafe fn log_softmax<S: Simd>(t: &Rows<S::T>) {
    // SAFETY: as above.
    unsafe { softmax_rows::log_softmax::<S>(t) }
}

unsafe fn log_sums<S: Simd>(t: &Rows<S::T>, sums: *mut f64) {
    // SAFETY: as above.
    unsafe { softmax_rows::log_sums::<S>(t, sums) }
}

unsafe fn softmax_slopes<S: Simd>(t: &Rows<S::T>, y: *const S::T) {
    // SAFETY: as above.
    unsafe { softmax_rows::slopes::<S>(t, y) }
}

unsafe fn log_softmax_slopes<S: Simd>(t: &Rows<S::T>, y: *const S::T) {
    // SAFETY: as above.
    unsafe { softmax_rows::log_slopes::<S>(t, y) }
}

unsafe fn softmax_columns<S: Simd>(t: &Columns<S::T>) {
    // SAFETY: as above.
    unsafe { softmax_rows::columns::<S>(t) }
}

unsafe fn attend<S: Simd>(t: &Scores<S::T>, known: &Running<S::T>) {
    // SAFETY: as above.
    unsafe { super::attend::attend::<S>(t, known) }
}

unsafe fn attend_slopes<S: Simd>(
    t: &Scores<S::T>,
    slopes: *mut S::T,
    log_sums: *const S::T,
    means: *const S::T,
) {
    // SAFETY: as above.
    unsafe { super::attend::attend_slopes::<S>(t, slopes, log_sums, means) }
}

unsafe fn winograd_input<S: Simd>(t: &Tiles<S::T>) {
    // SAFETY: as above.
    unsafe { winograd::input::<S>(t) }
}

unsafe fn winograd_weight<S: Simd>(t: &Taps<S::T>) {
    // SAFETY: as above.
    unsafe { winograd::weight::<S>(t) }
}

unsafe fn winograd_output<S: Simd>(t: &Tiles<S::T>) {
    // SAFETY: as above.
    unsafe { winograd::output::<S>(t) }
}

pub(super) static F32: Kernels<f32> = kernels!(Array<f32>, LANES, [1 2 3 4] [1 2], 2);
pub(super) static F64: Kernels<f64> = kernels!(Array<f64>, LANES, [1 2 3 4] [1 2], 2);

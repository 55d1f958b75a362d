//! Kernels over whole lines: matrix-vector products in both directions, packing of panels, and gathering of lines.

use super::Simd;
use crate::cpu::element::Element;

/// `y[j] += sum over p of x[p * incx] * b[p * rsb + j]`
pub(crate) struct Axpy<T> {
    pub(crate) n: usize,
    pub(crate) k: usize,
    pub(crate) x: *const T,
    pub(crate) incx: isize,
    pub(crate) b: *const T,
    pub(crate) rsb: isize,
    pub(crate) y: *mut T,
}

/// `y[i * rsy + j * incy] (+)= sum over p of x[i * rsx + p] * b[j * csb + p]`
#[derive(Clone, Copy)]
pub(crate) struct Dots<T> {
    pub(crate) m: usize,
    pub(crate) n: usize,
    pub(crate) k: usize,
    pub(crate) x: *const T,
    pub(crate) rsx: isize,
    pub(crate) b: *const T,
    pub(crate) csb: isize,
    pub(crate) y: *mut T,
    pub(crate) rsy: isize,
    pub(crate) incy: isize,
    pub(crate) accumulate: bool,
}

/// `dst[p * pitch + lane] = src[lane * lane_stride + p * k_stride]`, 0 where `lane >= lanes`.
pub(crate) struct Panel<T> {
    pub(crate) src: *const T,
    pub(crate) lane_stride: isize,
    pub(crate) k_stride: isize,
    /// Lanes that exist.
    pub(crate) lanes: usize,
    /// Lanes in the destination, and elements from one row of it to the next.
    pub(crate) width: usize,
    pub(crate) pitch: usize,
    pub(crate) k: usize,
    pub(crate) dst: *mut T,
}

/// `dst[i * n + j] = src[i * row + j * column] * scale` for `m` lines of `n` elements.
pub(crate) struct Lines<T> {
    pub(crate) src: *const T,
    pub(crate) row: isize,
    pub(crate) column: isize,
    pub(crate) m: usize,
    pub(crate) n: usize,
    pub(crate) scale: T,
    pub(crate) dst: *mut T,
}

/// Lines ahead of the one that is copied, of which the processor is told: far from each other, it would not guess them.
const AHEAD: isize = 4;

/// # Safety
/// The CPU has the instruction set of `S`, and the lines exist, here and there.
#[inline(always)]
pub(super) unsafe fn gather<S: Simd>(t: &Lines<S::T>) {
    // SAFETY: as promised by the caller; any address may be named.
    unsafe {
        let scale = S::splat(t.scale);
        for line in 0..t.m {
            let src = t.src.wrapping_offset(line as isize * t.row);
            let dst = t.dst.add(line * t.n);
            if t.column != 1 {
                for at in 0..t.n {
                    *dst.add(at) = *src.offset(at as isize * t.column) * t.scale;
                }
                continue;
            }
            let ahead = src.wrapping_offset(AHEAD * t.row);
            let mut at = 0;
            while at + S::LANES <= t.n {
                S::prefetch(ahead.wrapping_add(at));
                S::store(dst.add(at), S::mul(S::load(src.add(at)), scale));
                at += S::LANES;
            }
            if at < t.n {
                let mask = S::mask(t.n - at);
                S::store_mask(dst.add(at), mask, S::mul(S::load_mask(src.add(at), mask), scale));
            }
        }
    }
}

/// # Safety
/// The CPU has the instruction set of `S`, and the lines exist.
#[inline(always)]
pub(super) unsafe fn axpy<S: Simd>(t: &Axpy<S::T>) {
    let mut p = 0;
    // SAFETY: as promised by the caller.
    unsafe {
        while p + 8 <= t.k {
            axpy_rows::<S, 8>(t, p);
            p += 8;
        }
        while p < t.k {
            axpy_rows::<S, 1>(t, p);
            p += 1;
        }
    }
}

#[inline(always)]
unsafe fn axpy_rows<S: Simd, const N: usize>(t: &Axpy<S::T>, p: usize) {
    // SAFETY: rows `p` to `p + N` exist; the mask names the columns that do.
    unsafe {
        let mut xs = [S::splat(S::T::ZERO); N];
        for (i, x) in xs.iter_mut().enumerate() {
            *x = S::splat(*t.x.offset((p + i) as isize * t.incx));
        }
        let b = t.b.offset(p as isize * t.rsb);
        let mut j = 0;
        while j + S::LANES <= t.n {
            let mut sum = S::load(t.y.add(j));
            for (i, &x) in xs.iter().enumerate() {
                sum = S::fma(x, S::load(b.offset(i as isize * t.rsb).add(j)), sum);
            }
            S::store(t.y.add(j), sum);
            j += S::LANES;
        }
        if j < t.n {
            let mask = S::mask(t.n - j);
            let mut sum = S::load_mask(t.y.add(j), mask);
            for (i, &x) in xs.iter().enumerate() {
                sum = S::fma(x, S::load_mask(b.offset(i as isize * t.rsb).add(j), mask), sum);
            }
            S::store_mask(t.y.add(j), mask, sum);
        }
    }
}

/// Takes four lines of b at a time, and while they are near, `R` lines of x at a time; then the rest one by one.
///
/// # Safety
/// The CPU has the instruction set of `S`, and the lines exist.
#[inline(always)]
pub(super) unsafe fn dots<S: Simd, const R: usize>(t: &Dots<S::T>) {
    let mut j = 0;
    // SAFETY: as promised by the caller; columns `j` to `j + 4` exist.
    unsafe {
        while j + 4 <= t.n {
            dots_of_columns::<S, R, 4>(t, j);
            j += 4;
        }
        while j < t.n {
            dots_of_columns::<S, R, 1>(t, j);
            j += 1;
        }
    }
}

#[inline(always)]
unsafe fn dots_of_columns<S: Simd, const R: usize, const N: usize>(t: &Dots<S::T>, j: usize) {
    let mut i = 0;
    // SAFETY: as promised by the caller; the lines from `i` on exist.
    unsafe {
        while i < t.m {
            let x = t.x.offset(i as isize * t.rsx);
            let part = Dots { x, y: t.y.offset(i as isize * t.rsy), ..*t };
            if i + R <= t.m {
                dots_in_block::<S, R, N>(&part, j);
                i += R;
            } else {
                dots_of::<S, N>(&part, j);
                i += 1;
            }
        }
    }
}

/// The dots of `R` lines of x with `N` lines of b, which stay in registers over the whole of k.
#[inline(always)]
unsafe fn dots_in_block<S: Simd, const R: usize, const N: usize>(t: &Dots<S::T>, j: usize) {
    // SAFETY: lines up to `R` of x and columns `j` to `j + N` exist; the mask names the steps that do.
    unsafe {
        let b = t.b.offset(j as isize * t.csb);
        let mut sums = [[S::splat(S::T::ZERO); N]; R];
        let mut p = 0;
        while p + S::LANES <= t.k {
            let mut bs = [S::splat(S::T::ZERO); N];
            for (c, line) in bs.iter_mut().enumerate() {
                *line = S::load(b.offset(c as isize * t.csb).add(p));
            }
            for (i, row) in sums.iter_mut().enumerate() {
                let x = S::load(t.x.offset(i as isize * t.rsx).add(p));
                for (sum, &line) in row.iter_mut().zip(&bs) {
                    *sum = S::fma(x, line, *sum);
                }
            }
            p += S::LANES;
        }
        if p < t.k {
            let mask = S::mask(t.k - p);
            for (i, row) in sums.iter_mut().enumerate() {
                let x = S::load_mask(t.x.offset(i as isize * t.rsx).add(p), mask);
                for (c, sum) in row.iter_mut().enumerate() {
                    let line = b.offset(c as isize * t.csb).add(p);
                    *sum = S::fma(x, S::load_mask(line, mask), *sum);
                }
            }
        }
        for (i, row) in sums.iter().enumerate() {
            let y = t.y.offset(i as isize * t.rsy + j as isize * t.incy);
            let mut totals = totals::<S, N>(row);
            if t.accumulate {
                for (c, total) in totals.iter_mut().enumerate() {
                    *total += *y.offset(c as isize * t.incy);
                }
            }
            if t.incy == 1 {
                y.cast::<[S::T; N]>().write_unaligned(totals);
            } else {
                for (c, &total) in totals.iter().enumerate() {
                    *y.offset(c as isize * t.incy) = total;
                }
            }
        }
    }
}

/// The sum of the lanes of each vector.
#[inline(always)]
unsafe fn totals<S: Simd, const N: usize>(vectors: &[S::V; N]) -> [S::T; N] {
    let mut res = [S::T::ZERO; N];
    // SAFETY: the caller vouches for the instruction set.
    unsafe {
        if let ([a, b, c, d], Ok(res)) = (vectors.as_slice(), res.as_mut_slice().try_into()) {
            let res: &mut [S::T; 4] = res;
            *res = S::sums([*a, *b, *c, *d]);
        } else {
            for (total, &vector) in res.iter_mut().zip(vectors) {
                *total = S::sum(vector);
            }
        }
    }
    res
}

#[inline(always)]
unsafe fn dots_of<S: Simd, const N: usize>(t: &Dots<S::T>, j: usize) {
    // SAFETY: columns `j` to `j + N` exist; the mask names the steps that do.
    unsafe {
        let b = t.b.offset(j as isize * t.csb);
        let mut even = [S::splat(S::T::ZERO); N];
        let mut odd = even;
        let mut p = 0;
        while p + 2 * S::LANES <= t.k {
            let (x0, x1) = (S::load(t.x.add(p)), S::load(t.x.add(p + S::LANES)));
            for i in 0..N {
                let line = b.offset(i as isize * t.csb).add(p);
                even[i] = S::fma(x0, S::load(line), even[i]);
                odd[i] = S::fma(x1, S::load(line.add(S::LANES)), odd[i]);
            }
            p += 2 * S::LANES;
        }
        while p < t.k {
            let mask = S::mask(t.k - p);
            let x = S::load_mask(t.x.add(p), mask);
            for (i, sum) in even.iter_mut().enumerate() {
                *sum = S::fma(x, S::load_mask(b.offset(i as isize * t.csb).add(p), mask), *sum);
            }
            p += S::LANES;
        }
        for i in 0..N {
            let y = t.y.offset((j + i) as isize * t.incy);
            let sum = S::sum(S::add(even[i], odd[i]));
            *y = if t.accumulate { *y + sum } else { sum };
        }
    }
}

/// # Safety
/// The CPU has the instruction set of `S`, and source and destination exist.
#[inline(always)]
pub(super) unsafe fn pack<S: Simd>(t: &Panel<S::T>) {
    // SAFETY: as promised by the caller.
    unsafe {
        if t.lane_stride == 1 {
            pack_rows::<S>(t);
        } else if t.k_stride == 1 {
            pack_columns::<S>(t);
        } else {
            pack_any::<S>(t);
        }
    }
}

#[inline(always)]
unsafe fn pack_rows<S: Simd>(t: &Panel<S::T>) {
    let mut lane = 0;
    while lane < t.width {
        // SAFETY: the masks name lanes that exist in the source and in the destination.
        unsafe {
            let from = S::mask(t.lanes.saturating_sub(lane));
            let to = S::mask(t.width - lane);
            let (mut src, mut dst) = (t.src.wrapping_add(lane), t.dst.add(lane));
            for _ in 0..t.k {
                S::store_mask(dst, to, S::load_mask(src, from));
                src = src.wrapping_offset(t.k_stride);
                dst = dst.wrapping_add(t.pitch);
            }
        }
        lane += S::LANES;
    }
}

#[inline(always)]
unsafe fn pack_columns<S: Simd>(t: &Panel<S::T>) {
    let mut lane = 0;
    while lane < t.width {
        let lanes = t.lanes.saturating_sub(lane);
        let width = S::LANES.min(t.width - lane);
        let src = t.src.wrapping_offset(lane as isize * t.lane_stride);
        let mut p = 0;
        while p < t.k {
            // SAFETY: the block lies inside source and destination.
            unsafe {
                let dst = t.dst.add(p * t.pitch + lane);
                let k = S::LANES.min(t.k - p);
                S::transpose(
                    src.wrapping_add(p),
                    t.lane_stride,
                    lanes.min(width),
                    k,
                    dst,
                    t.pitch,
                    width,
                );
            }
            p += S::LANES;
        }
        lane += S::LANES;
    }
}

#[inline(always)]
unsafe fn pack_any<S: Simd>(t: &Panel<S::T>) {
    for p in 0..t.k {
        for lane in 0..t.width {
            // SAFETY: lanes that do not exist in the source are not read.
            unsafe {
                let at = lane as isize * t.lane_stride + p as isize * t.k_stride;
                let x = if lane < t.lanes { *t.src.offset(at) } else { S::T::ZERO };
                *t.dst.add(p * t.pitch + lane) = x;
            }
        }
    }
}

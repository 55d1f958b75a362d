//! The transforms of F(4x4, 3x3): `Y = A^T [(G g G^T) * (B^T d B)] A`, each over many tiles at once.
//!
//! Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015, section 4.1 gives the method; the matrices
//! are those of the points 0, 1, -1, 2, -2 and infinity.

#![expect(clippy::needless_range_loop, reason = "indices are those of the formulas")]

use super::Simd;
use crate::cpu::element::Element;

/// Tiles in a row. The channels of a pixel lie side by side, so a vector holds the same element of several channels.
pub(crate) struct Tiles<T> {
    pub(crate) count: usize,
    /// Channels, no more than there are lanes.
    pub(crate) channels: usize,
    /// The pixels outside the transform: six rows (input) or four (output), whole vectors side by side. Tiles are four pixels apart.
    pub(crate) pixels: *mut T,
    pub(crate) row_stride: usize,
    /// The 36 elements inside the transform: how far they, and the tiles of one of them, lie apart.
    pub(crate) inner: *mut T,
    pub(crate) inner_stride: usize,
    pub(crate) tile_stride: usize,
}

/// Kernels, of which each tap lies in one line, so a vector holds the same tap of several kernels.
pub(crate) struct Taps<T> {
    pub(crate) count: usize,
    /// Nine lines.
    pub(crate) lines: *const T,
    pub(crate) line_stride: usize,
    /// The 36 lines inside the transform.
    pub(crate) inner: *mut T,
    pub(crate) inner_stride: usize,
    /// The taps are in reverse order.
    pub(crate) reversed: bool,
}

/// `B^T d B`
///
/// # Safety
/// The CPU has the instruction set of `S`, and the elements exist.
#[inline(always)]
pub(super) unsafe fn input<S: Simd>(t: &Tiles<S::T>) {
    for at in 0..t.count {
        // SAFETY: as promised by the caller; the mask names the channels that exist.
        unsafe {
            let mask = S::mask(t.channels);
            let pixels = t.pixels.add(4 * at * S::LANES);
            let inner = t.inner.add(at * t.tile_stride);
            let mut half = [[S::splat(S::T::ZERO); 6]; 6];
            for j in 0..6 {
                let mut d = [S::splat(S::T::ZERO); 6];
                for (i, d) in d.iter_mut().enumerate() {
                    *d = S::load(pixels.add(i * t.row_stride + j * S::LANES));
                }
                half[j] = input_line::<S>(d);
            }
            for i in 0..6 {
                let row = [half[0][i], half[1][i], half[2][i], half[3][i], half[4][i], half[5][i]];
                let row = input_line::<S>(row);
                for (j, &x) in row.iter().enumerate() {
                    S::store_mask(inner.add((i * 6 + j) * t.inner_stride), mask, x);
                }
            }
        }
    }
}

/// `B^T d`
#[inline(always)]
unsafe fn input_line<S: Simd>(d: [S::V; 6]) -> [S::V; 6] {
    // SAFETY: the caller vouches for the instruction set.
    unsafe {
        let number = |x: f64| S::T::from_f64(x);
        let (four, two) = (S::splat(number(4.0)), S::splat(number(2.0)));
        let (less_four, less_five) = (S::splat(number(-4.0)), S::splat(number(-5.0)));
        let even = S::fma(less_four, d[2], d[4]);
        let odd = S::fma(less_four, d[1], d[3]);
        let near = S::sub(d[4], d[2]);
        let far = S::mul(two, S::sub(d[3], d[1]));
        [
            S::fma(four, d[0], S::fma(less_five, d[2], d[4])),
            S::add(even, odd),
            S::sub(even, odd),
            S::add(near, far),
            S::sub(near, far),
            S::fma(four, d[1], S::fma(less_five, d[3], d[5])),
        ]
    }
}

/// `G g G^T`
///
/// # Safety
/// As [`input`].
#[inline(always)]
pub(super) unsafe fn weight<S: Simd>(t: &Taps<S::T>) {
    let mut at = 0;
    while at < t.count {
        // SAFETY: as promised by the caller.
        unsafe {
            let mask = S::mask(t.count - at);
            let mut half = [[S::splat(S::T::ZERO); 6]; 3];
            for s in 0..3 {
                let mut g = [S::splat(S::T::ZERO); 3];
                for (r, g) in g.iter_mut().enumerate() {
                    let tap = if t.reversed { 8 - (r * 3 + s) } else { r * 3 + s };
                    *g = S::load_mask(t.lines.add(tap * t.line_stride + at), mask);
                }
                half[s] = weight_line::<S>(g);
            }
            for i in 0..6 {
                let row = weight_line::<S>([half[0][i], half[1][i], half[2][i]]);
                for (j, &x) in row.iter().enumerate() {
                    S::store_mask(t.inner.add((i * 6 + j) * t.inner_stride + at), mask, x);
                }
            }
        }
        at += S::LANES;
    }
}

/// `G g`
#[inline(always)]
unsafe fn weight_line<S: Simd>(g: [S::V; 3]) -> [S::V; 6] {
    // SAFETY: the caller vouches for the instruction set.
    unsafe {
        let part = |x: f64| S::T::from_f64(1.0 / x);
        let sixth = S::splat(part(6.0));
        let sum = S::mul(S::splat(part(-6.0)), S::add(g[0], g[2]));
        let middle = S::mul(sixth, g[1]);
        let wide = S::fma(sixth, g[2], S::mul(S::splat(part(24.0)), g[0]));
        let twelfth = S::mul(S::splat(part(12.0)), g[1]);
        [
            S::mul(S::splat(part(4.0)), g[0]),
            S::sub(sum, middle),
            S::add(sum, middle),
            S::add(wide, twelfth),
            S::sub(wide, twelfth),
            g[2],
        ]
    }
}

/// `A^T m A`
///
/// # Safety
/// As [`input`].
#[inline(always)]
pub(super) unsafe fn output<S: Simd>(t: &Tiles<S::T>) {
    for at in 0..t.count {
        // SAFETY: as promised by the caller; the mask names the channels that exist.
        unsafe {
            let mask = S::mask(t.channels);
            let pixels = t.pixels.add(4 * at * S::LANES);
            let inner = t.inner.add(at * t.tile_stride);
            let mut half = [[S::splat(S::T::ZERO); 4]; 6];
            for j in 0..6 {
                let mut m = [S::splat(S::T::ZERO); 6];
                for (i, m) in m.iter_mut().enumerate() {
                    *m = S::load_mask(inner.add((i * 6 + j) * t.inner_stride), mask);
                }
                half[j] = output_line::<S>(m);
            }
            for i in 0..4 {
                let row = [half[0][i], half[1][i], half[2][i], half[3][i], half[4][i], half[5][i]];
                let row = output_line::<S>(row);
                for (q, &y) in row.iter().enumerate() {
                    S::store(pixels.add(i * t.row_stride + q * S::LANES), y);
                }
            }
        }
    }
}

/// `A^T m`
#[inline(always)]
unsafe fn output_line<S: Simd>(m: [S::V; 6]) -> [S::V; 4] {
    // SAFETY: the caller vouches for the instruction set.
    unsafe {
        let number = |x: f64| S::T::from_f64(x);
        let (sum, difference) = (S::add(m[1], m[2]), S::sub(m[1], m[2]));
        let (far_sum, far_difference) = (S::add(m[3], m[4]), S::sub(m[3], m[4]));
        [
            S::add(m[0], S::add(sum, far_sum)),
            S::fma(S::splat(number(2.0)), far_difference, difference),
            S::fma(S::splat(number(4.0)), far_sum, sum),
            S::fma(S::splat(number(8.0)), far_difference, S::add(difference, m[5])),
        ]
    }
}

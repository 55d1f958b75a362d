//! The matrix micro-kernel: one tile of C, `R` rows by `NV` vectors, kept in registers over the whole of k.

use super::{GATHERED, PACKED, Simd};

/// What a micro-kernel computes: `C (+)= A B`. Then [`finish`] adds the biases.
///
/// Strides count elements. A null pointer stands for no bias.
#[derive(Clone, Copy)]
pub(crate) struct Tile<T> {
    pub(crate) k: usize,
    pub(crate) a: *const T,
    /// Row and column stride of A.
    pub(crate) rsa: isize,
    pub(crate) csa: isize,
    pub(crate) b: *const T,
    /// Row stride of B.
    pub(crate) rsb: isize,
    /// Offsets of the rows of B, for gathered tiles.
    pub(crate) offsets: *const usize,
    pub(crate) c: *mut T,
    /// Row stride of C.
    pub(crate) rsc: isize,
    /// Columns of C that exist.
    pub(crate) cols: usize,
    pub(crate) accumulate: bool,
    pub(crate) col_bias: *const T,
    pub(crate) row_bias: *const T,
}

/// Steps after which the addresses of C that were named at the beginning have arrived.
const LONG: usize = 64;

/// # Safety
/// The CPU has the instruction set of `S`; the operands are good for `R` rows, `k` steps and `cols` columns.
#[inline(always)]
pub(super) unsafe fn tile<S: Simd, const R: usize, const NV: usize, const MODE: u8>(
    t: &Tile<S::T>,
) {
    // SAFETY: as promised by the caller.
    unsafe {
        let mut masks = [S::mask(0); NV];
        for (v, mask) in masks.iter_mut().enumerate() {
            *mask = S::mask(t.cols.saturating_sub(v * S::LANES));
        }
        // C is used when all of k is done, and by then it should be near.
        if t.k >= LONG {
            for i in 0..R {
                for v in 0..NV {
                    S::prefetch(c_at::<S>(t, i, v));
                }
            }
        }
        let mut acc = [[S::splat(S::T::default()); NV]; R];
        products::<S, R, NV, MODE>(t, &masks, &mut acc);
        if t.accumulate {
            for (i, row) in acc.iter_mut().enumerate() {
                for (v, x) in row.iter_mut().enumerate() {
                    *x = S::add(*x, S::load_mask(c_at::<S>(t, i, v), masks[v]));
                }
            }
        }
        for (i, row) in acc.iter().enumerate() {
            for (v, &x) in row.iter().enumerate() {
                S::store_mask(c_at::<S>(t, i, v), masks[v], x);
            }
        }
    }
}

#[inline(always)]
unsafe fn products<S: Simd, const R: usize, const NV: usize, const MODE: u8>(
    t: &Tile<S::T>,
    masks: &[S::M; NV],
    acc: &mut [[S::V; NV]; R],
) {
    let (mut a, mut b) = (t.a, t.b);
    let (rsa, csa) = if MODE == PACKED { (1, R as isize) } else { (t.rsa, t.csa) };
    let rsb = if MODE == PACKED { (NV * S::LANES) as isize } else { t.rsb };
    // SAFETY: step `p` reads column `p` of A and row `p` of B, which exist; pointers past them are never read.
    unsafe {
        for p in 0..t.k {
            let row = if MODE == GATHERED { t.b.wrapping_add(*t.offsets.add(p)) } else { b };
            let mut bs = [S::splat(S::T::default()); NV];
            for (v, x) in bs.iter_mut().enumerate() {
                let at = row.wrapping_add(v * S::LANES);
                *x = if MODE == PACKED { S::load(at) } else { S::load_mask(at, masks[v]) };
            }
            for (i, sums) in acc.iter_mut().enumerate() {
                let x = S::splat(*a.wrapping_offset(i as isize * rsa));
                for (v, sum) in sums.iter_mut().enumerate() {
                    *sum = S::fma(x, bs[v], *sum);
                }
            }
            a = a.wrapping_offset(csa);
            b = b.wrapping_offset(rsb);
        }
    }
}

/// Adds the biases to `rows` rows of C: what a tile leaves to do once its sums are stored.
///
/// # Safety
/// As [`tile`], with `rows` rows.
#[inline(always)]
pub(super) unsafe fn finish<S: Simd>(t: &Tile<S::T>, rows: usize) {
    // SAFETY: the masks name the columns of C and of the column bias that exist; there are as many row biases as rows.
    unsafe {
        for at in (0..t.cols).step_by(S::LANES) {
            let mask = S::mask(t.cols - at);
            let has_bias = !t.col_bias.is_null();
            let zero = S::splat(S::T::default());
            let bias = if has_bias { S::load_mask(t.col_bias.add(at), mask) } else { zero };
            for i in 0..rows {
                let c = t.c.wrapping_offset(i as isize * t.rsc).wrapping_add(at);
                let mut x = S::load_mask(c, mask);
                if has_bias {
                    x = S::add(x, bias);
                }
                if !t.row_bias.is_null() {
                    x = S::add(x, S::splat(*t.row_bias.add(i)));
                }
                S::store_mask(c, mask, x);
            }
        }
    }
}

impl<T> Tile<T> {
    /// Whether [`finish`] has anything to do.
    pub(crate) fn is_unfinished(&self) -> bool {
        !self.col_bias.is_null() || !self.row_bias.is_null()
    }
}

#[inline(always)]
fn c_at<S: Simd>(t: &Tile<S::T>, row: usize, vector: usize) -> *mut S::T {
    t.c.wrapping_offset(row as isize * t.rsc).wrapping_add(vector * S::LANES)
}

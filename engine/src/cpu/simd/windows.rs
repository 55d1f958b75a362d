//! The greatest elements of windows, a row of the output at a time.

use super::Simd;
use crate::cpu::element::Element;

/// Lines of windows of which all have the same rows.
///
/// Where an element lies in its window is counted in the element type itself: whole numbers that it holds exactly.
pub(crate) struct Windows<T> {
    pub(crate) lines: usize,
    /// Windows in a line.
    pub(crate) count: usize,
    /// The uppermost row that is not padding of the first line, how far those of the others lie apart, and the rows from there on.
    pub(crate) src: *const T,
    pub(crate) line_stride: usize,
    pub(crate) row_stride: usize,
    pub(crate) rows: usize,
    /// Where the elements of each column of windows begin in a row; not read where columns come in pairs.
    pub(crate) columns: *const usize,
    pub(crate) n_columns: usize,
    /// The place in each window of its first column that is not padding.
    pub(crate) starts: *const T,
    /// The place of the uppermost row; what each row and each column adds.
    pub(crate) row_place: T,
    pub(crate) row_step: T,
    pub(crate) column_step: T,
    pub(crate) best: *mut T,
    /// `corner`, `line_step` for each line and `step` for each window before, and the place in the window.
    pub(crate) indices: *mut i64,
    pub(crate) corner: i64,
    pub(crate) line_step: i64,
    pub(crate) step: i64,
}

/// A line whose elements with even and with odd number are parted.
pub(crate) struct Halves<T> {
    pub(crate) src: *const T,
    pub(crate) len: usize,
    pub(crate) even: *mut T,
    pub(crate) odd: *mut T,
}

/// Columns of windows, where the code is written for a number of them.
pub(super) const ANY: usize = 0;
/// Windows lie side by side, so columns come in pairs.
pub(super) const PAIRED: usize = 2;
pub(super) const THREE: usize = 3;

/// The greatest element of each window: of equal ones the first, of several NaN the last. Windows have `COLUMNS` columns.
///
/// # Safety
/// The CPU has the instruction set of `S`, and the elements exist.
#[inline(always)]
pub(super) unsafe fn windows<S: Simd, const COLUMNS: usize>(t: &Windows<S::T>) {
    for line in 0..t.lines {
        for at in (0..t.count).step_by(S::LANES) {
            let left = t.count - at;
            let src = t.src.wrapping_add(line * t.line_stride);
            let to = line * t.count + at;
            // SAFETY: as promised by the caller; masks name the windows that exist.
            unsafe {
                let first = S::load_mask(t.starts.add(at), S::mask(left));
                let first = S::add(first, S::splat(t.row_place));
                let (mut best, all) = greatest::<S, COLUMNS, false>(t, src, at, first);
                if S::has_nan(all) {
                    best = greatest::<S, COLUMNS, true>(t, src, at, first).0;
                }
                S::store_mask(t.best.add(to), S::mask(left), best.0);
                let corner = t.corner + line as i64 * t.line_step + at as i64 * t.step;
                S::store_whole(t.indices.add(to), left, best.1, corner, t.step);
            }
        }
    }
}

/// The greatest elements of windows from number `at` of a line on, with their places, and the sum of all elements, which is NaN if
/// one of them is. Without `NAN`, no element may be.
#[inline(always)]
unsafe fn greatest<S: Simd, const COLUMNS: usize, const NAN: bool>(
    t: &Windows<S::T>,
    src: *const S::T,
    at: usize,
    first: S::V,
) -> ((S::V, S::V), S::V) {
    // SAFETY: as promised by the caller; masks name the windows that exist.
    unsafe {
        let (left, mask) = (t.count - at, S::mask(t.count - at));
        let mut best = (S::splat(S::T::NEG_INFINITY), first);
        let mut all = S::splat(S::T::ZERO);
        let (mut row, mut row_place) = (src.wrapping_add(at), S::splat(t.row_place));
        let (row_step, column_step) = (S::splat(t.row_step), S::splat(t.column_step));
        for _ in 0..t.rows {
            let mut place = row_place;
            let mut take = |x| {
                let pick = if NAN { S::pick } else { S::pick_number };
                best = pick(x, place, best);
                all = S::add(all, x);
                place = S::add(place, column_step);
            };
            if COLUMNS == PAIRED {
                let (even, odd) = S::halves(row.wrapping_add(at), 2 * left);
                take(even);
                take(odd);
            } else {
                for column in 0..if COLUMNS == ANY { t.n_columns } else { COLUMNS } {
                    take(S::load_mask(row.wrapping_add(*t.columns.add(column)), mask));
                }
            }
            row = row.wrapping_add(t.row_stride);
            row_place = S::add(row_place, row_step);
        }
        (best, all)
    }
}

/// # Safety
/// As [`windows`].
#[inline(always)]
pub(super) unsafe fn halves<S: Simd>(t: &Halves<S::T>) {
    for at in (0..t.len.div_ceil(2)).step_by(S::LANES) {
        // SAFETY: as promised by the caller; masks name the elements that exist.
        unsafe {
            let left = t.len - 2 * at;
            let (even, odd) = S::halves(t.src.add(2 * at), left);
            S::store_mask(t.even.add(at), S::mask(left.div_ceil(2)), even);
            S::store_mask(t.odd.add(at), S::mask(left / 2), odd);
        }
    }
}

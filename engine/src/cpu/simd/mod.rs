//! The vector kernels that all algorithms are built from, written once over [`Simd`] and compiled per instruction set.
//!
//! `tile` is the matrix micro-kernel, `lines` holds matrix-vector products and packing. A [`Kernels`] table names the
//! compiled functions of one (instruction set, element) pair; whoever picks a table has checked that the CPU can run it.

mod attend;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod exp;
mod lines;
mod portable;
mod softmax;
mod tile;
mod windows;
mod winograd;

pub(crate) use attend::{Running, Scores};
pub(crate) use exp::{EXP_F32, EXP_F64, Exponential};
pub(crate) use lines::{Axpy, Dots, Lines, Panel};
pub(crate) use softmax::{Columns, Rows};
pub(crate) use tile::Tile;
pub(crate) use windows::{Halves, Windows};
pub(crate) use winograd::{Taps, Tiles};

use super::element::Element;
use super::features::Isa;

/// One vector type of one instruction set.
///
/// Every method is `unsafe`: the CPU must have the instruction set, and addresses must be good for the elements that the
/// mask names. The methods are always inlined, into functions that enable the instruction set.
pub(crate) trait Simd: Copy + 'static {
    type T: Element;
    type V: Copy;
    type M: Copy;
    const LANES: usize;

    unsafe fn splat(x: Self::T) -> Self::V;
    unsafe fn load(p: *const Self::T) -> Self::V;
    unsafe fn store(p: *mut Self::T, v: Self::V);
    /// The mask of the first `n` lanes; all of them if `n` is larger.
    unsafe fn mask(n: usize) -> Self::M;
    /// Loads masked lanes, 0 in the others.
    unsafe fn load_mask(p: *const Self::T, m: Self::M) -> Self::V;
    unsafe fn store_mask(p: *mut Self::T, m: Self::M, v: Self::V);
    unsafe fn add(x: Self::V, y: Self::V) -> Self::V;
    unsafe fn sub(x: Self::V, y: Self::V) -> Self::V;
    unsafe fn mul(x: Self::V, y: Self::V) -> Self::V;
    /// `x * y + z`
    unsafe fn fma(x: Self::V, y: Self::V, z: Self::V) -> Self::V;
    unsafe fn sum(x: Self::V) -> Self::T;
    /// The largest lane; none is NaN.
    unsafe fn largest(x: Self::V) -> Self::T;
    /// x where it is larger, else y: y where x is NaN.
    unsafe fn max(x: Self::V, y: Self::V) -> Self::V;
    /// v where x is not less than `least`, else 0: v where x is NaN.
    unsafe fn keep_from(v: Self::V, x: Self::V, least: Self::V) -> Self::V;
    /// `p * 2^k` for the whole number k in the last bits of `shifted`; p and the result are normal numbers.
    unsafe fn raised(p: Self::V, shifted: Self::V) -> Self::V;
    /// Loads masked lanes, and takes the others from `fill`.
    unsafe fn load_or(p: *const Self::T, m: Self::M, fill: Self::V) -> Self::V;

    /// Tells the processor that this address will be written to soon.
    #[inline(always)]
    unsafe fn prefetch(_p: *const Self::T) {}

    /// The sum of each of four vectors.
    #[inline(always)]
    unsafe fn sums([a, b, c, d]: [Self::V; 4]) -> [Self::T; 4] {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { [Self::sum(a), Self::sum(b), Self::sum(c), Self::sum(d)] }
    }

    /// Elements 0, 2, 4 ... and 1, 3, 5 ... of the first `n` from `p` on, which may be more than there is room for; 0 behind the last.
    #[inline(always)]
    unsafe fn halves(p: *const Self::T, n: usize) -> (Self::V, Self::V) {
        let mut lanes = [[Self::T::ZERO; MOST_LANES]; 2];
        for i in 0..n.min(2 * Self::LANES) {
            // SAFETY: the caller vouches for these elements.
            lanes[i % 2][i / 2] = unsafe { *p.add(i) };
        }
        // SAFETY: there are as many lanes, or more.
        unsafe { (Self::load(lanes[0].as_ptr()), Self::load(lanes[1].as_ptr())) }
    }

    /// `(x, place)` in lanes where `x` is greater than the best so far or NaN, `best` in the others.
    unsafe fn pick(x: Self::V, place: Self::V, best: (Self::V, Self::V)) -> (Self::V, Self::V);

    /// As [`Simd::pick`], where no lane of `x` is NaN.
    #[inline(always)]
    unsafe fn pick_number(
        x: Self::V,
        place: Self::V,
        best: (Self::V, Self::V),
    ) -> (Self::V, Self::V) {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { Self::pick(x, place, best) }
    }

    /// True if a lane is NaN; it may also be true of lanes that are infinite.
    #[inline(always)]
    unsafe fn has_nan(x: Self::V) -> bool {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { Self::sum(x).to_f64().is_nan() }
    }

    /// `p[i] = first + i * step + v[i]` for the first `n` lanes, or all if `n` is larger; the lanes are whole numbers below 2^31.
    #[inline(always)]
    unsafe fn store_whole(p: *mut i64, n: usize, v: Self::V, first: i64, step: i64) {
        let mut lanes = [Self::T::ZERO; MOST_LANES];
        // SAFETY: there are as many lanes, or more; the caller vouches for the integers.
        unsafe {
            Self::store(lanes.as_mut_ptr(), v);
            for (i, lane) in lanes.iter().enumerate().take(n.min(Self::LANES)) {
                *p.add(i) = first + i as i64 * step + lane.to_f64() as i64;
            }
        }
    }

    /// `dst[p * width + lane] = src[lane * stride + p]` for `p < k` and `lane < width`, 0 where `lane >= lanes`;
    /// `k` and `width` are at most `LANES`.
    #[inline(always)]
    unsafe fn transpose(
        src: *const Self::T,
        stride: isize,
        lanes: usize,
        k: usize,
        dst: *mut Self::T,
        dst_stride: usize,
        width: usize,
    ) {
        for lane in 0..width {
            for p in 0..k {
                // SAFETY: the caller vouches for these elements.
                unsafe {
                    let x = if lane < lanes {
                        *src.offset(lane as isize * stride + p as isize)
                    } else {
                        Self::T::ZERO
                    };
                    *dst.add(p * dst_stride + lane) = x;
                }
            }
        }
    }
}

/// Lanes of the longest vector.
const MOST_LANES: usize = 16;

pub(crate) type TileFn<T> = unsafe fn(&Tile<T>);

/// Tile functions for operands in one form.
pub(crate) struct Table<T: 'static> {
    /// Rows of one vector; where there are none, `two` serves.
    pub(crate) one: &'static [TileFn<T>],
    pub(crate) two: &'static [TileFn<T>],
    /// For few rows.
    pub(crate) four: &'static [TileFn<T>],
}

/// How a [`Tile`] finds its operands: see the tables of [`Kernels`].
pub(crate) const STRIDED: u8 = 0;
pub(crate) const PACKED: u8 = 1;
pub(crate) const GATHERED: u8 = 2;

/// The compiled kernels of one instruction set and element. A tile function is found by vectors per row, which are one,
/// two or four, and then by rows less one.
pub(crate) struct Kernels<T: 'static> {
    pub(crate) lanes: usize,
    /// A and B as they lie in memory; rows of B are contiguous.
    pub(crate) strided: Table<T>,
    /// As `strided`, but row `p` of B begins at offset `offsets[p]`.
    pub(crate) gathered: Table<T>,
    /// A in columns of exactly the tile's rows, B in rows of two vectors, padded with zeros.
    pub(crate) packed: &'static [TileFn<T>],
    /// What follows the last sum of a tile with this many rows.
    pub(crate) finish: unsafe fn(&Tile<T>, usize),
    pub(crate) axpy: unsafe fn(&Axpy<T>),
    pub(crate) dots: unsafe fn(&Dots<T>),
    pub(crate) pack: unsafe fn(&Panel<T>),
    pub(crate) halves: unsafe fn(&Halves<T>),
    /// Windows of any width, of two columns side by side, and of three columns.
    pub(crate) windows: unsafe fn(&Windows<T>),
    pub(crate) paired_windows: unsafe fn(&Windows<T>),
    pub(crate) windows_of_three: unsafe fn(&Windows<T>),
    pub(crate) gather: unsafe fn(&Lines<T>),
    pub(crate) softmax: unsafe fn(&Rows<T>),
    pub(crate) log_softmax: unsafe fn(&Rows<T>),
    /// Takes where the sums go, one for each row.
    pub(crate) log_sums: unsafe fn(&Rows<T>, *mut f64),
    /// Takes the results of the softmax.
    pub(crate) softmax_slopes: unsafe fn(&Rows<T>, *const T),
    /// Takes the results of the logarithm.
    pub(crate) log_softmax_slopes: unsafe fn(&Rows<T>, *const T),
    pub(crate) softmax_columns: unsafe fn(&Columns<T>),
    pub(crate) attend: unsafe fn(&Scores<T>, &Running<T>),
    /// Takes slopes, log sums and means.
    pub(crate) attend_slopes: unsafe fn(&Scores<T>, *mut T, *const T, *const T),
    /// The three transforms of a convolution by minimal filtering.
    pub(crate) winograd_input: unsafe fn(&Tiles<T>),
    pub(crate) winograd_weight: unsafe fn(&Taps<T>),
    pub(crate) winograd_output: unsafe fn(&Tiles<T>),
}

impl<T> Kernels<T> {
    /// The most rows of a tile that is two vectors wide.
    pub(crate) fn max_rows(&self) -> usize {
        self.strided.two.len()
    }

    /// Columns of a tile that is two vectors wide.
    pub(crate) fn width(&self) -> usize {
        2 * self.lanes
    }
}

/// Writes the table of one [`Simd`] type: its lanes, the heights of tiles, those of tiles that are four vectors wide, and the
/// lines that dots take at a time. `tile` and the others are functions that enable the instruction set.
macro_rules! kernels {
    ($simd:ty, $lanes:expr, [$($row:literal)*] [$($four:literal)*], $dot_rows:literal) => {
        $crate::cpu::simd::Kernels {
            lanes: $lanes,
            strided: $crate::cpu::simd::Table {
                one: &[$(tile::<$simd, $row, 1, { $crate::cpu::simd::STRIDED }>),*],
                two: &[$(tile::<$simd, $row, 2, { $crate::cpu::simd::STRIDED }>),*],
                four: &[$(tile::<$simd, $four, 4, { $crate::cpu::simd::STRIDED }>),*],
            },
            gathered: $crate::cpu::simd::Table {
                one: &[],
                two: &[$(tile::<$simd, $row, 2, { $crate::cpu::simd::GATHERED }>),*],
                four: &[$(tile::<$simd, $four, 4, { $crate::cpu::simd::GATHERED }>),*],
            },
            packed: &[$(tile::<$simd, $row, 2, { $crate::cpu::simd::PACKED }>),*],
            finish: finish::<$simd>,
            axpy: axpy::<$simd>,
            dots: dots::<$simd, $dot_rows>,
            pack: pack::<$simd>,
            halves: halves::<$simd>,
            windows: windows::<$simd, { $crate::cpu::simd::windows::ANY }>,
            paired_windows: windows::<$simd, { $crate::cpu::simd::windows::PAIRED }>,
            windows_of_three: windows::<$simd, { $crate::cpu::simd::windows::THREE }>,
            gather: gather::<$simd>,
            softmax: softmax::<$simd>,
            log_softmax: log_softmax::<$simd>,
            log_sums: log_sums::<$simd>,
            softmax_slopes: softmax_slopes::<$simd>,
            log_softmax_slopes: log_softmax_slopes::<$simd>,
            softmax_columns: softmax_columns::<$simd>,
            attend: attend::<$simd>,
            attend_slopes: attend_slopes::<$simd>,
            winograd_input: winograd_input::<$simd>,
            winograd_weight: winograd_weight::<$simd>,
            winograd_output: winograd_output::<$simd>,
        }
    };
}
pub(crate) use kernels;

macro_rules! select {
    ($name:ident, $t:ty, $portable:ident, $avx2:ident, $avx512:ident) => {
        /// The table of `isa`, which the CPU must have.
        pub(crate) fn $name(isa: Isa) -> &'static Kernels<$t> {
            match isa {
                #[cfg(target_arch = "x86_64")]
                Isa::Avx512 => &avx512::$avx512,
                #[cfg(target_arch = "x86_64")]
                Isa::Avx2 => &avx2::$avx2,
                _ => &portable::$portable,
            }
        }
    };
}

select!(f32, f32, F32, F32, F32);
select!(f64, f64, F64, F64, F64);

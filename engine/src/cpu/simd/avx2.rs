//! AVX2 with FMA: vectors of 8 floats or 4 doubles.

use std::arch::x86_64::*;

use super::{
    Axpy, Columns, Dots, Halves, Kernels, Lines, Panel, Rows, Running, Scores, Simd, Taps, Tile,
    Tiles, Windows, kernels, lines, softmax as softmax_rows, windows, winograd,
};

#[derive(Clone, Copy)]
pub(super) struct V8;

impl Simd for V8 {
    type T = f32;
    type V = __m256;
    type M = __m256i;
    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn splat(x: f32) -> __m256 {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm256_set1_ps(x) }
    }

    #[inline(always)]
    unsafe fn load(p: *const f32) -> __m256 {
        // SAFETY: the caller vouches for the instruction set and the address.
        unsafe { _mm256_loadu_ps(p) }
    }

    #[inline(always)]
    unsafe fn store(p: *mut f32, v: __m256) {
        // SAFETY: the caller vouches for the instruction set and the address.
        unsafe { _mm256_storeu_ps(p, v) }
    }

    #[inline(always)]
    unsafe fn mask(n: usize) -> __m256i {
        // SAFETY: the caller vouches for the instruction set.
        unsafe {
            let n = _mm256_set1_epi32(n.min(8) as i32);
            _mm256_cmpgt_epi32(n, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))
        }
    }

    #[inline(always)]
    unsafe fn load_mask(p: *const f32, m: __m256i) -> __m256 {
        // SAFETY: the caller vouches for the instruction set and the address.
        unsafe { _mm256_maskload_ps(p, m) }
    }

    #[inline(always)]
    unsafe fn store_mask(p: *mut f32, m: __m256i, v: __m256) {
        // SAFETY: the caller vouches for the instruction set and the address.
        unsafe {
            // A plain store where it will do: the masked one is slow on several CPUs.
            if _mm256_movemask_ps(_mm256_castsi256_ps(m)) == 255 {
                _mm256_storeu_ps(p, v)
            } else {
                _mm256_maskstore_ps(p, m, v)
            }
        }
    }

    #[inline(always)]
    unsafe fn add(x: __m256, y: __m256) -> __m256 {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm256_add_ps(x, y) }
    }

    #[inline(always)]
    unsafe fn sub(x: __m256, y: __m256) -> __m256 {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm256_sub_ps(x, y) }
    }

    #[inline(always)]
    unsafe fn mul(x: __m256, y: __m256) -> __m256 {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm256_mul_ps(x, y) }
    }

    #[inline(always)]
    unsafe fn fma(x: __m256, y: __m256, z: __m256) -> __m256 {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm256_fmadd_ps(x, y, z) }
    }

    #[inline(always)]
    unsafe fn largest(x: __m256) -> f32 {
        // SAFETY: the caller vouches for the instruction set.
        unsafe {
            let x = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
            let x = _mm_max_ps(x, _mm_movehl_ps(x, x));
            _mm_cvtss_f32(_mm_max_ss(x, _mm_movehdup_ps(x)))
        }
    }

    #[inline(always)]
    unsafe fn max(x: __m256, y: __m256) -> __m256 {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm256_max_ps(x, y) }
    }

    #[inline(always)]
    unsafe fn keep_from(v: __m256, x: __m256, least: __m256) -> __m256 {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm256_and_ps(_mm256_cmp_ps::<_CMP_NLT_UQ>(x, least), v) }
    }

    #[inline(always)]
    unsafe fn raised(p: __m256, shifted: __m256) -> __m256 {
        // SAFETY: the caller vouches for the instruction set.
        unsafe {
            let power = _mm256_slli_epi32::<23>(_mm256_castps_si256(shifted));
            _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), power))
        }
    }

    #[inline(always)]
    unsafe fn load_or(p: *const f32, m: __m256i, fill: __m256) -> __m256 {
        // SAFETY: the caller vouches for the instruction set and the address.
        unsafe { _mm256_blendv_ps(fill, _mm256_maskload_ps(p, m), _mm256_castsi256_ps(m)) }
    }

    #[inline(always)]
    unsafe fn prefetch(p: *const f32) {
        // SAFETY: any address may be named.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(p.cast()) }
    }

    #[inline(always)]
    unsafe fn halves(p: *const f32, n: usize) -> (__m256, __m256) {
        // SAFETY: the caller vouches for the instruction set and the elements.
        unsafe {
            let (a, b) = if n >= 2 * Self::LANES {
                (Self::load(p), Self::load(p.add(Self::LANES)))
            } else {
                let rest = Self::mask(n.saturating_sub(Self::LANES));
                let b = Self::load_mask(p.wrapping_add(Self::LANES), rest);
                (Self::load_mask(p, Self::mask(n)), b)
            };
            let order = |it| _mm256_castpd_ps(_mm256_permute4x64_pd::<0xd8>(_mm256_castps_pd(it)));
            let (even, odd) = (_mm256_shuffle_ps::<0x88>(a, b), _mm256_shuffle_ps::<0xdd>(a, b));
            (order(even), order(odd))
        }
    }

    #[inline(always)]
    unsafe fn pick(x: __m256, place: __m256, best: (__m256, __m256)) -> (__m256, __m256) {
        // SAFETY: the caller vouches for the instruction set.
        unsafe {
            let is_greater = _mm256_cmp_ps::<_CMP_GT_OQ>(x, best.0);
            let better = _mm256_or_ps(is_greater, _mm256_cmp_ps::<_CMP_UNORD_Q>(x, x));
            let pick = |new, old| _mm256_blendv_ps(old, new, better);
            (pick(x, best.0), pick(place, best.1))
        }
    }

    #[inline(always)]
    unsafe fn store_whole(p: *mut i64, n: usize, v: __m256, first: i64, step: i64) {
        // SAFETY: the caller vouches for the instruction set and the integers.
        unsafe {
            let steps = _mm256_setr_epi64x(0, step, 2 * step, 3 * step);
            let whole = _mm256_cvttps_epi32(v);
            let quads = [_mm256_castsi256_si128(whole), _mm256_extracti128_si256::<1>(whole)];
            for (i, quad) in quads.into_iter().enumerate() {
                let first = _mm256_set1_epi64x(first + 4 * i as i64 * step);
                let sum =
                    _mm256_add_epi64(_mm256_add_epi64(first, steps), _mm256_cvtepi32_epi64(quad));
                let p = p.wrapping_add(4 * i);
                if n >= 4 * (i + 1) {
                    _mm256_storeu_si256(p.cast(), sum);
                } else {
                    _mm256_maskstore_epi64(p, V4::mask(n.saturating_sub(4 * i)), sum);
                }
            }
        }
    }

    /// Of equal ones, the greater of two is the second.
    #[inline(always)]
    unsafe fn pick_number(x: __m256, place: __m256, best: (__m256, __m256)) -> (__m256, __m256) {
        // SAFETY: the caller vouches for the instruction set.
        unsafe {
            let better = _mm256_cmp_ps::<_CMP_GT_OQ>(x, best.0);
            (_mm256_max_ps(x, best.0), _mm256_blendv_ps(best.1, place, better))
        }
    }

    #[inline(always)]
    unsafe fn has_nan(x: __m256) -> bool {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_UNORD_Q>(x, x)) != 0 }
    }

    #[inline(always)]
    unsafe fn sum(x: __m256) -> f32 {
        // SAFETY: the caller vouches for the instruction set.
        unsafe {
            let x = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
            let x = _mm_add_ps(x, _mm_movehl_ps(x, x));
            _mm_cvtss_f32(_mm_add_ss(x, _mm_movehdup_ps(x)))
        }
    }

    /// Adds neighbours until each half holds one lane of each vector, then adds the halves.
    #[inline(always)]
    unsafe fn sums([a, b, c, d]: [__m256; 4]) -> [f32; 4] {
        // SAFETY: the caller vouches for the instruction set; both types are four floats.
        unsafe {
            let sum = _mm256_hadd_ps(_mm256_hadd_ps(a, b), _mm256_hadd_ps(c, d));
            let sum = _mm_add_ps(_mm256_castps256_ps128(sum), _mm256_extractf128_ps(sum, 1));
            std::mem::transmute::<__m128, [f32; 4]>(sum)
        }
    }
}

#[derive(Clone, Copy)]
pub(super) struct V4;

impl Simd for V4 {
    type T = f64;
    type V = __m256d;
    type M = __m256i;
    const LANES: usize = 4;

    #[inline(always)]
    unsafe fn splat(x: f64) -> __m256d {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm256_set1_pd(x) }
    }

    #[inline(always)]
    unsafe fn load(p: *const f64) -> __m256d {
        // SAFETY: the caller vouches for the instruction set and the address.
        unsafe { _mm256_loadu_pd(p) }
    }

    #[inline(always)]
    unsafe fn store(p: *mut f64, v: __m256d) {
        // SAFETY: the caller vouches for the instruction set and the address.
        unsafe { _mm256_storeu_pd(p, v) }
    }

    #[inline(always)]
    unsafe fn mask(n: usize) -> __m256i {
        // SAFETY: the caller vouches for the instruction set.
        unsafe {
            let n = _mm256_set1_epi64x(n.min(4) as i64);
            _mm256_cmpgt_epi64(n, _mm256_setr_epi64x(0, 1, 2, 3))
        }
    }

    #[inline(always)]
    unsafe fn load_mask(p: *const f64, m: __m256i) -> __m256d {
        // SAFETY: the caller vouches for the instruction set and the address.
        unsafe { _mm256_maskload_pd(p, m) }
    }

    #[inline(always)]
    unsafe fn store_mask(p: *mut f64, m: __m256i, v: __m256d) {
        // SAFETY: the caller vouches for the instruction set and the address.
        unsafe {
            // A plain store where it will do: the masked one is slow on several CPUs.
            if _mm256_movemask_pd(_mm256_castsi256_pd(m)) == 15 {
                _mm256_storeu_pd(p, v)
            } else {
                _mm256_maskstore_pd(p, m, v)
            }
        }
    }

    #[inline(always)]
    unsafe fn add(x: __m256d, y: __m256d) -> __m256d {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm256_add_pd(x, y) }
    }

    #[inline(always)]
    unsafe fn sub(x: __m256d, y: __m256d) -> __m256d {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm256_sub_pd(x, y) }
    }

    #[inline(always)]
    unsafe fn mul(x: __m256d, y: __m256d) -> __m256d {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm256_mul_pd(x, y) }
    }

    #[inline(always)]
    unsafe fn fma(x: __m256d, y: __m256d, z: __m256d) -> __m256d {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm256_fmadd_pd(x, y, z) }
    }

    #[inline(always)]
    unsafe fn largest(x: __m256d) -> f64 {
        // SAFETY: the caller vouches for the instruction set.
        unsafe {
            let x = _mm_max_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
            _mm_cvtsd_f64(_mm_max_sd(x, _mm_unpackhi_pd(x, x)))
        }
    }

    #[inline(always)]
    unsafe fn max(x: __m256d, y: __m256d) -> __m256d {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm256_max_pd(x, y) }
    }

    #[inline(always)]
    unsafe fn keep_from(v: __m256d, x: __m256d, least: __m256d) -> __m256d {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm256_and_pd(_mm256_cmp_pd::<_CMP_NLT_UQ>(x, least), v) }
    }

    #[inline(always)]
    unsafe fn raised(p: __m256d, shifted: __m256d) -> __m256d {
        // SAFETY: the caller vouches for the instruction set.
        unsafe {
            let power = _mm256_slli_epi64::<52>(_mm256_castpd_si256(shifted));
            _mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(p), power))
        }
    }

    #[inline(always)]
    unsafe fn load_or(p: *const f64, m: __m256i, fill: __m256d) -> __m256d {
        // SAFETY: the caller vouches for the instruction set and the address.
        unsafe { _mm256_blendv_pd(fill, _mm256_maskload_pd(p, m), _mm256_castsi256_pd(m)) }
    }

    #[inline(always)]
    unsafe fn prefetch(p: *const f64) {
        // SAFETY: any address may be named.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(p.cast()) }
    }

    #[inline(always)]
    unsafe fn halves(p: *const f64, n: usize) -> (__m256d, __m256d) {
        // SAFETY: the caller vouches for the instruction set and the elements.
        unsafe {
            let (a, b) = if n >= 2 * Self::LANES {
                (Self::load(p), Self::load(p.add(Self::LANES)))
            } else {
                let rest = Self::mask(n.saturating_sub(Self::LANES));
                let b = Self::load_mask(p.wrapping_add(Self::LANES), rest);
                (Self::load_mask(p, Self::mask(n)), b)
            };
            let order = |it| _mm256_permute4x64_pd::<0xd8>(it);
            (order(_mm256_unpacklo_pd(a, b)), order(_mm256_unpackhi_pd(a, b)))
        }
    }

    #[inline(always)]
    unsafe fn pick(x: __m256d, place: __m256d, best: (__m256d, __m256d)) -> (__m256d, __m256d) {
        // SAFETY: the caller vouches for the instruction set.
        unsafe {
            let is_greater = _mm256_cmp_pd::<_CMP_GT_OQ>(x, best.0);
            let better = _mm256_or_pd(is_greater, _mm256_cmp_pd::<_CMP_UNORD_Q>(x, x));
            let pick = |new, old| _mm256_blendv_pd(old, new, better);
            (pick(x, best.0), pick(place, best.1))
        }
    }

    /// Of equal ones, the greater of two is the second.
    #[inline(always)]
    unsafe fn pick_number(
        x: __m256d,
        place: __m256d,
        best: (__m256d, __m256d),
    ) -> (__m256d, __m256d) {
        // SAFETY: the caller vouches for the instruction set.
        unsafe {
            let better = _mm256_cmp_pd::<_CMP_GT_OQ>(x, best.0);
            (_mm256_max_pd(x, best.0), _mm256_blendv_pd(best.1, place, better))
        }
    }

    #[inline(always)]
    unsafe fn has_nan(x: __m256d) -> bool {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_UNORD_Q>(x, x)) != 0 }
    }

    #[inline(always)]
    unsafe fn sum(x: __m256d) -> f64 {
        // SAFETY: the caller vouches for the instruction set.
        unsafe {
            let x = _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
            _mm_cvtsd_f64(_mm_add_sd(x, _mm_unpackhi_pd(x, x)))
        }
    }
}

#[target_feature(enable = "avx2,fma")]
unsafe fn tile<S: Simd, const R: usize, const NV: usize, const MODE: u8>(t: &Tile<S::T>) {
    // SAFETY: the caller vouches for the operands.
    unsafe { super::tile::tile::<S, R, NV, MODE>(t) }
}

#[target_feature(enable = "avx2,fma")]
unsafe fn finish<S: Simd>(t: &Tile<S::T>, rows: usize) {
    // SAFETY: as above.
    unsafe { super::tile::finish::<S>(t, rows) }
}

#[target_feature(enable = "avx2,fma")]
unsafe fn axpy<S: Simd>(t: &Axpy<S::T>) {
    // SAFETY: as above.
    unsafe { lines::axpy::<S>(t) }
}

#[target_feature(enable = "avx2,fma")]
unsafe fn dots<S: Simd, const R: usize>(t: &Dots<S::T>) {
    // SAFETY: as above.
    unsafe { lines::dots::<S, R>(t) }
}

#[target_feature(enable = "avx2,fma")]
unsafe fn pack<S: Simd>(t: &Panel<S::T>) {
    // SAFETY: as above.
    unsafe { lines::pack::<S>(t) }
}

#[target_feature(enable = "avx2,fma")]
unsafe fn halves<S: Simd>(t: &Halves<S::T>) {
    // SAFETY: as above.
    unsafe { windows::halves::<S>(t) }
}

#[target_feature(enable = "avx2,fma")]
unsafe fn windows<S: Simd, const COLUMNS: usize>(t: &Windows<S::T>) {
    // SAFETY: as above.
    unsafe { windows::windows::<S, COLUMNS>(t) }
}

#[target_feature(enable = "avx2,fma")]
unsafe fn gather<S: Simd>(t: &Lines<S::T>) {
    // SAFETY: as above.
    unsafe { lines::gather::<S>(t) }
}

#[target_feature(enable = "avx2,fma")]
unsafe fn softmax<S: Simd>(t: &Rows<S::T>) {
    // SAFETY: as above.
    unsafe { softmax_rows::softmax::<S>(t) }
}

#[target_feature(enable = "avx2,fma")]
unsafe fn log_softmax<S: Simd>(t: &Rows<S::T>) {
    // SAFETY: as above.
    unsafe { softmax_rows::log_softmax::<S>(t) }
}

#[target_feature(enable = "avx2,fma")]
unsafe fn log_sums<S: Simd>(t: &Rows<S::T>, sums: *mut f64) {
    // SAFETY: as above.
    unsafe { softmax_rows::log_sums::<S>(t, sums) }
}

#[target_feature(enable = "avx2,fma")]
unsafe fn softmax_slopes<S: Simd>(t: &Rows<S::T>, y: *const S::T) {
    // SAFETY: as above.
    unsafe { softmax_rows::slopes::<S>(t, y) }
}

#[target_feature(enable = "avx2,fma")]
unsafe fn log_softmax_slopes<S: Simd>(t: &Rows<S::T>, y: *const S::T) {
    // SAFETY: as above.
    unsafe { softmax_rows::log_slopes::<S>(t, y) }
}

#[target_feature(enable = "avx2,fma")]
unsafe fn softmax_columns<S: Simd>(t: &Columns<S::T>) {
    // SAFETY: as above.
    unsafe { softmax_rows::columns::<S>(t) }
}

#[target_feature(enable = "avx2,fma")]
unsafe fn attend<S: Simd>(t: &Scores<S::T>, known: &Running<S::T>) {
    // SAFETY: as above.
    unsafe { super::attend::attend::<S>(t, known) }
}

#[target_feature(enable = "avx2,fma")]
unsafe fn attend_slopes<S: Simd>(
    t: &Scores<S::T>,
    slopes: *mut S::T,
    log_sums: *const S::T,
    means: *const S::T,
) {
    // SAFETY: as above.
    unsafe { super::attend::attend_slopes::<S>(t, slopes, log_sums, means) }
}

#[target_feature(enable = "avx2,fma")]
unsafe fn winograd_input<S: Simd>(t: &Tiles<S::T>) {
    // SAFETY: as above.
    unsafe { winograd::input::<S>(t) }
}

#[target_feature(enable = "avx2,fma")]
unsafe fn winograd_weight<S: Simd>(t: &Taps<S::T>) {
    // SAFETY: as above.
    unsafe { winograd::weight::<S>(t) }
}

#[target_feature(enable = "avx2,fma")]
unsafe fn winograd_output<S: Simd>(t: &Tiles<S::T>) {
    // SAFETY: as above.
    unsafe { winograd::output::<S>(t) }
}

pub(super) static F32: Kernels<f32> = kernels!(V8, 8, [1 2 3 4 5 6] [1 2], 2);
pub(super) static F64: Kernels<f64> = kernels!(V4, 4, [1 2 3 4 5 6] [1 2], 2);

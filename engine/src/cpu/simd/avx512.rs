//! AVX-512: vectors of 16 floats or 8 doubles, masked loads and stores.

use std::arch::x86_64::*;

use super::{
    Axpy, Columns, Dots, Halves, Kernels, Lines, Panel, Rows, Running, Scores, Simd, Taps, Tile,
    Tiles, Windows, kernels, lines, softmax as softmax_rows, windows, winograd,
};

#[derive(Clone, Copy)]
pub(super) struct V16;

impl Simd for V16 {
    type T = f32;
    type V = __m512;
    type M = __mmask16;
    const LANES: usize = 16;

    #[inline(always)]
    unsafe fn splat(x: f32) -> __m512 {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm512_set1_ps(x) }
    }

    #[inline(always)]
    unsafe fn load(p: *const f32) -> __m512 {
        // SAFETY: the caller vouches for the instruction set and the address.
        unsafe { _mm512_loadu_ps(p) }
    }

    #[inline(always)]
    unsafe fn store(p: *mut f32, v: __m512) {
        // SAFETY: the caller vouches for the instruction set and the address.
        unsafe { _mm512_storeu_ps(p, v) }
    }

    #[inline(always)]
    unsafe fn mask(n: usize) -> __mmask16 {
        if n >= 16 { __mmask16::MAX } else { (1 << n) - 1 }
    }

    #[inline(always)]
    unsafe fn load_mask(p: *const f32, m: __mmask16) -> __m512 {
        // SAFETY: the caller vouches for the instruction set and the address.
        unsafe { _mm512_maskz_loadu_ps(m, p) }
    }

    #[inline(always)]
    unsafe fn store_mask(p: *mut f32, m: __mmask16, v: __m512) {
        // SAFETY: the caller vouches for the instruction set and the address.
        unsafe { _mm512_mask_storeu_ps(p, m, v) }
    }

    #[inline(always)]
    unsafe fn add(x: __m512, y: __m512) -> __m512 {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm512_add_ps(x, y) }
    }

    #[inline(always)]
    unsafe fn sub(x: __m512, y: __m512) -> __m512 {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm512_sub_ps(x, y) }
    }

    #[inline(always)]
    unsafe fn mul(x: __m512, y: __m512) -> __m512 {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm512_mul_ps(x, y) }
    }

    #[inline(always)]
    unsafe fn fma(x: __m512, y: __m512, z: __m512) -> __m512 {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm512_fmadd_ps(x, y, z) }
    }

    #[inline(always)]
    unsafe fn largest(x: __m512) -> f32 {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm512_reduce_max_ps(x) }
    }

    #[inline(always)]
    unsafe fn max(x: __m512, y: __m512) -> __m512 {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm512_max_ps(x, y) }
    }

    #[inline(always)]
    unsafe fn keep_from(v: __m512, x: __m512, least: __m512) -> __m512 {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm512_maskz_mov_ps(_mm512_cmp_ps_mask::<_CMP_NLT_UQ>(x, least), v) }
    }

    #[inline(always)]
    unsafe fn raised(p: __m512, shifted: __m512) -> __m512 {
        // SAFETY: the caller vouches for the instruction set.
        unsafe {
            let power = _mm512_slli_epi32::<23>(_mm512_castps_si512(shifted));
            _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(p), power))
        }
    }

    #[inline(always)]
    unsafe fn load_or(p: *const f32, m: __mmask16, fill: __m512) -> __m512 {
        // SAFETY: the caller vouches for the instruction set and the address.
        unsafe { _mm512_mask_loadu_ps(fill, m, p) }
    }

    #[inline(always)]
    unsafe fn prefetch(p: *const f32) {
        // SAFETY: any address may be named.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(p.cast()) }
    }

    #[inline(always)]
    unsafe fn halves(p: *const f32, n: usize) -> (__m512, __m512) {
        // SAFETY: the caller vouches for the instruction set and the elements.
        unsafe {
            let rest = Self::mask(n.saturating_sub(Self::LANES));
            let a = Self::load_mask(p, Self::mask(n));
            let b = Self::load_mask(p.wrapping_add(Self::LANES), rest);
            let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
            let odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
            (_mm512_permutex2var_ps(a, even, b), _mm512_permutex2var_ps(a, odd, b))
        }
    }

    #[inline(always)]
    unsafe fn pick(x: __m512, place: __m512, best: (__m512, __m512)) -> (__m512, __m512) {
        // SAFETY: the caller vouches for the instruction set.
        unsafe {
            let is_greater = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(x, best.0);
            let better = is_greater | _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x, x);
            let pick = |new, old| _mm512_mask_blend_ps(better, old, new);
            (pick(x, best.0), pick(place, best.1))
        }
    }

    #[inline(always)]
    unsafe fn store_whole(p: *mut i64, n: usize, v: __m512, first: i64, step: i64) {
        // SAFETY: the caller vouches for the instruction set and the integers.
        unsafe {
            let lane = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
            let steps = _mm512_mullo_epi64(lane, _mm512_set1_epi64(step));
            let whole = _mm512_cvttps_epi32(v);
            let eights = [_mm512_castsi512_si256(whole), _mm512_extracti64x4_epi64::<1>(whole)];
            for (i, eight) in eights.into_iter().enumerate() {
                let first = _mm512_set1_epi64(first + 8 * i as i64 * step);
                let sum =
                    _mm512_add_epi64(_mm512_add_epi64(first, steps), _mm512_cvtepi32_epi64(eight));
                let mask = V8::mask(n.saturating_sub(8 * i));
                _mm512_mask_storeu_epi64(p.wrapping_add(8 * i), mask, sum);
            }
        }
    }

    /// Of equal ones, the greater of two is the second.
    #[inline(always)]
    unsafe fn pick_number(x: __m512, place: __m512, best: (__m512, __m512)) -> (__m512, __m512) {
        // SAFETY: the caller vouches for the instruction set.
        unsafe {
            let better = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(x, best.0);
            (_mm512_max_ps(x, best.0), _mm512_mask_blend_ps(better, best.1, place))
        }
    }

    #[inline(always)]
    unsafe fn has_nan(x: __m512) -> bool {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x, x) != 0 }
    }

    #[inline(always)]
    unsafe fn sum(x: __m512) -> f32 {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm512_reduce_add_ps(x) }
    }

    /// Adds neighbours until each 128-bit quarter holds one lane of each vector, then adds the quarters.
    #[inline(always)]
    unsafe fn sums([a, b, c, d]: [__m512; 4]) -> [f32; 4] {
        // SAFETY: the caller vouches for the instruction set; both types are four floats.
        unsafe {
            let ab = _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
            let cd = _mm512_add_ps(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
            let (ab, cd) = (_mm512_castps_pd(ab), _mm512_castps_pd(cd));
            let low = _mm512_castpd_ps(_mm512_unpacklo_pd(ab, cd));
            let sum = _mm512_add_ps(low, _mm512_castpd_ps(_mm512_unpackhi_pd(ab, cd)));
            let half = _mm256_add_ps(_mm512_castps512_ps256(sum), _mm512_extractf32x8_ps(sum, 1));
            let quarter = _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
            std::mem::transmute::<__m128, [f32; 4]>(quarter)
        }
    }

    /// Interleaves pairs of rows, then moves 128-bit quarters.
    #[inline(always)]
    unsafe fn transpose(
        src: *const f32,
        stride: isize,
        lanes: usize,
        k: usize,
        dst: *mut f32,
        dst_stride: usize,
        width: usize,
    ) {
        // SAFETY: the caller vouches for the instruction set and for `lanes` rows of `k` elements.
        unsafe {
            let mask = Self::mask(k);
            let mut rows = [_mm512_setzero_ps(); 16];
            for (i, row) in rows.iter_mut().enumerate() {
                let valid = if i < lanes { mask } else { 0 };
                *row = Self::load_mask(src.wrapping_offset(i as isize * stride), valid);
            }
            let mut pairs = rows;
            for i in 0..8 {
                pairs[2 * i] = _mm512_unpacklo_ps(rows[2 * i], rows[2 * i + 1]);
                pairs[2 * i + 1] = _mm512_unpackhi_ps(rows[2 * i], rows[2 * i + 1]);
            }
            let mut quads = [_mm512_setzero_pd(); 16];
            for i in 0..4 {
                for j in 0..2 {
                    let low = _mm512_castps_pd(pairs[4 * i + j]);
                    let high = _mm512_castps_pd(pairs[4 * i + j + 2]);
                    quads[4 * i + 2 * j] = _mm512_unpacklo_pd(low, high);
                    quads[4 * i + 2 * j + 1] = _mm512_unpackhi_pd(low, high);
                }
            }
            for j in 0..4 {
                let [a, b, c, d] = [quads[j], quads[4 + j], quads[8 + j], quads[12 + j]];
                let columns = quarters(a, b, c, d);
                for (l, column) in columns.into_iter().enumerate() {
                    rows[4 * l + j] = _mm512_castpd_ps(column);
                }
            }
            let out = Self::mask(width);
            for (p, &column) in rows.iter().enumerate() {
                if p < k {
                    Self::store_mask(dst.add(p * dst_stride), out, column);
                }
            }
        }
    }
}

#[derive(Clone, Copy)]
pub(super) struct V8;

impl Simd for V8 {
    type T = f64;
    type V = __m512d;
    type M = __mmask8;
    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn splat(x: f64) -> __m512d {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm512_set1_pd(x) }
    }

    #[inline(always)]
    unsafe fn load(p: *const f64) -> __m512d {
        // SAFETY: the caller vouches for the instruction set and the address.
        unsafe { _mm512_loadu_pd(p) }
    }

    #[inline(always)]
    unsafe fn store(p: *mut f64, v: __m512d) {
        // SAFETY: the caller vouches for the instruction set and the address.
        unsafe { _mm512_storeu_pd(p, v) }
    }

    #[inline(always)]
    unsafe fn mask(n: usize) -> __mmask8 {
        if n >= 8 { __mmask8::MAX } else { (1 << n) - 1 }
    }

    #[inline(always)]
    unsafe fn load_mask(p: *const f64, m: __mmask8) -> __m512d {
        // SAFETY: the caller vouches for the instruction set and the address.
        unsafe { _mm512_maskz_loadu_pd(m, p) }
    }

    #[inline(always)]
    unsafe fn store_mask(p: *mut f64, m: __mmask8, v: __m512d) {
        // SAFETY: the caller vouches for the instruction set and the address.
        unsafe { _mm512_mask_storeu_pd(p, m, v) }
    }

    #[inline(always)]
    unsafe fn add(x: __m512d, y: __m512d) -> __m512d {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm512_add_pd(x, y) }
    }

    #[inline(always)]
    unsafe fn sub(x: __m512d, y: __m512d) -> __m512d {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm512_sub_pd(x, y) }
    }

    #[inline(always)]
    unsafe fn mul(x: __m512d, y: __m512d) -> __m512d {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm512_mul_pd(x, y) }
    }

    #[inline(always)]
    unsafe fn fma(x: __m512d, y: __m512d, z: __m512d) -> __m512d {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm512_fmadd_pd(x, y, z) }
    }

    #[inline(always)]
    unsafe fn largest(x: __m512d) -> f64 {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm512_reduce_max_pd(x) }
    }

    #[inline(always)]
    unsafe fn max(x: __m512d, y: __m512d) -> __m512d {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm512_max_pd(x, y) }
    }

    #[inline(always)]
    unsafe fn keep_from(v: __m512d, x: __m512d, least: __m512d) -> __m512d {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm512_maskz_mov_pd(_mm512_cmp_pd_mask::<_CMP_NLT_UQ>(x, least), v) }
    }

    #[inline(always)]
    unsafe fn raised(p: __m512d, shifted: __m512d) -> __m512d {
        // SAFETY: the caller vouches for the instruction set.
        unsafe {
            let power = _mm512_slli_epi64::<52>(_mm512_castpd_si512(shifted));
            _mm512_castsi512_pd(_mm512_add_epi64(_mm512_castpd_si512(p), power))
        }
    }

    #[inline(always)]
    unsafe fn load_or(p: *const f64, m: __mmask8, fill: __m512d) -> __m512d {
        // SAFETY: the caller vouches for the instruction set and the address.
        unsafe { _mm512_mask_loadu_pd(fill, m, p) }
    }

    #[inline(always)]
    unsafe fn prefetch(p: *const f64) {
        // SAFETY: any address may be named.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(p.cast()) }
    }

    #[inline(always)]
    unsafe fn halves(p: *const f64, n: usize) -> (__m512d, __m512d) {
        // SAFETY: the caller vouches for the instruction set and the elements.
        unsafe {
            let rest = Self::mask(n.saturating_sub(Self::LANES));
            let a = Self::load_mask(p, Self::mask(n));
            let b = Self::load_mask(p.wrapping_add(Self::LANES), rest);
            let even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
            let odd = _mm512_add_epi64(even, _mm512_set1_epi64(1));
            (_mm512_permutex2var_pd(a, even, b), _mm512_permutex2var_pd(a, odd, b))
        }
    }

    #[inline(always)]
    unsafe fn pick(x: __m512d, place: __m512d, best: (__m512d, __m512d)) -> (__m512d, __m512d) {
        // SAFETY: the caller vouches for the instruction set.
        unsafe {
            let is_greater = _mm512_cmp_pd_mask::<_CMP_GT_OQ>(x, best.0);
            let better = is_greater | _mm512_cmp_pd_mask::<_CMP_UNORD_Q>(x, x);
            let pick = |new, old| _mm512_mask_blend_pd(better, old, new);
            (pick(x, best.0), pick(place, best.1))
        }
    }

    #[inline(always)]
    unsafe fn store_whole(p: *mut i64, n: usize, v: __m512d, first: i64, step: i64) {
        // SAFETY: the caller vouches for the instruction set and the integers.
        unsafe {
            let lane = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
            let steps = _mm512_mullo_epi64(lane, _mm512_set1_epi64(step));
            let first = _mm512_add_epi64(_mm512_set1_epi64(first), steps);
            let sum = _mm512_add_epi64(first, _mm512_cvttpd_epi64(v));
            _mm512_mask_storeu_epi64(p, Self::mask(n), sum);
        }
    }

    /// Of equal ones, the greater of two is the second.
    #[inline(always)]
    unsafe fn pick_number(
        x: __m512d,
        place: __m512d,
        best: (__m512d, __m512d),
    ) -> (__m512d, __m512d) {
        // SAFETY: the caller vouches for the instruction set.
        unsafe {
            let better = _mm512_cmp_pd_mask::<_CMP_GT_OQ>(x, best.0);
            (_mm512_max_pd(x, best.0), _mm512_mask_blend_pd(better, best.1, place))
        }
    }

    #[inline(always)]
    unsafe fn has_nan(x: __m512d) -> bool {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm512_cmp_pd_mask::<_CMP_UNORD_Q>(x, x) != 0 }
    }

    #[inline(always)]
    unsafe fn sum(x: __m512d) -> f64 {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { _mm512_reduce_add_pd(x) }
    }

    /// Interleaves pairs of rows, then moves 128-bit quarters.
    #[inline(always)]
    unsafe fn transpose(
        src: *const f64,
        stride: isize,
        lanes: usize,
        k: usize,
        dst: *mut f64,
        dst_stride: usize,
        width: usize,
    ) {
        // SAFETY: the caller vouches for the instruction set and for `lanes` rows of `k` elements.
        unsafe {
            let mask = Self::mask(k);
            let mut rows = [_mm512_setzero_pd(); 8];
            for (i, row) in rows.iter_mut().enumerate() {
                let valid = if i < lanes { mask } else { 0 };
                *row = Self::load_mask(src.wrapping_offset(i as isize * stride), valid);
            }
            let mut pairs = rows;
            for i in 0..4 {
                pairs[2 * i] = _mm512_unpacklo_pd(rows[2 * i], rows[2 * i + 1]);
                pairs[2 * i + 1] = _mm512_unpackhi_pd(rows[2 * i], rows[2 * i + 1]);
            }
            for j in 0..2 {
                let columns = quarters(pairs[j], pairs[2 + j], pairs[4 + j], pairs[6 + j]);
                for (l, column) in columns.into_iter().enumerate() {
                    rows[2 * l + j] = column;
                }
            }
            let out = Self::mask(width);
            for (p, &column) in rows.iter().enumerate() {
                if p < k {
                    Self::store_mask(dst.add(p * dst_stride), out, column);
                }
            }
        }
    }
}

/// The 4 x 4 transpose of 128-bit quarters.
#[inline(always)]
unsafe fn quarters(a: __m512d, b: __m512d, c: __m512d, d: __m512d) -> [__m512d; 4] {
    // SAFETY: the caller vouches for the instruction set.
    unsafe {
        let (ab_even, ab_odd) =
            (_mm512_shuffle_f64x2(a, b, 0x88), _mm512_shuffle_f64x2(a, b, 0xdd));
        let (cd_even, cd_odd) =
            (_mm512_shuffle_f64x2(c, d, 0x88), _mm512_shuffle_f64x2(c, d, 0xdd));
        [
            _mm512_shuffle_f64x2(ab_even, cd_even, 0x88),
            _mm512_shuffle_f64x2(ab_odd, cd_odd, 0x88),
            _mm512_shuffle_f64x2(ab_even, cd_even, 0xdd),
            _mm512_shuffle_f64x2(ab_odd, cd_odd, 0xdd),
        ]
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
unsafe fn tile<S: Simd, const R: usize, const NV: usize, const MODE: u8>(t: &Tile<S::T>) {
    // SAFETY: the caller vouches for the operands.
    unsafe { super::tile::tile::<S, R, NV, MODE>(t) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
unsafe fn finish<S: Simd>(t: &Tile<S::T>, rows: usize) {
    // SAFETY: as above.
    unsafe { super::tile::finish::<S>(t, rows) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
unsafe fn axpy<S: Simd>(t: &Axpy<S::T>) {
    // SAFETY: as above.
    unsafe { lines::axpy::<S>(t) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
unsafe fn dots<S: Simd, const R: usize>(t: &Dots<S::T>) {
    // SAFETY: as above.
    unsafe { lines::dots::<S, R>(t) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
unsafe fn pack<S: Simd>(t: &Panel<S::T>) {
    // SAFETY: as above.
    unsafe { lines::pack::<S>(t) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
unsafe fn halves<S: Simd>(t: &Halves<S::T>) {
    // SAFETY: as above.
    unsafe { windows::halves::<S>(t) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
unsafe fn windows<S: Simd, const COLUMNS: usize>(t: &Windows<S::T>) {
    // SAFETY: as above.
    unsafe { windows::windows::<S, COLUMNS>(t) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
unsafe fn gather<S: Simd>(t: &Lines<S::T>) {
    // SAFETY: as above.
    unsafe { lines::gather::<S>(t) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
unsafe fn softmax<S: Simd>(t: &Rows<S::T>) {
    // SAFETY: as above.
    unsafe { softmax_rows::softmax::<S>(t) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
unsafe fn log_softmax<S: Simd>(t: &Rows<S::T>) {
    // SAFETY: as above.
    unsafe { softmax_rows::log_softmax::<S>(t) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
unsafe fn log_sums<S: Simd>(t: &Rows<S::T>, sums: *mut f64) {
    // SAFETY: as above.
    unsafe { softmax_rows::log_sums::<S>(t, sums) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
unsafe fn softmax_slopes<S: Simd>(t: &Rows<S::T>, y: *const S::T) {
    // SAFETY: as above.
    unsafe { softmax_rows::slopes::<S>(t, y) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
unsafe fn log_softmax_slopes<S: Simd>(t: &Rows<S::T>, y: *const S::T) {
    // SAFETY: as above.
    unsafe { softmax_rows::log_slopes::<S>(t, y) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
unsafe fn softmax_columns<S: Simd>(t: &Columns<S::T>) {
    // SAFETY: as above.
    unsafe { softmax_rows::columns::<S>(t) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
unsafe fn attend<S: Simd>(t: &Scores<S::T>, known: &Running<S::T>) {
    // SAFETY: as above.
    unsafe { super::attend::attend::<S>(t, known) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
unsafe fn attend_slopes<S: Simd>(
    t: &Scores<S::T>,
    slopes: *mut S::T,
    log_sums: *const S::T,
    means: *const S::T,
) {
    // SAFETY: as above.
    unsafe { super::attend::attend_slopes::<S>(t, slopes, log_sums, means) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
unsafe fn winograd_input<S: Simd>(t: &Tiles<S::T>) {
    // SAFETY: as above.
    unsafe { winograd::input::<S>(t) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
unsafe fn winograd_weight<S: Simd>(t: &Taps<S::T>) {
    // SAFETY: as above.
    unsafe { winograd::weight::<S>(t) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
unsafe fn winograd_output<S: Simd>(t: &Tiles<S::T>) {
    // SAFETY: as above.
    unsafe { winograd::output::<S>(t) }
}

pub(super) static F32: Kernels<f32> =
    kernels!(V16, 16, [1 2 3 4 5 6 7 8 9 10 11 12 13 14] [1 2 3 4 5 6], 4);
pub(super) static F64: Kernels<f64> =
    kernels!(V8, 8, [1 2 3 4 5 6 7 8 9 10 11 12 13 14] [1 2 3 4 5 6], 4);

//! Sums of float32 as elements of the result: a bias added, rounded once.

use std::arch::x86_64::{
    __m512, __m512i, __mmask16, _CMP_UNORD_Q, _mm256_mask_storeu_epi16, _mm256_storeu_si256,
    _mm512_add_epi32, _mm512_add_ps, _mm512_and_si512, _mm512_castps_si512, _mm512_castsi512_ps,
    _mm512_cmp_ps_mask, _mm512_cvtepi32_epi16, _mm512_loadu_ps, _mm512_mask_or_epi32,
    _mm512_maskz_loadu_ps, _mm512_set1_epi32, _mm512_srli_epi32, _mm512_storeu_ps,
};

use super::BLOCK;
use super::pack::transposed;
use super::unit::SIDE;

/// A block, of whose columns its rows are made.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub(super) fn turned(sums: &[f32; BLOCK * BLOCK]) -> [f32; BLOCK * BLOCK] {
    let mut res = [0.0; BLOCK * BLOCK];
    for [row, column] in [[0, 0], [0, SIDE], [SIDE, 0], [SIDE, SIDE]] {
        let lines = std::array::from_fn(|at| {
            let line = &sums[(row + at) * BLOCK + column..][..SIDE];
            // SAFETY: a vector lies there.
            unsafe { _mm512_castps_si512(_mm512_loadu_ps(line.as_ptr())) }
        });
        for (at, line) in transposed(lines).into_iter().enumerate() {
            let to = &mut res[(column + at) * BLOCK + row..][..SIDE];
            // SAFETY: a vector lies there.
            unsafe { _mm512_storeu_ps(to.as_mut_ptr(), _mm512_castsi512_ps(line)) };
        }
    }
    res
}

/// Writes the first `columns` of each line of a block with the biases added and rounded to nearest, as rows that lie `step` elements apart; no bias is 0.
///
/// # Panics
/// If there are biases, but not for so many columns.
///
/// # Safety
/// The rows lie there, and nobody else uses them.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub(super) unsafe fn write(lines: &[f32], columns: usize, bias: &[f32], to: *mut u16, step: usize) {
    assert!(bias.is_empty() || bias.len() >= columns, "a bias for each column");
    let mask = |half: usize| match columns.saturating_sub(half * SIDE) {
        SIDE.. => __mmask16::MAX,
        columns => (1 << columns) - 1,
    };
    let masks = [mask(0), mask(1)];
    let biases = [0, 1].map(|half| {
        let there = if bias.is_empty() { 0 } else { masks[half] };
        // SAFETY: what is masked out is not read.
        unsafe { _mm512_maskz_loadu_ps(there, bias.as_ptr().wrapping_add(half * SIDE)) }
    });
    for (at, line) in lines.chunks_exact(BLOCK).enumerate() {
        for half in 0..2 {
            let to = to.wrapping_add(at * step + half * SIDE);
            // SAFETY: lines have two vectors; promised by the caller; elements of other columns are not written.
            unsafe {
                let sum = _mm512_loadu_ps(line[half * SIDE..].as_ptr());
                let bits = _mm512_cvtepi32_epi16(rounded(_mm512_add_ps(sum, biases[half])));
                match masks[half] {
                    __mmask16::MAX => _mm256_storeu_si256(to.cast(), bits),
                    mask => _mm256_mask_storeu_epi16(to.cast(), mask, bits),
                }
            }
        }
    }
}

/// The upper halves of float32 numbers, rounded to nearest, ties to even.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn rounded(x: __m512) -> __m512i {
    let bits = _mm512_castps_si512(x);
    let upper = _mm512_srli_epi32::<16>(bits);
    let more =
        _mm512_add_epi32(_mm512_and_si512(upper, _mm512_set1_epi32(1)), _mm512_set1_epi32(0x7fff));
    let near = _mm512_srli_epi32::<16>(_mm512_add_epi32(bits, more));
    let is_nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x, x);
    _mm512_mask_or_epi32(near, is_nan, upper, _mm512_set1_epi32(0x40))
}

//! Products of matrices of bfloat16 by the processor's unit for tiles (Intel AMX): numbers are multiplied and added up in float32, and
//! rounded once. Numbers below the normal ones count as 0 there.
//!
//! Both operands are brought into tiles, so that a block of 32 x 32 elements takes four loads and four products of tiles a step. A chunk of
//! the work keeps its part of A in the second cache while strips of B go by.

mod pack;
#[cfg(test)]
mod tests;
mod unit;

use std::arch::x86_64::{
    __m512, __m512i, _CMP_UNORD_Q, _mm256_mask_storeu_epi16, _mm256_storeu_si256, _mm512_add_epi32,
    _mm512_add_ps, _mm512_and_si512, _mm512_castps_si512, _mm512_cmp_ps_mask,
    _mm512_cvtepi32_epi16, _mm512_loadu_ps, _mm512_mask_or_epi32, _mm512_set1_epi32,
    _mm512_srli_epi32,
};
use std::ops::Range;
use std::sync::PoisonError;

use pack::{LEN, Lanes, STEPS, Side};
use unit::{SIDE, Tiles};

use super::alloc::{AllocError, Bytes};
use super::features::{Isa, isa};
use super::gemm::Starts;
use super::pool::{self, Shared};
use super::{interrupt, typed};
use crate::sync::Mutex;

/// Rows and columns of a block of the result.
const BLOCK: usize = 2 * SIDE;
/// Columns of a chunk of work at most.
const COLUMNS: usize = 8 * BLOCK;
/// Elements of A that a chunk keeps near, about.
const NEAR: usize = 1 << 18;
/// Multiplications that are worth a second thread.
const PARALLEL: usize = 1 << 22;

/// A matrix as it lies, from its first element on.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a> {
    /// The bits of its elements.
    pub elements: &'a [u16],
    /// Elements from one row to the next, and from one column to the next.
    pub strides: [usize; 2],
}

/// Whether this process has the unit, and may use it.
pub fn is_there() -> bool {
    isa() == Isa::Avx512 && unit::is_there()
}

/// `out[m, n] = a[m, k] @ b[k, n] + bias[n]` in row-major order, of each of the products, one behind the other; `sizes` are m, n and k,
/// `starts` say where in the matrices the operands of each begin.
///
/// # Panics
/// If the results, an operand or the bias has not that many elements, or the unit is not there.
pub fn multiply(
    sizes: [usize; 3],
    [a, b]: [Matrix<'_>; 2],
    starts: &Starts,
    bias: Option<&[f32]>,
    out: &mut [u16],
) -> Result<(), AllocError> {
    let [m, n, _] = sizes;
    assert!(is_there(), "the processor has no tiles");
    assert_eq!(out.len(), starts.len() * m * n, "elements of the results");
    assert!(bias.is_none_or(|it| it.len() == n), "elements of the bias");
    let one = |at: usize, out: &mut [u16], parallel: bool| {
        let [from_a, from_b] = starts.get(at);
        multiply_one(sizes, [a.from(from_a), b.from(from_b)], bias, out, parallel)
    };
    let work = sizes.into_iter().fold(starts.len(), usize::saturating_mul);
    if starts.len() == 1 {
        return one(0, out, work > PARALLEL);
    }
    let out = Shared(out.as_mut_ptr());
    let failed = Mutex::new(None);
    pool::for_each_chunk_if(work > PARALLEL, starts.len(), &|at| {
        // SAFETY: there are that many results, and each is given once.
        let out = unsafe { out.part(at * m * n..(at + 1) * m * n) };
        if let Err(error) = one(at, out, false) {
            *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        }
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// Bytes of the tiles of both operands.
pub fn workspace([m, n, k]: [usize; 3]) -> usize {
    let lanes = m.next_multiple_of(SIDE).saturating_add(n.next_multiple_of(SIDE));
    lanes.saturating_mul(k.next_multiple_of(STEPS)).saturating_mul(size_of::<u16>())
}

impl Matrix<'_> {
    /// The same from an element on.
    fn from(self, start: usize) -> Self {
        Self { elements: self.elements.get(start..).unwrap_or_default(), ..self }
    }
}

/// One of the products, on this thread alone unless `parallel`.
fn multiply_one(
    [m, n, k]: [usize; 3],
    [a, b]: [Matrix<'_>; 2],
    bias: Option<&[f32]>,
    out: &mut [u16],
    parallel: bool,
) -> Result<(), AllocError> {
    let left = Lanes { elements: a.elements, sizes: [m, k], strides: a.strides };
    let right =
        Lanes { elements: b.elements, sizes: [n, k], strides: [b.strides[1], b.strides[0]] };
    let (left, right) =
        (packed(Side::Left, &left, parallel)?, packed(Side::Right, &right, parallel)?);
    let (left, right) = (typed::slice(&left), typed::slice(&right));
    Product { m, n, tiles: k.div_ceil(STEPS), left, right, bias: bias.unwrap_or_default() }
        .run(out, parallel);
    Ok(())
}

/// All tiles of an operand.
fn packed(side: Side, from: &Lanes<'_>, parallel: bool) -> Result<Bytes, AllocError> {
    let [lanes, steps] = from.sizes;
    let (panels, len) = (lanes.div_ceil(SIDE), steps.div_ceil(STEPS) * LEN);
    let mut bytes = Bytes::uninit(panels.saturating_mul(len).saturating_mul(size_of::<u16>()))?;
    let to = Shared(typed::slice_mut::<u16>(&mut bytes).as_mut_ptr());
    pool::for_each_chunk_if(parallel, panels, &|panel| {
        // SAFETY: there are that many panels, and each is given once; the instructions are those of the set in use.
        unsafe { pack::pack(side, from, panel * SIDE, to.part(panel * len..(panel + 1) * len)) };
    });
    Ok(bytes)
}

/// Packed operands.
struct Product<'a> {
    m: usize,
    n: usize,
    /// Tiles of a panel.
    tiles: usize,
    left: &'a [u16],
    right: &'a [u16],
    /// A value for each column, or none.
    bias: &'a [f32],
}

/// A block of sums.
#[repr(C, align(64))]
struct Block([f32; BLOCK * BLOCK]);

impl Product<'_> {
    fn run(&self, out: &mut [u16], parallel: bool) {
        let near = (NEAR / (self.tiles * STEPS).max(1) / BLOCK).max(1) * BLOCK;
        let (down, across) = (self.m.div_ceil(near), self.n.div_ceil(COLUMNS));
        let out = Shared(out.as_mut_ptr());
        pool::for_each_chunk_if(parallel, down * across, &|chunk| {
            let (i, j) = (chunk / across * near, chunk % across * COLUMNS);
            let (rows, columns) = (i..self.m.min(i + near), j..self.n.min(j + COLUMNS));
            let Some(unit) = Tiles::take() else { return };
            for column in columns.step_by(BLOCK) {
                if interrupt::ends_here() {
                    return;
                }
                // SAFETY: chunks have blocks of their own.
                unsafe { self.strip(&unit, rows.clone(), column, out.get()) };
            }
        });
    }

    /// Some rows of the strip that begins at a column.
    ///
    /// # Safety
    /// `out` is the whole result, and nobody else uses these elements.
    unsafe fn strip(&self, unit: &Tiles, rows: Range<usize>, column: usize, out: *mut u16) {
        let mut sums = Block([0.0; BLOCK * BLOCK]);
        let columns = BLOCK.min(self.n - column);
        let mut bias = [0.0; BLOCK];
        let given = self.bias.get(column..).unwrap_or_default();
        bias.iter_mut().zip(given).for_each(|(slot, it)| *slot = *it);
        let right = panels(self.right, column, self.n, self.tiles);
        for row in rows.clone().step_by(BLOCK) {
            let left = panels(self.left, row, self.m, self.tiles);
            // SAFETY: panels have that many tiles; the block lies in the result; the instructions are those of the set in use.
            unsafe {
                unit.multiply(left, right, self.tiles, sums.0.as_mut_ptr());
                let lines = &sums.0[..BLOCK.min(rows.end - row) * BLOCK];
                round(lines, &bias, columns, self.n, out.add(row * self.n + column));
            }
        }
    }
}

/// Where the two panels from a lane on begin; the second is the first where there is none.
fn panels(packed: &[u16], lane: usize, lanes: usize, tiles: usize) -> [*const u8; 2] {
    let of = |it: usize| packed[it / SIDE * tiles * LEN..].as_ptr().cast();
    [of(lane), of(if lane + SIDE < lanes { lane + SIDE } else { lane })]
}

/// The lines of a block with the biases added, rounded to nearest, as so many columns of rows that lie `step` elements apart.
///
/// # Safety
/// The rows lie there, and nobody else uses them.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn round(sums: &[f32], bias: &[f32; BLOCK], columns: usize, step: usize, to: *mut u16) {
    // SAFETY: there are two vectors.
    let bias = [0, SIDE].map(|at| unsafe { _mm512_loadu_ps(bias[at..].as_ptr()) });
    for (at, line) in sums.chunks_exact(BLOCK).enumerate() {
        let to = to.wrapping_add(at * step);
        for (half, bias) in bias.iter().enumerate() {
            let columns = columns.saturating_sub(half * SIDE);
            // SAFETY: lines have two vectors; elements of other columns are not written.
            unsafe {
                let sum = _mm512_add_ps(_mm512_loadu_ps(line[half * SIDE..].as_ptr()), *bias);
                let bits = _mm512_cvtepi32_epi16(rounded(sum));
                let to = to.wrapping_add(half * SIDE);
                match columns {
                    SIDE.. => _mm256_storeu_si256(to.cast(), bits),
                    _ => _mm256_mask_storeu_epi16(to.cast(), (1 << columns) - 1, bits),
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

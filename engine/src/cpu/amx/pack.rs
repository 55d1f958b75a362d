//! Operands as tiles: 16 lanes (rows of A, columns of B) of 16 pairs of steps each.
//!
//! A left tile has a row for each lane, a right tile one for each pair: one is the other, transposed, in words of 32 bits.

use std::arch::x86_64::{
    __m512i, _mm256_loadu_si256, _mm512_cvtepu16_epi32, _mm512_loadu_si512, _mm512_or_si512,
    _mm512_setzero_si512, _mm512_shuffle_i32x4, _mm512_slli_epi32, _mm512_storeu_si512,
    _mm512_unpackhi_epi32, _mm512_unpackhi_epi64, _mm512_unpacklo_epi32, _mm512_unpacklo_epi64,
};

use super::unit::{Left, SIDE};

/// Steps of a tile.
pub(super) const STEPS: usize = 2 * SIDE;
/// Elements of a tile.
pub(super) const LEN: usize = SIDE * STEPS;

/// Which operand tiles are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// The bits of a matrix as it lies: lanes and steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lanes<'a> {
    pub(super) elements: &'a [u16],
    pub(super) sizes: [usize; 2],
    /// Elements from one lane to the next, and from one step to the next.
    pub(super) strides: [usize; 2],
}

type Rows = [__m512i; SIDE];

/// The tiles of two panels of 16 lanes from `lane` on, one panel behind the other; lanes and steps that are not there are 0.
///
/// # Panics
/// If `to` has another length, or an element lies outside.
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn pack(side: Side, from: &Lanes<'_>, lane: usize, to: &mut [u16]) {
    assert_eq!(to.len(), 2 * from.sizes[1].div_ceil(STEPS) * LEN, "elements of the tiles");
    let (first, second) = to.split_at_mut(to.len() / 2);
    let panels = first.chunks_exact_mut(LEN).zip(second.chunks_exact_mut(LEN));
    // Side by side: lines of the caches hold steps of both.
    for (at, (first, second)) in panels.enumerate() {
        for (tile, lane) in [(first, lane), (second, lane + SIDE)] {
            if lane >= from.sizes[0] {
                tile.fill(0);
                continue;
            }
            let (rows, of) = from.rows(lane, at * STEPS);
            let rows = if of == side { rows } else { transposed(rows) };
            for (row, to) in rows.iter().zip(tile.chunks_exact_mut(STEPS)) {
                // SAFETY: a row has 64 bytes.
                unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), *row) };
            }
        }
    }
}

impl Lanes<'_> {
    /// Whether bringing it into tiles of that side transposes them.
    pub(super) fn is_turned_for(&self, side: Side) -> bool {
        (self.strides[1] == 1) != (side == Side::Left)
    }

    /// The tiles of two panels from a lane on, from a tile on, where they lie.
    pub(super) fn tiles(&self, lane: usize, tile: usize) -> Left {
        let panel = |lane: usize| {
            let from = &self.elements[lane * self.strides[0] + tile * STEPS..];
            let left = self.sizes[1] - tile * STEPS;
            assert!(from.len() >= (SIDE - 1) * self.strides[0] + left, "elements of a panel");
            from.as_ptr().cast()
        };
        let size = size_of::<u16>();
        let panels = [panel(lane), panel(lane + SIDE)];
        Left { panels, row: self.strides[0] * size, tile: STEPS * size }
    }

    /// Whether left tiles of two panels each may be read where they are.
    pub(super) fn are_tiles(&self) -> bool {
        let [lanes, steps] = self.sizes;
        let is_whole = lanes.is_multiple_of(2 * SIDE) && steps.is_multiple_of(STEPS);
        is_whole && self.strides[1] == 1 && steps > 0
    }

    /// A tile from a lane and a step on, as that of the side which takes fewer instructions.
    #[target_feature(enable = "avx512f,avx512bw")]
    fn rows(&self, lane: usize, step: usize) -> (Rows, Side) {
        let [lanes, steps] = [self.sizes[0] - lane, self.sizes[1] - step];
        let start = lane * self.strides[0] + step * self.strides[1];
        let is_whole = lanes >= SIDE && steps >= STEPS;
        match self.strides {
            [stride, 1] if is_whole => (lines(&self.elements[start..], stride), Side::Left),
            [1, stride] if is_whole => (pairs(&self.elements[start..], stride), Side::Right),
            strides => {
                let (mut whole, steps) = ([0; LEN], steps.min(STEPS));
                for (at, line) in whole.chunks_exact_mut(STEPS).enumerate().take(lanes) {
                    let from = &self.elements[start + at * strides[0]..];
                    match strides[1] {
                        1 => line[..steps].copy_from_slice(&from[..steps]),
                        stride => (0..steps).for_each(|it| line[it] = from[it * stride]),
                    }
                }
                (lines(&whole, STEPS), Side::Left)
            }
        }
    }
}

/// 16 lines of 32 steps, so far apart.
#[target_feature(enable = "avx512f,avx512bw")]
fn lines(from: &[u16], stride: usize) -> Rows {
    let from = &from[..(SIDE - 1) * stride + STEPS];
    // SAFETY: the last one, too, lies there.
    std::array::from_fn(|at| unsafe { _mm512_loadu_si512(from.as_ptr().add(at * stride).cast()) })
}

/// 32 steps of 16 lanes, so far apart: two steps of a lane become one word.
#[target_feature(enable = "avx512f,avx512bw")]
fn pairs(from: &[u16], stride: usize) -> Rows {
    let from = &from[..(STEPS - 1) * stride + SIDE];
    std::array::from_fn(|at| {
        // SAFETY: the last one, too, lies there.
        let [low, high] = [2 * at, 2 * at + 1]
            .map(|it| unsafe { _mm256_loadu_si256(from.as_ptr().add(it * stride).cast()) });
        let high = _mm512_slli_epi32(_mm512_cvtepu16_epi32(high), 16);
        _mm512_or_si512(_mm512_cvtepu16_epi32(low), high)
    })
}

/// Words in rows to words in columns.
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn transposed(rows: Rows) -> Rows {
    let mut twos = [_mm512_setzero_si512(); SIDE];
    for at in (0..SIDE).step_by(2) {
        twos[at] = _mm512_unpacklo_epi32(rows[at], rows[at + 1]);
        twos[at + 1] = _mm512_unpackhi_epi32(rows[at], rows[at + 1]);
    }
    // Fours: column c of each quarter, of rows 4r to 4r + 3, in `fours[4 r + c]`.
    let mut fours = [_mm512_setzero_si512(); SIDE];
    for at in (0..SIDE).step_by(4) {
        for half in 0..2 {
            let [a, b] = [twos[at + half], twos[at + 2 + half]];
            fours[at + 2 * half] = _mm512_unpacklo_epi64(a, b);
            fours[at + 2 * half + 1] = _mm512_unpackhi_epi64(a, b);
        }
    }
    let mut res = [_mm512_setzero_si512(); SIDE];
    for column in 0..4 {
        let [a, b, c, d] = [0, 4, 8, 12].map(|it| fours[it + column]);
        let [even, odd] = [_mm512_shuffle_i32x4::<0x88>(a, b), _mm512_shuffle_i32x4::<0xdd>(a, b)];
        let [further, oddly] =
            [_mm512_shuffle_i32x4::<0x88>(c, d), _mm512_shuffle_i32x4::<0xdd>(c, d)];
        res[column] = _mm512_shuffle_i32x4::<0x88>(even, further);
        res[column + 8] = _mm512_shuffle_i32x4::<0xdd>(even, further);
        res[column + 4] = _mm512_shuffle_i32x4::<0x88>(odd, oddly);
        res[column + 12] = _mm512_shuffle_i32x4::<0xdd>(odd, oddly);
    }
    res
}

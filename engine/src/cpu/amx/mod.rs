//! Products of matrices of bfloat16 by the processor's unit for tiles (Intel AMX): numbers are multiplied and added up in float32, and
//! rounded once. Numbers below the normal ones count as 0 there.
//!
//! Both operands are brought into tiles, so that a block of 32 x 32 elements takes four loads and four products of tiles a step. All of the right
//! one is, once; a chunk of the work keeps its part of the left one in the second cache while strips of the right one go by, each asked for while the
//! one before it is multiplied. Of a strip as many steps as the first cache holds are multiplied by all rows of the chunk, so that half of the loads
//! come from there. Either operand may be the left one, whose columns are then rows of the result: where that leaves less to transpose, B is. For a
//! few columns left tiles are read where they lie.

mod pack;
mod round;
#[cfg(test)]
mod tests;
mod unit;

use std::ops::Range;
use std::sync::PoisonError;

use pack::{LEN, Lanes, STEPS, Side};
use unit::{AHEAD, Left, SIDE, Tiles};

use super::alloc::{AllocError, Bytes};
use super::features::{Isa, isa};
use super::gemm::Starts;
use super::pool::{self, Shared};
use super::{interrupt, typed};
use crate::sync::Mutex;

/// Rows and columns of a block of the result.
const BLOCK: usize = 2 * SIDE;
/// Columns at most for which left tiles are read where they lie.
const FEW: usize = 2 * BLOCK;
/// Elements of the left operand that a chunk keeps near, about.
const NEAR: usize = 1 << 18;
/// Tiles of a panel of the right operand that the first cache keeps.
const STRIP: usize = 16;
/// Chunks that each thread gets, so that none waits long for another.
const CHUNKS: usize = 2;
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
    if out.is_empty() {
        return Ok(());
    }
    let work = sizes.into_iter().fold(starts.len(), usize::saturating_mul);
    if starts.len() == 1 {
        return one(0, out, work > PARALLEL);
    }
    let out = Shared(out.as_mut_ptr());
    try_each_chunk(work > PARALLEL, starts.len(), &|at| {
        // SAFETY: there are that many results, and each is given once.
        one(at, unsafe { out.part(at * m * n..(at + 1) * m * n) }, false)
    })
}

/// As [`pool::for_each_chunk_if`], with one of the errors if there are any.
fn try_each_chunk(
    parallel: bool,
    n_chunks: usize,
    f: &(dyn Fn(usize) -> Result<(), AllocError> + Sync),
) -> Result<(), AllocError> {
    let failed = Mutex::new(None);
    pool::for_each_chunk_if(parallel, n_chunks, &|at| {
        if let Err(error) = f(at) {
            *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        }
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// Bytes of the tiles of the right operand, and of a chunk's of the left one.
pub fn workspace([m, n, k]: [usize; 3]) -> usize {
    let lanes =
        |left, right: usize| chunk_rows(left, k).saturating_add(right.next_multiple_of(BLOCK));
    let lanes = lanes(m, n).max(lanes(n, m));
    lanes.saturating_mul(k.next_multiple_of(STEPS)).saturating_mul(size_of::<u16>())
}

/// Rows of a chunk at most, in whole blocks.
fn chunk_rows(m: usize, k: usize) -> usize {
    (NEAR / k.next_multiple_of(STEPS).max(1) / BLOCK).max(1).min(m.div_ceil(BLOCK)) * BLOCK
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
    let tiles = k.div_ceil(STEPS);
    let cost = |[left, right]: [&Lanes<'_>; 2]| {
        let of = |it: &Lanes<'_>, side| if it.is_turned_for(side) { it.sizes[0] } else { 0 };
        of(left, Side::Left) + of(right, Side::Right)
    };
    let turned = cost([&right, &left]) < cost([&left, &right]);
    let [left, right] = if turned { [right, left] } else { [left, right] };
    let strips = right.sizes[0].div_ceil(BLOCK);
    let mut bytes = strip_bytes(strips, tiles)?;
    let to = Shared(typed::slice_mut::<u16>(&mut bytes).as_mut_ptr());
    pool::for_each_chunk_if(parallel, strips, &|strip| {
        let len = strip_len(tiles);
        // SAFETY: there are that many strips, and each is given once; the instructions are those of the set in use.
        unsafe {
            let to = to.part(strip * len..(strip + 1) * len);
            pack::pack(Side::Right, &right, strip * BLOCK, to);
        }
    });
    let [m, columns] = [left.sizes[0], right.sizes[0]];
    let (right, bias) = (typed::slice(&bytes), bias.unwrap_or_default());
    Product { m, n: columns, tiles, left, right, bias, turned, step: n }.run(out, parallel)
}

/// Elements of the tiles of a strip of 32 lanes: two panels, one behind the other.
fn strip_len(tiles: usize) -> usize {
    2 * tiles * LEN
}

fn strip_bytes(strips: usize, tiles: usize) -> Result<Bytes, AllocError> {
    Bytes::uninit(strips.saturating_mul(strip_len(tiles)).saturating_mul(size_of::<u16>()))
}

/// What is multiplied: the left operand as it lies, the right one in strips.
struct Product<'a> {
    /// Lanes of the left operand, and of the right one.
    m: usize,
    n: usize,
    /// Tiles of a panel.
    tiles: usize,
    left: Lanes<'a>,
    right: &'a [u16],
    /// A value for each column of the result, or none.
    bias: &'a [f32],
    /// Whether lanes of the left operand are columns of the result.
    turned: bool,
    /// Elements of a row of the result.
    step: usize,
}

/// A block of sums.
#[derive(Clone)]
#[repr(C, align(64))]
struct Block([f32; BLOCK * BLOCK]);

impl Product<'_> {
    fn run(&self, out: &mut [u16], parallel: bool) -> Result<(), AllocError> {
        let [rows, columns] = self.chunk(parallel);
        let across = self.n.div_ceil(columns);
        let out = Shared(out.as_mut_ptr());
        try_each_chunk(parallel, self.m.div_ceil(rows) * across, &|chunk| {
            let (i, j) = (chunk / across * rows, chunk % across * columns);
            let (rows, columns) = (i..self.m.min(i + rows), j..self.n.min(j + columns));
            // SAFETY: chunks have blocks of their own.
            unsafe { self.block(rows, columns, out.get()) }
        })
    }

    /// Rows and columns of a chunk, in whole blocks. More threads than chunks of rows share the columns.
    fn chunk(&self, parallel: bool) -> [usize; 2] {
        let wanted = if parallel { CHUNKS * pool::threads() } else { 1 };
        let even = self.m.div_ceil(wanted).next_multiple_of(BLOCK);
        let rows = chunk_rows(self.m, self.tiles * STEPS).min(even).max(BLOCK);
        let across = wanted.div_ceil(self.m.div_ceil(rows)).max(1);
        [rows, self.n.div_ceil(across).next_multiple_of(BLOCK)]
    }

    /// Some rows and columns, which begin with a block.
    ///
    /// # Safety
    /// `out` is the whole result, and nobody else uses these elements.
    unsafe fn block(
        &self,
        rows: Range<usize>,
        columns: Range<usize>,
        out: *mut u16,
    ) -> Result<(), AllocError> {
        let strips = rows.len().div_ceil(BLOCK);
        let lies = self.n <= FEW && self.left.are_tiles();
        let mut bytes = strip_bytes(if lies { 0 } else { strips }, self.tiles)?;
        let len = strip_len(self.tiles).max(1);
        for (at, to) in typed::slice_mut::<u16>(&mut bytes).chunks_exact_mut(len).enumerate() {
            // SAFETY: the instructions are those of the set in use.
            unsafe { pack::pack(Side::Left, &self.left, rows.start + at * BLOCK, to) };
        }
        let packed = (!lies).then(|| typed::slice(&bytes));
        let Some(unit) = Tiles::take() else { return Ok(()) };
        let mut sums = vec![Block([0.0; BLOCK * BLOCK]); strips];
        for column in columns.step_by(BLOCK) {
            if interrupt::ends_here() {
                break;
            }
            // SAFETY: promised by the caller.
            unsafe { self.strip(&unit, packed, &mut sums, [rows.start, column], out) };
        }
        Ok(())
    }

    /// Some rows, whose tiles are given unless they are read where they lie, of the strip that begins at a column.
    ///
    /// # Safety
    /// `out` is the whole result, and nobody else uses these elements.
    unsafe fn strip(
        &self,
        unit: &Tiles,
        packed: Option<&[u16]>,
        sums: &mut [Block],
        [row, column]: [usize; 2],
        out: *mut u16,
    ) {
        let len = strip_len(self.tiles);
        let right = &self.right[column / BLOCK * len..];
        let parts = self.tiles.div_ceil(STRIP).max(1);
        // The next strip is asked for little by little.
        let mut next =
            right.get(len..).unwrap_or_default().chunks(STRIP * AHEAD / size_of::<u16>());
        for start in (0..parts).map(|it| it * STRIP) {
            let steps = STRIP.min(self.tiles - start);
            for (at, sums) in sums.iter_mut().enumerate() {
                let row = row + at * BLOCK;
                let a = match packed {
                    Some(left) => Left {
                        panels: panels(&left[at * len..], self.tiles, start),
                        row: STEPS * size_of::<u16>(),
                        tile: LEN * size_of::<u16>(),
                    },
                    None => self.left.tiles(row, start),
                };
                let b = panels(right, self.tiles, start);
                let to = sums.0.as_mut_ptr();
                let ahead = next.next().map_or(to.cast_const().cast(), |it| it.as_ptr().cast());
                // SAFETY: panels have that many tiles; the block lies in the result; the instructions are those of the set in use.
                unsafe {
                    unit.multiply(a, b, steps, to, start > 0, ahead);
                    if start + steps == self.tiles {
                        self.finish(sums, [row, column], out);
                    }
                }
            }
        }
    }

    /// Writes the sums of a block that begins at two lanes.
    ///
    /// # Safety
    /// As of `strip`.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    unsafe fn finish(&self, sums: &Block, lanes: [usize; 2], out: *mut u16) {
        let there = [self.m - lanes[0], self.n - lanes[1]].map(|it| it.min(BLOCK));
        let turned;
        let (lines, [row, column], [rows, columns]) = match self.turned {
            true => {
                turned = round::turned(&sums.0);
                (&turned, [lanes[1], lanes[0]], [there[1], there[0]])
            }
            false => (&sums.0, lanes, there),
        };
        let bias = self.bias.get(column..).unwrap_or_default();
        let to = out.wrapping_add(row * self.step + column);
        // SAFETY: promised by the caller; these are the rows and columns that are there.
        unsafe { round::write(&lines[..rows * BLOCK], columns, bias, to, self.step) };
    }
}

/// Where a tile begins in both panels of a strip.
fn panels(strip: &[u16], tiles: usize, start: usize) -> [*const u8; 2] {
    [start, tiles + start].map(|it| strip[it * LEN..].as_ptr().cast())
}

//! Covers a block of C with tiles.

use crate::cpu::simd::{Kernels, Table, Tile, TileFn};

/// Splits `total` rows into the fewest tiles of at most `max` rows, as even as can be: `(first row, rows)`.
pub(crate) fn tiles(total: usize, max: usize) -> impl Iterator<Item = (usize, usize)> {
    let count = total.div_ceil(max).max(1);
    let (rows, larger) = (total / count, total % count);
    (0..count)
        .map(move |i| (i * rows + i.min(larger), rows + usize::from(i < larger)))
        .filter(|&(_, rows)| rows > 0)
}

/// Computes `m` by `n` elements of C, from the operands of `base` on; `base.cols` is not read.
///
/// # Safety
/// The operands must exist for the whole block, and `table` must be one of `kernels`, of the kind that `base` fits.
pub(crate) unsafe fn block<T>(
    kernels: &Kernels<T>,
    table: &Table<T>,
    m: usize,
    n: usize,
    base: &Tile<T>,
) where
    T: Copy,
{
    let mut tile = *base;
    let mut j = 0;
    while j < n {
        let (functions, width) = strip(kernels.lanes, table, m, n - j);
        tile.cols = width.min(n - j);
        tile.b = base.b.wrapping_add(j);
        if !base.col_bias.is_null() {
            tile.col_bias = base.col_bias.wrapping_add(j);
        }
        for (i, rows) in tiles(m, functions.len()) {
            tile.a = base.a.wrapping_offset(i as isize * base.rsa);
            tile.c = base.c.wrapping_offset(i as isize * base.rsc).wrapping_add(j);
            if !base.row_bias.is_null() {
                tile.row_bias = base.row_bias.wrapping_add(i);
            }
            // SAFETY: the tile lies in the block that the caller vouches for.
            unsafe {
                functions[rows - 1](&tile);
                if tile.is_unfinished() {
                    (kernels.finish)(&tile, rows);
                }
            }
        }
        j += width;
    }
}

/// Functions and columns of the next strip: four vectors for few rows, to have enough sums in flight.
fn strip<T>(
    lanes: usize,
    table: &Table<T>,
    m: usize,
    left: usize,
) -> (&'static [TileFn<T>], usize) {
    if m <= table.four.len() && left > 2 * lanes {
        (table.four, 4 * lanes)
    } else if left > lanes || table.one.is_empty() {
        (table.two, 2 * lanes)
    } else {
        (table.one, lanes)
    }
}

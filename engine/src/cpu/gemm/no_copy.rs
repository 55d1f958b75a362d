//! `no-copy`: tiles over the operands as they lie in memory. Best while B is small or its rows are close together.

use super::block::block;
use super::{GemmAlgo, GemmProblem, Operands};
use crate::cpu::element::Element;
use crate::cpu::pool;
use crate::cpu::simd::Tile;

pub(super) static ALGO: GemmAlgo = GemmAlgo {
    name: "no-copy",
    naive: false,
    reproducible: true,
    usable: |p| p.csb == 1,
    workspace: |_| 0,
    packs: [false, false],
    f32: run::<f32>,
    f64: run::<f64>,
};

/// Steps of k after which the next tile gets its turn, so that a strip of B stays in the cache.
const KC: usize = 512;
/// Most work of one chunk.
const CHUNK_FLOPS: usize = 200_000_000;

unsafe fn run<T: Element>(p: &GemmProblem, o: &Operands<'_, T>) {
    let kernels = T::kernels(p.isa);
    let strips = p.n.div_ceil(kernels.width());
    let tiles = p.m.div_ceil(kernels.max_rows());
    // Chunks end soon enough for who wants to stop them.
    let wanted = (p.flops() / CHUNK_FLOPS).max(if p.is_parallel() { 4 * p.threads } else { 1 });
    // Rows are cut only as far as there are too few columns: each cut reads B once more.
    let across = strips.min(wanted);
    let down = (wanted / across).clamp(1, tiles);
    pool::for_each_chunk_if(p.is_parallel(), across * down, &|chunk| {
        let (i, j) = (chunk / across, chunk % across);
        let rows = (p.m * i / down, p.m * (i + 1) / down);
        let cols = (strips * j / across, strips * (j + 1) / across);
        let cols = (cols.0 * kernels.width(), (cols.1 * kernels.width()).min(p.n));
        // SAFETY: the operands fit the problem; the parts do not overlap.
        unsafe { part(p, o, rows, cols) };
    });
}

/// # Safety
/// The operands must fit the problem, and `rows` and `cols` (begin and end) must lie in it.
unsafe fn part<T: Element>(
    p: &GemmProblem,
    o: &Operands<'_, T>,
    rows: (usize, usize),
    cols: (usize, usize),
) {
    let kernels = T::kernels(p.isa);
    let m = rows.1 - rows.0;
    // By the size of the problem, not of the part: sums do not depend on the number of threads.
    let step = if p.m > kernels.max_rows() { KC } else { p.k.max(1) };
    let mut k = 0;
    loop {
        let left = p.k - k;
        let is_last = left <= step;
        // SAFETY: the tile begins inside the operands.
        unsafe {
            let tile = Tile {
                k: left.min(step),
                a: o.a.wrapping_add(rows.0 * p.rsa + k * p.csa),
                rsa: p.rsa as isize,
                csa: p.csa as isize,
                b: o.b.wrapping_add(k * p.rsb + cols.0),
                rsb: p.rsb as isize,
                offsets: std::ptr::null(),
                c: o.c.wrapping_add(rows.0 * p.rsc + cols.0),
                rsc: p.rsc as isize,
                cols: 0,
                accumulate: p.accumulate || k > 0,
                ..o.epilogue(rows.0, cols.0, is_last)
            };
            block(kernels, &kernels.strided, m, cols.1 - cols.0, &tile);
        }
        if is_last {
            // SAFETY: the part is done, and of this thread alone.
            return unsafe { o.done(p, rows.0..rows.1, cols.0..cols.1) };
        }
        k += step;
    }
}

impl<T> Operands<'_, T> {
    /// A tile with nothing but the epilogue of the element at (`i`, `j`), empty unless `is_last`.
    pub(super) fn epilogue(&self, i: usize, j: usize, is_last: bool) -> Tile<T> {
        let null = std::ptr::null();
        let at = |bias: *const T, index: usize| {
            if bias.is_null() || !is_last { null } else { bias.wrapping_add(index) }
        };
        Tile {
            k: 0,
            a: null,
            rsa: 0,
            csa: 0,
            b: null,
            rsb: 0,
            offsets: std::ptr::null(),
            c: std::ptr::null_mut(),
            rsc: 0,
            cols: 0,
            accumulate: false,
            col_bias: at(self.col_bias, j),
            row_bias: at(self.row_bias, i),
        }
    }
}

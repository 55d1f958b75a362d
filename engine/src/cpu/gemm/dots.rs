//! `dots`: each element as the dot of a row of A and a column of B, for a B that lies transposed, as a layer's weight does.
//!
//! Nothing is copied, so that few rows of A do not pay for the packing of all of B.

use super::{GemmAlgo, GemmProblem, Operands};
use crate::cpu::element::Element;
use crate::cpu::pool;
use crate::cpu::simd::Dots;

pub(super) static ALGO: GemmAlgo = GemmAlgo {
    name: "dots",
    naive: false,
    reproducible: true,
    usable: |p| p.csa == 1 && p.rsb == 1,
    workspace: |_| 0,
    packs: [false, false],
    f32: run::<f32>,
    f64: run::<f64>,
};

/// Most work of one chunk, which ends soon enough for who wants to stop it.
const CHUNK_FLOPS: usize = 50_000_000;

unsafe fn run<T: Element>(p: &GemmProblem, o: &Operands<'_, T>) {
    let wanted = (p.flops() / CHUNK_FLOPS).max(if p.is_parallel() { 4 * p.threads } else { 1 });
    // Blocks of columns begin at multiples of four whatever their number, so that sums do not depend on it.
    let step = p.n.div_ceil(wanted).next_multiple_of(16);
    pool::for_each_chunk_if(p.is_parallel(), p.n.div_ceil(step), &|chunk| {
        let j = chunk * step;
        // SAFETY: the operands fit the problem; chunks write disjoint columns.
        unsafe { columns(p, o, j, step.min(p.n - j)) };
    });
}

/// # Safety
/// The operands must fit the problem, and columns `j` to `j + n` must lie in it.
unsafe fn columns<T: Element>(p: &GemmProblem, o: &Operands<'_, T>, j: usize, n: usize) {
    let kernels = T::kernels(p.isa);
    let dots = Dots {
        m: p.m,
        n,
        k: p.k,
        x: o.a,
        rsx: p.rsa as isize,
        b: o.b.wrapping_add(j * p.csb),
        csb: p.csb as isize,
        y: o.c.wrapping_add(j),
        rsy: p.rsc as isize,
        incy: 1,
        accumulate: p.accumulate,
    };
    let mut tile = o.epilogue(0, j, true);
    (tile.c, tile.rsc, tile.cols) = (dots.y, dots.rsy, n);
    // SAFETY: the columns lie in the problem.
    unsafe {
        (kernels.dots)(&dots);
        if tile.is_unfinished() {
            (kernels.finish)(&tile, p.m);
        }
        o.done(p, 0..p.m, j..j + n);
    }
}

//! `packed` and `packed-b`: panels are first copied into the order in which tiles read them.
//!
//! B is cut into strips of two vectors, A into tiles of balanced height. `packed-b` reads A where it lies, which is
//! better while its rows are near each other.

use std::ops::Range;

use super::block::tiles;
use super::{GemmAlgo, GemmProblem, Operands, no_copy};
use crate::cpu::element::Element;
use crate::cpu::interrupt;
use crate::cpu::pool::{self, Shared};
use crate::cpu::scratch;
use crate::cpu::simd::{Kernels, Panel, Tile};

pub(super) static ALGO: GemmAlgo = GemmAlgo {
    name: "packed",
    naive: false,
    reproducible: true,
    usable: |_| true,
    workspace: |p| {
        let (mc, nc, kc) = blocks(p);
        (mc + nc) * kc * p.kind.size()
    },
    packs: [true, true],
    f32: run::<f32, true>,
    f64: run::<f64, true>,
};

pub(super) static B_ONLY: GemmAlgo = GemmAlgo {
    name: "packed-b",
    naive: false,
    reproducible: true,
    usable: |_| true,
    workspace: |p| blocks(p).1 * blocks(p).2 * p.kind.size(),
    packs: [false, true],
    f32: run::<f32, false>,
    f64: run::<f64, false>,
};

/// Bytes of a strip of B, one element wide. Each block of k reads and writes C once more, which costs more than a strip that
/// comes from the second cache; so k is cut only when it is long.
const KC_BYTES: usize = 2048;
const WHOLE_K_BYTES: usize = 4096;
/// Rows that are packed at once: with k in one block they take a third of a second cache of 2 MiB.
const MC: usize = 168;
const NC: usize = 2048;
/// Rows of B that are packed at a time.
const PACK_ROWS: usize = 8;
/// Columns that one chunk of work covers at most.
const CHUNK_COLS: usize = 512;

/// Rows, columns (in whole strips) and steps of the panels that are packed at once.
fn blocks(p: &GemmProblem) -> (usize, usize, usize) {
    let even = |total: usize, max: usize| total.div_ceil(total.div_ceil(max).max(1)).max(1);
    let size = p.kind.size();
    let kc = if p.k <= WHOLE_K_BYTES / size { p.k.max(1) } else { even(p.k, KC_BYTES / size) };
    (p.m.min(MC), p.n.min(NC).next_multiple_of(64), kc)
}

unsafe fn run<T: Element, const PACK_A: bool>(p: &GemmProblem, o: &Operands<'_, T>) {
    let (mc, nc, kc) = blocks(p);
    let kept = o.kept.map(|it| !it.is_null());
    let len_a = if PACK_A && !kept[0] { mc * kc } else { 0 };
    let len_b = if kept[1] { 0 } else { nc * kc };
    let done = scratch::with(len_b, |b: *mut T| {
        scratch::with(len_a, |a: *mut T| {
            let panels = Panels {
                a: Shared(if kept[0] { o.kept[0].cast_mut() } else { a }),
                b: Shared(if kept[1] { o.kept[1].cast_mut() } else { b }),
                whole: kept,
                kernels: T::kernels(p.isa),
            };
            // SAFETY: the operands fit the problem, the panels fit its blocks or are all that there are, which are only read.
            unsafe { panels.multiply::<PACK_A>(p, o) };
        })
    });
    if done.flatten().is_none() {
        let fallback = if p.csb == 1 { &no_copy::ALGO } else { &super::naive::ALGO };
        // SAFETY: as above; this needs no memory.
        unsafe { T::gemm_run(fallback)(p, o) };
    }
}

/// Elements of all panels of A and of B.
pub(super) fn panel_lens<T: Element>(p: &GemmProblem) -> [usize; 2] {
    let columns = p.n.next_multiple_of(T::kernels(p.isa).width());
    [p.m.saturating_mul(p.k), columns.saturating_mul(p.k)]
}

/// Writes all panels of one operand (0 is A, 1 is B) for runs of this problem, however many columns (rows) it has.
///
/// # Safety
/// The operand fits the problem, and `to` has the elements of its panels.
pub(super) unsafe fn pack_all<T: Element>(
    p: &GemmProblem,
    side: usize,
    operand: *const T,
    to: *mut T,
) {
    let (mc, nc, kc) = blocks(p);
    let to = Shared(to);
    let panels = Panels { a: to, b: to, whole: [true, true], kernels: T::kernels(p.isa) };
    let (size, step) = if side == 0 { (p.m, mc) } else { (p.n, nc) };
    for at in (0..size).step_by(step) {
        for x in (0..p.k).step_by(kc) {
            let (len, k) = (step.min(size - at), kc.min(p.k - x));
            let none = Part { i: 0, m: 0, j: 0, n: 0, x, k };
            // SAFETY: as promised by the caller.
            unsafe {
                match side {
                    0 => panels.pack(
                        p,
                        operand,
                        operand,
                        Part { i: at, m: len, ..none },
                        [true, false],
                    ),
                    _ => panels.pack(
                        p,
                        operand,
                        operand,
                        Part { j: at, n: len, ..none },
                        [false, true],
                    ),
                }
            }
        }
    }
}

struct Panels<T: 'static> {
    a: Shared<T>,
    b: Shared<T>,
    /// Whether panels of all of A, and of all of B, are there, one block behind the other; else those of one block.
    whole: [bool; 2],
    kernels: &'static Kernels<T>,
}

/// A range of rows, columns and steps of the problem.
#[derive(Clone, Copy)]
struct Part {
    i: usize,
    m: usize,
    j: usize,
    n: usize,
    x: usize,
    k: usize,
}

impl Part {
    /// Whether it is the last of the steps.
    fn is_last(&self, p: &GemmProblem) -> bool {
        self.x + self.k >= p.k
    }
}

impl<T: Element> Panels<T> {
    unsafe fn multiply<const PACK_A: bool>(&self, p: &GemmProblem, o: &Operands<'_, T>) {
        let (mc, nc, kc) = blocks(p);
        for j in (0..p.n).step_by(nc) {
            for x in (0..p.k.max(1)).step_by(kc) {
                for i in (0..p.m).step_by(mc) {
                    let (m, n) = (mc.min(p.m - i), nc.min(p.n - j));
                    let part = Part { i, m, j, n, x, k: kc.min(p.k - x) };
                    // SAFETY: the part lies in the problem; its panels are packed before they are read.
                    unsafe {
                        if interrupt::ends_here() {
                            return;
                        }
                        let wanted = [PACK_A && !self.whole[0], i == 0 && !self.whole[1]];
                        self.pack(p, o.a, o.b, part, wanted);
                        self.compute::<PACK_A>(p, o, part);
                    }
                }
            }
        }
    }

    /// Where the panels of this part of A begin.
    fn a_of(&self, p: &GemmProblem, part: Part) -> *mut T {
        let before = if self.whole[0] { part.i * p.k + part.x * part.m } else { 0 };
        self.a.get().wrapping_add(before)
    }

    /// Where the strips of this part of B begin.
    fn b_of(&self, p: &GemmProblem, part: Part) -> *mut T {
        let columns = part.n.next_multiple_of(self.kernels.width());
        let before = if self.whole[1] { part.j * p.k + part.x * columns } else { 0 };
        self.b.get().wrapping_add(before)
    }

    /// Packs this part of A, of B, or of both.
    unsafe fn pack(
        &self,
        p: &GemmProblem,
        a: *const T,
        b: *const T,
        part: Part,
        [with_a, with_b]: [bool; 2],
    ) {
        if !with_a && !with_b {
            return;
        }
        #[cfg(test)]
        super::PACKED.set(super::PACKED.get() + usize::from(with_a) + usize::from(with_b));
        let rows = if with_a { part.m } else { 0 };
        let strips = if with_b { part.n.div_ceil(self.kernels.width()) } else { 0 };
        let max_rows = self.kernels.max_rows();
        let n_tiles = rows.div_ceil(max_rows);
        // One chunk is about this many elements; packing less is not worth sharing.
        let per_chunk = (16384 / (part.k * self.kernels.width()).max(1)).max(1);
        // Rows that lie in one piece are read in one piece, a few at a time, across all strips.
        let by_rows = p.csb == 1;
        let chunks_b = match by_rows {
            true if strips > 0 => part.k.div_ceil(PACK_ROWS),
            _ => strips.div_ceil(per_chunk),
        };
        let chunks_a = n_tiles.div_ceil(2 * per_chunk);
        let (a, b) = (Shared(a.cast_mut()), Shared(b.cast_mut()));
        let work = |chunk: usize| {
            // SAFETY: chunks write disjoint strips and tiles.
            unsafe {
                if chunk < chunks_b && by_rows {
                    let begin = chunk * PACK_ROWS;
                    let steps = begin..(begin + PACK_ROWS).min(part.k);
                    (0..strips).for_each(|it| self.pack_strip(p, b.get(), part, it, steps.clone()));
                } else if chunk < chunks_b {
                    let begin = chunk * per_chunk;
                    for strip in begin..(begin + per_chunk).min(strips) {
                        self.pack_strip(p, b.get(), part, strip, 0..part.k);
                    }
                } else {
                    let begin = (chunk - chunks_b) * 2 * per_chunk;
                    for tile in tiles(rows, max_rows).skip(begin).take(2 * per_chunk) {
                        self.pack_tile(p, a.get(), part, tile);
                    }
                }
            }
        };
        pool::for_each_chunk_if(p.is_parallel(), chunks_a + chunks_b, &work);
    }

    /// Packs some steps of one strip of B.
    unsafe fn pack_strip(
        &self,
        p: &GemmProblem,
        b: *const T,
        part: Part,
        strip: usize,
        steps: Range<usize>,
    ) {
        let width = self.kernels.width();
        let j = strip * width;
        let cols = width.min(part.n - j);
        let panel = Panel {
            src: b.wrapping_add((part.x + steps.start) * p.rsb + (part.j + j) * p.csb),
            lane_stride: p.csb as isize,
            k_stride: p.rsb as isize,
            lanes: cols,
            width,
            pitch: width,
            k: steps.len(),
            dst: self.b_of(p, part).wrapping_add(j * part.k + steps.start * width),
        };
        // SAFETY: the strip lies in B and in the panel.
        unsafe { (self.kernels.pack)(&panel) };
    }

    unsafe fn pack_tile(
        &self,
        p: &GemmProblem,
        a: *const T,
        part: Part,
        (i, rows): (usize, usize),
    ) {
        let panel = Panel {
            src: a.wrapping_add((part.i + i) * p.rsa + part.x * p.csa),
            lane_stride: p.rsa as isize,
            k_stride: p.csa as isize,
            lanes: rows,
            width: rows,
            pitch: rows,
            k: part.k,
            dst: self.a_of(p, part).wrapping_add(i * part.k),
        };
        // SAFETY: the tile lies in A and in the panel.
        unsafe { (self.kernels.pack)(&panel) };
    }

    unsafe fn compute<const PACK_A: bool>(&self, p: &GemmProblem, o: &Operands<'_, T>, part: Part) {
        let width = self.kernels.width();
        let max_rows = self.kernels.max_rows();
        let (n_tiles, strips) = (part.m.div_ceil(max_rows), part.n.div_ceil(width));
        let parallel = p.is_parallel();
        let wanted = if parallel { 4 * p.threads } else { 1 };
        // Columns are shared out before rows: whoever has a strip of B uses it for as many rows as there are.
        let cols = split(strips, CHUNK_COLS / width, wanted);
        let rows = split(n_tiles, MC.div_ceil(max_rows), wanted.div_ceil(strips.div_ceil(cols)));
        let down = n_tiles.div_ceil(rows);
        pool::for_each_chunk_if(parallel, down * strips.div_ceil(cols), &|chunk| {
            let (i, j) = (chunk % down * rows, chunk / down * cols);
            let mut done = part.i + part.m..part.i;
            for strip in j..(j + cols).min(strips) {
                for tile in tiles(part.m, max_rows).skip(i).take(rows) {
                    done = done.start.min(part.i + tile.0)..done.end.max(part.i + tile.0 + tile.1);
                    // SAFETY: chunks write disjoint tiles of C.
                    unsafe { self.tile::<PACK_A>(p, o, part, strip, tile) };
                }
            }
            if part.is_last(p) {
                let right = part.n.min((j + cols) * width);
                // SAFETY: the chunk has written its tiles for the last time.
                unsafe { o.done(p, done, part.j + j * width..part.j + right) };
            }
        });
    }

    unsafe fn tile<const PACK_A: bool>(
        &self,
        p: &GemmProblem,
        o: &Operands<'_, T>,
        part: Part,
        strip: usize,
        (i, rows): (usize, usize),
    ) {
        let j = strip * self.kernels.width();
        let cols = self.kernels.width().min(part.n - j);
        let is_last = part.is_last(p);
        let (row, col) = (part.i + i, part.j + j);
        let tile = Tile {
            k: part.k,
            a: if PACK_A {
                self.a_of(p, part).wrapping_add(i * part.k)
            } else {
                o.a.wrapping_add(row * p.rsa + part.x * p.csa)
            },
            rsa: p.rsa as isize,
            csa: p.csa as isize,
            b: self.b_of(p, part).wrapping_add(j * part.k),
            rsb: self.kernels.width() as isize,
            c: o.c.wrapping_add(row * p.rsc + col),
            rsc: p.rsc as isize,
            cols,
            accumulate: p.accumulate || part.x > 0,
            ..o.epilogue(row, col, is_last)
        };
        let strided = &self.kernels.strided;
        let functions = match PACK_A {
            true => self.kernels.packed,
            false if cols > self.kernels.lanes => strided.two,
            false => strided.one,
        };
        // SAFETY: the tile lies in the packed panels and in C.
        unsafe {
            functions[rows - 1](&tile);
            if tile.is_unfinished() {
                (self.kernels.finish)(&tile, rows);
            }
        }
    }
}

/// Items per group: at most `max`, and few enough that there are about `wanted` groups.
fn split(items: usize, max: usize, wanted: usize) -> usize {
    (items / wanted.max(1)).clamp(1, max.max(1))
}

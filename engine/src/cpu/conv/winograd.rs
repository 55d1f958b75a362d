//! `winograd`: minimal filtering F(4x4, 3x3) for 3 x 3 kernels of stride 1: a quarter of the multiplications, with
//! rounding errors a few times those of the plain sum. The transforms are in `simd/winograd.rs`.
//!
//! Tiles are handled in blocks of whole rows of tiles. For each of the 36 elements of a transformed tile, a block is one
//! matrix product over the channels.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{Code, ConvAlgo, ConvPass, ConvProblem, Done, Epilogue, Rhs};
use crate::cpu::element::Element;
use crate::cpu::gemm::block;
use crate::cpu::pool::Shared;
use crate::cpu::scratch;
use crate::cpu::simd::{Kernels, Panel, Tile, Tiles};

pub(super) static ALGO: ConvAlgo = ConvAlgo {
    name: "winograd",
    naive: false,
    reproducible: true,
    accurate: false,
    usable,
    workspace: |p, kept| {
        let tiles = Plan::new(p, 16).tiles * (p.in_channels + p.out_channels);
        let weights = if kept { 0 } else { p.in_channels * p.out_channels };
        (tiles + weights) * 36 * p.kind.size()
    },
    keeps: |p| p.in_channels.saturating_mul(p.out_channels).saturating_mul(36),
    f32: Code { run: run::<f32>, keep: keep::<f32> },
    f64: Code { run: run::<f64>, keep: keep::<f64> },
};

fn usable(p: &ConvProblem) -> bool {
    let is_small_kernel = p.kernel == [3, 3] && p.dilation == [1, 1] && p.stride == [1, 1];
    let has_pass = match p.pass {
        ConvPass::Forward => true,
        ConvPass::InputGrad => p.as_input_grad().is_some(),
        ConvPass::WeightGrad => false,
    };
    is_small_kernel && has_pass && p.groups == 1 && !p.is_empty()
}

/// # Safety
/// The slices have the lengths of the problem, and the processor its instructions.
unsafe fn run<T: Element>(
    p: &ConvProblem,
    lhs: &[T],
    w: &Rhs<'_, T>,
    out: &mut [T],
    _: &Epilogue<'_, T>,
) -> Done {
    match p.pass {
        ConvPass::Forward => Done::sums(convolve(p, lhs, w, false, out)),
        ConvPass::InputGrad => {
            let forward = p.as_input_grad();
            Done::sums(forward.is_some_and(|it| convolve(&it, lhs, w, true, out)))
        }
        ConvPass::WeightGrad => Done::Nothing,
    }
}

/// Transforms all weights.
///
/// # Safety
/// The slices have the lengths of the problem and of [`ALGO`].
unsafe fn keep<T: Element>(p: &ConvProblem, w: &[T], weights: &mut [T]) -> bool {
    let weights = Shared(weights.as_mut_ptr());
    match p.pass {
        ConvPass::Forward => transform_weights(p, w, weights, false),
        ConvPass::InputGrad => {
            p.as_input_grad().is_some_and(|it| transform_weights(&it, w, weights, true))
        }
        ConvPass::WeightGrad => false,
    }
}

/// The forward pass; with `turned`, `w` has its channels exchanged and its taps in reverse order.
fn convolve<T: Element>(
    p: &ConvProblem,
    x: &[T],
    w: &Rhs<'_, T>,
    turned: bool,
    y: &mut [T],
) -> bool {
    if let Some(weights) = w.kept {
        return convolve_transformed(p, x, Shared(weights.as_ptr().cast_mut()), y);
    }
    let done = scratch::with(36 * p.in_channels * p.out_channels, |weights: *mut T| {
        let weights = Shared(weights);
        transform_weights(p, w.plain, weights, turned) && convolve_transformed(p, x, weights, y)
    });
    done == Some(true)
}

/// The forward pass with weights that are transformed, and only read.
fn convolve_transformed<T: Element>(
    p: &ConvProblem,
    x: &[T],
    weights: Shared<T>,
    y: &mut [T],
) -> bool {
    let kernels = T::kernels(p.isa);
    let plan = Plan::new(p, kernels.lanes);
    let failed = AtomicBool::new(false);
    let cx = Convolution { p, x, y: Shared(y.as_mut_ptr()), weights, kernels, plan: &plan };
    let one = |block: usize| {
        failed.fetch_or(!cx.block(block), Ordering::Relaxed);
    };
    // With few blocks, the work inside each is shared; else those calls run inline.
    if plan.blocks() >= 2 * p.threads {
        p.for_each(plan.blocks(), &one);
    } else {
        (0..plan.blocks()).for_each(one);
    }
    !failed.into_inner()
}

/// Transforms the kernels of all channels into `weights[36][out_channels][in_channels]`; false without scratch memory.
fn transform_weights<T: Element>(
    p: &ConvProblem,
    w: &[T],
    weights: Shared<T>,
    turned: bool,
) -> bool {
    #[cfg(test)]
    crate::cpu::gemm::PACKED.set(crate::cpu::gemm::PACKED.get() + 1);
    let failed = AtomicBool::new(false);
    p.for_each(p.out_channels.div_ceil(8), &|chunk| {
        let ks = chunk * 8..(chunk * 8 + 8).min(p.out_channels);
        // SAFETY: chunks write the weights of different output channels.
        let done = ks.map(|k| unsafe { transform_weight(p, w, weights, k, turned) });
        failed.fetch_or(done.fold(false, |failed, done| failed | !done), Ordering::Relaxed);
    });
    !failed.into_inner()
}

/// # Safety
/// `w` has the length of the problem, and no other thread writes the weights of output channel `k`.
unsafe fn transform_weight<T: Element>(
    p: &ConvProblem,
    w: &[T],
    weights: Shared<T>,
    k: usize,
    turned: bool,
) -> bool {
    let (ins, outs, kernels) = (p.in_channels, p.out_channels, T::kernels(p.isa));
    let done = scratch::with(9 * ins, |lines: *mut T| {
        let (first, stride) = if turned { (k * 9, outs * 9) } else { (k * ins * 9, 9) };
        let panel = Panel {
            src: w[first..].as_ptr(),
            lane_stride: stride as isize,
            k_stride: 1,
            lanes: ins,
            width: ins,
            k: 9,
            dst: lines,
        };
        let tiles = Tiles {
            count: ins,
            lines,
            line_stride: ins,
            inner: weights.get().wrapping_add(k * ins),
            inner_stride: ins * outs,
            reversed: turned,
        };
        // SAFETY: the kernels of one output channel lie in `w`, their transforms in `weights`.
        unsafe {
            (kernels.pack)(&panel);
            (kernels.winograd_weight)(&tiles);
        }
    });
    done.is_some()
}

/// How the output is cut into tiles and blocks.
struct Plan {
    /// Tiles per row, rows of tiles per image, rows in all images.
    width: usize,
    height: usize,
    rows: usize,
    /// Rows and tiles of a block.
    block_rows: usize,
    tiles: usize,
    /// Elements of a line of the transforms.
    line: usize,
}

/// Bytes of transformed input and output that a block may take.
const BLOCK_BYTES: usize = 768 << 10;

impl Plan {
    fn new(p: &ConvProblem, lanes: usize) -> Plan {
        let [height, width] = p.output().map(|size| size.div_ceil(4));
        let rows = height * p.batch;
        let per_tile = 36 * (p.in_channels + p.out_channels) * p.kind.size();
        let most = (BLOCK_BYTES / per_tile).clamp(2 * lanes, 8 * lanes);
        let waste = |rows: usize| {
            let tiles = rows * width;
            tiles.next_multiple_of(lanes) * 1000 / tiles
        };
        // The rows that fill vectors best; of equals, the most.
        let max_rows = (most / width).clamp(1, rows);
        let block_rows = (1..=max_rows).rev().min_by_key(|&rows| waste(rows)).unwrap_or(1);
        let tiles = block_rows * width;
        Plan { width, height, rows, block_rows, tiles, line: width.next_multiple_of(lanes) + lanes }
    }

    fn blocks(&self) -> usize {
        self.rows.div_ceil(self.block_rows)
    }
}

struct Convolution<'a, T: 'static> {
    p: &'a ConvProblem,
    x: &'a [T],
    y: Shared<T>,
    /// `[36][out_channels][in_channels]`
    weights: Shared<T>,
    kernels: &'static Kernels<T>,
    plan: &'a Plan,
}

impl<T: Element> Convolution<'_, T> {
    /// Computes one block of rows of tiles; false without scratch memory.
    fn block(&self, index: usize) -> bool {
        let (p, plan) = (self.p, self.plan);
        let first = index * plan.block_rows;
        let rows = plan.block_rows.min(plan.rows - first);
        let (ins, outs) = (p.in_channels, p.out_channels);
        let failed = AtomicBool::new(false);
        let each = |count: usize, f: &(dyn Fn(usize) -> bool + Sync)| {
            p.for_each(count, &|i| {
                failed.fetch_or(!f(i), Ordering::Relaxed);
            });
        };
        let done = scratch::with(36 * ins * plan.tiles, |v: *mut T| {
            scratch::with(36 * outs * plan.tiles, |m: *mut T| {
                let (v, m) = (Shared(v), Shared(m));
                // SAFETY: each call writes its own channel, or its own of the 36 products.
                unsafe {
                    each(ins, &|c| self.transform_input(first, rows, c, v.get()));
                    each(36, &|element| self.product(element, rows, v.get(), m.get()));
                    each(outs, &|k| self.transform_output(first, rows, k, m.get()));
                }
            })
        });
        done.flatten().is_some() && !failed.into_inner()
    }

    /// # Safety
    /// No other thread writes channel `c` of `v`.
    unsafe fn transform_input(&self, first: usize, rows: usize, c: usize, v: *mut T) -> bool {
        let (p, plan) = (self.p, self.plan);
        let done = scratch::with(24 * plan.line, |lines: *mut T| {
            for row in 0..rows {
                let (n, ty) = ((first + row) / plan.height, (first + row) % plan.height);
                let plane = &self.x[(n * p.in_channels + c) * p.in_area()..][..p.in_area()];
                // SAFETY: the scratch memory holds 24 lines.
                let filled = unsafe { std::slice::from_raw_parts_mut(lines, 24 * plan.line) };
                for (i, phases) in filled.chunks_exact_mut(4 * plan.line).enumerate() {
                    let source = (ty * 4 + i).checked_sub(p.padding[0]);
                    let source = source.filter(|&iy| iy < p.input[0]);
                    let x = source.map(|iy| &plane[iy * p.input[1]..][..p.input[1]]);
                    split_phases(x.unwrap_or(&[]), p.padding[1], plan.line, phases);
                }
                let tiles = Tiles {
                    count: plan.width,
                    lines,
                    line_stride: plan.line,
                    inner: v.wrapping_add(c * plan.tiles + row * plan.width),
                    inner_stride: p.in_channels * plan.tiles,
                    reversed: false,
                };
                // SAFETY: lines are longer by one vector than the tiles; channel `c` of `v` is ours.
                unsafe { (self.kernels.winograd_input)(&tiles) };
            }
        });
        done.is_some()
    }

    /// # Safety
    /// No other thread writes product `element` of `m`.
    unsafe fn product(&self, element: usize, rows: usize, v: *const T, m: *mut T) -> bool {
        let (ins, outs, tiles) = (self.p.in_channels, self.p.out_channels, self.plan.tiles);
        let tile = Tile {
            k: ins,
            a: self.weights.get().wrapping_add(element * ins * outs),
            rsa: ins as isize,
            csa: 1,
            b: v.wrapping_add(element * ins * tiles),
            rsb: tiles as isize,
            offsets: std::ptr::null(),
            c: m.wrapping_add(element * outs * tiles),
            rsc: tiles as isize,
            cols: 0,
            accumulate: false,
            col_bias: std::ptr::null(),
            row_bias: std::ptr::null(),
        };
        // SAFETY: the operands are parts of the scratch memory and of the weights.
        unsafe {
            let kernels = self.kernels;
            block(kernels, &kernels.strided, outs, rows * self.plan.width, &tile);
        }
        true
    }

    /// # Safety
    /// No other thread writes output channel `k` of these rows.
    unsafe fn transform_output(&self, first: usize, rows: usize, k: usize, m: *mut T) -> bool {
        let (p, plan) = (self.p, self.plan);
        let [height, width] = p.output();
        let done = scratch::with(16 * plan.line, |lines: *mut T| {
            for row in 0..rows {
                let (n, ty) = ((first + row) / plan.height, (first + row) % plan.height);
                let tiles = Tiles {
                    count: plan.width,
                    lines,
                    line_stride: plan.line,
                    inner: m.wrapping_add(k * plan.tiles + row * plan.width),
                    inner_stride: p.out_channels * plan.tiles,
                    reversed: false,
                };
                let plane = (n * p.out_channels + k) * height * width;
                for i in 0..4.min(height - ty * 4) {
                    let y = self.y.get().wrapping_add(plane + (ty * 4 + i) * width);
                    // SAFETY: the lines hold 16 lines; the rows of `y` are ours.
                    unsafe {
                        if i == 0 {
                            (self.kernels.winograd_output)(&tiles);
                        }
                        let phases = lines.add(i * 4 * plan.line);
                        let phases = std::slice::from_raw_parts(phases, 4 * plan.line);
                        let y = std::slice::from_raw_parts_mut(y, width);
                        join_phases(phases, plan.line, y);
                    }
                }
            }
        });
        done.is_some()
    }
}

/// `phases[q][t] = x[4 * t + q - padding]`, 0 outside `x`.
fn split_phases<T: Element>(x: &[T], padding: usize, line: usize, phases: &mut [T]) {
    phases.fill(T::ZERO);
    let (p0, rest) = phases.split_at_mut(line);
    let (p1, rest) = rest.split_at_mut(line);
    let (p2, p3) = rest.split_at_mut(line);
    // Columns before the first whole group of four, then whole groups, then the rest.
    let head = ((4 - padding % 4) % 4).min(x.len());
    let group = (padding + head) / 4;
    for (i, &value) in x[..head].iter().enumerate() {
        let at = padding + i;
        [&mut *p0, &mut *p1, &mut *p2, &mut *p3][at % 4][at / 4] = value;
    }
    let (groups, tail) = x[head..].as_chunks::<4>();
    let count = groups.len().min(line.saturating_sub(group));
    for (i, &[a, b, c, d]) in groups[..count].iter().enumerate() {
        let at = group + i;
        (p0[at], p1[at], p2[at], p3[at]) = (a, b, c, d);
    }
    for (q, &value) in tail.iter().enumerate() {
        if let Some(slot) =
            [&mut *p0, &mut *p1, &mut *p2, &mut *p3][q].get_mut(group + groups.len())
        {
            *slot = value;
        }
    }
}

/// `y[4 * t + q] = phases[q][t]`
fn join_phases<T: Element>(phases: &[T], line: usize, y: &mut [T]) {
    let (p0, rest) = phases.split_at(line);
    let (p1, rest) = rest.split_at(line);
    let (p2, p3) = rest.split_at(line);
    let width = y.len();
    let (groups, tail) = y.as_chunks_mut::<4>();
    for (t, group) in groups.iter_mut().enumerate() {
        *group = [p0[t], p1[t], p2[t], p3[t]];
    }
    for (q, y) in tail.iter_mut().enumerate() {
        *y = [p0, p1, p2, p3][q][width / 4];
    }
}

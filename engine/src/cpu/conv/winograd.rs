//! `winograd`: minimal filtering F(4x4, 3x3) for 3 x 3 kernels of stride 1: a quarter of the multiplications, with
//! rounding errors a few times those of the plain sum. The transforms are in `simd/winograd.rs`.
//!
//! Tiles are handled in blocks of whole rows of tiles. For each of the 36 elements of a transformed tile, a block is one
//! matrix product over the channels: tiles times weights. Transforms take the channels of a pixel side by side, so pixels are turned
//! into that order, and back, a few channels at a time.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Code, ConvAlgo, ConvPass, ConvProblem, Done, Epilogue, Rhs};
use crate::cpu::element::Element;
use crate::cpu::gemm::block;
use crate::cpu::pool::Shared;
use crate::cpu::scratch;
use crate::cpu::simd::{Kernels, Panel, Taps, Tile, Tiles};

pub(super) static ALGO: ConvAlgo = ConvAlgo {
    name: "winograd",
    naive: false,
    reproducible: true,
    accurate: false,
    usable,
    workspace: |p| {
        let tiles = Plan::new(p).tiles * (p.in_channels + p.out_channels);
        (tiles + p.in_channels * p.out_channels) * 36 * p.kind.size()
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

/// Multiplications and additions that the time for transforming a pair of channels of the weights is worth, where these stay in the
/// cache and where they do not, and the time for a channel of a tile.
const PER_WEIGHT: [usize; 2] = [1000, 2000];
const PER_CHANNEL: usize = 700;

/// Bytes of weights that stay in the cache.
const NEAR: usize = 16 << 20;

/// Whether it is expected to take less time than the plain sum.
pub(super) fn pays(p: &ConvProblem) -> bool {
    let forward = if p.pass == ConvPass::InputGrad { p.as_input_grad() } else { Some(*p) };
    let Some(p) = forward else { return false };
    let pairs = p.in_channels.saturating_mul(p.out_channels);
    let [height, width] = p.output().map(|size| size.div_ceil(4));
    // Vectors of transforms hold channels.
    let vectors = p.in_channels.next_multiple_of(16) + p.out_channels.next_multiple_of(16);
    let is_far = pairs.saturating_mul(36 * p.kind.size()) > NEAR;
    let per_tile = pairs.saturating_mul(72).saturating_add(vectors * PER_CHANNEL);
    let of_tiles = per_tile.saturating_mul(p.batch * height * width);
    let of_weights = pairs.saturating_mul(PER_WEIGHT[usize::from(is_far)]);
    of_tiles.saturating_add(of_weights) < p.flops()
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
    let plan = Plan::new(p);
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

/// Transforms the kernels of all channels into `weights[36][strip][in_channels][out_channels of the strip]`, where strips are as
/// wide as tiles of the product; false without scratch memory.
fn transform_weights<T: Element>(
    p: &ConvProblem,
    w: &[T],
    weights: Shared<T>,
    turned: bool,
) -> bool {
    #[cfg(test)]
    crate::cpu::gemm::PACKED.set(crate::cpu::gemm::PACKED.get() + 1);
    let failed = AtomicBool::new(false);
    p.for_each(p.out_channels.div_ceil(T::kernels(p.isa).width()), &|strip| {
        // SAFETY: chunks write the weights of different output channels.
        let done = unsafe { transform_strip(p, w, weights, strip, turned) };
        failed.fetch_or(!done, Ordering::Relaxed);
    });
    !failed.into_inner()
}

/// # Safety
/// `w` has the length of the problem, and no other thread writes the weights of the strip.
unsafe fn transform_strip<T: Element>(
    p: &ConvProblem,
    w: &[T],
    weights: Shared<T>,
    strip: usize,
    turned: bool,
) -> bool {
    let (ins, outs, kernels) = (p.in_channels, p.out_channels, T::kernels(p.isa));
    let first = strip * kernels.width();
    let width = kernels.width().min(outs - first);
    // Kernels of several input channels lie one behind the other, unless they are turned.
    let most = if turned { 1 } else { 16 };
    let done = scratch::with(9 * width * most, |lines: *mut T| {
        for c in 0..ins {
            let (at, stride) =
                if turned { (c * outs + first, 9) } else { (first * ins + c, ins * 9) };
            let panel = Panel {
                src: w[at * 9..].as_ptr(),
                lane_stride: stride as isize,
                k_stride: 1,
                lanes: width,
                width,
                pitch: width,
                k: 9 * most.min(ins - c),
                dst: lines,
            };
            let taps = Taps {
                count: width,
                lines: lines.wrapping_add(c % most * 9 * width),
                line_stride: width,
                inner: weights.get().wrapping_add(first * ins + c * width),
                inner_stride: ins * outs,
                reversed: turned,
            };
            // SAFETY: the kernels of these input channels lie in `w`, their transforms in `weights`.
            unsafe {
                if c % most == 0 {
                    (kernels.pack)(&panel);
                }
                (kernels.winograd_weight)(&taps);
            }
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
}

/// Bytes of transformed input and output that a block may take.
const BLOCK_BYTES: usize = 768 << 10;

/// Tiles of a block for which it pays to read the weights again, where they do not stay near.
const LEAST_TILES: usize = 48;

impl Plan {
    fn new(p: &ConvProblem) -> Plan {
        let [height, width] = p.output().map(|size| size.div_ceil(4));
        let rows = height * p.batch;
        let per_tile = 36 * (p.in_channels + p.out_channels) * p.kind.size();
        let most = (BLOCK_BYTES / per_tile).max(LEAST_TILES);
        let block_rows = (most / width).clamp(1, rows);
        // As many blocks, of even size.
        let block_rows = rows.div_ceil(rows.div_ceil(block_rows));
        Plan { width, height, rows, block_rows, tiles: block_rows * width }
    }

    fn blocks(&self) -> usize {
        self.rows.div_ceil(self.block_rows)
    }
}

struct Convolution<'a, T: 'static> {
    p: &'a ConvProblem,
    x: &'a [T],
    y: Shared<T>,
    /// As `transform_weights` writes them.
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
                // SAFETY: each call writes its own row of tiles, or its own of the 36 products.
                unsafe {
                    each(rows, &|row| self.transform_input(first, row, v.get()));
                    each(36, &|element| self.product(element, rows, v.get(), m.get()));
                    each(rows, &|row| self.transform_output(first, row, m.get()));
                }
            })
        });
        done.flatten().is_some() && !failed.into_inner()
    }

    /// Calls `f` with as many channels of `channels` as a vector has lanes at a time.
    fn each_vector(&self, channels: usize, mut f: impl FnMut(Range<usize>)) {
        let lanes = self.kernels.lanes;
        (0..channels).step_by(lanes).for_each(|at| f(at..(at + lanes).min(channels)));
    }

    /// # Safety
    /// No other thread writes row `row` of the tiles `v[36][tiles][in_channels]`.
    unsafe fn transform_input(&self, first: usize, row: usize, v: *mut T) -> bool {
        let (p, plan, lanes) = (self.p, self.plan, self.kernels.lanes);
        let (n, ty) = ((first + row) / plan.height, (first + row) % plan.height);
        let line = (4 * plan.width + 2) * lanes;
        let done = scratch::with(6 * line, |pixels: *mut T| {
            // SAFETY: the scratch memory holds six lines.
            let filled = unsafe { std::slice::from_raw_parts_mut(pixels, 6 * line) };
            filled.fill(T::ZERO);
            self.each_vector(p.in_channels, |channels| {
                for (i, line) in filled.chunks_exact_mut(line).enumerate() {
                    let inside = (ty * 4 + i).checked_sub(p.padding[0]);
                    if let Some(iy) = inside.filter(|&iy| iy < p.input[0]) {
                        self.turn_row(n, iy, channels.clone(), line);
                    }
                }
                let tiles = Tiles {
                    count: plan.width,
                    channels: channels.len(),
                    pixels,
                    row_stride: line,
                    inner: v.wrapping_add(row * plan.width * p.in_channels + channels.start),
                    inner_stride: p.in_channels * plan.tiles,
                    tile_stride: p.in_channels,
                };
                // SAFETY: each of six lines holds the pixels of all tiles; this row of `v` is ours.
                unsafe { (self.kernels.winograd_input)(&tiles) };
            });
        });
        done.is_some()
    }

    /// Writes row `iy` of these channels of image `n` behind the padding of a line; what is behind it stays.
    fn turn_row(&self, n: usize, iy: usize, channels: Range<usize>, line: &mut [T]) {
        let (p, lanes) = (self.p, self.kernels.lanes);
        let padding = (p.padding[1] * lanes).min(line.len());
        let line = &mut line[padding..];
        let first = (n * p.in_channels + channels.start) * p.in_area() + iy * p.input[1];
        let panel = Panel {
            src: self.x[first..].as_ptr(),
            lane_stride: p.in_area() as isize,
            k_stride: 1,
            lanes: channels.len(),
            width: lanes,
            pitch: lanes,
            k: p.input[1].min(line.len() / lanes),
            dst: line.as_mut_ptr(),
        };
        // SAFETY: the rows of the channels lie in `x`, and the line has room for the pixels.
        unsafe { (self.kernels.pack)(&panel) };
    }

    /// # Safety
    /// No other thread writes product `element` of `m[36][tiles][out_channels]`.
    unsafe fn product(&self, element: usize, rows: usize, v: *const T, m: *mut T) -> bool {
        let (ins, outs, tiles) = (self.p.in_channels, self.p.out_channels, self.plan.tiles);
        let kernels = self.kernels;
        for first in (0..outs).step_by(kernels.width()) {
            let width = kernels.width().min(outs - first);
            let tile = Tile {
                k: ins,
                a: v.wrapping_add(element * ins * tiles),
                rsa: ins as isize,
                csa: 1,
                b: self.weights.get().wrapping_add((element * outs + first) * ins),
                rsb: width as isize,
                offsets: std::ptr::null(),
                c: m.wrapping_add(element * outs * tiles + first),
                rsc: outs as isize,
                cols: 0,
                accumulate: false,
                col_bias: std::ptr::null(),
                row_bias: std::ptr::null(),
            };
            // SAFETY: the operands are parts of the scratch memory and of the weights.
            unsafe { block(kernels, &kernels.strided, rows * self.plan.width, width, &tile) };
        }
        true
    }

    /// # Safety
    /// No other thread writes the rows of the output that row `row` of the tiles gives.
    unsafe fn transform_output(&self, first: usize, row: usize, m: *mut T) -> bool {
        let (p, plan, kernels) = (self.p, self.plan, self.kernels);
        let [height, width] = p.output();
        let (n, ty) = ((first + row) / plan.height, (first + row) % plan.height);
        let line = 4 * plan.width * kernels.lanes;
        let done = scratch::with(4 * line, |pixels: *mut T| {
            self.each_vector(p.out_channels, |channels| {
                let tiles = Tiles {
                    count: plan.width,
                    channels: channels.len(),
                    pixels,
                    row_stride: line,
                    inner: m.wrapping_add(row * plan.width * p.out_channels + channels.start),
                    inner_stride: p.out_channels * plan.tiles,
                    tile_stride: p.out_channels,
                };
                // SAFETY: the scratch memory holds four lines of the pixels of all tiles.
                unsafe { (kernels.winograd_output)(&tiles) };
                let plane = (n * p.out_channels + channels.start) * height * width;
                for i in 0..4.min(height - ty * 4) {
                    let panel = Panel {
                        src: pixels.wrapping_add(i * line),
                        lane_stride: kernels.lanes as isize,
                        k_stride: 1,
                        lanes: width,
                        width,
                        pitch: height * width,
                        k: channels.len(),
                        dst: self.y.get().wrapping_add(plane + (ty * 4 + i) * width),
                    };
                    // SAFETY: the row of each channel lies in `y`, and is ours.
                    unsafe { (kernels.pack)(&panel) };
                }
            });
        });
        done.is_some()
    }
}

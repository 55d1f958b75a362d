//! `im2col`: the patches of an image become the columns of a matrix, and the convolution a matrix product.
//!
//! The matrix is made for a few rows of the output at a time, so that it stays in the cache.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{Code, ConvAlgo, ConvPass, ConvProblem, Done, Epilogue, Rhs, naive, sum_transposed};
use crate::cpu::element::Element;
use crate::cpu::gemm::{self, GemmProblem, gemm_raw};
use crate::cpu::pool::Shared;
use crate::cpu::scratch;

pub(super) static ALGO: ConvAlgo = ConvAlgo {
    name: "im2col",
    naive: false,
    reproducible: true,
    accurate: true,
    usable: |_| true,
    workspace: |p| p.group_in() * p.taps() * band(p) * p.output()[1] * p.kind.size(),
    keeps: |p| match weights(p) {
        Some(gemm) if gemm::heuristic(&gemm).packs[0] => p.groups * gemm.m * gemm.k,
        _ => 0,
    },
    f32: Code { run: run::<f32>, keep: keep::<f32> },
    f64: Code { run: run::<f64>, keep: keep::<f64> },
};

/// Elements of the patch matrix that are made at once, about.
const BAND: usize = 128 << 10;

/// A 1 x 1 kernel over whole images: the image is its own patch matrix.
pub(super) fn is_plain_product(p: &ConvProblem) -> bool {
    p.kernel == [1, 1] && p.stride == [1, 1] && p.padding == [0, 0]
}

/// Rows of the output that are handled at once.
fn band(p: &ConvProblem) -> usize {
    let [height, width] = p.output();
    (BAND / (p.group_in() * p.taps() * width).max(1)).clamp(1, height.max(1))
}

/// # Safety
/// The slices have the lengths of the problem, and the processor its instructions.
unsafe fn run<T: Element>(
    p: &ConvProblem,
    lhs: &[T],
    rhs: &Rhs<'_, T>,
    out: &mut [T],
    epilogue: &Epilogue<'_, T>,
) -> Done {
    match p.pass {
        ConvPass::Forward => Done::all(forward(p, lhs, rhs, out, epilogue)),
        ConvPass::InputGrad => Done::sums(input_grad(p, lhs, rhs, out)),
        ConvPass::WeightGrad => Done::sums(weight_grad(p, lhs, rhs.plain, out)),
    }
}

fn product(p: &ConvProblem, m: usize, n: usize, k: usize) -> GemmProblem {
    let threads = if p.is_parallel() { p.threads } else { 1 };
    GemmProblem { threads, isa: p.isa, kind: p.kind, ..GemmProblem::contiguous::<f32>(m, n, k) }
}

/// The product of whole bands, whose left operand the weights of a group are; `None` for passes that make weights.
fn weights(p: &ConvProblem) -> Option<GemmProblem> {
    let (area, depth) = (p.output()[0] * p.output()[1], p.group_in() * p.taps());
    let cols = band(p) * p.output()[1];
    let plain = is_plain_product(p);
    match p.pass {
        ConvPass::Forward => Some(forward_product(p, cols, if plain { area } else { cols })),
        ConvPass::InputGrad => {
            let rsc = if plain { area } else { cols };
            Some(GemmProblem { rsb: area, rsc, ..turned_product(p, cols, depth) })
        }
        ConvPass::WeightGrad => None,
    }
}

/// Weights times patches.
fn forward_product(p: &ConvProblem, cols: usize, rsb: usize) -> GemmProblem {
    let area = p.output()[0] * p.output()[1];
    let depth = p.group_in() * p.taps();
    GemmProblem { rsb, rsc: area, ..product(p, p.group_out(), cols, depth) }
}

/// Weights, turned, times gradients.
fn turned_product(p: &ConvProblem, cols: usize, depth: usize) -> GemmProblem {
    GemmProblem { rsa: 1, csa: depth, ..product(p, depth, cols, p.group_out()) }
}

/// The weights of each group as panels of a left operand.
///
/// # Safety
/// The slices have the lengths of the problem and of [`ALGO`].
unsafe fn keep<T: Element>(p: &ConvProblem, w: &[T], out: &mut [T]) -> bool {
    let Some(gemm) = weights(p) else { return false };
    let len = gemm.m * gemm.k;
    for (w, panels) in w.chunks_exact(len).zip(out.chunks_exact_mut(len)) {
        // SAFETY: the weights of a group fit the product.
        unsafe { gemm::pack_left(&gemm, w.as_ptr(), panels.as_mut_ptr()) };
    }
    true
}

/// The weights of a group, and their panels or null.
fn of_group<T: Element>(p: &ConvProblem, w: &Rhs<'_, T>, group: usize) -> (*const T, *const T) {
    let at = group * p.group_out() * p.group_in() * p.taps();
    (w.plain[at..].as_ptr(), w.kept.map_or(std::ptr::null(), |it| it[at..].as_ptr()))
}

fn forward<T: Element>(
    p: &ConvProblem,
    x: &[T],
    w: &Rhs<'_, T>,
    y: &mut [T],
    epilogue: &Epilogue<'_, T>,
) -> bool {
    let [height, width] = p.output();
    let (area, depth, rows) = (height * width, p.group_in() * p.taps(), band(p));
    let bands = height.div_ceil(rows);
    let (failed, y) = (AtomicBool::new(false), Shared(y.as_mut_ptr()));
    p.for_each(p.batch * p.groups * bands, &|chunk| {
        let (image, top) = (chunk / bands, chunk % bands * rows);
        let (group, cols) = (image % p.groups, rows.min(height - top) * width);
        let x = &x[image * p.group_in() * p.in_area()..][..p.group_in() * p.in_area()];
        let w = of_group(p, w, group);
        let first = y.get().wrapping_add(image * p.group_out() * area + top * width);
        let plain = is_plain_product(p);
        let gemm = forward_product(p, cols, if plain { area } else { cols });
        let done = scratch::with(if plain { 0 } else { depth * cols }, |b: *mut T| {
            // SAFETY: the matrix has `depth` rows of `cols`; each chunk owns its rows of the output.
            unsafe {
                if plain {
                    gemm_raw(&gemm, w, x[top * width..].as_ptr(), first);
                } else {
                    fill(p, x, top, cols / width, std::slice::from_raw_parts_mut(b, depth * cols));
                    gemm_raw(&gemm, w, b, first);
                }
                let plane = image * p.group_out();
                epilogue.block(p, y, plane..plane + p.group_out(), top..top + cols / width);
            }
        });
        failed.fetch_or(done.is_none(), Ordering::Relaxed);
    });
    !failed.into_inner()
}

fn input_grad<T: Element>(p: &ConvProblem, dy: &[T], w: &Rhs<'_, T>, dx: &mut [T]) -> bool {
    let [height, width] = p.output();
    let (area, depth, rows) = (height * width, p.group_in() * p.taps(), band(p));
    let (failed, dx) = (AtomicBool::new(false), Shared(dx.as_mut_ptr()));
    p.for_each(p.batch * p.groups, &|image| {
        let group = image % p.groups;
        let w = of_group(p, w, group);
        let len = p.group_in() * p.in_area();
        // SAFETY: each chunk owns the channels of one group of one image.
        let dx = unsafe { std::slice::from_raw_parts_mut(dx.get().wrapping_add(image * len), len) };
        let plain = is_plain_product(p);
        let len = if plain { 0 } else { depth * rows * width };
        dx.fill(T::ZERO);
        let done = scratch::with(len, |b: *mut T| {
            for top in (0..height).step_by(rows) {
                let cols = rows.min(height - top) * width;
                let gemm = GemmProblem {
                    rsb: area,
                    rsc: if plain { area } else { cols },
                    ..turned_product(p, cols, depth)
                };
                let dy = dy[image * p.group_out() * area + top * width..].as_ptr();
                // SAFETY: the matrix has `depth` rows of `cols`; a plain product has those of `dx`.
                unsafe {
                    if plain {
                        gemm_raw(&gemm, w, dy, dx[top * width..].as_mut_ptr());
                    } else {
                        gemm_raw(&gemm, w, dy, b);
                        let patches = std::slice::from_raw_parts(b, depth * cols);
                        add_back(p, patches, top, cols / width, dx);
                    }
                }
            }
        });
        failed.fetch_or(done.is_none(), Ordering::Relaxed);
    });
    !failed.into_inner()
}

/// Sums over the images `dw^T = patches dy^T` for a range of input channels, one range per chunk.
fn weight_grad<T: Element>(p: &ConvProblem, x: &[T], dy: &[T], dw: &mut [T]) -> bool {
    let channels = p.group_in().div_ceil(p.threads.max(1) * 2).max(1);
    let ranges = p.group_in().div_ceil(channels);
    let (failed, dw) = (AtomicBool::new(false), Shared(dw.as_mut_ptr()));
    p.for_each(p.groups * ranges, &|chunk| {
        let (group, begin) = (chunk / ranges, chunk % ranges * channels);
        let n_channels = channels.min(p.group_in() - begin);
        let depth = n_channels * p.taps();
        let done = scratch::with(depth * p.group_out(), |sums: *mut T| {
            // SAFETY: the chunk alone writes the weights of its group and channels.
            unsafe {
                let sums = std::slice::from_raw_parts_mut(sums, depth * p.group_out());
                sums.fill(T::ZERO);
                let filled = sum_images(p, x, dy, group, begin, n_channels, sums);
                let at = (group * p.group_out() * p.group_in() + begin) * p.taps();
                let (dw, stride) = (dw.get().wrapping_add(at), p.group_in() * p.taps());
                sum_transposed(sums, 1, [depth, p.group_out()], 0..p.group_out(), dw, stride);
                filled
            }
        });
        failed.fetch_or(done.flatten().is_none(), Ordering::Relaxed);
    });
    !failed.into_inner()
}

/// `sums[taps of the channels][group_out] += patches dy^T`, image by image.
fn sum_images<T: Element>(
    p: &ConvProblem,
    x: &[T],
    dy: &[T],
    group: usize,
    begin: usize,
    n_channels: usize,
    sums: &mut [T],
) -> Option<()> {
    let [height, width] = p.output();
    let (area, rows, depth) = (height * width, band(p), n_channels * p.taps());
    let plain = is_plain_product(p);
    let len = if plain { 0 } else { depth * rows * width };
    scratch::with(len, |patches: *mut T| {
        for n in 0..p.batch {
            let plane = n * p.in_channels + group * p.group_in() + begin;
            let x = &x[plane * p.in_area()..][..n_channels * p.in_area()];
            let image = n * p.out_channels + group * p.group_out();
            for top in (0..height).step_by(rows) {
                let cols = rows.min(height - top) * width;
                let gemm = GemmProblem {
                    rsa: if plain { area } else { cols },
                    rsb: 1,
                    csb: area,
                    accumulate: true,
                    ..product(p, depth, p.group_out(), cols)
                };
                // SAFETY: the matrix has `depth` rows of `cols`; that of a plain product is `x`.
                unsafe {
                    let mut a = x[top * width..].as_ptr();
                    if !plain {
                        let patches = std::slice::from_raw_parts_mut(patches, depth * cols);
                        fill(p, x, top, cols / width, patches);
                        a = patches.as_ptr();
                    }
                    let dy = dy[image * area + top * width..].as_ptr();
                    gemm_raw(&gemm, (a, std::ptr::null()), dy, sums.as_mut_ptr());
                }
            }
        }
    })
}

/// The patch matrix of the output rows from `top` on: a row per channel and tap, a column per pixel.
fn fill<T: Element>(p: &ConvProblem, x: &[T], top: usize, rows: usize, patches: &mut [T]) {
    for_each_line(p, x.len(), top, rows, |line, source| {
        let out = &mut patches[line.at..line.at + line.width];
        let Some(source) = source else {
            out.fill(T::ZERO);
            return;
        };
        out[..line.begin].fill(T::ZERO);
        out[line.end..].fill(T::ZERO);
        let inner = &mut out[line.begin..line.end];
        if line.step == 1 {
            inner.copy_from_slice(&x[source..source + inner.len()]);
        } else {
            for (value, &x) in inner.iter_mut().zip(x[source..].iter().step_by(line.step)) {
                *value = x;
            }
        }
    });
}

/// Adds each element of the patch matrix to the pixel that it was taken from.
fn add_back<T: Element>(p: &ConvProblem, patches: &[T], top: usize, rows: usize, dx: &mut [T]) {
    for_each_line(p, dx.len(), top, rows, |line, source| {
        let Some(source) = source else { return };
        let inner = &patches[line.at + line.begin..line.at + line.end];
        for (dx, &value) in dx[source..].iter_mut().step_by(line.step).zip(inner) {
            *dx += value;
        }
    });
}

/// One output row under one tap.
struct Line {
    /// Where it begins in the patch matrix.
    at: usize,
    width: usize,
    /// Columns that are not padding.
    begin: usize,
    end: usize,
    /// Step in the input between columns.
    step: usize,
}

/// Calls `f` with each line and the index in the input of its first column that is not padding, if there is one.
fn for_each_line(
    p: &ConvProblem,
    len: usize,
    top: usize,
    rows: usize,
    mut f: impl FnMut(Line, Option<usize>),
) {
    let width = p.output()[1];
    let mut at = 0;
    for c in 0..len / p.in_area() {
        for tap in 0..p.taps() {
            let (r, s) = (tap / p.kernel[1], tap % p.kernel[1]);
            let begin = p.padding[1].saturating_sub(s * p.dilation[1]).div_ceil(p.stride[1]);
            let room = (p.input[1] + p.padding[1]).saturating_sub(s * p.dilation[1]);
            let end = room.div_ceil(p.stride[1]).min(width);
            for oy in top..top + rows {
                let source = naive::source(p, 0, oy, r).filter(|_| begin < end).map(|iy| {
                    let ix = begin * p.stride[1] + s * p.dilation[1] - p.padding[1];
                    (c * p.input[0] + iy) * p.input[1] + ix
                });
                f(Line { at, width, begin, end, step: p.stride[1] }, source);
                at += width;
            }
        }
    }
}

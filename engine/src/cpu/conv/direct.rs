//! `direct`: the matrix micro-kernel walks the taps of a padded image, so no patches are made. See `spread`.

use std::sync::atomic::{AtomicBool, Ordering};

use super::spread::Spread;
use super::{Code, ConvAlgo, ConvPass, ConvProblem, Done, Epilogue, Rhs, sum_transposed};
use crate::cpu::element::Element;
use crate::cpu::gemm::block;
use crate::cpu::pool::Shared;
use crate::cpu::scratch;
use crate::cpu::simd::{Panel, Tile};

pub(super) static ALGO: ConvAlgo = ConvAlgo {
    name: "direct",
    naive: false,
    reproducible: true,
    accurate: true,
    usable,
    workspace: |p| {
        let spread = Spread::new(p);
        (p.group_in() * spread.plane + p.group_out() * spread.run) * p.kind.size()
    },
    keeps: |p| if p.pass == ConvPass::InputGrad { p.lens()[1] } else { 0 },
    f32: Code { run: run::<f32>, keep: turn::<f32> },
    f64: Code { run: run::<f64>, keep: turn::<f64> },
};

fn usable(p: &ConvProblem) -> bool {
    let possible = |p: &ConvProblem| Spread::new(p).is_possible(p);
    match p.pass {
        ConvPass::InputGrad => p.as_input_grad().is_some_and(|forward| possible(&forward)),
        ConvPass::Forward | ConvPass::WeightGrad => possible(p),
    }
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
        ConvPass::Forward => Done::all(forward(p, lhs, rhs.plain, out, epilogue)),
        ConvPass::InputGrad => Done::sums(input_grad(p, lhs, rhs, out)),
        ConvPass::WeightGrad => Done::sums(weight_grad(p, lhs, rhs.plain, out)),
    }
}

fn forward<T: Element>(
    p: &ConvProblem,
    x: &[T],
    w: &[T],
    y: &mut [T],
    epilogue: &Epilogue<'_, T>,
) -> bool {
    let spread = Spread::new(p);
    let (y, offsets) = (Shared(y.as_mut_ptr()), offsets(p, &spread));
    let forward = Forward { p, w, y, offsets, spread, epilogue };
    let images = p.batch * p.groups;
    let failed = AtomicBool::new(false);
    let len = p.group_in() * forward.spread.plane;
    let per_image = |image: usize, inner: &(dyn Fn(&[T]) -> bool + Sync)| {
        let done = scratch::with(len, |planes: *mut T| {
            // SAFETY: the scratch memory holds `len` elements.
            let planes = unsafe { std::slice::from_raw_parts_mut(planes, len) };
            let x = &x[image * p.group_in() * p.in_area()..][..p.group_in() * p.in_area()];
            forward.spread.copy(p, x, planes);
            inner(planes)
        });
        failed.fetch_or(done != Some(true), Ordering::Relaxed);
    };
    let height = p.output()[0];
    if images >= 2 * p.threads || !p.is_parallel() {
        p.for_each(images, &|image| {
            per_image(image, &|planes| forward.rows(planes, image, 0, height));
        });
    } else {
        // Few images: each is cut into bands of rows.
        let bands = height.min(8 * p.threads);
        for image in 0..images {
            per_image(image, &|planes| {
                let failed = AtomicBool::new(false);
                p.for_each(bands, &|band| {
                    let (top, end) = (height * band / bands, height * (band + 1) / bands);
                    let done = forward.rows(planes, image, top, end);
                    failed.fetch_or(!done, Ordering::Relaxed);
                });
                !failed.into_inner()
            });
        }
    }
    !failed.into_inner()
}

/// Bytes of sums that are made at a time, about.
const BAND_BYTES: usize = 256 << 10;

/// Where the run of each channel and tap of a group begins.
fn offsets(p: &ConvProblem, spread: &Spread) -> Vec<usize> {
    (0..p.group_in() * p.taps())
        .map(|i| {
            let (c, tap) = (i / p.taps(), i % p.taps());
            c * spread.plane + spread.offset(p, tap / p.kernel[1], tap % p.kernel[1])
        })
        .collect()
}

struct Forward<'a, T> {
    p: &'a ConvProblem,
    w: &'a [T],
    y: Shared<T>,
    offsets: Vec<usize>,
    spread: Spread,
    epilogue: &'a Epilogue<'a, T>,
}

impl<T: Element> Forward<'_, T> {
    /// Output rows `top..end` of one group of one image, so many at a time that their sums stay near; false without scratch memory.
    fn rows(&self, planes: &[T], image: usize, top: usize, end: usize) -> bool {
        let row = self.p.group_out() * self.spread.width * size_of::<T>();
        let step = (BAND_BYTES / row.max(1)).max(1);
        let mut tops = (top..end).step_by(step);
        tops.all(|top| self.band(planes, image, top, end.min(top + step)))
    }

    fn band(&self, planes: &[T], image: usize, top: usize, end: usize) -> bool {
        let done = self.sums(planes, image, top, end);
        if done {
            let first = image * self.p.group_out();
            // SAFETY: the rows are done, and of this thread alone.
            unsafe {
                self.epilogue.block(self.p, self.y, first..first + self.p.group_out(), top..end);
            }
        }
        done
    }

    /// As `band`, without the epilogue.
    fn sums(&self, planes: &[T], image: usize, top: usize, end: usize) -> bool {
        let p = self.p;
        let [height, width] = p.output();
        let (area, channels) = (height * width, p.group_out());
        let run = (end - top - 1) * self.spread.width + width;
        let w = &self.w[image % p.groups * channels * self.offsets.len()..];
        let first = top * self.spread.width;
        let y = self.y.get().wrapping_add(image * channels * area + top * width);
        let tile = |c: *mut T, rsc: usize| Tile {
            k: self.offsets.len(),
            a: w.as_ptr(),
            rsa: self.offsets.len() as isize,
            csa: 1,
            b: planes[first..].as_ptr(),
            rsb: 0,
            offsets: self.offsets.as_ptr(),
            c,
            rsc: rsc as isize,
            cols: 0,
            accumulate: false,
            col_bias: std::ptr::null(),
            row_bias: std::ptr::null(),
        };
        let kernels = T::kernels(p.isa);
        if self.spread.width == width {
            // SAFETY: runs hold outputs only, so they fill the rows of this chunk exactly.
            unsafe { block(kernels, &kernels.gathered, channels, run, &tile(y, area)) };
            return true;
        }
        let done = scratch::with(channels * run, |sums: *mut T| {
            // SAFETY: runs end inside the planes; the chunk owns its rows of the output.
            unsafe {
                block(kernels, &kernels.gathered, channels, run, &tile(sums, run));
                for k in 0..channels {
                    (kernels.pack)(&Panel {
                        src: sums.add(k * run),
                        lane_stride: 1,
                        k_stride: self.spread.width as isize,
                        lanes: width,
                        width,
                        pitch: width,
                        k: end - top,
                        dst: y.add(k * area),
                    });
                }
            }
        });
        done.is_some()
    }
}

fn input_grad<T: Element>(p: &ConvProblem, dy: &[T], w: &Rhs<'_, T>, dx: &mut [T]) -> bool {
    let Some(forward_problem) = p.as_input_grad() else { return false };
    if let Some(turned) = w.kept {
        return forward(&forward_problem, dy, turned, dx, &Epilogue::NONE);
    }
    let w = w.plain;
    let done = scratch::with(w.len(), |turned: *mut T| {
        // SAFETY: the memory holds as many elements as `w`.
        let turned = unsafe { std::slice::from_raw_parts_mut(turned, w.len()) };
        turn(p, w, turned) && forward(&forward_problem, dy, turned, dx, &Epilogue::NONE)
    });
    done == Some(true)
}

/// `turned[group][c][k][tap] = w[group][k][c][last tap - tap]`
fn turn<T: Element>(p: &ConvProblem, w: &[T], turned: &mut [T]) -> bool {
    let (ins, outs, taps) = (p.group_in(), p.group_out(), p.taps());
    for group in 0..p.groups {
        for k in 0..outs {
            for c in 0..ins {
                let from = &w[((group * outs + k) * ins + c) * taps..][..taps];
                let to = &mut turned[((group * ins + c) * outs + k) * taps..][..taps];
                for (to, &from) in to.iter_mut().zip(from.iter().rev()) {
                    *to = from;
                }
            }
        }
    }
    true
}

/// The batch is cut into at most this many parts, each with sums of its own.
const PARTS: usize = 8;

/// `dw[tap]^T = sum over images of x[tap] dy^T`, where the rows of `x[tap]` are the runs of the channels.
fn weight_grad<T: Element>(p: &ConvProblem, x: &[T], dy: &[T], dw: &mut [T]) -> bool {
    let spread = Spread::new(p);
    let parts = if dw.len() > 1 << 20 { 1 } else { p.batch.min(PARTS) };
    // Too few parts for all threads: channels are cut too. Sums do not depend on that.
    let ranges = (2 * p.threads).div_ceil(parts * p.groups).clamp(1, p.group_in().div_ceil(8));
    let failed = AtomicBool::new(false);
    let done = scratch::with(parts * dw.len(), |sums: *mut T| {
        let shared = Shared(sums);
        p.for_each(parts * p.groups * ranges, &|chunk| {
            let (part, rest) = (chunk / (p.groups * ranges), chunk % (p.groups * ranges));
            let (group, range) = (rest / ranges, rest % ranges);
            let (begin, end) = (p.group_in() * range / ranges, p.group_in() * (range + 1) / ranges);
            let grad = WeightGrad { p, x, dy, spread: &spread, group, begin, end };
            let sums = shared.get().wrapping_add((group * parts + part) * dw.len() / p.groups);
            let first = p.batch * part / parts;
            for n in first..p.batch * (part + 1) / parts {
                // SAFETY: the chunk alone uses the sums of its part, group and channels.
                let done = unsafe { grad.add_image(n, sums, n > first) };
                failed.fetch_or(!done, Ordering::Relaxed);
            }
        });
        // SAFETY: the memory holds this many elements, and the chunks have ended.
        let sums = unsafe { std::slice::from_raw_parts(sums, parts * dw.len()) };
        collect(p, sums, parts, dw);
    });
    done.is_some() && !failed.into_inner()
}

struct WeightGrad<'a, T> {
    p: &'a ConvProblem,
    x: &'a [T],
    dy: &'a [T],
    spread: &'a Spread,
    group: usize,
    /// Channels of the group.
    begin: usize,
    end: usize,
}

impl<T: Element> WeightGrad<'_, T> {
    /// Adds image `n` to `sums[c][tap][k]`, or puts it there.
    ///
    /// # Safety
    /// `sums` holds the weights of a group, and no other thread uses those of the channels.
    unsafe fn add_image(&self, n: usize, sums: *mut T, accumulate: bool) -> bool {
        let (p, spread) = (self.p, self.spread);
        let (channels, outs) = (self.end - self.begin, p.group_out());
        let plane = n * p.in_channels + self.group * p.group_in() + self.begin;
        let x = &self.x[plane * p.in_area()..][..channels * p.in_area()];
        let (len_x, len_dy) = (channels * spread.plane, spread.run * outs);
        let done = scratch::with(len_x, |planes: *mut T| {
            scratch::with(len_dy, |dy: *mut T| {
                // SAFETY: both hold as many elements.
                unsafe {
                    spread.copy(p, x, std::slice::from_raw_parts_mut(planes, len_x));
                    self.transpose(n, dy);
                    for tap in 0..p.taps() {
                        let c = sums.add((self.begin * p.taps() + tap) * outs);
                        self.add_tap(tap, planes, dy, c, accumulate);
                    }
                }
            })
        });
        done.flatten().is_some()
    }

    /// `out[run][k] = dy[k][run]`, 0 where the run meets no output.
    unsafe fn transpose(&self, n: usize, out: *mut T) {
        let p = self.p;
        let ([height, width], outs) = (p.output(), p.group_out());
        let image = n * p.out_channels + self.group * outs;
        let pack = T::kernels(p.isa).pack;
        for row in 0..height {
            let at = row * self.spread.width;
            // SAFETY: rows of outputs, and the gaps after all rows but the last, lie inside the run.
            unsafe {
                pack(&Panel {
                    src: self.dy[(image * height + row) * width..].as_ptr(),
                    lane_stride: (height * width) as isize,
                    k_stride: 1,
                    lanes: outs,
                    width: outs,
                    pitch: outs,
                    k: width,
                    dst: out.add(at * outs),
                });
                if row + 1 < height {
                    let gap = self.spread.width - width;
                    out.add((at + width) * outs).write_bytes(0, gap * outs);
                }
            }
        }
    }

    unsafe fn add_tap(
        &self,
        tap: usize,
        planes: *const T,
        dy: *const T,
        c: *mut T,
        accumulate: bool,
    ) {
        let (p, spread, outs) = (self.p, self.spread, self.p.group_out());
        let offset = spread.offset(p, tap / p.kernel[1], tap % p.kernel[1]);
        let kernels = T::kernels(p.isa);
        let tile = Tile {
            k: spread.run,
            a: planes.wrapping_add(offset),
            rsa: spread.plane as isize,
            csa: 1,
            b: dy,
            rsb: outs as isize,
            offsets: std::ptr::null(),
            c,
            rsc: (p.taps() * outs) as isize,
            cols: 0,
            accumulate,
            col_bias: std::ptr::null(),
            row_bias: std::ptr::null(),
        };
        // SAFETY: runs end inside the planes.
        unsafe { block(kernels, &kernels.strided, self.end - self.begin, outs, &tile) };
    }
}

/// `dw[group][k][c][tap] = sum over parts of sums[group][part][c][tap][k]`
fn collect<T: Element>(p: &ConvProblem, sums: &[T], parts: usize, dw: &mut [T]) {
    let (rows, outs) = (p.group_in() * p.taps(), p.group_out());
    let (len, blocks) = (rows * outs, outs.div_ceil(32));
    let dw = Shared(dw.as_mut_ptr());
    p.for_each(p.groups * blocks, &|chunk| {
        let (group, begin) = (chunk / blocks, chunk % blocks * 32);
        let (sums, cols) = (&sums[group * parts * len..], begin..(begin + 32).min(outs));
        // SAFETY: each chunk owns the weights of its output channels.
        unsafe {
            let dw = dw.get().wrapping_add(group * len);
            sum_transposed(sums, parts, [rows, outs], cols, dw, rows);
        }
    });
}

//! Convolution of images in NCHW order, and its gradients with respect to input and weight.
//!
//! `y[n, k, oy, ox] = sum over c, r, s of x[n, c, oy * stride + r * dilation - padding, ...] * w[k, c, r, s]`, where `c`
//! runs over the channels of the group of `k`. Tensors are contiguous. Each way to compute it is a [`ConvAlgo`] row;
//! [`heuristic`] names the one that is expected to be fastest. What follows on the result is an [`Epilogue`].

mod direct;
mod epilogue;
mod im2col;
mod naive;
mod ready;
mod spread;
#[cfg(test)]
mod tests;
mod winograd;

pub use epilogue::Epilogue;
pub use ready::Conv;

use super::element::{Element, ElementKind};
use super::features::{Isa, isa};
use super::pool;

/// Every algorithm, by name.
pub static ALL: &[&ConvAlgo] = &[&direct::ALGO, &im2col::ALGO, &naive::ALGO, &winograd::ALGO];

/// Which of the three related products is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConvPass {
    /// `x, w -> y`
    Forward,
    /// `dy, w -> dx`
    InputGrad,
    /// `x, dy -> dw`
    WeightGrad,
}

/// A convolution: sizes are those of the forward pass, pairs are (height, width).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConvProblem {
    pub kind: ElementKind,
    pub pass: ConvPass,
    pub batch: usize,
    pub in_channels: usize,
    pub out_channels: usize,
    pub groups: usize,
    pub input: [usize; 2],
    pub kernel: [usize; 2],
    pub stride: [usize; 2],
    pub padding: [usize; 2],
    pub dilation: [usize; 2],
    /// Threads that may take part; 1 keeps to the calling thread.
    pub threads: usize,
    pub isa: Isa,
}

/// One way to compute a convolution.
#[derive(Debug)]
pub struct ConvAlgo {
    pub name: &'static str,
    /// Plain loops, there for comparison.
    pub naive: bool,
    /// Same bits for the same problem on the same machine, whatever the number of threads.
    pub reproducible: bool,
    /// Rounding errors are those of the plain sum, not larger.
    pub accurate: bool,
    pub usable: fn(&ConvProblem) -> bool,
    /// Bytes of scratch memory per thread, for a problem that it takes.
    pub workspace: fn(&ConvProblem) -> usize,
    /// Elements of the form that it brings weights into before it uses them, for a problem that it takes; 0 if it uses them as they lie.
    pub keeps: fn(&ConvProblem) -> usize,
    pub(crate) f32: Code<f32>,
    pub(crate) f64: Code<f64>,
}

/// The functions of a row.
#[derive(Debug)]
pub struct Code<T> {
    pub(crate) run: ConvRun<T>,
    /// Writes the form of the weights; false if there is no scratch memory for it.
    pub(crate) keep: unsafe fn(&ConvProblem, &[T], &mut [T]) -> bool,
}

/// Computes a pass. The slices must have the lengths of the problem.
pub type ConvRun<T> =
    unsafe fn(&ConvProblem, &[T], &Rhs<'_, T>, &mut [T], &Epilogue<'_, T>) -> Done;

/// The second operand of a pass.
#[derive(Clone, Copy, Debug)]
pub struct Rhs<'a, T> {
    pub(crate) plain: &'a [T],
    /// The form of the algorithm, if it is kept.
    pub(crate) kept: Option<&'a [T]>,
}

/// For algorithms that use weights as they lie.
fn keeps_nothing<T>(_: &ConvProblem, _: &[T], _: &mut [T]) -> bool {
    false
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// There is no scratch memory.
    Nothing,
    /// All sums, without the epilogue.
    Sums,
    /// All sums and the epilogue.
    All,
}

impl Done {
    fn sums(done: bool) -> Self {
        if done { Self::Sums } else { Self::Nothing }
    }

    fn all(done: bool) -> Self {
        if done { Self::All } else { Self::Nothing }
    }
}

impl ConvProblem {
    /// A forward pass with stride 1, no padding, no dilation, one group; shapes are `[n, c, h, w]` and `[k, c, r, s]`.
    pub fn new<T: Element>(x: [usize; 4], w: [usize; 4]) -> Self {
        ConvProblem {
            kind: T::KIND,
            pass: ConvPass::Forward,
            batch: x[0],
            in_channels: x[1],
            out_channels: w[0],
            groups: 1,
            input: [x[2], x[3]],
            kernel: [w[2], w[3]],
            stride: [1, 1],
            padding: [0, 0],
            dilation: [1, 1],
            threads: pool::threads(),
            isa: isa(),
        }
    }

    /// Height and width of the output; 0 where the kernel does not fit.
    pub fn output(&self) -> [usize; 2] {
        [0, 1].map(|i| {
            let padded = self.input[i].saturating_add(self.padding[i].saturating_mul(2));
            let reach = self.dilation[i].saturating_mul(self.kernel[i] - 1).saturating_add(1);
            padded.checked_sub(reach).map_or(0, |room| room / self.stride[i] + 1)
        })
    }

    /// Elements of `x`, of `w` and of `y`; the largest number where there are more.
    pub fn lens(&self) -> [usize; 3] {
        let [h, w] = self.output();
        let product = |sizes: &[usize]| sizes.iter().fold(1, |n: usize, &x| n.saturating_mul(x));
        [
            product(&[self.batch, self.in_channels, self.input[0], self.input[1]]),
            product(&[self.out_channels, self.group_in(), self.kernel[0], self.kernel[1]]),
            product(&[self.batch, self.out_channels, h, w]),
        ]
    }

    /// # Panics
    /// If it is not about `T`, makes no sense, or the processor lacks the instructions.
    fn check<T: Element>(&self) {
        assert!(self.kind == T::KIND, "the problem is about another element type");
        assert!(self.isa.is_available(), "the processor lacks these instructions");
        assert!(
            self.groups > 0 && self.in_channels.is_multiple_of(self.groups),
            "groups do not divide channels"
        );
        assert!(self.out_channels.is_multiple_of(self.groups), "groups do not divide channels");
        assert!(!self.kernel.contains(&0), "a kernel of no elements");
        assert!(!self.stride.contains(&0) && !self.dilation.contains(&0), "a step of 0");
    }

    /// Whether there is nothing to multiply: no image, no channel, no pixel.
    fn is_empty(&self) -> bool {
        self.lens().contains(&0)
    }

    /// Multiplications and additions of the plain sum.
    pub fn flops(&self) -> usize {
        let per_output = 2 * self.group_in() * self.taps();
        self.lens()[2].saturating_mul(per_output)
    }

    fn in_area(&self) -> usize {
        self.input[0] * self.input[1]
    }

    /// Weights per pair of channels.
    fn taps(&self) -> usize {
        self.kernel[0] * self.kernel[1]
    }

    fn group_in(&self) -> usize {
        self.in_channels / self.groups
    }

    fn group_out(&self) -> usize {
        self.out_channels / self.groups
    }

    fn is_parallel(&self) -> bool {
        self.threads > 1 && self.flops() >= PARALLEL_FLOPS
    }

    /// Calls `f` for each chunk, on other threads too if the problem is worth it.
    fn for_each(&self, n_chunks: usize, f: &(dyn Fn(usize) + Sync)) {
        pool::for_each_chunk_if(self.is_parallel(), n_chunks, f);
    }

    /// The forward pass over `dy` that gives `dx`, for stride 1: the kernel is turned by half a turn, the channels
    /// change places. `None` if the padding is wider than the kernel.
    fn as_input_grad(&self) -> Option<ConvProblem> {
        if self.stride != [1, 1] {
            return None;
        }
        let pad = |i: usize| (self.dilation[i] * (self.kernel[i] - 1)).checked_sub(self.padding[i]);
        let padding = [pad(0)?, pad(1)?];
        let (input, pass) = (self.output(), ConvPass::Forward);
        let (in_channels, out_channels) = (self.out_channels, self.in_channels);
        Some(ConvProblem { pass, in_channels, out_channels, input, padding, ..*self })
    }
}

/// `dst[col * stride + row] = sum over parts of src[part][row][col]`, for `size` = (rows, columns) and columns `cols`.
///
/// # Safety
/// `dst` is good for these elements, and no other thread uses them.
unsafe fn sum_transposed<T: Element>(
    src: &[T],
    parts: usize,
    size: [usize; 2],
    cols: std::ops::Range<usize>,
    dst: *mut T,
    stride: usize,
) {
    const BLOCK: usize = 16;
    let [n_rows, n_cols] = size;
    for left in cols.clone().step_by(BLOCK) {
        let end = (left + BLOCK).min(cols.end);
        for top in (0..n_rows).step_by(BLOCK) {
            for row in top..(top + BLOCK).min(n_rows) {
                for part in 0..parts {
                    let line = &src[(part * n_rows + row) * n_cols..][left..end];
                    for (i, &value) in line.iter().enumerate() {
                        // SAFETY: as promised by the caller.
                        unsafe {
                            let to = dst.add((left + i) * stride + row);
                            *to = if part == 0 { value } else { *to + value };
                        }
                    }
                }
            }
        }
    }
}

const PARALLEL_FLOPS: usize = 1_000_000;

/// Computes the pass with the algorithm that [`heuristic`] names; `out` is replaced.
///
/// Operands are those of [`ConvPass`], in its order.
///
/// # Panics
/// If sizes are 0 where they must not be, groups do not divide the channels, a slice has another length, or the processor lacks the
/// instructions.
pub fn conv2d<T: Element>(p: &ConvProblem, lhs: &[T], rhs: &[T], out: &mut [T]) {
    run(heuristic(p), p, lhs, rhs, out, &Epilogue::NONE);
}

/// Computes the pass with `algo`, or with [`heuristic`] if `algo` is not usable.
///
/// # Panics
/// As [`conv2d`], and if a bias has another length than the channels of the output.
pub fn run<T: Element>(
    algo: &ConvAlgo,
    p: &ConvProblem,
    lhs: &[T],
    rhs: &[T],
    out: &mut [T],
    epilogue: &Epilogue<'_, T>,
) {
    p.check::<T>();
    let algo = if (algo.usable)(p) { algo } else { heuristic(p) };
    run_with(algo, p, lhs, &Rhs { plain: rhs, kept: None }, out, epilogue);
}

/// Computes the pass with an algorithm that takes it; what is kept must be of this algorithm and problem.
fn run_with<T: Element>(
    algo: &ConvAlgo,
    p: &ConvProblem,
    lhs: &[T],
    rhs: &Rhs<'_, T>,
    out: &mut [T],
    epilogue: &Epilogue<'_, T>,
) {
    p.check::<T>();
    let [x, w, y] = p.lens();
    let want = match p.pass {
        ConvPass::Forward => [x, w, y],
        ConvPass::InputGrad => [y, w, x],
        ConvPass::WeightGrad => [x, y, w],
    };
    assert!([lhs.len(), rhs.plain.len(), out.len()] == want, "an operand has another length");
    assert!(epilogue.fits(p), "a bias of another length, or of a gradient");
    if p.is_empty() {
        out.fill(T::ZERO);
        return epilogue.all(p, out);
    }
    // SAFETY: the slices have the lengths of the problem.
    let done = unsafe {
        match (T::conv_code(algo).run)(p, lhs, rhs, out, epilogue) {
            Done::Nothing => (T::conv_code(&naive::ALGO).run)(p, lhs, rhs, out, epilogue),
            done => done,
        }
    };
    if done != Done::All {
        epilogue.all(p, out);
    }
}

/// The algorithm that is expected to be fastest.
pub fn heuristic(p: &ConvProblem) -> &'static ConvAlgo {
    if im2col::is_plain_product(p) {
        return &im2col::ALGO;
    }
    if is_slow_to_reach(p) {
        return &im2col::ALGO;
    }
    if p.kind == ElementKind::F32 && (winograd::ALGO.usable)(p) && winograd::pays(p) {
        return &winograd::ALGO;
    }
    // Tiles of the weight gradient are a row per channel.
    let is_thin =
        p.pass == ConvPass::WeightGrad && p.group_in() < 4 && p.group_in() * p.group_out() < 128;
    if (direct::ALGO.usable)(p) && !is_thin { &direct::ALGO } else { &im2col::ALGO }
}

/// Whether a kernel of one pixel steps over the image: most of the layout of `direct` would not be used.
fn is_slow_to_reach(p: &ConvProblem) -> bool {
    p.kernel == [1, 1] && p.stride != [1, 1]
}

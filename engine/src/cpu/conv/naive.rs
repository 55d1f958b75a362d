//! `naive`: plain loops that say what a convolution and its gradients are.

use super::{Code, ConvAlgo, ConvPass, ConvProblem, Done, Epilogue, Rhs, keeps_nothing};
use crate::cpu::element::Element;

pub(super) static ALGO: ConvAlgo = ConvAlgo {
    name: "naive",
    naive: true,
    reproducible: true,
    accurate: true,
    usable: |_| true,
    workspace: |_| 0,
    keeps: |_| 0,
    f32: Code { run: run::<f32>, keep: keeps_nothing::<f32> },
    f64: Code { run: run::<f64>, keep: keeps_nothing::<f64> },
};

fn run<T: Element>(
    p: &ConvProblem,
    lhs: &[T],
    rhs: &Rhs<'_, T>,
    out: &mut [T],
    _: &Epilogue<'_, T>,
) -> Done {
    let rhs = rhs.plain;
    out.fill(T::ZERO);
    for_each_product(p, |x, w, y| match p.pass {
        ConvPass::Forward => out[y] += lhs[x] * rhs[w],
        ConvPass::InputGrad => out[x] += lhs[y] * rhs[w],
        ConvPass::WeightGrad => out[w] += lhs[x] * rhs[y],
    });
    Done::Sums
}

/// Calls `f` with the indices in x, w and y of each product that the forward pass sums.
fn for_each_product(p: &ConvProblem, mut f: impl FnMut(usize, usize, usize)) {
    let [height, width] = p.output();
    for n in 0..p.batch {
        for k in 0..p.out_channels {
            let first = k / p.group_out() * p.group_in();
            for c in 0..p.group_in() {
                for tap in 0..p.taps() {
                    let (r, s) = (tap / p.kernel[1], tap % p.kernel[1]);
                    let w = (k * p.group_in() + c) * p.taps() + tap;
                    for oy in 0..height {
                        let Some(iy) = source(p, 0, oy, r) else { continue };
                        for ox in 0..width {
                            let Some(ix) = source(p, 1, ox, s) else { continue };
                            let plane = n * p.in_channels + first + c;
                            let x = (plane * p.input[0] + iy) * p.input[1] + ix;
                            let y = ((n * p.out_channels + k) * height + oy) * width + ox;
                            f(x, w, y);
                        }
                    }
                }
            }
        }
    }
}

/// The row (`axis` 0) or column (1) of the input that meets `tap` at `out`, unless it is padding.
pub(super) fn source(p: &ConvProblem, axis: usize, out: usize, tap: usize) -> Option<usize> {
    let padded = out * p.stride[axis] + tap * p.dilation[axis];
    padded.checked_sub(p.padding[axis]).filter(|&at| at < p.input[axis])
}

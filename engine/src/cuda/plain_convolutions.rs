//! Convolutions of float32 in plain loops over what the vendor's library is handed, in its place in tests.

use std::cell::Cell;

use super::convolutions::Room;
use super::driver::{Address, Convolution, ConvolutionCase, Element};
use crate::cpu::conv::ConvPass;

thread_local! {
    /// Whether the emulated GPU has a library for convolutions on this thread.
    pub(crate) static IS_THERE: Cell<bool> = const { Cell::new(false) };

    /// Passes that it has computed.
    pub(crate) static COMPUTED: Cell<usize> = const { Cell::new(0) };
}

/// Scratch that is asked for.
const WORKSPACE: usize = 3000;

/// Computes a convolution in memory that `slice` gives for an address and a number of elements.
pub(super) fn convolve<'a>(
    convolution: &Convolution,
    room: Room<'_>,
    slice: impl Fn(Address, usize) -> &'a mut [f32],
) -> bool {
    let case = &convolution.case;
    if !IS_THERE.get() || case.element != Element::F32 || room(WORKSPACE).is_none() {
        return false;
    }
    let sizes = [case.images, case.kernels, case.results].map(|it| it.map(|it| it as usize));
    let [x, w, y] = [0, 1, 2].map(|it| slice(convolution.places[it], sizes[it].iter().product()));
    match case.pass {
        ConvPass::Forward => {
            y.fill(0.0);
            each(case, sizes, |at, tap, to| y[to] += x[at] * w[tap]);
        }
        ConvPass::InputGrad => {
            x.fill(0.0);
            each(case, sizes, |at, tap, to| x[at] += y[to] * w[tap]);
        }
        ConvPass::WeightGrad => {
            w.fill(0.0);
            each(case, sizes, |at, tap, to| w[tap] += x[at] * y[to]);
        }
    }
    COMPUTED.set(COMPUTED.get() + 1);
    true
}

/// Calls `meet` for each element of the images, of the kernels and of the results that meet.
fn each(case: &ConvolutionCase, sizes: [[usize; 4]; 3], mut meet: impl FnMut(usize, usize, usize)) {
    let [images, kernels, results] = sizes;
    let of_group = results[1] / case.groups as usize;
    for to in 0..results.iter().product() {
        let [n, k, row, column] = place(to, results);
        for tap in 0..kernels[1..].iter().product() {
            let [_, c, r, s] = place(tap, [1, kernels[1], kernels[2], kernels[3]]);
            let along = |axis: usize, out: usize, tap: usize| {
                let at = out * case.stride[axis] as usize + tap * case.dilation[axis] as usize;
                at.checked_sub(case.padding[axis] as usize).filter(|it| *it < images[axis + 2])
            };
            let (Some(y), Some(x)) = (along(0, row, r), along(1, column, s)) else { continue };
            let c = k / of_group * kernels[1] + c;
            let at = ((n * images[1] + c) * images[2] + y) * images[3] + x;
            meet(at, k * kernels[1..].iter().product::<usize>() + tap, to);
        }
    }
}

/// Indices of an element.
fn place(at: usize, [_, c, h, w]: [usize; 4]) -> [usize; 4] {
    [at / w / h / c, at / w / h % c, at / w % h, at % w]
}

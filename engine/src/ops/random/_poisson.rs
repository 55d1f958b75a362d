//! `_poisson`: for each rate how many events happen where so many happen on average. `torch.poisson` checks dtypes before.

use crate::cpu::interrupt;
use crate::cpu::lane::cast;
use crate::math::gamma::lgamma;
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{AdmitCx, Body, DTypeRule, Grad, Kernel, KernelCx, Onnx, Param, Surface, shapes};
use crate::random::State;
use crate::{Error, OpDef, Result, rules, with_float};

pub static OP: OpDef = OpDef {
    name: "_poisson",
    doc: "For each rate how many events happen where so many happen on average.",
    meaning: Meaning::drawn(could_be),
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::FloatsToSame,
    infer: rules::same_as_input,
    body: Body::Kernels(&[Kernel::new("poisson.mersenne", run)
        .admitting(admits)
        .on_cuda(super::cuda::poisson)]),
    grad: Grad::Stops("counts change in jumps"),
    step: None,
    pure: false,
    method: false,
    internal: false,
    surface: Surface { shapes: shapes::SAME, ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("_poisson(tensor([0.0, -0.0]))", "tensor([0., 0.])"),
        ("_poisson(zeros(0))", "tensor([])"),
        ("_poisson(tensor([[1e-30]]))", "tensor([[0.]])"),
    ],
};

fn could_be(cx: &MeaningCx<'_>, drawn: &Array) -> bool {
    let mut counts = drawn.floats().into_iter().zip(cx.input(0).floats());
    drawn.shape() == cx.shape(0)
        && counts.all(|(it, rate)| it >= 0.0 && it.fract() == 0.0 && (rate > 0.0 || it == 0.0))
}

/// PyTorch's words for what is no rate; `is_infinite` where it is too large.
pub(super) fn refusal(is_infinite: bool) -> Error {
    let text = match is_infinite {
        true => "invalid Poisson rate: an infinite one has no counts",
        false => "invalid Poisson rate, expected rate to be non-negative",
    };
    Error::Told { error: "RuntimeError", text: text.into() }
}

fn admits(cx: &AdmitCx<'_>) -> Result<()> {
    cx.elements(0, |rates| {
        let rates = cast::<f64>(rates);
        match () {
            () if !rates.iter().all(|it| *it >= 0.0) => Err(refusal(false)),
            () if rates.contains(&f64::INFINITY) => Err(refusal(true)),
            () => Ok(()),
        }
    })
}

/// Beyond this rate numbers are tried and taken or not; below, factors are multiplied until they are small. It is PyTorch's choice,
/// so that a seed gives its numbers.
const MANY: f64 = 10.0;

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let stream = cx.stream;
    with_float!(cx.op.name, cx.outputs[0].dtype(), T => {
        let rates = cast::<f64>(&cx.inputs[0]);
        let out = cx.outputs[0].as_mut_slice::<T>();
        stream.draw(|state| {
            for at in interrupt::pieces_of(out.len(), 16).flatten() {
                out[at] = count(rates[at], state) as T;
            }
        });
        Ok(())
    })
}

fn count(rate: f64, state: &mut State) -> f64 {
    match rate {
        0.0 => 0.0,
        it if it < MANY => few(it, state),
        it => many(it, state),
    }
}

/// How many factors keep the product above `exp(-rate)` (Knuth, volume 2, 3.4.1).
fn few(rate: f64, state: &mut State) -> f64 {
    let (least, mut product, mut count) = ((-rate).exp(), state.uniform(), 0.0);
    while product > least {
        product *= state.uniform();
        count += 1.0;
    }
    count
}

/// Transformed rejection with squeeze (Hormann, The Transformed Rejection Method for Generating Poisson Random Variables, 1993).
fn many(rate: f64, state: &mut State) -> f64 {
    let (root, log_rate) = (rate.sqrt(), rate.ln());
    let b = 0.931 + 2.53 * root;
    let a = -0.059 + 0.02483 * b;
    let inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    let v_r = 0.9277 - 3.6224 / (b - 2.0);
    loop {
        let (u, v) = (state.uniform() - 0.5, state.uniform());
        let us = 0.5 - u.abs();
        if us == 0.0 {
            continue;
        }
        let k = ((2.0 * a / us + b) * u + rate + 0.43).floor();
        if us >= 0.07 && v <= v_r {
            return k;
        }
        if k < 0.0 || (us < 0.013 && v > us) {
            continue;
        }
        let height = v.ln() + inverse_alpha.ln() - (a / (us * us) + b).ln();
        if height <= -rate + k * log_rate - lgamma(k + 1.0) {
            return k;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and variance are the rate, on both sides of where the method changes.
    #[test]
    fn counts_are_spread_as_they_should() {
        let mut state = crate::random::Stream::new(7).state();
        for rate in [0.5, 9.9, 10.0, 200.0] {
            let all: Vec<f64> = (0..20_000).map(|_| count(rate, &mut state)).collect();
            let mean = all.iter().sum::<f64>() / all.len() as f64;
            let variance = all.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / all.len() as f64;
            assert!((mean / rate - 1.0).abs() < 0.05, "{rate}: {mean}");
            assert!((variance / rate - 1.0).abs() < 0.1, "{rate}: {variance}");
        }
    }
}

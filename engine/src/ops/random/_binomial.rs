//! `_binomial`: how many of so many trials succeed, each with a probability. `torch.binomial` checks dtypes before.

use crate::cpu::interrupt;
use crate::cpu::lane::cast;
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{Body, DTypeRule, Grad, InferCx, Kernel, KernelCx, Onnx, Param, Surface, shapes};
use crate::random::State;
use crate::{DType, Metas, OpDef, Result, rules, with_float};

pub static OP: OpDef = OpDef {
    name: "_binomial",
    doc: "How many of `count` trials succeed, each with the probability `prob`; NaN where that is NaN.",
    meaning: Meaning::drawn(could_be),
    params: &[Param::tensor("count"), Param::tensor("prob")],
    dtypes: DTypeRule::SameFloats,
    infer,
    body: Body::Kernels(&[Kernel::new("binomial.mersenne", run).on_cuda(super::cuda::binomial)]),
    grad: Grad::Stops("counts change in jumps"),
    step: None,
    pure: false,
    method: false,
    internal: false,
    surface: Surface { shapes: shapes::SAME, ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("_binomial(tensor([5.0, 5.0, 0.0]), tensor([0.0, 1.0, 0.5]))", "tensor([0., 5., 0.])"),
        ("_binomial(tensor([3.0]), tensor([nan]))", "tensor([nan])"),
        ("_binomial(zeros(0), zeros(0))", "tensor([])"),
    ],
};

fn could_be(cx: &MeaningCx<'_>, drawn: &Array) -> bool {
    let (counts, chances) = (cx.input(0).floats(), cx.input(1).floats());
    let mut all = drawn.floats().into_iter().zip(counts.into_iter().zip(chances));
    drawn.shape() == cx.shape(0)
        && all.all(|(it, (count, p))| {
            p.is_nan() || it.fract() == 0.0 && (0.0..=count.max(0.0)).contains(&it)
        })
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    if cx.shape(0) != cx.shape(1) {
        return Err(cx.bad_shapes("there must be a probability for each count"));
    }
    rules::same_as_input(cx)
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let stream = cx.stream;
    let is_wide = cx.outputs[0].dtype() == DType::F64;
    with_float!(cx.op.name, cx.outputs[0].dtype(), T => {
        let (counts, chances) = (cast::<f64>(&cx.inputs[0]), cast::<f64>(&cx.inputs[1]));
        let out = cx.outputs[0].as_mut_slice::<T>();
        stream.draw(|state| {
            for at in interrupt::pieces_of(out.len(), 16).flatten() {
                out[at] = Trials { is_wide, state }.successes(counts[at], chances[at]) as T;
            }
        });
        Ok(())
    })
}

/// Beyond so many successes on average numbers are tried and taken or not; below, failures between them are drawn. It is PyTorch's choice, so
/// that a seed gives its numbers.
const MANY: f64 = 10.0;

struct Trials<'a> {
    /// Whether counts and probabilities are double precision: what is computed of them alone has their width, as in PyTorch.
    is_wide: bool,
    state: &'a mut State,
}

impl Trials<'_> {
    fn own(&self, it: f64) -> f64 {
        if self.is_wide { it } else { f64::from(it as f32) }
    }

    fn successes(&mut self, count: f64, p: f64) -> f64 {
        if count <= 0.0 || p <= 0.0 {
            return 0.0;
        }
        if p.is_nan() || count.is_nan() {
            return f64::NAN;
        }
        if p >= 1.0 {
            return count;
        }
        let rare = if p <= 0.5 { p } else { self.own(1.0 - p) };
        let drawn = match self.own(count * rare) >= MANY {
            true => self.many(count, rare),
            false => self.few(count, rare),
        };
        if p <= 0.5 { drawn } else { count - drawn }
    }

    /// Waiting times between successes, until they pass the number of trials (Devroye, Non-Uniform Random Variate Generation, 1986, X.4).
    fn few(&mut self, count: f64, p: f64) -> f64 {
        let (log_miss, mut passed, mut found) = (self.own((-p).ln_1p()), 0.0, 0.0);
        loop {
            passed += (self.state.uniform().ln() / log_miss).ceil();
            if passed > count {
                return found;
            }
            found += 1.0;
        }
    }

    /// Transformed rejection with squeeze (Hormann, The Generation of Binomial Random Variates, 1993, BTRS).
    fn many(&mut self, count: f64, p: f64) -> f64 {
        let mean = self.own(count * p);
        let root = self.own(self.own(mean * self.own(1.0 - p)).sqrt());
        let b = 1.15 + 2.53 * root;
        let a = -0.0873 + 0.0248 * b + 0.01 * p;
        let (c, v_r) = (mean + 0.5, 0.92 - 4.2 / b);
        let odds = self.own(p / self.own(1.0 - p));
        let alpha = (2.83 + 5.1 / b) * root;
        let mode = self.own(self.own(count + 1.0) * p).floor();
        loop {
            let (u, v) = (self.state.uniform() - 0.5, self.state.uniform());
            let us = 0.5 - u.abs();
            let k = self.own(((2.0 * a / us + b) * u + c).floor());
            if !(0.0..=count).contains(&k) {
                continue;
            }
            if us >= 0.07 && v <= v_r {
                return k;
            }
            let height = (v * alpha / (a / (us * us) + b)).ln();
            let left = count - mode + 1.0;
            let bound = (mode + 0.5) * ((mode + 1.0) / (odds * left)).ln()
                + (count + 1.0) * (left / (count - k + 1.0)).ln()
                + (k + 0.5) * (odds * (count - k + 1.0) / (k + 1.0)).ln()
                + tail(mode)
                + tail(count - mode)
                - tail(k)
                - tail(count - k);
            if height <= bound {
                return k;
            }
        }
    }
}

/// What Stirling's formula leaves out of `ln(k!)`.
fn tail(k: f64) -> f64 {
    const FIRST: [f64; 10] = [
        0.0810614667953272,
        0.0413406959554092,
        0.0276779256849983,
        0.02079067210376509,
        0.0166446911898211,
        0.0138761288230707,
        0.0118967099458917,
        0.0104112652619720,
        0.00925546218271273,
        0.00833056343336287,
    ];
    if let Some(known) = FIRST.get(k as usize) {
        return *known;
    }
    let square = (k + 1.0) * (k + 1.0);
    (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / square) / square) / (k + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::gamma::lgamma;

    /// Mean and variance are those of the distribution, on both sides of where the method changes.
    #[test]
    fn counts_are_spread_as_they_should() {
        let mut state = crate::random::Stream::new(7).state();
        for (count, p) in [(6.0, 0.2), (30.0, 0.8), (100.0, 0.3), (1000.0, 0.95)] {
            let mut trials = Trials { is_wide: true, state: &mut state };
            let all: Vec<f64> = (0..20_000).map(|_| trials.successes(count, p)).collect();
            let (mean, spread) = (count * p, count * p * (1.0 - p));
            let found = all.iter().sum::<f64>() / all.len() as f64;
            let variance =
                all.iter().map(|it| (it - found).powi(2)).sum::<f64>() / all.len() as f64;
            assert!((found / mean - 1.0).abs() < 0.05, "{count} {p}: {found}");
            assert!((variance / spread - 1.0).abs() < 0.1, "{count} {p}: {variance}");
        }
    }

    #[test]
    fn tails_are_what_stirlings_formula_leaves_out() {
        let half_log_turn = 0.5 * std::f64::consts::TAU.ln();
        for k in 0..40 {
            let (k, next) = (f64::from(k), f64::from(k + 1));
            let left = lgamma(next) - ((k + 0.5) * next.ln() - next + half_log_turn);
            assert!((tail(k) - left).abs() < 1e-9, "{k}: {} {left}", tail(k));
        }
    }
}

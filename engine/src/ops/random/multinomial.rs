//! `multinomial`: indices drawn with probabilities proportional to the last dimension of the input.

use smallvec::smallvec;

use crate::cpu::interrupt;
use crate::cpu::lane::cast;
use crate::cpu::number::Float;
use crate::cpu::order;
use crate::meaning::{Array, Meaning, MeaningCx, lines_of};
use crate::op::AdmitCx;
use crate::op::{
    Body, DTypeRule, Default, Grad, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind, Surface,
};
use crate::random::{State, Stream};
use crate::{DType, Error, Meta, Metas, OpDef, Result, with_float};

pub static OP: OpDef = OpDef {
    name: "multinomial",
    doc: "Indices drawn with probabilities proportional to the last dimension of the input.",
    meaning: Meaning::drawn(could_be),
    params: &[
        Param::tensor("input"),
        Param::required("num_samples", ParamKind::Int),
        Param::with("replacement", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::new("multinomial.mersenne", run)
        .admitting(admits)
        .on_cuda(|cx| super::cuda::multinomial(cx, cx.int(0) as usize, cx.flag(1)))]),
    grad: Grad::Stops("the result does not depend on other tensors"),
    step: None,
    pure: false,
    method: true,
    internal: false,
    surface: Surface { shapes: "[..., N] gives [..., num_samples]", ..Surface::PLAIN },
    onnx: Onnx::written("Multinomial", super::onnx::multinomial),
    aliases: &["oneflow.multinomial", "megengine.random.multinomial"],
    examples: &[
        ("multinomial(tensor([0.0, 1.0]), 1)", "tensor([1])"),
        ("multinomial(tensor([0.0, 1.0]), 3, True)", "tensor([1, 1, 1])"),
        ("multinomial(tensor([0.0, 1.0]), 2)", "tensor([1, 0])"),
    ],
};

fn could_be(cx: &MeaningCx<'_>, drawn: &Array) -> bool {
    let (weights, n, again) = (cx.input(0).floats(), cx.int(0) as usize, cx.flag(1));
    let last = weights.ndim() - 1;
    let rows = [&cx.shape(0)[..last], &[n]].concat();
    let lines = lines_of(&drawn.ints(), last);
    let could_be = |(weights, line): (&Vec<f64>, &Vec<i64>)| {
        let has_weight = |it: &i64| weights.get(*it as usize).is_some_and(|it| *it > 0.0);
        let is_new = |at: usize| again || !line[..at].contains(&line[at]);
        // What has no weight comes last, where nothing else is left.
        let n_positive = if again { n } else { weights.iter().filter(|it| **it > 0.0).count() };
        line.iter().take(n_positive).all(has_weight) && (0..line.len()).all(is_new)
    };
    drawn.shape() == rows && lines_of(&weights, last).iter().zip(&lines).all(could_be)
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let (shape, n) = (cx.shape(0), cx.int(0));
    if !(1..=2).contains(&shape.rank()) || !cx.dtype(0).is_float() {
        return Err(cx.bad_shapes("a vector or matrix of float weights is needed"));
    }
    let n_classes = shape[shape.rank() - 1];
    if n < 1 || (!cx.flag(1) && n as usize > n_classes) {
        let most = match cx.flag(1) {
            true => String::from("must be at least 1"),
            false => format!(
                "must lie between 1 and the {n_classes} weights of a row without replacement; pass replacement=True to draw more"
            ),
        };
        let problem = format!("is {n}, and {most}");
        return Err(Error::Attr { op: cx.op.name, name: "num_samples", problem });
    }
    let shape = shape[..shape.rank() - 1].iter().copied().chain([n as usize]).collect();
    Ok(smallvec![Meta::new(shape, DType::I64)])
}

/// No weight is negative, and each row has one that is not 0. Without replacement, what has no weight is drawn last.
fn admits(cx: &AdmitCx<'_>) -> Result<()> {
    cx.elements(0, |input| {
        let n_classes = input.shape().last().copied().unwrap_or(1).max(1);
        let weights = cast::<f64>(input);
        let problem = match () {
            // PyTorch's words come first.
            () if !weights.iter().all(|it| (0.0..f64::INFINITY).contains(it)) => {
                "contains either `inf`, `nan` or element < 0: weights are finite and not negative"
            }
            () if weights.chunks_exact(n_classes).any(|it| it.iter().all(|&it| it == 0.0)) => {
                "is an invalid multinomial distribution (sum of probabilities <= 0): a row needs a weight above 0"
            }
            () => return Ok(()),
        };
        Err(Error::Attr { op: cx.op.name, name: "input", problem: problem.into() })
    })
}

/// Several draws from the same weights look uniform numbers up in their sums; else the largest of weights over exponential numbers are taken
/// (Efraimidis and Spirakis, 2006). Which of the two it is, is PyTorch's choice, so that a seed gives its numbers.
fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (n, again) = (cx.int(0) as usize, cx.flag(1));
    let input = cx.inputs[0];
    let n_classes = input.shape().last().copied().unwrap_or(1).max(1);
    let out = cx.outputs[0].as_mut_slice::<i64>();
    if again && n > 1 {
        let weights = cast::<f64>(&input);
        for (weights, slots) in weights.chunks_exact(n_classes).zip(out.chunks_exact_mut(n)) {
            look_up(weights, slots, cx.stream);
        }
        return Ok(());
    }
    with_float!(cx.op.name, input.dtype(), T => {
        let keys = keys(&input.to_slice::<T>(), cx.stream);
        for (keys, slots) in keys.chunks_exact(n_classes).zip(out.chunks_exact_mut(n)) {
            order::for_each_first(keys, n, true, |at, place| slots[at] = place as i64);
        }
        Ok(())
    })
}

/// Draws with replacement.
fn look_up(weights: &[f64], slots: &mut [i64], stream: &Stream) {
    let mut total = 0.0;
    let sums: Vec<f64> = weights
        .iter()
        .map(|it| {
            total += it;
            total
        })
        .collect();
    let last = weights.iter().rposition(|it| *it > 0.0).unwrap_or(0);
    for at in interrupt::pieces_of(slots.len(), sums.len().ilog2() as usize + 1).flatten() {
        let drawn = stream.draw(State::uniform);
        slots[at] = sums.partition_point(|it| it / total <= drawn).min(last) as i64;
    }
}

/// Weights over exponential numbers: the largest are a draw without replacement.
fn keys<T: Float>(weights: &[T], stream: &Stream) -> Vec<T> {
    let mut keys = Vec::with_capacity(weights.len());
    stream.draw(|state| {
        for piece in interrupt::pieces(weights.len()) {
            // A draw of zero would make a key that is no number.
            let drawn = |_| T::from_f64(state.exponential().max(1e-30));
            keys.extend(piece.clone().map(drawn).zip(&weights[piece]).map(|it| *it.1 / it.0));
        }
    });
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_weight_is_not_drawn() {
        let mut slots = [9; 200];
        look_up(&[0.0, 1.0, 0.0, 1e-9, 2.0, 0.0], &mut slots, &Stream::new(0));
        assert!(slots.iter().all(|it| [1, 3, 4].contains(it)), "{slots:?}");
    }
}

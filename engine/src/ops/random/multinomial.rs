//! `multinomial`: indices drawn with probabilities proportional to the last dimension of the input.

use smallvec::smallvec;

use crate::cpu::interrupt;
use crate::cpu::lane::cast;
use crate::op::AdmitCx;
use crate::op::{Body, DTypeRule, Default, Grad, InferCx, Kernel, KernelCx, Param, ParamKind};
use crate::{DType, Error, Meta, Metas, OpDef, Result, random};

pub static OP: OpDef = OpDef {
    name: "multinomial",
    doc: "Indices drawn with probabilities proportional to the last dimension of the input.",
    params: &[
        Param::tensor("input"),
        Param::required("num_samples", ParamKind::Int),
        Param::with("replacement", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::new("multinomial.philox", run).admitting(admits)]),
    grad: Grad::Stops("the result does not depend on other tensors"),
    step: None,
    pure: false,
    method: true,
    internal: false,
    onnx: &[],
    aliases: &["oneflow.multinomial", "megengine.random.multinomial"],
    examples: &[
        ("multinomial(tensor([0.0, 1.0]), 1)", "tensor([1])"),
        ("multinomial(tensor([0.0, 1.0]), 3, True)", "tensor([1, 1, 1])"),
    ],
};

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let (shape, n) = (cx.shape(0), cx.int(0));
    if !(1..=2).contains(&shape.rank()) || !cx.dtype(0).is_float() {
        return Err(cx.bad_shapes("a vector or matrix of float weights is needed"));
    }
    let n_classes = shape[shape.rank() - 1];
    if n < 1 || (!cx.flag(1) && n as usize > n_classes) {
        let problem = format!("must lie between 1 and {n_classes} without replacement");
        return Err(Error::Attr { op: cx.op.name, name: "num_samples", problem });
    }
    let shape = shape[..shape.rank() - 1].iter().copied().chain([n as usize]).collect();
    Ok(smallvec![Meta::new(shape, DType::I64)])
}

/// Each row has positive weights enough: one, or one for each draw.
fn admits(cx: &AdmitCx<'_>) -> Result<()> {
    let n_positive = if cx.flag(1) { 1 } else { cx.int(0) as usize };
    cx.elements(0, |input| {
        let n_classes = input.shape().last().copied().unwrap_or(1).max(1);
        let fits = |it: &[f64]| {
            it.iter().all(|&it| it >= 0.0)
                && it.iter().filter(|&&it| it > 0.0).count() >= n_positive
                && it.iter().sum::<f64>().is_finite()
        };
        if cast::<f64>(input).chunks_exact(n_classes).all(fits) {
            return Ok(());
        }
        let problem = "must have weights that are not negative, enough of them positive".into();
        Err(Error::Attr { op: cx.op.name, name: "input", problem })
    })
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (n, again) = (cx.int(0) as usize, cx.flag(1));
    let input = cx.inputs[0];
    let n_classes = input.shape().last().copied().unwrap_or(1).max(1);
    let weights = cast::<f64>(&input);
    let out = cx.outputs[0].as_mut_slice::<i64>();
    for (weights, slots) in weights.chunks_exact(n_classes).zip(out.chunks_exact_mut(n)) {
        let mut tree = Sums::of(weights);
        for piece in interrupt::pieces_of(n, n_classes.ilog2() as usize + 1) {
            for slot in &mut slots[piece] {
                let (mut left, total) = (0.0, tree.total());
                random::with(|it| it.uniform_f64(1, |_, x| left = x * total));
                let at = tree.find(left);
                *slot = at as i64;
                if !again {
                    tree.clear(at);
                }
            }
        }
    }
    Ok(())
}

/// Weights as the leaves of a binary tree of their sums: drawing one, and taking it away, are a walk between root and leaf.
struct Sums {
    /// The sum at `i` is that of `2 * i` and `2 * i + 1`; the root is 1, and the leaves are the second half.
    nodes: Vec<f64>,
}

impl Sums {
    fn of(weights: &[f64]) -> Self {
        let leaves = weights.len().next_power_of_two();
        let mut nodes = vec![0.0; 2 * leaves];
        nodes[leaves..leaves + weights.len()].copy_from_slice(weights);
        for at in (1..leaves).rev() {
            nodes[at] = nodes[2 * at] + nodes[2 * at + 1];
        }
        Self { nodes }
    }

    fn total(&self) -> f64 {
        self.nodes[1]
    }

    /// The leaf in whose part of the total `x` lies. It has a weight even where rounding puts `x` past the end.
    fn find(&self, mut x: f64) -> usize {
        let mut at = 1;
        while 2 * at < self.nodes.len() {
            let (left, right) = (self.nodes[2 * at], self.nodes[2 * at + 1]);
            at *= 2;
            if left <= 0.0 || x >= left && right > 0.0 {
                x -= left;
                at += 1;
            }
        }
        at - self.nodes.len() / 2
    }

    fn clear(&mut self, leaf: usize) {
        let mut at = self.nodes.len() / 2 + leaf;
        self.nodes[at] = 0.0;
        while at > 1 {
            at /= 2;
            self.nodes[at] = self.nodes[2 * at] + self.nodes[2 * at + 1];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_leaf_is_found_in_its_part_and_not_again() {
        let mut sums = Sums::of(&[1.0, 0.0, 2.0, 4.0, 0.0]);
        assert_eq!(
            [0.0, 0.9, 1.0, 2.9, 3.0, 6.9, 7.0].map(|x| sums.find(x)),
            [0, 0, 2, 2, 3, 3, 3]
        );
        sums.clear(2);
        assert_eq!((sums.total(), sums.find(1.0)), (5.0, 3));
        sums.clear(0);
        sums.clear(3);
        assert!(sums.total() <= 0.0);
        assert_eq!(Sums::of(&[3.0]).find(2.0), 0);
    }
}

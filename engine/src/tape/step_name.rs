//! What PyTorch calls the steps of the tape: `AddBackward0`, `NllLossBackward0`.
//!
//! The name follows from that of the op. Where PyTorch has another, or several, the row of the op says so in its `step`.

use std::borrow::Cow;
use std::sync::PoisonError;

use super::{Edge, OpStep, Saved};
use crate::attr::Attr;
use crate::{Attrs, OpDef, Tensor};

/// What the name of a step may depend on.
pub struct StepCx<'a> {
    attrs: &'a Attrs,
    /// Whether a gradient flows to each input.
    needs: Vec<bool>,
    /// Empty once a walk has passed.
    inputs: &'a [Tensor],
    /// Dimensions of the value, if it is known which one it is.
    rank: Option<usize>,
}

impl StepCx<'_> {
    /// How many inputs the op was given.
    pub fn n_inputs(&self) -> usize {
        self.needs.len()
    }

    /// Whether an attribute was given; no dimensions are as good as none.
    pub fn has(&self, attr: usize) -> bool {
        self.attrs.get(attr).is_some_and(|it| *it != Attr::None && *it != Attr::ints(&[]))
    }

    /// Whether an input is a number, as far as that can be told.
    pub fn is_number(&self, input: usize) -> bool {
        !self.needs[input] && self.inputs.get(input).is_none_or(|it| it.rank() == 0)
    }

    /// Dimensions of an input; `None` once a walk has passed.
    pub fn rank_of(&self, input: usize) -> Option<usize> {
        self.inputs.get(input).map(Tensor::rank)
    }

    /// Dimensions of the value, if it is known which one it is.
    pub fn rank(&self) -> Option<usize> {
        self.rank
    }
}

impl Edge {
    /// PyTorch's name of the step that made a value, which has `rank` dimensions if that is known; `None` where no op made it.
    pub fn step_name(&self, rank: Option<usize>) -> Option<Cow<'static, str>> {
        let step = self.node.op()?;
        let composed = *step.composed.lock().unwrap_or_else(PoisonError::into_inner);
        let op = composed.unwrap_or(step.op);
        let Some(name) = op.step else {
            return Some(usual(op.name).into());
        };
        let saved = step.saved.lock().unwrap_or_else(PoisonError::into_inner);
        let inputs: &[Tensor] = saved.as_ref().map_or(&[], |it: &Saved| &it.inputs);
        let needs = step.edges.iter().map(Option::is_some).collect();
        Some(name(&StepCx { attrs: &step.attrs, needs, inputs, rank }).into())
    }

    /// The places that the inputs of the step came from; `None` where no gradient flows.
    pub fn inputs(&self) -> Vec<Option<Edge>> {
        self.node.edges().map(Option::<&Edge>::cloned).collect()
    }

    /// Which output of the step the value is.
    pub fn output(&self) -> usize {
        self.output as usize
    }
}

/// Notes that a composed op made these outputs, where its row names its step.
pub(crate) fn note_composed(op: &'static OpDef, before: u64, outputs: &[Tensor]) {
    for edge in outputs.iter().filter_map(Tensor::edge).filter(|it| it.id() >= before) {
        if let Some(OpStep { composed, .. }) = edge.node.op() {
            *composed.lock().unwrap_or_else(PoisonError::into_inner) = Some(op);
        }
    }
}

/// The step of an op whose row names none. Of the gradient of an elementwise op (`tanh.grad0.u1`) it is not told what it is made of.
fn usual(name: &str) -> String {
    match name.split_once(".grad") {
        Some((of, _)) => format!("{}BackwardBackward0", camel(of)),
        None => format!("{}Backward0", camel(name)),
    }
}

/// `log_softmax` is `LogSoftmax`, and `avg_pool2d` is `AvgPool2D`.
fn camel(name: &str) -> String {
    let mut upper = true;
    let mut res = String::with_capacity(name.len());
    for letter in name.chars() {
        if letter == '_' || letter == '.' {
            upper = true;
            continue;
        }
        if upper {
            res.extend(letter.to_uppercase())
        } else {
            res.push(letter)
        }
        upper = letter.is_ascii_digit();
    }
    res
}

#[test]
fn words_begin_with_a_capital() {
    for (name, expected) in [
        ("add", "Add"),
        ("log_softmax", "LogSoftmax"),
        ("avg_pool2d", "AvgPool2D"),
        ("smooth_l1_loss", "SmoothL1Loss"),
        ("log1p", "Log1P"),
        ("log10", "Log10"),
    ] {
        assert_eq!(camel(name), expected);
    }
}

/// As PyTorch 2.15 calls `grad_fn` of these, of `x.tanh()` and of its gradient with `create_graph=True`.
#[test]
fn gradients_are_steps_of_their_own() {
    assert_eq!(usual("tanh"), "TanhBackward0");
    assert_eq!(usual("tanh.grad0.u1"), "TanhBackwardBackward0");
}

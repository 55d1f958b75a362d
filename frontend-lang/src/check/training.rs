//! Silent mistakes of training loops: a step without a backward, sums that keep every graph, accuracy of a model in training mode.
//!
//! Optimisers and modules of `std/` tell what they do through the module `_training`.
//!
//! **Invariant:** where a gradient may have come another way, nothing is said.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::check::lint::Lint;
use crate::cx::{Cx, Mode};
use crate::native::CallArgs;
use crate::objects::tensor::TensorObj;
use crate::operate::BinaryOp;
use crate::source::Span;
use crate::value::Value;

pub(super) static EVAL_MODE: Lint = Lint {
    name: "eval-mode",
    message: "accuracy is measured in training mode: dropout and statistics of the batch are at work",
    next: "call `model.eval()` before, and `model.train()` before training goes on",
};

pub(super) static KEPT_GRAPH: Lint = Lint {
    name: "kept-graph",
    message: "the sum holds the graphs of all losses that are added to it, and grows with every step",
    next: "add the number alone: `total += loss.item()`",
};

pub(super) static STEP_BACKWARD: Lint = Lint {
    name: "step-backward",
    message: "the optimizer steps without new gradients: no `backward()` came since the step before",
    next: "call `loss.backward()` before `optimizer.step()`",
};

/// What training has come to in the session.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trained {
    /// An optimiser has stepped.
    stepped: bool,
    /// The user has called `train()` since.
    wants_training: bool,
}

/// What a check notes of training on its way.
#[derive(Default)]
pub(crate) struct Training {
    /// As the session, and what this cell adds to it.
    trained: Option<Trained>,
    /// Something was computed that has gradients, since the last step.
    has_loss: bool,
    /// Walks backwards so far.
    n_walks: usize,
    /// For each optimiser the number of walks at its last step, and its gradients then.
    steps: FxHashMap<usize, (usize, Grads)>,
    /// Values from which a walk has gone back and used up the graph.
    walked: FxHashSet<u64>,
    /// Dropout or statistics of a batch were at work where no gradients are recorded.
    is_noisy: bool,
}

/// Gradients by address and version; `None` where there is none.
type Grads = Vec<Option<(usize, u32)>>;

fn grads_of(params: &[Value]) -> Grads {
    let of = |it: &Value| match it {
        Value::Tensor(it) => {
            it.grad().map(|grad| (std::rc::Rc::as_ptr(&grad).addr(), grad.version()))
        }
        _ => None,
    };
    params.iter().map(of).collect()
}

impl Cx {
    fn trained(&mut self) -> &mut Trained {
        let known = self.trained;
        match self.mode {
            Mode::Shadow => self.shadow().training.trained.get_or_insert(known),
            _ => &mut self.trained,
        }
    }

    /// An optimiser is about to change `params`; `optimizer` tells it from others.
    pub(crate) fn training_steps(&mut self, optimizer: usize, params: &[Value]) {
        *self.trained() = Trained { stepped: true, wants_training: false };
        if self.mode != Mode::Shadow {
            return;
        }
        let grads = grads_of(params);
        let training = &mut self.shadow().training;
        let n_walks = training.n_walks;
        let before = training.steps.insert(optimizer, (n_walks, grads.clone()));
        let has_loss = std::mem::take(&mut training.has_loss);
        let is_stale = match before {
            Some((walks, before)) => walks == n_walks && before == grads,
            None => n_walks == 0 && grads.iter().all(Option::is_none),
        };
        if has_loss && is_stale {
            self.note(&STEP_BACKWARD);
        }
    }

    /// A module goes into training mode, or out of it.
    pub(crate) fn training_mode(&mut self, is_training: bool) {
        self.trained().wants_training = is_training;
    }

    /// A value has come out of an operation.
    pub(super) fn lint_made(&mut self, value: &TensorObj) {
        let is_made = value.peek().edge().is_some_and(|it| !it.is_leaf());
        if engine::autograd::enabled() && is_made {
            let training = &mut self.shadow().training;
            (training.has_loss, training.is_noisy) = (true, false);
        }
    }

    /// A walk goes back from these values; with `retain`, more can follow.
    pub(crate) fn lint_walk<'a>(
        &mut self,
        roots: impl Iterator<Item = &'a engine::Tensor>,
        retain: bool,
    ) {
        if self.mode != Mode::Shadow {
            return;
        }
        let training = &mut self.shadow().training;
        training.n_walks += 1;
        if !retain {
            let ids = roots.filter_map(|it| it.edge().map(|it| it.id()));
            training.walked.extend(ids);
        }
    }

    /// `total += loss`, before it is computed.
    pub(super) fn lint_sum(&mut self, op: BinaryOp, loss: &Value) {
        let Value::Tensor(it) = loss else { return };
        let id = it.peek().edge().map(|it| it.id());
        let is_walked = id.is_some_and(|it| self.shadow().training.walked.contains(&it));
        if op == BinaryOp::Add && is_walked && engine::autograd::enabled() {
            self.note(&KEPT_GRAPH);
        }
    }

    /// An op is called: one that does something else in training.
    pub(super) fn lint_mode(&mut self, op: &str, args: CallArgs<'_>) {
        let at = match op {
            "dropout" => 2,
            "batch_norm" => 5,
            _ => return,
        };
        let named = args.keywords.iter().find(|it| it.0.as_str() == "training").map(|it| &it.1);
        let is_training = matches!(args.positional.get(at).or(named), Some(Value::Bool(true)));
        if is_training && !engine::autograd::enabled() {
            self.shadow().training.is_noisy = true;
        }
    }

    /// Whole numbers are compared, as classes are for accuracy.
    pub(super) fn lint_classes(&mut self, a: &Value, b: &Value, place: Option<Span>) {
        let (Value::Tensor(a), Value::Tensor(b)) = (a, b) else { return };
        let (a, b) = (a.peek(), b.peek());
        let are_classes = !a.dtype().is_float() && a.dtype() == b.dtype() && a.shape() == b.shape();
        let trained = *self.trained();
        let is_noisy = self.shadow().training.is_noisy;
        if let Some(place) = place
            && are_classes
            && is_noisy
            && trained.stepped
            && !trained.wants_training
        {
            self.note_at(&EVAL_MODE, place);
        }
    }
}

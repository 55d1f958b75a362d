//! Silent mistakes: code that runs and most likely does not do what was meant. Found while a check runs, shown once, never an error.
//!
//! `# ok: NAME` on the line silences a lint there, `%check quiet NAME` everywhere.
//!
//! **Invariant:** a lint speaks of lines of the user's cells only, and only where the check is certain.

use rustc_hash::FxHashSet;

use crate::bytecode::{Code, Op};
use crate::check::Trust;
use crate::check::training::{EVAL_MODE, KEPT_GRAPH, STEP_BACKWARD};
use crate::cx::Cx;
use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::objects::class::Instance;
use crate::objects::tensor::TensorObj;
use crate::operate::CompareOp;
use crate::source::{Source, Span};
use crate::sym::Sym;
use crate::value::Value;

/// One silent mistake.
pub struct Lint {
    pub name: &'static str,
    pub message: &'static str,
    /// What to do.
    pub next: &'static str,
}

/// Every lint, sorted.
pub static ALL: &[&Lint] = &[
    &BROADCAST_LOSS,
    &EVAL_DUMP,
    &EVAL_MODE,
    &FLOAT_EQ,
    &KEPT_GRAPH,
    &NLL_LOSS,
    &REMOVE_IN_LOOP,
    &SIGMOID_LOSS,
    &SOFTMAX_LOSS,
    &STEP_BACKWARD,
    &UNREGISTERED,
    &UNUSED_RESULT,
    &ZERO_GRAD,
];

pub(super) static BROADCAST_LOSS: Lint = Lint {
    name: "broadcast-loss",
    message: "[N, 1] with [N] gives [N, N]: every row is compared with every other",
    next: "give both one shape: `x.squeeze(1)` or `y[:, None]`",
};

/// Found when a function is dumped.
pub static EVAL_DUMP: Lint = Lint {
    name: "eval-dump",
    message: "the model is dumped as it trains: dropout and the statistics of the batch go into the file",
    next: "call `.eval()` on the model, then the function once more, then dump it",
};

static FLOAT_EQ: Lint = Lint {
    name: "float-eq",
    message: "these floats differ only by rounding, and `==` says that they are not equal",
    next: "compare with `math.isclose(a, b)`",
};

pub(super) static NLL_LOSS: Lint = Lint {
    name: "nll-loss",
    message: "nll_loss takes logarithms of probabilities; these are probabilities",
    next: "use `log_softmax` before it, or give the scores to `cross_entropy`",
};

pub(super) static REMOVE_IN_LOOP: Lint = Lint {
    name: "remove-in-loop",
    message: "this makes the list shorter that the loop goes over, and the loop passes over the next item",
    next: "loop over a copy, `for x in list(items)`, or build a new list of what stays",
};

pub(super) static SIGMOID_LOSS: Lint = Lint {
    name: "sigmoid-loss",
    message: "this loss takes scores and applies sigmoid itself; here it is applied twice",
    next: "give the scores to the loss, or use `BCELoss` for probabilities",
};

pub(super) static SOFTMAX_LOSS: Lint = Lint {
    name: "softmax-loss",
    message: "cross_entropy takes scores and applies softmax itself; here it is applied twice",
    next: "give the scores to the loss, and apply softmax only to look at probabilities",
};

pub(super) static UNREGISTERED: Lint = Lint {
    name: "unregistered",
    message: "parameters of these are not found: a plain list, tuple or dict of a module registers nothing",
    next: "use `nn.ModuleList` or `nn.ModuleDict` (`nn.ParameterList`, `nn.ParameterDict` for parameters)",
};

static UNUSED_RESULT: Lint = Lint {
    name: "unused-result",
    message: "this computes a new tensor that nobody keeps; what it is computed from stays as it is",
    next: "assign the result, or use the form in place, with `_` at the end",
};

static ZERO_GRAD: Lint = Lint {
    name: "zero-grad",
    message: "gradients of the step before are still there, and this backward adds to them",
    next: "call `optimizer.zero_grad()` before `backward()`",
};

/// The lint of a name.
pub fn find(name: &str) -> Option<&'static Lint> {
    ALL.iter().copied().find(|it| it.name == name)
}

/// Whether a function uses a module that is in training mode and does something else then: it drops out, or measures the batch.
pub fn trains(func: &Value) -> bool {
    let mut waiting = vec![func.clone()];
    let mut seen = FxHashSet::default();
    while let Some(value) = waiting.pop() {
        if !value.address().is_some_and(|it| seen.insert(it)) || seen.len() > MOST_MODULES {
            continue;
        }
        match &value {
            Value::Func(it) => used_globals(&it.code, &mut waiting),
            Value::Instance(it) if is_training(it) => return true,
            Value::Class(_) | Value::Module(_) | Value::Tensor(_) => continue,
            _ => {}
        }
        crate::cycles::children(&value, &mut |it| waiting.push(it.clone()));
    }
    false
}

/// Places of one lint that are told.
const MOST_PLACES: usize = 8;

/// Objects that are looked at to find modules.
const MOST_MODULES: usize = 20_000;

fn used_globals(code: &Code, found: &mut Vec<Value>) {
    let slots = code.globals.slots.borrow();
    let used = code.ops.iter().filter_map(|op| match op {
        Op::Global(slot) => slots.get(*slot as usize).map(|it| it.value.clone()),
        _ => None,
    });
    found.extend(used);
}

fn is_training(module: &Instance) -> bool {
    let class = module.class.name;
    let differs =
        ["Dropout", "AlphaDropout", "BatchNorm"].iter().any(|it| class.as_str().starts_with(it));
    differs && matches!(module.get(Sym::new("training")), Some(Value::Bool(true)))
}

/// What was there when a leaf last got a gradient.
#[derive(Clone, Copy)]
pub(crate) struct GradVersions {
    /// The version of the leaf when the sum was begun.
    leaf: u32,
    /// The version of the sum.
    sum: u32,
    /// A gradient was added to one that the leaf was changed by already: where, and the version of the leaf then. That is a mistake
    /// once the leaf is changed by this sum, too; until then the sum may still be thrown away.
    added: Option<(Span, u32)>,
}

impl Cx {
    /// Notes a lint at the line of the user's that is running.
    pub(crate) fn note(&mut self, lint: &'static Lint) {
        if let Some(span) = self.line_of_cell() {
            self.note_at(lint, span);
        }
    }

    /// The place in the user's cells that is running.
    pub(crate) fn line_of_cell(&self) -> Option<Span> {
        let of_cell = |it: &&crate::vm::frame::Frame| {
            self.sources.get(it.func.code.source).is_some_and(Source::is_cell)
        };
        let frame = self.machine.frames.iter().rev().find(of_cell)?;
        Some(frame.func.code.span(frame.ip.saturating_sub(1)))
    }

    /// Notes a lint at a place. Further places of a lint are told with the first.
    pub(super) fn note_at(&mut self, lint: &'static Lint, span: Span) {
        if self.check.as_deref().is_some_and(|it| it.trust != Trust::Values) {
            return;
        }
        let silent = self.is_meant(span, lint.name);
        let findings = match self.check.as_deref_mut() {
            Some(shadow) => &mut shadow.findings,
            None => &mut self.findings,
        };
        if silent {
            return;
        }
        if let Some(known) = findings.iter_mut().find(|it| it.code == lint.name) {
            let told = known.labels.iter().any(|it| it.span == span);
            if !told && known.labels.len() < MOST_PLACES && lint.name != ZERO_GRAD.name {
                known.labels.push(Label { span, text: "and here".to_owned() });
            }
            return;
        }
        let found = Diagnostic::error(lint.name, span, lint.message).with_help(lint.next);
        let found = Diagnostic { severity: Severity::Warning, ..found };
        findings.push(found);
    }

    /// Whether the line of a place says that what a lint finds there is meant.
    pub(crate) fn is_meant(&self, span: Span, name: &str) -> bool {
        let Some(source) = self.sources.get(span.source) else { return true };
        let line = source.line(source.line_column(span.start).0);
        line.split_once("# ok:").is_some_and(|it| it.1.contains(name))
    }

    /// A comparison, before it is made.
    pub(crate) fn lint_compare(&mut self, op: CompareOp, a: &Value, b: &Value) {
        let (Value::Float(a), Value::Float(b)) = (a, b) else { return };
        let near = (a - b).abs() <= 1e-9 * a.abs().max(b.abs());
        // Between an infinity and anything else, or between zero and the smallest numbers, nothing was rounded.
        let rounded = a.is_normal() && b.is_normal();
        if matches!(op, CompareOp::Eq | CompareOp::Ne) && a != b && near && rounded {
            self.note(&FLOAT_EQ);
        }
    }

    /// The result of a call, to be known again when the code that made it drops it, if it is `new` and an op's.
    pub(crate) fn lint_result(&mut self, value: &Value, new: bool) {
        let is_tensor = matches!(value, Value::Tensor(_));
        if let Value::Tensor(it) = value {
            self.lint_made(it);
        }
        let frames = self.machine.frames.len();
        self.shadow().latest = value.address().filter(|_| new && is_tensor).map(|it| (it, frames));
    }

    /// A value that a statement leaves behind.
    pub(crate) fn lint_drop(&mut self, value: &Value) {
        let frames = self.machine.frames.len();
        if let Value::Tensor(it) = value
            && std::rc::Rc::strong_count(it) == 1
            && self.shadow().latest == value.address().map(|it| (it, frames))
        {
            self.note(&UNUSED_RESULT);
        }
    }

    /// A gradient on its way to a leaf.
    pub(crate) fn lint_grad(&mut self, leaf: u64, object: &TensorObj) {
        let Some(known) = self.shadow().grad_versions.get(&leaf).copied() else { return };
        self.lint_added(&known, object);
        let stays = object.grad().is_some_and(|it| it.version() == known.sum);
        let place = self.line_of_cell();
        let versions = &mut self.shadow().grad_versions;
        // There is none, or it was changed since, perhaps to zero.
        if !stays {
            versions.remove(&leaf);
            return;
        }
        if let Some(entry) = versions.get_mut(&leaf)
            && known.leaf != object.version()
            && known.added.is_none()
        {
            entry.added = place.map(|it| (it, object.version()));
        }
    }

    /// Looks whether a leaf was changed by a sum that holds gradients of an earlier step.
    fn lint_added(&mut self, known: &GradVersions, object: &TensorObj) {
        let Some((place, leaf)) = known.added else { return };
        let stays = object.grad().is_some_and(|it| it.version() == known.sum);
        if stays && object.version() != leaf {
            self.note_at(&ZERO_GRAD, place);
        }
    }

    /// The end of a check: what the last steps have done.
    pub(crate) fn lint_end(&mut self) {
        let versions = self.shadow().grad_versions.iter();
        let mut all: Vec<_> = versions.map(|it| (*it.0, *it.1)).collect();
        all.sort_by_key(|it| it.1.added.map(|it| it.0.start));
        for (leaf, known) in all {
            if let Some(object) = TensorObj::of_leaf(leaf) {
                self.lint_added(&known, &object);
            }
        }
    }

    /// A gradient that has come to a leaf.
    pub(crate) fn lint_summed(&mut self, leaf: u64, object: &TensorObj) {
        let Some(sum) = object.grad() else { return };
        let known = self.shadow().grad_versions.get(&leaf).copied();
        let version = known.map_or(object.version(), |it| it.leaf);
        let added = known.and_then(|it| it.added);
        let versions = GradVersions { leaf: version, sum: sum.version(), added };
        self.shadow().grad_versions.insert(leaf, versions);
    }
}

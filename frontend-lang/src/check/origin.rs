//! Where tensors of a check come from, as far as lints ask: probabilities, thresholds, differences of all pairs.
//!
//! **Invariant:** nothing here keeps a tensor alive, and what was changed in place has no known origin.

use std::rc::{Rc, Weak};

use rustc_hash::FxHashMap;

use crate::check::lint::{BROADCAST_LOSS, NLL_LOSS, SIGMOID_LOSS, SOFTMAX_LOSS};
use crate::cx::Cx;
use crate::native::CallArgs;
use crate::objects::tensor::TensorObj;
use crate::operate::{BinaryOp, CompareOp};
use crate::ops_binding::OpFunction;
use crate::source::Span;
use crate::value::Value;

/// What made a tensor.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Origin {
    Softmax,
    LogSoftmax,
    Sigmoid,
    /// Yes or no for each element, from a comparison with a number.
    Threshold,
    /// Sums or means of rows.
    Reduced,
    /// `[N, 1]` minus `[N]`, and perhaps the size of that: a mistake if one number is made of it.
    Pairs(Span),
}

/// The origins of living tensors, by address.
#[derive(Default)]
pub(crate) struct Origins(FxHashMap<usize, (Weak<TensorObj>, u32, Origin)>);

/// More than that are forgotten.
const MOST: usize = 4_000;

/// Losses that compare row by row.
const DISTANCES: &[&str] = &["huber_loss", "l1_loss", "mse_loss", "smooth_l1_loss"];

/// Ops that arrange the same elements in another way.
const ARRANGE: &[&str] =
    &["clone", "flatten", "permute", "reshape", "squeeze", "t", "transpose", "unsqueeze", "view"];

/// Methods that keep what the elements mean.
const SAME: &[&str] = &[
    "clone",
    "contiguous",
    "cpu",
    "detach",
    "double",
    "float",
    "int",
    "long",
    "reshape",
    "to",
    "view",
];

impl Origins {
    fn get(&self, value: &Value) -> Option<Origin> {
        let Value::Tensor(it) = value else { return None };
        let (known, version, origin) = self.0.get(&Rc::as_ptr(it).addr())?;
        (known.strong_count() > 0 && *version == it.version()).then_some(*origin)
    }

    fn set(&mut self, value: &Value, origin: Origin) {
        let Value::Tensor(it) = value else { return };
        if self.0.len() >= MOST {
            self.0.clear();
        }
        let entry = (Rc::downgrade(it), it.version(), origin);
        self.0.insert(Rc::as_ptr(it).addr(), entry);
    }
}

impl Cx {
    fn origin(&mut self, value: &Value) -> Option<Origin> {
        self.shadow().origins.get(value)
    }

    fn hand_on(&mut self, from: &Value, to: &Value) {
        if let Some(origin) = self.origin(from) {
            self.shadow().origins.set(to, origin);
        }
    }

    /// `a op b` has given `result`.
    pub(crate) fn lint_binary(&mut self, op: BinaryOp, a: &Value, b: &Value, result: &Value) {
        if !matches!(result, Value::Tensor(_)) {
            return;
        }
        match op {
            BinaryOp::Sub if is_pairs(a, b) => self.note_pairs(a, b, result),
            BinaryOp::Pow | BinaryOp::TrueDiv => self.hand_on(a, result),
            BinaryOp::Mul if a.is(b) || !matches!(b, Value::Tensor(_)) => self.hand_on(a, result),
            BinaryOp::Mul if !matches!(a, Value::Tensor(_)) => self.hand_on(b, result),
            _ => {}
        }
    }

    /// A difference of all pairs. A column that was made as one, by a view or from rows, is meant so.
    fn note_pairs(&mut self, a: &Value, b: &Value, result: &Value) {
        let column = column_of(a, b);
        if is_view(column) || self.origin(column) == Some(Origin::Reduced) {
            return;
        }
        if let Some(span) = self.line_of_cell() {
            self.shadow().origins.set(result, Origin::Pairs(span));
        }
    }

    /// A comparison of tensors has given `result`.
    pub(crate) fn lint_compared(&mut self, op: CompareOp, a: &Value, b: &Value, result: &Value) {
        let is_tensor = |it: &Value| matches!(it, Value::Tensor(_));
        if !is_tensor(a) || !is_tensor(result) {
            return;
        }
        if op == CompareOp::Eq {
            let place = self.line_of_cell();
            self.lint_classes(a, b, place);
        }
        match op {
            CompareOp::Eq | CompareOp::Ne if is_pairs(a, b) => self.lint_equal(a, b),
            CompareOp::Lt | CompareOp::Le | CompareOp::Gt | CompareOp::Ge if !is_tensor(b) => {
                self.shadow().origins.set(result, Origin::Threshold);
            }
            _ => {}
        }
    }

    /// Predictions of yes or no that are compared with answers.
    fn lint_equal(&mut self, a: &Value, b: &Value) {
        let column = column_of(a, b);
        if !is_view(column) && self.origin(column) == Some(Origin::Threshold) {
            self.note(&BROADCAST_LOSS);
        }
    }

    /// A call of an op, before it is made.
    pub(crate) fn lint_call(&mut self, func: &Value, args: CallArgs<'_>) {
        let Some(OpFunction { op, .. }) = func.downcast::<OpFunction>() else { return };
        let named = |name: &str| args.keywords.iter().find(|it| it.0.as_str() == name);
        let given =
            |at: usize, name: &str| args.positional.get(at).or_else(|| named(name).map(|it| &it.1));
        self.lint_mode(op.name, args);
        let Some(input) = given(0, "input") else { return };
        if DISTANCES.contains(&op.name)
            && given(1, "target").is_some_and(|target| is_pairs(input, target))
        {
            self.note(&BROADCAST_LOSS);
        }
        let origin = self.origin(input);
        match (op.name, origin) {
            ("cross_entropy", Some(Origin::Softmax | Origin::LogSoftmax)) => {
                self.note(&SOFTMAX_LOSS);
            }
            ("nll_loss", Some(Origin::Softmax)) => self.note(&NLL_LOSS),
            ("binary_cross_entropy_with_logits", Some(Origin::Sigmoid)) => self.note(&SIGMOID_LOSS),
            _ => {}
        }
    }

    /// A call of an op has given `result`.
    pub(crate) fn lint_called(&mut self, func: &Value, args: CallArgs<'_>, result: &Value) {
        let Some(OpFunction { op, .. }) = func.downcast::<OpFunction>() else { return };
        let (Some(input), Value::Tensor(it)) = (args.positional.first(), result) else { return };
        let made = match op.name {
            "eq" => match args.positional {
                [a, b] => {
                    let place = self.line_of_cell();
                    return self.lint_classes(a, b, place);
                }
                _ => return,
            },
            "softmax" => Origin::Softmax,
            "log_softmax" => Origin::LogSoftmax,
            "sigmoid" => Origin::Sigmoid,
            "ge" | "gt" | "le" | "lt" | "round" => Origin::Threshold,
            "amax" | "amin" | "mean" | "norm" | "sum" if it.get().rank() == 0 => {
                if let Some(Origin::Pairs(span)) = self.origin(input) {
                    self.note_at(&BROADCAST_LOSS, span);
                }
                return;
            }
            "amax" | "amin" | "mean" | "norm" | "sum" => Origin::Reduced,
            "sub" => match args.positional {
                [a, b] if is_pairs(a, b) => return self.note_pairs(a, b, result),
                _ => return,
            },
            "abs" | "pow" | "square" => return self.hand_on(input, result),
            name if ARRANGE.contains(&name) => return self.hand_on(input, result),
            _ => return,
        };
        self.shadow().origins.set(result, made);
    }

    /// A method has made `result` of `from`.
    pub(crate) fn lint_converted(&mut self, method: &str, from: &Value, result: &Value) {
        if SAME.contains(&method) && matches!(from, Value::Tensor(_)) {
            self.hand_on(from, result);
        }
    }
}

/// Whether one is `[N, 1]` and the other `[N]`.
fn is_pairs(a: &Value, b: &Value) -> bool {
    let (Some(a), Some(b)) = (a.as_tensor(), b.as_tensor()) else { return false };
    let (a, b) = (a.get(), b.get());
    let fits = |column: &[usize], row: &[usize]| match (column, row) {
        ([n, 1], [m]) => n == m && *n > 1,
        _ => false,
    };
    fits(a.shape(), b.shape()) || fits(b.shape(), a.shape())
}

/// The one of two dimensions.
fn column_of<'a>(a: &'a Value, b: &'a Value) -> &'a Value {
    if a.as_tensor().is_some_and(|it| it.get().rank() == 2) { a } else { b }
}

/// Whether a tensor was taken from another, such as `x[:, None]`.
fn is_view(value: &Value) -> bool {
    value.as_tensor().is_some_and(|it| it.base_object().is_some())
}

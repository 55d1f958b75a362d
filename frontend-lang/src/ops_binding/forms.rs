//! Calls of an op in another form than that of its row, which another function answers: `torch.max(a, b)`, `torch.where(mask)`.
//!
//! The functions are written in the language, in `std/torch/forms.ng`.

use engine::OpDef;

use crate::native::*;

/// Another form of an op.
pub(super) struct Form {
    /// The op.
    op: &'static str,
    /// Whether a call has this form.
    pub(super) applies: fn(CallArgs<'_>) -> bool,
    /// What answers it, in `torch.forms`.
    function: &'static str,
}

/// Every form, sorted by op.
static ALL: &[Form] = &[
    Form {
        op: "cdist",
        applies: |args| argument(args, 3, "compute_mode").is_some(),
        function: "cdist",
    },
    Form { op: "clamp", applies: has_no_plain_limits, function: "clamp" },
    Form { op: "conv1d", applies: names_padding, function: "conv1d" },
    Form { op: "conv2d", applies: names_padding, function: "conv2d" },
    Form { op: "div", applies: |args| keyword(args, "rounding_mode").is_some(), function: "div" },
    Form {
        op: "index_put",
        applies: |args| matches!(args.positional.first(), Some(Value::Tensor(_))),
        function: "index_put",
    },
    Form { op: "max", applies: has_two_tensors, function: "max_of" },
    Form { op: "min", applies: has_two_tensors, function: "min_of" },
    Form {
        op: "nonzero",
        applies: |args| keyword(args, "as_tuple").is_some(),
        function: "nonzero",
    },
    Form { op: "norm", applies: has_no_plain_order, function: "norm" },
    Form { op: "normal", applies: draws_for_each, function: "normal" },
    Form { op: "repeat_interleave", applies: repeats_by_tensor, function: "repeat_interleave" },
    Form { op: "searchsorted", applies: looks_up_otherwise, function: "searchsorted" },
    Form {
        op: "where",
        applies: |args| args.positional.len() + args.keywords.len() == 1,
        function: "where_true",
    },
];

/// The other form of an op, if it has one.
pub(super) fn of(op: &OpDef) -> Option<&'static Form> {
    ALL.iter().find(|it| it.op == op.name)
}

impl Form {
    /// Whether it works in place as well.
    pub(super) fn keeps_shape(&self) -> bool {
        self.op == "clamp"
    }

    /// Calls the function that answers this form.
    pub(super) fn call(&self, cx: &mut Cx, args: CallArgs<'_>) -> Res {
        let module = cx.import("torch.forms")?;
        let function = cx.getattr(&module, Sym::of(self.function))?;
        cx.call_with(&function, args)
    }
}

fn keyword<'a>(args: CallArgs<'a>, name: &str) -> Option<&'a Value> {
    args.keywords.iter().find(|it| it.0.as_str() == name).map(|it| &it.1)
}

fn argument<'a>(args: CallArgs<'a>, at: usize, name: &str) -> Option<&'a Value> {
    args.positional.get(at).or_else(|| keyword(args, name))
}

fn names_padding(args: CallArgs<'_>) -> bool {
    matches!(argument(args, 4, "padding"), Some(Value::Str(_)))
}

fn has_two_tensors(args: CallArgs<'_>) -> bool {
    matches!(argument(args, 1, "other"), Some(Value::Tensor(_)))
}

fn has_no_plain_limits(args: CallArgs<'_>) -> bool {
    let limits = [argument(args, 1, "min"), argument(args, 2, "max")];
    limits.iter().any(|it| matches!(it, Some(Value::Tensor(_))))
        || limits.iter().all(|it| matches!(it, None | Some(Value::None)))
}

fn has_no_plain_order(args: CallArgs<'_>) -> bool {
    let order = argument(args, 1, "p");
    matches!(order, Some(Value::Str(_) | Value::None)) || keyword(args, "dtype").is_some()
}

fn repeats_by_tensor(args: CallArgs<'_>) -> bool {
    matches!(argument(args, 1, "repeats"), None | Some(Value::Tensor(_)))
}

fn draws_for_each(args: CallArgs<'_>) -> bool {
    let is_tensor = |at, name| matches!(argument(args, at, name), Some(Value::Tensor(_)));
    is_tensor(0, "mean") || is_tensor(1, "std")
}

/// Whether it is more than looking up a tensor in one vector of its dtype.
fn looks_up_otherwise(args: CallArgs<'_>) -> bool {
    if ["side", "out_int32", "sorter"].iter().any(|name| keyword(args, name).is_some()) {
        return true;
    }
    let line = argument(args, 0, "sorted_sequence").and_then(Value::as_tensor);
    let values = argument(args, 1, "values").and_then(Value::as_tensor);
    let (Some(line), Some(values)) = (line, values) else { return line.is_some() };
    let (line, values) = (line.get(), values.get());
    line.shape().rank() != 1 || line.dtype() != values.dtype()
}

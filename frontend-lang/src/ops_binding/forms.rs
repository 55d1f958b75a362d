//! Calls of an op in another form than that of its row, which another function answers: `torch.max(a, b)`, `torch.where(mask)`.
//!
//! Rows say which calls these are. The functions are written in the language, in `std/torch/forms.ng`.

use std::rc::Rc;

use engine::OpDef;
use engine::op::{Is, When};

use crate::native::*;
use crate::objects::tensor::TensorObj;
use crate::tensor::dtype;

/// The other form of an op.
pub(super) struct Form {
    applies: Condition,
    function: Sym,
}

/// A condition of a row, where each argument has its place.
enum Condition {
    Arg(Place, Is),
    Unlike(Place, Place),
    OneForRows(Place, Place),
    Any(Box<[Self]>),
    All(Box<[Self]>),
}

/// Where a call has an argument: at a position, or under a name.
struct Place {
    at: Option<usize>,
    name: Sym,
}

/// The other form of an op, if it has one; `in_place`, that of its method in place.
pub(super) fn of(op: &OpDef, in_place: bool) -> Option<Form> {
    let form = op.surface.form.as_ref().filter(|it| !in_place || it.in_place)?;
    Some(Form { applies: Condition::of(op, &form.when), function: Sym::of(form.function) })
}

impl Form {
    /// Whether a call has this form.
    pub(super) fn applies(&self, args: CallArgs<'_>) -> bool {
        self.applies.holds(args)
    }

    /// Calls the function that answers this form.
    pub(super) fn call(&self, cx: &mut Cx, args: CallArgs<'_>) -> Res {
        let module = cx.import("torch.forms")?;
        let function = cx.getattr(&module, self.function)?;
        cx.call_with(&function, args)
    }
}

impl Condition {
    fn of(op: &OpDef, when: &When) -> Self {
        let all = |parts: &[When]| parts.iter().map(|it| Self::of(op, it)).collect();
        match *when {
            When::Arg(name, is) => Self::Arg(Place::of(op, name), is),
            When::At(at, name, is) => Self::Arg(Place { at: Some(at), name: Sym::of(name) }, is),
            When::Unlike(a, b) => Self::Unlike(Place::of(op, a), Place::of(op, b)),
            When::OneForRows(a, b) => Self::OneForRows(Place::of(op, a), Place::of(op, b)),
            When::Any(parts) => Self::Any(all(parts)),
            When::All(parts) => Self::All(all(parts)),
        }
    }

    fn holds(&self, args: CallArgs<'_>) -> bool {
        let tensor = |it: &Place| it.argument(args).and_then(Value::as_tensor);
        match self {
            Self::Arg(place, is) => meets(place.argument(args), *is),
            Self::Unlike(a, b) => {
                matches!((tensor(a), tensor(b)), (Some(a), Some(b)) if a.get().dtype() != b.get().dtype())
            }
            Self::OneForRows(one, rows) => {
                let is_one = tensor(one).is_some_and(|it| it.seen().shape()[..] == [1]);
                let more = |it: &Rc<TensorObj>| it.seen().shape().first().is_some_and(|it| *it > 1);
                is_one && tensor(rows).is_some_and(more)
            }
            Self::Any(parts) => parts.iter().any(|it| it.holds(args)),
            Self::All(parts) => parts.iter().all(|it| it.holds(args)),
        }
    }
}

fn meets(argument: Option<&Value>, is: Is) -> bool {
    match is {
        Is::Absent => argument.is_none(),
        Is::Given => argument.is_some(),
        Is::None => matches!(argument, Some(Value::None)),
        Is::Number => {
            argument.is_some_and(|it| it.as_tensor().is_none() && it.as_float().is_some())
        }
        Is::DType => argument.is_some_and(dtype::is_one),
        Is::Str => matches!(argument, Some(Value::Str(_))),
        Is::Tensor => matches!(argument, Some(Value::Tensor(_))),
        Is::NoVector => matches!(argument, Some(Value::Tensor(it)) if it.seen().rank() != 1),
    }
}

impl Place {
    fn of(op: &OpDef, name: &'static str) -> Self {
        Self { at: op.params.iter().position(|it| it.name == name), name: Sym::of(name) }
    }

    fn argument<'a>(&self, args: CallArgs<'a>) -> Option<&'a Value> {
        let positional = self.at.and_then(|it| args.positional.get(it));
        positional.or_else(|| args.keywords.iter().find(|it| it.0 == self.name).map(|it| &it.1))
    }
}

#[cfg(test)]
mod tests {
    /// Each form that a row names has its function in the library.
    #[test]
    fn every_form_has_its_function() {
        let text = include_str!("../../std/torch/forms.ng");
        for op in engine::ops::all() {
            let Some(form) = &op.surface.form else { continue };
            let head = format!("\ndef {}(", form.function);
            assert!(text.contains(&head), "{}: no {}", op.name, form.function);
        }
    }
}

//! Modules and parameters in plain lists, tuples and dicts of a PyTorch module, which does not find them there.
//!
//! `std/torch/nn/modules/module.ng` looks for them when a checked cell walks a module; here is where the cell put them.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::lint::UNREGISTERED;
use crate::bytecode::{Code, Op};
use crate::native::*;
use crate::objects::class::Class;
use crate::source::Span;

/// What the module tells the check.
pub(crate) static FUNCTIONS: &[NativeFn] = &[
    function(
        "_to_look_into",
        "module, /",
        "Whether a check has yet to look for them.",
        |cx, args| {
            if !holds_containers(&args[0]) {
                return Ok(Value::Bool(false));
            }
            let address = args[0].address();
            let looked_into = cx.check.as_deref_mut().map(|it| &mut it.looked_into);
            let is_new = looked_into.zip(address).is_some_and(|(seen, it)| seen.insert(it));
            Ok(Value::Bool(is_new))
        },
    )
    .pure(),
    function(
        "_note_unregistered",
        "class, name, /",
        "Notes that an attribute of objects of a class holds what is not found.",
        note,
    )
    .pure(),
];

/// Whether an attribute of a module, or of a module in it, is a plain container of objects.
fn holds_containers(module: &Value) -> bool {
    let mut waiting = vec![module.clone()];
    let mut seen = FxHashSet::default();
    while let Some(Value::Instance(it)) = waiting.pop() {
        if !seen.insert(Rc::as_ptr(&it).addr()) {
            continue;
        }
        for (name, value) in it.attrs.borrow().iter() {
            match value {
                Value::Instance(_) => waiting.push(value.clone()),
                _ if name.as_str().starts_with('_') => {}
                Value::List(it) if it.items.borrow().iter().any(is_object) => return true,
                Value::Tuple(it) if it.iter().any(is_object) => return true,
                Value::Dict(it) if it.values().iter().any(is_object) => return true,
                _ => {}
            }
        }
    }
    false
}

fn is_object(value: &Value) -> bool {
    matches!(
        value,
        Value::Instance(_) | Value::Tensor(_) | Value::List(_) | Value::Tuple(_) | Value::Dict(_)
    )
}

fn note(cx: &mut Cx, args: Args<'_>) -> Res {
    let (Value::Class(class), Some(name)) = (&args[0], args[1].as_str()) else {
        return Ok(Value::None);
    };
    match cx.place_of_attribute(class, Sym::new(name)) {
        Some(span) => cx.note_at(&UNREGISTERED, span),
        None => cx.note(&UNREGISTERED),
    }
    Ok(Value::None)
}

impl Cx {
    /// Where methods of a class that stands in a cell first set an attribute.
    fn place_of_attribute(&self, class: &std::rc::Rc<Class>, name: Sym) -> Option<Span> {
        let in_cell = |code: &Code| self.sources.get(code.source).is_some_and(|it| it.is_cell());
        class.chain().find_map(|class| {
            let attrs = class.attrs.borrow();
            let funcs = attrs.values().filter_map(|it| match it {
                Value::Func(it) if in_cell(&it.code) => Some(it.code.clone()),
                _ => None,
            });
            funcs.filter_map(|code| set_in(&code, name)).min_by_key(|it| it.start)
        })
    }
}

fn set_in(code: &Code, name: Sym) -> Option<Span> {
    let sets = |op: &Op| match op {
        Op::SetAttr { name: it, .. } | Op::SetAttrL { name: it, .. } => *it == name,
        _ => false,
    };
    code.ops.iter().position(sets).map(|at| code.span(at))
}

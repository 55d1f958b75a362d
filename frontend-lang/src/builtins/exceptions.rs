//! What all exceptions can do.

use std::rc::Rc;

use crate::native::*;
use crate::objects::class::{Class, Instance};

/// A new exception object with these arguments.
pub fn instance(class: Rc<Class>, args: Vec<Value>) -> Rc<Instance> {
    let instance = Instance::new(class);
    instance.attrs.borrow_mut().insert(Sym::ARGS, Value::tuple(args));
    Rc::new(instance)
}

/// Whether a row is the `__init__` that does no more than [`instance`].
pub fn keeps_arguments(row: &'static NativeFn) -> bool {
    std::ptr::fn_addr_eq(row.run, init as Run)
}

/// Methods of `BaseException`.
pub static METHODS: &[NativeFn] = &[
    function("__init__", "self, *args, **kw", "Keeps the arguments.", init),
    function("__str__", "self", "The message.", str).pure(),
    function("__repr__", "self", "The constructor call.", repr).pure(),
    function("with_traceback", "self, tb", "Returns the exception.", with_traceback),
    function("add_note", "self, note", "Adds a line to the message.", add_note),
];

/// Computed attributes of `StopIteration` and its likes.
pub static GETTERS: &[Getter] =
    &[Getter { name: "value", doc: "What a generator returned.", get: value }];

fn init(_cx: &mut Cx, args: Args<'_>) -> Res {
    if !args.dict(2)?.is_empty() {
        return Err(type_error(format!("{}() takes no keyword arguments", type_name(&args[0]))));
    }
    if let Value::Instance(it) = &args[0] {
        it.set(Sym::ARGS, args[1].clone());
    }
    Ok(Value::None)
}

fn str(cx: &mut Cx, args: Args<'_>) -> Res {
    cx.exception_str(&args[0]).map(Value::str)
}

fn repr(cx: &mut Cx, args: Args<'_>) -> Res {
    let Value::Instance(it) = &args[0] else { return Ok(Value::str("")) };
    let items = it.get(Sym::ARGS).and_then(|it| it.as_tuple().cloned());
    let mut parts = Vec::new();
    for item in items.iter().flat_map(|it| it.iter()) {
        parts.push(cx.repr(item)?);
    }
    Ok(Value::str(format!("{}({})", it.class.name, parts.join(", "))))
}

fn with_traceback(_cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(args[0].clone())
}

fn add_note(cx: &mut Cx, args: Args<'_>) -> Res {
    let Value::Instance(it) = &args[0] else { return Ok(Value::None) };
    let note = Value::str(args.str(1)?);
    match it.get(Sym::NOTES) {
        Some(Value::List(notes)) => notes.push(note)?,
        _ => cx.setattr_plainly(&args[0], Sym::NOTES, Value::list(vec![note]))?,
    }
    Ok(Value::None)
}

fn value(_cx: &mut Cx, this: &Value) -> Res {
    let Value::Instance(it) = this else { return Ok(Value::None) };
    let args = it.get(Sym::ARGS);
    let first = args.as_ref().and_then(Value::as_tuple).and_then(|it| it.first().cloned());
    Ok(first.unwrap_or(Value::None))
}

//! Special methods of the containers, for `super().__getitem__(key)` and `list.__len__(it)`.
//!
//! They work on the builtin value inside an instance of a subclass.

use crate::native::*;

/// Methods of every container.
pub static CONTAINER: &[NativeFn] = &[
    function("__contains__", "self, item, /", "`item in self`.", contains).pure(),
    function("__iter__", "self, /", "`iter(self)`.", iter).pure(),
    function("__len__", "self, /", "`len(self)`.", len).pure(),
    function("__repr__", "self, /", "`repr(self)`.", repr).pure(),
];

/// Methods of strings, whose `repr` is their own.
pub static TEXT: &[NativeFn] = &[
    function("__contains__", "self, item, /", "`item in self`.", contains).pure(),
    function("__iter__", "self, /", "`iter(self)`.", iter).pure(),
    function("__len__", "self, /", "`len(self)`.", len).pure(),
];

/// Reading by index.
pub static READ: &[NativeFn] =
    &[function("__getitem__", "self, index, /", "`self[index]`.", getitem).pure()];

/// Reading by key.
pub static READ_KEY: &[NativeFn] =
    &[function("__getitem__", "self, key, /", "`self[key]`.", dict_getitem).pure()];

/// Writing.
pub static WRITE: &[NativeFn] = &[
    function("__delitem__", "self, index, /", "`del self[index]`.", delitem),
    function("__setitem__", "self, index, value, /", "`self[index] = value`.", setitem),
];

fn contains(cx: &mut Cx, args: Args<'_>) -> Res {
    cx.contains(args[0].core(), &args[1]).map(Value::Bool)
}

fn iter(cx: &mut Cx, args: Args<'_>) -> Res {
    cx.iter(args[0].core())
}

fn len(cx: &mut Cx, args: Args<'_>) -> Res {
    cx.len(args[0].core()).map(Value::from)
}

fn repr(cx: &mut Cx, args: Args<'_>) -> Res {
    cx.repr(args[0].core()).map(Value::str)
}

fn getitem(cx: &mut Cx, args: Args<'_>) -> Res {
    cx.getitem(args[0].core(), &args[1])
}

fn dict_getitem(cx: &mut Cx, args: Args<'_>) -> Res {
    if let Some(value) = args.dict(0)?.get(cx, &args[1])? {
        return Ok(value);
    }
    match cx.call_special(&args[0], Sym::MISSING, std::slice::from_ref(&args[1]))? {
        Some(value) => Ok(value),
        None => Err(key_error(args[1].clone())),
    }
}

fn setitem(cx: &mut Cx, args: Args<'_>) -> Res {
    cx.setitem(args[0].core(), &args[1], args[2].clone())?;
    Ok(Value::None)
}

fn delitem(cx: &mut Cx, args: Args<'_>) -> Res {
    cx.delitem(args[0].core(), &args[1])?;
    Ok(Value::None)
}

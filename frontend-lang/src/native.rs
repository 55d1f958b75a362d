//! Functions, types and modules written in Rust, declared as rows.
//!
//! # How to add things
//! **A function** is one row and one `fn`. The signature is Python's own text; `/` and `*` work as
//! there. Defaults are literals, or `...` for "omitted", which the function sees as
//! `Value::Unbound` (`args.given(i)` is false). `*rest` arrives as a tuple, `**kw` as a dict.
//! ```
//! use frontend_lang::native::*;
//! static FUNCTIONS: &[NativeFn] =
//!     &[function("gcd", "a, b=0, /", "Greatest common divisor.", gcd).pure()];
//!
//! fn gcd(_cx: &mut Cx, args: Args<'_>) -> Res {
//!     let (mut a, mut b) = (args.int(0)?, args.int(1)?);
//!     while b != 0 {
//!         (a, b) = (b, a % b);
//!     }
//!     Ok(Value::Int(a.abs()))
//! }
//! ```
//! **Methods** are functions whose first parameter is `self`; put the table into the `methods` of
//! the type's [`NativeType`] row (`builtins/types.rs` for `str`, `list`, `dict`, `set`, `tuple`).
//! **An object** is a struct with `impl NativeObject`; its `native_type` row carries name, methods,
//! getters and constructor. `Value::object(it)` makes a value of it, `value.downcast::<T>()` finds
//! it again. Keep state in `Cell`/`RefCell` and hold no borrow across a call of `cx`.
//! **A module** is one [`NativeModule`] row in its own file, listed in `builtins/mod.rs`.
//! Use `effect: Pure` (`.pure()`) for functions that the check before running may really run.
//! **Raise** with `Err(type_error("..."))` and its siblings in [`crate::error`]. **Iterate** any
//! value with `let iter = cx.iter(&value)?; while let Some(item) = cx.next(&iter)? {..}`, or take
//! `cx.collect(&value)?`. **Call** with `cx.call(&func, &[a, b])?`. `cx.repr`, `cx.str`, `cx.truth`,
//! `cx.eq`, `cx.compare`, `cx.hash`, `cx.len`, `cx.getattr`, `cx.getitem`, `cx.binary` do what
//! Python does. Input and output go through `cx.host`. Long loops call `cx.poll()?`.

use std::any::Any;
use std::ops::Index;
use std::rc::Rc;

pub use crate::cx::{Cx, Mode};
pub use crate::error::*;
use crate::objects::function::Func;
pub use crate::operate::{BinaryOp, CompareOp, UnaryOp};
pub use crate::params::Params;
pub use crate::sym::Sym;
pub use crate::table::{Dict, Set};
pub use crate::value::{List, Tuple, Value};

/// What natives return.
pub type Res = Result<Value, Raised>;

/// What a function written in Rust does.
pub type Run = fn(&mut Cx, Args<'_>) -> Res;

/// The short way of a function: its result for positional arguments as written, where that takes no code of the user and
/// raises nothing. `None`: nothing has happened, `run` does it.
pub type Quick = fn(&[Value]) -> Option<Value>;

/// One function or method.
pub struct NativeFn {
    pub name: &'static str,
    pub params: Params,
    pub doc: &'static str,
    pub effect: Effect,
    pub run: Run,
    pub quick: Option<Quick>,
}

/// What calling a function does to the world, for the check before running.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Depends on its arguments only and changes nothing.
    Pure,
    /// Changes something; the check skips it.
    Effect,
    /// Changes or tells what is no value of the program: settings of the session, files, what is shown. The check takes it as `Effect`.
    Session,
    /// Its result cannot be known before running.
    Opaque,
}

/// A row for a function; `signature` as in Python, without the brackets.
pub const fn function(
    name: &'static str,
    signature: &'static str,
    doc: &'static str,
    run: Run,
) -> NativeFn {
    NativeFn {
        name,
        params: Params::parse(signature),
        doc,
        effect: Effect::Effect,
        run,
        quick: None,
    }
}

impl NativeFn {
    /// The same row, marked as pure.
    pub const fn pure(mut self) -> NativeFn {
        self.effect = Effect::Pure;
        self
    }

    /// The same row, with a short way.
    pub const fn quick(mut self, quick: Quick) -> NativeFn {
        self.quick = Some(quick);
        self
    }

    /// The same row, marked as about the session.
    pub const fn session(mut self) -> NativeFn {
        self.effect = Effect::Session;
        self
    }

    /// The same row, marked as opaque.
    pub const fn opaque(mut self) -> NativeFn {
        self.effect = Effect::Opaque;
        self
    }
}

/// One type: `int`, `list`, `ValueError`, `GradManager` ...
pub struct NativeType {
    pub name: &'static str,
    /// The module shown in `repr` of the class; empty for builtins.
    pub module: &'static str,
    pub doc: &'static str,
    /// `None` stands for `object`.
    pub base: Option<&'static NativeType>,
    /// Called when the class is called; its first parameter is the class.
    pub new: Option<NativeFn>,
    pub methods: &'static [&'static [NativeFn]],
    /// Functions of the class that take no `self`.
    pub statics: &'static [NativeFn],
    pub getters: &'static [Getter],
}

impl NativeType {
    /// A row with a name and a line of help, to be filled with `..NativeType::plain(name, doc)`.
    pub const fn plain(name: &'static str, doc: &'static str) -> NativeType {
        NativeType {
            name,
            module: "",
            doc,
            base: None,
            new: None,
            methods: &[],
            statics: &[],
            getters: &[],
        }
    }
}

/// A computed attribute.
pub struct Getter {
    pub name: &'static str,
    pub doc: &'static str,
    pub get: fn(&mut Cx, &Value) -> Res,
}

/// One built-in module.
pub struct NativeModule {
    pub name: &'static str,
    pub doc: &'static str,
    pub members: &'static [Member],
    /// Other names under which `import` finds it.
    pub aliases: &'static [&'static str],
}

/// What a module holds.
pub enum Member {
    Functions(&'static [NativeFn]),
    Types(&'static [&'static NativeType]),
    Int(&'static str, i64),
    Float(&'static str, f64),
    Str(&'static str, &'static str),
    /// A value made when the module is first imported.
    Make(&'static str, fn(&mut Cx) -> Res),
    /// A name that another module also has: own name, module, name there.
    From(&'static str, &'static str, &'static str),
    /// Names that another module also has, under the same names: module, names.
    These(&'static str, &'static [&'static str]),
    /// All public names of another module.
    AllOf(&'static str),
    /// A module as an attribute: own name, full module name.
    Module(&'static str, &'static str),
    /// Names and values that are known only at run time, such as one function for each op.
    #[expect(clippy::type_complexity, reason = "the function of one field, told in full")]
    Each(fn(&mut Cx) -> Result<Vec<(Sym, Value)>, Raised>),
}

/// Arguments of a call as written.
#[derive(Clone, Copy)]
pub struct CallArgs<'a> {
    pub positional: &'a [Value],
    pub keywords: &'a [(Sym, Value)],
}

/// Bound arguments: one value per parameter.
#[derive(Clone, Copy)]
pub struct Args<'a> {
    values: &'a [Value],
}

impl<'a> Args<'a> {
    /// Wraps values that are already in parameter order.
    pub fn new(values: &'a [Value]) -> Args<'a> {
        Args { values }
    }

    /// All of them.
    pub fn all(self) -> &'a [Value] {
        self.values
    }

    /// False if the argument was omitted and its default is `...`.
    pub fn given(self, idx: usize) -> bool {
        !self.values[idx].is_unbound()
    }

    /// The argument, or `None` if it was omitted or is `None`.
    pub fn opt(self, idx: usize) -> Option<&'a Value> {
        Some(&self.values[idx]).filter(|it| !it.is_none() && !it.is_unbound())
    }

    /// An integer; bools and `__index__`-like natives count.
    pub fn int(self, idx: usize) -> Result<i64, Raised> {
        let value = &self.values[idx];
        if let Some(int) = value.as_int() {
            return Ok(int);
        }
        match value.as_native().and_then(|it| it.as_index()) {
            Some(int) => Ok(int),
            None => Err(type_error(format!(
                "'{}' object cannot be interpreted as an integer",
                type_name(value)
            ))),
        }
    }

    /// An integer, or `None`.
    pub fn opt_int(self, idx: usize) -> Result<Option<i64>, Raised> {
        self.opt(idx).map(|_| self.int(idx)).transpose()
    }

    /// A number as float.
    pub fn float(self, idx: usize) -> Result<f64, Raised> {
        let value = &self.values[idx];
        if let Some(float) = value.as_float() {
            return Ok(float);
        }
        match value.as_native().and_then(|it| it.as_float()) {
            Some(float) => Ok(float),
            None => Err(type_error(format!("must be real number, not {}", type_name(value)))),
        }
    }

    /// A string.
    pub fn str(self, idx: usize) -> Result<&'a str, Raised> {
        let value = &self.values[idx];
        value.as_str().ok_or_else(|| type_error(format!("expected str, got {}", type_name(value))))
    }

    /// A string, or `None`.
    pub fn opt_str(self, idx: usize) -> Result<Option<&'a str>, Raised> {
        self.opt(idx).map(|_| self.str(idx)).transpose()
    }

    /// A list.
    pub fn list(self, idx: usize) -> Result<&'a Rc<List>, Raised> {
        let value = &self.values[idx];
        value
            .as_list()
            .ok_or_else(|| type_error(format!("expected list, got {}", type_name(value))))
    }

    /// A tuple.
    pub fn tuple(self, idx: usize) -> Result<&'a Rc<Tuple>, Raised> {
        let value = &self.values[idx];
        value
            .as_tuple()
            .ok_or_else(|| type_error(format!("expected tuple, got {}", type_name(value))))
    }

    /// A dict; also what `**kw` is.
    pub fn dict(self, idx: usize) -> Result<&'a Rc<Dict>, Raised> {
        let value = &self.values[idx];
        value
            .as_dict()
            .ok_or_else(|| type_error(format!("expected dict, got {}", type_name(value))))
    }

    /// A set.
    pub fn set(self, idx: usize) -> Result<&'a Rc<Set>, Raised> {
        let value = &self.values[idx];
        value.as_set().ok_or_else(|| type_error(format!("expected set, got {}", type_name(value))))
    }

    /// The items of `*rest`.
    pub fn rest(self, idx: usize) -> &'a [Value] {
        match &self.values[idx] {
            Value::Tuple(items) => items,
            _ => &[],
        }
    }

    /// An object of a type that a Rust file defines.
    pub fn object<T: NativeObject>(self, idx: usize) -> Result<&'a T, Raised> {
        let value = &self.values[idx];
        value
            .downcast::<T>()
            .ok_or_else(|| type_error(format!("unexpected {} object", type_name(value))))
    }
}

impl Index<usize> for Args<'_> {
    type Output = Value;

    fn index(&self, idx: usize) -> &Value {
        &self.values[idx]
    }
}

/// The hooks of a type defined in Rust. `this` is the value that holds `self`, to be cloned where
/// the object must keep or return itself. Each default says "not supported", so a type writes only
/// what it has; `Ok(None)` lets the caller try the next way or raise Python's `TypeError`.
#[allow(unused_variables)]
pub trait NativeObject: 'static {
    /// The row of the type.
    fn native_type(&self) -> &'static NativeType;

    /// For `Value::downcast`.
    fn as_any(&self) -> &dyn Any;

    /// Attributes beyond the methods and getters of the row; asked first.
    fn getattr(&self, cx: &mut Cx, this: &Value, name: Sym) -> Result<Option<Value>, Raised> {
        Ok(None)
    }

    /// Sets an attribute; `false` means that there is none of this name.
    fn setattr(&self, cx: &mut Cx, this: &Value, name: Sym, value: &Value) -> Result<bool, Raised> {
        Ok(false)
    }

    /// Deletes an attribute; `false` means that there is none of this name.
    fn delattr(&self, cx: &mut Cx, name: Sym) -> Result<bool, Raised> {
        Ok(false)
    }

    /// Names that `getattr` answers, for completion and `dir`.
    fn attributes(&self) -> Vec<Sym> {
        Vec::new()
    }

    /// True if `call` works.
    fn is_callable(&self) -> bool {
        false
    }

    /// True for function-like objects that bind `self` when found in a class.
    fn binds_self(&self) -> bool {
        false
    }

    /// The function that a call runs in its place, with the same arguments, as the machine runs now; None for what `call` does. Asked once for
    /// each call.
    fn stands_for(&self, mode: Mode) -> Option<Rc<Func>> {
        None
    }

    /// Calls the object.
    fn call(&self, cx: &mut Cx, this: &Value, args: CallArgs<'_>) -> Res {
        Err(type_error(format!("'{}' object is not callable", self.native_type().name)))
    }

    /// `this op other`, or `other op this` if `reflected`.
    fn binary(
        &self,
        cx: &mut Cx,
        op: BinaryOp,
        this: &Value,
        other: &Value,
        reflected: bool,
    ) -> Result<Option<Value>, Raised> {
        Ok(None)
    }

    /// `this op= other`; the result is what the name is bound to.
    fn inplace(
        &self,
        cx: &mut Cx,
        op: BinaryOp,
        this: &Value,
        other: &Value,
    ) -> Result<Option<Value>, Raised> {
        Ok(None)
    }

    /// `-this`, `+this`, `~this`.
    fn unary(&self, cx: &mut Cx, op: UnaryOp, this: &Value) -> Result<Option<Value>, Raised> {
        Ok(None)
    }

    /// `this op other`; the machine mirrors the operator when `this` stands on the right.
    fn compare(
        &self,
        cx: &mut Cx,
        op: CompareOp,
        this: &Value,
        other: &Value,
    ) -> Result<Option<Value>, Raised> {
        Ok(None)
    }

    /// Truth value.
    fn truth(&self, cx: &mut Cx) -> Result<bool, Raised> {
        Ok(self.len(cx)?.is_none_or(|len| len > 0))
    }

    /// `len(this)`.
    fn len(&self, cx: &mut Cx) -> Result<Option<usize>, Raised> {
        Ok(None)
    }

    /// `this[index]`.
    fn getitem(&self, cx: &mut Cx, this: &Value, index: &Value) -> Result<Option<Value>, Raised> {
        Ok(None)
    }

    /// `this[index] = value`; `false` means not supported.
    fn setitem(
        &self,
        cx: &mut Cx,
        this: &Value,
        index: &Value,
        value: &Value,
    ) -> Result<bool, Raised> {
        Ok(false)
    }

    /// `del this[index]`; `false` means not supported.
    fn delitem(&self, cx: &mut Cx, this: &Value, index: &Value) -> Result<bool, Raised> {
        Ok(false)
    }

    /// `item in this`.
    fn contains(&self, cx: &mut Cx, this: &Value, item: &Value) -> Result<Option<bool>, Raised> {
        Ok(None)
    }

    /// `iter(this)`; iterators return `this`.
    fn iter(&self, cx: &mut Cx, this: &Value) -> Result<Option<Value>, Raised> {
        Ok(None)
    }

    /// The next item; `Ok(None)` is the end. Asked only of what `iter` returned.
    fn next(&self, cx: &mut Cx, this: &Value) -> Result<Option<Value>, Raised> {
        Err(type_error(format!("'{}' object is not an iterator", self.native_type().name)))
    }

    /// True if `next` works.
    fn is_iterator(&self) -> bool {
        false
    }

    /// `with this as it`; `None` means that the object is no context manager.
    fn enter(&self, cx: &mut Cx, this: &Value) -> Result<Option<Value>, Raised> {
        Ok(None)
    }

    /// The end of `with`; `error` is the exception or `None`. True swallows it.
    fn exit(&self, cx: &mut Cx, this: &Value, error: &Value) -> Result<bool, Raised> {
        Ok(false)
    }

    /// `repr(this)`.
    fn repr(&self, cx: &mut Cx) -> Result<String, Raised> {
        let row = self.native_type();
        let dot = if row.module.is_empty() { "" } else { "." };
        Ok(format!("<{}{dot}{} object>", row.module, row.name))
    }

    /// `str(this)`.
    fn str(&self, cx: &mut Cx) -> Result<String, Raised> {
        self.repr(cx)
    }

    /// `hash(this)`; `None` is identity.
    fn hash(&self, cx: &mut Cx) -> Result<Option<i64>, Raised> {
        Ok(None)
    }

    /// The value as an integer, for indices and counts.
    fn as_index(&self) -> Option<i64> {
        None
    }

    /// The value as a float.
    fn as_float(&self) -> Option<f64> {
        self.as_index().map(|it| it as f64)
    }

    /// `format(this, spec)`; `None` leaves it to `str`.
    fn format(&self, cx: &mut Cx, spec: &str) -> Result<Option<String>, Raised> {
        Ok(None)
    }

    /// The array that stands for the object where numbers are wanted.
    fn array(&self, cx: &mut Cx) -> Result<Option<Value>, Raised> {
        Ok(None)
    }

    /// True if values can be stored in the object after it is made, for cycle collection.
    fn keeps_values(&self) -> bool {
        false
    }

    /// True if nothing a program does can change the object, so that a check may share it.
    fn is_constant(&self) -> bool {
        false
    }

    /// True if what it holds, as `traverse` shows it, is all that can change in it.
    fn shows_state(&self) -> bool {
        self.is_constant()
    }

    /// A copy for the check before running; `None` makes the object unknown there.
    fn adopt(&self, cx: &mut Cx, this: &Value) -> Result<Option<Value>, Raised> {
        Ok(self.is_constant().then(|| this.clone()))
    }

    /// Shows every value the object holds to `visit`, for cycle collection.
    fn traverse(&self, visit: &mut dyn FnMut(&Value)) {}

    /// Drops every value the object holds, to break a cycle.
    fn clear(&self) {}
}

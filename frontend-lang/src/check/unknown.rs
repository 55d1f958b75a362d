//! Values that a check does not know: elements of tensors, time, chance, files, and what is computed from them.
//!
//! Operators, attributes, items and calls of an unknown are unknown. Since it may be any object of the session, calling it and storing into
//! it may change whatever the cell can reach, and the check goes on without trust in values. Whatever else looks at one is *noted* ([`touch`]); who called
//! it sees the note and takes the answer for unknown too, or ends the check.

use std::any::Any;
use std::cell::Cell;

use engine::Tensor;

use crate::native::*;

thread_local! {
    static TOUCHED: Cell<bool> = const { Cell::new(false) };
    static VAGUE: Cell<bool> = const { Cell::new(false) };
    static MADE: Cell<bool> = const { Cell::new(false) };
}

/// Notes that something looked at what is not known.
pub fn touch() {
    TOUCHED.set(true);
}

/// Whether something did since the last call; sets the note.
pub fn touched(now: bool) -> bool {
    TOUCHED.replace(now)
}

/// Whether something was computed since the last call of which nothing is known, not even how large it is; sets the note.
pub fn vague(now: bool) -> bool {
    VAGUE.replace(now)
}

/// Whether an unknown was made since the last call; sets the note.
pub(crate) fn made(now: bool) -> bool {
    MADE.replace(now)
}

/// What is known about an unknown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Any,
    Int,
    Float,
}

/// A value that is not known.
pub struct Unknown {
    kind: Kind,
    role: Role,
}

/// What is known of the object behind an unknown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It may be any object of the session.
    Any,
    /// A method that changes nothing, or nothing that is known.
    Harmless,
    /// A list, dict or set: its methods change nothing but itself.
    Container,
    /// A live iterator: who takes its next item may run code.
    Running,
    /// An object of Python: it changes nothing of the session but by functions that it is given.
    Foreign,
}

/// The type of unknowns; programs never see it.
static UNKNOWN: NativeType = NativeType::plain("unknown", "A value that the check does not know.");

/// An unknown as a value.
pub fn unknown(kind: Kind) -> Value {
    make(kind, Role::Any)
}

fn make(kind: Kind, role: Role) -> Value {
    MADE.set(true);
    Value::object(Unknown { kind, role })
}

/// A container of which nothing else is known.
pub(crate) fn container() -> Value {
    make(Kind::Any, Role::Container)
}

/// A live iterator as an unknown.
pub(crate) fn running() -> Value {
    make(Kind::Any, Role::Running)
}

/// An object of Python.
pub(crate) fn foreign() -> Value {
    make(Kind::Any, Role::Foreign)
}

/// How deep lists and dicts are looked into.
const DEEPEST: usize = 8;

/// Whether Python may run code of the session when it has this.
fn may_call_back(value: &Value, depth: usize) -> bool {
    let inner = |it: &Value| may_call_back(it, depth + 1);
    match value {
        _ if depth > DEEPEST => true,
        Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Str(_) => false,
        Value::Tensor(_) | Value::Native(_) | Value::Slice(_) => false,
        Value::Class(it) => it.native.is_none(),
        Value::Tuple(it) => it.iter().any(inner),
        Value::List(it) => it.items.borrow().iter().any(inner),
        Value::Dict(it) => it.values().iter().any(inner),
        other => !of(other).is_some_and(|it| it.role == Role::Foreign || it.kind != Kind::Any),
    }
}

/// What is known about `value`, if it is an unknown.
pub fn kind_of(value: &Value) -> Option<Kind> {
    of(value).map(|it| it.kind)
}

/// Whether `value` stands for a live iterator.
pub(crate) fn is_running(value: &Value) -> bool {
    of(value).is_some_and(|it| it.role == Role::Running)
}

fn of(value: &Value) -> Option<&Unknown> {
    match value {
        Value::Object(it) => it.as_any().downcast_ref::<Unknown>(),
        _ => None,
    }
}

/// An unknown number as an operand of a tensor, whose elements are not known either.
pub fn operand(value: &Value) -> Option<Tensor> {
    match kind_of(value)? {
        Kind::Int => Some(Tensor::int_number(1)),
        Kind::Float => Some(Tensor::number(1.0)),
        Kind::Any => None,
    }
}

/// Methods of built-in types that change nothing.
const HARMLESS: &[&str] = &[
    "abs",
    "argmax",
    "argmin",
    "astype",
    "capitalize",
    "clone",
    "copy",
    "count",
    "cpu",
    "decode",
    "detach",
    "dim",
    "encode",
    "endswith",
    "exp",
    "find",
    "float",
    "format",
    "get",
    "index",
    "int",
    "is_integer",
    "isalpha",
    "isdigit",
    "item",
    "items",
    "join",
    "keys",
    "log",
    "long",
    "lower",
    "lstrip",
    "max",
    "mean",
    "min",
    "norm",
    "numel",
    "numpy",
    "permute",
    "pow",
    "read",
    "replace",
    "reshape",
    "round",
    "rstrip",
    "size",
    "softmax",
    "split",
    "splitlines",
    "sqrt",
    "squeeze",
    "startswith",
    "std",
    "strip",
    "sum",
    "title",
    "to",
    "tolist",
    "transpose",
    "unsqueeze",
    "upper",
    "values",
    "view",
];

fn not_known<T>() -> Result<T, Raised> {
    touch();
    Err(runtime_error("this value is not known before running"))
}

/// Whether adding it to something in place changes numbers only.
fn is_number(value: &Value) -> bool {
    matches!(value, Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::Tensor(_))
        || matches!(kind_of(value), Some(Kind::Int | Kind::Float))
}

impl Cx {
    /// Python runs code with these. What it has of the session's functions and objects, now or since an earlier cell, it may use.
    fn foreign_runs<'a>(&mut self, given: impl IntoIterator<Item = &'a Value>) {
        let gives = given.into_iter().any(|it| may_call_back(it, 0));
        let has_given = std::mem::replace(&mut self.shadow().has_given, gives);
        self.shadow().has_given |= has_given;
        if gives || has_given || self.python.holds_ours() {
            self.trust_no_values();
        }
    }
}

impl Unknown {
    /// Somebody asks for an item.
    fn run(&self, cx: &mut Cx) {
        match self.role {
            Role::Running => cx.trust_no_values(),
            Role::Foreign => cx.foreign_runs([]),
            _ => {}
        }
    }

    /// What an arithmetic operator makes of it.
    fn with(&self, op: BinaryOp, other: &Value) -> Kind {
        if self.kind == Kind::Any {
            VAGUE.set(true);
        }
        let other = match other {
            Value::Int(_) | Value::Bool(_) => Kind::Int,
            Value::Float(_) => Kind::Float,
            other => kind_of(other).unwrap_or(Kind::Any),
        };
        match (self.kind, other, op) {
            (Kind::Any, _, _) | (_, Kind::Any, _) | (_, _, BinaryOp::Pow) => Kind::Any,
            (_, _, BinaryOp::TrueDiv) => Kind::Float,
            (Kind::Int, Kind::Int, _) => Kind::Int,
            _ => Kind::Float,
        }
    }
}

impl NativeObject for Unknown {
    fn native_type(&self) -> &'static NativeType {
        touch();
        &UNKNOWN
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn getattr(&self, _cx: &mut Cx, _this: &Value, name: Sym) -> Result<Option<Value>, Raised> {
        if self.role == Role::Foreign {
            return Ok(Some(foreign()));
        }
        let is_harmless = self.kind != Kind::Any
            || self.role == Role::Container
            || HARMLESS.contains(&name.as_str());
        Ok(Some(make(Kind::Any, if is_harmless { Role::Harmless } else { Role::Any })))
    }

    fn setattr(&self, cx: &mut Cx, _: &Value, _: Sym, value: &Value) -> Result<bool, Raised> {
        match self.role {
            Role::Foreign => cx.foreign_runs([value]),
            _ => cx.trust_no_values(),
        }
        Ok(true)
    }

    fn is_callable(&self) -> bool {
        true
    }

    fn call(&self, cx: &mut Cx, _this: &Value, args: CallArgs<'_>) -> Res {
        VAGUE.set(true);
        if self.role == Role::Foreign {
            cx.foreign_runs(args.positional.iter().chain(args.keywords.iter().map(|it| &it.1)));
            return Ok(foreign());
        }
        if self.role != Role::Harmless {
            cx.trust_no_values();
        }
        Ok(unknown(Kind::Any))
    }

    fn binary(
        &self,
        _cx: &mut Cx,
        op: BinaryOp,
        _this: &Value,
        other: &Value,
        _reflected: bool,
    ) -> Result<Option<Value>, Raised> {
        Ok(Some(unknown(self.with(op, other))))
    }

    fn inplace(
        &self,
        cx: &mut Cx,
        op: BinaryOp,
        _this: &Value,
        other: &Value,
    ) -> Result<Option<Value>, Raised> {
        let kind = self.with(op, other);
        if kind == Kind::Any && self.role != Role::Container && !is_number(other) {
            cx.trust_no_values();
        }
        Ok(Some(unknown(kind)))
    }

    fn unary(&self, _cx: &mut Cx, _op: UnaryOp, _this: &Value) -> Result<Option<Value>, Raised> {
        Ok(Some(unknown(self.kind)))
    }

    fn compare(
        &self,
        _cx: &mut Cx,
        _op: CompareOp,
        _this: &Value,
        _other: &Value,
    ) -> Result<Option<Value>, Raised> {
        Ok(Some(unknown(Kind::Any)))
    }

    fn truth(&self, _cx: &mut Cx) -> Result<bool, Raised> {
        not_known()
    }

    fn len(&self, _cx: &mut Cx) -> Result<Option<usize>, Raised> {
        not_known()
    }

    fn getitem(&self, _: &mut Cx, _: &Value, _: &Value) -> Result<Option<Value>, Raised> {
        Ok(Some(if self.role == Role::Foreign { foreign() } else { unknown(Kind::Any) }))
    }

    fn setitem(&self, cx: &mut Cx, _: &Value, _: &Value, value: &Value) -> Result<bool, Raised> {
        match self.role {
            Role::Container => {}
            Role::Foreign => cx.foreign_runs([value]),
            _ => cx.trust_no_values(),
        }
        Ok(true)
    }

    fn delitem(&self, cx: &mut Cx, _this: &Value, _index: &Value) -> Result<bool, Raised> {
        if !matches!(self.role, Role::Container | Role::Foreign) {
            cx.trust_no_values();
        }
        Ok(true)
    }

    fn contains(&self, _: &mut Cx, _: &Value, _: &Value) -> Result<Option<bool>, Raised> {
        not_known()
    }

    fn iter(&self, cx: &mut Cx, _this: &Value) -> Result<Option<Value>, Raised> {
        self.run(cx);
        not_known()
    }

    fn next(&self, cx: &mut Cx, _this: &Value) -> Result<Option<Value>, Raised> {
        self.run(cx);
        not_known()
    }

    fn enter(&self, cx: &mut Cx, _this: &Value) -> Result<Option<Value>, Raised> {
        if self.role == Role::Foreign {
            cx.foreign_runs([]);
            return Ok(Some(foreign()));
        }
        cx.trust_no_values();
        Ok(Some(unknown(Kind::Any)))
    }

    fn repr(&self, _cx: &mut Cx) -> Result<String, Raised> {
        not_known()
    }

    fn hash(&self, _cx: &mut Cx) -> Result<Option<i64>, Raised> {
        not_known()
    }

    fn as_index(&self) -> Option<i64> {
        touch();
        None
    }

    fn as_float(&self) -> Option<f64> {
        touch();
        None
    }

    fn format(&self, _cx: &mut Cx, _spec: &str) -> Result<Option<String>, Raised> {
        not_known()
    }
}

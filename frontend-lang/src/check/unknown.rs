//! Values that a check does not know: elements of tensors, time, chance, files, and what is computed from them.
//!
//! Operators, attributes, items and calls of an unknown are unknown. Whatever else looks at one is *noted* ([`touch`]); who called
//! it sees the note and takes the answer for unknown too, or ends the check.

use std::any::Any;
use std::cell::Cell;

use engine::Tensor;

use crate::native::*;

thread_local! {
    static TOUCHED: Cell<bool> = const { Cell::new(false) };
    static VAGUE: Cell<bool> = const { Cell::new(false) };
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

/// What is known about an unknown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Any,
    Int,
    Float,
}

/// A value that is not known.
pub struct Unknown(Kind);

/// The type of unknowns; programs never see it.
static UNKNOWN: NativeType = NativeType::plain("unknown", "A value that the check does not know.");

/// An unknown as a value.
pub fn unknown(kind: Kind) -> Value {
    Value::object(Unknown(kind))
}

/// What is known about `value`, if it is an unknown.
pub fn kind_of(value: &Value) -> Option<Kind> {
    match value {
        Value::Object(it) => it.as_any().downcast_ref::<Unknown>().map(|it| it.0),
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

fn not_known<T>() -> Result<T, Raised> {
    touch();
    Err(runtime_error("this value is not known before running"))
}

impl Unknown {
    /// What an arithmetic operator makes of it.
    fn with(&self, op: BinaryOp, other: &Value) -> Kind {
        if self.0 == Kind::Any {
            VAGUE.set(true);
        }
        let other = match other {
            Value::Int(_) | Value::Bool(_) => Kind::Int,
            Value::Float(_) => Kind::Float,
            other => kind_of(other).unwrap_or(Kind::Any),
        };
        match (self.0, other, op) {
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

    fn getattr(&self, _cx: &mut Cx, _this: &Value, _name: Sym) -> Result<Option<Value>, Raised> {
        Ok(Some(unknown(Kind::Any)))
    }

    fn setattr(&self, _: &mut Cx, _: &Value, _: Sym, _: &Value) -> Result<bool, Raised> {
        Ok(true)
    }

    fn is_callable(&self) -> bool {
        true
    }

    fn call(&self, _cx: &mut Cx, _this: &Value, _args: CallArgs<'_>) -> Res {
        VAGUE.set(true);
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
        _cx: &mut Cx,
        op: BinaryOp,
        _this: &Value,
        other: &Value,
    ) -> Result<Option<Value>, Raised> {
        Ok(Some(unknown(self.with(op, other))))
    }

    fn unary(&self, _cx: &mut Cx, _op: UnaryOp, _this: &Value) -> Result<Option<Value>, Raised> {
        Ok(Some(unknown(self.0)))
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
        Ok(Some(unknown(Kind::Any)))
    }

    fn setitem(&self, _: &mut Cx, _: &Value, _: &Value, _: &Value) -> Result<bool, Raised> {
        Ok(true)
    }

    fn delitem(&self, _cx: &mut Cx, _this: &Value, _index: &Value) -> Result<bool, Raised> {
        Ok(true)
    }

    fn contains(&self, _: &mut Cx, _: &Value, _: &Value) -> Result<Option<bool>, Raised> {
        not_known()
    }

    fn iter(&self, _cx: &mut Cx, _this: &Value) -> Result<Option<Value>, Raised> {
        not_known()
    }

    fn next(&self, _cx: &mut Cx, _this: &Value) -> Result<Option<Value>, Raised> {
        not_known()
    }

    fn enter(&self, _cx: &mut Cx, _this: &Value) -> Result<Option<Value>, Raised> {
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

//! From values of Rust to values of the language.

use crate::sym::Sym;
use crate::value::Value;

impl From<bool> for Value {
    fn from(it: bool) -> Value {
        Value::Bool(it)
    }
}

impl From<i64> for Value {
    fn from(it: i64) -> Value {
        Value::Int(it)
    }
}

impl From<usize> for Value {
    fn from(it: usize) -> Value {
        Value::Int(it.min(i64::MAX as usize) as i64)
    }
}

impl From<f64> for Value {
    fn from(it: f64) -> Value {
        Value::Float(it)
    }
}

impl From<&str> for Value {
    fn from(it: &str) -> Value {
        Value::str(it)
    }
}

impl From<String> for Value {
    fn from(it: String) -> Value {
        Value::str(it)
    }
}

impl From<Sym> for Value {
    fn from(it: Sym) -> Value {
        it.value()
    }
}

impl From<()> for Value {
    fn from((): ()) -> Value {
        Value::None
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(it: Option<T>) -> Value {
        it.map_or(Value::None, Into::into)
    }
}

//! The short ways of the loop: numbers and other plain values, without a call and without a copy of 16 bytes.
//!
//! A plain value owns nothing, so that it can be overwritten and forgotten.

use crate::operate::{BinaryOp, CompareOp};
use crate::value::Value;
use crate::value::words::{hold, put};

/// `a op b` for common operators on numbers when the result fits; `None`: the long way.
#[inline(always)]
pub(crate) fn quick_binary(op: BinaryOp, a: &Value, b: &Value) -> Option<Value> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => {
            let (a, b) = (*a, *b);
            let int = match op {
                BinaryOp::Add => a.checked_add(b)?,
                BinaryOp::Sub => a.checked_sub(b)?,
                BinaryOp::Mul => a.checked_mul(b)?,
                BinaryOp::Mod if b > 0 => a.rem_euclid(b),
                BinaryOp::FloorDiv if b > 0 => a.div_euclid(b),
                BinaryOp::And => a & b,
                BinaryOp::Or => a | b,
                BinaryOp::Xor => a ^ b,
                _ => return None,
            };
            Some(Value::Int(int))
        }
        (Value::Float(a), Value::Float(b)) => quick_float(op, *a, *b),
        (Value::Int(a), Value::Float(b)) => quick_float(op, *a as f64, *b),
        (Value::Float(a), Value::Int(b)) => quick_float(op, *a, *b as f64),
        _ => None,
    }
}

#[inline(always)]
fn quick_float(op: BinaryOp, a: f64, b: f64) -> Option<Value> {
    let float = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::TrueDiv if b != 0.0 => a / b,
        _ => return None,
    };
    Some(Value::Float(float))
}

/// `a op b` of two numbers of one kind; `None`: the long way.
#[inline(always)]
pub(crate) fn quick_compare(op: CompareOp, a: &Value, b: &Value) -> Option<bool> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(holds(op, a, b)),
        (Value::Float(a), Value::Float(b)) => Some(holds(op, a, b)),
        _ => None,
    }
}

#[inline(always)]
fn holds<T: PartialOrd>(op: CompareOp, a: &T, b: &T) -> bool {
    match op {
        CompareOp::Eq => a == b,
        CompareOp::Ne => a != b,
        CompareOp::Lt => a < b,
        CompareOp::Le => a <= b,
        CompareOp::Gt => a > b,
        CompareOp::Ge => a >= b,
    }
}

/// Whether a value that owns nothing counts as true; `None`: the long way.
#[inline(always)]
pub(crate) fn quick_truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(it) => Some(*it),
        Value::Int(it) => Some(*it != 0),
        Value::None => Some(false),
        _ => None,
    }
}

/// `container[index]` of a list or tuple and a place inside it, or of a dict that has the key; `None`: the long way.
#[inline(always)]
pub(crate) fn quick_item(container: &Value, index: &Value) -> Option<Value> {
    match (container, index) {
        (Value::List(list), Value::Int(at)) => {
            let items = list.items.borrow();
            items.get(counted(*at, items.len())).cloned()
        }
        (Value::Tuple(items), Value::Int(at)) => items.get(counted(*at, items.len())).cloned(),
        (Value::Dict(dict), _) => dict.quick_get(index)?,
        _ => None,
    }
}

/// `container[index] = value` of a list and a place inside it, or of a dict whose keys need no code to be compared; `false`:
/// nothing is stored, the long way.
#[inline(always)]
pub(crate) fn quick_store(container: &Value, index: &Value, value: &Value) -> bool {
    match (container, index) {
        (Value::List(list), Value::Int(at)) => {
            let mut items = list.items.borrow_mut();
            let at = counted(*at, items.len());
            let Some(place) = items.get_mut(at) else { return false };
            list.note(value);
            put(place, hold(value.clone()));
            true
        }
        (Value::Dict(dict), _) => dict.quick_store(index, value),
        _ => false,
    }
}

/// A place counted from the front, whichever end it was counted from; beyond the end if it is outside.
#[inline(always)]
fn counted(at: i64, len: usize) -> usize {
    (if at < 0 { at.wrapping_add(len as i64) } else { at }) as usize
}

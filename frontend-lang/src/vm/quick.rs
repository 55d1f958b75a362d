//! The short ways of the loop: numbers and other plain values, without a call and without a copy of 16 bytes.
//!
//! A plain value owns nothing, so that it can be overwritten and forgotten.

use crate::operate::{BinaryOp, CompareOp};
use crate::value::Value;

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

/// `container[index]` of a list or tuple and a place inside it; `None`: the long way.
#[inline(always)]
pub(crate) fn quick_item(container: &Value, index: &Value) -> Option<Value> {
    let Value::Int(at) = index else { return None };
    let place = |len: usize| if *at < 0 { at.wrapping_add(len as i64) } else { *at } as usize;
    match container {
        Value::List(list) => {
            let items = list.items.borrow();
            items.get(place(items.len())).cloned()
        }
        Value::Tuple(items) => items.get(place(items.len())).cloned(),
        _ => None,
    }
}

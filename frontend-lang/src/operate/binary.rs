//! Arithmetic and bit operators.

use std::rc::Rc;

use crate::cx::Cx;
use crate::error::{Raised, type_error, value_error};
use crate::memory;
use crate::native::{NativeObject, Res};
use crate::objects::class::type_name;
use crate::objects::complex;
use crate::objects::number::{self, overflow};
use crate::objects::union::Union;
use crate::operate::{BinaryOp, UnaryOp};
use crate::sym::Sym;
use crate::table::Set;
use crate::value::Value;
use crate::value::words::fresh;

impl Cx {
    /// `a op b`.
    pub fn binary(&mut self, op: BinaryOp, a: &Value, b: &Value) -> Res {
        if let Some(result) = number_op(op, a, b) {
            return fresh(result);
        }
        if let Some(result) = self.special_binary(op, a, b)? {
            return Ok(result);
        }
        let (x, y) = (a.core(), b.core());
        if let Some(result) = number_op(op, x, y) {
            return result;
        }
        match self.container_op(op, x, y)? {
            Some(result) => Ok(result),
            None => Err(unsupported(op.sign(), a, b)),
        }
    }

    /// `a op= b`; the result is what the name is bound to.
    pub fn inplace(&mut self, op: BinaryOp, a: &Value, b: &Value) -> Res {
        match a {
            Value::Instance(_) => {
                let args = std::slice::from_ref(b);
                match self.call_special(a, op.inplace(), args)? {
                    Some(Value::NotImplemented) | None => {}
                    Some(result) => return Ok(result),
                }
            }
            Value::List(list) if op == BinaryOp::Add => {
                let items = self.collect(b)?;
                list.extend(items.into_iter())?;
                return Ok(a.clone());
            }
            Value::List(list) if op == BinaryOp::Mul => {
                let Value::List(repeated) = self.repeat(a, b)? else { return Ok(a.clone()) };
                drop(list.replace(repeated.replace(Vec::new())));
                return Ok(a.clone());
            }
            Value::Dict(dict) if op == BinaryOp::Or => {
                let other = dict_like(self, b)?;
                for (key, value) in other {
                    dict.store(self, key, value)?;
                }
                return Ok(a.clone());
            }
            Value::Set(set) if !set.frozen && matches!(b, Value::Set(_)) => {
                if let Some(Value::Set(result)) = self.container_op(op, a, b)? {
                    set.clear();
                    for item in result.items() {
                        set.store(self, item)?;
                    }
                    return Ok(a.clone());
                }
            }
            _ => {
                if let Some(native) = a.as_native()
                    && let Some(result) = native.inplace(self, op, a, b)?
                {
                    return Ok(result);
                }
            }
        }
        self.binary(op, a, b).map_err(|raised| inplace_message(raised, op, a, b))
    }

    /// `op value`.
    pub fn unary(&mut self, op: UnaryOp, value: &Value) -> Res {
        match (op, value) {
            (UnaryOp::Neg, Value::Int(it)) => it.checked_neg().map(Value::Int).ok_or_else(overflow),
            (UnaryOp::Neg, Value::Float(it)) => Ok(Value::Float(-it)),
            (UnaryOp::Pos, Value::Int(_) | Value::Float(_)) => Ok(value.clone()),
            (UnaryOp::Invert, Value::Int(it)) => Ok(Value::Int(!it)),
            (_, Value::Bool(it)) => self.unary(op, &Value::Int(*it as i64)),
            (_, Value::Instance(_)) => match self.call_special(value, op.method(), &[])? {
                Some(result) => Ok(result),
                None => match value.core() {
                    Value::Str(_) | Value::List(_) | Value::Tuple(_) | Value::Dict(_) => {
                        Err(bad_operand(op, value))
                    }
                    core if !core.is(value) => self.unary(op, &core.clone()),
                    _ => Err(bad_operand(op, value)),
                },
            },
            _ => {
                let found = match value.as_native() {
                    Some(it) => it.unary(self, op, value)?,
                    None => None,
                };
                found.ok_or_else(|| bad_operand(op, value))
            }
        }
    }

    /// The operator as methods of instances and hooks of native objects define it.
    fn special_binary(
        &mut self,
        op: BinaryOp,
        a: &Value,
        b: &Value,
    ) -> Result<Option<Value>, Raised> {
        if is_plain(a) && is_plain(b) {
            return Ok(None);
        }
        let reflected_first = match (a, b) {
            (Value::Instance(x), Value::Instance(y)) => {
                !Rc::ptr_eq(&x.class, &y.class)
                    && y.class.is_subclass(&x.class)
                    && y.class.lookup(op.reflected()).is_some()
            }
            _ => false,
        };
        let order = if reflected_first { [true, false] } else { [false, true] };
        for reflected in order {
            let (this, other) = if reflected { (b, a) } else { (a, b) };
            if let Some(result) = self.one_side(op, this, other, reflected)? {
                return Ok(Some(result));
            }
        }
        Ok(None)
    }

    fn one_side(
        &mut self,
        op: BinaryOp,
        this: &Value,
        other: &Value,
        reflected: bool,
    ) -> Result<Option<Value>, Raised> {
        match this {
            Value::Tensor(it) => it.binary(self, op, this, other, reflected),
            Value::Object(it) => it.binary(self, op, this, other, reflected),
            Value::Instance(_) => {
                let name = if reflected { op.reflected() } else { op.method() };
                match self.call_special(this, name, std::slice::from_ref(other))? {
                    Some(Value::NotImplemented) | None => Ok(None),
                    result => Ok(result),
                }
            }
            _ => Ok(None),
        }
    }

    pub(crate) fn container_op(
        &mut self,
        op: BinaryOp,
        a: &Value,
        b: &Value,
    ) -> Result<Option<Value>, Raised> {
        Ok(Some(match (op, a, b) {
            (BinaryOp::Add, Value::Str(x), Value::Str(y)) => {
                let mut text = memory::string(x.len() + y.len())?;
                self.push_text(&mut text, x)?;
                self.push_text(&mut text, y)?;
                Value::str(text)
            }
            (BinaryOp::Add, Value::Str(_), _) => {
                return Err(type_error(format!(
                    "can only concatenate str (not \"{}\") to str",
                    type_name(b)
                )));
            }
            (BinaryOp::Add, Value::List(x), Value::List(y)) => {
                let (x, y) = (x.items.borrow(), y.items.borrow());
                Value::list(self.joined(&x, &y)?)
            }
            (BinaryOp::Add, Value::List(_), _) => {
                return Err(type_error(format!(
                    "can only concatenate list (not \"{}\") to list",
                    type_name(b)
                )));
            }
            (BinaryOp::Add, Value::Tuple(x), Value::Tuple(y)) => Value::tuple(self.joined(x, y)?),
            (BinaryOp::Add, Value::Tuple(_), _) => {
                return Err(type_error(format!(
                    "can only concatenate tuple (not \"{}\") to tuple",
                    type_name(b)
                )));
            }
            (BinaryOp::Mul, Value::Str(_) | Value::List(_) | Value::Tuple(_), _) => {
                return self.repeat(a, b).map(Some);
            }
            (BinaryOp::Mul, _, Value::Str(_) | Value::List(_) | Value::Tuple(_)) => {
                return self.repeat(b, a).map(Some);
            }
            (BinaryOp::Mod, Value::Str(it), _) => {
                Value::str(crate::objects::format::percent(self, it, b)?)
            }
            (BinaryOp::Or, Value::Dict(x), Value::Dict(y)) => {
                let dict = x.copy()?;
                for (key, value) in y.items() {
                    dict.insert(self, key, value)?;
                }
                Value::Dict(Rc::new(dict))
            }
            (_, Value::Set(x), Value::Set(y)) => return self.set_op(op, x, y),
            // `int | None` in annotations.
            (BinaryOp::Or, Value::Class(_), Value::Class(_) | Value::None)
            | (BinaryOp::Or, Value::None, Value::Class(_)) => Union::of(a, b),
            _ => return Ok(None),
        }))
    }

    fn repeat(&mut self, sequence: &Value, count: &Value) -> Res {
        let Ok(count) = self.index(count) else {
            return Err(type_error(format!(
                "can't multiply sequence by non-int of type '{}'",
                type_name(count)
            )));
        };
        let count = count.max(0) as usize;
        let len = match sequence {
            Value::Str(it) => {
                let bytes = it.len().saturating_mul(count);
                let mut text = memory::string(bytes)?;
                self.push_copies(&mut text, it, bytes)?;
                return Ok(Value::str(text));
            }
            _ => self.len(sequence)?,
        };
        self.check_size(len.saturating_mul(count))?;
        let mut repeated = Vec::with_capacity(len * count);
        let mut push = |items: &[Value]| {
            self.push_items(&mut repeated, items.iter().cycle().take(len * count).cloned())
        };
        match sequence {
            Value::List(it) => push(&it.items.borrow())?,
            Value::Tuple(it) => push(it)?,
            _ => return Err(unsupported("*", sequence, sequence)),
        }
        let is_list = matches!(sequence, Value::List(_));
        Ok(if is_list { Value::list(repeated) } else { Value::tuple(repeated) })
    }

    /// The items of two sequences.
    fn joined(&self, x: &[Value], y: &[Value]) -> Result<Vec<Value>, Raised> {
        memory::room_for(x.len() + y.len())?;
        let mut joined = Vec::with_capacity(x.len() + y.len());
        self.push_items(&mut joined, x.iter().chain(y).cloned())?;
        Ok(joined)
    }

    fn set_op(&mut self, op: BinaryOp, a: &Set, b: &Set) -> Result<Option<Value>, Raised> {
        let result = match op {
            BinaryOp::Or => {
                let result = a.copy(a.frozen)?;
                for item in b.items() {
                    result.add(self, item)?;
                }
                result
            }
            BinaryOp::And => self.filter_set(a, b, true)?,
            BinaryOp::Sub => self.filter_set(a, b, false)?,
            BinaryOp::Xor => {
                let result = self.filter_set(a, b, false)?;
                for item in self.filter_set(b, a, false)?.items() {
                    result.add(self, item)?;
                }
                result
            }
            _ => return Ok(None),
        };
        Ok(Some(Value::Set(Rc::new(result))))
    }

    fn filter_set(&mut self, a: &Set, b: &Set, keep: bool) -> Result<Set, Raised> {
        let result = Set::new(a.frozen);
        for item in a.items() {
            if b.contains(self, &item)? == keep {
                result.add(self, item)?;
            }
        }
        Ok(result)
    }
}

fn is_plain(value: &Value) -> bool {
    !matches!(value, Value::Instance(_) | Value::Object(_) | Value::Tensor(_))
}

/// Arithmetic of numbers; `None` means "not this way".
#[inline]
pub(crate) fn number_op(op: BinaryOp, a: &Value, b: &Value) -> Option<Res> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => int_op(op, *a, *b),
        (Value::Float(a), Value::Float(b)) => float_op(op, *a, *b),
        (Value::Int(a), Value::Float(b)) => float_op(op, *a as f64, *b),
        (Value::Float(a), Value::Int(b)) => float_op(op, *a, *b as f64),
        (Value::Bool(a), Value::Bool(b)) => match op {
            BinaryOp::And => Some(Ok(Value::Bool(a & b))),
            BinaryOp::Or => Some(Ok(Value::Bool(a | b))),
            BinaryOp::Xor => Some(Ok(Value::Bool(a ^ b))),
            _ => int_op(op, *a as i64, *b as i64),
        },
        (Value::Bool(a), Value::Int(b)) => int_op(op, *a as i64, *b),
        (Value::Int(a), Value::Bool(b)) => int_op(op, *a, *b as i64),
        (Value::Bool(a), Value::Float(b)) => float_op(op, *a as i64 as f64, *b),
        (Value::Float(a), Value::Bool(b)) => float_op(op, *a, *b as i64 as f64),
        _ => None,
    }
}

fn int_op(op: BinaryOp, a: i64, b: i64) -> Option<Res> {
    let checked = |it: Option<i64>| it.map(Value::Int).ok_or_else(overflow);
    Some(match op {
        BinaryOp::Add => checked(a.checked_add(b)),
        BinaryOp::Sub => checked(a.checked_sub(b)),
        BinaryOp::Mul => checked(a.checked_mul(b)),
        BinaryOp::TrueDiv => number::true_div(a as f64, b as f64).map(Value::Float),
        BinaryOp::FloorDiv => number::floor_div(a, b).map(Value::Int),
        BinaryOp::Mod => number::floor_mod(a, b).map(Value::Int),
        BinaryOp::Pow if b < 0 => power(a as f64, b as f64),
        BinaryOp::Pow => number::int_pow(a, b).map(Value::Int),
        BinaryOp::MatMul => return None,
        BinaryOp::LShift | BinaryOp::RShift => shift(op, a, b),
        BinaryOp::And => Ok(Value::Int(a & b)),
        BinaryOp::Or => Ok(Value::Int(a | b)),
        BinaryOp::Xor => Ok(Value::Int(a ^ b)),
    })
}

fn shift(op: BinaryOp, a: i64, b: i64) -> Res {
    if b < 0 {
        return Err(value_error("negative shift count"));
    }
    if op == BinaryOp::RShift {
        return Ok(Value::Int(a >> b.min(63)));
    }
    if a == 0 {
        return Ok(Value::Int(0));
    }
    let shifted = if b < 63 { a << b } else { 0 };
    if b < 63 && shifted >> b == a { Ok(Value::Int(shifted)) } else { Err(overflow()) }
}

fn float_op(op: BinaryOp, a: f64, b: f64) -> Option<Res> {
    let value = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::TrueDiv => {
            return Some(number::true_div(a, b).map_err(float_division).map(Value::Float));
        }
        BinaryOp::FloorDiv => {
            return Some(number::float_divmod(a, b).map(|it| Value::Float(it.0)));
        }
        BinaryOp::Mod => {
            let modulo = number::float_divmod(a, b);
            return Some(
                modulo
                    .map_err(|_| crate::error::zero_division("float modulo"))
                    .map(|it| Value::Float(it.1)),
            );
        }
        BinaryOp::Pow => return Some(power(a, b)),
        _ => return None,
    };
    Some(Ok(Value::Float(value)))
}

/// `base ** exponent` of floats; a number below 0 to a broken power is complex.
fn power(base: f64, exponent: f64) -> Res {
    if base < 0.0 && base.is_finite() && exponent.is_finite() && exponent.fract() != 0.0 {
        return complex::power_of_floats(base, exponent);
    }
    number::float_pow(base, exponent).map(Value::Float)
}

fn float_division(_: Raised) -> Raised {
    crate::error::zero_division("float division by zero")
}

/// The entries of a dict or of an iterable of pairs.
fn dict_like(cx: &mut Cx, value: &Value) -> Result<Vec<(Value, Value)>, Raised> {
    if let Some(dict) = value.as_dict() {
        return Ok(dict.items());
    }
    let mut pairs = Vec::new();
    for item in cx.collect(value)? {
        let mut pair = cx.unpack(&item, 2)?;
        if let (Some(value), Some(key)) = (pair.pop(), pair.pop()) {
            pairs.push((key, value));
        }
    }
    Ok(pairs)
}

/// `unsupported operand type(s) for +: 'int' and 'str'`.
pub(crate) fn unsupported(sign: &str, a: &Value, b: &Value) -> Raised {
    let sign = if sign == "**" { "** or pow()" } else { sign };
    type_error(format!(
        "unsupported operand type(s) for {sign}: '{}' and '{}'",
        type_name(a),
        type_name(b)
    ))
}

fn inplace_message(raised: Raised, op: BinaryOp, a: &Value, b: &Value) -> Raised {
    if raised.marks().is_empty() && raised.message().starts_with("unsupported operand") {
        return unsupported(&format!("{}=", op.sign()), a, b);
    }
    raised
}

fn bad_operand(op: UnaryOp, value: &Value) -> Raised {
    type_error(format!("bad operand type for unary {}: '{}'", op.sign(), type_name(value)))
}

/// `abs(value)`.
pub fn abs(cx: &mut Cx, value: &Value) -> Res {
    match value.core() {
        Value::Int(it) => it.checked_abs().map(Value::Int).ok_or_else(overflow),
        Value::Bool(it) => Ok(Value::Int(*it as i64)),
        Value::Float(it) => Ok(Value::Float(it.abs())),
        _ => match cx.call_special(value, Sym::ABS, &[])? {
            Some(result) => Ok(result),
            None => Err(type_error(format!("bad operand type for abs(): '{}'", type_name(value)))),
        },
    }
}

//! Equality, hash and truth.

use crate::cx::Cx;
use crate::error::{Raised, type_error};
use crate::native::NativeObject;
use crate::objects::class::{traits, type_name};
use crate::objects::tensor::Look;
use crate::operate::CompareOp;
use crate::sym::Sym;
use crate::value::Value;

/// `a == b` where no user code can take part; `None` means "ask".
pub fn simple_eq(a: &Value, b: &Value) -> Option<bool> {
    use Value::*;
    match (a, b) {
        (Str(a), Str(b)) => Some(std::rc::Rc::ptr_eq(a, b) || ***a == ***b),
        (Int(a), Int(b)) => Some(a == b),
        (Float(a), Float(b)) => Some(a == b),
        (Bool(a), Bool(b)) => Some(a == b),
        (Int(a), Bool(b)) | (Bool(b), Int(a)) => Some(*a == *b as i64),
        (Int(a), Float(b)) | (Float(b), Int(a)) => Some(int_eq_float(*a, *b)),
        (Bool(a), Float(b)) | (Float(b), Bool(a)) => Some(*a as i64 as f64 == *b),
        (None, None) | (Ellipsis, Ellipsis) | (NotImplemented, NotImplemented) => Some(true),
        (Range(a), Range(b)) => Some(range_eq(a, b)),
        (Tuple(a), Tuple(b)) if a.len() != b.len() => Some(false),
        (Tuple(a), Tuple(b)) => {
            let mut known = Some(true);
            for (a, b) in a.iter().zip(b.iter()) {
                // What is nested is left to `compare`, which counts how deep it goes.
                let nested = matches!((a, b), (Tuple(_), Tuple(_)));
                match if nested { Option::None } else { simple_eq(a, b) } {
                    Some(false) if a.is(b) => {}
                    Some(false) => return Some(false),
                    Some(true) => {}
                    Option::None => known = Option::None,
                }
            }
            known
        }
        (List(_), List(_)) | (Dict(_), Dict(_)) | (Set(_), Set(_)) | (Slice(_), Slice(_)) => {
            if a.is(b) { Some(true) } else { Option::None }
        }
        (Method(x), Method(y)) => Some(x.func.is(&y.func) && x.this.is(&y.this)),
        (Instance(_) | Object(_) | Tensor(_), _) | (_, Instance(_) | Object(_) | Tensor(_)) => {
            if a.is(b) { Some(true) } else { Option::None }
        }
        _ => Some(a.is(b)),
    }
}

fn int_eq_float(int: i64, float: f64) -> bool {
    int as f64 == float && (int.unsigned_abs() < 1 << 53 || float as i128 == int as i128)
}

fn range_eq(a: &crate::value::Range, b: &crate::value::Range) -> bool {
    let len = a.len();
    len == b.len() && (len == 0 || (a.start == b.start && (len == 1 || a.step == b.step)))
}

/// `hash(value)` of texts, numbers and `None`; those of other values may need their code.
#[inline]
pub(crate) fn plain_hash(value: &Value) -> Option<i64> {
    Some(match value {
        Value::Str(it) => it.hash() as i64,
        Value::Int(it) => *it,
        Value::Bool(it) => *it as i64,
        Value::Float(it) => float_hash(*it),
        Value::None => 0x5eed,
        _ => return None,
    })
}

impl Cx {
    /// `bool(a == b)`; identical objects are equal.
    pub fn eq(&mut self, a: &Value, b: &Value) -> Result<bool, Raised> {
        if let Some(known) = simple_eq(a, b) {
            return Ok(known);
        }
        if a.is(b) {
            return Ok(true);
        }
        let answer = self.compare(CompareOp::Eq, a, b)?;
        self.truth(&answer)
    }

    /// `bool(value)`.
    pub fn truth(&mut self, value: &Value) -> Result<bool, Raised> {
        Ok(match value {
            Value::Bool(it) => *it,
            Value::None | Value::Unbound => false,
            Value::Int(it) => *it != 0,
            Value::Float(it) => *it != 0.0,
            Value::Str(it) => !it.is_empty(),
            Value::Tuple(it) => !it.is_empty(),
            Value::List(it) => !it.items.borrow().is_empty(),
            Value::Dict(it) => !it.is_empty(),
            Value::Set(it) => !it.is_empty(),
            Value::Range(it) => !it.is_empty(),
            Value::Object(it) => return it.truth(self),
            Value::Tensor(it) => return it.truth(self),
            Value::Instance(_) => return self.instance_truth(value),
            _ => true,
        })
    }

    fn instance_truth(&mut self, value: &Value) -> Result<bool, Raised> {
        if let Some(answer) = self.call_special(value, Sym::BOOL, &[])? {
            return match answer {
                Value::Bool(it) => Ok(it),
                other => Err(type_error(format!(
                    "__bool__ should return bool, returned {}",
                    type_name(&other)
                ))),
            };
        }
        if let Some(answer) = self.call_special(value, Sym::LEN, &[])? {
            return self.truth(&answer);
        }
        match value.core() {
            Value::Instance(_) => Ok(true),
            core => {
                let core = core.clone();
                self.truth(&core)
            }
        }
    }

    /// `hash(value)`; a mutable container is a `TypeError`.
    pub fn hash(&mut self, value: &Value) -> Result<i64, Raised> {
        if let Some(known) = plain_hash(value) {
            return Ok(known);
        }
        Ok(match value {
            Value::Tuple(items) => {
                let mix = |hash: u64, part: u64| {
                    (hash.rotate_left(5) ^ part).wrapping_mul(0x517c_c1b7_2722_0a95)
                };
                return self.hash_items(items, 0x345678, mix);
            }
            Value::Set(it) if it.frozen => {
                let mix = |hash: u64, part: u64| hash ^ part.wrapping_mul(0x9E37_79B9_7F4A_7C15);
                return self.hash_items(&it.items(), 0x7e57, mix);
            }
            Value::Range(it) => it.len() as i64 ^ it.start.rotate_left(17),
            Value::List(_) | Value::Dict(_) | Value::Set(_) | Value::Slice(_) => {
                return Err(unhashable(value));
            }
            Value::Object(it) => it.hash(self)?.unwrap_or_else(|| identity_hash(value)),
            Value::Method(it) => identity_hash(&it.func) ^ identity_hash(&it.this),
            Value::Tensor(it) if it.look() == Look::Array => {
                return Err(type_error("unhashable type: 'numpy.ndarray'"));
            }
            Value::Instance(it) => {
                if it.class.has(traits::HASH) {
                    return self.user_hash(value);
                }
                if it.class.has(traits::EQ) {
                    return Err(unhashable(value));
                }
                match value.core() {
                    Value::Instance(_) => identity_hash(value),
                    core => {
                        let core = core.clone();
                        return self.hash(&core);
                    }
                }
            }
            _ => identity_hash(value),
        })
    }

    fn hash_items(
        &mut self,
        items: &[Value],
        seed: u64,
        mix: impl Fn(u64, u64) -> u64,
    ) -> Result<i64, Raised> {
        self.poll()?;
        self.enter_native()?;
        let parts = items.iter().try_fold(seed, |hash, it| Ok(mix(hash, self.hash(it)? as u64)));
        self.leave_native();
        parts.map(|it| it as i64)
    }

    fn user_hash(&mut self, value: &Value) -> Result<i64, Raised> {
        match self.call_special(value, Sym::HASH, &[])? {
            Some(Value::Int(hash)) => Ok(hash),
            Some(Value::Bool(hash)) => Ok(hash as i64),
            Some(_) => Err(type_error("__hash__ method should return an integer")),
            None => Err(unhashable(value)),
        }
    }
}

fn unhashable(value: &Value) -> Raised {
    type_error(format!("unhashable type: '{}'", type_name(value)))
}

fn identity_hash(value: &Value) -> i64 {
    (value.address().unwrap_or(0) >> 4) as i64
}

/// Equal numbers have equal hashes, whatever their type.
fn float_hash(float: f64) -> i64 {
    let whole = float as i64;
    if whole as f64 == float { whole } else { (float.to_bits() ^ 0xf10a) as i64 }
}

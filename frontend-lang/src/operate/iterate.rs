//! Iterating over any value.

use std::rc::Rc;

use crate::cx::Cx;
use crate::error::{Raised, STOP_ITERATION, type_error, value_error};
use crate::memory;
use crate::native::{CallArgs, NativeObject, Res};
use crate::objects::class::type_name;
use crate::objects::iterator::{DictPart, Iter, IterState};
use crate::objects::tensor::Look;
use crate::objects::trash::Items;
use crate::sym::Sym;
use crate::value::Value;

impl Cx {
    /// `iter(value)`.
    pub fn iter(&mut self, value: &Value) -> Res {
        let state = match value {
            Value::Range(it) => return Ok(Value::iter(Iter::range(***it))),
            Value::List(it) => IterState::List { list: it.clone(), at: 0 },
            Value::Tuple(it) => IterState::Tuple { items: it.clone(), at: 0 },
            Value::Str(it) => IterState::Str { text: it.clone(), at: 0 },
            Value::Dict(it) => {
                IterState::Dict { dict: it.clone(), at: 0, len: it.len(), yields: DictPart::Keys }
            }
            Value::Set(it) => IterState::Set { set: it.clone(), at: 0, len: it.len() },
            Value::Iter(_) | Value::Generator(_) => return Ok(value.clone()),
            Value::Object(_) | Value::Tensor(_) => {
                let found = match value.as_native() {
                    Some(it) => it.iter(self, value)?,
                    None => None,
                };
                return found.ok_or_else(|| not_iterable(value));
            }
            Value::Instance(_) => return self.iter_instance(value),
            Value::Class(class) => {
                let args = CallArgs { positional: &[], keywords: &[] };
                let found = self.class_protocol(class, "iter", args)?;
                return found.ok_or_else(|| not_iterable(value));
            }
            _ => return Err(not_iterable(value)),
        };
        Ok(Value::iter(Iter::new(state)))
    }

    fn iter_instance(&mut self, value: &Value) -> Res {
        if let Some(iter) = self.call_special(value, Sym::ITER, &[])? {
            if !self.is_iterator(&iter) {
                return Err(type_error(format!(
                    "iter() returned non-iterator of type '{}'",
                    type_name(&iter)
                )));
            }
            return Ok(iter);
        }
        if !value.core().is(value) {
            let core = value.core().clone();
            return self.iter(&core);
        }
        if self.has_special(value, Sym::GETITEM) {
            let state = IterState::Sequence { object: value.clone(), at: 0 };
            return Ok(Value::iter(Iter::new(state)));
        }
        Err(not_iterable(value))
    }

    /// True if `next` works on the value.
    pub fn is_iterator(&mut self, value: &Value) -> bool {
        match value {
            Value::Iter(_) | Value::Generator(_) => true,
            Value::Instance(_) => self.has_special(value, Sym::NEXT),
            _ => value.as_native().is_some_and(NativeObject::is_iterator),
        }
    }

    /// The next item of an iterator; `None` is the end.
    pub fn next(&mut self, iter: &Value) -> Result<Option<Value>, Raised> {
        // Loops of natives end here when the user interrupts.
        self.poll()?;
        match iter {
            Value::Iter(it) => it.next(self),
            Value::Generator(it) => Ok(self.resume(it, Value::None)?.ok()),
            Value::Object(it) => it.next(self, iter),
            Value::Instance(_) => match self.call_special(iter, Sym::NEXT, &[]) {
                Ok(Some(item)) => Ok(Some(item)),
                Ok(None) => Err(not_iterator(iter)),
                Err(raised) if raised.is(&STOP_ITERATION) => Ok(None),
                Err(raised) => Err(raised),
            },
            _ => Err(not_iterator(iter)),
        }
    }

    /// All items of any iterable value.
    pub fn collect(&mut self, value: &Value) -> Result<Vec<Value>, Raised> {
        let value = plain_inside(value);
        match value {
            Value::List(it) => return self.copied(&it.items.borrow()),
            Value::Tuple(it) => return self.copied(it),
            _ => {}
        }
        let iter = self.iter(value)?;
        let mut items = Items::default();
        if let Value::Iter(iter) = &iter
            && let Some(count) = iter.size_hint()
        {
            items.reserve(count)?;
        }
        while let Some(item) = self.next(&iter)? {
            items.push(item)?;
        }
        Ok(items.take())
    }

    /// A copy of the items, if there is room for it.
    fn copied(&self, items: &[Value]) -> Result<Vec<Value>, Raised> {
        memory::room_for(items.len())?;
        let mut copied = Vec::with_capacity(items.len());
        self.push_items(&mut copied, items.iter().cloned())?;
        Ok(copied)
    }

    /// Exactly `count` items, or CPython's `ValueError`.
    pub fn unpack(&mut self, value: &Value, count: usize) -> Result<Vec<Value>, Raised> {
        let value = plain_inside(value);
        let known = match value {
            Value::Tuple(it) => Some(it.to_vec()),
            Value::List(it) => Some(it.items.borrow().clone()),
            _ => None,
        };
        let items = match known {
            Some(items) => items,
            None => {
                let iter = self.iter(value).map_err(|raised| cannot_unpack(raised, value))?;
                let mut items = Vec::with_capacity(count);
                while items.len() <= count {
                    let Some(item) = self.next(&iter)? else { break };
                    items.push(item);
                }
                items
            }
        };
        match items.len() {
            len if len == count => Ok(items),
            len if len < count => Err(value_error(format!(
                "not enough values to unpack (expected {count}, got {len})"
            ))),
            _ => Err(value_error(format!("too many values to unpack (expected {count})"))),
        }
    }

    /// `reversed(value)`.
    pub fn reversed(&mut self, value: &Value) -> Res {
        let state = match value.core() {
            Value::List(it) => {
                IterState::ListBack { list: it.clone(), left: it.items.borrow().len() }
            }
            Value::Tuple(it) => {
                memory::room_for(it.len())?;
                return Ok(Value::iter(Iter::items(it.iter().rev().cloned().collect())));
            }
            Value::Str(it) => {
                memory::room(it.len().saturating_mul(100))?;
                return Ok(Value::iter(Iter::items(it.chars().rev().map(Value::str).collect())));
            }
            Value::Range(it) => {
                let len = it.len();
                let next = if len == 0 { 0 } else { it.at(len - 1) };
                IterState::Range { next, left: len, step: it.step.wrapping_neg() }
            }
            Value::Dict(it) => {
                IterState::DictBack { dict: it.clone(), at: usize::MAX, yields: DictPart::Keys }
            }
            _ => return self.reversed_object(value),
        };
        Ok(Value::iter(Iter::new(state)))
    }

    fn reversed_object(&mut self, value: &Value) -> Res {
        if let Some(iter) = self.call_special(value, Sym::REVERSED, &[])? {
            return Ok(iter);
        }
        if value.as_tensor().is_some_and(|it| it.look() == Look::Array) {
            let mut rows = self.collect(value)?;
            rows.reverse();
            return Ok(Value::iter(Iter::items(rows)));
        }
        if matches!(value, Value::Set(_)) || !self.has_special(value, Sym::GETITEM) {
            return Err(type_error(format!("'{}' object is not reversible", type_name(value))));
        }
        let left = self.len(value)? as i64;
        let state = IterState::SequenceBack { object: value.clone(), left };
        Ok(Value::Iter(Rc::new(Iter::new(state))))
    }
}

/// The tuple inside an instance of a built-in subclass of it, such as `torch.Size`; else the value itself.
fn plain_inside(value: &Value) -> &Value {
    match value {
        Value::Instance(it) if it.class.native.is_some() => value.core(),
        _ => value,
    }
}

fn not_iterable(value: &Value) -> Raised {
    type_error(format!("'{}' object is not iterable", type_name(value)))
        .with_words(crate::objects::function::call_it(value))
}

fn not_iterator(value: &Value) -> Raised {
    type_error(format!("'{}' object is not an iterator", type_name(value)))
}

fn cannot_unpack(raised: Raised, value: &Value) -> Raised {
    if raised.is(&crate::error::TYPE_ERROR) && raised.marks().is_empty() {
        return type_error(format!("cannot unpack non-iterable {} object", type_name(value)));
    }
    raised
}

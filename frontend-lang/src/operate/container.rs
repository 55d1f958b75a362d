//! `len`, `in`, and square brackets.

use std::rc::Rc;

use crate::builtins::types;
use crate::cx::Cx;
use crate::error::{Raised, index_error, key_error, type_error, value_error};
use crate::memory;
use crate::native::{CallArgs, NativeObject, NativeType, Res};
use crate::objects::class::{class_of, full_type_name, traits, type_name};
use crate::objects::generic::Alias;
use crate::objects::number::overflow;
use crate::objects::search;
use crate::patience::{self, stoppable_if_long};
use crate::sym::Sym;
use crate::value::{List, Range, Slice, Str, Value};

impl Cx {
    /// `len(value)`.
    pub fn len(&mut self, value: &Value) -> Result<usize, Raised> {
        let no_len = |value: &Value| {
            type_error(format!("object of type '{}' has no len()", type_name(value)))
        };
        Ok(match value {
            Value::Str(it) => it.chars_len(),
            Value::Tuple(it) => it.len(),
            Value::List(it) => it.items.borrow().len(),
            Value::Dict(it) => it.len(),
            Value::Set(it) => it.len(),
            Value::Range(it) => it.len(),
            Value::Instance(_) => match self.call_special(value, Sym::LEN, &[])? {
                Some(len) => self.checked_len(&len)?,
                None if !value.core().is(value) => {
                    let core = value.core().clone();
                    return self.len(&core);
                }
                None => return Err(no_len(value)),
            },
            Value::Class(class) => {
                let args = CallArgs { positional: &[], keywords: &[] };
                match self.class_protocol(class, "len", args)? {
                    Some(len) => self.checked_len(&len)?,
                    None => return Err(no_len(value)),
                }
            }
            _ => match value.as_native() {
                Some(it) => it.len(self)?.ok_or_else(|| no_len(value))?,
                None => return Err(no_len(value)),
            },
        })
    }

    fn checked_len(&mut self, len: &Value) -> Result<usize, Raised> {
        let len = self.index(len)?;
        usize::try_from(len).map_err(|_| value_error("__len__() should return >= 0"))
    }

    /// An integer where Python asks for `__index__`.
    pub fn index(&mut self, value: &Value) -> Result<i64, Raised> {
        if let Some(int) = value.as_int() {
            return Ok(int);
        }
        if let Some(int) = value.as_native().and_then(NativeObject::as_index) {
            return Ok(int);
        }
        match self.call_special(value, Sym::INDEX, &[])? {
            Some(Value::Int(int)) => Ok(int),
            _ => Err(type_error(format!(
                "'{}' object cannot be interpreted as an integer",
                type_name(value)
            ))),
        }
    }

    /// `value[index]`.
    pub fn getitem(&mut self, value: &Value, index: &Value) -> Res {
        match (value, index) {
            (Value::List(it), Value::Int(at)) => {
                let items = it.items.borrow();
                match place(*at, items.len()) {
                    Some(at) => Ok(items[at].clone()),
                    None => Err(index_error("list index out of range")),
                }
            }
            (Value::Tuple(it), Value::Int(at)) => match place(*at, it.len()) {
                Some(at) => Ok(it[at].clone()),
                None => Err(index_error("tuple index out of range")),
            },
            (Value::Dict(it), _) => match it.get(self, index)? {
                Some(value) => Ok(value),
                None => Err(key_error(index.clone())),
            },
            _ => self.getitem_slowly(value, index),
        }
    }

    fn getitem_slowly(&mut self, value: &Value, index: &Value) -> Res {
        match value {
            Value::Str(_) | Value::List(_) | Value::Tuple(_) | Value::Range(_) => {
                self.sequence_item(value, index)
            }
            Value::Instance(it) => {
                if let Some(item) =
                    self.call_special(value, Sym::GETITEM, std::slice::from_ref(index))?
                {
                    return Ok(item);
                }
                if let Value::Dict(dict) = &it.base {
                    return self.dict_subclass_item(value, dict, index);
                }
                if it.base.is_none() {
                    return Err(not_subscriptable(value));
                }
                let base = it.base.clone();
                self.getitem(&base, index)
            }
            Value::Class(class) => match class.lookup(Sym::CLASS_GETITEM) {
                Some(func) => {
                    let func = crate::objects::descriptor::bind_to_class(func, class);
                    self.call(&func, std::slice::from_ref(index))
                }
                None if class.lookup(Sym::TYPE_PARAMS).is_some() => {
                    Ok(Alias::of_class(value, index))
                }
                None if class.has(traits::PROTOCOL) => {
                    let args = CallArgs { positional: std::slice::from_ref(index), keywords: &[] };
                    let found = self.class_protocol(class, "getitem", args)?;
                    found.ok_or_else(|| not_subscriptable(value))
                }
                None if is_generic(class.native_base()) => Ok(Alias::of_class(value, index)),
                None => Err(type_error(format!("type '{}' is not subscriptable", class.name))),
            },
            _ => {
                let found = match value.as_native() {
                    Some(it) => it.getitem(self, value, index)?,
                    None => None,
                };
                found.ok_or_else(|| not_subscriptable(value))
            }
        }
    }

    fn dict_subclass_item(
        &mut self,
        value: &Value,
        dict: &crate::table::Dict,
        index: &Value,
    ) -> Res {
        if let Some(item) = dict.get(self, index)? {
            return Ok(item);
        }
        match self.call_special(value, Sym::MISSING, std::slice::from_ref(index))? {
            Some(item) => Ok(item),
            None => Err(key_error(index.clone())),
        }
    }

    fn sequence_item(&mut self, value: &Value, index: &Value) -> Res {
        if let Value::Slice(slice) = index {
            return self.slice_item(value, slice);
        }
        let kind = if matches!(value, Value::Str(_)) { "string" } else { type_name(value) };
        let at = self.sequence_index(index, kind)?;
        let out_of_range = || {
            let what = if kind == "range" { "range object" } else { kind };
            index_error(format!("{what} index out of range"))
        };
        match value {
            Value::Str(it) => char_at(it, at).ok_or_else(out_of_range),
            Value::Range(it) => {
                place(at, it.len()).map(|at| Value::Int(it.at(at))).ok_or_else(out_of_range)
            }
            _ => self.getitem(value, &Value::Int(at)),
        }
    }

    fn sequence_index(&mut self, index: &Value, kind: &str) -> Result<i64, Raised> {
        self.index(index).map_err(|raised| {
            let what = if kind == "list" || kind == "tuple" || kind == "range" {
                format!("{kind} indices must be integers or slices, not {}", full_type_name(index))
            } else {
                format!("{kind} indices must be integers, not '{}'", type_name(index))
            };
            raised.or_type_error(what)
        })
    }

    fn slice_item(&mut self, value: &Value, slice: &Slice) -> Res {
        let parts = self.slice_parts(slice)?;
        let range = parts.within(self.len(value)?);
        if !matches!(value, Value::Range(_)) {
            self.check_size(range.len())?;
        }
        let places = || (0..range.len()).map(|idx| range.at(idx) as usize);
        Ok(match value {
            Value::List(it) => Value::list(self.picked(&it.items.borrow(), places())?),
            Value::Tuple(it) => Value::tuple(self.picked(it, places())?),
            Value::Str(it) if it.is_ascii() && range.step == 1 => {
                let mut text = memory::string(range.len())?;
                let start = range.start as usize;
                self.push_text(&mut text, &it[start..start + range.len()])?;
                Value::str(text)
            }
            Value::Str(it) => {
                let picked = stoppable_if_long(self, it.len(), || {
                    let chars: Vec<char> = patience::chars(it).collect();
                    places().inspect(|_| patience::tick()).map(|at| chars[at]).collect::<String>()
                });
                Value::str(picked?)
            }
            Value::Range(it) => {
                let at = |idx: i64| {
                    let place = it.start as i128 + idx as i128 * it.step as i128;
                    i64::try_from(place).map_err(|_| overflow())
                };
                let step = it.step.checked_mul(range.step).ok_or_else(overflow)?;
                let (start, stop) = (at(range.start)?, at(range.stop)?);
                Value::Range(Range { start, stop, step }.into())
            }
            _ => return Err(not_subscriptable(value)),
        })
    }

    /// The items at these places.
    fn picked(
        &self,
        items: &[Value],
        places: impl ExactSizeIterator<Item = usize>,
    ) -> Result<Vec<Value>, Raised> {
        let mut picked = Vec::with_capacity(places.len());
        self.push_items(&mut picked, places.map(|at| items[at].clone()))?;
        Ok(picked)
    }

    /// The positions that a slice means in a sequence of `len` items.
    pub fn slice_range(&mut self, slice: &Slice, len: usize) -> Result<Range, Raised> {
        Ok(self.slice_parts(slice)?.within(len))
    }

    /// The numbers in a slice. Asking for them may run code of the program, which may change what the slice is taken of.
    fn slice_parts(&mut self, slice: &Slice) -> Result<SliceParts, Raised> {
        let mut part = |value: &Value| match value {
            Value::None => Ok(None),
            other => self.slice_part(other).map(Some),
        };
        let step = part(&slice.step)?.unwrap_or(1);
        if step == 0 {
            return Err(value_error("slice step cannot be zero"));
        }
        let (start, stop) = (part(&slice.start)?, part(&slice.stop)?);
        Ok(SliceParts { start, stop, step })
    }

    fn slice_part(&mut self, value: &Value) -> Result<i64, Raised> {
        self.index(value).map_err(|it| {
            it.or_type_error("slice indices must be integers or None or have an __index__ method")
        })
    }

    /// `value[index] = item`.
    pub fn setitem(&mut self, value: &Value, index: &Value, item: Value) -> Result<(), Raised> {
        match (value, index) {
            (Value::List(it), Value::Int(at)) => {
                let mut items = it.items.borrow_mut();
                let Some(at) = place(*at, items.len()) else {
                    return Err(index_error("list assignment index out of range"));
                };
                it.note(&item);
                let old = std::mem::replace(&mut items[at], item);
                drop(items);
                drop(old);
                Ok(())
            }
            (Value::Dict(it), _) => it.store(self, index.clone(), item).map(drop),
            (Value::List(it), Value::Slice(slice)) => self.set_slice(it, slice, &item),
            (Value::List(_), _) => {
                let at = self.sequence_index(index, "list")?;
                self.setitem(value, &Value::Int(at), item)
            }
            (Value::Instance(_), _) => {
                let args = [index.clone(), item];
                if self.call_special(value, Sym::SETITEM, &args)?.is_some() {
                    return Ok(());
                }
                if value.core().is(value) {
                    return Err(no_item_assignment(value));
                }
                let core = value.core().clone();
                let [_, item] = args;
                self.setitem(&core, index, item)
            }
            _ => match value.as_native() {
                Some(it) if it.setitem(self, value, index, &item)? => Ok(()),
                _ => Err(no_item_assignment(value)),
            },
        }
    }

    fn set_slice(&mut self, list: &Rc<List>, slice: &Slice, item: &Value) -> Result<(), Raised> {
        let parts = self.slice_parts(slice)?;
        let items =
            self.iter(item).map_err(|it| it.or_type_error("can only assign an iterable"))?;
        let new = self.collect(&items)?;
        let range = parts.within(list.items.borrow().len());
        if range.step == 1 {
            let start = range.start as usize;
            let stop = (range.stop as usize).max(start);
            drop(list.splice(start..stop, new)?);
            return Ok(());
        }
        if new.len() != range.len() {
            return Err(value_error(format!(
                "attempt to assign sequence of size {} to extended slice of size {}",
                new.len(),
                range.len()
            )));
        }
        let mut items = list.items.borrow_mut();
        for (idx, value) in new.into_iter().enumerate() {
            list.note(&value);
            items[range.at(idx) as usize] = value;
        }
        Ok(())
    }

    /// `del value[index]`.
    pub fn delitem(&mut self, value: &Value, index: &Value) -> Result<(), Raised> {
        match value {
            Value::Dict(it) => match it.remove(self, index)? {
                Some(_) => Ok(()),
                None => Err(key_error(index.clone())),
            },
            Value::List(it) => self.delete_list_item(it, index),
            Value::Instance(_) => {
                let args = std::slice::from_ref(index);
                if self.call_special(value, Sym::DELITEM, args)?.is_some() {
                    return Ok(());
                }
                if value.core().is(value) {
                    return Err(no_item_deletion(value));
                }
                let core = value.core().clone();
                self.delitem(&core, index)
            }
            _ => match value.as_native() {
                Some(it) if it.delitem(self, value, index)? => Ok(()),
                _ => Err(no_item_deletion(value)),
            },
        }
    }

    fn delete_list_item(&mut self, list: &Rc<List>, index: &Value) -> Result<(), Raised> {
        let Value::Slice(slice) = index else {
            let at = self.sequence_index(index, "list")?;
            let Some(at) = place(at, list.items.borrow().len()) else {
                return Err(index_error("list assignment index out of range"));
            };
            self.lint_removed(list, at);
            let old = list.items.borrow_mut().remove(at);
            drop(old);
            return Ok(());
        };
        let parts = self.slice_parts(slice)?;
        let len = list.items.borrow().len();
        let range = parts.within(len);
        let gone: Vec<usize> = (0..range.len()).map(|idx| range.at(idx) as usize).collect();
        let mut keep = vec![true; len];
        gone.iter().for_each(|at| keep[*at] = false);
        let items = list.replace(Vec::new());
        let left = items.into_iter().zip(keep).filter(|(_, keep)| *keep).map(|(item, _)| item);
        list.replace(left.collect());
        Ok(())
    }

    /// `item in value`.
    pub fn contains(&mut self, value: &Value, item: &Value) -> Result<bool, Raised> {
        match value {
            Value::Dict(it) => Ok(it.get(self, item)?.is_some()),
            Value::Set(it) => it.contains(self, item),
            Value::Str(it) => match item.as_str() {
                Some(part) => stoppable_if_long(self, it.len(), || search::contains(it, part)),
                None => Err(type_error(format!(
                    "'in <string>' requires string as left operand, not {}",
                    type_name(item)
                ))),
            },
            Value::Class(class) => {
                let args = CallArgs { positional: std::slice::from_ref(item), keywords: &[] };
                match self.class_protocol(class, "contains", args)? {
                    Some(answer) => self.truth(&answer),
                    None => self.contains_by_iterating(value, item),
                }
            }
            Value::Range(it) if item.as_int().is_some() && !has_own_eq(item) => {
                Ok(item.as_int().is_some_and(|item| it.contains(item)))
            }
            Value::Instance(_) => {
                let args = std::slice::from_ref(item);
                if let Some(answer) = self.call_special(value, Sym::CONTAINS, args)? {
                    return self.truth(&answer);
                }
                if !value.core().is(value) && !self.has_special(value, Sym::ITER) {
                    let core = value.core().clone();
                    return self.contains(&core, item);
                }
                self.contains_by_iterating(value, item)
            }
            _ => {
                if let Some(it) = value.as_native()
                    && let Some(answer) = it.contains(self, value, item)?
                {
                    return Ok(answer);
                }
                self.contains_by_iterating(value, item)
            }
        }
    }

    fn contains_by_iterating(&mut self, value: &Value, item: &Value) -> Result<bool, Raised> {
        let iter = self.iter(value).map_err(|raised| {
            if !raised.marks().is_empty() {
                return raised;
            }
            type_error(format!("argument of type '{}' is not iterable", type_name(value)))
        })?;
        while let Some(candidate) = self.next(&iter)? {
            if candidate.is(item) || self.eq(&candidate, item)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Checks that there is memory for a container of `len` items.
    pub fn check_size(&self, len: usize) -> Result<usize, Raised> {
        memory::room_for(len)?;
        Ok(len)
    }
}

/// Whether the class of an instance says itself what equals it.
fn has_own_eq(value: &Value) -> bool {
    matches!(value, Value::Instance(it) if it.class.has(traits::EQ))
}

/// The positions that a slice of plain numbers means in a sequence of `len` items; `None` if other values take part.
pub(crate) fn plain_slice(start: &Value, stop: &Value, step: &Value, len: usize) -> Option<Range> {
    let part = |value: &Value| match value {
        Value::None => Some(None),
        Value::Int(it) => Some(Some(*it)),
        _ => None,
    };
    let step = part(step)?.unwrap_or(1);
    let parts = SliceParts { start: part(start)?, stop: part(stop)?, step };
    (step != 0).then(|| parts.within(len))
}

/// The numbers in a slice.
struct SliceParts {
    start: Option<i64>,
    stop: Option<i64>,
    step: i64,
}

impl SliceParts {
    /// The positions in a sequence of `len` items: a negative number counts from the end, a missing one is an end.
    fn within(self, len: usize) -> Range {
        let (len, step) = (len as i64, self.step);
        let (low, high) = if step > 0 { (0, len) } else { (-1, len - 1) };
        let place = |at: i64| (if at < 0 { at.saturating_add(len) } else { at }).clamp(low, high);
        let (first, last) = if step > 0 { (0, len) } else { (len - 1, -1) };
        Range { start: self.start.map_or(first, place), stop: self.stop.map_or(last, place), step }
    }
}

/// Whether square brackets behind a built-in type are an annotation, as in `list[int]`.
fn is_generic(row: &'static NativeType) -> bool {
    let plain = [&types::INT, &types::FLOAT, &types::BOOL, &types::STR, &types::OBJECT];
    let others = [&types::NONE_TYPE, &types::RANGE, &types::SLICE, &types::PROPERTY];
    let is = |it: &&NativeType| std::ptr::eq(*it, row);
    !plain.iter().any(is)
        && !others.iter().any(is)
        && !class_of(row).derives_from(&types::BASE_EXCEPTION)
}

/// The position that a possibly negative index means.
pub fn place(at: i64, len: usize) -> Option<usize> {
    let at = if at < 0 { at + len as i64 } else { at };
    usize::try_from(at).ok().filter(|at| *at < len)
}

fn char_at(text: &Str, at: i64) -> Option<Value> {
    let at = place(at, text.chars_len())?;
    if text.is_ascii() {
        return Some(Value::str(&text[at..at + 1]));
    }
    text.chars().nth(at).map(Value::str)
}

fn not_subscriptable(value: &Value) -> Raised {
    type_error(format!("'{}' object is not subscriptable", type_name(value)))
        .with_words(crate::objects::function::call_it(value))
}

fn no_item_assignment(value: &Value) -> Raised {
    type_error(format!("'{}' object does not support item assignment", type_name(value)))
}

fn no_item_deletion(value: &Value) -> Raised {
    type_error(format!("'{}' object doesn't support item deletion", type_name(value)))
}

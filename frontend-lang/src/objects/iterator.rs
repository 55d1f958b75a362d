//! Built-in iterators: one value per iteration over a container, plus the lazy builtins.

use std::cell::RefCell;
use std::rc::Rc;

use crate::cx::Cx;
use crate::error::{Raised, runtime_error};
use crate::memory::Fixed;
use crate::table::{Dict, Set};
use crate::value::{List, Range, Str, Tuple, Value};

/// An iterator; its state is taken out while it runs.
pub struct Iter {
    pub state: RefCell<IterState>,
    _memory: Fixed<96>,
}

/// What an [`Iter`] iterates over.
pub enum IterState {
    Done,
    Range {
        next: i64,
        left: usize,
        step: i64,
    },
    List {
        list: Rc<List>,
        at: usize,
    },
    ListBack {
        list: Rc<List>,
        left: usize,
    },
    Tuple {
        items: Rc<Tuple>,
        at: usize,
    },
    Str {
        text: Rc<Str>,
        at: usize,
    },
    Dict {
        dict: Rc<Dict>,
        at: usize,
        len: usize,
        yields: DictPart,
    },
    DictBack {
        dict: Rc<Dict>,
        at: usize,
        yields: DictPart,
    },
    Set {
        set: Rc<Set>,
        at: usize,
        len: usize,
    },
    /// Items already computed.
    Items(std::vec::IntoIter<Value>),
    Enumerate {
        inner: Value,
        count: i64,
    },
    Zip {
        inners: Vec<Value>,
        strict: bool,
    },
    Map {
        func: Value,
        inners: Vec<Value>,
    },
    /// Keeps items for which `func` (or the item itself, for `None`) is true.
    Filter {
        func: Value,
        inner: Value,
    },
    /// An object with `__getitem__` from 0 until `IndexError`.
    Sequence {
        object: Value,
        at: i64,
    },
    /// An object with `__len__` and `__getitem__`, from its end.
    SequenceBack {
        object: Value,
        left: i64,
    },
    /// `iter(func, sentinel)`.
    Until {
        func: Value,
        sentinel: Value,
    },
    /// Code of another file: `step` gives the next item, `traverse` shows held values.
    Custom(Box<dyn Step>),
}

/// What a dict iterator gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DictPart {
    Keys,
    Values,
    Items,
}

/// An iteration defined in another file.
pub trait Step {
    /// The next item; after `None` it is not asked again.
    fn step(&mut self, cx: &mut Cx) -> Result<Option<Value>, Raised>;

    /// Shows every value held to `visit`.
    fn traverse(&self, visit: &mut dyn FnMut(&Value)) {
        let _ = visit;
    }
}

impl Iter {
    /// An iterator in this state.
    pub fn new(state: IterState) -> Iter {
        Iter { state: RefCell::new(state), _memory: Fixed::default() }
    }

    /// An iterator over items already computed.
    pub fn items(items: Vec<Value>) -> Iter {
        Iter::new(IterState::Items(items.into_iter()))
    }

    /// An iterator over code of another file.
    pub fn custom(step: impl Step + 'static) -> Iter {
        Iter::new(IterState::Custom(Box::new(step)))
    }

    /// An iterator over a range.
    pub fn range(range: Range) -> Iter {
        Iter::new(IterState::Range { next: range.start, left: range.len(), step: range.step })
    }

    /// The name that CPython gives to the type of such an iterator.
    pub fn type_name(&self) -> &'static str {
        match self.state.try_borrow().as_deref() {
            Ok(IterState::List { .. }) => "list_iterator",
            Ok(IterState::Tuple { .. }) => "tuple_iterator",
            Ok(IterState::Range { .. }) => "range_iterator",
            Ok(IterState::Str { text, .. }) if text.is_ascii() => "str_ascii_iterator",
            Ok(IterState::Str { .. }) => "str_iterator",
            Ok(IterState::Set { .. }) => "set_iterator",
            Ok(IterState::Dict { .. }) => "dict_keyiterator",
            _ => "iterator",
        }
    }

    /// The next item.
    pub fn next(&self, cx: &mut Cx) -> Result<Option<Value>, Raised> {
        let Ok(mut state) = self.state.try_borrow_mut() else {
            return Err(runtime_error("iterator already executing"));
        };
        if let Some(quick) = state.quick_next() {
            if quick.is_none() {
                *state = IterState::Done;
            }
            return Ok(quick);
        }
        let mut taken = std::mem::replace(&mut *state, IterState::Done);
        drop(state);
        let item = taken.slow_next(cx)?;
        if item.is_some() {
            self.state.replace(taken);
        }
        Ok(item)
    }

    /// How many items are left, if that is known.
    pub fn size_hint(&self) -> Option<usize> {
        match &*self.state.try_borrow().ok()? {
            IterState::Done => Some(0),
            IterState::Range { left, .. } => Some(*left),
            IterState::List { list, at } => Some(list.items.borrow().len().saturating_sub(*at)),
            IterState::Tuple { items, at } => Some(items.len().saturating_sub(*at)),
            IterState::Dict { len, .. } => Some(*len),
            IterState::Items(items) => Some(items.len()),
            _ => None,
        }
    }

    /// Shows every value held to `visit`.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Value)) {
        let Ok(state) = self.state.try_borrow() else { return };
        match &*state {
            IterState::List { list, .. } | IterState::ListBack { list, .. } => {
                visit(&Value::List(list.clone()));
            }
            IterState::Tuple { items, .. } => visit(&Value::Tuple(items.clone())),
            IterState::Dict { dict, .. } | IterState::DictBack { dict, .. } => {
                visit(&Value::Dict(dict.clone()));
            }
            IterState::Set { set, .. } => visit(&Value::Set(set.clone())),
            IterState::Items(items) => items.as_slice().iter().for_each(visit),
            IterState::Enumerate { inner, .. } => visit(inner),
            IterState::Zip { inners, .. } => inners.iter().for_each(visit),
            IterState::Map { func, inners } => {
                visit(func);
                inners.iter().for_each(visit);
            }
            IterState::Filter { func, inner } => {
                visit(func);
                visit(inner);
            }
            IterState::Sequence { object, .. } | IterState::SequenceBack { object, .. } => {
                visit(object);
            }
            IterState::Until { func, sentinel } => {
                visit(func);
                visit(sentinel);
            }
            IterState::Custom(step) => step.traverse(visit),
            _ => {}
        }
    }
}

impl Iter {
    /// The name of the type that CPython has for such an iterator.
    pub(crate) fn kind(&self) -> &'static str {
        let Ok(state) = self.state.try_borrow() else { return "iterator" };
        match &*state {
            IterState::Range { .. } => "range_iterator",
            IterState::List { .. } => "list_iterator",
            IterState::ListBack { .. } => "list_reverseiterator",
            IterState::Tuple { .. } => "tuple_iterator",
            IterState::Str { text, .. } if text.is_ascii() => "str_ascii_iterator",
            IterState::Str { .. } => "str_iterator",
            IterState::Dict { yields, .. } => match yields {
                DictPart::Keys => "dict_keyiterator",
                DictPart::Values => "dict_valueiterator",
                DictPart::Items => "dict_itemiterator",
            },
            IterState::DictBack { .. } => "dict_reversekeyiterator",
            IterState::Set { .. } => "set_iterator",
            IterState::Enumerate { .. } => "enumerate",
            IterState::Zip { .. } => "zip",
            IterState::Map { .. } => "map",
            IterState::Filter { .. } => "filter",
            IterState::SequenceBack { .. } => "reversed",
            IterState::Until { .. } => "callable_iterator",
            _ => "iterator",
        }
    }
}

impl IterState {
    /// The next item where no other code can run; the outer `None` means "not this way".
    #[inline]
    pub(crate) fn quick_next(&mut self) -> Option<Option<Value>> {
        Some(match self {
            IterState::Done => None,
            IterState::Range { next, left, step } => {
                if *left == 0 {
                    return Some(None);
                }
                *left -= 1;
                let item = *next;
                *next = next.wrapping_add(*step);
                Some(Value::Int(item))
            }
            IterState::List { list, at } => {
                let item = list.items.borrow().get(*at).cloned();
                *at += 1;
                item
            }
            IterState::ListBack { list, left } => {
                let items = list.items.borrow();
                *left = (*left).min(items.len()).checked_sub(1).unwrap_or(usize::MAX);
                items.get(*left).cloned()
            }
            IterState::Tuple { items, at } => {
                *at += 1;
                items.get(*at - 1).cloned()
            }
            IterState::Str { text, at } => {
                let next = text[*at..].chars().next();
                next.map(|it| {
                    *at += it.len_utf8();
                    Value::str(it)
                })
            }
            IterState::Items(items) => items.next(),
            IterState::DictBack { dict, at, yields } => {
                dict.prev_from(*at).map(|(before, k, v)| {
                    *at = before;
                    yields.pick(k, v)
                })
            }
            _ => return None,
        })
    }

    /// The next item of a list, tuple or range; without one nothing changes.
    #[inline]
    pub(crate) fn quick_item(&mut self) -> Option<Value> {
        if !self.is_ready() {
            return None;
        }
        self.quick_next()?
    }

    /// Whether [`IterState::quick_item`] has an item.
    #[inline]
    pub(crate) fn is_ready(&self) -> bool {
        match self {
            IterState::List { list, at } => *at < list.items.borrow().len(),
            IterState::Tuple { items, at } => *at < items.len(),
            IterState::Range { left, .. } => *left > 0,
            _ => false,
        }
    }

    fn slow_next(&mut self, cx: &mut Cx) -> Result<Option<Value>, Raised> {
        match self {
            IterState::Dict { dict, at, len, yields } => {
                if dict.len() != *len {
                    return Err(runtime_error("dictionary changed size during iteration"));
                }
                Ok(dict.next_from(*at).map(|(after, key, value)| {
                    *at = after;
                    yields.pick(key, value)
                }))
            }
            IterState::Set { set, at, len } => {
                if set.len() != *len {
                    return Err(runtime_error("Set changed size during iteration"));
                }
                Ok(set.next_from(*at).map(|(after, item)| {
                    *at = after;
                    item
                }))
            }
            IterState::Enumerate { inner, count } => {
                let Some(item) = cx.next(inner)? else { return Ok(None) };
                *count += 1;
                Ok(Some(Value::tuple([Value::Int(*count - 1), item])))
            }
            IterState::Zip { inners, strict } => zip_next(cx, inners, *strict),
            IterState::Map { func, inners } => {
                let mut args = Vec::with_capacity(inners.len());
                for inner in inners {
                    let Some(item) = cx.next(inner)? else { return Ok(None) };
                    args.push(item);
                }
                cx.call(func, &args).map(Some)
            }
            IterState::Filter { func, inner } => filter_next(cx, func, inner),
            IterState::Sequence { object, at } => sequence_next(cx, object, at),
            IterState::SequenceBack { object, left } => {
                *left -= 1;
                if *left < 0 {
                    return Ok(None);
                }
                cx.getitem(object, &Value::Int(*left)).map(Some)
            }
            IterState::Until { func, sentinel } => {
                let item = cx.call(func, &[])?;
                Ok(if cx.eq(&item, sentinel)? { None } else { Some(item) })
            }
            IterState::Custom(step) => step.step(cx),
            _ => Ok(None),
        }
    }
}

impl DictPart {
    /// The part of an entry that is given.
    pub fn pick(self, key: Value, value: Value) -> Value {
        match self {
            DictPart::Keys => key,
            DictPart::Values => value,
            DictPart::Items => Value::tuple([key, value]),
        }
    }
}

fn zip_next(cx: &mut Cx, inners: &[Value], strict: bool) -> Result<Option<Value>, Raised> {
    if inners.is_empty() {
        return Ok(None);
    }
    let mut items = Vec::with_capacity(inners.len());
    for (idx, inner) in inners.iter().enumerate() {
        match cx.next(inner)? {
            Some(item) => items.push(item),
            None if strict && idx > 0 => return Err(zip_length(idx, "shorter")),
            None if strict => {
                for (idx, inner) in inners.iter().enumerate().skip(1) {
                    if cx.next(inner)?.is_some() {
                        return Err(zip_length(idx, "longer"));
                    }
                }
                return Ok(None);
            }
            None => return Ok(None),
        }
    }
    Ok(Some(Value::tuple(items)))
}

fn zip_length(idx: usize, how: &str) -> Raised {
    let others = if idx == 1 { "argument 1".to_owned() } else { format!("arguments 1-{idx}") };
    crate::error::value_error(format!("zip() argument {} is {how} than {others}", idx + 1))
}

fn filter_next(cx: &mut Cx, func: &Value, inner: &Value) -> Result<Option<Value>, Raised> {
    while let Some(item) = cx.next(inner)? {
        let keep = match func {
            Value::None => cx.truth(&item)?,
            _ => {
                let answer = cx.call(func, std::slice::from_ref(&item))?;
                cx.truth(&answer)?
            }
        };
        if keep {
            return Ok(Some(item));
        }
        cx.poll()?;
    }
    Ok(None)
}

fn sequence_next(cx: &mut Cx, object: &Value, at: &mut i64) -> Result<Option<Value>, Raised> {
    match cx.getitem(object, &Value::Int(*at)) {
        Ok(item) => {
            *at += 1;
            Ok(Some(item))
        }
        Err(raised) if raised.is(&crate::error::INDEX_ERROR) => Ok(None),
        Err(raised) => Err(raised),
    }
}

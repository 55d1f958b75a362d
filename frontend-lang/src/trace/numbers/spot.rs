//! Places in which numbers stand, or tuples of them: items, attributes, variables.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::super::node::{Anchor, Node, can_change, is_same};
use super::super::slots::Slots;
use super::tracked::{holds_tracked, kind_of, numbers_in};
use crate::operate::equal::plain_hash;
use crate::sym::Sym;
use crate::value::Value;

/// A place in an object, which may be gone by now.
pub(in crate::trace) struct Spot {
    holder: Anchor,
    key: Key,
}

enum Key {
    /// The item of a dict under this key.
    Under(Value),
    /// An item of a list.
    At(usize),
    Attr(Sym),
    /// A global name of the function.
    Global(u32),
    /// What the variable of an outer function holds.
    Cell,
}

/// The places of an object in which numbers stand; `slots` are the global names of a function.
pub(in crate::trace) fn spots(object: &Value, slots: &[u32]) -> Vec<Spot> {
    let mut keys = Vec::new();
    let mut add = |key: Key, value: &Value| {
        if is_number(value) {
            keys.push(key);
        }
    };
    match object {
        Value::Dict(it) if !it.is_of_instance() => {
            for (key, value) in it.items().into_iter().filter(|it| !can_change(&it.0)) {
                add(Key::Under(key), &value);
            }
        }
        Value::List(it) => {
            it.items.borrow().iter().enumerate().for_each(|(at, it)| add(Key::At(at), it));
        }
        Value::Instance(it) => {
            it.attrs.borrow().iter().for_each(|(name, it)| add(Key::Attr(*name), it));
        }
        Value::Cell(it) => add(Key::Cell, &it.borrow()),
        Value::Func(it) => {
            let globals = it.code.globals.slots.borrow();
            slots.iter().for_each(|&it| add(Key::Global(it), &globals[it as usize].value));
        }
        _ => {}
    }
    let spot = |key| Some(Spot { holder: Anchor::of(object)?, key });
    keys.into_iter().filter_map(spot).collect()
}

/// Whether a number that is stored under a key is found again there: keys of other kinds are asked in code of their own.
pub(super) fn finds_again(container: &Value, key: &Value) -> bool {
    match container.core() {
        Value::List(_) => true,
        Value::Dict(it) => it.quick_get(key).is_some(),
        _ => plain_hash(key).is_some(),
    }
}

impl Spot {
    /// Whether both are one place. Functions share their global names.
    pub(in crate::trace) fn is(&self, other: &Spot) -> bool {
        let (Some(a), Some(b)) = (self.holder.get(), other.holder.get()) else { return false };
        match (&self.key, &other.key, &a, &b) {
            (Key::Global(x), Key::Global(y), Value::Func(a), Value::Func(b)) => {
                x == y && Rc::ptr_eq(&a.code.globals, &b.code.globals)
            }
            (Key::Under(x), Key::Under(y), ..) => a.is(&b) && is_same(x, y),
            (Key::At(x), Key::At(y), ..) => a.is(&b) && x == y,
            (Key::Attr(x), Key::Attr(y), ..) => a.is(&b) && x == y,
            (Key::Cell, Key::Cell, ..) => a.is(&b),
            _ => false,
        }
    }

    /// The object that has the place.
    pub(super) fn holder(&self) -> Option<Value> {
        self.holder.get()
    }

    /// What stands there.
    pub(in crate::trace) fn get(&self) -> Option<Value> {
        match (&self.key, self.holder.get()?) {
            (Key::Under(key), Value::Dict(it)) => it.quick_get(key)?,
            (Key::At(at), Value::List(it)) => it.items.borrow().get(*at).cloned(),
            (Key::Attr(name), Value::Instance(it)) => it.attrs.borrow().get(name).cloned(),
            (Key::Global(slot), Value::Func(it)) => {
                it.code.globals.slots.borrow().get(*slot as usize).map(|it| it.value.clone())
            }
            (Key::Cell, Value::Cell(it)) => Some(it.borrow().clone()),
            _ => None,
        }
    }

    /// Puts another number there, if one stands there.
    pub(in crate::trace) fn put(&self, number: &Value) {
        let Some(holder) = self.holder.get() else { return };
        match (&self.key, holder) {
            (Key::Under(key), Value::Dict(it))
                if it.quick_get(key).flatten().is_some_and(|it| is_number(&it)) =>
            {
                it.quick_store(key, number);
            }
            (Key::At(at), Value::List(it)) => {
                replace(it.items.borrow_mut().get_mut(*at), number);
            }
            (Key::Attr(name), Value::Instance(it)) => {
                replace(it.attrs.borrow_mut().get_mut(name), number);
            }
            (Key::Global(slot), Value::Func(it)) => {
                let mut slots = it.code.globals.slots.borrow_mut();
                replace(slots.get_mut(*slot as usize).map(|it| &mut it.value), number);
            }
            (Key::Cell, Value::Cell(it)) => replace(Some(&mut it.borrow_mut()), number),
            _ => {}
        }
    }
}

/// Numbers have nothing to be called when they go, so that they are dropped where they stand.
fn replace(place: Option<&mut Value>, number: &Value) {
    if let Some(place) = place.filter(|it| is_number(it)) {
        *place = number.clone();
    }
}

/// Whether it is a number, or a tuple of some or with tracked ones.
fn is_number(value: &Value) -> bool {
    kind_of(value).is_some() || numbers_in(value).is_some() || holds_tracked(value)
}

/// Goes through the places in these objects in which numbers stand, and those in what they hold too if `is_deep`, and puts what `change`
/// gives there.
pub(super) fn sweep(
    roots: impl IntoIterator<Item = Value>,
    is_deep: bool,
    change: &mut dyn FnMut(&Spot, &Value) -> Option<Value>,
) {
    let mut seen = FxHashSet::default();
    let mut waiting: Vec<Value> = roots.into_iter().collect();
    while let Some(object) = waiting.pop() {
        let is_new = |it| seen.insert(it);
        if matches!(object, Value::Tensor(_)) || !object.address().is_some_and(is_new) {
            continue;
        }
        for spot in spots(&object, Slots::of(&object, None).found()) {
            if let Some(number) = spot.get().and_then(|it| change(&spot, &it)) {
                spot.put(&number);
            }
        }
        if is_deep {
            Node::of(&object, &mut |it| waiting.push(it.clone()));
        }
    }
}

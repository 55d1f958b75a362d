//! Pictures of what a check can reach, to see what has changed between two moments, and to make it unknown.
//!
//! A picture shows containers with a mark for each thing they hold; equal marks mean that nothing a check knows has changed.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::check::Shadow;
use crate::check::unknown::{Kind, container, kind_of, unknown};
use crate::cx::Cx;
use crate::cycles::children;
use crate::value::Value;

/// Objects that the pictures of one check show altogether.
const MOST: usize = 6_000;

/// Containers by address, with a mark for each thing in them.
pub(crate) struct Picture(FxHashMap<usize, (Value, Vec<u64>)>);

impl Shadow {
    /// Remembers what a copy was like when it was made, if that is while a loop is under way.
    pub(crate) fn note_copy(&mut self, copy: &Value) {
        if !self.watches.is_empty()
            && let Some(address) = copy.address()
        {
            self.fresh.insert(address, (copy.clone(), marks(copy)));
        }
    }
}

impl Cx {
    /// A picture of all that the cell may reach; `None` if that is too much, or if something cannot be seen.
    pub(crate) fn picture(&mut self) -> Option<Picture> {
        let mut waiting: Vec<Value> =
            self.machine.stack.iter().filter(|it| !runs(it)).cloned().collect();
        let shadow = self.shadow();
        waiting.extend(shadow.overlay.values().cloned());
        waiting.extend(shadow.copies.values().cloned());
        let mut seen = FxHashMap::default();
        while let Some(value) = waiting.pop() {
            let Some(address) = value.address().filter(|it| !seen.contains_key(it)) else {
                continue;
            };
            match &value {
                Value::Iter(_) | Value::Generator(_) => return None,
                Value::Class(_) if !shadow.own.contains(&address) => continue,
                Value::Tensor(_) | Value::Str(_) | Value::Module(_) | Value::Native(_) => continue,
                Value::Object(_) if kind_of(&value).is_some() => continue,
                _ => {}
            }
            children(&value, &mut |it| {
                if it.address().is_some() {
                    waiting.push(it.clone());
                }
            });
            let marks = marks(&value);
            seen.insert(address, (value, marks));
            shadow.n_pictured += 1;
            if shadow.n_pictured > MOST {
                return None;
            }
        }
        Some(Picture(seen))
    }

    /// Makes unknown what has changed since a picture was taken; false if it cannot be told.
    pub(crate) fn forget(&mut self, before: Picture) -> bool {
        let Some(now) = self.picture() else { return false };
        let mut gone = FxHashSet::default();
        for (address, (value, marks)) in &now.0 {
            let fresh = || self.check.as_deref()?.fresh.get(address);
            let Some((_, old)) = before.0.get(address).or_else(fresh) else { continue };
            if old == marks {
                continue;
            }
            match value {
                Value::Class(_) | Value::Func(_) => return false,
                Value::List(_) | Value::Dict(_) | Value::Instance(_) | Value::Cell(_)
                    if old.len() == marks.len() =>
                {
                    let Some(changed) = self.forget_items(value, old) else { return false };
                    if !changed {
                        gone.insert(*address);
                    }
                }
                Value::Instance(_) => return false,
                _ => drop(gone.insert(*address)),
            }
        }
        spread(&now, &mut gone);
        for (value, _) in now.0.values() {
            replace_in(value, &|it| gone_one(it, &gone));
        }
        let shadow = self.shadow();
        for value in shadow.overlay.values_mut().chain(shadow.copies.values_mut()) {
            if gone_one(value, &gone) {
                *value = forgotten(value);
            }
        }
        for value in self.machine.stack.iter_mut() {
            if gone_one(value, &gone) {
                *value = forgotten(value);
            }
        }
        true
    }

    /// Makes the items of a container unknown that have changed; `false` if its keys have.
    fn forget_items(&self, container: &Value, old: &[u64]) -> Option<bool> {
        let changed = |at: usize, it: &Value| old.get(at).is_none_or(|old| *old != mark(it));
        match container {
            Value::List(it) => {
                for (at, item) in it.items.borrow_mut().iter_mut().enumerate() {
                    if changed(at, item) {
                        *item = vague(item);
                    }
                }
            }
            Value::Cell(it) => {
                let value = vague(&it.borrow());
                drop(it.assign(value));
            }
            Value::Instance(it) => {
                // The class and the base stand first.
                if changed(1, &it.base) {
                    return None;
                }
                for (at, item) in it.attrs.borrow_mut().values_mut().enumerate() {
                    if changed(at + 2, item) {
                        *item = vague(item);
                    }
                }
            }
            Value::Dict(it) => {
                // Keys and values take turns.
                if it.keys().iter().enumerate().any(|(at, key)| changed(at * 2, key)) {
                    return Some(false);
                }
                it.change_values(&|at, value| changed(at * 2 + 1, value).then(|| vague(value)));
            }
            _ => return None,
        }
        Some(true)
    }
}

/// What holds something that is gone, and cannot hold something else, is gone too.
fn spread(now: &Picture, gone: &mut FxHashSet<usize>) {
    loop {
        let before = gone.len();
        if before == 0 {
            return;
        }
        for (address, (value, _)) in &now.0 {
            let fixed = !matches!(
                value,
                Value::List(_) | Value::Dict(_) | Value::Instance(_) | Value::Cell(_)
            );
            let mut holds = false;
            if let Value::Instance(it) = value {
                holds = gone_one(&it.base, gone);
            } else if fixed {
                children(value, &mut |it| holds |= gone_one(it, gone));
            }
            if holds {
                gone.insert(*address);
            }
        }
        if gone.len() == before {
            return;
        }
    }
}

fn gone_one(value: &Value, gone: &FxHashSet<usize>) -> bool {
    value.address().is_some_and(|it| gone.contains(&it))
}

/// Puts unknowns in the place of what is gone.
fn replace_in(container: &Value, is_gone: &dyn Fn(&Value) -> bool) {
    match container {
        Value::List(it) => {
            let mut items = it.items.borrow_mut();
            items.iter_mut().filter(|it| is_gone(it)).for_each(|it| *it = forgotten(it));
        }
        Value::Instance(it) => {
            let mut attrs = it.attrs.borrow_mut();
            attrs.values_mut().filter(|it| is_gone(it)).for_each(|it| *it = forgotten(it));
        }
        Value::Cell(it) if is_gone(&it.borrow()) => {
            let value = forgotten(&it.borrow());
            drop(it.assign(value));
        }
        Value::Dict(it) => {
            it.change_values(&|_, value| is_gone(value).then(|| forgotten(value)));
        }
        _ => {}
    }
}

/// The marks of what a container holds.
fn marks(container: &Value) -> Vec<u64> {
    let mut marks = Vec::new();
    children(container, &mut |it| marks.push(mark(it)));
    marks
}

/// What is still known of an object that has changed.
fn forgotten(value: &Value) -> Value {
    match value {
        Value::List(_) | Value::Dict(_) | Value::Set(_) => container(),
        _ => unknown(Kind::Any),
    }
}

/// What is still known of something that changes.
fn vague(value: &Value) -> Value {
    unknown(if matches!(value, Value::Float(_)) { Kind::Float } else { Kind::Any })
}

/// Whether a value is an iterator, which a loop on the stack advances.
fn runs(value: &Value) -> bool {
    matches!(value, Value::Iter(_) | Value::Generator(_))
}

/// A number that differs if what a check knows of two values does.
fn mark(value: &Value) -> u64 {
    let mut hasher = FxHasher::default();
    match value {
        Value::Int(it) => it.hash(&mut hasher),
        Value::Bool(it) => (1_u8, it).hash(&mut hasher),
        Value::Float(it) => (2_u8, it.to_bits()).hash(&mut hasher),
        Value::Str(it) => (3_u8, &***it).hash(&mut hasher),
        Value::Tensor(it) => {
            let value = it.peek();
            (4_u8, value.shape(), value.dtype()).hash(&mut hasher);
            value.as_number().map(|it| format!("{it:?}")).hash(&mut hasher);
        }
        other => match kind_of(other) {
            // All unknowns are alike.
            Some(_) => 5_u8.hash(&mut hasher),
            None => (6_u8, other.address().unwrap_or_default()).hash(&mut hasher),
        },
    }
    hasher.finish()
}

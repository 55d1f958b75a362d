//! Dicts.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use super::{Probe, Table, find};
use crate::cx::Cx;
use crate::cycles::{self, Candidate, holds};
use crate::error::Raised;
use crate::objects::class::{Instance, note_covered};
use crate::operate::equal::plain_hash;
use crate::sym::Sym;
use crate::value::Value;

/// A dict.
#[derive(Default)]
pub struct Dict {
    table: RefCell<Table<Value>>,
    noted: Cell<bool>,
    /// For `object.__dict__`: what is stored here is stored there.
    owner: OnceCell<Rc<Instance>>,
}

impl Dict {
    /// `object.__dict__`, from the attributes as they are; writing goes through to the object.
    pub fn of_instance(owner: &Rc<Instance>, attrs: Dict) -> Rc<Dict> {
        // The dict is new, so the place is free.
        let _ = attrs.owner.set(owner.clone());
        Rc::new(attrs)
    }

    /// Whether this is `object.__dict__`.
    pub(crate) fn is_of_instance(&self) -> bool {
        self.owner.get().is_some()
    }

    #[cold]
    fn write_through(&self, key: &Value, value: Option<&Value>) {
        if let (Some(owner), Some(name)) = (self.owner.get(), key.as_str()) {
            match value {
                Some(value) => {
                    let name = Sym::new(name);
                    if owner.class.covering(name).is_some() {
                        note_covered();
                    }
                    owner.set(name, value.clone());
                }
                None => drop(owner.remove(Sym::new(name))),
            }
        }
    }

    /// A dict with these entries; later keys win.
    pub fn from_pairs(
        cx: &mut Cx,
        pairs: impl IntoIterator<Item = (Value, Value)>,
    ) -> Result<Dict, Raised> {
        let dict = Dict::default();
        for (key, value) in pairs {
            dict.insert(cx, key, value)?;
        }
        Ok(dict)
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.table.borrow().live
    }

    /// True if there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of `key` where no user code decides it; the outer `None`: ask with [`Dict::get`].
    #[inline(never)]
    pub(crate) fn quick_get(&self, key: &Value) -> Option<Option<Value>> {
        let hash = plain_hash(key)? as u64;
        let table = self.table.borrow();
        match table.probe(hash, key) {
            Probe::Found(entry_idx) => {
                Some(table.entries[entry_idx].as_ref().map(|it| it.value.clone()))
            }
            Probe::Absent => Some(None),
            Probe::Ask(_) => None,
        }
    }

    /// Sets `key` to `value` where no user code takes part; false if nothing is stored: use [`Dict::store`].
    #[inline(never)]
    pub(crate) fn quick_store(self: &Rc<Dict>, key: &Value, value: &Value) -> bool {
        let Some(hash) = plain_hash(key) else { return false };
        if self.owner.get().is_some() {
            return false;
        }
        if holds(value) {
            self.note();
        }
        let mut table = self.table.borrow_mut();
        match table.probe(hash as u64, key) {
            Probe::Found(entry_idx) => {
                let Some(Some(entry)) = table.entries.get_mut(entry_idx) else { return false };
                let old = std::mem::replace(&mut entry.value, value.clone());
                drop(table);
                drop(old);
                true
            }
            Probe::Absent => table.push(hash as u64, key.clone(), value.clone()).is_ok(),
            Probe::Ask(_) => false,
        }
    }

    /// The value of `key`; a key that cannot be hashed is a `TypeError`.
    pub fn get(&self, cx: &mut Cx, key: &Value) -> Result<Option<Value>, Raised> {
        if let Some(known) = self.quick_get(key) {
            return Ok(known);
        }
        let hash = cx.hash(key)? as u64;
        let Some(entry_idx) = find(cx, &self.table, hash, key)? else { return Ok(None) };
        let table = self.table.borrow();
        Ok(table.entries.get(entry_idx).and_then(Option::as_ref).map(|it| it.value.clone()))
    }

    /// The value of a string key.
    pub fn get_str(&self, key: &str) -> Option<Value> {
        let key = Value::str(key);
        let Value::Str(text) = &key else { return None };
        let table = self.table.borrow();
        match table.probe(text.hash(), &key) {
            Probe::Found(entry_idx) => table.entries[entry_idx].as_ref().map(|it| it.value.clone()),
            _ => None,
        }
    }

    /// Sets `key` to `value`, keeping the place of a key that exists; returns the old value.
    pub fn insert(&self, cx: &mut Cx, key: Value, value: Value) -> Result<Option<Value>, Raised> {
        let hash = cx.hash(&key)? as u64;
        let found = find(cx, &self.table, hash, &key)?;
        if self.owner.get().is_some() {
            self.write_through(&key, Some(&value));
        }
        let mut table = self.table.borrow_mut();
        if let Some(entry_idx) = found
            && let Some(Some(entry)) = table.entries.get_mut(entry_idx)
        {
            return Ok(Some(std::mem::replace(&mut entry.value, value)));
        }
        table.push(hash, key, value)?;
        Ok(None)
    }

    /// As [`Dict::insert`], into a dict that others know already.
    pub fn store(
        self: &Rc<Dict>,
        cx: &mut Cx,
        key: Value,
        value: Value,
    ) -> Result<Option<Value>, Raised> {
        if holds(&value) || holds(&key) {
            self.note();
        }
        self.insert(cx, key, value)
    }

    /// Notes that containers may be stored here: the dict may become part of a cycle.
    pub fn note(self: &Rc<Dict>) {
        if !self.noted.replace(true) {
            cycles::note(Candidate::Dict(Rc::downgrade(self)));
        }
    }

    /// Sets a string key that holds a name; names are never equal to other kinds of key.
    pub fn insert_name(&self, key: Sym, value: Value) {
        let key = key.value();
        let Value::Str(text) = &key else { return };
        let hash = text.hash();
        let mut table = self.table.borrow_mut();
        if let Probe::Found(entry_idx) = table.probe(hash, &key)
            && let Some(Some(entry)) = table.entries.get_mut(entry_idx)
        {
            entry.value = value;
            return;
        }
        table.push_known(hash, key, value);
    }

    /// Removes `key` and returns its value.
    pub fn remove(&self, cx: &mut Cx, key: &Value) -> Result<Option<Value>, Raised> {
        let hash = cx.hash(key)? as u64;
        let Some(entry_idx) = find(cx, &self.table, hash, key)? else { return Ok(None) };
        if self.owner.get().is_some() {
            self.write_through(key, None);
        }
        let taken = self.table.borrow_mut().take(entry_idx);
        Ok(taken.map(|(_, value)| value))
    }

    /// Removes and returns the newest entry.
    pub fn pop_last(&self) -> Option<(Value, Value)> {
        let mut table = self.table.borrow_mut();
        let last = table.entries.iter().rposition(Option::is_some)?;
        table.take(last)
    }

    /// Removes all entries.
    pub fn clear(&self) {
        if self.owner.get().is_some() {
            self.keys().iter().for_each(|key| self.write_through(key, None));
        }
        let old = self.table.try_borrow_mut().map(|mut it| std::mem::take(&mut *it));
        drop(old);
    }

    /// Drops all entries of a dict that nothing refers to any more; the object it was `__dict__` of keeps its own.
    pub(crate) fn let_go(&self) {
        let old = self.table.try_borrow_mut().map(|mut it| std::mem::take(&mut *it));
        drop(old);
    }

    /// The first entry at or after position `from`, and the position after it. Positions count
    /// holes; start at 0.
    pub fn next_from(&self, from: usize) -> Option<(usize, Value, Value)> {
        let table = self.table.borrow();
        let rest = table.entries.get(from..)?;
        let skipped = rest.iter().position(Option::is_some)?;
        let entry = rest[skipped].as_ref()?;
        Some((from + skipped + 1, entry.key.clone(), entry.value.clone()))
    }

    /// The last entry before position `to`, and its position; start at `usize::MAX`.
    pub fn prev_from(&self, to: usize) -> Option<(usize, Value, Value)> {
        let table = self.table.borrow();
        let head = &table.entries[..to.min(table.entries.len())];
        let at = head.iter().rposition(Option::is_some)?;
        let entry = head[at].as_ref()?;
        Some((at, entry.key.clone(), entry.value.clone()))
    }

    /// A copy of all entries, in order.
    pub fn items(&self) -> Vec<(Value, Value)> {
        let table = self.table.borrow();
        table.entries.iter().flatten().map(|it| (it.key.clone(), it.value.clone())).collect()
    }

    /// The first key whose value is so.
    pub(crate) fn key_of(&self, is: &dyn Fn(&Value) -> bool) -> Option<Value> {
        let table = self.table.borrow();
        table.entries.iter().flatten().find(|it| is(&it.value)).map(|it| it.key.clone())
    }

    /// A copy of all keys, in order.
    pub fn keys(&self) -> Vec<Value> {
        self.table.borrow().entries.iter().flatten().map(|it| it.key.clone()).collect()
    }

    /// A copy of all values, in order.
    pub fn values(&self) -> Vec<Value> {
        self.table.borrow().entries.iter().flatten().map(|it| it.value.clone()).collect()
    }

    /// Puts others in the place of values for which `change` gives one; it gets their number in order.
    pub(crate) fn change_values(&self, change: &dyn Fn(usize, &Value) -> Option<Value>) {
        let mut table = self.table.borrow_mut();
        let mut old = Vec::new();
        for (at, entry) in table.entries.iter_mut().flatten().enumerate() {
            if let Some(new) = change(at, &entry.value) {
                old.push(std::mem::replace(&mut entry.value, new));
            }
        }
        drop(table);
        drop(old);
    }

    /// A shallow copy.
    pub fn copy(&self) -> Result<Dict, Raised> {
        let table = self.table.borrow().copy()?;
        Ok(Dict { table: RefCell::new(table), ..Dict::default() })
    }

    /// Shows every key and value to `visit`.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Value)) {
        if let Ok(table) = self.table.try_borrow() {
            for entry in table.entries.iter().flatten() {
                visit(&entry.key);
                visit(&entry.value);
            }
            self.owner.get().into_iter().for_each(|it| visit(&Value::Instance(it.clone())));
        }
    }
}

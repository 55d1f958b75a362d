//! Sets, frozen or not.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::{Table, find};
use crate::cx::Cx;
use crate::cycles::{self, Candidate, holds};
use crate::error::Raised;
use crate::patience::Pace;
use crate::value::Value;

/// A set; `frozen` sets are hashable and never change.
#[derive(Default)]
pub struct Set {
    table: RefCell<Table<()>>,
    pub frozen: bool,
    noted: Cell<bool>,
}

impl Set {
    /// An empty set.
    pub fn new(frozen: bool) -> Set {
        Set { table: RefCell::default(), frozen, noted: Cell::new(false) }
    }

    /// A set of these items.
    pub fn from_items(
        cx: &mut Cx,
        items: impl IntoIterator<Item = Value>,
        frozen: bool,
    ) -> Result<Set, Raised> {
        let set = Set::new(frozen);
        let mut pace = Pace::default();
        for item in items {
            pace.step(cx)?;
            set.add(cx, item)?;
        }
        Ok(set)
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.table.borrow().live
    }

    /// True if there is no item.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True if `item` is in the set; an item that cannot be hashed is a `TypeError`.
    pub fn contains(&self, cx: &mut Cx, item: &Value) -> Result<bool, Raised> {
        let hash = cx.hash(item)? as u64;
        Ok(find(cx, &self.table, hash, item)?.is_some())
    }

    /// Adds `item`; true if it is new.
    pub fn add(&self, cx: &mut Cx, item: Value) -> Result<bool, Raised> {
        let hash = cx.hash(&item)? as u64;
        if find(cx, &self.table, hash, &item)?.is_some() {
            return Ok(false);
        }
        self.table.borrow_mut().push(hash, item, ())?;
        Ok(true)
    }

    /// As [`Set::add`], to a set that others know already.
    pub fn store(self: &Rc<Set>, cx: &mut Cx, item: Value) -> Result<bool, Raised> {
        if holds(&item) && !self.noted.replace(true) {
            cycles::note(Candidate::Set(Rc::downgrade(self)));
        }
        self.add(cx, item)
    }

    /// Removes `item`; true if it was there.
    pub fn remove(&self, cx: &mut Cx, item: &Value) -> Result<bool, Raised> {
        let hash = cx.hash(item)? as u64;
        let Some(entry_idx) = find(cx, &self.table, hash, item)? else { return Ok(false) };
        let taken = self.table.borrow_mut().take(entry_idx);
        Ok(taken.is_some())
    }

    /// Removes and returns the oldest item.
    pub fn pop_first(&self) -> Option<Value> {
        let mut table = self.table.borrow_mut();
        let first = table.entries.iter().position(Option::is_some)?;
        table.take(first).map(|(key, ())| key)
    }

    /// Removes all items.
    pub fn clear(&self) {
        let old = self.table.try_borrow_mut().map(|mut it| std::mem::take(&mut *it));
        drop(old);
    }

    /// The first item at or after position `from`, and the position after it; start at 0.
    pub fn next_from(&self, from: usize) -> Option<(usize, Value)> {
        let table = self.table.borrow();
        let rest = table.entries.get(from..)?;
        let skipped = rest.iter().position(Option::is_some)?;
        Some((from + skipped + 1, rest[skipped].as_ref()?.key.clone()))
    }

    /// A copy of all items, in order of insertion.
    pub fn items(&self) -> Vec<Value> {
        self.table.borrow().entries.iter().flatten().map(|it| it.key.clone()).collect()
    }

    /// A copy with the same items.
    pub fn copy(&self, frozen: bool) -> Result<Set, Raised> {
        let table = self.table.borrow().copy()?;
        Ok(Set { table: RefCell::new(table), frozen, noted: Cell::new(false) })
    }

    /// Shows every item to `visit`.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Value)) {
        if let Ok(table) = self.table.try_borrow() {
            table.entries.iter().flatten().for_each(|entry| visit(&entry.key));
        }
    }
}

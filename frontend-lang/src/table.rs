//! Dicts and sets: insertion-ordered hash tables keyed by Python's equality and hash.
//!
//! Comparing keys may run user code, so no borrow is held while it does. Removing leaves a hole,
//! which keeps order and makes removal cheap; holes go when the table grows.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use crate::cx::Cx;
use crate::cycles::{self, Candidate, holds};
use crate::error::Raised;
use crate::memory::{self, Charge};
use crate::objects::class::Instance;
use crate::objects::trash::dispose;
use crate::operate::equal::{plain_hash, simple_eq};
use crate::sym::Sym;
use crate::value::Value;

const FREE: u32 = u32::MAX;
const HOLE: u32 = u32::MAX - 1;
/// Bytes counted for a table beside its contents.
const HEADER: usize = 96;

/// A dict.
#[derive(Default)]
pub struct Dict {
    table: RefCell<Table<Value>>,
    noted: Cell<bool>,
    /// For `object.__dict__`: what is stored here is stored there.
    owner: OnceCell<Rc<Instance>>,
}

/// A set; `frozen` sets are hashable and never change.
#[derive(Default)]
pub struct Set {
    table: RefCell<Table<()>>,
    pub frozen: bool,
    noted: Cell<bool>,
}

struct Table<V: 'static> {
    entries: Vec<Option<Entry<V>>>,
    index: Vec<u32>,
    live: usize,
    memory: Charge,
}

struct Entry<V> {
    hash: u64,
    key: Value,
    value: V,
}

impl<V: 'static> Drop for Table<V> {
    fn drop(&mut self) {
        if self.live > 0 {
            dispose(std::mem::take(&mut self.entries));
        }
    }
}

impl<V: 'static> Default for Table<V> {
    fn default() -> Self {
        Table { entries: Vec::new(), index: Vec::new(), live: 0, memory: Charge::new(HEADER) }
    }
}

/// What a probe found: an entry, or entries that only user code can compare.
enum Probe {
    Found(usize),
    Ask(Vec<(usize, Value)>),
    Absent,
}

impl<V: 'static> Table<V> {
    fn slot(&self, hash: u64) -> usize {
        (hash.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20) as usize & (self.index.len() - 1)
    }

    fn probe(&self, hash: u64, key: &Value) -> Probe {
        if self.live == 0 {
            return Probe::Absent;
        }
        let mut ask = Vec::new();
        let mut at = self.slot(hash);
        loop {
            let entry_idx = self.index[at];
            if entry_idx == FREE {
                break;
            }
            if entry_idx != HOLE
                && let Some(entry) = &self.entries[entry_idx as usize]
                && entry.hash == hash
            {
                let same = match (&entry.key, key) {
                    (Value::Int(a), Value::Int(b)) => Some(a == b),
                    (Value::Str(a), Value::Str(b)) if Rc::ptr_eq(a, b) => Some(true),
                    (a, b) => simple_eq(a, b),
                };
                match same {
                    Some(true) => return Probe::Found(entry_idx as usize),
                    Some(false) if entry.key.is(key) => return Probe::Found(entry_idx as usize),
                    Some(false) => {}
                    None => ask.push((entry_idx as usize, entry.key.clone())),
                }
            }
            at = (at + 1) & (self.index.len() - 1);
        }
        if ask.is_empty() { Probe::Absent } else { Probe::Ask(ask) }
    }

    /// Adds an entry whose key is new, or raises `MemoryError`.
    fn push(&mut self, hash: u64, key: Value, value: V) -> Result<(), Raised> {
        if self.is_full() {
            memory::room(self.bytes_after_rebuild())?;
            self.rebuild();
        }
        self.push_here(hash, key, value);
        Ok(())
    }

    /// Adds an entry whose key is new and comes from the text of a program.
    fn push_known(&mut self, hash: u64, key: Value, value: V) {
        if self.is_full() {
            self.rebuild();
        }
        self.push_here(hash, key, value);
    }

    fn is_full(&self) -> bool {
        (self.entries.len() + 1) * 3 > self.index.len() * 2
    }

    fn push_here(&mut self, hash: u64, key: Value, value: V) {
        let entry_idx = self.entries.len() as u32;
        self.entries.push(Some(Entry { hash, key, value }));
        self.live += 1;
        self.link(hash, entry_idx);
    }

    fn link(&mut self, hash: u64, entry_idx: u32) {
        let mut at = self.slot(hash);
        while self.index[at] < HOLE {
            at = (at + 1) & (self.index.len() - 1);
        }
        self.index[at] = entry_idx;
    }

    fn size_after_rebuild(&self) -> usize {
        ((self.live + 1) * 2).next_power_of_two().max(8)
    }

    fn bytes_after_rebuild(&self) -> usize {
        let size = self.size_after_rebuild();
        size * size_of::<u32>() + size * 2 / 3 * size_of::<Option<Entry<V>>>()
    }

    fn rebuild(&mut self) {
        self.entries.retain(Option::is_some);
        let size = self.size_after_rebuild();
        // As many entries as fit before the next rebuild.
        self.entries.reserve_exact((size * 2 / 3).saturating_sub(self.entries.len()));
        self.index.clear();
        self.index.resize(size, FREE);
        self.count();
        for entry_idx in 0..self.entries.len() {
            if let Some(entry) = &self.entries[entry_idx] {
                let hash = entry.hash;
                self.link(hash, entry_idx as u32);
            }
        }
    }

    /// Counts the memory in use.
    fn count(&self) {
        let entries = self.entries.capacity() * size_of::<Option<Entry<V>>>();
        self.memory.set(HEADER + entries + self.index.capacity() * size_of::<u32>());
    }

    fn take(&mut self, entry_idx: usize) -> Option<(Value, V)> {
        let entry = self.entries.get_mut(entry_idx)?.take()?;
        let mut at = self.slot(entry.hash);
        while self.index[at] != entry_idx as u32 {
            at = (at + 1) & (self.index.len() - 1);
        }
        self.index[at] = HOLE;
        self.live -= 1;
        if self.live == 0 {
            self.entries.clear();
            self.index.fill(FREE);
        } else {
            while matches!(self.entries.last(), Some(None)) {
                self.entries.pop();
            }
        }
        Some((entry.key, entry.value))
    }
}

/// Finds the entry of `key`, calling `__eq__` where it must; no borrow is held meanwhile.
fn find<V: 'static>(
    cx: &mut Cx,
    table: &RefCell<Table<V>>,
    hash: u64,
    key: &Value,
) -> Result<Option<usize>, Raised> {
    let probe = table.borrow().probe(hash, key);
    match probe {
        Probe::Found(entry_idx) => Ok(Some(entry_idx)),
        Probe::Absent => Ok(None),
        Probe::Ask(candidates) => {
            for (entry_idx, candidate) in candidates {
                if cx.eq(&candidate, key)? {
                    return Ok(Some(entry_idx));
                }
            }
            Ok(None)
        }
    }
}

impl Dict {
    /// `object.__dict__`, from the attributes as they are; writing goes through to the object.
    pub fn of_instance(owner: &Rc<Instance>, attrs: Dict) -> Rc<Dict> {
        // The dict is new, so the place is free.
        let _ = attrs.owner.set(owner.clone());
        Rc::new(attrs)
    }

    #[cold]
    fn write_through(&self, key: &Value, value: Option<&Value>) {
        if let (Some(owner), Some(name)) = (self.owner.get(), key.as_str()) {
            match value {
                Some(value) => owner.set(Sym::new(name), value.clone()),
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
        for item in items {
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

impl<V: Clone + 'static> Table<V> {
    fn copy(&self) -> Result<Table<V>, Raised> {
        let bytes = self.entries.len() * size_of::<Option<Entry<V>>>() + self.index.len() * 4;
        memory::room(bytes)?;
        let entries = self.entries.iter().map(|slot| {
            slot.as_ref().map(|it| Entry {
                hash: it.hash,
                key: it.key.clone(),
                value: it.value.clone(),
            })
        });
        let (entries, index) = (entries.collect(), self.index.clone());
        let table = Table { entries, index, live: self.live, memory: Charge::default() };
        table.count();
        Ok(table)
    }
}

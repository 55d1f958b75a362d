//! Dicts and sets: insertion-ordered hash tables keyed by Python's equality and hash.
//!
//! Comparing keys may run user code, so no borrow is held while it does. Removing leaves a hole,
//! which keeps order and makes removal cheap; holes go when the table grows.
//! This file holds the table; `dict` and `set` are what programs see of it.

mod dict;
mod set;

use std::cell::RefCell;
use std::rc::Rc;

use crate::cx::Cx;
use crate::error::Raised;
use crate::memory::{self, Charge};
use crate::objects::trash::free_many;
use crate::operate::equal::simple_eq;
use crate::value::Value;
pub use dict::Dict;
pub use set::Set;

const FREE: u32 = u32::MAX;
const HOLE: u32 = u32::MAX - 1;
/// Bytes counted for a table beside its contents.
const HEADER: usize = 96;

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
            free_many(std::mem::take(&mut self.entries));
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

//! Modules, and the slots that hold their global names.

use std::cell::{Cell, RefCell};

use rustc_hash::FxHashMap;

use crate::sym::Sym;
use crate::value::Value;
use std::rc::Rc;

thread_local! {
    static CHANGES: Cell<u32> = const { Cell::new(0) };
}

/// Changes whenever a program sets or deletes an attribute of a module.
pub(crate) fn changes() -> u32 {
    CHANGES.get()
}

/// A module.
pub struct Module {
    pub name: String,
    pub doc: String,
    pub globals: Rc<Globals>,
}

/// Global names of a module or of the session. A name keeps its slot for ever, so code finds it by
/// number.
#[derive(Default)]
pub struct Globals {
    index: RefCell<FxHashMap<Sym, u32>>,
    pub(crate) slots: RefCell<Vec<GlobalSlot>>,
}

/// One global name.
pub(crate) struct GlobalSlot {
    pub(crate) name: Sym,
    pub(crate) value: Value,
    /// What the name means where it is not assigned.
    pub(crate) builtin: Value,
}

impl Module {
    /// Sets an attribute from outside; an unbound value deletes it.
    pub(crate) fn set(&self, name: Sym, value: Value) {
        CHANGES.set(CHANGES.get().wrapping_add(1));
        self.globals.set(name, value);
    }
}

impl Globals {
    /// The slot of `name`, made if there is none; `builtin` is what it means while unassigned.
    pub fn slot(&self, name: Sym, builtin: impl FnOnce() -> Value) -> u32 {
        if let Some(slot) = self.index.borrow().get(&name) {
            return *slot;
        }
        let slot = GlobalSlot { name, value: Value::Unbound, builtin: builtin() };
        let mut slots = self.slots.borrow_mut();
        slots.push(slot);
        let number = slots.len() as u32 - 1;
        self.index.borrow_mut().insert(name, number);
        number
    }

    /// The slot of `name`, if there is one.
    pub(crate) fn find(&self, name: Sym) -> Option<u32> {
        self.index.borrow().get(&name).copied()
    }

    /// The value of `name`, if it is assigned.
    pub fn get(&self, name: Sym) -> Option<Value> {
        let slot = *self.index.borrow().get(&name)?;
        let value = self.slots.borrow()[slot as usize].value.clone();
        if value.is_unbound() { None } else { Some(value) }
    }

    /// Assigns `name`; an unbound value deletes it.
    pub fn set(&self, name: Sym, value: Value) {
        let slot = self.slot(name, || Value::Unbound) as usize;
        let old = std::mem::replace(&mut self.slots.borrow_mut()[slot].value, value);
        drop(old);
    }

    /// Deletes all names; their slots stay.
    pub fn clear(&self) {
        let taken = |it: &mut GlobalSlot| std::mem::replace(&mut it.value, Value::Unbound);
        let old: Vec<Value> = self.slots.borrow_mut().iter_mut().map(taken).collect();
        drop(old);
    }

    /// The first name, but for those that begin with `_`, whose value is so.
    pub(crate) fn name_of(&self, is: impl Fn(&Value) -> bool) -> Option<Sym> {
        let slots = self.slots.borrow();
        let mut named = slots.iter().filter(|it| is(&it.value)).map(|it| it.name);
        named.find(|it| !it.as_str().starts_with('_'))
    }

    /// All assigned names and values, in order of first use.
    pub fn entries(&self) -> Vec<(Sym, Value)> {
        let slots = self.slots.borrow();
        let bound = slots.iter().filter(|it| !it.value.is_unbound());
        bound.map(|it| (it.name, it.value.clone())).collect()
    }
}

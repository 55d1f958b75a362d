//! Lists that the body of a loop appends to and does not look at: what it adds is a part of what it gives.
//!
//! While such a body is followed, each name is bound to an empty list in place of its own, which gets the items in the end. A body that comes
//! by one of them in another way, such as an object that holds the same list, is refused, and the lists are as they would be.

use std::ops::Range;
use std::rc::Rc;

use super::home::{Home, Name, Use, uses};
use super::world::World;
use crate::bytecode::{Code, Op};
use crate::error::Raised;
use crate::value::{List, Value};

/// A list that a name of the body is bound to.
#[derive(Clone)]
pub(super) struct Growing {
    name: Name,
    list: Rc<List>,
}

/// The lists of a body that is followed, and those that stand in for them.
#[derive(Default)]
pub(super) struct StandIns(Vec<(Growing, Rc<List>)>);

/// The names in these operations that are only read to append to what they are bound to.
pub(super) fn only_appended(code: &Code, body: Range<usize>) -> Vec<Name> {
    let mut others = Vec::new();
    let mut appended = Vec::new();
    for at in body {
        let is_read_to_append = is_append(code.ops.get(at + 1));
        for it in uses(code, at..at + 1) {
            match it {
                Use::Read(name) if is_read_to_append => appended.push(name),
                Use::Read(name) | Use::Bind(name) | Use::Delete(name) => others.push(name),
                Use::Inner(_) => {}
            }
        }
    }
    appended.retain(|it| !others.contains(it));
    appended
}

fn is_append(op: Option<&Op>) -> bool {
    matches!(op, Some(Op::Method { name, .. }) if name.as_str() == "append")
}

impl Growing {
    /// What a name is bound to, if that is a list, and none of these.
    pub(super) fn of(name: Name, value: &Value, others: &[Growing]) -> Option<Growing> {
        let Value::List(list) = value else { return None };
        let is_another = others.iter().all(|it| !Rc::ptr_eq(&it.list, list));
        is_another.then(|| Growing { name, list: list.clone() })
    }

    pub(super) fn value(&self) -> Value {
        Value::List(self.list.clone())
    }

    /// How many items it has.
    pub(super) fn len(&self) -> usize {
        self.list.items.borrow().len()
    }

    /// The items from number `first` on.
    pub(super) fn items_from(&self, first: usize) -> Value {
        let items = self.list.items.borrow().get(first..).map_or_else(Vec::new, <[Value]>::to_vec);
        Value::List(Rc::new(List::new(items)))
    }

    /// Appends what a run without the body has given.
    pub(super) fn grow(&self, given: &Value) -> Result<(), Raised> {
        let Value::List(given) = given else { return Ok(()) };
        self.list.extend(given.items.borrow().clone().into_iter())
    }
}

impl StandIns {
    /// An empty list for each of these.
    pub(super) fn of(growing: &[Growing]) -> StandIns {
        let empty = |it: &Growing| (it.clone(), Rc::new(List::new(Vec::new())));
        StandIns(growing.iter().map(empty).collect())
    }

    /// Binds the names to them.
    pub(super) fn enter(&self, home: &Home, stack: &mut [Value]) {
        for (it, stand_in) in &self.0 {
            home.put(stack, it.name, Value::List(stand_in.clone()));
        }
    }

    pub(super) fn values(&self) -> impl Iterator<Item = Value> {
        self.0.iter().map(|it| Value::List(it.1.clone()))
    }

    /// Whether a body comes by one of the lists in another way.
    pub(super) fn are_in(&self, world: &World) -> bool {
        self.0.iter().any(|(it, stand_in)| {
            world.has(&it.value()) || world.has(&Value::List(stand_in.clone()))
        })
    }

    /// Binds the names to their own lists again, which get the items of those that stood in; a call that is under way appends to them, too.
    pub(super) fn release(&mut self, home: &Home, stack: &mut [Value]) -> Result<(), Raised> {
        for (it, stand_in) in std::mem::take(&mut self.0) {
            home.put(stack, it.name, it.value());
            let is_stand_in =
                |it: &&mut Value| matches!(it, Value::List(it) if Rc::ptr_eq(it, &stand_in));
            stack.iter_mut().filter(is_stand_in).for_each(|place| *place = it.value());
            it.grow(&Value::List(stand_in))?;
        }
        Ok(())
    }
}

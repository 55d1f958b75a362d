//! Variables that have elements of their own while a body is followed.
//!
//! A call knows values by where their elements lie. `c.copy_(a)` gives `c` the elements of `a` for as long as nobody writes either: in a call
//! that begins so, another `c.copy_(a)` would look like a variable that is only read, though in the next call they may differ.

use std::rc::Rc;

use engine::functional;
use rustc_hash::FxHashMap;

use super::asked::Asked;
use super::variant::{Slot, Variant};
use crate::native::*;
use crate::objects::tensor::TensorObj;

impl Variant {
    /// Gives each variable a copy of its elements that shares them with another variable or an argument; arguments stay as they are.
    pub(super) fn part_variables(&self, asked: &Asked<'_>) -> Result<(), Raised> {
        let mut owners = FxHashMap::default();
        for it in asked.passed.iter().filter_map(Value::as_tensor) {
            let root = TensorObj::root(it);
            if let Some(id) = root.peek().buffer_id() {
                owners.entry(id).or_insert(Rc::as_ptr(&root));
            }
        }
        let found = self.slots(asked).into_iter().filter(|it| !matches!(it.0, Slot::Arg(_)));
        for (slot, value) in found {
            let object = self.object(asked, slot).filter(|it| it.base_object().is_none());
            let (Some(object), Some(id)) = (object, value.buffer_id()) else { continue };
            let owner = *owners.entry(id).or_insert(Rc::as_ptr(&object));
            if !std::ptr::eq(owner, &*object) {
                let edge = value.edge().cloned();
                object.restore(functional::copy(&value.detach())?.at_edge(edge));
            }
        }
        Ok(())
    }
}

//! Locals, globals, and the cells that functions share.

use super::{Cursor, Done};
use crate::value::Value;
use crate::value::words::hold;
use crate::vm::long::{unbound_free, unbound_local};

impl<const SHADOW: bool> Cursor<'_, SHADOW> {
    #[inline(always)]
    pub(in crate::vm) fn load_constant(&mut self, idx: u32) {
        self.push(self.consts[idx as usize].clone());
    }

    #[inline(always)]
    pub(in crate::vm) fn load_local(&mut self, slot: u32) -> Done {
        let local = &self.cx.machine.stack[self.base + slot as usize];
        if local.is_unbound() {
            return Err(unbound_local(self.code(), slot));
        }
        self.push(local.clone());
        Ok(())
    }

    #[inline(always)]
    pub(in crate::vm) fn store_local(&mut self, slot: u32) {
        self.cx.machine.stack.move_top(self.base + slot as usize);
    }

    #[inline(always)]
    pub(in crate::vm) fn load_global(&mut self, slot: u32) -> Done {
        let slots = self.func.code.globals.slots.borrow();
        let slot = &slots[slot as usize];
        let value = if slot.value.is_unbound() { &slot.builtin } else { &slot.value };
        if value.is_unbound() {
            let name = slot.name;
            drop(slots);
            return Err(self.cx.no_name(&self.func.code, name));
        }
        self.cx.machine.stack.push(value.clone());
        Ok(())
    }

    #[inline(always)]
    pub(in crate::vm) fn store_global(&mut self, slot: u32) {
        let value = self.pop();
        let mut slots = self.func.code.globals.slots.borrow_mut();
        let old = std::mem::replace(&mut slots[slot as usize].value, value);
        drop(slots);
        drop(old);
    }

    #[inline(always)]
    pub(in crate::vm) fn load_cell(&mut self, slot: u32) -> Done {
        let value = match &self.cx.machine.stack[self.base + slot as usize] {
            Value::Cell(cell) => cell.borrow().clone(),
            other => other.clone(),
        };
        if value.is_unbound() {
            return Err(unbound_local(self.code(), slot));
        }
        self.push(value);
        Ok(())
    }

    #[inline(always)]
    pub(in crate::vm) fn store_cell(&mut self, slot: u32) {
        let value = hold(self.pop());
        if let Value::Cell(cell) = &self.cx.machine.stack[self.base + slot as usize] {
            cell.set(value);
        }
    }

    #[inline(always)]
    pub(in crate::vm) fn load_free(&mut self, idx: u32) -> Done {
        let value = self.func.closure[idx as usize].borrow();
        if value.is_unbound() {
            drop(value);
            return Err(unbound_free(self.code(), idx));
        }
        self.cx.machine.stack.push(value.clone());
        Ok(())
    }

    #[inline(always)]
    pub(in crate::vm) fn store_free(&mut self, idx: u32) {
        let value = hold(self.pop());
        self.func.closure[idx as usize].set(value);
    }
}

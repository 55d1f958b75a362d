//! Square brackets, slices, unpacking.

use std::rc::Rc;

use super::{Cursor, Done};
use crate::bytecode::Op;
use crate::value::words::{hold, put};
use crate::value::{Slice, Value};
use crate::vm::quick::{quick_item, quick_store};

impl<const SHADOW: bool> Cursor<'_, SHADOW> {
    #[inline(always)]
    pub(in crate::vm) fn index(&mut self) -> Done {
        let stack = &mut self.cx.machine.stack;
        let top = stack.len() - 1;
        if let Some(item) = quick_item(&stack[top - 1], &stack[top]) {
            let item = hold(item);
            stack.forget_top();
            put(&mut stack[top - 1], item);
            return Ok(());
        }
        self.enter_site();
        let index = self.pop();
        let value = self.pop();
        let item = self.cx.getitem(&value, &index);
        let item = if SHADOW { self.cx.or_unknown(item) } else { item };
        self.push(item?);
        Ok(())
    }

    /// `ItemLL`.
    #[inline(always)]
    pub(in crate::vm) fn item_local(&mut self, a: u8, b: u8) -> Done {
        match quick_item(self.local(a), self.local(b)) {
            Some(item) => {
                self.ip += 3;
                let (container, index) = (self.local(a).clone(), self.local(b).clone());
                self.cx.push_item(container, index, item);
                Ok(())
            }
            None => self.unjoined_local(a),
        }
    }

    /// `ItemLC`.
    #[inline(always)]
    pub(in crate::vm) fn item_constant(&mut self, a: u8, b: u16) -> Done {
        match quick_item(self.local(a), self.constant(b)) {
            Some(item) => {
                self.ip += 3;
                let (container, index) = (self.local(a).clone(), self.constant(b).clone());
                self.cx.push_item(container, index, item);
                Ok(())
            }
            None => self.unjoined_local(a),
        }
    }

    /// `SetIndexLL` and `SetIndexLC`, after the short way was tried.
    #[inline(always)]
    pub(in crate::vm) fn stored_joined(&mut self, slot: u8, is_stored: bool) -> Done {
        if !is_stored {
            return self.unjoined_local(slot);
        }
        self.ip += 2;
        self.drop_top();
        Ok(())
    }

    /// `SetIndex` and `PutIndex`, after the short way was tried.
    #[inline(always)]
    pub(in crate::vm) fn stored(&mut self, op: Op, is_stored: bool) -> Done {
        if !is_stored {
            self.enter_site();
            return self.cx.store_item(op);
        }
        self.drop_top();
        self.drop_top();
        self.drop_top();
        Ok(())
    }

    /// Stores the top.
    #[inline(always)]
    pub(in crate::vm) fn store_quickly(&self, container: &Value, index: &Value) -> bool {
        quick_store(container, index, self.below(0))
    }

    #[inline(always)]
    pub(in crate::vm) fn slice(&mut self) {
        if !SHADOW && self.cx.slice_op(self.ops[self.ip]) {
            self.ip += 1;
            return;
        }
        let step = self.pop();
        let stop = self.pop();
        let start = self.pop();
        self.push(Value::Slice(Rc::new(Slice::new(start, stop, step))));
    }

    #[inline(always)]
    pub(in crate::vm) fn append(&mut self, depth: u32) -> Done {
        if let Value::List(list) = self.below(depth as usize + 1) {
            list.push(self.below(0).clone())?;
        }
        self.drop_top();
        Ok(())
    }

    #[inline(always)]
    pub(in crate::vm) fn unpack(&mut self, count: u32) -> Done {
        self.ip = self.cx.unpack_op(self.ops, self.ip, self.base, count as usize)?;
        Ok(())
    }
}

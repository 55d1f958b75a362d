//! Attributes and calls.

use super::{Cursor, Done, Entered};
use crate::bytecode::Op;
use crate::sym::Sym;
use crate::value::words::{fresh, hold, put};
use crate::vm::attribute::{quick_attr, quick_set_attr};

impl<const SHADOW: bool> Cursor<'_, SHADOW> {
    #[inline(always)]
    pub(in crate::vm) fn attr(&mut self, name: Sym, cache: u16) -> Entered {
        if !SHADOW
            && let Some(found) = quick_attr(self.below(0), self.code(), name, cache).map(hold)
        {
            let top = self.cx.machine.stack.len() - 1;
            put(&mut self.cx.machine.stack[top], found);
            return Ok(false);
        }
        self.save();
        if self.cx.enter_property(&self.func.code, name, cache)? {
            return Ok(true);
        }
        let value = if SHADOW {
            self.cx.shadow_attr(&self.func.code, name, cache)
        } else {
            fresh(self.cx.load_attr(&self.func.code, name, cache))
        };
        self.push(value?);
        Ok(false)
    }

    #[inline(always)]
    pub(in crate::vm) fn attr_local(&mut self, slot: u8, name: Sym, cache: u16) -> Done {
        self.joined(slot, 1, quick_attr(self.local(slot), self.code(), name, cache))
    }

    #[inline(always)]
    pub(in crate::vm) fn method(&mut self, name: Sym, cache: u16) -> Done {
        self.cx.load_method(&self.func.code, name, cache)
    }

    #[inline(always)]
    pub(in crate::vm) fn set_attr_local(&mut self, slot: u8, name: Sym, cache: u16) -> Done {
        if quick_set_attr(self.local(slot), self.code(), name, cache, self.below(0)) {
            self.ip += 1;
            self.drop_top();
            return Ok(());
        }
        self.unjoined_local(slot)
    }

    #[inline(always)]
    pub(in crate::vm) fn put_attr(&mut self, op: Op, name: Sym, cache: u16) -> Done {
        if !SHADOW && quick_set_attr(self.below(1), self.code(), name, cache, self.below(0)) {
            self.drop_top();
            self.drop_top();
            return Ok(());
        }
        self.set_attr(op)
    }

    #[inline(always)]
    pub(in crate::vm) fn set_attr(&mut self, op: Op) -> Done {
        self.enter_site();
        self.cx.set_attr_op(&self.func.code, op)
    }

    #[inline(always)]
    pub(in crate::vm) fn call(&mut self, count: u32, is_method: bool) -> Entered {
        self.save();
        self.cx.call_op(count as usize, is_method)
    }

    #[inline(always)]
    pub(in crate::vm) fn call_keywords(
        &mut self,
        count: u16,
        names: u32,
        is_method: bool,
    ) -> Entered {
        self.save();
        self.cx.call_kw_op(&self.func.code, count as usize, names, is_method)
    }

    #[inline(always)]
    pub(in crate::vm) fn call_star(&mut self, has_keywords: bool) -> Entered {
        self.save();
        self.cx.call_star_op(has_keywords)
    }

    #[inline(always)]
    pub(in crate::vm) fn make_class(&mut self, name: u32) -> Entered {
        self.save();
        self.cx.class_op(&self.func.code, name)?;
        Ok(true)
    }
}

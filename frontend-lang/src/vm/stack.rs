//! The stack of values, whose ends move without a detour through memory (`value/words.rs`).

use std::ops::{Deref, DerefMut};

use crate::value::Value;
use crate::value::words::{self, hold};

/// Locals and operands of all frames.
#[derive(Default)]
pub(crate) struct Stack(Vec<Value>);

impl Stack {
    #[inline(always)]
    pub(crate) fn push(&mut self, value: Value) {
        words::push(&mut self.0, hold(value));
    }

    /// Takes the top; `Unbound` if there is none.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Value {
        words::pop(&mut self.0)
    }

    /// Drops the top.
    #[inline(always)]
    pub(crate) fn drop_top(&mut self) {
        words::release(hold(self.pop()));
    }

    /// Drops the top, which owns nothing.
    #[inline(always)]
    pub(crate) fn forget_top(&mut self) {
        std::mem::forget(self.pop());
    }

    /// Moves the top to place `at` below it.
    #[inline(always)]
    pub(crate) fn move_top(&mut self, at: usize) {
        let value = hold(self.pop());
        words::put(&mut self.0[at], value);
    }

    /// Drops everything from height `to` on.
    #[inline(always)]
    pub(crate) fn shrink(&mut self, to: usize) {
        while self.0.len() > to {
            self.drop_top();
        }
    }
}

impl Deref for Stack {
    type Target = Vec<Value>;

    #[inline(always)]
    fn deref(&self) -> &Vec<Value> {
        &self.0
    }
}

impl DerefMut for Stack {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Vec<Value> {
        &mut self.0
    }
}

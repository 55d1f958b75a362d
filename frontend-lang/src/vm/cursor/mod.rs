//! Where a running frame stands: what operations read and write, by subject. The loop (`run.rs`) says which operation does what.
//!
//! All of it is inlined into the loop, so that a cursor lives in registers: no function that is not takes one.

mod items;
mod jumps;
mod members;
mod names;
mod numbers;

pub(super) use jumps::Next;

use std::rc::Rc;

use crate::bytecode::{Code, Op};
use crate::cx::Cx;
use crate::error::Raised;
use crate::objects::function::Func;
use crate::trace::Cut;
use crate::value::Value;
use crate::value::words::{fresh, hold, push, put, take_last};

/// A frame while it runs; `SHADOW` in a check before running.
pub(super) struct Cursor<'a, const SHADOW: bool> {
    pub(super) cx: &'a mut Cx,
    pub(super) func: &'a Rc<Func>,
    pub(super) ops: &'a [Op],
    pub(super) consts: &'a [Value],
    /// The next operation.
    pub(super) ip: usize,
    /// Where the locals begin on the stack.
    pub(super) base: usize,
}

/// Of an operation that goes on with the next one.
pub(super) type Done = Result<(), Raised>;

/// Whether another frame is the newest now.
pub(super) type Entered = Result<bool, Raised>;

impl<'a, const SHADOW: bool> Cursor<'a, SHADOW> {
    /// The next operation. By reference, so that each kind reads the fields that it has: of a copy all are taken apart beforehand.
    #[inline(always)]
    pub(super) fn next(&mut self) -> &'a Op {
        let op = &self.ops[self.ip];
        self.ip += 1;
        op
    }

    /// The check and a profile count the operation that is about to run; whether it is answered, and those behind it are next.
    #[inline(always)]
    pub(super) fn watch(&mut self) -> Result<bool, Raised> {
        let seen = self.cx.watch_op(&self.func.code, self.ip - 1);
        if seen.is_err() && !SHADOW {
            // What the operation before this one did.
            self.ip -= 1;
        }
        let behind = seen?;
        self.ip = behind.unwrap_or(self.ip);
        self.save();
        Ok(behind.is_some())
    }

    /// Notes which operation runs, for what the engine makes in it.
    #[inline(always)]
    fn enter_site(&self) {
        self.func.code.enter_site(self.ip);
    }

    /// Writes down where the frame stands, for whoever looks at it from outside and for frames above it.
    #[inline(always)]
    pub(super) fn save(&mut self) {
        self.enter_site();
        let last = self.cx.machine.frames.len() - 1;
        self.cx.machine.frames[last].ip = self.ip;
    }

    /// Runs one of the rarer operations.
    #[inline(always)]
    pub(super) fn step(&mut self, op: Op) -> Done {
        self.enter_site();
        let target = if SHADOW {
            self.cx.shadow_step(self.func, op, self.base)?
        } else {
            self.cx.step(self.func, op, self.base)?
        };
        if let Some(target) = target {
            self.ip = target;
        }
        Ok(())
    }

    /// Enters a step of a traced cell, goes from one of its statements to the next, or leaves it. Whether operations are to be watched from here on, or no longer.
    #[inline(never)]
    pub(super) fn step_of_cell(&mut self, op: Op, are_watched: bool) -> Result<bool, Raised> {
        self.save();
        match op {
            Op::EnterStep(slot, answered) => {
                let (step, body) = (self.pop(), self.ip..answered as usize);
                let (entered, is_answered) = self.cx.enter_step(&self.func.code, step, body)?;
                self.cx.machine.stack[self.base + slot as usize] = entered;
                if is_answered {
                    self.ip = answered as usize;
                }
            }
            Op::CutStep(slot, answered) => {
                let place = self.base + slot as usize;
                let step = self.cx.machine.stack[place].clone();
                match self.cx.cut_step(&self.func.code, &step, self.ip - 1)? {
                    Cut::Here => {}
                    Cut::Behind(at) => self.ip = at,
                    Cut::Breaks => {
                        self.end_try();
                        self.cx.machine.stack[place] = Value::Bool(true);
                        self.ip = answered as usize;
                    }
                }
            }
            Op::LeaveStep(slot, breaks) => {
                let place = &mut self.cx.machine.stack[self.base + slot as usize];
                let step = std::mem::take(place);
                self.cx.leave_step(&step, breaks)?;
            }
            _ => {}
        }
        self.save();
        Ok(self.cx.is_watched() != are_watched)
    }

    #[inline(always)]
    fn code(&self) -> &Code {
        &self.func.code
    }

    #[inline(always)]
    pub(super) fn push(&mut self, value: Value) {
        self.cx.machine.stack.push(value);
    }

    #[inline(always)]
    fn pop(&mut self) -> Value {
        self.cx.machine.stack.pop()
    }

    #[inline(always)]
    pub(super) fn drop_top(&mut self) {
        self.cx.machine.stack.drop_top();
    }

    #[inline(always)]
    pub(super) fn local(&self, slot: u8) -> &Value {
        &self.cx.machine.stack[self.base + slot as usize]
    }

    #[inline(always)]
    pub(super) fn constant(&self, idx: u16) -> &Value {
        &self.consts[idx as usize]
    }

    /// What lies so far below the top.
    #[inline(always)]
    pub(super) fn below(&self, depth: usize) -> &Value {
        &self.cx.machine.stack[self.cx.machine.stack.len() - 1 - depth]
    }

    /// Puts a result where the next operation stores it, or on the stack.
    #[inline(always)]
    fn deliver(&mut self, value: Value) {
        let value = hold(value);
        let stack = &mut self.cx.machine.stack;
        if let Op::SetLocal(slot) = self.ops[self.ip] {
            self.ip += 1;
            put(&mut stack[self.base + slot as usize], value);
        } else {
            push(stack, value);
        }
    }

    /// Puts a result in the place of the top, which owns nothing, or where the next operation stores it.
    #[inline(always)]
    fn replace(&mut self, value: Value) {
        let value = hold(value);
        let stack = &mut self.cx.machine.stack;
        if let Op::SetLocal(slot) = self.ops[self.ip] {
            self.ip += 1;
            stack.forget_top();
            put(&mut stack[self.base + slot as usize], value);
        } else {
            let top = stack.len() - 1;
            put(&mut stack[top], value);
        }
    }

    /// The result of a joined operation, in place of so many others; without one, the first it is joined of, and the others follow.
    #[inline(always)]
    pub(super) fn joined(&mut self, slot: u8, skipped: usize, value: Option<Value>) -> Done {
        match value {
            Some(value) => {
                self.ip += skipped;
                self.deliver(value);
                Ok(())
            }
            None => self.unjoined_local(slot),
        }
    }

    /// The first of the operations that one is joined of.
    #[inline(always)]
    pub(super) fn unjoined_local(&mut self, slot: u8) -> Done {
        self.cx.push_local(&self.func.code, self.base, slot)
    }

    #[inline(always)]
    fn unjoined_constant(&mut self, idx: u16) {
        self.push(self.constant(idx).clone());
    }

    #[inline(always)]
    pub(super) fn duplicate(&mut self) {
        self.push(self.below(0).clone());
    }

    #[inline(always)]
    pub(super) fn duplicate_two(&mut self) {
        self.push(self.below(1).clone());
        self.push(self.below(1).clone());
    }

    #[inline(always)]
    pub(super) fn rotate_two(&mut self) {
        let [top, below] = [hold(self.pop()), hold(self.pop())];
        push(&mut self.cx.machine.stack, top);
        push(&mut self.cx.machine.stack, below);
    }

    #[inline(always)]
    pub(super) fn rotate_three(&mut self) {
        let [top, middle, below] = [(); 3].map(|()| hold(self.pop()));
        push(&mut self.cx.machine.stack, top);
        push(&mut self.cx.machine.stack, below);
        push(&mut self.cx.machine.stack, middle);
    }

    #[inline(always)]
    pub(super) fn tuple(&mut self, count: u32) {
        let items = take_last(&mut self.cx.machine.stack, count as usize);
        self.push(fresh(Value::tuple(items)));
    }

    #[inline(always)]
    pub(super) fn list(&mut self, count: u32) {
        let items = take_last(&mut self.cx.machine.stack, count as usize);
        self.push(fresh(Value::list(items)));
    }
}

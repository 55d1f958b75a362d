//! Operators and comparisons; those that are joined with what they read, with what stores the result, or with a branch.

use super::{Cursor, Done};
use crate::bytecode::Op;
use crate::operate::binary::number_op;
use crate::operate::{BinaryOp, CompareOp};
use crate::value::Value;
use crate::value::words::{fresh, hold, put};
use crate::vm::long::after_compare;
use crate::vm::quick::{quick_binary, quick_compare};

impl<const SHADOW: bool> Cursor<'_, SHADOW> {
    /// `Binary` and `Inplace`.
    #[inline(always)]
    pub(in crate::vm) fn binary(&mut self, op: Op, binary: BinaryOp) -> Done {
        let stack = &mut self.cx.machine.stack;
        let top = stack.len() - 1;
        if let Some(value) = quick_binary(binary, &stack[top - 1], &stack[top]) {
            stack.forget_top();
            self.replace(value);
            return Ok(());
        }
        if !SHADOW && self.cx.grow_text(op, self.ops[self.ip], self.base) {
            self.ip += 1;
            return Ok(());
        }
        self.enter_site();
        let b = self.pop();
        let a = self.pop();
        let value = match number_op(binary, &a, &b) {
            Some(result) => result?,
            None if SHADOW => {
                self.cx.shadow_binary(binary, &a, &b, matches!(op, Op::Inplace(_)))?
            }
            None => self.cx.long_binary(op, a, b)?,
        };
        self.push(value);
        Ok(())
    }

    /// The top and a local.
    #[inline(always)]
    pub(in crate::vm) fn binary_local(&mut self, op: BinaryOp, slot: u8) -> Done {
        match quick_binary(op, self.below(0), self.local(slot)) {
            Some(value) => {
                self.ip += 1;
                self.replace(value);
                Ok(())
            }
            None => self.unjoined_local(slot),
        }
    }

    /// The top and a constant.
    #[inline(always)]
    pub(in crate::vm) fn binary_constant(&mut self, op: BinaryOp, idx: u16) {
        match quick_binary(op, self.below(0), self.constant(idx)) {
            Some(value) => {
                self.ip += 1;
                self.replace(value);
            }
            None => self.unjoined_constant(idx),
        }
    }

    #[inline(always)]
    pub(in crate::vm) fn compare(&mut self, op: CompareOp) -> Done {
        let stack = &mut self.cx.machine.stack;
        let top = stack.len() - 1;
        if !SHADOW && let Some(known) = quick_compare(op, &stack[top - 1], &stack[top]) {
            stack.forget_top();
            put(&mut stack[top - 1], hold(Value::Bool(known)));
            return Ok(());
        }
        self.enter_site();
        let b = self.pop();
        let a = self.pop();
        let value = if SHADOW {
            self.cx.shadow_compare(op, &a, &b)
        } else {
            fresh(self.cx.compare(op, &a, &b))
        };
        self.push(value?);
        Ok(())
    }

    #[inline(always)]
    pub(in crate::vm) fn compare_jump(&mut self, op: CompareOp, target: u32) -> Done {
        if SHADOW {
            let (a, b) = (self.below(1).clone(), self.below(0).clone());
            self.cx.lint_compare(op, &a, &b);
        }
        let holds = match quick_compare(op, self.below(1), self.below(0)) {
            Some(known) => {
                self.cx.machine.stack.forget_top();
                self.cx.machine.stack.forget_top();
                known
            }
            None => {
                self.enter_site();
                let b = self.pop();
                let a = self.pop();
                if !SHADOW && engine::trace::active() {
                    let answer = self.cx.compare(op, &a, &b)?;
                    if self.cx.is_unknown(&answer) {
                        self.save();
                        self.ip = self.cx.branch_on_tensor(&answer, false)?;
                        return Ok(());
                    }
                    self.cx.truth(&answer)?
                } else {
                    self.cx.long_compare(op, &a, &b)?
                }
            }
        };
        if !holds {
            self.ip = target as usize;
        }
        Ok(())
    }

    /// Of two that were not on the stack.
    #[inline(always)]
    pub(in crate::vm) fn branch(&mut self, slot: u8, known: Option<bool>) -> Done {
        match known {
            Some(holds) => {
                self.ip = after_compare(self.ops, self.ip + 1, holds);
                Ok(())
            }
            None => self.unjoined_local(slot),
        }
    }

    /// Of the top and a local.
    #[inline(always)]
    pub(in crate::vm) fn branch_local(&mut self, op: CompareOp, slot: u8) -> Done {
        match quick_compare(op, self.below(0), self.local(slot)) {
            Some(holds) => {
                self.cx.machine.stack.forget_top();
                self.ip = after_compare(self.ops, self.ip, holds);
                Ok(())
            }
            None => self.unjoined_local(slot),
        }
    }

    /// Of the top and a constant.
    #[inline(always)]
    pub(in crate::vm) fn branch_constant(&mut self, op: CompareOp, idx: u16) {
        match quick_compare(op, self.below(0), self.constant(idx)) {
            Some(holds) => {
                self.cx.machine.stack.forget_top();
                self.ip = after_compare(self.ops, self.ip, holds);
            }
            None => self.unjoined_constant(idx),
        }
    }

    #[inline(always)]
    pub(in crate::vm) fn not(&mut self) -> Done {
        let value = self.pop();
        if !SHADOW && self.cx.is_unknown(&value) {
            return Err(crate::region::no_connective());
        }
        let truth = self.cx.truth(&value)?;
        self.push(Value::Bool(!truth));
        Ok(())
    }
}

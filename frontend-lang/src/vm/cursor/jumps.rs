//! Branches, loops, and the ways out of a frame.

use super::{Cursor, Done, Entered};
use crate::bytecode::Op;
use crate::error::Raised;
use crate::vm::frame::{Block, Exit, Left, Machine};
use crate::vm::long::{ForStep, next_of_range};
use crate::vm::quick::quick_truth;
use crate::vm::unpack::pair_op;

/// What an operation that may leave its frame ends with.
pub(in crate::vm) enum Next {
    Op,
    /// Another frame is the newest now.
    Frame,
    Exit(Exit),
}

impl<const SHADOW: bool> Cursor<'_, SHADOW> {
    #[inline(always)]
    pub(in crate::vm) fn jump(&mut self, target: u32) {
        self.ip = target as usize;
    }

    #[inline(always)]
    pub(in crate::vm) fn jump_back(&mut self, target: u32) -> Done {
        self.cx.poll()?;
        if SHADOW {
            self.cx.shadow_loop(self.func, target)?;
        }
        self.jump(target);
        Ok(())
    }

    #[inline(always)]
    pub(in crate::vm) fn jump_if(&mut self, wanted: bool, target: u32) -> Done {
        let truth = match quick_truth(self.below(0)) {
            Some(known) => {
                self.cx.machine.stack.forget_top();
                known
            }
            None => {
                let value = self.pop();
                if !SHADOW && self.cx.is_unknown(&value) {
                    self.save();
                    self.ip = self.cx.branch_on_tensor(&value, wanted)?;
                    return Ok(());
                }
                self.cx.truth(&value)?
            }
        };
        if truth == wanted {
            self.jump(target);
        }
        Ok(())
    }

    #[inline(always)]
    pub(in crate::vm) fn for_iter(&mut self, target: u32) -> Entered {
        let stack = &mut self.cx.machine.stack;
        if !SHADOW && let Some(item) = stack.last().and_then(next_of_range) {
            self.deliver(item);
            return Ok(false);
        }
        if !SHADOW
            && let Op::Unpack(2) = self.ops[self.ip]
            && let Some(next) = pair_op(stack, self.ops, self.ip + 1, self.base)
        {
            self.ip = next;
            return Ok(false);
        }
        let step = if SHADOW {
            self.cx.shadow_for(self.func, self.ip, target as usize)
        } else {
            self.cx.for_iter(self.ip)
        };
        match step? {
            ForStep::Item(item) => self.deliver(item),
            ForStep::End => {
                drop(self.pop());
                self.jump(target);
            }
            ForStep::Entered => return Ok(true),
        }
        Ok(false)
    }

    /// An error of it belongs to a frame below: this one is gone then.
    #[inline(always)]
    pub(in crate::vm) fn leave(&mut self) -> Result<Option<Exit>, Raised> {
        match self.cx.machine.leave_call() {
            Left::Call => return Ok(None),
            Left::Entry => return Ok(Some(Exit::Return(self.pop()))),
            Left::No => {}
        }
        let value = self.pop();
        self.save();
        self.cx.return_op(value)
    }

    #[inline(always)]
    pub(in crate::vm) fn give(&mut self) -> Next {
        self.save();
        if self.cx.yield_op() { Next::Exit(Exit::Yield(self.pop())) } else { Next::Frame }
    }

    #[inline(always)]
    pub(in crate::vm) fn give_from(&mut self) -> Result<Next, Raised> {
        let sent = self.pop();
        match self.cx.step_delegate(sent)? {
            Ok(item) => {
                self.ip -= 1;
                self.save();
                self.push(item);
                Ok(self.give())
            }
            Err(result) => {
                drop(self.pop());
                self.push(result);
                Ok(Next::Op)
            }
        }
    }

    #[inline(always)]
    pub(in crate::vm) fn begin_try(&mut self, target: u32) {
        let Machine { stack, blocks, handled, .. } = &mut self.cx.machine;
        let (stack, handled) = (stack.len(), handled.len());
        blocks.push(Block { target, stack, handled });
    }

    #[inline(always)]
    pub(in crate::vm) fn end_try(&mut self) {
        let blocks = &mut self.cx.machine.blocks;
        blocks.truncate(blocks.len() - 1);
    }
}

//! Whether the check goes the way that the real run will: branches after rounds were left out, exceptions that an unknown may raise.

use std::rc::Rc;

use crate::bytecode::{Code, Op};
use crate::check::Trust;
use crate::check::unknown::kind_of;
use crate::cx::Cx;
use crate::error::Raised;
use crate::objects::iterator::IterState;
use crate::source::Source;
use crate::sym::Sym;
use crate::value::Value;

impl Cx {
    /// Ends the check at operation `at` of the cell's own code, about to run, if it is a branch that may go another way.
    pub(super) fn judge_branch(&mut self, code: &Code, at: usize) -> Result<(), Raised> {
        let Some(shadow) = self.check.as_deref() else { return Ok(()) };
        if shadow.trust == Trust::Values
            || shadow.cut_at == Some(at)
            || !code.ops.get(at).is_some_and(is_branch)
            || !self.is_of_cell(code)
            || (shadow.trust == Trust::Shapes && self.is_certain(code, at))
        {
            return Ok(());
        }
        Err(self.uncertain())
    }

    /// Ends the check where code of the cell may catch what something unknown may have raised.
    pub(super) fn judge_unknown(&mut self) -> Result<(), Raised> {
        let mut end = self.machine.blocks.len();
        for frame in self.machine.frames.iter().rev() {
            let code = &frame.func.code;
            let blocks = self.machine.blocks.get(frame.blocks..end).unwrap_or_default();
            end = frame.blocks;
            let catches = |at: u32| match code.ops.get(at as usize) {
                Some(Op::WithExitError(slot)) => {
                    may_swallow(&self.machine.stack[frame.base + *slot as usize])
                }
                _ => true,
            };
            if blocks.iter().any(|it| catches(it.target)) && self.is_of_cell(code) {
                return Err(self.uncertain());
            }
        }
        Ok(())
    }

    fn is_of_cell(&self, code: &Code) -> bool {
        self.sources.get(code.source).is_some_and(Source::is_cell)
    }

    /// Whether a branch depends on plain values alone that are known: numbers and texts that no round left out has set.
    fn is_certain(&self, code: &Code, at: usize) -> bool {
        match code.ops[at] {
            Op::ForIter(_) => self.goes_on_certainly(at),
            Op::MatchException => false,
            _ => self.is_plain_condition(code, at),
        }
    }

    /// Whether a loop over a range, or one whose last round runs, has another round.
    fn goes_on_certainly(&self, at: usize) -> bool {
        let Some(shadow) = self.check.as_deref() else { return false };
        let in_last = shadow.watches.iter().any(|it| it.ip == at + 1 && it.last);
        in_last
            || match self.machine.stack.last() {
                Some(Value::Iter(it)) => {
                    it.state.try_borrow().is_ok_and(|it| matches!(*it, IterState::Range { .. }))
                }
                _ => false,
            }
    }

    /// Looks back over the operations that have computed a condition.
    fn is_plain_condition(&self, code: &Code, at: usize) -> bool {
        let base = self.machine.frames.last().map_or(0, |it| it.base);
        for op in code.ops[..at].iter().rev().map(|it| it.unjoined()) {
            let is_plain = match op {
                Op::Local(slot) => is_plain(&self.machine.stack[base + slot as usize]),
                Op::Global(slot) => self.is_plain_global(code, slot),
                Op::SetLocal(_) | Op::SetGlobal(_) | Op::Pop | Op::ForIter(_) | Op::Loop(_) => {
                    return true;
                }
                // What manages the context has decided.
                Op::WithExitError(_) => return true,
                Op::Jump(_) | Op::JumpIfFalse(_) | Op::JumpIfTrue(_) | Op::CompareJump(..) => {
                    return true;
                }
                Op::Const(_) | Op::None | Op::Binary(_) | Op::Unary(_) | Op::Not => true,
                Op::Compare(_) | Op::JumpIfFalseKeep(_) | Op::JumpIfTrueKeep(_) => true,
                _ => false,
            };
            if !is_plain {
                return false;
            }
        }
        true
    }

    fn is_plain_global(&self, code: &Code, slot: u32) -> bool {
        let key = (Rc::as_ptr(&code.globals).addr(), slot);
        let set = self.check.as_deref().and_then(|it| it.overlay.get(&key));
        let slots = code.globals.slots.borrow();
        is_plain(set.unwrap_or(&slots[slot as usize].value))
    }
}

/// Whether a context manager may end an exception: its `__exit__` returns something, or is not known.
fn may_swallow(context: &Value) -> bool {
    let Value::Instance(instance) = context else { return kind_of(context).is_some() };
    match instance.class.lookup(Sym::EXIT) {
        Some(Value::Func(exit)) => {
            let ops = &exit.code.ops;
            ops.windows(2).any(|it| it[1] == Op::Return && it[0] != Op::None)
        }
        exit => exit.is_some_and(|it| kind_of(&it).is_some()),
    }
}

/// Whether nothing in a value can change, and it is known.
fn is_plain(value: &Value) -> bool {
    let plain = matches!(
        value,
        Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Str(_)
    );
    plain && kind_of(value).is_none()
}

fn is_branch(op: &Op) -> bool {
    matches!(
        op,
        Op::JumpIfFalse(_)
            | Op::JumpIfTrue(_)
            | Op::JumpIfFalseKeep(_)
            | Op::JumpIfTrueKeep(_)
            | Op::CompareJump(..)
            | Op::ForIter(_)
            | Op::MatchException
    )
}

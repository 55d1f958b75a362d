//! What the short ways of the loop leave over: operands of every kind, iterators of every kind, names without a value.

use crate::bytecode::{Code, Op};
use crate::cx::Cx;
use crate::error::{Raised, name_error};
use crate::native::Res;
use crate::objects::iterator::IterState;
use crate::operate::CompareOp;
use crate::operate::binary::number_op;
use crate::operate::compare::simple_compare;
use crate::tensor::arith;
use crate::value::Value;

impl Cx {
    /// The first half of a joined operation that has no short way for what it found: the rest is done by those behind it.
    #[inline(never)]
    pub(crate) fn push_local(&mut self, code: &Code, base: usize, slot: u8) -> Result<(), Raised> {
        let place = base + slot as usize;
        if self.machine.stack[place].is_unbound() {
            return Err(unbound_local(code, slot as u32));
        }
        let value = self.machine.stack[place].clone();
        self.machine.stack.push(value);
        Ok(())
    }

    #[inline(never)]
    pub(crate) fn long_binary(&mut self, op: Op, mut a: Value, mut b: Value) -> Res {
        match op {
            Op::Inplace(op) => match number_op(op, &a, &b) {
                Some(result) => result,
                None => self.inplace(op, &a, &b),
            },
            Op::Binary(op) => match arith::of_temporaries(op, &mut a, &mut b)? {
                Some(result) => Ok(result),
                None => self.binary(op, &a, &b),
            },
            _ => Ok(Value::None),
        }
    }

    #[inline(never)]
    pub(crate) fn long_compare(
        &mut self,
        op: CompareOp,
        a: &Value,
        b: &Value,
    ) -> Result<bool, Raised> {
        if let Some(known) = simple_compare(op, a, b) {
            return Ok(known);
        }
        let answer = self.compare(op, a, b)?;
        self.truth(&answer)
    }

    /// The next item for the iterator on top of the stack.
    #[inline(never)]
    pub(crate) fn for_iter(&mut self, ip: usize) -> Result<ForStep, Raised> {
        let last = self.machine.stack.len() - 1;
        if let Value::Iter(iter) = &self.machine.stack[last]
            && let Ok(mut state) = iter.state.try_borrow_mut()
            && let Some(quick) = state.quick_next()
        {
            return Ok(quick.map_or(ForStep::End, ForStep::Item));
        }
        let iter = self.machine.stack[last].clone();
        if let Value::Generator(generator) = &iter {
            let last = self.machine.frames.len() - 1;
            self.machine.frames[last].ip = ip;
            return self.enter_generator(generator);
        }
        Ok(self.next(&iter)?.map_or(ForStep::End, ForStep::Item))
    }
}

/// The next number, if this is an iterator over a range that is not at its end.
#[inline(always)]
pub(crate) fn next_of_range(iter: &Value) -> Option<Value> {
    let Value::Iter(iter) = iter else { return None };
    let mut state = iter.state.try_borrow_mut().ok()?;
    match &mut *state {
        IterState::Range { next, left, step } if *left > 0 => {
            *left -= 1;
            let item = *next;
            *next = next.wrapping_add(*step);
            Some(Value::Int(item))
        }
        _ => None,
    }
}

/// Where a comparison goes on whose branch stands at `branch`.
#[inline(always)]
pub(crate) fn after_compare(ops: &[Op], branch: usize, holds: bool) -> usize {
    match ops[branch] {
        Op::CompareJump(_, target) if !holds => target as usize,
        _ => branch + 1,
    }
}

/// What a `for` does next.
pub(crate) enum ForStep {
    Item(Value),
    End,
    /// The frame of a generator has been pushed.
    Entered,
}

pub(crate) fn unbound_local(code: &crate::bytecode::Code, slot: u32) -> Raised {
    let name = code.locals[slot as usize];
    Raised::new(
        &crate::error::UNBOUND_LOCAL_ERROR,
        format!("cannot access local variable '{name}' where it is not associated with a value"),
    )
    .with_name(name)
}

pub(crate) fn unbound_free(code: &crate::bytecode::Code, idx: u32) -> Raised {
    let name = code.free[idx as usize];
    name_error(format!(
        "cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
    ))
    .with_name(name)
}

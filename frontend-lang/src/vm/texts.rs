//! Texts: the operations of f-strings, and `+=` in place.

use std::rc::Rc;

use crate::bytecode::{Convert, Op};
use crate::cx::Cx;
use crate::error::Raised;
use crate::memory;
use crate::native::Res;
use crate::operate::BinaryOp;
use crate::value::words::fresh;
use crate::value::{Str, Value};

impl Cx {
    /// `Inplace` of two texts on the stack, with the assignment behind it: where the variable alone has the text, it grows
    /// in place. False if this is another matter; nothing has happened then.
    #[inline(never)]
    pub(crate) fn grow_text(&mut self, op: Op, next: Op, base: usize) -> bool {
        let (Op::Inplace(BinaryOp::Add), Op::SetLocal(slot)) = (op, next) else { return false };
        let stack = &mut self.machine.stack;
        let place = base + slot as usize;
        let ([.., Value::Str(text), Value::Str(more)], Value::Str(held)) =
            (&stack[..], &stack[place])
        else {
            return false;
        };
        if !Rc::ptr_eq(text, held) || Rc::strong_count(text) != 2 {
            return false;
        }
        let more = more.clone();
        stack.drop_top();
        stack.drop_top();
        if let Value::Str(text) = &mut stack[place]
            && Str::grow(text, &more, &self.interrupt)
        {
            return true;
        }
        let text = stack[place].clone();
        stack.push(text);
        stack.push(Value::Str(more));
        false
    }

    /// `Format`, `FormatSpec` and `Concat`.
    pub(crate) fn text_op(&mut self, op: Op) -> Result<(), Raised> {
        let text = match op {
            Op::Format(convert) => {
                let value = self.machine.stack.pop();
                self.converted(&value, convert)?
            }
            Op::FormatSpec(convert) => {
                let spec = self.machine.stack.pop();
                let value = self.machine.stack.pop();
                let value = match convert {
                    Convert::None => value,
                    _ => self.converted(&value, convert)?,
                };
                Value::str(self.format(&value, spec.as_str().unwrap_or_default())?)
            }
            Op::Concat(count) => self.concat(count as usize)?,
            _ => Value::None,
        };
        self.machine.stack.push(fresh(text));
        Ok(())
    }

    /// The topmost texts and integers as one text.
    fn concat(&mut self, count: usize) -> Res {
        let at = self.machine.stack.len() - count;
        let parts = &self.machine.stack[at..];
        let mut text = memory::string(parts.iter().map(written_bytes).sum())?;
        for part in parts {
            match part {
                Value::Int(number) => text.push_str(itoa::Buffer::new().format(*number)),
                _ => self.push_text(&mut text, part.as_str().unwrap_or_default())?,
            }
        }
        self.machine.stack.shrink(at);
        Ok(Value::str(text))
    }

    fn converted(&mut self, value: &Value, convert: Convert) -> Res {
        Ok(match convert {
            Convert::None if matches!(value, Value::Str(_) | Value::Int(_)) => value.clone(),
            Convert::None => Value::str(self.format(value, "")?),
            Convert::Str => Value::str(self.str(value)?),
            Convert::Repr => Value::str(self.repr(value)?),
            Convert::Ascii => {
                let text = self.repr(value)?;
                Value::str(crate::objects::quote::ascii_of_repr(&text))
            }
        })
    }
}

/// Bytes of a part of an f-string once it is written.
fn written_bytes(part: &Value) -> usize {
    match part {
        Value::Int(number) => {
            let digits = number.unsigned_abs().checked_ilog10().map_or(1, |it| it as usize + 1);
            digits + usize::from(*number < 0)
        }
        _ => part.as_str().map_or(0, str::len),
    }
}

//! Unpacking: tuples and lists straight into variables, pairs of an iterator without a tuple.

use std::rc::Rc;

use crate::bytecode::Op;
use crate::cx::Cx;
use crate::error::Raised;
use crate::objects::iterator::{DictPart, Iter, IterState};
use crate::value::Value;
use crate::value::words::{hold, push, put};
use crate::vm::stack::Stack;

impl Cx {
    /// `Unpack`, and the assignments of variables behind it; where to go on.
    #[inline(never)]
    pub(crate) fn unpack_op(
        &mut self,
        ops: &[Op],
        ip: usize,
        base: usize,
        count: usize,
    ) -> Result<usize, Raised> {
        let value = self.machine.stack.pop();
        match &value {
            Value::Tuple(it) if it.len() == count => {
                Ok(spread(&mut self.machine.stack, ops, ip, base, it))
            }
            _ => {
                self.unpack_here(&value, count)?;
                Ok(ip)
            }
        }
    }

    /// `Unpack`: leaves the items on the stack, the first on top.
    pub(crate) fn unpack_here(&mut self, value: &Value, count: usize) -> Result<(), Raised> {
        let items = self.unpack(value, count)?;
        self.machine.stack.extend(items.into_iter().rev());
        Ok(())
    }
}

/// Puts items into the variables that the next operations assign, and those beyond on the stack, the first on top.
#[inline(always)]
fn spread(stack: &mut Stack, ops: &[Op], mut ip: usize, base: usize, items: &[Value]) -> usize {
    let mut rest = items;
    while let (Op::SetLocal(slot), [first, others @ ..]) = (ops[ip], rest) {
        put(&mut stack[base + slot as usize], hold(first.clone()));
        ip += 1;
        rest = others;
    }
    rest.iter().rev().for_each(|it| stack.push(it.clone()));
    ip
}

/// `ForIter` and the `Unpack` of two behind it, where the iterator on top has a pair that no tuple is needed for; where to go
/// on.
#[inline(never)]
pub(crate) fn pair_op(stack: &mut Stack, ops: &[Op], ip: usize, base: usize) -> Option<usize> {
    let (first, second) = stack.last().and_then(next_pair)?;
    let (first, second) = (hold(first), hold(second));
    match (ops[ip], ops[ip + 1]) {
        (Op::SetLocal(a), Op::SetLocal(b)) => {
            put(&mut stack[base + a as usize], first);
            put(&mut stack[base + b as usize], second);
            Some(ip + 2)
        }
        _ => {
            push(stack, second);
            push(stack, first);
            Some(ip)
        }
    }
}

/// The next pair of a `zip`, an `enumerate` or the items of a dict, where no other code can run; `None`: the long way.
fn next_pair(iter: &Value) -> Option<(Value, Value)> {
    let Value::Iter(iter) = iter else { return None };
    match &mut *iter.state.try_borrow_mut().ok()? {
        IterState::Enumerate { inner: Value::Iter(inner), count } => {
            let item = inner.state.try_borrow_mut().ok()?.quick_item()?;
            *count += 1;
            Some((Value::Int(*count - 1), item))
        }
        IterState::Zip { inners, .. } => match inners.as_slice() {
            [Value::Iter(a), Value::Iter(b)] if !Rc::ptr_eq(a, b) => zipped(a, b),
            _ => None,
        },
        IterState::Dict { dict, at, len, yields: DictPart::Items } if dict.len() == *len => {
            let (after, key, value) = dict.next_from(*at)?;
            *at = after;
            Some((key, value))
        }
        _ => None,
    }
}

/// One item of each of two iterators, if both have one.
fn zipped(a: &Iter, b: &Iter) -> Option<(Value, Value)> {
    let (mut a, mut b) = (a.state.try_borrow_mut().ok()?, b.state.try_borrow_mut().ok()?);
    if !b.is_ready() {
        return None;
    }
    Some((a.quick_item()?, b.quick_item()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{List, Range};

    fn numbers(stop: i64) -> Rc<Iter> {
        Rc::new(Iter::range(Range { start: 0, stop, step: 1 }))
    }

    fn zip(a: &Rc<Iter>, b: &Rc<Iter>) -> Value {
        let inners = vec![Value::Iter(a.clone()), Value::Iter(b.clone())];
        Value::iter(Iter::new(IterState::Zip { inners, strict: false }))
    }

    fn left(iter: &Rc<Iter>) -> Option<usize> {
        iter.size_hint()
    }

    #[test]
    fn a_zip_takes_from_both_or_from_none() {
        let (short, long) = (numbers(1), numbers(5));
        let pairs = zip(&long, &short);
        assert!(next_pair(&pairs).is_some() && next_pair(&pairs).is_none());
        assert_eq!((left(&long), left(&short)), (Some(4), Some(0)));
        // The first has nothing left: the second keeps what it has.
        let pairs = zip(&short, &long);
        assert!(next_pair(&pairs).is_none() && left(&long) == Some(4));
        assert!(next_pair(&zip(&long, &long)).is_none() && left(&long) == Some(4));
    }

    #[test]
    fn an_enumeration_counts_only_what_it_gives() {
        let list = Rc::new(List::new(vec![Value::Int(7)]));
        let inner = Value::iter(Iter::new(IterState::List { list: list.clone(), at: 0 }));
        let pairs = Value::iter(Iter::new(IterState::Enumerate { inner, count: 3 }));
        assert!(matches!(next_pair(&pairs), Some((Value::Int(3), Value::Int(7)))));
        assert!(next_pair(&pairs).is_none() && next_pair(&pairs).is_none());
        assert!(list.push(Value::None).is_ok());
        assert!(matches!(next_pair(&pairs), Some((Value::Int(4), Value::None))));
    }
}

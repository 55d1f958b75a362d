//! Square brackets: what the loop leaves over, and slices without a slice object.

use std::rc::Rc;

use crate::bytecode::Op;
use crate::cx::Cx;
use crate::error::Raised;
use crate::memory;
use crate::operate::container::plain_slice;
use crate::patience;
use crate::value::words::hold;
use crate::value::{List, Range, Value};

impl Cx {
    /// `ItemLL` and `ItemLC` where the item is known.
    #[inline(always)]
    pub(crate) fn push_item(&mut self, container: Value, index: Value, item: Value) {
        let stack = &mut self.machine.stack;
        let item = hold(item);
        stack.push(container);
        stack.push(index);
        crate::value::words::push(stack, item);
    }

    /// `SetIndex` and `PutIndex`.
    pub(crate) fn store_item(&mut self, op: Op) -> Result<(), Raised> {
        let stack = &mut self.machine.stack;
        let [third, second, first] = [stack.pop(), stack.pop(), stack.pop()];
        match op {
            Op::PutIndex => self.setitem(&first, &second, third),
            _ => self.setitem(&second, &third, first),
        }
    }

    /// `Slice` together with the operation behind it: reads or writes the part of a built-in sequence that plain numbers
    /// name. False if this is another matter; nothing has happened then.
    #[inline(never)]
    pub(crate) fn slice_op(&mut self, next: Op) -> bool {
        let known = match (next, &self.machine.stack[..]) {
            (Op::Index, [.., sequence, start, stop, step]) => {
                read(sequence, start, stop, step).map(Some)
            }
            (Op::SetIndex, [.., value, sequence, start, stop, step]) => {
                write(sequence, [start, stop, step], value).then_some(None)
            }
            _ => None,
        };
        let Some(item) = known else { return false };
        // Bounds are plain.
        (0..3).for_each(|_| self.machine.stack.forget_top());
        self.machine.stack.drop_top();
        match item {
            Some(item) => self.machine.stack.push(item),
            None => self.machine.stack.drop_top(),
        }
        true
    }
}

/// A part of a sequence; `None` leaves it to `getitem`, which copies long ones piece by piece.
fn read(sequence: &Value, start: &Value, stop: &Value, step: &Value) -> Option<Value> {
    let part = |len| {
        let part = plain_slice(start, stop, step, len)?;
        (part.len() <= patience::ITEMS && memory::room_for(part.len()).is_ok()).then_some(part)
    };
    match sequence {
        Value::List(list) => {
            let items = list.items.borrow();
            Some(Value::list(picked(&items, part(items.len())?)))
        }
        Value::Tuple(items) => Some(Value::tuple(picked(items, part(items.len())?))),
        Value::Str(text) if text.is_ascii() => {
            let part = part(text.len())?;
            let start = part.start as usize;
            (part.step == 1).then(|| Value::str(&text[start..start + part.len()]))
        }
        _ => None,
    }
}

/// The items at the places of a range, all of which are inside.
fn picked(items: &[Value], part: Range) -> Vec<Value> {
    let (start, len) = (part.start as usize, part.len());
    match part.step {
        _ if len == 0 => Vec::new(),
        1 => items[start..start + len].to_vec(),
        -1 => items[start + 1 - len..=start].iter().rev().cloned().collect(),
        _ => (0..len).map(|idx| items[part.at(idx) as usize].clone()).collect(),
    }
}

/// Replaces a part of a list without gaps by the items of a list or tuple.
fn write(sequence: &Value, bounds: [&Value; 3], value: &Value) -> bool {
    let Value::List(list) = sequence else { return false };
    let len = list.items.borrow().len();
    let [start, stop, step] = bounds;
    let Some(part) = plain_slice(start, stop, step, len).filter(|it| it.step == 1) else {
        return false;
    };
    let Some(new) = items_of(value, part.len()) else { return false };
    let start = part.start as usize;
    if new.len() == part.len() {
        exchange(list, start, new);
        return true;
    }
    // The old items go when the list is whole again.
    list.splice(start..start + part.len(), new).is_ok()
}

/// The items of a list or tuple for `places` old ones. Those of a list that nobody else has move, unless there are so many that
/// memory might be missing for them.
fn items_of(value: &Value, places: usize) -> Option<Vec<Value>> {
    match value {
        Value::List(it) if Rc::strong_count(it) == 1 && it.items.borrow().len() <= places => {
            Some(it.take())
        }
        Value::List(it) => it.copied().ok(),
        Value::Tuple(it) => memory::room_for(it.len()).is_ok().then(|| it.to_vec()),
        _ => None,
    }
}

/// Puts as many new items in the places of old ones, which go when the list is whole again.
fn exchange(list: &Rc<List>, start: usize, mut new: Vec<Value>) {
    new.iter().for_each(|it| list.note(it));
    let mut items = list.items.borrow_mut();
    items[start..start + new.len()].swap_with_slice(&mut new);
}

//! The cells of a session and their values under the names that notebooks know: `In`, `Out`, `_`, `__`, `___`, `_3`, `_i`, `_ii`, `_iii`.
//!
//! Values that hold many elements of tensors are not kept in `Out`, or their memory would never be free; `_` has the latest of all.

use std::rc::Rc;

use crate::cx::Cx;
use crate::sym::Sym;
use crate::table::Dict;
use crate::value::{List, Value};

/// Values that `Out` keeps, and texts that `In` does.
const MOST: usize = 1000;
/// Bytes of tensors that a kept value may hold, and objects that are looked at to find out.
const BYTES: usize = 1 << 20;
const LOOKS: usize = 2000;

/// What has been run.
pub(crate) struct Past {
    inputs: Rc<List>,
    outputs: Rc<Dict>,
}

impl Default for Past {
    fn default() -> Past {
        Past { inputs: Rc::new(List::new(Vec::new())), outputs: Rc::default() }
    }
}

impl Past {
    /// A cell is about to run as `In[number]`.
    pub(crate) fn begin(&mut self, cx: &mut Cx, number: usize, text: &str) {
        for (older, newer) in [("_iii", "_ii"), ("_ii", "_i")] {
            if let Some(value) = cx.globals.get(Sym::of(newer)) {
                cx.globals.set(Sym::of(older), value);
            }
        }
        for name in ["___", "__"].map(Sym::of) {
            if cx.globals.get(name).is_none() {
                cx.globals.set(name, Value::str(""));
            }
        }
        let mut inputs = self.inputs.items.borrow_mut();
        let last = inputs.last().cloned().unwrap_or_else(|| Value::str(""));
        inputs.resize_with(number, || Value::str(""));
        inputs.push(Value::str(text));
        if let Some(old) = number.checked_sub(MOST) {
            inputs[old] = Value::str("");
        }
        drop(inputs);
        cx.globals.set(Sym::of("_i"), last);
        cx.globals.set(Sym::of("In"), Value::List(self.inputs.clone()));
        cx.globals.set(Sym::of("Out"), Value::Dict(self.outputs.clone()));
    }

    /// A cell has given a value.
    pub(crate) fn end(&mut self, cx: &mut Cx, number: usize, value: &Value) {
        for (older, newer) in [("___", "__"), ("__", "_")] {
            if let Some(value) = cx.globals.get(Sym::of(newer)) {
                cx.globals.set(Sym::of(older), value);
            }
        }
        cx.globals.set(Sym::UNDERSCORE, value.clone());
        let is_itself = matches!(value, Value::Dict(it) if Rc::ptr_eq(it, &self.outputs));
        if is_itself || !is_small(value) {
            return;
        }
        // A whole number is always a key.
        let _ = self.outputs.insert(cx, Value::from(number), value.clone());
        if let Some(old) = number.checked_sub(MOST) {
            let _ = self.outputs.remove(cx, &Value::from(old));
        }
    }

    /// Gives the names `_3` in a text the values that they stand for.
    pub(crate) fn provide(&self, cx: &mut Cx, text: &str) {
        let words = text.split(|it: char| !it.is_alphanumeric() && it != '_');
        let numbers = words.filter_map(|it| it.strip_prefix('_')?.parse::<usize>().ok());
        for number in numbers {
            let value = self.outputs.get(cx, &Value::from(number));
            let value = value.ok().flatten().unwrap_or(Value::Unbound);
            cx.globals.set(Sym::new(&format!("_{number}")), value);
        }
    }

    /// Forgets all values.
    pub(crate) fn clear(&mut self) {
        *self = Past::default();
    }
}

/// Whether a name is one of those that a session binds by itself.
pub(crate) fn is_own(name: &str) -> bool {
    let Some(rest) = name.strip_prefix('_') else { return matches!(name, "In" | "Out") };
    matches!(rest, "i" | "ii" | "iii")
        || rest.chars().all(|it| it == '_')
        || rest.chars().all(|it| it.is_ascii_digit())
}

/// Whether a value holds few elements of tensors.
fn is_small(value: &Value) -> bool {
    let (mut bytes, mut looks) = (0, 0);
    let mut waiting = vec![value.clone()];
    while let Some(value) = waiting.pop() {
        looks += 1;
        bytes += value.as_tensor().map_or(0, |it| it.get().meta().bytes());
        if bytes > BYTES || looks > LOOKS {
            return false;
        }
        let mut add = |it: &Value| {
            if may_hold(it) && waiting.len() <= LOOKS {
                waiting.push(it.clone());
            }
        };
        match &value {
            Value::List(it) => it.items.borrow().iter().for_each(add),
            Value::Tuple(it) => it.iter().for_each(add),
            Value::Dict(it) => it.items().iter().for_each(|it| add(&it.1)),
            Value::Instance(it) => it.traverse(&mut add),
            _ => {}
        }
    }
    true
}

fn may_hold(value: &Value) -> bool {
    matches!(
        value,
        Value::List(_) | Value::Tuple(_) | Value::Dict(_) | Value::Instance(_) | Value::Tensor(_)
    )
}

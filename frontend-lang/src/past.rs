//! The cells of a session and their values under the names that notebooks know: `In`, `Out`, `_`, `__`, `___`, `_3`, `_i`, `_ii`, `_iii`.
//!
//! Values that hold many elements of tensors are not kept in `Out`, or their memory would never be free; `_` has the latest of all.

use std::rc::Rc;

use crate::cx::Cx;
use crate::sym::Sym;
use crate::table::Dict;
use crate::value::Value;

/// Values that `Out` keeps.
const MOST: usize = 1000;
/// Bytes of tensors that a kept value may hold, and objects that are looked at to find out.
const BYTES: usize = 1 << 20;
const LOOKS: usize = 2000;

/// What has been run.
#[derive(Default)]
pub(crate) struct Past {
    inputs: Vec<Value>,
    outputs: Rc<Dict>,
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
        let last = self.inputs.last().cloned().unwrap_or_else(|| Value::str(""));
        cx.globals.set(Sym::of("_i"), last);
        self.inputs.resize_with(number, || Value::str(""));
        self.inputs.push(Value::str(text));
        cx.globals.set(Sym::of("In"), Value::list(self.inputs.clone()));
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
        cx.globals.set(name_of(number), value.clone());
        // A whole number is always a key.
        let _ = self.outputs.insert(cx, Value::from(number), value.clone());
        if let Some(old) = number.checked_sub(MOST) {
            cx.globals.set(name_of(old), Value::Unbound);
            let _ = self.outputs.remove(cx, &Value::from(old));
        }
    }

    /// Forgets all values.
    pub(crate) fn clear(&mut self) {
        *self = Past::default();
    }
}

fn name_of(number: usize) -> Sym {
    Sym::new(&format!("_{number}"))
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

//! Looking into a session from outside: names, dotted lookups, texts of values.

use crate::past::is_own;
use rustc_hash::FxHashSet;

use crate::cycles::children;
use crate::session::{CellError, Session};
use crate::sym::Sym;
use crate::value::Value;

/// The most objects that are looked through for tensors.
const OBJECTS: usize = 1_000_000;

/// Bytes of the tensors that a value holds: itself, its items, its attributes and what these hold. Each counts once.
pub fn tensor_bytes(value: &Value) -> usize {
    let (mut seen, mut waiting, mut bytes) = (FxHashSet::default(), vec![value.clone()], 0);
    while let Some(value) = waiting.pop() {
        let is_new = value.address().is_some_and(|it| seen.insert(it));
        if !is_new || seen.len() > OBJECTS {
            continue;
        }
        if let Some(tensor) = value.as_tensor() {
            let tensor = tensor.get();
            bytes += if tensor.is_meta() { 0 } else { tensor.meta().bytes() };
        }
        // Classes and functions are the program's; data hangs on what is made of them.
        let is_data = |it: &Value| {
            !matches!(it, Value::Class(_) | Value::Func(_) | Value::Module(_) | Value::Native(_))
        };
        if is_data(&value) {
            children(&value, &mut |it| waiting.extend(is_data(it).then(|| it.clone())));
        }
    }
    bytes
}

impl Session {
    /// The value of a global name.
    pub fn global(&self, name: &str) -> Option<Value> {
        self.cx.globals.get(Sym::new(name))
    }

    /// Assigns a global name.
    pub fn set_global(&mut self, name: &str, value: Value) {
        self.cx.globals.set(Sym::new(name), value);
    }

    /// Forgets all global names.
    pub fn reset(&mut self) {
        for (name, _) in self.cx.globals.entries() {
            if !name.as_str().starts_with("__") || is_own(name.as_str()) {
                self.cx.globals.set(name, Value::Unbound);
            }
        }
        self.past.clear();
    }

    /// The `repr` of a value.
    pub fn repr(&mut self, value: &Value) -> Result<String, CellError> {
        let text = self.cx.repr(value);
        text.map_err(|raised| self.cx.cell_error(&raised))
    }

    /// The rich form of a value whose class has one: see `Cx::rich_form`.
    pub fn rich_form(&mut self, value: &Value) -> Option<Value> {
        self.cx.rich_form(value)
    }

    /// The value of a dotted name: global, builtin or module, then attributes.
    pub fn lookup(&mut self, path: &str) -> Option<Value> {
        let mut parts = path.split('.');
        let first = Sym::new(parts.next()?);
        let mut value =
            self.cx.globals.get(first).or_else(|| self.cx.builtins.get(&first).cloned())?;
        for part in parts {
            value = self.cx.opt_getattr(&value, Sym::new(part)).ok()??;
        }
        Some(value)
    }
}

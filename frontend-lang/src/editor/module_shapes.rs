//! The parameters of a module and of those below it, with their shapes. Reads attributes alone: no code of the user runs.

use std::collections::HashSet;
use std::rc::Rc;

use crate::objects::class::Instance;
use crate::value::Value;

/// Parameters that are listed, and how deeply modules may lie in each other.
const MOST: usize = 24;
const DEEPEST: u32 = 12;

/// `first.weight: f32[8, 4]`, a line for each; empty for what is no module.
pub(super) fn parameters(object: &Rc<Instance>) -> String {
    let mut found = Found::default();
    if is_module(object) {
        found.attributes(object, "", 0);
    }
    let left = found.count.saturating_sub(found.lines.len());
    if left > 0 {
        found.lines.push(format!("... {left} more"));
    }
    if found.count > 1 {
        found.lines.push(format!("{} numbers in all", found.numbers));
    }
    found.lines.join("\n")
}

#[derive(Default)]
struct Found {
    lines: Vec<String>,
    count: usize,
    numbers: usize,
    seen: HashSet<usize>,
}

impl Found {
    fn attributes(&mut self, object: &Rc<Instance>, path: &str, depth: u32) {
        let attributes: Vec<_> =
            object.attrs.borrow().iter().map(|it| (*it.0, it.1.clone())).collect();
        for (name, value) in attributes {
            self.value(&value, &joined(path, name.as_str()), depth);
        }
        self.items(&object.base, path, depth);
    }

    fn value(&mut self, value: &Value, path: &str, depth: u32) {
        let is_new = value.address().is_some_and(|it| self.seen.insert(it));
        if !is_new || depth > DEEPEST {
            return;
        }
        match value {
            Value::Tensor(it) if it.is_parameter() => {
                let tensor = it.get();
                self.count += 1;
                self.numbers += tensor.numel();
                if self.lines.len() < MOST {
                    self.lines.push(format!("{path}: {}", tensor.meta()));
                }
            }
            Value::Instance(it) if is_module(it) => self.attributes(it, path, depth + 1),
            _ => self.items(value, path, depth + 1),
        }
    }

    fn items(&mut self, value: &Value, path: &str, depth: u32) {
        let items: Vec<(String, Value)> = match value {
            Value::List(it) => numbered(&it.items.borrow()),
            Value::Tuple(it) => numbered(it),
            Value::Dict(it) => {
                let named = |it: (Value, Value)| Some((it.0.as_str()?.to_owned(), it.1));
                it.items().into_iter().filter_map(named).collect()
            }
            _ => return,
        };
        for (name, item) in items {
            self.value(&item, &joined(path, &name), depth);
        }
    }
}

fn numbered(items: &[Value]) -> Vec<(String, Value)> {
    items.iter().take(MOST * 4).enumerate().map(|(at, it)| (at.to_string(), it.clone())).collect()
}

/// Containers keep their modules in `_items`, which is no part of the name.
fn joined(path: &str, name: &str) -> String {
    match (path, name) {
        (path, "_items") => path.to_owned(),
        ("", name) => name.to_owned(),
        (path, name) => format!("{path}.{name}"),
    }
}

fn is_module(object: &Instance) -> bool {
    object.class.chain().any(|it| it.name.as_str() == "Module")
}

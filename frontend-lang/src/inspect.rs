//! Looking into a session from outside: names, dotted lookups, help on values.

use std::fmt::Write;

use crate::objects::class::type_name;
use crate::session::{CellError, Session};
use crate::sym::Sym;
use crate::trace::TracedFn;
use crate::value::Value;

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
            if !name.as_str().starts_with("__") {
                self.cx.globals.set(name, Value::Unbound);
            }
        }
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

    /// What a value is, in words: type, signature, doc string; `detailed` adds the source of functions and classes.
    pub fn describe(&mut self, value: &Value, name: &str, detailed: bool) -> String {
        if let Some(traced) = value.downcast::<TracedFn>() {
            let func = traced.func.clone();
            let text = self.describe(&func, name, detailed);
            return format!("{text}\n\nTraced: {}", traced.traced.stats());
        }
        let mut res = String::new();
        let kind = type_name(value);
        match value {
            Value::Func(_) | Value::Native(_) | Value::Method(_) | Value::Class(_) => {
                let signature = self.signature(value).unwrap_or_else(|| "(...)".into());
                let _ = writeln!(res, "{name}{signature}");
            }
            _ => {
                let _ = writeln!(res, "{name}: {kind}");
                let _ = writeln!(res, "{}", self.cx.summary(value));
            }
        }
        if let Some(doc) = self.doc(value) {
            let _ = write!(res, "\n{doc}");
        }
        if detailed && let Some(source) = self.source_of(value) {
            let _ = write!(res, "\n\n{source}");
        }
        res.trim_end().into()
    }

    /// `(x, y=1)` of something that can be called.
    pub fn signature(&mut self, value: &Value) -> Option<String> {
        match value {
            Value::Func(it) => it.clone().signature(&mut self.cx).ok().map(|it| it.to_string()),
            Value::Native(it) => Some(format!("({})", it.params.signature)),
            Value::Method(it) => self.signature(&it.func.clone()),
            Value::Class(_) => {
                let init = self.cx.opt_getattr(value, Sym::INIT).ok()??;
                self.signature(&init)
            }
            _ => None,
        }
    }

    fn doc(&mut self, value: &Value) -> Option<String> {
        let doc = self.cx.opt_getattr(value, Sym::DOC).ok()??;
        doc.as_str().filter(|it| !it.is_empty()).map(str::to_string)
    }

    /// The text of a function's or class's definition.
    fn source_of(&mut self, value: &Value) -> Option<String> {
        let span = match value {
            Value::Func(it) => it.code.span,
            Value::Method(it) => return self.source_of(&it.func.clone()),
            _ => return None,
        };
        let source = self.cx.sources.get(span.source)?;
        source.text.get(span.start as usize..span.end as usize).map(str::to_string)
    }
}

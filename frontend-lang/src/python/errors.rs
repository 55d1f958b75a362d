//! Exceptions of Python as exceptions of the language: of the nearest class that both have, under their own name, with the place in
//! Python as a note.

use std::rc::Rc;

use super::request::Request;
use super::wire::{Datum, Malformed, parts};
use crate::native::*;
use crate::objects::attr_map::AttrMap;
use crate::objects::class::{Class, Instance, class_of};

/// The attribute of an exception with the names of its classes in Python, which may be several that both have.
const CLASSES: &str = "__python_classes__";

/// Whether an exception of Python is of a built-in class there, by its name.
pub(crate) fn is_also(exception: &Value, row: &'static NativeType) -> bool {
    let Value::Instance(it) = exception else { return false };
    let names = it.get(Sym::of(CLASSES));
    let names = names.as_ref().and_then(Value::as_tuple);
    names.is_some_and(|it| it.iter().any(|name| name.as_str() == Some(row.name)))
}

impl Cx {
    /// The exception that the process tells of: names of its classes, its message, its traceback, itself, its key if it began here,
    /// arguments where they matter.
    pub(super) fn raised_in_python(&mut self, told: Datum) -> Raised {
        match self.exception_of(told) {
            Ok(raised) => raised,
            Err(failed) => failed,
        }
    }

    fn exception_of(&mut self, told: Datum) -> Result<Raised, Raised> {
        let told = told.items().and_then(parts);
        let [kinds, message, trace, itself, key, args] = self.understood(told)?;
        let itself = self.python_value(itself)?;
        if let Some(own) = key.int().ok().and_then(|it| self.python.guests.raised(it)) {
            return Ok(own);
        }
        let names: Result<Vec<String>, Malformed> =
            kinds.items().and_then(|it| it.into_iter().map(Datum::text).collect());
        let names = self.understood(names)?;
        let (message, trace) = (self.understood(message.text())?, self.understood(trace.text())?);
        let args = match self.python_value(args)? {
            Value::List(it) => it.copied()?,
            _ => vec![Value::str(message)],
        };
        let class = self.class_of_exception(&names);
        let instance = Rc::new(Instance::over(class, itself));
        instance.set(Sym::ARGS, Value::tuple(args));
        let names: Vec<Value> = names.into_iter().skip(1).map(Value::str).collect();
        instance.set(Sym::of(CLASSES), Value::tuple(names));
        if !trace.is_empty() {
            let note = format!("In Python:\n{}", indented(&trace));
            instance.set(Sym::NOTES, Value::list(vec![Value::str(note)]));
        }
        Ok(Raised::from_instance(instance))
    }

    fn class_of_exception(&mut self, names: &[String]) -> Rc<Class> {
        let known = |name: &String| {
            let rows = EXCEPTIONS.iter().copied().chain([&STOP_ITERATION, &BASE_EXCEPTION]);
            rows.into_iter().find(|it| it.name == name)
        };
        let base = names.iter().skip(1).find_map(known).unwrap_or(&EXCEPTION);
        let own = names.first().map_or(base.name, String::as_str);
        if own == base.name {
            return class_of(base);
        }
        let key = (own.to_owned(), std::ptr::from_ref(base).addr());
        let make = || {
            let name = Sym::new(own);
            let class = Class::new(name, name, Sym::EMPTY, class_of(base), AttrMap::default());
            Rc::new(class)
        };
        self.python.exceptions.entry(key).or_insert_with(make).clone()
    }

    /// The exception that `raise object` raises, the object being an exception or a class of Python.
    pub(crate) fn raise_python(&mut self, object: &super::proxy::Proxy) -> Raised {
        let answer = self.target(object).and_then(|it| self.ask(Request::Raise, vec![it]));
        answer.err().unwrap_or_else(|| type_error("exceptions must derive from BaseException"))
    }

    /// Whether `except class` takes an exception, the class being one of Python.
    pub(crate) fn is_python_exception(
        &mut self,
        exception: &Value,
        class: &super::proxy::Proxy,
    ) -> Result<bool, Raised> {
        match exception {
            Value::Instance(it) if super::proxy::of(&it.base).is_some() => {
                self.is_python_instance(&it.base, class)
            }
            _ => Ok(false),
        }
    }
}

/// A traceback without its first and its last line, which the error itself says.
fn indented(trace: &str) -> String {
    let lines: Vec<&str> = trace.trim_end().lines().collect();
    let inner = match lines.as_slice() {
        [first, inner @ .., _] if first.starts_with("Traceback") => inner,
        all => all,
    };
    inner.join("\n")
}

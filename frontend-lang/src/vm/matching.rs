//! The operations of `match`.

use std::rc::Rc;

use crate::builtins::modules::typing::fits_protocol;
use crate::builtins::types;
use crate::bytecode::Op;
use crate::cx::Cx;
use crate::error::{Raised, type_error};
use crate::native::CallArgs;
use crate::objects::class::{Class, class_of, type_of};
use crate::objects::union::Union;
use crate::python::proxy;
use crate::sym::Sym;
use crate::table::Dict;
use crate::value::Value;

impl Cx {
    /// One operation of `match`.
    pub(crate) fn match_op(&mut self, op: Op) -> Result<(), Raised> {
        let top = self.machine.stack.pop();
        match op {
            Op::MatchSequence { len, star } => {
                let found = sequence_len(&top);
                let len = len as usize;
                let fits = found.is_some_and(|it| if star { it >= len } else { it == len });
                self.machine.stack.push(Value::Bool(fits));
            }
            Op::MatchItem(at) => {
                let item = self.getitem(top.core(), &Value::Int(at as i64))?;
                self.machine.stack.push(item);
            }
            Op::MatchRest(before, after) => {
                let items = self.collect(&top)?;
                let end = items.len() - after as usize;
                self.machine.stack.push(Value::list(items[before as usize..end].to_vec()));
            }
            Op::IsMapping => self.machine.stack.push(Value::Bool(top.as_dict().is_some())),
            Op::MatchKey => {
                let mapping = self.machine.stack.pop();
                let found = match mapping.as_dict() {
                    Some(dict) => dict.get(self, &top)?,
                    None => None,
                };
                self.push_found(found);
            }
            Op::MatchMappingRest => {
                let mapping = self.machine.stack.pop();
                let rest = match mapping.as_dict() {
                    Some(dict) => dict.copy()?,
                    None => Dict::default(),
                };
                for key in self.collect(&top)? {
                    rest.remove(self, &key)?;
                }
                self.machine.stack.push(Value::Dict(rest.into()));
            }
            Op::IsInstance => {
                let value = self.machine.stack.pop();
                let Value::Class(_) = &top else {
                    return Err(type_error("called match pattern must be a class"));
                };
                let fits = self.is_instance(&value, &top)?;
                self.machine.stack.push(Value::Bool(fits));
            }
            Op::MatchAttr(name) => {
                let found = self.opt_getattr(&top, name)?;
                self.push_found(found);
            }
            Op::MatchPositional(idx) => {
                let value = self.machine.stack.pop();
                let found = self.positional_part(&value, &top, idx as usize)?;
                self.push_found(found);
            }
            _ => {}
        }
        Ok(())
    }

    fn push_found(&mut self, found: Option<Value>) {
        let fits = found.is_some();
        self.machine.stack.extend(found);
        self.machine.stack.push(Value::Bool(fits));
    }

    fn positional_part(
        &mut self,
        value: &Value,
        class: &Value,
        idx: usize,
    ) -> Result<Option<Value>, Raised> {
        let Value::Class(it) = class else { return Ok(None) };
        let own = [&types::INT, &types::STR, &types::FLOAT, &types::BOOL, &types::LIST];
        let more = [&types::TUPLE, &types::DICT, &types::SET, &types::FROZENSET];
        let row = it.native_base();
        if idx == 0 && own.iter().chain(&more).any(|known| std::ptr::eq(*known, row)) {
            return Ok(Some(value.clone()));
        }
        let names = it.lookup(Sym::MATCH_ARGS);
        let names = names.as_ref().and_then(Value::as_tuple);
        let count = names.map_or(0, |it| it.len());
        match names.and_then(|it| it.get(idx)).and_then(Value::as_str) {
            Some(name) => self.opt_getattr(value, Sym::new(name)),
            None => Err(type_error(format!(
                "{}() accepts {count} positional sub-patterns ({} given)",
                it.name,
                idx + 1
            ))),
        }
    }

    /// `isinstance(value, class)`; a tuple means any of its classes.
    pub fn is_instance(&mut self, value: &Value, class: &Value) -> Result<bool, Raised> {
        match class {
            Value::Class(class) if type_of(value).is_subclass(class) => Ok(true),
            Value::Class(class) if class.native.is_some() => match proxy::of(value) {
                Some(_) => self.is_python_builtin(value, class),
                None => Ok(false),
            },
            Value::Class(class) => match self.asks_class(class, "instance", value)? {
                Some(answer) => Ok(answer),
                None => Ok(fits_protocol(self, value, class).unwrap_or(false)),
            },
            Value::Tuple(items) => {
                for item in items.iter() {
                    if self.is_instance(value, item)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            // `int | None`.
            Value::None => Ok(value.is_none()),
            _ => match class.as_native() {
                Some(_) if let Some(class) = proxy::of(class) => {
                    self.is_python_instance(value, class)
                }
                Some(native) => match native.contains(self, class, value)? {
                    Some(answer) => Ok(answer),
                    None => Err(not_a_class()),
                },
                None => Err(not_a_class()),
            },
        }
    }
}

impl Cx {
    /// `issubclass(class, base)`, where `base` may be a tuple or a union.
    pub fn is_subclass(&mut self, class: &Rc<Class>, base: &Value) -> Result<bool, Raised> {
        let parts = match base {
            Value::Class(base) => {
                let is_object = Rc::ptr_eq(base, &class_of(&types::OBJECT));
                if is_object || class.is_subclass(base) {
                    return Ok(true);
                }
                let answer = self.asks_class(base, "subclass", &Value::Class(class.clone()))?;
                return Ok(answer.unwrap_or(false));
            }
            Value::None => return Ok(class.derives_from(&types::NONE_TYPE)),
            Value::Tuple(items) => items.to_vec(),
            other => match other.downcast::<Union>() {
                Some(union) => union.parts().to_vec(),
                None => {
                    let words = "issubclass() arg 2 must be a class or tuple of classes";
                    return Err(type_error(words));
                }
            },
        };
        for part in &parts {
            if self.is_subclass(class, part)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What a class says of `value` by its protocol, if it has one.
    fn asks_class(
        &mut self,
        class: &Rc<Class>,
        method: &'static str,
        value: &Value,
    ) -> Result<Option<bool>, Raised> {
        let args = CallArgs { positional: std::slice::from_ref(value), keywords: &[] };
        let answer = self.class_protocol(class, method, args)?;
        answer.map(|it| self.truth(&it)).transpose()
    }
}

fn not_a_class() -> Raised {
    type_error("isinstance() arg 2 must be a type, a tuple of types, or a union")
}

fn sequence_len(value: &Value) -> Option<usize> {
    match value.core() {
        Value::List(it) => Some(it.items.borrow().len()),
        Value::Tuple(it) => Some(it.len()),
        Value::Range(it) => Some(it.len()),
        _ => None,
    }
}

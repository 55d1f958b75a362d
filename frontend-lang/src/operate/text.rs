//! `repr` and `str` of every value.

use crate::cx::Cx;
use crate::error::{Raised, is_exception, type_error};
use crate::memory;
use crate::native::{CallArgs, NativeObject};
use crate::objects::class::type_name;
use crate::objects::number::float_repr;
use crate::patience::stoppable;
use crate::sym::Sym;
use crate::value::Value;

/// Bytes of a text whose `repr` may be stopped.
const LONG: usize = 1 << 16;

impl Cx {
    /// `str(value)`.
    pub fn str(&mut self, value: &Value) -> Result<String, Raised> {
        match value {
            Value::Str(it) => Ok(it.to_string()),
            Value::Object(it) => it.str(self),
            Value::Tensor(it) => it.str(self),
            Value::Instance(_) => match self.call_special(value, Sym::STR, &[])? {
                Some(text) => text_of(text, "__str__"),
                None if is_exception(value) => self.exception_str(value),
                None if value.as_str().is_some() && !self.has_special(value, Sym::REPR) => {
                    Ok(value.as_str().unwrap_or_default().to_owned())
                }
                None => self.repr(value),
            },
            _ => self.repr(value),
        }
    }

    /// `repr(value)`.
    pub fn repr(&mut self, value: &Value) -> Result<String, Raised> {
        let mut out = String::new();
        self.write_repr(value, &mut out)?;
        Ok(out)
    }

    fn write_repr(&mut self, value: &Value, out: &mut String) -> Result<(), Raised> {
        match value {
            Value::Unbound => out.push_str("<unbound>"),
            Value::None => out.push_str("None"),
            Value::Bool(it) => out.push_str(if *it { "True" } else { "False" }),
            Value::Int(it) => out.push_str(&it.to_string()),
            Value::Float(it) => out.push_str(&float_repr(*it)),
            Value::Ellipsis => out.push_str("Ellipsis"),
            Value::NotImplemented => out.push_str("NotImplemented"),
            Value::Str(it) if it.len() > LONG => {
                out.push_str(&stoppable(self, || str_repr(it))?);
            }
            Value::Str(it) => out.push_str(&str_repr(it)),
            Value::Range(it) if it.step == 1 => {
                out.push_str(&format!("range({}, {})", it.start, it.stop));
            }
            Value::Range(it) => {
                out.push_str(&format!("range({}, {}, {})", it.start, it.stop, it.step));
            }
            Value::Native(it) => out.push_str(&format!("<built-in function {}>", it.name)),
            // `typing.Any`.
            Value::Class(it)
                if it.native.is_some_and(|row| row.module == "typing" && row.new.is_none()) =>
            {
                out.push_str(&it.full_name());
            }
            Value::Class(it) => {
                let none = CallArgs { positional: &[], keywords: &[] };
                match self.class_protocol(it, "repr", none)? {
                    Some(text) => out.push_str(text.as_str().unwrap_or_default()),
                    None => out.push_str(&format!("<class '{}'>", it.full_name())),
                }
            }
            Value::Module(it) => out.push_str(&format!("<module '{}'>", it.name)),
            Value::Iter(it) => {
                let address = value.address().unwrap_or(0);
                out.push_str(&format!("<{} object at {address:#x}>", it.kind()));
            }
            Value::Cell(_) => out.push_str("<cell>"),
            Value::Generator(it) => {
                let address = value.address().unwrap_or(0);
                out.push_str(&format!("<generator object {} at {address:#x}>", it.name));
            }
            Value::Func(it) => {
                let address = value.address().unwrap_or(0);
                let given = it.attrs.borrow().get(&Sym::QUALNAME).cloned();
                let name = given.as_ref().and_then(Value::as_str).unwrap_or(&it.code.qualname);
                out.push_str(&format!("<function {name} at {address:#x}>"));
            }
            Value::Object(it) => out.push_str(&it.repr(self)?),
            Value::Tensor(it) => out.push_str(&it.repr(self)?),
            _ => return self.write_nested(value, out),
        }
        Ok(())
    }

    fn write_nested(&mut self, value: &Value, out: &mut String) -> Result<(), Raised> {
        let address = match value {
            Value::Instance(_) => None,
            _ => value.address(),
        };
        if let Some(address) = address {
            if self.showing.contains(&address) {
                out.push_str(match value {
                    Value::List(_) => "[...]",
                    Value::Dict(_) => "{...}",
                    Value::Tuple(_) => "(...)",
                    _ => "...",
                });
                return Ok(());
            }
            self.showing.push(address);
        }
        let done = self.enter_native().and_then(|()| {
            let done = self.write_container(value, out);
            self.leave_native();
            done
        });
        if address.is_some() {
            self.showing.pop();
        }
        done
    }

    fn write_container(&mut self, value: &Value, out: &mut String) -> Result<(), Raised> {
        match value {
            Value::List(it) => {
                let items = it.items.borrow().clone();
                self.write_items("[", &items, "]", out)
            }
            Value::Tuple(it) => {
                self.write_items("(", it, if it.len() == 1 { ",)" } else { ")" }, out)
            }
            Value::Set(it) if it.is_empty() => {
                out.push_str(if it.frozen { "frozenset()" } else { "set()" });
                Ok(())
            }
            Value::Set(it) => {
                let (open, close) = if it.frozen { ("frozenset({", "})") } else { ("{", "}") };
                self.write_items(open, &it.items(), close, out)
            }
            Value::Dict(it) => {
                out.push('{');
                for (idx, (key, item)) in it.items().iter().enumerate() {
                    out.push_str(if idx > 0 { ", " } else { "" });
                    self.write_repr(key, out)?;
                    out.push_str(": ");
                    self.write_repr(item, out)?;
                    memory::check_text(out)?;
                    self.poll()?;
                }
                out.push('}');
                Ok(())
            }
            Value::Slice(it) => {
                let parts = [it.start.clone(), it.stop.clone(), it.step.clone()];
                self.write_items("slice(", &parts, ")", out)
            }
            Value::Method(it) => self.write_method(&it.func, &it.this, out),
            _ => self.write_instance(value, out),
        }
    }

    fn write_items(
        &mut self,
        open: &str,
        items: &[Value],
        close: &str,
        out: &mut String,
    ) -> Result<(), Raised> {
        out.push_str(open);
        for (idx, item) in items.iter().enumerate() {
            out.push_str(if idx > 0 { ", " } else { "" });
            self.write_repr(item, out)?;
            memory::check_text(out)?;
            self.poll()?;
        }
        out.push_str(close);
        Ok(())
    }

    fn write_method(&mut self, func: &Value, this: &Value, out: &mut String) -> Result<(), Raised> {
        if let Value::Native(it) = func {
            let text = format!("<built-in method {} of {} object>", it.name, type_name(this));
            out.push_str(&text);
            return Ok(());
        }
        let name = self.getattr(func, Sym::QUALNAME)?;
        let owner = self.repr(this)?;
        out.push_str(&format!("<bound method {} of {owner}>", name.as_str().unwrap_or("?")));
        Ok(())
    }

    fn write_instance(&mut self, value: &Value, out: &mut String) -> Result<(), Raised> {
        if let Some(text) = self.call_special(value, Sym::REPR, &[])? {
            out.push_str(&text_of(text, "__repr__")?);
            return Ok(());
        }
        self.write_own(value, out)
    }

    /// `repr` as the built-in type of a value has it, no matter what its class defines.
    pub(crate) fn own_repr(&mut self, value: &Value) -> Result<Value, Raised> {
        let mut out = String::new();
        match value {
            Value::Instance(_) => self.write_own(value, &mut out)?,
            _ => self.write_repr(value, &mut out)?,
        }
        Ok(Value::str(out))
    }

    fn write_own(&mut self, value: &Value, out: &mut String) -> Result<(), Raised> {
        let Value::Instance(it) = value else { return Ok(()) };
        if is_exception(value) {
            let args = it.get(Sym::ARGS).and_then(|it| it.as_tuple().map(|it| it.to_vec()));
            out.push_str(it.class.name.as_str());
            return self.write_items("(", &args.unwrap_or_default(), ")", out);
        }
        if !it.base.is_none() {
            let base = it.base.clone();
            return self.write_repr(&base, out);
        }
        let address = value.address().unwrap_or(0);
        out.push_str(&format!("<{} object at {address:#014x}>", it.class.full_name()));
        Ok(())
    }

    /// `str` of an exception: its only argument, or all of them as a tuple.
    pub fn exception_str(&mut self, value: &Value) -> Result<String, Raised> {
        let Value::Instance(it) = value else { return self.repr(value) };
        let args = it.get(Sym::ARGS).and_then(|it| it.as_tuple().map(|it| it.to_vec()));
        match args.unwrap_or_default().as_slice() {
            [] => Ok(String::new()),
            [one] if it.class.derives_from(&crate::error::KEY_ERROR) => self.repr(one),
            [one] => self.str(one),
            [number, text, rest @ ..]
                if it.class.derives_from(&crate::error::OS_ERROR) && rest.len() < 2 =>
            {
                let (number, text) = (self.str(number)?, self.str(text)?);
                let file = match rest.first() {
                    Some(file) => Some(file.clone()),
                    None => self.opt_getattr(value, Sym::of("filename"))?,
                };
                Ok(match file.filter(|it| !it.is_none()) {
                    Some(file) => format!("[Errno {number}] {text}: {}", self.repr(&file)?),
                    None => format!("[Errno {number}] {text}"),
                })
            }
            many => self.repr(&Value::tuple(many.to_vec())),
        }
    }
}

fn text_of(text: Value, method: &str) -> Result<String, Raised> {
    match text.as_str() {
        Some(it) => Ok(it.to_owned()),
        None => {
            Err(type_error(format!("{method} returned non-string (type {})", type_name(&text))))
        }
    }
}

/// `repr` of a string: quotes and escapes as CPython chooses them.
pub use crate::objects::quote::repr as str_repr;

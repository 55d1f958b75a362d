//! Functions defined in the language, and what functions of all kinds have as attributes.

use std::cell::{Cell, RefCell};
use std::ops::Deref;
use std::rc::Rc;

use crate::annotated::Names;
use crate::builtins::MODULES;
use crate::bytecode::Code;
use crate::cx::Cx;
use crate::cycles::{self, Candidate, holds};
use crate::error::{Raised, type_error};
use crate::memory::Fixed;
use crate::native::{Member, NativeFn};
use crate::objects::class::AttrMap;
use crate::sym::Sym;
use crate::table::Dict;
use crate::value::Value;
use crate::value::words::{Held, put};

/// A function with its defaults and the variables it shares.
pub struct Func {
    pub code: Rc<Code>,
    /// Defaults of the last positional parameters.
    pub defaults: Vec<Value>,
    /// Defaults of keyword-only parameters, unbound where there is none.
    pub keyword_defaults: Vec<Value>,
    pub closure: Vec<Rc<CellVar>>,
    /// Attributes set by programs.
    pub attrs: RefCell<AttrMap>,
    pub(crate) _memory: Fixed<320>,
}

impl Func {
    /// The same function with another version of its code.
    pub(crate) fn with_code(&self, code: Rc<Code>) -> Func {
        let (defaults, keyword_defaults) = (self.defaults.clone(), self.keyword_defaults.clone());
        let (closure, attrs, _memory) =
            (self.closure.clone(), self.attrs.clone(), Fixed::default());
        Func { code, defaults, keyword_defaults, closure, attrs, _memory }
    }
}

/// A variable that functions share.
#[derive(Default)]
pub struct CellVar {
    value: RefCell<Value>,
    noted: Cell<bool>,
}

impl CellVar {
    /// A variable with this value.
    pub fn new(value: Value) -> CellVar {
        CellVar { value: RefCell::new(value), noted: Cell::new(false) }
    }

    /// The value, while nobody else can see it.
    pub(crate) fn value_mut(&mut self) -> &mut Value {
        self.value.get_mut()
    }

    /// Assigns the variable; returns the old value.
    pub fn assign(self: &Rc<CellVar>, value: Value) -> Value {
        self.note(&value);
        self.value.replace(value)
    }

    /// Assigns the variable and drops the old value.
    #[inline]
    pub(crate) fn set(self: &Rc<CellVar>, value: Held) {
        self.note(&value);
        put(&mut self.value.borrow_mut(), value);
    }

    /// Notes that `value` is stored here: the variable may become part of a cycle.
    #[inline]
    fn note(self: &Rc<CellVar>, value: &Value) {
        if holds(value) && !self.noted.replace(true) {
            cycles::note(Candidate::Cell(Rc::downgrade(self)));
        }
    }
}

impl Deref for CellVar {
    type Target = RefCell<Value>;

    fn deref(&self) -> &RefCell<Value> {
        &self.value
    }
}

impl Func {
    /// A function without defaults and shared variables.
    pub fn plain(code: Rc<Code>) -> Func {
        Func {
            code,
            defaults: Vec::new(),
            keyword_defaults: Vec::new(),
            closure: Vec::new(),
            attrs: RefCell::default(),
            _memory: Fixed::default(),
        }
    }

    /// Signature text as `def` has it, with defaults shown by `repr`.
    pub fn signature(&self, cx: &mut Cx) -> Result<String, Raised> {
        let params = &self.code.params;
        let mut parts: Vec<String> = Vec::new();
        for (idx, name) in params.names.iter().enumerate() {
            if idx == params.positional {
                if !params.has_rest {
                    parts.push("*".into());
                } else {
                    parts.push(format!("*{}", self.code.locals[params.names.len()]));
                }
            }
            let mut part = name.to_string();
            if let Some((_, text)) = self.code.annotations.iter().find(|it| it.0 == *name) {
                part = format!("{part}: {text}");
            }
            if let Some(default) = self.default_of(idx) {
                let equals = if part.contains(':') { " = " } else { "=" };
                part = format!("{part}{equals}{}", cx.repr(&default)?);
            }
            parts.push(part);
            if idx + 1 == params.positional_only {
                parts.push("/".into());
            }
        }
        let mut star = params.names.len();
        if params.has_rest {
            if params.positional == params.names.len() {
                parts.push(format!("*{}", self.code.locals[star]));
            }
            star += 1;
        }
        if params.has_keywords {
            parts.push(format!("**{}", self.code.locals[star]));
        }
        Ok(format!("({})", parts.join(", ")))
    }

    /// The default of parameter number `idx`.
    pub fn default_of(&self, idx: usize) -> Option<Value> {
        let params = &self.code.params;
        if idx < params.positional {
            let first = params.positional - self.defaults.len().min(params.positional);
            return self.defaults.get(idx.checked_sub(first)?).cloned();
        }
        let default = self.keyword_defaults.get(idx - params.positional)?;
        if default.is_unbound() { None } else { Some(default.clone()) }
    }

    /// Shows every value the function holds to `visit`.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Value)) {
        self.defaults.iter().chain(&self.keyword_defaults).for_each(&mut *visit);
        self.closure.iter().for_each(|it| visit(&Value::Cell(it.clone())));
        if let Ok(attrs) = self.attrs.try_borrow() {
            attrs.values().for_each(visit);
        }
    }
}

/// Attributes of functions and bound methods; `None` if the value has no such attribute.
pub(crate) fn attr(cx: &mut Cx, value: &Value, name: Sym) -> Result<Option<Value>, Raised> {
    match value {
        Value::Func(_) | Value::Native(_) | Value::Method(_) if name == Sym::CALL => {
            Ok(Some(value.clone()))
        }
        Value::Func(func) => func_attr(cx, func, name),
        Value::Native(row) => Ok(match name {
            Sym::NAME | Sym::QUALNAME => Some(Value::str(row.name)),
            Sym::DOC => Some(Value::str(row.doc)),
            Sym::MODULE => Some(Value::str(module_of(row))),
            _ => None,
        }),
        Value::Method(it) => match name {
            Sym::FUNC => Ok(Some(it.func.clone())),
            Sym::SELF => Ok(Some(it.this.clone())),
            Sym::CLASS => Ok(None),
            _ => cx.opt_getattr(&it.func, name),
        },
        _ => Ok(None),
    }
}

fn func_attr(cx: &mut Cx, func: &Func, name: Sym) -> Result<Option<Value>, Raised> {
    if let Some(found) = func.attrs.borrow().get(&name) {
        return Ok(Some(found.clone()));
    }
    Ok(Some(match name {
        Sym::NAME => func.code.name.value(),
        Sym::QUALNAME => Value::str(func.code.qualname.as_str()),
        Sym::MODULE => func.code.globals.get(Sym::NAME).unwrap_or_else(|| Value::str("__main__")),
        Sym::DOC => func.code.doc.as_deref().map_or(Value::None, Value::str),
        Sym::DEFAULTS if func.defaults.is_empty() => Value::None,
        Sym::DEFAULTS => Value::tuple(func.defaults.clone()),
        Sym::KWDEFAULTS => {
            let names = func.code.params.names[func.code.params.positional..].iter();
            let dict = Dict::default();
            for (name, value) in names.zip(&func.keyword_defaults) {
                if !value.is_unbound() {
                    dict.insert_name(*name, value.clone());
                }
            }
            if dict.is_empty() { Value::None } else { Value::Dict(Rc::new(dict)) }
        }
        Sym::ANNOTATIONS => {
            let dict = Dict::default();
            for (name, text) in &func.code.annotations {
                let names = Names { near: &|_| None, globals: &func.code.globals };
                dict.insert_name(*name, cx.annotation(text, &names));
            }
            Value::Dict(Rc::new(dict))
        }
        Sym::DICT => {
            let dict = Dict::default();
            for (name, value) in func.attrs.borrow().iter() {
                dict.insert_name(*name, value.clone());
            }
            Value::Dict(Rc::new(dict))
        }
        _ => return Ok(None),
    }))
}

/// The module that has a native as a function.
pub(crate) fn module_of(row: &'static NativeFn) -> &'static str {
    let holds = |member: &Member| match member {
        Member::Functions(rows) => rows.iter().any(|it| std::ptr::eq(it, row)),
        _ => false,
    };
    let module = MODULES.iter().find(|it| it.members.iter().any(holds));
    module.map_or("builtins", |it| it.name)
}

/// Sets an attribute of a function; `false` if the value is no function.
pub(crate) fn set_attr(value: &Value, name: Sym, new: &Value) -> Result<bool, Raised> {
    let Value::Func(func) = value else { return Ok(false) };
    if matches!(name, Sym::CODE | Sym::DEFAULTS | Sym::KWDEFAULTS) {
        return Err(type_error(format!("{name} of a function cannot be changed")));
    }
    cycles::note(Candidate::Func(Rc::downgrade(func)));
    let old = func.attrs.borrow_mut().insert(name, new.clone());
    drop(old);
    Ok(true)
}

/// Says that parentheses are missing, where a function stands for what it gives.
pub(crate) fn call_it(value: &Value) -> Option<String> {
    let name = match value {
        Value::Func(it) => it.code.name.as_str(),
        Value::Native(it) => it.name,
        Value::Method(it) => return call_it(&it.func),
        Value::Class(it) => it.name.as_str(),
        _ => return None,
    };
    Some(format!("Parentheses are missing; call it: {name}()"))
}

/// True for functions that take `self` as their first argument when bound.
pub(crate) fn is_plain_function(value: &Value) -> bool {
    matches!(value, Value::Func(_) | Value::Native(_))
}

//! `_collections`: the parts of `collections` written in Rust; `std/collections.ng` has the rest.
//!
//! A named tuple is a class made at run time: a subclass of `tuple` with a property for each field.

use std::any::Any;
use std::rc::Rc;

use super::{deque, operator};
use crate::builtins::types;
use crate::native::*;
use crate::objects::class::{AttrMap, Class, Instance, class_of};
use crate::objects::descriptor::{ClassMethod, Get, Property};
use crate::objects::text;
use crate::params::{missing_arguments, too_many_arguments, unexpected_keyword};

/// The module.
pub static MODULE: NativeModule = NativeModule {
    name: "_collections",
    doc: "Parts of collections that are written in Rust.",
    members: &[Member::Types(&[&deque::DEQUE]), Member::Functions(FUNCTIONS)],
    aliases: &[],
};

static FUNCTIONS: &[NativeFn] = &[
    function(
        "caller",
        "",
        "The module that called into the module whose code runs.",
        |cx, _args| Ok(cx.module_outside().value()),
    )
    .pure(),
    function(
        "namedtuple",
        "typename, field_names, *, rename=False, defaults=None, module=None",
        "A class of tuples with named fields.",
        namedtuple,
    )
    .pure(),
];

static RECORD_NEW: NativeType =
    NativeType::plain("function", "Makes an object of a named tuple class.");

/// `__new__` of a named tuple class.
struct RecordNew {
    name: Sym,
    fields: Vec<Sym>,
    defaults: Vec<Value>,
}

/// A named tuple class of which each field is required.
pub(super) fn named(cx: &mut Cx, name: &str, fields: Value) -> Res {
    let args = [Value::str(name), fields, Value::Bool(false), Value::None, Value::None];
    namedtuple(cx, Args::new(&args))
}

fn namedtuple(cx: &mut Cx, args: Args<'_>) -> Res {
    let name = args.str(0)?;
    let rename = cx.truth(&args[2])?;
    let fields = field_names(cx, name, &args[1], rename)?;
    let defaults = match args.opt(3) {
        Some(defaults) => cx.collect(defaults)?,
        None => Vec::new(),
    };
    if defaults.len() > fields.len() {
        return Err(type_error("Got more default values than field names"));
    }
    let field_values: Vec<Value> = fields.iter().map(|it| it.value()).collect();
    let default_map = Dict::default();
    for (field, default) in fields[fields.len() - defaults.len()..].iter().zip(&defaults) {
        default_map.insert_name(*field, default.clone());
    }
    let list = fields.iter().map(|it| it.as_str()).collect::<Vec<_>>().join(", ");
    let mut attrs = AttrMap::default();
    let name = Sym::new(name);
    attrs.insert(Sym::DOC, Value::str(format!("{name}({list})")));
    attrs.insert(Sym::of("_fields"), Value::tuple(field_values.clone()));
    attrs.insert(Sym::MATCH_ARGS, Value::tuple(field_values));
    attrs.insert(Sym::of("_field_defaults"), Value::Dict(Rc::new(default_map)));
    for (at, field) in fields.iter().enumerate() {
        let get = Get::Func(operator::item_getter(at));
        let property = Property { get, set: Value::None, delete: Value::None };
        attrs.insert(*field, Value::object(property));
    }
    attrs.insert(Sym::NEW, Value::object(RecordNew { name, fields, defaults }));
    for method in METHODS {
        attrs.insert(Sym::of(method.name), Value::Native(method));
    }
    let make = Value::object(ClassMethod(Value::Native(&MAKE)));
    attrs.insert(Sym::of(MAKE.name), make);
    let module = match args.opt(4).and_then(Value::as_str) {
        Some(module) => Sym::new(module),
        None => cx.calling_module(),
    };
    Ok(Value::Class(Rc::new(Class::new(name, name, module, class_of(&types::TUPLE), attrs))))
}

const KEYWORDS: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

fn field_names(
    cx: &mut Cx,
    type_name: &str,
    given: &Value,
    rename: bool,
) -> Result<Vec<Sym>, Raised> {
    let mut names: Vec<String> = match given.as_str() {
        Some(text) => text.replace(',', " ").split_whitespace().map(str::to_owned).collect(),
        None => {
            let mut names = Vec::new();
            for name in cx.collect(given)? {
                names.push(cx.str(&name)?);
            }
            names
        }
    };
    let bad = |name: &str| !text::is_identifier(name) || KEYWORDS.contains(&name);
    if rename {
        for at in 0..names.len() {
            let name = &names[at];
            if bad(name) || name.starts_with('_') || names[..at].contains(name) {
                names[at] = format!("_{at}");
            }
        }
    }
    for name in std::iter::once(type_name).chain(names.iter().map(String::as_str)) {
        if KEYWORDS.contains(&name) {
            return Err(value_error(format!(
                "Type names and field names cannot be a keyword: '{name}'"
            )));
        }
        if bad(name) {
            return Err(value_error(format!(
                "Type names and field names must be valid identifiers: '{name}'"
            )));
        }
    }
    for (at, name) in names.iter().enumerate() {
        if name.starts_with('_') && !rename {
            return Err(value_error(format!(
                "Field names cannot start with an underscore: '{name}'"
            )));
        }
        if names[..at].contains(name) {
            return Err(value_error(format!("Encountered duplicate field name: '{name}'")));
        }
    }
    Ok(names.iter().map(|it| Sym::new(it)).collect())
}

impl RecordNew {
    fn bind(&self, args: CallArgs<'_>) -> Result<Vec<Value>, Raised> {
        let name = format!("{}.__new__", self.name);
        let count = self.fields.len();
        let given = &args.positional[1..];
        if given.len() > count {
            let required = count - self.defaults.len() + 1;
            return Err(too_many_arguments(&name, required, count + 1, given.len() + 1));
        }
        let mut slots = given.to_vec();
        slots.resize(count, Value::Unbound);
        for (key, value) in args.keywords {
            match self.fields.iter().position(|it| it == key) {
                Some(at) if slots[at].is_unbound() => slots[at] = value.clone(),
                Some(_) => return Err(crate::params::multiple_values(&name, key.as_str())),
                None => {
                    let names: Vec<&str> = self.fields.iter().map(|it| it.as_str()).collect();
                    return Err(unexpected_keyword(&name, key.as_str(), &names));
                }
            }
        }
        let first_default = count - self.defaults.len();
        for (slot, default) in slots[first_default..].iter_mut().zip(&self.defaults) {
            if slot.is_unbound() {
                *slot = default.clone();
            }
        }
        let missing: Vec<&str> = slots
            .iter()
            .zip(&self.fields)
            .filter(|(slot, _)| slot.is_unbound())
            .map(|(_, field)| field.as_str())
            .collect();
        if missing.is_empty() {
            Ok(slots)
        } else {
            Err(missing_arguments(&name, "positional", &missing))
        }
    }
}

impl NativeObject for RecordNew {
    fn native_type(&self) -> &'static NativeType {
        &RECORD_NEW
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_callable(&self) -> bool {
        true
    }

    fn shows_state(&self) -> bool {
        true
    }

    fn call(&self, _cx: &mut Cx, _this: &Value, args: CallArgs<'_>) -> Res {
        let Some(Value::Class(class)) = args.positional.first() else {
            return Err(type_error(format!("{}.__new__() needs a class", self.name)));
        };
        Ok(record(class, self.bind(args)?))
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Value)) {
        self.defaults.iter().for_each(visit);
    }
}

fn record(class: &Rc<Class>, items: Vec<Value>) -> Value {
    Value::Instance(Rc::new(Instance::over(class.clone(), Value::tuple(items))))
}

static MAKE: NativeFn =
    function("_make", "cls, iterable", "A named tuple of the items.", make).pure();

static METHODS: &[NativeFn] = &[
    function("__repr__", "self", "`Name(field=value, ...)`.", repr).pure(),
    function("_asdict", "self", "A dict of the fields.", asdict).pure(),
    function("_replace", "self, /, **kwds", "A copy with other fields.", replace).pure(),
];

fn fields(cx: &mut Cx, record: &Value) -> Result<Vec<Sym>, Raised> {
    let fields = cx.getattr(record, Sym::of("_fields"))?;
    Ok(cx.collect(&fields)?.iter().filter_map(|it| it.as_str().map(Sym::new)).collect())
}

fn make(cx: &mut Cx, args: Args<'_>) -> Res {
    let Value::Class(class) = &args[0] else {
        return Err(type_error("_make() needs a class"));
    };
    let items = cx.collect(&args[1])?;
    let wanted = fields(cx, &args[0])?.len();
    if items.len() != wanted {
        return Err(type_error(format!("Expected {wanted} arguments, got {}", items.len())));
    }
    Ok(record(class, items))
}

fn asdict(cx: &mut Cx, args: Args<'_>) -> Res {
    let dict = Dict::default();
    for (field, item) in fields(cx, &args[0])?.into_iter().zip(args.tuple(0)?.iter()) {
        dict.insert_name(field, item.clone());
    }
    Ok(Value::Dict(Rc::new(dict)))
}

fn repr(cx: &mut Cx, args: Args<'_>) -> Res {
    let mut parts = Vec::new();
    for (field, item) in fields(cx, &args[0])?.into_iter().zip(args.tuple(0)?.iter()) {
        parts.push(format!("{field}={}", cx.repr(item)?));
    }
    Ok(Value::str(format!("{}({})", type_name(&args[0]), parts.join(", "))))
}

fn replace(cx: &mut Cx, args: Args<'_>) -> Res {
    let new = args.dict(1)?;
    let mut items = args.tuple(0)?.to_vec();
    for (item, field) in items.iter_mut().zip(fields(cx, &args[0])?) {
        if let Some(value) = new.remove(cx, &field.value())? {
            *item = value;
        }
    }
    if !new.is_empty() {
        let names = cx.repr(&Value::list(new.keys()))?;
        return Err(value_error(format!("Got unexpected field names: {names}")));
    }
    match &args[0] {
        Value::Instance(it) => Ok(record(&it.class, items)),
        _ => Ok(Value::tuple(items)),
    }
}

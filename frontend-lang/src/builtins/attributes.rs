//! Functions about objects: attributes, classes, identity.

use crate::check::unknown;
use crate::native::*;
use crate::python::proxy;

/// Functions about objects.
pub static FUNCTIONS: &[NativeFn] = &[
    function("callable", "object, /", "True if the object can be called.", callable).pure(),
    function("delattr", "object, name, /", "Deletes an attribute.", delattr),
    function("dir", "object=..., /", "Names of attributes.", dir).pure(),
    function("getattr", "object, name, default=..., /", "An attribute by name.", getattr),
    function("hasattr", "object, name, /", "True if there is such an attribute.", hasattr),
    function("hash", "object, /", "A number equal for equal objects.", hash).pure(),
    function("id", "object, /", "A number of its own for each object.", id).pure(),
    function("isinstance", "object, class, /", "True if the object is of a class.", isinstance)
        .pure(),
    function("issubclass", "class, base, /", "True if a class derives from another.", issubclass)
        .pure(),
    function("setattr", "object, name, value, /", "Sets an attribute.", setattr),
    function("vars", "object, /", "The attributes of an object.", vars).pure(),
];

fn name_of(args: Args<'_>) -> Result<Sym, Raised> {
    match args[1].as_str() {
        Some(name) => Ok(Sym::new(name)),
        None => {
            Err(type_error(format!("attribute name must be string, not '{}'", type_name(&args[1]))))
        }
    }
}

fn getattr(cx: &mut Cx, args: Args<'_>) -> Res {
    let name = name_of(args)?;
    if !args.given(2) {
        return cx.getattr(&args[0], name);
    }
    match cx.opt_getattr(&args[0], name) {
        Ok(found) => Ok(found.unwrap_or_else(|| args[2].clone())),
        Err(raised) if raised.is(&ATTRIBUTE_ERROR) => Ok(args[2].clone()),
        Err(raised) => Err(raised),
    }
}

fn hasattr(cx: &mut Cx, args: Args<'_>) -> Res {
    let name = name_of(args)?;
    if unknown::kind_of(&args[0]).is_some() {
        return Ok(unknown::unknown(unknown::Kind::Any));
    }
    match cx.opt_getattr(&args[0], name) {
        Ok(found) => Ok(Value::Bool(found.is_some())),
        Err(raised) if raised.is(&ATTRIBUTE_ERROR) => Ok(Value::Bool(false)),
        Err(raised) => Err(raised),
    }
}

fn setattr(cx: &mut Cx, args: Args<'_>) -> Res {
    let name = name_of(args)?;
    cx.setattr(&args[0], name, args[2].clone())?;
    Ok(Value::None)
}

fn delattr(cx: &mut Cx, args: Args<'_>) -> Res {
    let name = name_of(args)?;
    cx.delattr(&args[0], name)?;
    Ok(Value::None)
}

fn dir(cx: &mut Cx, args: Args<'_>) -> Res {
    if args.given(0)
        && let Value::Instance(_) = args[0]
        && let Some(names) = cx.call_special(&args[0], Sym::of("__dir__"), &[])?
    {
        let list = Value::list(cx.collect(&names)?);
        cx.call_method(&list, Sym::of("sort"), &[])?;
        return Ok(list);
    }
    let mut names = if args.given(0) {
        cx.dir(&args[0])
    } else {
        cx.globals.entries().into_iter().map(|(name, _)| name).collect()
    };
    names.sort_by_key(|it| it.as_str());
    Ok(Value::list(names.into_iter().map(Sym::value).collect()))
}

fn vars(cx: &mut Cx, args: Args<'_>) -> Res {
    match cx.opt_getattr(&args[0], Sym::DICT)? {
        Some(dict) => Ok(dict),
        None => Err(type_error("vars() argument must have __dict__ attribute")),
    }
}

fn callable(cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::Bool(cx.is_callable(&args[0])))
}

fn hash(cx: &mut Cx, args: Args<'_>) -> Res {
    cx.hash(&args[0]).map(Value::Int)
}

fn id(cx: &mut Cx, args: Args<'_>) -> Res {
    match args[0].address() {
        Some(address) => Ok(Value::Int(address as i64)),
        None => cx.hash(&args[0]).map(|hash| Value::Int(hash.wrapping_mul(32).wrapping_add(16))),
    }
}

fn isinstance(cx: &mut Cx, args: Args<'_>) -> Res {
    cx.is_instance(&args[0], &args[1]).map(Value::Bool)
}

fn issubclass(cx: &mut Cx, args: Args<'_>) -> Res {
    if args.all().iter().any(|it| proxy::of(it).is_some()) {
        return cx.call_python_builtin("issubclass", args.all());
    }
    let Value::Class(class) = &args[0] else {
        return Err(type_error("issubclass() arg 1 must be a class"));
    };
    cx.is_subclass(class, &args[1]).map(Value::Bool)
}

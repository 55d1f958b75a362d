//! The methods of `dict`. `keys`, `values` and `items` are live views: see `objects/dict_view.rs`.

use std::rc::Rc;

use crate::builtins::convert::update_dict;
use crate::native::*;
use crate::objects::dict_view::DictView;
use crate::objects::iterator::DictPart;

/// Methods of `dict`.
pub static METHODS: &[NativeFn] = &[
    function("clear", "self, /", "Remove all entries.", clear),
    function("copy", "self, /", "A shallow copy.", copy).pure(),
    function("get", "self, key, default=None, /", "The value of `key`, or `default`.", get)
        .pure()
        .quick(quick_get),
    function("items", "self, /", "A view of keys and values.", items).pure(),
    function("keys", "self, /", "A view of the keys.", keys).pure(),
    function("pop", "self, key, default=..., /", "Remove `key` and return its value.", pop),
    function("popitem", "self, /", "Remove and return the newest entry.", popitem),
    function("setdefault", "self, key, default=None, /", "The value, set if missing.", setdefault)
        .quick(quick_setdefault),
    function("update", "self, source=..., /, **kwargs", "Take over entries.", update),
    function("values", "self, /", "A view of the values.", values).pure(),
];

/// Functions of the class `dict`.
pub static STATICS: &[NativeFn] =
    &[function("fromkeys", "iterable, value=None, /", "A dict with these keys.", fromkeys)];

fn clear(_cx: &mut Cx, args: Args<'_>) -> Res {
    args.dict(0)?.clear();
    Ok(Value::None)
}

fn copy(_cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::Dict(Rc::new(args.dict(0)?.copy()?)))
}

fn get(cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(args.dict(0)?.get(cx, &args[1])?.unwrap_or_else(|| args[2].clone()))
}

fn quick_get(args: &[Value]) -> Option<Value> {
    let (Value::Dict(dict), key, default) = (match args {
        [dict, key] => (dict, key, &Value::None),
        [dict, key, default] => (dict, key, default),
        _ => return None,
    }) else {
        return None;
    };
    Some(dict.quick_get(key)?.unwrap_or_else(|| default.clone()))
}

fn quick_setdefault(args: &[Value]) -> Option<Value> {
    let [Value::Dict(dict), key, _] = args else { return None };
    dict.quick_get(key)?
}

fn view(args: Args<'_>, part: DictPart) -> Res {
    Ok(Value::object(DictView { dict: args.dict(0)?.clone(), part }))
}

fn items(_cx: &mut Cx, args: Args<'_>) -> Res {
    view(args, DictPart::Items)
}

fn keys(_cx: &mut Cx, args: Args<'_>) -> Res {
    view(args, DictPart::Keys)
}

fn values(_cx: &mut Cx, args: Args<'_>) -> Res {
    view(args, DictPart::Values)
}

fn pop(cx: &mut Cx, args: Args<'_>) -> Res {
    match args.dict(0)?.remove(cx, &args[1])? {
        Some(value) => Ok(value),
        None if args.given(2) => Ok(args[2].clone()),
        None => Err(key_error(args[1].clone())),
    }
}

fn popitem(_cx: &mut Cx, args: Args<'_>) -> Res {
    let empty = || key_error(Value::str("popitem(): dictionary is empty"));
    let (key, value) = args.dict(0)?.pop_last().ok_or_else(empty)?;
    Ok(Value::tuple([key, value]))
}

fn setdefault(cx: &mut Cx, args: Args<'_>) -> Res {
    let dict = args.dict(0)?;
    if let Some(value) = dict.get(cx, &args[1])? {
        return Ok(value);
    }
    dict.store(cx, args[1].clone(), args[2].clone())?;
    Ok(args[2].clone())
}

fn update(cx: &mut Cx, args: Args<'_>) -> Res {
    let dict = args.dict(0)?;
    if args.given(1) {
        dict.note();
        update_dict(cx, dict, &args[1])?;
    }
    for (key, value) in args.dict(2)?.items() {
        dict.store(cx, key, value)?;
    }
    Ok(Value::None)
}

fn fromkeys(cx: &mut Cx, args: Args<'_>) -> Res {
    let dict = Dict::default();
    for key in cx.collect(&args[0])? {
        dict.insert(cx, key, args[1].clone())?;
    }
    Ok(Value::Dict(Rc::new(dict)))
}

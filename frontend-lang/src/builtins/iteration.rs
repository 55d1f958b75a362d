//! Functions over iterables.

use crate::native::*;
use crate::objects::iterator::{Iter, IterState};

/// Functions over iterables.
pub static FUNCTIONS: &[NativeFn] = &[
    function("all", "iterable, /", "True if all items are true.", all).pure(),
    function("any", "iterable, /", "True if any item is true.", any).pure(),
    function("enumerate", "iterable, start=0", "Items with their numbers.", enumerate).pure(),
    function("filter", "function, iterable, /", "Items for which a function is true.", filter)
        .pure(),
    function("iter", "object, sentinel=..., /", "An iterator.", iter).pure(),
    function("len", "obj, /", "The number of items.", len).pure().quick(quick_len),
    function("map", "function, iterable, /, *iterables", "Results of a function.", map).pure(),
    function("max", "*args, key=None, default=...", "The greatest.", max).pure().quick(quick_max),
    function("min", "*args, key=None, default=...", "The least.", min).pure().quick(quick_min),
    function("next", "iterator, default=..., /", "The next item.", next).pure(),
    function("reversed", "sequence, /", "Items from the end.", reversed).pure(),
    function("sorted", "iterable, /, *, key=None, reverse=False", "A sorted list.", sorted).pure(),
    function("sum", "iterable, /, start=0", "The sum of items.", sum).pure(),
    function("zip", "*iterables, strict=False", "Items side by side.", zip).pure(),
];

fn len(cx: &mut Cx, args: Args<'_>) -> Res {
    cx.len(&args[0]).map(Value::from)
}

fn quick_len(args: &[Value]) -> Option<Value> {
    let len = match args {
        [Value::List(it)] => it.items.borrow().len(),
        [Value::Tuple(it)] => it.len(),
        [Value::Dict(it)] => it.len(),
        [Value::Set(it)] => it.len(),
        [Value::Str(it)] => it.chars_len(),
        _ => return None,
    };
    Some(Value::from(len))
}

fn iter(cx: &mut Cx, args: Args<'_>) -> Res {
    if args.given(1) {
        if !cx.is_callable(&args[0]) {
            return Err(type_error("iter(v, w): v must be callable"));
        }
        let state = IterState::Until { func: args[0].clone(), sentinel: args[1].clone() };
        return Ok(Value::iter(Iter::new(state)));
    }
    cx.iter(&args[0])
}

fn next(cx: &mut Cx, args: Args<'_>) -> Res {
    if !cx.is_iterator(&args[0]) {
        return Err(type_error(format!("'{}' object is not an iterator", type_name(&args[0]))));
    }
    let item = match &args[0] {
        Value::Generator(it) => match cx.resume(it, Value::None)? {
            Ok(item) => Some(item),
            Err(Value::None) => None,
            Err(_) if args.given(1) => None,
            Err(result) => return Err(Raised::with_args(&STOP_ITERATION, vec![result])),
        },
        other => cx.next(other)?,
    };
    match item {
        Some(item) => Ok(item),
        None if args.given(1) => Ok(args[1].clone()),
        None => Err(stop_iteration()),
    }
}

fn enumerate(cx: &mut Cx, args: Args<'_>) -> Res {
    let (inner, count) = (cx.iter(&args[0])?, cx.index(&args[1])?);
    Ok(Value::iter(Iter::new(IterState::Enumerate { inner, count })))
}

fn iters(cx: &mut Cx, values: &[Value]) -> Result<Vec<Value>, Raised> {
    values.iter().map(|it| cx.iter(it)).collect()
}

fn zip(cx: &mut Cx, args: Args<'_>) -> Res {
    let (inners, strict) = (iters(cx, args.rest(0))?, cx.truth(&args[1])?);
    Ok(Value::iter(Iter::new(IterState::Zip { inners, strict })))
}

fn map(cx: &mut Cx, args: Args<'_>) -> Res {
    let mut inners = vec![cx.iter(&args[1])?];
    inners.extend(iters(cx, args.rest(2))?);
    Ok(Value::iter(Iter::new(IterState::Map { func: args[0].clone(), inners })))
}

fn filter(cx: &mut Cx, args: Args<'_>) -> Res {
    let inner = cx.iter(&args[1])?;
    Ok(Value::iter(Iter::new(IterState::Filter { func: args[0].clone(), inner })))
}

fn reversed(cx: &mut Cx, args: Args<'_>) -> Res {
    cx.reversed(&args[0])
}

fn any(cx: &mut Cx, args: Args<'_>) -> Res {
    has(cx, &args[0], true)
}

fn all(cx: &mut Cx, args: Args<'_>) -> Res {
    let found = has(cx, &args[0], false)?;
    Ok(Value::Bool(matches!(found, Value::Bool(false))))
}

fn has(cx: &mut Cx, iterable: &Value, wanted: bool) -> Res {
    let iter = cx.iter(iterable)?;
    while let Some(item) = cx.next(&iter)? {
        if cx.truth(&item)? == wanted {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn sum(cx: &mut Cx, args: Args<'_>) -> Res {
    if args[1].as_str().is_some() {
        return Err(type_error("sum() can't sum strings [use ''.join(seq) instead]"));
    }
    let iter = cx.iter(&args[0])?;
    let mut total = args[1].clone();
    while let Some(item) = cx.next(&iter)? {
        total = cx.binary(BinaryOp::Add, &total, &item)?;
    }
    Ok(total)
}

fn min(cx: &mut Cx, args: Args<'_>) -> Res {
    extreme(cx, args, "min")
}

fn max(cx: &mut Cx, args: Args<'_>) -> Res {
    extreme(cx, args, "max")
}

fn quick_min(args: &[Value]) -> Option<Value> {
    match args {
        [Value::Int(a), Value::Int(b)] => Some(Value::Int(*a.min(b))),
        [Value::Float(a), Value::Float(b)] => Some(Value::Float(if b < a { *b } else { *a })),
        _ => None,
    }
}

fn quick_max(args: &[Value]) -> Option<Value> {
    match args {
        [Value::Int(a), Value::Int(b)] => Some(Value::Int(*a.max(b))),
        [Value::Float(a), Value::Float(b)] => Some(Value::Float(if b > a { *b } else { *a })),
        _ => None,
    }
}

fn extreme(cx: &mut Cx, args: Args<'_>, name: &str) -> Res {
    let items = match args.rest(0) {
        [] => return Err(type_error(format!("{name} expected at least 1 argument, got 0"))),
        [one] => cx.iter(one)?,
        _ if args.given(2) => {
            return Err(type_error(format!(
                "Cannot specify a default for {name}() with multiple positional arguments"
            )));
        }
        many => Value::iter(Iter::items(many.to_vec())),
    };
    let mut best: Option<(Value, Value)> = None;
    while let Some(item) = cx.next(&items)? {
        let key = match args.opt(1) {
            Some(func) => cx.call(func, std::slice::from_ref(&item))?,
            None => item.clone(),
        };
        let better = match &best {
            None => true,
            Some((_, old)) if name == "min" => cx.less(&key, old)?,
            Some((_, old)) => {
                let answer = cx.compare(CompareOp::Gt, &key, old)?;
                cx.truth(&answer)?
            }
        };
        if better {
            best = Some((item, key));
        }
    }
    match best {
        Some((item, _)) => Ok(item),
        None if args.given(2) => Ok(args[2].clone()),
        None => Err(value_error(format!("{name}() arg is an empty sequence"))),
    }
}

fn sorted(cx: &mut Cx, args: Args<'_>) -> Res {
    let list = Value::list(cx.collect(&args[0])?);
    let sort = cx.getattr(&list, Sym::new("sort"))?;
    let keywords = [(Sym::new("key"), args[1].clone()), (Sym::new("reverse"), args[2].clone())];
    cx.call_with(&sort, CallArgs { positional: &[], keywords: &keywords })?;
    Ok(list)
}

//! `_inspect`: what only Rust knows of functions; `std/inspect.ng` has the rest.

use crate::native::*;
use crate::objects::function::Func;
use crate::params::{Kind, Params as NativeParams};

/// The module.
pub static MODULE: NativeModule = NativeModule {
    name: "_inspect",
    doc: "What only Rust knows of functions.",
    members: &[Member::Functions(FUNCTIONS)],
    aliases: &[],
};

static FUNCTIONS: &[NativeFn] = &[
    function(
        "parameters",
        "function",
        "(name, kind, default, whether there is one) of each parameter; kinds as inspect.Parameter numbers them. None: it is no function.",
        parameters,
    )
    .pure(),
    function("source", "function", "The text of a definition, or None.", source).pure(),
    function("kind", "object", "'function', 'generator', 'builtin' or ''.", kind).pure(),
];

const ONLY_POSITION: i64 = 0;
const BOTH: i64 = 1;
const REST: i64 = 2;
const ONLY_KEYWORD: i64 = 3;
const KEYWORDS: i64 = 4;

fn parameters(_cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(match &args[0] {
        Value::Func(func) => Value::list(of_function(func)),
        Value::Native(row) => Value::list(of_native(&row.params)),
        _ => Value::None,
    })
}

fn parameter(name: &str, kind: i64, default: Option<Value>) -> Value {
    let is_there = Value::Bool(default.is_some());
    Value::tuple([Value::str(name), Value::Int(kind), default.unwrap_or_default(), is_there])
}

fn of_function(func: &Func) -> Vec<Value> {
    let params = &func.code.params;
    let without = params.positional - func.defaults.len();
    let (positional, keyword) = params.names.split_at(params.positional);
    let mut found = Vec::new();
    for (at, name) in positional.iter().enumerate() {
        let kind = if at < params.positional_only { ONLY_POSITION } else { BOTH };
        let default = at.checked_sub(without).map(|it| func.defaults[it].clone());
        found.push(parameter(name.as_str(), kind, default));
    }
    let mut extra = func.code.locals.iter().skip(params.names.len());
    if params.has_rest
        && let Some(name) = extra.next()
    {
        found.push(parameter(name.as_str(), REST, None));
    }
    for (name, default) in keyword.iter().zip(&func.keyword_defaults) {
        let default = Some(default.clone()).filter(|it| !it.is_unbound());
        found.push(parameter(name.as_str(), ONLY_KEYWORD, default));
    }
    if params.has_keywords
        && let Some(name) = extra.next()
    {
        found.push(parameter(name.as_str(), KEYWORDS, None));
    }
    found
}

fn of_native(params: &NativeParams) -> Vec<Value> {
    let kind_of = |kind| match kind {
        Kind::PositionalOnly => ONLY_POSITION,
        Kind::Both => BOTH,
        Kind::Rest => REST,
        Kind::KeywordOnly => ONLY_KEYWORD,
        Kind::Keywords => KEYWORDS,
    };
    let each = params.list().iter().enumerate().map(|(at, it)| {
        let default = it.default.map(|_| params.default_of(at));
        parameter(it.name, kind_of(it.kind), default)
    });
    each.collect()
}

fn source(cx: &mut Cx, args: Args<'_>) -> Res {
    let Value::Func(func) = &args[0] else { return Ok(Value::None) };
    let text = cx.sources.get(func.code.span.source).map(|it| it.text.clone());
    let Some(text) = text else { return Ok(Value::None) };
    let (start, end) = (func.code.span.start as usize, func.code.span.end as usize);
    // Whole lines, as they stand in the cell.
    let start = text[..start.min(text.len())].rfind('\n').map_or(0, |it| it + 1);
    let end = text[end.min(text.len())..].find('\n').map_or(text.len(), |it| end + it);
    Ok(Value::str(format!("{}\n", &text[start..end])))
}

fn kind(_cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::str(match &args[0] {
        Value::Func(it) if it.code.is_generator => "generator",
        Value::Func(_) => "function",
        Value::Native(_) => "builtin",
        Value::Method(it) => match &it.func {
            Value::Native(_) => "builtin",
            _ => "method",
        },
        _ => "",
    }))
}

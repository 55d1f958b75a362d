//! Constructors of the built-in types, and the few methods that numbers, ranges and slices have.

use std::rc::Rc;

use crate::native::*;
use crate::objects::class::type_of;
use crate::objects::number::{self, float_repr, float_to_int};
use crate::objects::tensor::Look;
use crate::operate::text::str_repr;
use crate::patience::Pace;
use crate::python::proxy;
use crate::tensor::arith::several;
use crate::value::{Range, Slice};

/// `bool(x)`.
pub fn new_bool(cx: &mut Cx, args: Args<'_>) -> Res {
    cx.truth(&args[1]).map(Value::Bool)
}

/// `int(x, base)`.
pub fn new_int(cx: &mut Cx, args: Args<'_>) -> Res {
    if args.given(2) {
        let Some(text) = args[1].as_str() else {
            return Err(type_error("int() can't convert non-string with explicit base"));
        };
        return parse_int(text, args.int(2)?).map(Value::Int);
    }
    match args[1].core() {
        Value::Int(it) => Ok(Value::Int(*it)),
        Value::Bool(it) => Ok(Value::Int(*it as i64)),
        Value::Float(it) => float_to_int(*it).map(Value::Int),
        Value::Str(it) => parse_int(it, 10).map(Value::Int),
        _ => int_of_object(cx, &args[1]),
    }
}

const ONLY_ONE: &str = "only 0-dimensional arrays can be converted to Python scalars";

fn int_of_object(cx: &mut Cx, value: &Value) -> Res {
    for name in [Sym::INT, Sym::INDEX] {
        if let Some(result) = cx.call_special(value, name, &[])? {
            return Ok(result);
        }
    }
    if let Some(native) = value.as_native() {
        if let Some(int) = native.as_index() {
            return Ok(Value::Int(int));
        }
        if let Some(float) = native.as_float() {
            return float_to_int(float).map(Value::Int);
        }
    }
    if value.as_tensor().is_some_and(|it| it.look() == Look::Array) {
        return Err(type_error(ONLY_ONE));
    }
    if let Some(refused) = not_one_number(value, "int64_t") {
        return Err(refused);
    }
    Err(type_error(format!(
        "int() argument must be a string, a bytes-like object or a real number, not '{}'",
        type_name(value)
    )))
}

/// The error of a tensor of several elements, of none that is known, or of one that is not real, where a number of this type is needed.
fn not_one_number(value: &Value, wanted: &str) -> Option<Raised> {
    let tensor = value.as_tensor()?.get();
    let n = tensor.numel();
    if n == 1 && tensor.is_meta() {
        return Some(engine::Error::NoItem.into());
    }
    if n == 1 && tensor.dtype().is_complex() {
        let words = format!("value cannot be converted to type {wanted} without overflow");
        let help = "the number has an imaginary part: take `.real`, `.abs()`, or `complex(x)`";
        return Some(runtime_error(words).with_help(Some(help.to_owned())));
    }
    if n == 1 {
        // Of one that a graph under construction does not know yet, what `item()` says.
        return tensor.item().err().map(Raised::from);
    }
    let raised = || value_error("only one element tensors can be converted to Python scalars");
    Some(raised().with_help(Some(several(n))))
}

fn parse_int(text: &str, base: i64) -> Result<i64, Raised> {
    let invalid =
        || value_error(format!("invalid literal for int() with base {base}: {}", str_repr(text)));
    if base != 0 && !(2..=36).contains(&base) {
        return Err(value_error("int() base must be >= 2 and <= 36, or 0"));
    }
    let trimmed = text.trim();
    let (negative, digits) = match trimmed.strip_prefix(['-', '+']) {
        Some(digits) => (trimmed.starts_with('-'), digits),
        None => (false, trimmed),
    };
    let lower = digits.to_ascii_lowercase();
    let prefixes = [("0x", 16), ("0o", 8), ("0b", 2)];
    let prefixed = prefixes
        .into_iter()
        .find(|(prefix, radix)| (base == 0 || base == *radix) && lower.starts_with(prefix));
    let (digits, radix) = match prefixed {
        Some((_, radix)) => (&lower[2..], radix as u32),
        None => (&*lower, if base == 0 { 10 } else { base as u32 }),
    };
    let clean = digits.replace('_', "");
    let misplaced = digits.starts_with('_') || digits.ends_with('_') || digits.contains("__");
    if clean.is_empty() || misplaced || !clean.chars().all(|it| it.is_digit(radix)) {
        return Err(invalid());
    }
    let signed = if negative { format!("-{clean}") } else { clean };
    i64::from_str_radix(&signed, radix).map_err(|_| crate::objects::number::overflow())
}

/// `float(x)`.
pub fn new_float(cx: &mut Cx, args: Args<'_>) -> Res {
    if let Some(float) = args[1].as_float() {
        return Ok(Value::Float(float));
    }
    if let Some(text) = args[1].as_str() {
        return parse_float(text).map(Value::Float);
    }
    if let Some(result) = cx.call_special(&args[1], Sym::FLOAT, &[])? {
        return Ok(result);
    }
    if cx.has_special(&args[1], Sym::INDEX) {
        return cx.index(&args[1]).map(|it| Value::Float(it as f64));
    }
    match args[1].as_native().and_then(|it| it.as_float()) {
        Some(float) => Ok(Value::Float(float)),
        None if args[1].as_tensor().is_some_and(|it| it.look() == Look::Array) => {
            Err(type_error(ONLY_ONE))
        }
        None => Err(not_one_number(&args[1], "double").unwrap_or_else(|| {
            type_error(format!(
                "float() argument must be a string or a real number, not '{}'",
                type_name(&args[1])
            ))
        })),
    }
}

fn parse_float(text: &str) -> Result<f64, Raised> {
    let invalid = || value_error(format!("could not convert string to float: {}", str_repr(text)));
    let trimmed = text.trim();
    let misplaced = trimmed.starts_with('_') || trimmed.ends_with('_') || trimmed.contains("__");
    let clean = trimmed.replace('_', "");
    if clean.is_empty() || misplaced {
        return Err(invalid());
    }
    let float: f64 = clean.parse().map_err(|_| invalid())?;
    Ok(if float.is_nan() { number::new_nan().copysign(float) } else { float })
}

/// `str(object)`.
pub fn new_str(cx: &mut Cx, args: Args<'_>) -> Res {
    match &args[1] {
        Value::Str(_) => Ok(args[1].clone()),
        other => cx.str(other).map(Value::str),
    }
}

/// `list(iterable)`.
pub fn new_list(cx: &mut Cx, args: Args<'_>) -> Res {
    cx.collect(&args[1]).map(Value::list)
}

/// `tuple(iterable)`.
pub fn new_tuple(cx: &mut Cx, args: Args<'_>) -> Res {
    match &args[1] {
        Value::Tuple(_) => Ok(args[1].clone()),
        other => cx.collect(other).map(Value::tuple),
    }
}

/// `set(iterable)`.
pub fn new_set(cx: &mut Cx, args: Args<'_>) -> Res {
    let items = cx.collect(&args[1])?;
    Ok(Value::Set(Rc::new(Set::from_items(cx, items, false)?)))
}

/// `frozenset(iterable)`.
pub fn new_frozenset(cx: &mut Cx, args: Args<'_>) -> Res {
    let items = cx.collect(&args[1])?;
    Ok(Value::Set(Rc::new(Set::from_items(cx, items, true)?)))
}

/// `dict(source, **kw)`.
pub fn new_dict(cx: &mut Cx, args: Args<'_>) -> Res {
    let dict = Dict::default();
    fill_dict(cx, &dict, args)?;
    Ok(Value::Dict(Rc::new(dict)))
}

/// Adds the entries of `args[1]`, a mapping or pairs, and of the keywords `args[2]`.
fn fill_dict(cx: &mut Cx, dict: &Dict, args: Args<'_>) -> Result<(), Raised> {
    if args.given(1) {
        update_dict(cx, dict, &args[1])?;
    }
    for (key, value) in args.dict(2)?.items() {
        dict.insert(cx, key, value)?;
    }
    Ok(())
}

/// Adds the entries of a mapping, or of an iterable of pairs.
pub fn update_dict(cx: &mut Cx, dict: &Dict, source: &Value) -> Result<(), Raised> {
    if let Some(other) = source.as_dict() {
        let mut pace = Pace::default();
        for (key, value) in other.items() {
            pace.step(cx)?;
            dict.insert(cx, key, value)?;
        }
        return Ok(());
    }
    if let Some(keys) = cx.opt_getattr(source, Sym::new("keys"))? {
        let keys = cx.call(&keys, &[])?;
        for key in cx.collect(&keys)? {
            let value = cx.getitem(source, &key)?;
            dict.insert(cx, key, value)?;
        }
        return Ok(());
    }
    for (idx, item) in cx.collect(source)?.into_iter().enumerate() {
        let pair = cx.collect(&item).map_err(|_| {
            type_error(format!(
                "cannot convert dictionary update sequence element #{idx} to a sequence"
            ))
        })?;
        let [key, value] = pair.as_slice() else {
            return Err(value_error(format!(
                "dictionary update sequence element #{idx} has length {}; 2 is required",
                pair.len()
            )));
        };
        dict.insert(cx, key.clone(), value.clone())?;
    }
    Ok(())
}

/// `range(stop)` or `range(start, stop, step)`.
pub fn new_range(cx: &mut Cx, args: Args<'_>) -> Res {
    let first = cx.index(&args[1])?;
    let range = if args.given(2) {
        Range { start: first, stop: cx.index(&args[2])?, step: cx.index(&args[3])? }
    } else {
        Range { start: 0, stop: first, step: 1 }
    };
    if range.step == 0 {
        return Err(value_error("range() arg 3 must not be zero"));
    }
    Ok(Value::Range(range.into()))
}

/// `slice(stop)` or `slice(start, stop, step)`.
pub fn new_slice(_cx: &mut Cx, args: Args<'_>) -> Res {
    let slice = if args.given(2) {
        Slice::new(args[1].clone(), args[2].clone(), args[3].clone())
    } else {
        Slice::new(Value::None, args[1].clone(), Value::None)
    };
    Ok(Value::Slice(Rc::new(slice)))
}

/// `type(object)`, or `type(name, bases, dict)`.
pub fn new_type(cx: &mut Cx, args: Args<'_>) -> Res {
    if args.given(3) {
        return cx.class_of_parts(&args[1], &args[2], &args[3]);
    }
    if args.given(2) {
        return Err(type_error("type() takes 1 or 3 arguments"));
    }
    match proxy::of(&args[1]) {
        Some(proxy) => cx.python_type(proxy),
        None => Ok(Value::Class(type_of(&args[1]))),
    }
}

/// `object.__init__`, which `super().__init__()` may reach.
pub static OBJECT_INIT: NativeFn = function("__init__", "*args", "Does nothing.", object_nothing);

/// Methods of every object.
pub static OBJECT_METHODS: &[NativeFn] = &[
    function("__setattr__", "self, name, value, /", "Sets an attribute.", object_setattr),
    function("__delattr__", "self, name, /", "Deletes an attribute.", |cx, args| {
        cx.delattr_plainly(&args[0], Sym::new(args.str(1)?))?;
        Ok(Value::None)
    }),
    function("__init_subclass__", "", "Called for each class made of this one.", object_nothing),
];

fn object_setattr(cx: &mut Cx, args: Args<'_>) -> Res {
    cx.setattr_plainly(&args[0], Sym::new(args.str(1)?), args[2].clone())?;
    Ok(Value::None)
}

fn object_nothing(_cx: &mut Cx, _args: Args<'_>) -> Res {
    Ok(Value::None)
}

/// Methods of iterators.
pub static ITERATOR_METHODS: &[NativeFn] = &[
    function("__next__", "self", "The next item.", iterator_next),
    function("__iter__", "self", "The iterator itself.", iterator_iter),
];

fn iterator_next(cx: &mut Cx, args: Args<'_>) -> Res {
    cx.next(&args[0])?.ok_or_else(stop_iteration)
}

fn iterator_iter(_cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(args[0].clone())
}

/// Methods of `int`.
pub static INT_METHODS: &[NativeFn] = &[
    function("bit_length", "self", "Bits needed without sign.", bit_length).pure(),
    function("bit_count", "self", "Bits that are 1, without sign.", bit_count).pure(),
    function("conjugate", "self", "The number itself.", iterator_iter).pure(),
    function("is_integer", "self", "Always true.", int_is_integer).pure(),
    function("as_integer_ratio", "self", "The number and 1.", |_cx, args| {
        Ok(Value::tuple([Value::Int(args.int(0)?), Value::Int(1)]))
    })
    .pure(),
];

fn bit_length(_cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::Int(64 - args.int(0)?.unsigned_abs().leading_zeros() as i64))
}

fn bit_count(_cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::Int(args.int(0)?.unsigned_abs().count_ones() as i64))
}

fn int_is_integer(_cx: &mut Cx, _args: Args<'_>) -> Res {
    Ok(Value::Bool(true))
}

/// Methods of `float`.
pub static FLOAT_METHODS: &[NativeFn] = &[
    function("is_integer", "self", "True for whole numbers.", float_is_integer).pure(),
    function("conjugate", "self", "The number itself.", iterator_iter).pure(),
    function("as_integer_ratio", "self", "Two whole numbers.", as_integer_ratio).pure(),
    function("hex", "self", "Hexadecimal text.", float_hex).pure(),
];

fn float_is_integer(_cx: &mut Cx, args: Args<'_>) -> Res {
    let float = args.float(0)?;
    Ok(Value::Bool(float.is_finite() && float.fract() == 0.0))
}

fn as_integer_ratio(_cx: &mut Cx, args: Args<'_>) -> Res {
    let (mut top, mut bottom) = (args.float(0)?, 1i64);
    if !top.is_finite() {
        return Err(value_error("cannot convert NaN or infinity to integer ratio"));
    }
    while top.fract() != 0.0 {
        top *= 2.0;
        bottom = bottom.checked_mul(2).ok_or_else(crate::objects::number::overflow)?;
    }
    Ok(Value::tuple([Value::Int(float_to_int(top)?), Value::Int(bottom)]))
}

fn float_hex(_cx: &mut Cx, args: Args<'_>) -> Res {
    let float = args.float(0)?;
    if !float.is_finite() {
        return Ok(Value::str(float_repr(float)));
    }
    let bits = float.to_bits();
    let sign = if float.is_sign_negative() { "-" } else { "" };
    let (exponent, mantissa) = ((bits >> 52 & 0x7ff) as i64, bits & ((1 << 52) - 1));
    Ok(Value::str(match (exponent, mantissa) {
        (0, 0) => format!("{sign}0x0.0p+0"),
        (0, _) => format!("{sign}0x0.{mantissa:013x}p-1022"),
        _ => format!("{sign}0x1.{mantissa:013x}p{:+}", exponent - 1023),
    }))
}

/// Computed attributes of numbers.
pub static NUMBER_GETTERS: &[Getter] = &[
    Getter { name: "real", doc: "The number itself.", get: |_, it| Ok(it.clone()) },
    Getter { name: "imag", doc: "Zero.", get: |_, _| Ok(Value::Int(0)) },
];

/// `list.__init__`, for subclasses.
pub static LIST_INIT: &[NativeFn] =
    &[function("__init__", "self, iterable=(), /", "Fills the list.", init_list)];

fn init_list(cx: &mut Cx, args: Args<'_>) -> Res {
    let items = cx.collect(&args[1])?;
    args.list(0)?.replace(items);
    Ok(Value::None)
}

/// `dict.__init__`, for subclasses.
pub static DICT_INIT: &[NativeFn] =
    &[function("__init__", "self, source=..., /, **kw", "Fills the dict.", init_dict)];

fn init_dict(cx: &mut Cx, args: Args<'_>) -> Res {
    let dict = args.dict(0)?.clone();
    fill_dict(cx, &dict, args)?;
    Ok(Value::None)
}

/// `set.__init__`, for subclasses.
pub static SET_INIT: &[NativeFn] =
    &[function("__init__", "self, iterable=(), /", "Fills the set.", init_set)];

fn init_set(cx: &mut Cx, args: Args<'_>) -> Res {
    for item in cx.collect(&args[1])? {
        args.set(0)?.add(cx, item)?;
    }
    Ok(Value::None)
}

/// Methods of `range`.
pub static RANGE_METHODS: &[NativeFn] = &[
    function("index", "self, value, /", "The position of a value.", range_index).pure(),
    function("count", "self, value, /", "1 if the value is in the range.", range_count).pure(),
];

fn range_of(value: &Value) -> Result<Range, Raised> {
    match value {
        Value::Range(it) => Ok(***it),
        _ => Err(type_error(format!("expected range, got {}", type_name(value)))),
    }
}

fn range_index(cx: &mut Cx, args: Args<'_>) -> Res {
    let range = range_of(&args[0])?;
    match args[1].as_int() {
        Some(it) if range.contains(it) => Ok(Value::Int((it - range.start) / range.step)),
        _ => Err(value_error(format!("{} is not in range", cx.repr(&args[1])?))),
    }
}

fn range_count(_cx: &mut Cx, args: Args<'_>) -> Res {
    let range = range_of(&args[0])?;
    Ok(Value::Int(args[1].as_int().is_some_and(|it| range.contains(it)) as i64))
}

/// Computed attributes of `range`.
pub static RANGE_GETTERS: &[Getter] = &[
    Getter { name: "start", doc: "First item.", get: |_, it| Ok(Value::Int(range_of(it)?.start)) },
    Getter { name: "stop", doc: "The end.", get: |_, it| Ok(Value::Int(range_of(it)?.stop)) },
    Getter { name: "step", doc: "Distance.", get: |_, it| Ok(Value::Int(range_of(it)?.step)) },
];

fn slice_of(value: &Value) -> Result<&Slice, Raised> {
    match value {
        Value::Slice(it) => Ok(it),
        _ => Err(type_error(format!("expected slice, got {}", type_name(value)))),
    }
}

/// Computed attributes of `slice`.
pub static SLICE_GETTERS: &[Getter] = &[
    Getter { name: "start", doc: "The start.", get: |_, it| Ok(slice_of(it)?.start.clone()) },
    Getter { name: "stop", doc: "The end.", get: |_, it| Ok(slice_of(it)?.stop.clone()) },
    Getter { name: "step", doc: "The step.", get: |_, it| Ok(slice_of(it)?.step.clone()) },
];

/// Methods of `slice`.
pub static SLICE_METHODS: &[NativeFn] =
    &[function("indices", "self, len, /", "Start, stop, step for a length.", indices).pure()];

fn indices(cx: &mut Cx, args: Args<'_>) -> Res {
    let len =
        usize::try_from(args.int(1)?).map_err(|_| value_error("length should not be negative"))?;
    let range = cx.slice_range(slice_of(&args[0])?, len)?;
    Ok(Value::tuple([range.start, range.stop, range.step].map(Value::Int)))
}

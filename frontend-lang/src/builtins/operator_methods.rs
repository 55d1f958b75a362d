//! Operators of the built-in types as methods, for `(1).__add__`, `int.__eq__` and `super().__repr__()`.
//!
//! They are found only where a name is written out and nothing else of that name is there: operators themselves do not
//! come this way, so no lookup of theirs is longer for it.

use crate::array::object::NDARRAY;
use crate::builtins::special_methods::{CONTAINER, READ};
use crate::builtins::{numbers, tensor_operators, types};
use crate::native::*;
use crate::objects::class::row_of;
use crate::objects::dict_view;
use crate::operate::UnaryOp;
use crate::operate::binary::number_op;
use crate::tensor::methods::{PARAMETER, TENSOR};

/// The method `name` of a built-in type that stands for an operator.
pub(crate) fn find(row: &'static NativeType, name: Sym) -> Option<&'static NativeFn> {
    if name == Sym::HASH && UNHASHABLE.iter().any(|it| std::ptr::eq(*it, row)) {
        return None;
    }
    let is_own = |types: &[&'static NativeType]| types.iter().any(|it| std::ptr::eq(*it, row));
    let own = OPERATORS.iter().find(|it| is_own(it.0)).map_or(PLAIN, |it| it.1);
    own.iter().copied().flatten().find(|it| it.name == name.as_str())
}

type Families = &'static [&'static [NativeFn]];

/// Types and the operators that they have.
static OPERATORS: &[(&[&NativeType], Families)] = &[
    (&[&types::FLOAT], &[ARITHMETIC, ORDER, NUMBER, PARTS, ANY]),
    (&[&types::INT, &types::BOOL], &[ARITHMETIC, ORDER, NUMBER, PARTS, BITS, SHIFTS, WHOLE, ANY]),
    (&[&types::STR], &[SEQUENCE, ORDER, REST, ANY]),
    (&[&types::LIST], &[SEQUENCE, GROWING, BACKWARDS, ORDER, ANY]),
    (&[&types::TUPLE], &[SEQUENCE, ORDER, ANY]),
    (&[&types::SLICE], &[ORDER, ANY]),
    (&[&types::SET], &[BITS, BITS_IN_PLACE, DIFFERENCE, DIFFERENCE_IN_PLACE, ORDER, ANY]),
    (&[&types::FROZENSET], &[BITS, DIFFERENCE, ORDER, ANY]),
    (&[&types::DICT], &[UNITE, UNITE_IN_PLACE, BACKWARDS, UNORDERED, ANY]),
    (&[&types::RANGE], &[CONTAINER, READ, BACKWARDS, TRUTH, UNORDERED, ANY]),
    (&[&dict_view::KEYS, &dict_view::ITEMS], &[CONTAINER, BACKWARDS, VIEWS, ORDER, ANY]),
    (&[&dict_view::VALUES], &[SIZED, BACKWARDS, UNORDERED, ANY]),
    (&[&types::NONE_TYPE, &types::NOT_IMPLEMENTED_TYPE], &[TRUTH, UNORDERED, ANY]),
    (&[&types::FUNCTION], &[BOUND, UNORDERED, ANY]),
    (&[&TENSOR, &PARAMETER, &NDARRAY], tensor_operators::FAMILIES),
];

/// What every type has.
static PLAIN: Families = &[UNORDERED, ANY];

static UNHASHABLE: &[&NativeType] =
    &[&types::LIST, &types::DICT, &types::SET, &types::SLICE, &dict_view::KEYS, &dict_view::ITEMS];

macro_rules! operators {
    ($list:ident: $($name:literal $reflected:literal $op:ident $sign:literal;)*) => {
        static $list: &[NativeFn] = &[$(
            function($name, "self, value, /", concat!("`self ", $sign, " value`."), |cx, args| {
                arithmetic(cx, BinaryOp::$op, &args[0], &args[1])
            })
            .pure(),
            function($reflected, "self, value, /", concat!("`value ", $sign, " self`."), |cx, args| {
                arithmetic(cx, BinaryOp::$op, &args[1], &args[0])
            })
            .pure(),
        )*];
    };
}

operators! { ARITHMETIC:
    "__add__" "__radd__" Add "+";
    "__sub__" "__rsub__" Sub "-";
    "__mul__" "__rmul__" Mul "*";
    "__truediv__" "__rtruediv__" TrueDiv "/";
    "__floordiv__" "__rfloordiv__" FloorDiv "//";
    "__mod__" "__rmod__" Mod "%";
    "__pow__" "__rpow__" Pow "**";
}

operators! { SEQUENCE:
    "__add__" "__radd__" Add "+";
    "__mul__" "__rmul__" Mul "*";
}

operators! { REST: "__mod__" "__rmod__" Mod "%"; }

operators! { BITS:
    "__and__" "__rand__" And "&";
    "__or__" "__ror__" Or "|";
    "__xor__" "__rxor__" Xor "^";
}

operators! { DIFFERENCE: "__sub__" "__rsub__" Sub "-"; }

operators! { UNITE: "__or__" "__ror__" Or "|"; }

static WHOLE: &[NativeFn] = &[
    function("__index__", "self, /", "The number itself.", |_cx, args| {
        args[0].as_int().map(Value::Int).ok_or_else(|| type_error("not a whole number"))
    })
    .pure(),
    function("__invert__", "self, /", "`~self`.", |cx, args| {
        cx.unary(UnaryOp::Invert, args[0].core())
    })
    .pure(),
];

operators! { SHIFTS:
    "__lshift__" "__rlshift__" LShift "<<";
    "__rshift__" "__rrshift__" RShift ">>";
}

macro_rules! in_place {
    ($list:ident: $($name:literal $op:ident $sign:literal;)*) => {
        pub(super) static $list: &[NativeFn] = &[$(
            function($name, "self, value, /", concat!("`self ", $sign, "= value`."), |cx, args| {
                cx.inplace(BinaryOp::$op, &args[0], &args[1])
            }),
        )*];
    };
}

in_place! { GROWING: "__iadd__" Add "+"; "__imul__" Mul "*"; }

in_place! { BITS_IN_PLACE:
    "__iand__" And "&";
    "__ior__" Or "|";
    "__ixor__" Xor "^";
}

in_place! { DIFFERENCE_IN_PLACE: "__isub__" Sub "-"; }

in_place! { UNITE_IN_PLACE: "__ior__" Or "|"; }

macro_rules! of_views {
    ($($name:literal $reflected:literal $op:ident $sign:literal;)*) => {
        /// Operators of views of dicts, which are those of sets.
        static VIEWS: &[NativeFn] = &[$(
            function($name, "self, value, /", concat!("`self ", $sign, " value`."), |cx, args| {
                cx.binary(BinaryOp::$op, &args[0], &args[1])
            })
            .pure(),
            function($reflected, "self, value, /", concat!("`value ", $sign, " self`."), |cx, args| {
                cx.binary(BinaryOp::$op, &args[1], &args[0])
            })
            .pure(),
        )*];
    };
}

of_views! {
    "__and__" "__rand__" And "&";
    "__or__" "__ror__" Or "|";
    "__sub__" "__rsub__" Sub "-";
    "__xor__" "__rxor__" Xor "^";
}

/// What has no order says so.
static UNORDERED: &[NativeFn] = &[
    function("__lt__", "self, value, /", "`self < value`.", |_, _| Ok(Value::NotImplemented))
        .pure(),
    function("__le__", "self, value, /", "`self <= value`.", |_, _| Ok(Value::NotImplemented))
        .pure(),
    function("__gt__", "self, value, /", "`self > value`.", |_, _| Ok(Value::NotImplemented))
        .pure(),
    function("__ge__", "self, value, /", "`self >= value`.", |_, _| Ok(Value::NotImplemented))
        .pure(),
];

pub(super) static BACKWARDS: &[NativeFn] =
    &[function("__reversed__", "self, /", "`reversed(self)`.", |cx, args| {
        cx.reversed(args[0].core())
    })
    .pure()];

static TRUTH: &[NativeFn] = &[function("__bool__", "self, /", "`bool(self)`.", |cx, args| {
    cx.truth(args[0].core()).map(Value::Bool)
})
.pure()];

static SIZED: &[NativeFn] = &[
    function("__iter__", "self, /", "`iter(self)`.", |cx, args| cx.iter(&args[0])).pure(),
    function("__len__", "self, /", "`len(self)`.", |cx, args| cx.len(&args[0]).map(Value::from))
        .pure(),
];

static BOUND: &[NativeFn] =
    &[function("__get__", "self, instance, owner=None, /", "The method.", |_cx, args| {
        let (func, this) = (args[0].clone(), args[1].clone());
        Ok(if this.is_none() { func } else { Value::method(func, this) })
    })
    .pure()];

/// Parts of numbers, and numbers near them.
static PARTS: &[NativeFn] = &[
    function("__divmod__", "self, value, /", "`divmod(self, value)`.", |cx, args| {
        parts(cx, &args[0], &args[1])
    })
    .pure(),
    function("__rdivmod__", "self, value, /", "`divmod(value, self)`.", |cx, args| {
        parts(cx, &args[1], &args[0])
    })
    .pure(),
    function("__round__", "self, ndigits=None, /", "`round(self, ndigits)`.", |cx, args| {
        numbers::round_plain(cx, &[args[0].core().clone(), args[1].clone()])
    })
    .pure(),
    function("__trunc__", "self, /", "The whole part.", |_cx, args| whole(&args, f64::trunc))
        .pure(),
    function("__floor__", "self, /", "The next whole number below.", |_cx, args| {
        whole(&args, f64::floor)
    })
    .pure(),
    function("__ceil__", "self, /", "The next whole number above.", |_cx, args| {
        whole(&args, f64::ceil)
    })
    .pure(),
];

fn parts(cx: &mut Cx, a: &Value, b: &Value) -> Res {
    let (a, b) = (a.core(), b.core());
    if b.as_float().is_none() || a.as_float().is_none() {
        return Ok(Value::NotImplemented);
    }
    let (quotient, rest) = (cx.binary(BinaryOp::FloorDiv, a, b)?, cx.binary(BinaryOp::Mod, a, b)?);
    Ok(Value::tuple([quotient, rest]))
}

fn whole(args: &Args<'_>, near: fn(f64) -> f64) -> Res {
    match args[0].as_int() {
        Some(int) => Ok(Value::Int(int)),
        None => crate::objects::number::float_to_int(near(args.float(0)?)).map(Value::Int),
    }
}

static ORDER: &[NativeFn] = &[
    function("__lt__", "self, value, /", "`self < value`.", |cx, args| {
        order(cx, CompareOp::Lt, args)
    })
    .pure(),
    function("__le__", "self, value, /", "`self <= value`.", |cx, args| {
        order(cx, CompareOp::Le, args)
    })
    .pure(),
    function("__gt__", "self, value, /", "`self > value`.", |cx, args| {
        order(cx, CompareOp::Gt, args)
    })
    .pure(),
    function("__ge__", "self, value, /", "`self >= value`.", |cx, args| {
        order(cx, CompareOp::Ge, args)
    })
    .pure(),
];

static NUMBER: &[NativeFn] = &[
    function("__abs__", "self, /", "`abs(self)`.", |cx, args| {
        crate::operate::binary::abs(cx, args[0].core())
    })
    .pure(),
    function("__neg__", "self, /", "`-self`.", |cx, args| cx.unary(UnaryOp::Neg, args[0].core()))
        .pure(),
    function("__pos__", "self, /", "`+self`.", |cx, args| cx.unary(UnaryOp::Pos, args[0].core()))
        .pure(),
    function("__bool__", "self, /", "`bool(self)`.", |cx, args| {
        cx.truth(args[0].core()).map(Value::Bool)
    })
    .pure(),
    function("__float__", "self, /", "`float(self)`.", |_cx, args| args.float(0).map(Value::Float))
        .pure(),
    function("__int__", "self, /", "`int(self)`.", |_cx, args| match args[0].as_int() {
        Some(int) => Ok(Value::Int(int)),
        None => crate::objects::number::float_to_int(args.float(0)?).map(Value::Int),
    })
    .pure(),
];

static ANY: &[NativeFn] = &[
    function("__eq__", "self, value, /", "`self == value`.", equal).pure(),
    function("__ne__", "self, value, /", "`self != value`.", |cx, args| {
        Ok(match equal(cx, args)? {
            Value::Bool(same) => Value::Bool(!same),
            other => other,
        })
    })
    .pure(),
    function("__hash__", "self, /", "`hash(self)`.", |cx, args| match &args[0] {
        Value::Instance(it) if it.base.is_none() => {
            Ok(Value::Int((args[0].address().unwrap_or(0) >> 4) as i64))
        }
        other => cx.hash(other.core()).map(Value::Int),
    })
    .pure(),
    function("__format__", "self, format_spec, /", "`format(self, format_spec)`.", formatted)
        .pure(),
    function("__repr__", "self, /", "`repr(self)`.", |cx, args| cx.own_repr(&args[0])).pure(),
    function("__str__", "self, /", "`str(self)`.", |cx, args| match &args[0] {
        Value::Instance(it) if it.base.is_none() => cx.repr(&args[0]).map(Value::str),
        other => cx.str(other.core()).map(Value::str),
    })
    .pure(),
];

fn formatted(cx: &mut Cx, args: Args<'_>) -> Res {
    let spec = args.str(1)?;
    match args[0].core() {
        Value::Instance(_) if spec.is_empty() => cx.str(&args[0]).map(Value::str),
        Value::Instance(_) => Err(type_error(format!(
            "unsupported format string passed to {}.__format__",
            type_name(&args[0])
        ))),
        core => cx.format(core, spec).map(Value::str),
    }
}

fn arithmetic(cx: &mut Cx, op: BinaryOp, a: &Value, b: &Value) -> Res {
    let (a, b) = (a.core(), b.core());
    if let Some(result) = number_op(op, a, b) {
        return result;
    }
    Ok(cx.container_op(op, a, b)?.unwrap_or(Value::NotImplemented))
}

/// Whether the operators of the type of one know the other.
fn known(a: &Value, b: &Value) -> bool {
    let number = |it: &Value| it.as_float().is_some();
    let set = |it: &Value| it.as_set().is_some();
    number(a) && number(b) || set(a) && set(b) || std::ptr::eq(row_of(a), row_of(b))
}

fn order(cx: &mut Cx, op: CompareOp, args: Args<'_>) -> Res {
    let (a, b) = (args[0].core(), args[1].core());
    if known(a, b) { cx.compare(op, a, b) } else { Ok(Value::NotImplemented) }
}

fn equal(cx: &mut Cx, args: Args<'_>) -> Res {
    let (a, b) = (args[0].core(), args[1].core());
    match a {
        _ if args[0].is(&args[1]) => Ok(Value::Bool(true)),
        Value::Instance(_) => Ok(Value::NotImplemented),
        _ if known(a, b) => cx.eq(a, b).map(Value::Bool),
        _ => Ok(Value::NotImplemented),
    }
}

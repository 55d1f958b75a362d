//! Operators of the built-in types as methods, for `(1).__add__`, `int.__eq__` and `super().__repr__()`.
//!
//! They are found only where a name is written out and nothing else of that name is there: operators themselves do not
//! come this way, so no lookup of theirs is longer for it.

use crate::builtins::types;
use crate::native::*;
use crate::objects::class::row_of;
use crate::operate::UnaryOp;
use crate::operate::binary::number_op;

/// The method `name` of a built-in type that stands for an operator.
pub(crate) fn find(row: &'static NativeType, name: Sym) -> Option<&'static NativeFn> {
    let is = |other: &'static NativeType| std::ptr::eq(row, other);
    let number = is(&types::INT) || is(&types::BOOL) || is(&types::FLOAT);
    let families: &[&[NativeFn]] = if is(&types::FLOAT) {
        &[ARITHMETIC, ORDER, NUMBER, ANY]
    } else if number {
        &[ARITHMETIC, ORDER, NUMBER, BITS, WHOLE, ANY]
    } else if is(&types::STR) {
        &[SEQUENCE, ORDER, REST, ANY]
    } else if is(&types::LIST) || is(&types::TUPLE) {
        &[SEQUENCE, ORDER, ANY]
    } else if is(&types::SET) || is(&types::FROZENSET) {
        &[BITS, DIFFERENCE, ORDER, ANY]
    } else if is(&types::DICT) {
        &[UNITE, ANY]
    } else {
        &[ANY]
    };
    let unhashable = is(&types::LIST) || is(&types::DICT) || is(&types::SET);
    if unhashable && name == Sym::HASH {
        return None;
    }
    families.iter().copied().flatten().find(|it| it.name == name.as_str())
}

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

operators! { WHOLE:
    "__lshift__" "__rlshift__" LShift "<<";
    "__rshift__" "__rrshift__" RShift ">>";
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
    function("__repr__", "self, /", "`repr(self)`.", |cx, args| cx.own_repr(&args[0])).pure(),
    function("__str__", "self, /", "`str(self)`.", |cx, args| match &args[0] {
        Value::Instance(it) if it.base.is_none() => cx.repr(&args[0]).map(Value::str),
        other => cx.str(other.core()).map(Value::str),
    })
    .pure(),
];

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

//! Operators of tensors and arrays as methods, for `x.__len__()`, `torch.Tensor.__add__` and `hasattr(x, "__iter__")`.

use crate::array::make;
use crate::builtins::operator_methods::BACKWARDS;
use crate::builtins::special_methods::{CONTAINER, READ, WRITE};
use crate::builtins::types;
use crate::native::*;
use crate::objects::class::class_of;
use crate::operate::UnaryOp;

pub(super) static FAMILIES: &[&[NativeFn]] =
    &[PAIRS, COMPARED, ALONE, CONTAINER, READ, WRITE, BACKWARDS, OBJECT];

macro_rules! pairs {
    ($($name:literal $reflected:literal $in_place:literal $op:ident $sign:literal;)*) => {
        static PAIRS: &[NativeFn] = &[$(
            function($name, "self, value, /", concat!("`self ", $sign, " value`."), |cx, args| {
                cx.binary(BinaryOp::$op, &args[0], &args[1])
            })
            .pure(),
            function($reflected, "self, value, /", concat!("`value ", $sign, " self`."), |cx, args| {
                cx.binary(BinaryOp::$op, &args[1], &args[0])
            })
            .pure(),
            function($in_place, "self, value, /", concat!("`self ", $sign, "= value`."), |cx, args| {
                cx.inplace(BinaryOp::$op, &args[0], &args[1])
            }),
        )*];
    };
}

pairs! {
    "__add__" "__radd__" "__iadd__" Add "+";
    "__sub__" "__rsub__" "__isub__" Sub "-";
    "__mul__" "__rmul__" "__imul__" Mul "*";
    "__truediv__" "__rtruediv__" "__itruediv__" TrueDiv "/";
    "__floordiv__" "__rfloordiv__" "__ifloordiv__" FloorDiv "//";
    "__mod__" "__rmod__" "__imod__" Mod "%";
    "__pow__" "__rpow__" "__ipow__" Pow "**";
    "__matmul__" "__rmatmul__" "__imatmul__" MatMul "@";
    "__and__" "__rand__" "__iand__" And "&";
    "__or__" "__ror__" "__ior__" Or "|";
    "__xor__" "__rxor__" "__ixor__" Xor "^";
    "__lshift__" "__rlshift__" "__ilshift__" LShift "<<";
    "__rshift__" "__rrshift__" "__irshift__" RShift ">>";
}

macro_rules! compared {
    ($($name:literal $op:ident $sign:literal;)*) => {
        static COMPARED: &[NativeFn] = &[$(
            function($name, "self, value, /", concat!("`self ", $sign, " value`."), |cx, args| {
                cx.compare(CompareOp::$op, &args[0], &args[1])
            })
            .pure(),
        )*];
    };
}

compared! {
    "__eq__" Eq "==";
    "__ne__" Ne "!=";
    "__lt__" Lt "<";
    "__le__" Le "<=";
    "__gt__" Gt ">";
    "__ge__" Ge ">=";
}

static ALONE: &[NativeFn] = &[
    function("__abs__", "self, /", "`abs(self)`.", |cx, args| {
        crate::operate::binary::abs(cx, &args[0])
    })
    .pure(),
    function("__neg__", "self, /", "`-self`.", |cx, args| cx.unary(UnaryOp::Neg, &args[0])).pure(),
    function("__pos__", "self, /", "`+self`.", |cx, args| cx.unary(UnaryOp::Pos, &args[0])).pure(),
    function("__invert__", "self, /", "`~self`.", |cx, args| cx.unary(UnaryOp::Invert, &args[0]))
        .pure(),
    function("__bool__", "self, /", "`bool(self)`.", |cx, args| {
        cx.truth(&args[0]).map(Value::Bool)
    })
    .pure(),
    function("__float__", "self, /", "`float(self)`.", |cx, args| {
        as_number(cx, args, &types::FLOAT)
    })
    .pure(),
    function("__int__", "self, /", "`int(self)`.", |cx, args| as_number(cx, args, &types::INT))
        .pure(),
    function("__index__", "self, /", "The whole number that it is.", |cx, args| {
        cx.index(&args[0]).map(Value::Int)
    })
    .pure(),
];

static OBJECT: &[NativeFn] = &[
    function("__array__", "self, dtype=None, /", "The elements as an array.", |cx, args| {
        let dtype = crate::array::dtype::optional(&args[1])?;
        make::asarray(cx, &args[0], dtype)
    })
    .pure(),
    function("__format__", "self, format_spec, /", "`format(self, format_spec)`.", |cx, args| {
        cx.format(&args[0], args.str(1)?).map(Value::str)
    })
    .pure(),
    function("__hash__", "self, /", "`hash(self)`.", |cx, args| cx.hash(&args[0]).map(Value::Int))
        .pure(),
    function("__str__", "self, /", "`str(self)`.", |cx, args| cx.str(&args[0]).map(Value::str))
        .pure(),
];

fn as_number(cx: &mut Cx, args: Args<'_>, kind: &'static NativeType) -> Res {
    cx.call(&Value::Class(class_of(kind)), &[args[0].clone()])
}

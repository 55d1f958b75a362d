//! Operators of NumPy's numbers: computed in the dtype that both have in common, where a plain number only gives its kind.

use engine::{DType, Number};

use super::{dtype, scalar};
use crate::native::*;
use crate::objects::number::float_divmod;
use crate::operate::compare::simple_compare;
use crate::tensor::convert::as_number;

macro_rules! both_ways {
    ($($op:ident $name:literal $reflected:literal,)*) => {
        &[
            $(
                function($name, "self, other, /", "The operator.", |_cx, args| {
                    binary(BinaryOp::$op, &args[0], &args[1])
                })
                .pure(),
                function($reflected, "self, other, /", "The operator, from the right.", |_cx, args| {
                    binary(BinaryOp::$op, &args[1], &args[0])
                })
                .pure(),
            )*
            function("__eq__", "self, other, /", "Equal.", |_cx, args| compare(CompareOp::Eq, args)).pure(),
            function("__ne__", "self, other, /", "Not equal.", |_cx, args| compare(CompareOp::Ne, args)).pure(),
            function("__lt__", "self, other, /", "Less.", |_cx, args| compare(CompareOp::Lt, args)).pure(),
            function("__le__", "self, other, /", "Not more.", |_cx, args| compare(CompareOp::Le, args)).pure(),
            function("__gt__", "self, other, /", "More.", |_cx, args| compare(CompareOp::Gt, args)).pure(),
            function("__ge__", "self, other, /", "Not less.", |_cx, args| compare(CompareOp::Ge, args)).pure(),
            function("__neg__", "self, /", "Negative.", negative).pure(),
            function("__pos__", "self, /", "Itself.", |_cx, args| Ok(args[0].clone())).pure(),
            function("__invert__", "self, /", "All bits turned.", inverted).pure(),
            function("__abs__", "self, /", "Without its sign.", absolute).pure(),
            function("__round__", "self, ndigits=None, /", "Rounded, halves to even.", rounded).pure(),
            function("__divmod__", "self, other, /", "Quotient and rest.", |_cx, args| {
                let quotient = binary(BinaryOp::FloorDiv, &args[0], &args[1])?;
                Ok(Value::tuple([quotient, binary(BinaryOp::Mod, &args[0], &args[1])?]))
            })
            .pure(),
        ]
    };
}

/// The operators, as methods.
pub static OPERATORS: &[NativeFn] = both_ways! {
    Add "__add__" "__radd__",
    Sub "__sub__" "__rsub__",
    Mul "__mul__" "__rmul__",
    TrueDiv "__truediv__" "__rtruediv__",
    FloorDiv "__floordiv__" "__rfloordiv__",
    Mod "__mod__" "__rmod__",
    Pow "__pow__" "__rpow__",
    LShift "__lshift__" "__rlshift__",
    RShift "__rshift__" "__rrshift__",
    And "__and__" "__rand__",
    Or "__or__" "__ror__",
    Xor "__xor__" "__rxor__",
};

/// A number as an operand: its dtype, or that of its kind if it is a plain one.
struct Side {
    number: Number,
    dtype: DType,
    weak: bool,
}

fn side(value: &Value) -> Option<Side> {
    let known = scalar::dtype_of(value);
    if known.is_none() && matches!(value, Value::Instance(_)) {
        return None;
    }
    let number = as_number(value)?;
    let dtype = known.unwrap_or(match number {
        Number::Bool(_) => DType::Bool,
        Number::Int(_) => DType::I64,
        Number::Float(_) => DType::F64,
        Number::Complex(..) => return None,
    });
    Some(Side { number, dtype, weak: known.is_none() })
}

/// The dtype that two operands are computed in; a weak one only gives its kind.
pub(crate) fn common(a: (DType, bool), b: (DType, bool)) -> DType {
    let (strong, weak) = match (a.1, b.1) {
        (false, true) => (a.0, b.0),
        (true, false) => (b.0, a.0),
        _ => return dtype::promote(a.0, b.0),
    };
    if !strong.is_float() && weak == DType::F64 {
        return weak;
    }
    if strong.is_bool() { weak } else { strong }
}

fn binary(op: BinaryOp, a: &Value, b: &Value) -> Res {
    let (Some(a), Some(b)) = (side(a), side(b)) else { return Ok(Value::NotImplemented) };
    let dtype = common((a.dtype, a.weak), (b.dtype, b.weak));
    if dtype.is_float() || op == BinaryOp::TrueDiv {
        let dtype = if dtype.is_float() { dtype } else { DType::F64 };
        return floats(op, dtype, a.number.as_f64(), b.number.as_f64());
    }
    let (x, y) = (a.number.as_i64(), b.number.as_i64());
    if dtype == DType::Bool
        && let Some(truth) = truths(op, x != 0, y != 0)?
    {
        return Ok(scalar::truth(truth));
    }
    for it in [&a, &b] {
        if it.weak {
            super::ufunc::check_fits(it.number, dtype)?;
        }
    }
    let dtype = if dtype == DType::Bool { DType::I64 } else { dtype };
    whole(op, x, y).map(|it| scalar::make(dtype, Number::Int(it)))
}

fn truths(op: BinaryOp, a: bool, b: bool) -> Result<Option<bool>, Raised> {
    Ok(Some(match op {
        BinaryOp::Add | BinaryOp::Or => a | b,
        BinaryOp::Mul | BinaryOp::And => a & b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::Sub => return Err(type_error(super::ufunc::NO_SUBTRACT)),
        _ => return Ok(None),
    }))
}

fn whole(op: BinaryOp, a: i64, b: i64) -> Result<i64, Raised> {
    Ok(match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::FloorDiv | BinaryOp::Mod if b == 0 => 0,
        BinaryOp::FloorDiv => {
            let quotient = a.wrapping_div(b);
            if a.wrapping_rem(b) != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient }
        }
        BinaryOp::Mod => {
            let rest = a.wrapping_rem(b);
            if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
        }
        BinaryOp::Pow if b < 0 => return Err(value_error(super::ufunc::NO_NEGATIVE_POWERS)),
        BinaryOp::Pow => a.wrapping_pow(b.min(u32::MAX.into()) as u32),
        BinaryOp::LShift if (0..64).contains(&b) => a << b,
        BinaryOp::LShift => 0,
        BinaryOp::RShift => a >> b.clamp(0, 63),
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::TrueDiv | BinaryOp::MatMul => 0,
    })
}

fn floats(op: BinaryOp, dtype: DType, a: f64, b: f64) -> Res {
    let (a, b) = (dtype.nearest(a), dtype.nearest(b));
    let value = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::TrueDiv => a / b,
        BinaryOp::FloorDiv if b == 0.0 => a / b,
        BinaryOp::FloorDiv => float_divmod(a, b)?.0,
        BinaryOp::Mod if b == 0.0 => f64::NAN,
        BinaryOp::Mod => float_divmod(a, b)?.1,
        BinaryOp::Pow => a.powf(b),
        _ => return Err(super::ufunc::no_such_types(op.method().as_str().trim_matches('_'))),
    };
    Ok(scalar::make(dtype, Number::Float(value)))
}

fn compare(op: CompareOp, args: Args<'_>) -> Res {
    if side(&args[1]).is_none() {
        return Ok(Value::NotImplemented);
    }
    let known = simple_compare(op, args[0].core(), args[1].core());
    Ok(known.map_or(Value::NotImplemented, scalar::truth))
}

fn of_same(value: &Value, number: Number) -> Res {
    Ok(scalar::make(scalar::dtype_of(value).unwrap_or(DType::F64), number))
}

fn negative(_cx: &mut Cx, args: Args<'_>) -> Res {
    match args[0].core() {
        Value::Bool(_) => Err(type_error(super::ufunc::NO_NEGATIVE)),
        Value::Int(it) => of_same(&args[0], Number::Int(it.wrapping_neg())),
        other => of_same(&args[0], Number::Float(-other.as_float().unwrap_or(0.0))),
    }
}

fn inverted(_cx: &mut Cx, args: Args<'_>) -> Res {
    match args[0].core() {
        Value::Bool(it) => Ok(scalar::truth(!it)),
        Value::Int(it) => of_same(&args[0], Number::Int(!it)),
        _ => Err(super::ufunc::no_such_types("invert")),
    }
}

fn absolute(_cx: &mut Cx, args: Args<'_>) -> Res {
    match args[0].core() {
        Value::Int(it) => of_same(&args[0], Number::Int(it.wrapping_abs())),
        Value::Float(it) => of_same(&args[0], Number::Float(it.abs())),
        _ => Ok(args[0].clone()),
    }
}

/// Without digits a plain int, as in NumPy; with digits, of the same dtype.
fn rounded(cx: &mut Cx, args: Args<'_>) -> Res {
    let core = args[0].core().clone();
    let Some(digits) = args.opt(1) else {
        return crate::builtins::numbers::round_plain(cx, &[core, Value::None]);
    };
    let plain = crate::builtins::numbers::round_plain(cx, &[core, digits.clone()])?;
    match as_number(&plain) {
        Some(number) => of_same(&args[0], number),
        None => Ok(plain),
    }
}

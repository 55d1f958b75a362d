//! Functions of numbers.

use crate::native::*;
use crate::objects::complex::Complex;
use crate::objects::number::{float_to_int, overflow, round_half_even};
use crate::operate::binary;
use crate::python::proxy;

/// Functions of numbers.
pub static FUNCTIONS: &[NativeFn] = &[
    function("abs", "x, /", "The absolute value.", abs).pure(),
    function("bin", "number, /", "Binary text.", bin).pure(),
    function("divmod", "x, y, /", "Quotient and rest.", divmod).pure(),
    function("hex", "number, /", "Hexadecimal text.", hex).pure(),
    function("oct", "number, /", "Octal text.", oct).pure(),
    function("pow", "base, exp, mod=None", "A power, modulo a number if given.", pow).pure(),
    function("round", "number, ndigits=None", "Rounds, halves to even.", round).pure(),
];

fn abs(cx: &mut Cx, args: Args<'_>) -> Res {
    if matches!(args[0], Value::Instance(_))
        && let Some(found) = cx.call_special(&args[0], Sym::ABS, &[])?
    {
        return Ok(found);
    }
    if let Some(found) = proxy::of(&args[0]) {
        let found = cx.call_python_special(found, Sym::ABS, &[])?;
        let words = || type_error(format!("bad operand type for abs(): '{}'", type_name(&args[0])));
        return found.ok_or_else(words);
    }
    if let Some(native) = args[0].as_native()
        && let Some(method) = native.getattr(cx, &args[0], Sym::new("abs"))?
    {
        return cx.call(&method, &[]);
    }
    if matches!(args[0], Value::Tensor(_) | Value::Object(_)) && !cx.has_special(&args[0], Sym::ABS)
    {
        return cx.call_method(&args[0], Sym::new("abs"), &[]);
    }
    binary::abs(cx, &args[0])
}

fn divmod(cx: &mut Cx, args: Args<'_>) -> Res {
    let (a, b) = (&args[0], &args[1]);
    let ways = [(a, b, "__divmod__"), (b, a, "__rdivmod__")];
    for (this, other, name) in ways {
        if let Value::Instance(_) = this
            && let Some(found) =
                cx.call_special(this, Sym::of(name), std::slice::from_ref(other))?
            && !matches!(found, Value::NotImplemented)
        {
            return Ok(found);
        }
    }
    let is_complex = |it: &Value| it.core().downcast::<Complex>().is_some();
    match (a.as_float(), b.as_float()) {
        _ if is_complex(a) || is_complex(b) => {
            return Err(binary::unsupported("divmod()", a, b));
        }
        (Some(_), Some(0.0)) if a.as_int().is_none() || b.as_int().is_none() => {
            return Err(zero_division("float divmod()"));
        }
        (Some(_), Some(_)) => {}
        _ if matches!(a.core(), Value::Instance(_) | Value::Object(_) | Value::Tensor(_)) => {}
        _ if matches!(b.core(), Value::Instance(_) | Value::Object(_) | Value::Tensor(_)) => {}
        _ => return Err(binary::unsupported("divmod()", a, b)),
    }
    let quotient = cx.binary(BinaryOp::FloorDiv, a, b)?;
    let rest = cx.binary(BinaryOp::Mod, &args[0], &args[1])?;
    Ok(Value::tuple([quotient, rest]))
}

fn pow(cx: &mut Cx, args: Args<'_>) -> Res {
    let Some(_) = args.opt(2) else {
        return cx.binary(BinaryOp::Pow, &args[0], &args[1]);
    };
    if let Value::Instance(_) = args[0]
        && let Some(power) = cx.call_special(&args[0], Sym::POW, &args.all()[1..])?
        && !matches!(power, Value::NotImplemented)
    {
        return Ok(power);
    }
    if args.all().iter().any(|it| matches!(it.core(), Value::Float(_))) {
        return Err(type_error("pow() 3rd argument not allowed unless all arguments are integers"));
    }
    let (mut base, mut exponent, modulus) = (args.int(0)?, args.int(1)?, args.int(2)?);
    if modulus == 0 {
        return Err(value_error("pow() 3rd argument cannot be 0"));
    }
    if exponent < 0 {
        let inverse = inverse(base, modulus);
        base =
            inverse.ok_or_else(|| value_error("base is not invertible for the given modulus"))?;
        exponent = exponent.checked_neg().ok_or_else(overflow)?;
    }
    let wide = modulus as i128;
    let (mut result, mut square, mut left) =
        (1i128 % wide, (base as i128).rem_euclid(wide.abs()), exponent);
    while left > 0 {
        if left & 1 == 1 {
            result = result * square % wide;
        }
        square = square * square % wide;
        left >>= 1;
    }
    if result != 0 && (result < 0) != (wide < 0) {
        result += wide;
    }
    Ok(Value::Int(result as i64))
}

/// What times `base` leaves 1 when divided by `modulus`.
fn inverse(base: i64, modulus: i64) -> Option<i64> {
    let modulus = (modulus as i128).abs();
    let (mut old, mut rest) = ((base as i128).rem_euclid(modulus), modulus);
    let (mut found, mut next) = (1i128, 0i128);
    while rest != 0 {
        let quotient = old / rest;
        (old, rest) = (rest, old - quotient * rest);
        (found, next) = (next, found - quotient * next);
    }
    (old == 1).then(|| found.rem_euclid(modulus) as i64)
}

fn radix(cx: &mut Cx, args: Args<'_>, prefix: &str, text: fn(u64) -> String) -> Res {
    let int = cx.index(&args[0])?;
    let sign = if int < 0 { "-" } else { "" };
    Ok(Value::str(format!("{sign}{prefix}{}", text(int.unsigned_abs()))))
}

fn bin(cx: &mut Cx, args: Args<'_>) -> Res {
    radix(cx, args, "0b", |it| format!("{it:b}"))
}

fn oct(cx: &mut Cx, args: Args<'_>) -> Res {
    radix(cx, args, "0o", |it| format!("{it:o}"))
}

fn hex(cx: &mut Cx, args: Args<'_>) -> Res {
    radix(cx, args, "0x", |it| format!("{it:x}"))
}

/// As `round`, of values as they are.
pub(crate) fn round_plain(cx: &mut Cx, values: &[Value]) -> Res {
    round(cx, Args::new(values))
}

fn round(cx: &mut Cx, args: Args<'_>) -> Res {
    if matches!(args[0], Value::Instance(_)) && cx.has_special(&args[0], Sym::ROUND) {
        let extra: &[Value] = if args.opt(1).is_some() { &args.all()[1..] } else { &[] };
        return Ok(cx.call_special(&args[0], Sym::ROUND, extra)?.unwrap_or_default());
    }
    let digits = args.opt(1).map(|it| cx.index(it)).transpose()?;
    match (args[0].core(), digits) {
        (Value::Float(it), None) => float_to_int(round_half_even(*it)).map(Value::Int),
        (Value::Float(it), Some(digits)) => Ok(Value::Float(round_digits(*it, digits))),
        (Value::Int(_) | Value::Bool(_), None | Some(0..)) => args.int(0).map(Value::Int),
        (Value::Int(_) | Value::Bool(_), Some(digits)) => round_int(args.int(0)?, digits),
        _ => {
            let extra: &[Value] = if digits.is_some() { &args.all()[1..] } else { &[] };
            if let Some(result) = cx.call_special(&args[0], Sym::ROUND, extra)? {
                return Ok(result);
            }
            if args[0].as_native().is_some() && args[0].core().downcast::<Complex>().is_none() {
                return cx.call_method(&args[0], Sym::new("round"), extra);
            }
            Err(type_error(format!("type {} doesn't define __round__ method", type_name(&args[0]))))
        }
    }
}

/// Rounds by way of the exact decimal text, as CPython does.
fn round_digits(float: f64, digits: i64) -> f64 {
    if !float.is_finite() || digits > 300 {
        return float;
    }
    if digits < -308 {
        return 0f64.copysign(float);
    }
    if digits >= 0 {
        let text = format!("{float:.*}", digits as usize);
        return text.parse().unwrap_or(float);
    }
    let scale = 10f64.powi(-digits as i32);
    round_half_even(float / scale) * scale
}

fn round_int(int: i64, digits: i64) -> Res {
    let Some(scale) = u32::try_from(-digits).ok().and_then(|it| 10i64.checked_pow(it)) else {
        return Ok(Value::Int(0));
    };
    let rest = int.rem_euclid(scale);
    let low = int - rest;
    let up = rest * 2 > scale || (rest * 2 == scale && (low / scale) % 2 != 0);
    let rounded = if up { low.checked_add(scale) } else { Some(low) };
    rounded.map(Value::Int).ok_or_else(overflow)
}

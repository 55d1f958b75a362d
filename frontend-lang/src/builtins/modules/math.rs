//! `math`: functions of real numbers, with CPython's results and errors.

use std::f64::consts;

use engine::math as precise;

use crate::native::*;
use crate::objects::number::{float_to_int, overflow};
use crate::objects::special::{self, Fault, Outcome};

/// The module.
pub static MODULE: NativeModule = NativeModule {
    name: "math",
    doc: "Functions of real numbers.",
    members: &[
        Member::Float("e", consts::E),
        Member::Float("inf", f64::INFINITY),
        Member::Float("nan", f64::NAN),
        Member::Float("pi", consts::PI),
        Member::Float("tau", consts::TAU),
        Member::Functions(UNARY),
        Member::Functions(FUNCTIONS),
        Member::Functions(super::math_int::FUNCTIONS),
    ],
    aliases: &[],
};

fn domain() -> Raised {
    value_error("math domain error")
}

fn range() -> Raised {
    overflow_error("math range error")
}

/// CPython's rule for a function of the C library: no NaN from a number, no infinity from a finite
/// number.
fn checked(x: f64, y: f64, can_overflow: bool) -> Res {
    if y.is_nan() && !x.is_nan() {
        return Err(domain());
    }
    if y.is_infinite() && x.is_finite() {
        return Err(if can_overflow { range() } else { domain() });
    }
    Ok(Value::Float(y))
}

fn outcome(result: Outcome) -> Res {
    match result {
        Ok(float) => Ok(Value::Float(float)),
        Err(Fault::Domain) => Err(domain()),
        Err(Fault::Range) => Err(range()),
    }
}

/// A number, also from an object with `__float__`.
fn real(cx: &mut Cx, value: &Value) -> Result<f64, Raised> {
    if let Some(float) = value.as_float() {
        return Ok(float);
    }
    if let Some(float) = value.as_native().and_then(|it| it.as_float()) {
        return Ok(float);
    }
    match cx.call_special(value, Sym::FLOAT, &[])? {
        Some(float) => float.as_float().ok_or_else(|| not_real(&float)),
        None if cx.has_special(value, Sym::INDEX) => cx.index(value).map(|it| it as f64),
        None => Err(not_real(value)),
    }
}

fn not_real(value: &Value) -> Raised {
    type_error(format!("must be real number, not {}", type_name(value)))
}

macro_rules! unary {
    ($($name:ident, $doc:literal, $overflows:literal, $func:expr;)*) => {
        static UNARY: &[NativeFn] =
            &[$(function(stringify!($name), "x, /", $doc, unary::$name).pure()),*];
        mod unary {
            use super::*;
            $(pub(super) fn $name(cx: &mut Cx, args: Args<'_>) -> Res {
                let x = real(cx, &args[0])?;
                let func: fn(f64) -> f64 = $func;
                checked(x, func(x), $overflows)
            })*
        }
    };
}

unary! {
    acos, "Arc cosine, in radians.", false, f64::acos;
    acosh, "Inverse hyperbolic cosine.", false, special::acosh;
    asin, "Arc sine, in radians.", false, f64::asin;
    asinh, "Inverse hyperbolic sine.", false, special::asinh;
    atan, "Arc tangent, in radians.", false, f64::atan;
    atanh, "Inverse hyperbolic tangent.", false, special::atanh;
    cbrt, "Cube root.", false, f64::cbrt;
    cos, "Cosine of an angle in radians.", false, f64::cos;
    cosh, "Hyperbolic cosine.", true, f64::cosh;
    erf, "Error function.", false, precise::erf;
    erfc, "Complementary error function.", false, precise::erfc;
    exp, "e to the power of x.", true, f64::exp;
    exp2, "2 to the power of x.", true, f64::exp2;
    expm1, "exp(x) - 1, exact near zero.", true, f64::exp_m1;
    fabs, "Absolute value as a float.", false, f64::abs;
    log10, "Logarithm to base 10.", false, f64::log10;
    log1p, "log(1 + x), exact near zero.", false, f64::ln_1p;
    log2, "Logarithm to base 2.", false, f64::log2;
    sin, "Sine of an angle in radians.", false, f64::sin;
    sinh, "Hyperbolic sine.", true, f64::sinh;
    sqrt, "Square root.", false, f64::sqrt;
    tan, "Tangent of an angle in radians.", false, f64::tan;
    tanh, "Hyperbolic tangent.", false, f64::tanh;
}

static FUNCTIONS: &[NativeFn] = &[
    function("atan2", "y, x, /", "The angle of the point (x, y).", atan2).pure(),
    function("ceil", "x, /", "The smallest integer that is not below x.", ceil).pure(),
    function("copysign", "x, y, /", "x with the sign of y.", copysign).pure(),
    function("degrees", "x, /", "Radians to degrees.", degrees).pure(),
    function("dist", "p, q, /", "The distance of two points.", dist),
    function("floor", "x, /", "The largest integer that is not above x.", floor).pure(),
    function("fmod", "x, y, /", "The rest of x / y, with the sign of x.", fmod).pure(),
    function("frexp", "x, /", "Mantissa and exponent.", frexp).pure(),
    function("fsum", "seq, /", "An exact sum, rounded once.", fsum),
    function("gamma", "x, /", "Gamma function.", gamma).pure(),
    function("hypot", "*coordinates", "Euclidean norm.", hypot).pure(),
    function(
        "isclose",
        "a, b, *, rel_tol=1e-09, abs_tol=0.0",
        "Whether two numbers are close.",
        isclose,
    )
    .pure(),
    function("isfinite", "x, /", "Neither infinite nor NaN.", isfinite).pure(),
    function("isinf", "x, /", "Whether x is infinite.", isinf).pure(),
    function("isnan", "x, /", "Whether x is NaN.", isnan).pure(),
    function("ldexp", "x, i, /", "x * 2**i.", ldexp).pure(),
    function("lgamma", "x, /", "Logarithm of the gamma function.", lgamma).pure(),
    function("log", "x, base=..., /", "Logarithm, natural without base.", log).pure(),
    function("modf", "x, /", "Fractional and whole part.", modf).pure(),
    function("nextafter", "x, y, /", "The next float after x towards y.", nextafter).pure(),
    function("pow", "x, y, /", "x to the power of y, as floats.", pow).pure(),
    function("radians", "x, /", "Degrees to radians.", radians).pure(),
    function("remainder", "x, y, /", "IEEE remainder.", remainder).pure(),
    function("trunc", "x, /", "The integer towards zero.", trunc).pure(),
    function("ulp", "x, /", "The value of the last bit.", ulp).pure(),
];

fn two(cx: &mut Cx, args: Args<'_>) -> Result<(f64, f64), Raised> {
    Ok((real(cx, &args[0])?, real(cx, &args[1])?))
}

fn atan2(cx: &mut Cx, args: Args<'_>) -> Res {
    let (y, x) = two(cx, args)?;
    Ok(Value::Float(y.atan2(x)))
}

fn copysign(cx: &mut Cx, args: Args<'_>) -> Res {
    let (x, y) = two(cx, args)?;
    Ok(Value::Float(x.copysign(y)))
}

fn degrees(cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::Float(real(cx, &args[0])? * (180.0 / consts::PI)))
}

fn radians(cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::Float(real(cx, &args[0])? * (consts::PI / 180.0)))
}

fn whole(cx: &mut Cx, value: &Value, method: &str, round: fn(f64) -> f64) -> Res {
    if let Some(int) = value.as_int() {
        return Ok(Value::Int(int));
    }
    if let Some(result) = cx.call_special(value, Sym::new(method), &[])? {
        return Ok(result);
    }
    float_to_int(round(real(cx, value)?)).map(Value::Int)
}

fn ceil(cx: &mut Cx, args: Args<'_>) -> Res {
    whole(cx, &args[0], "__ceil__", f64::ceil)
}

fn floor(cx: &mut Cx, args: Args<'_>) -> Res {
    whole(cx, &args[0], "__floor__", f64::floor)
}

fn trunc(cx: &mut Cx, args: Args<'_>) -> Res {
    if let Value::Str(_) | Value::List(_) | Value::None = &args[0] {
        let name = type_name(&args[0]);
        return Err(type_error(format!("type {name} doesn't define __trunc__ method")));
    }
    whole(cx, &args[0], "__trunc__", f64::trunc)
}

fn fmod(cx: &mut Cx, args: Args<'_>) -> Res {
    let (x, y) = two(cx, args)?;
    let rest = x % y;
    if rest.is_nan() && !x.is_nan() && !y.is_nan() {
        return Err(domain());
    }
    Ok(Value::Float(rest))
}

fn remainder(cx: &mut Cx, args: Args<'_>) -> Res {
    let (x, y) = two(cx, args)?;
    if x.is_nan() || y.is_nan() {
        return Ok(Value::Float(f64::NAN));
    }
    if x.is_infinite() || y == 0.0 {
        return Err(domain());
    }
    if y.is_infinite() {
        return Ok(Value::Float(x));
    }
    let (a, b) = (x.abs(), y.abs());
    let m = a % b;
    let c = b - m;
    let r = if m < c {
        m
    } else if m > c {
        -c
    } else {
        m - 2.0 * ((0.5 * (a - m)) % b)
    };
    Ok(Value::Float(1f64.copysign(x) * r))
}

fn frexp(cx: &mut Cx, args: Args<'_>) -> Res {
    let (mantissa, exponent) = special::frexp(real(cx, &args[0])?);
    Ok(Value::tuple([Value::Float(mantissa), Value::Int(exponent.into())]))
}

fn ldexp(cx: &mut Cx, args: Args<'_>) -> Res {
    outcome(special::ldexp(real(cx, &args[0])?, args.int(1)?))
}

fn modf(cx: &mut Cx, args: Args<'_>) -> Res {
    let x = real(cx, &args[0])?;
    let whole = x.trunc();
    let fraction = if x.is_infinite() { 0.0 } else { x - whole };
    let fraction = if x.is_nan() { x } else { fraction.copysign(x) };
    Ok(Value::tuple([Value::Float(fraction), Value::Float(whole)]))
}

fn gamma(cx: &mut Cx, args: Args<'_>) -> Res {
    outcome(special::gamma(real(cx, &args[0])?))
}

fn lgamma(cx: &mut Cx, args: Args<'_>) -> Res {
    outcome(special::ln_gamma(real(cx, &args[0])?))
}

fn log(cx: &mut Cx, args: Args<'_>) -> Res {
    let x = real(cx, &args[0])?;
    let top = checked(x, x.ln(), false)?;
    if !args.given(1) {
        return Ok(top);
    }
    let base = real(cx, &args[1])?;
    let bottom = checked(base, base.ln(), false)?;
    match (top.as_float(), bottom.as_float()) {
        (_, Some(0.0)) => Err(zero_division("float division by zero")),
        (Some(top), Some(bottom)) => Ok(Value::Float(top / bottom)),
        _ => Err(domain()),
    }
}

fn pow(cx: &mut Cx, args: Args<'_>) -> Res {
    let (x, y) = two(cx, args)?;
    let power = x.powf(y);
    if x.is_finite() && y.is_finite() {
        if power.is_nan() {
            return Err(domain());
        }
        if power.is_infinite() {
            return Err(if x == 0.0 { domain() } else { range() });
        }
    }
    Ok(Value::Float(power))
}

fn nextafter(cx: &mut Cx, args: Args<'_>) -> Res {
    let (x, y) = two(cx, args)?;
    let next = if x.is_nan() || y.is_nan() {
        f64::NAN
    } else if x == y {
        y
    } else if y > x {
        x.next_up()
    } else {
        x.next_down()
    };
    Ok(Value::Float(next))
}

fn ulp(cx: &mut Cx, args: Args<'_>) -> Res {
    let x = real(cx, &args[0])?.abs();
    if !x.is_finite() {
        return Ok(Value::Float(x));
    }
    let above = x.next_up();
    Ok(Value::Float(if above.is_infinite() { x - x.next_down() } else { above - x }))
}

fn isfinite(cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::Bool(real(cx, &args[0])?.is_finite()))
}

fn isinf(cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::Bool(real(cx, &args[0])?.is_infinite()))
}

fn isnan(cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::Bool(real(cx, &args[0])?.is_nan()))
}

fn isclose(cx: &mut Cx, args: Args<'_>) -> Res {
    let (a, b) = two(cx, args)?;
    let (relative, absolute) = (real(cx, &args[2])?, real(cx, &args[3])?);
    if relative < 0.0 || absolute < 0.0 {
        return Err(value_error("tolerances must be non-negative"));
    }
    if a == b {
        return Ok(Value::Bool(true));
    }
    if a.is_infinite() || b.is_infinite() {
        return Ok(Value::Bool(false));
    }
    let apart = (b - a).abs();
    let close = apart <= (relative * b).abs() || apart <= (relative * a).abs() || apart <= absolute;
    Ok(Value::Bool(close))
}

fn hypot(cx: &mut Cx, args: Args<'_>) -> Res {
    let mut coordinates = Vec::new();
    for it in args.rest(0) {
        coordinates.push(real(cx, it)?);
    }
    Ok(Value::Float(special::norm(&coordinates)))
}

fn dist(cx: &mut Cx, args: Args<'_>) -> Res {
    let (p, q) = (cx.collect(&args[0])?, cx.collect(&args[1])?);
    if p.len() != q.len() {
        return Err(value_error("both points must have the same number of dimensions"));
    }
    let mut differences = Vec::with_capacity(p.len());
    for (p, q) in p.iter().zip(&q) {
        differences.push(real(cx, p)? - real(cx, q)?);
    }
    Ok(Value::Float(special::norm(&differences)))
}

fn fsum(cx: &mut Cx, args: Args<'_>) -> Res {
    let (mut partials, mut infinite, mut not_number) = (Vec::new(), 0.0, 0.0);
    for item in cx.collect(&args[0])? {
        let x = real(cx, &item)?;
        if x.is_finite() {
            special::exact_sum(&mut partials, x)
                .ok_or_else(|| overflow_error("intermediate overflow in fsum"))?;
        } else {
            infinite += if x.is_infinite() { x } else { 0.0 };
            not_number += x;
        }
    }
    if not_number != 0.0 {
        if f64::is_nan(infinite) {
            return Err(value_error("-inf + inf in fsum"));
        }
        return Ok(Value::Float(not_number));
    }
    Ok(Value::Float(special::exact_total(&partials)))
}

/// The error for integers past 64 bits, in the words of the module.
pub(super) fn too_large() -> Raised {
    overflow()
}

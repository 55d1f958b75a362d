//! `cmath`: functions of complex numbers, with CPython's results and errors. The functions themselves are in `objects/complex_math.rs`.

use std::f64::consts;

use crate::native::*;
use crate::objects::class::type_name;
use crate::objects::complex::{self, Complex};
use crate::objects::complex_math::Outcome;
use crate::objects::special::Fault;

/// The module.
pub static MODULE: NativeModule = NativeModule {
    name: "cmath",
    doc: "Functions of complex numbers.",
    members: &[
        Member::Float("e", consts::E),
        Member::Float("inf", f64::INFINITY),
        Member::Make("infj", |_| Ok(Complex { real: 0.0, imag: f64::INFINITY }.into())),
        Member::Float("nan", f64::NAN),
        Member::Make("nanj", |_| Ok(Complex { real: 0.0, imag: f64::NAN }.into())),
        Member::Float("pi", consts::PI),
        Member::Float("tau", consts::TAU),
        Member::Functions(UNARY),
        Member::Functions(FUNCTIONS),
    ],
    aliases: &[],
};

static FUNCTIONS: &[NativeFn] = &[
    function(
        "isclose",
        "a, b, *, rel_tol=1e-09, abs_tol=0.0",
        "Whether two numbers are close.",
        isclose,
    )
    .pure(),
    function("isfinite", "z, /", "Whether neither part is infinite or NaN.", isfinite).pure(),
    function("isinf", "z, /", "Whether a part is infinite.", isinf).pure(),
    function("isnan", "z, /", "Whether a part is NaN.", isnan).pure(),
    function("log", "z, base=..., /", "Logarithm, natural without base.", log).pure(),
    function("phase", "z, /", "The angle of a number, in radians.", phase).pure(),
    function("polar", "z, /", "The distance from 0 and the angle.", polar).pure(),
    function("rect", "r, phi, /", "The number of a distance from 0 and an angle.", rect).pure(),
];

macro_rules! unary {
    ($($name:ident, $doc:literal, $func:expr;)*) => {
        static UNARY: &[NativeFn] =
            &[$(function(stringify!($name), "z, /", $doc, unary::$name).pure()),*];
        mod unary {
            use super::*;
            $(pub(super) fn $name(cx: &mut Cx, args: Args<'_>) -> Res {
                let func: fn(Complex) -> Outcome = $func;
                raised(func(number(cx, &args[0])?)).map(Value::from)
            })*
        }
    };
}

unary! {
    acos, "Arc cosine.", |z| Ok(z.acos());
    acosh, "Inverse hyperbolic cosine.", |z| Ok(z.acosh());
    asin, "Arc sine.", |z| Ok(z.asin());
    asinh, "Inverse hyperbolic sine.", |z| Ok(z.asinh());
    atan, "Arc tangent.", Complex::atan;
    atanh, "Inverse hyperbolic tangent.", Complex::atanh;
    cos, "Cosine.", Complex::cos;
    cosh, "Hyperbolic cosine.", Complex::cosh;
    exp, "e to the power of z.", Complex::exp;
    log10, "Logarithm to base 10.", Complex::log10;
    sin, "Sine.", Complex::sin;
    sinh, "Hyperbolic sine.", Complex::sinh;
    sqrt, "Square root.", |z| Ok(z.sqrt());
    tan, "Tangent.", Complex::tan;
    tanh, "Hyperbolic tangent.", Complex::tanh;
}

fn domain() -> Raised {
    value_error("math domain error")
}

fn raised<T>(outcome: Result<T, Fault>) -> Result<T, Raised> {
    outcome.map_err(|it| match it {
        Fault::Domain => domain(),
        Fault::Range => overflow_error("math range error"),
    })
}

/// A number, also from an object with `__complex__`, `__float__` or `__index__`.
fn number(cx: &mut Cx, value: &Value) -> Result<Complex, Raised> {
    match complex::converted(cx, value)? {
        Some(number) => Ok(number),
        None => Err(not_real(value)),
    }
}

/// A number without an imaginary part.
fn real(cx: &mut Cx, value: &Value) -> Result<f64, Raised> {
    match value.core().downcast::<Complex>() {
        Some(_) => Err(not_real(value)),
        None => number(cx, value).map(|it| it.real),
    }
}

fn not_real(value: &Value) -> Raised {
    type_error(format!("must be real number, not {}", type_name(value)))
}

fn log(cx: &mut Cx, args: Args<'_>) -> Res {
    let top = number(cx, &args[0])?;
    if !args.given(1) {
        return raised(top.log()).map(Value::from);
    }
    let base = number(cx, &args[1])?;
    // Beside a base, 0 has a logarithm.
    let none = Complex { real: f64::NEG_INFINITY, imag: top.phase() };
    let (top, bottom) = (top.log().unwrap_or(none), raised(base.log())?);
    top.over(bottom).map(Value::from).map_err(|_| domain())
}

fn phase(cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::Float(number(cx, &args[0])?.phase()))
}

fn polar(cx: &mut Cx, args: Args<'_>) -> Res {
    let number = number(cx, &args[0])?;
    let size = number.abs().map_err(|_| overflow_error("math range error"))?;
    Ok(Value::tuple([Value::Float(size), Value::Float(number.phase())]))
}

fn rect(cx: &mut Cx, args: Args<'_>) -> Res {
    let (size, angle) = (real(cx, &args[0])?, real(cx, &args[1])?);
    raised(Complex::rect(size, angle)).map(Value::from)
}

fn isfinite(cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::Bool(number(cx, &args[0])?.is_finite()))
}

fn isinf(cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::Bool(number(cx, &args[0])?.is_infinite()))
}

fn isnan(cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::Bool(number(cx, &args[0])?.is_nan()))
}

fn isclose(cx: &mut Cx, args: Args<'_>) -> Res {
    let (a, b) = (number(cx, &args[0])?, number(cx, &args[1])?);
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
    let size = |it: Complex| it.real.hypot(it.imag);
    let apart = size(Complex { real: a.real - b.real, imag: a.imag - b.imag });
    let close = apart <= relative * size(b) || apart <= relative * size(a) || apart <= absolute;
    Ok(Value::Bool(close))
}

//! Python's integer and float arithmetic, and the text of numbers.

use std::cell::Cell;

use crate::error::{Raised, overflow_error, value_error, zero_division};

/// The error of an integer that does not fit into 64 bits.
pub fn overflow() -> Raised {
    overflow_error("integer result does not fit into 64 bits; use a float, or keep numbers smaller")
}

/// `a // b`, rounded towards minus infinity.
pub fn floor_div(a: i64, b: i64) -> Result<i64, Raised> {
    if b == 0 {
        return Err(zero_division("integer division or modulo by zero"));
    }
    let quotient = a.checked_div(b).ok_or_else(overflow)?;
    Ok(if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient })
}

/// `a % b`, with the sign of `b`.
pub fn floor_mod(a: i64, b: i64) -> Result<i64, Raised> {
    if b == 0 {
        return Err(zero_division("integer modulo by zero"));
    }
    let rest = a.wrapping_rem(b);
    Ok(if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest })
}

/// `a / b`.
pub fn true_div(a: f64, b: f64) -> Result<f64, Raised> {
    if b == 0.0 { Err(zero_division("division by zero")) } else { Ok(a / b) }
}

/// `a // b` and `a % b` of floats, as CPython computes them.
pub fn float_divmod(a: f64, b: f64) -> Result<(f64, f64), Raised> {
    if b == 0.0 {
        return Err(zero_division("float floor division by zero"));
    }
    let mut rest = a % b;
    let mut div = (a - rest) / b;
    if rest != 0.0 {
        if (b < 0.0) != (rest < 0.0) {
            rest += b;
            div -= 1.0;
        }
    } else {
        rest = 0f64.copysign(b);
    }
    let floor = if div != 0.0 {
        let floor = div.floor();
        if div - floor > 0.5 { floor + 1.0 } else { floor }
    } else {
        0f64.copysign(a / b)
    };
    Ok((floor, rest))
}

/// `base ** exponent` for a whole exponent that is not negative.
pub fn int_pow(base: i64, exponent: i64) -> Result<i64, Raised> {
    match base {
        0 | 1 => return Ok(if exponent == 0 { 1 } else { base }),
        -1 => return Ok(if exponent % 2 == 0 { 1 } else { -1 }),
        _ => {}
    }
    let exponent = u32::try_from(exponent).map_err(|_| overflow())?;
    base.checked_pow(exponent).ok_or_else(overflow)
}

/// `base ** exponent` of floats; of a number below 0 and a broken exponent it is NaN.
pub fn float_pow(base: f64, exponent: f64) -> Result<f64, Raised> {
    if base == 0.0 && exponent < 0.0 {
        return Err(zero_division("0.0 cannot be raised to a negative power"));
    }
    let power = base.powf(exponent);
    if power.is_infinite() && base.is_finite() && exponent.is_finite() {
        return Err(overflow_error("(34, 'Numerical result out of range')"));
    }
    Ok(power)
}

/// A NaN that is identical to no other. Floats are values here, so which NaN one is stands in its bits: `is` and containers look at them.
/// Arithmetic and text do not, and tensors get the plain one.
pub fn new_nan() -> f64 {
    const PAYLOAD: u64 = (1 << 51) - 1;
    let number = NANS.get() + 1;
    NANS.set(number);
    f64::from_bits(f64::NAN.to_bits() | (number & PAYLOAD))
}

thread_local! {
    static NANS: Cell<u64> = const { Cell::new(0) };
}

/// `int(float)`.
pub fn float_to_int(float: f64) -> Result<i64, Raised> {
    if float.is_nan() {
        return Err(value_error("cannot convert float NaN to integer"));
    }
    if float.is_infinite() {
        return Err(overflow_error("cannot convert float infinity to integer"));
    }
    let whole = float.trunc();
    let limit = 9_223_372_036_854_775_808.0;
    if (-limit..limit).contains(&whole) { Ok(whole as i64) } else { Err(overflow()) }
}

/// A text with fewer digits is the number itself, or nearer to it than any other of its length.
const LONG: usize = 15;
/// A number that lies halfway between two texts of that length is a whole number of parts of this size.
const TIES: f64 = (1 << 24) as f64;

/// `repr(float)`: the shortest text that reads back as the same number; of two that are equally near, the one with the even digit.
pub fn float_repr(float: f64) -> String {
    if float.is_nan() {
        return "nan".into();
    }
    if float.is_infinite() {
        return if float > 0.0 { "inf".into() } else { "-inf".into() };
    }
    if float == 0.0 || (1e-4..1e16).contains(&float.abs()) {
        let text = format!("{float}");
        let Some((whole, decimals)) = text.split_once('.') else { return text + ".0" };
        if whole.len() + decimals.len() < LONG || (float * TIES).fract() != 0.0 {
            return text;
        }
        let even = format!("{float:.*}", decimals.len());
        return if even.parse() == Ok(float) { even } else { text };
    }
    let mut text = format!("{float:e}");
    if text.len() > LONG {
        let digits = text.bytes().take_while(|it| *it != b'e').filter(u8::is_ascii_digit).count();
        let even = format!("{float:.*e}", digits - 1);
        text = if even.parse() == Ok(float) { even } else { text };
    }
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = match exponent.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', exponent),
    };
    format!("{mantissa}e{sign}{digits:0>2}")
}

/// `round(float)` to a whole number, halves to even.
pub fn round_half_even(float: f64) -> f64 {
    float.round_ties_even()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_python_signs() {
        assert_eq!(floor_div(-7, 2).ok(), Some(-4));
        assert_eq!(floor_mod(-7, 2).ok(), Some(1));
        assert_eq!(floor_mod(7, -2).ok(), Some(-1));
        assert_eq!(float_divmod(-7.5, 2.0).ok(), Some((-4.0, 0.5)));
        assert!(floor_div(i64::MIN, -1).is_err());
    }

    #[test]
    fn halfway_goes_to_the_even_digit() {
        let texts = [4503599627370497.0 / 4.0, 1717351548170777.0 / 8.0, -4503599627370499.0 / 4.0]
            .map(float_repr);
        assert_eq!(texts, ["1125899906842624.2", "214668943521347.12", "-1125899906842624.8"]);
    }

    #[test]
    fn writes_floats_like_python() {
        let texts = [1e16, 1e-5, 0.1, 1e22, 123456789.125, -0.0, 1.5e300].map(float_repr);
        assert_eq!(texts, ["1e+16", "1e-05", "0.1", "1e+22", "123456789.125", "-0.0", "1.5e+300"]);
    }
}

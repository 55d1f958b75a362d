//! Functions on f64 that the standard library lacks: gamma functions, inverse hyperbolic functions, exact
//! sums (the error functions are the engine's). Formulas are those behind CPython's `math`, so that results agree.

#![expect(clippy::excessive_precision, reason = "coefficients stand as published")]

use std::f64::consts::{LN_2, PI};

/// A result, or why there is none.
pub type Outcome = Result<f64, Fault>;

/// Why a function of a number has no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    Domain,
    Range,
}

/// Inverse hyperbolic sine, after FreeBSD's `s_asinh.c`.
pub fn asinh(x: f64) -> f64 {
    let a = x.abs();
    if !x.is_finite() || a < 2f64.powi(-28) {
        return x;
    }
    let w = if a > 2f64.powi(28) {
        a.ln() + LN_2
    } else if a > 2.0 {
        (2.0 * a + 1.0 / ((x * x + 1.0).sqrt() + a)).ln()
    } else {
        let t = x * x;
        (a + t / (1.0 + (1.0 + t).sqrt())).ln_1p()
    };
    w.copysign(x)
}

/// Inverse hyperbolic cosine, after FreeBSD's `e_acosh.c`.
pub fn acosh(x: f64) -> f64 {
    if x < 1.0 || x.is_nan() {
        return f64::NAN;
    }
    if x > 2f64.powi(28) {
        return if x.is_infinite() { x } else { x.ln() + LN_2 };
    }
    if x > 2.0 {
        let t = x * x;
        return (2.0 * x - 1.0 / (x + (t - 1.0).sqrt())).ln();
    }
    let t = x - 1.0;
    (t + (2.0 * t + t * t).sqrt()).ln_1p()
}

/// Inverse hyperbolic tangent; infinite at 1 and -1.
pub fn atanh(x: f64) -> f64 {
    let a = x.abs();
    let y = if a < 2f64.powi(-28) {
        return x;
    } else if a < 0.5 {
        let t = a + a;
        0.5 * (t + t * a / (1.0 - a)).ln_1p()
    } else {
        0.5 * ((a + a) / (1.0 - a)).ln_1p()
    };
    y.copysign(x)
}

const LANCZOS_G: f64 = 6.024_680_040_776_729_5;
const LANCZOS_G_MINUS_HALF: f64 = 5.524_680_040_776_729_5;

fn horner(x: f64, coefficients: &[f64]) -> f64 {
    coefficients.iter().rev().fold(0.0, |acc, it| acc * x + it)
}

/// Lanczos's sum for the gamma function, with the 13 coefficients that CPython uses.
fn lanczos_sum(x: f64) -> f64 {
    const NUM: [f64; 13] = [
        23_531_376_880.410_76,
        42_919_803_642.649_1,
        35_711_959_237.355_67,
        17_921_034_426.037_21,
        6_039_542_586.352_028,
        1_439_720_407.311_721_6,
        248_874_557.862_054_17,
        31_426_415.585_400_194,
        2_876_370.628_935_372_5,
        186_056.265_395_223_48,
        8_071.672_002_365_816,
        210.824_277_751_579_36,
        2.506_628_274_631_000_2,
    ];
    const DEN: [f64; 13] = [
        0.0,
        39_916_800.0,
        120_543_840.0,
        150_917_976.0,
        105_258_076.0,
        45_995_730.0,
        13_339_535.0,
        2_637_558.0,
        357_423.0,
        32_670.0,
        1_925.0,
        66.0,
        1.0,
    ];
    if x < 5.0 {
        return horner(x, &NUM) / horner(x, &DEN);
    }
    let falling = |list: &[f64]| list.iter().fold(0.0, |acc, it| acc / x + it);
    falling(&NUM) / falling(&DEN)
}

/// `sin(pi x)`, exact at whole and half numbers.
fn sin_pi(x: f64) -> f64 {
    let y = x.abs() % 2.0;
    let r = match (2.0 * y).round() as i64 {
        0 => (PI * y).sin(),
        1 => (PI * (y - 0.5)).cos(),
        2 => (PI * (1.0 - y)).sin(),
        3 => -(PI * (y - 1.5)).cos(),
        _ => (PI * (y - 2.0)).sin(),
    };
    1f64.copysign(x) * r
}

/// The gamma function, by Lanczos's approximation as in CPython.
pub fn gamma(x: f64) -> Outcome {
    if !x.is_finite() {
        return if x == f64::NEG_INFINITY { Err(Fault::Domain) } else { Ok(x) };
    }
    let a = x.abs();
    if x.fract() == 0.0 {
        if x <= 0.0 {
            return Err(Fault::Domain);
        }
        if x <= 23.0 {
            return Ok((1..x as u32).map(f64::from).product());
        }
    }
    if a < 1e-20 {
        return finite(1.0 / x);
    }
    if a > 200.0 {
        return if x < 0.0 { Ok(0.0 / sin_pi(x)) } else { Err(Fault::Range) };
    }
    let y = a + LANCZOS_G_MINUS_HALF;
    let z = if a > LANCZOS_G_MINUS_HALF {
        (y - a) - LANCZOS_G_MINUS_HALF
    } else {
        (y - LANCZOS_G_MINUS_HALF) - a
    };
    let z = z * LANCZOS_G / y;
    if x < 0.0 {
        let mut r = -PI / sin_pi(a) / a * y.exp() / lanczos_sum(a);
        r -= z * r;
        return finite(if a < 140.0 {
            r / y.powf(a - 0.5)
        } else {
            let root = y.powf(a / 2.0 - 0.25);
            r / root / root
        });
    }
    let mut r = lanczos_sum(a) / y.exp();
    r += z * r;
    finite(if a < 140.0 {
        r * y.powf(a - 0.5)
    } else {
        let root = y.powf(a / 2.0 - 0.25);
        r * root * root
    })
}

fn finite(x: f64) -> Outcome {
    if x.is_infinite() { Err(Fault::Range) } else { Ok(x) }
}

/// The logarithm of the absolute value of the gamma function.
pub fn ln_gamma(x: f64) -> Outcome {
    if !x.is_finite() {
        return Ok(if x.is_nan() { x } else { f64::INFINITY });
    }
    if x.fract() == 0.0 && x <= 2.0 {
        return if x <= 0.0 { Err(Fault::Domain) } else { Ok(0.0) };
    }
    let a = x.abs();
    if a < 1e-20 {
        return Ok(-a.ln());
    }
    let mut r = lanczos_sum(a).ln() - LANCZOS_G;
    r += (a - 0.5) * ((a + LANCZOS_G - 0.5).ln() - 1.0);
    if x < 0.0 {
        // ln(pi)
        r = 1.144_729_885_849_400_2 - sin_pi(a).abs().ln() - a.ln() - r;
    }
    finite(r)
}

/// The Euclidean norm, scaled against overflow and corrected to almost the last bit.
pub fn norm(coordinates: &[f64]) -> f64 {
    let max = coordinates.iter().fold(0f64, |acc, it| acc.max(it.abs()));
    if max.is_infinite() {
        return max;
    }
    if coordinates.iter().any(|it| it.is_nan()) {
        return f64::NAN;
    }
    if max == 0.0 || coordinates.len() <= 1 {
        return max;
    }
    let (_, exponent) = frexp(max);
    if exponent <= -1023 {
        return max * norm(&coordinates.iter().map(|it| it / max).collect::<Vec<_>>());
    }
    let scale = ldexp(1.0, -i64::from(exponent)).unwrap_or(1.0);
    let mut sum = Corrected { sum: 1.0, rest: [0.0; 3] };
    for x in coordinates {
        let (high, low) = halves(x.abs() * scale);
        sum.add(0, high * high);
        sum.add(1, 2.0 * high * low);
        sum.rest[2] += low * low;
    }
    let root = sum.total().sqrt();
    let (high, low) = halves(root);
    sum.add(0, -high * high);
    sum.add(1, -2.0 * high * low);
    sum.add(2, -low * low);
    (root + sum.total() / (2.0 * root)) / scale
}

struct Corrected {
    sum: f64,
    rest: [f64; 3],
}

impl Corrected {
    fn add(&mut self, idx: usize, x: f64) {
        let old = self.sum;
        self.sum += x;
        self.rest[idx] += (old - self.sum) + x;
    }

    fn total(&self) -> f64 {
        self.sum - 1.0 + (self.rest[0] + self.rest[1] + self.rest[2])
    }
}

/// Veltkamp's split into two parts of at most 26 bits.
fn halves(x: f64) -> (f64, f64) {
    let t = x * 134_217_729.0;
    let high = t - (t - x);
    (high, x - high)
}

/// `x = m * 2**e` with `0.5 <= |m| < 1`.
pub fn frexp(x: f64) -> (f64, i32) {
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    let bits = x.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    if exponent == 0 {
        let (m, e) = frexp(x * 2f64.powi(64));
        return (m, e - 64);
    }
    let mantissa = f64::from_bits(bits & !(0x7ff << 52) | 1022 << 52);
    (mantissa, exponent - 1022)
}

/// `x * 2**exponent`, rounded once.
pub fn ldexp(x: f64, exponent: i64) -> Outcome {
    if x == 0.0 || !x.is_finite() {
        return Ok(x);
    }
    let mut exponent = exponent.clamp(-5000, 5000) as i32;
    let mut y = x;
    while exponent > 1000 {
        y *= 2f64.powi(1000);
        exponent -= 1000;
    }
    // Towards zero the last step alone may round, so it starts from a normal number.
    let (m, e) = frexp(y);
    if y.is_finite() && e + exponent < -1021 {
        if e + exponent < -1080 {
            return Ok(0f64.copysign(x));
        }
        let normal = m * 2f64.powi(-1000);
        return Ok(normal * 2f64.powi((e + exponent + 1000).max(-1022)));
    }
    if exponent < 0 {
        return Ok(m * 2f64.powi(e + exponent));
    }
    finite(y * 2f64.powi(exponent))
}

/// The sum of floats, rounded once (Shewchuk's partial sums); `None` on intermediate overflow.
pub fn exact_sum(partials: &mut Vec<f64>, x: f64) -> Option<()> {
    let mut x = x;
    let mut kept = 0;
    for idx in 0..partials.len() {
        let mut y = partials[idx];
        if x.abs() < y.abs() {
            std::mem::swap(&mut x, &mut y);
        }
        let high = x + y;
        let low = y - (high - x);
        if low != 0.0 {
            partials[kept] = low;
            kept += 1;
        }
        x = high;
    }
    partials.truncate(kept);
    if !x.is_finite() {
        return None;
    }
    if x != 0.0 {
        partials.push(x);
    }
    Some(())
}

/// The value of partial sums, with halves rounded to even.
pub fn exact_total(partials: &[f64]) -> f64 {
    let Some((last, mut rest)) = partials.split_last() else { return 0.0 };
    let (mut high, mut low) = (*last, 0.0);
    while let Some((next, before)) = rest.split_last() {
        let x = high;
        high = x + next;
        low = next - (high - x);
        rest = before;
        if low != 0.0 {
            break;
        }
    }
    let same_sign = rest.last().is_some_and(|it| (low < 0.0) == (*it < 0.0) && *it != 0.0);
    if low != 0.0 && same_sign {
        let y = low * 2.0;
        let x = high + y;
        if y == x - high {
            high = x;
        }
    }
    high
}

//! Functions of real numbers that the standard library lacks, from their definitions.

use std::f64::consts::{LN_2, PI};

/// `log(x + sqrt(x^2 - 1))`, from the distance to 1; NaN below.
pub(super) fn acosh(x: f64) -> f64 {
    let above = x - 1.0;
    match x {
        _ if x < 1.0 => f64::NAN,
        _ if x > 1e100 => x.ln() + LN_2,
        _ => (above + (above * (above + 2.0)).sqrt()).ln_1p(),
    }
}

/// `2 / sqrt(pi)` times the integral of `exp(-t^2)` from 0 to x.
pub(super) fn erf(x: f64) -> f64 {
    if x.abs() > 2.0 {
        return x.signum() * (1.0 - erfc(x.abs()));
    }
    // exp(-x^2) times the sum of 2^n x^(2n + 1) / (1 3 5 ... (2n + 1)), all terms of which have one sign.
    let (mut term, mut sum) = (x, x);
    for n in 1..200 {
        term *= 2.0 * x * x / f64::from(2 * n + 1);
        sum += term;
    }
    2.0 / PI.sqrt() * (-x * x).exp() * sum
}

/// `1 - erf(x)`.
pub(super) fn erfc(x: f64) -> f64 {
    if x.is_nan() || x < 0.5 {
        return 1.0 - erf(x);
    }
    if x > 30.0 {
        return 0.0;
    }
    // Laplace's continued fraction: exp(-x^2) / sqrt(pi) / (x + (1 / 2) / (x + (2 / 2) / (x + (3 / 2) / ...))), from its far end.
    let below = (1..2000).rev().fold(x, |below, n| x + f64::from(n) / 2.0 / below);
    let square = x * x;
    let rest = x.mul_add(x, -square);
    (-square).exp() * (1.0 - rest) / PI.sqrt() / below
}

/// The x whose erf is `y`, by halving the interval that it lies in; near 1 by what is missing there.
pub(super) fn erfinv(y: f64) -> f64 {
    if y.is_nan() || y.abs() > 1.0 {
        return f64::NAN;
    }
    if y == 0.0 || y.abs() == 1.0 {
        return y / (1.0 - y.abs());
    }
    let is_below = |x: f64| match y.abs() > 0.5 {
        true => erfc(x) > 1.0 - y.abs(),
        false => erf(x) < y.abs(),
    };
    let (mut low, mut high) = (0.0, 6.0);
    // As far as doubles go, also near 0, where there are more of them.
    for _ in 0..1100 {
        let middle = f64::midpoint(low, high);
        if middle == low || middle == high {
            break;
        }
        if is_below(middle) { low = middle } else { high = middle }
    }
    high.copysign(y)
}

/// The quotient rounded down, from what is left of the division, which is exact.
pub(super) fn floor_div(x: f64, y: f64) -> f64 {
    if y == 0.0 {
        return x / y;
    }
    let rest = x % y;
    let even = (x - rest) / y - f64::from(u8::from(rest != 0.0 && (rest < 0.0) != (y < 0.0)));
    if even == 0.0 { 0.0_f64.copysign(x / y) } else { even.round() }
}

/// What is left of a division rounded down: it has the sign of the divisor.
pub(super) fn remainder(x: f64, y: f64) -> f64 {
    let rest = x % y;
    if rest != 0.0 && (rest < 0.0) != (y < 0.0) { rest + y } else { rest }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values from mpmath.
    #[test]
    fn are_those_of_the_tables() {
        let close =
            |got: f64, want: f64| assert!((got - want).abs() <= 1e-15 * want.abs(), "{got} {want}");
        close(erf(0.5), 0.520_499_877_813_046_5);
        close(erf(1e-10), 1.128_379_167_095_512_6e-10);
        close(erfc(2.5), 0.000_406_952_017_444_958_9);
        close(erfc(1.0), 0.157_299_207_050_285_13);
        close(erfc(10.0), 2.088_487_583_762_545e-45);
        close(erfinv(0.25), 0.225_312_055_012_178_1);
    }
}

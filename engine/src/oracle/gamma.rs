//! The logarithm of the gamma function and its derivatives: around 2 the series of Taylor (DLMF 5.7.3 and 5.7.4), from 25 on that of Stirling,
//! and steps to these; below 0 by reflection.

use std::f64::consts::PI;
use std::sync::LazyLock;

/// Euler's constant.
const EULER: f64 = 0.577_215_664_901_532_9;
/// Bernoulli's numbers B[2], B[4], ...
const BERNOULLI: [f64; 8] = [
    1.0 / 6.0,
    -1.0 / 30.0,
    1.0 / 42.0,
    -1.0 / 30.0,
    5.0 / 66.0,
    -691.0 / 2730.0,
    7.0 / 6.0,
    -3617.0 / 510.0,
];
const FAR: f64 = 25.0;

/// The sum of Bernoulli's numbers, each by `weight` of its index (2, 4, ...).
fn series(weight: impl Fn(i32) -> f64) -> f64 {
    (1_i32..).zip(BERNOULLI).map(|(k, number)| number * weight(2 * k)).sum()
}

/// `zeta(k) - 1` for k from 2 on: the first terms, then the integral of the rest and Bernoulli's corrections (DLMF 25.2.9).
static ZETA: LazyLock<Vec<f64>> = LazyLock::new(|| {
    let of = |k: i32| {
        let (s, n) = (f64::from(k), 100.0_f64);
        let near: f64 = (2..100).rev().map(|it| f64::from(it).powi(-k)).sum();
        let power = n.powi(-k);
        let last = s * (s + 1.0) * (s + 2.0) * power / (720.0 * n.powi(3));
        near + (power * n / (s - 1.0) + power / 2.0 + s * power / (12.0 * n) - last)
    };
    (2..60).map(of).collect()
});

/// The sum of `(zeta(k) - 1) (-z)^k` by `weight` of k.
fn taylor(z: f64, weight: impl Fn(f64) -> f64) -> f64 {
    let terms =
        ZETA.iter().zip(2_i32..60).map(|(zeta, k)| zeta * (-z).powi(k) * weight(f64::from(k)));
    terms.rev().sum()
}

/// What lies between the number between 1.5 and 2.5 that is whole steps below x, and x.
fn steps(x: f64) -> impl Iterator<Item = f64> {
    let count = (x - 1.5).floor() as u32;
    (1..=count).map(move |at| x - f64::from(at))
}

/// `lgamma(2 + z)` for z of 1/2 at most.
fn lgamma_near(z: f64) -> f64 {
    z * (1.0 - EULER) + taylor(z, f64::recip)
}

fn is_pole(x: f64) -> bool {
    x <= 0.0 && x == x.floor()
}

/// `sin(pi x)` and `cos(pi x)` but for their sign.
fn turns(x: f64) -> (f64, f64) {
    ((x - x.round()) * PI).sin_cos()
}

pub(super) fn lgamma(x: f64) -> f64 {
    match x {
        _ if is_pole(x) || x == f64::INFINITY => f64::INFINITY,
        _ if x < 0.0 => -(turns(x).0.abs() / PI).ln() - lgamma(1.0 - x),
        _ if x < 0.5 => lgamma(x + 1.0) - x.ln(),
        _ if x < 1.5 => lgamma_near(x - 1.0) - (x - 1.0).ln_1p(),
        _ if x < FAR => {
            lgamma_near(x - steps(x).count() as f64 - 2.0) + steps(x).map(f64::ln).sum::<f64>()
        }
        _ => {
            let tail = series(|n| x.powi(1 - n) / f64::from(n * (n - 1)));
            (x - 0.5) * (x.ln() - 1.0) + (0.5 * (2.0 * PI).ln() - 0.5) + tail
        }
    }
}

pub(super) fn digamma(x: f64) -> f64 {
    match x {
        _ if x == 0.0 => -f64::INFINITY.copysign(x),
        _ if is_pole(x) => f64::NAN,
        _ if x < 0.0 => digamma(1.0 - x) - PI * turns(x).1 / turns(x).0,
        _ if x < 1.5 => digamma(x + 1.0) - 1.0 / x,
        _ if x < FAR => {
            let z = x - steps(x).count() as f64 - 2.0;
            let near = 1.0 - EULER + if z == 0.0 { 0.0 } else { taylor(z, |_| 1.0) / z };
            near + steps(x).map(f64::recip).sum::<f64>()
        }
        _ => x.ln() - 0.5 / x - series(|n| x.powi(-n) / f64::from(n)),
    }
}

pub(super) fn trigamma(x: f64) -> f64 {
    if x < 0.0 {
        return (PI / turns(x).0).powi(2) - trigamma(1.0 - x);
    }
    let below = (0..FAR as u32).map(|at| x + f64::from(at)).take_while(|it| *it < FAR);
    let z = x + below.clone().count() as f64;
    let tail = 1.0 / z + 0.5 / (z * z) + series(|n| z.powi(-n - 1));
    below.map(|it| 1.0 / (it * it)).fold(tail, |sum, it| sum + it)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values from mpmath.
    #[test]
    fn are_those_of_the_tables() {
        let close = |got: f64, want: f64| {
            assert!((got - want).abs() <= 1e-15 * (1.0 + want.abs()), "{got} {want}");
        };
        close(lgamma(0.25), 1.288_022_524_698_077_5);
        close(lgamma(-2.5), -0.056_243_716_497_674_05);
        close(lgamma(1.75), -0.084_401_121_020_485_56);
        close(lgamma(100.0), 359.134_205_369_575_4);
        close(digamma(0.25), -4.227_453_533_376_265);
        close(digamma(-2.5), 1.103_156_640_645_243);
        close(digamma(1.5), 0.036_489_973_978_576_52);
        close(trigamma(0.25), 17.197_329_154_507_11);
        close(trigamma(-2.5), 9.539_246_644_989_124);
    }
}

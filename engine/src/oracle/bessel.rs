//! Modified Bessel functions of the first kind, from their sums.

use std::f64::consts::PI;

/// Up to here by powers.
const NEAR: f64 = 30.0;

/// The sum of powers (DLMF 10.25.2).
fn near(order: u32, x: f64) -> f64 {
    let (mut term, mut sum) = ((x / 2.0).powi(order as i32), 0.0);
    for k in 1..200 {
        sum += term;
        term *= x * x / 4.0 / f64::from(k * (k + order));
    }
    sum
}

/// `exp(-|x|) I(x)` by the expansion at infinity (DLMF 10.40.1).
fn far(order: u32, x: f64) -> f64 {
    let (mut term, mut sum) = (1.0, 0.0);
    for k in 1..30 {
        sum += term;
        let odd = f64::from(2 * k - 1);
        term *= (odd * odd - f64::from(4 * order * order)) / (f64::from(8 * k) * x.abs());
    }
    sum / ((2.0 * PI).sqrt() * x.abs().sqrt()) * x.signum().powi(order as i32)
}

/// `exp(-|x|) I(x)`.
pub(super) fn scaled(order: u32, x: f64) -> f64 {
    if x.abs() > NEAR { far(order, x) } else { (-x.abs()).exp() * near(order, x) }
}

/// `I(x)`: NaN where x is infinite, as in PyTorch.
pub(super) fn whole(order: u32, x: f64) -> f64 {
    if x.abs() > NEAR { x.abs().exp() * far(order, x) } else { near(order, x) }
}

/// Values from mpmath.
#[test]
fn are_those_of_the_tables() {
    let close =
        |got: f64, want: f64| assert!((got - want).abs() <= 1e-14 * want.abs(), "{got} {want}");
    close(scaled(0, 2.5), 0.270_046_441_612_203_27);
    close(scaled(0, -100.0), 0.039_944_379_299_096_68);
    close(scaled(1, -2.5), -0.206_584_649_531_266_4);
    close(scaled(1, 100.0), 0.039_744_153_025_130_25);
}

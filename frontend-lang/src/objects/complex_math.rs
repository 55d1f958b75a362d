//! Functions of complex numbers: the results of CPython's `cmath`, bit for bit where the C library's functions of reals are.
//!
//! Branch cuts, signs of zeros and what becomes of infinities are those of C99's Annex G. All functions but `rect` are symmetric in the
//! real axis.

use std::f64::consts::{E, FRAC_PI_2, LN_2, LN_10};

use super::complex::Complex;
use super::special::{self, Fault};

/// A complex result, or why there is none.
pub type Outcome = Result<Complex, Fault>;

/// From here on squares leave the range of floats.
const LARGE: f64 = f64::MAX / 4.0;
const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

fn number(real: f64, imag: f64) -> Complex {
    Complex { real, imag }
}

/// `f64::MAX / 4` has this logarithm.
fn log_large() -> f64 {
    LARGE.ln()
}

impl Complex {
    /// Whether neither part is infinite or NaN.
    pub fn is_finite(self) -> bool {
        self.real.is_finite() && self.imag.is_finite()
    }

    /// Whether a part is infinite.
    pub fn is_infinite(self) -> bool {
        self.real.is_infinite() || self.imag.is_infinite()
    }

    /// Whether a part is NaN.
    pub fn is_nan(self) -> bool {
        self.real.is_nan() || self.imag.is_nan()
    }

    /// The angle between the number and the positive real axis.
    pub fn phase(self) -> f64 {
        self.imag.atan2(self.real)
    }

    fn is_large(self) -> bool {
        self.real.abs() > LARGE || self.imag.abs() > LARGE
    }

    fn neg(self) -> Self {
        number(-self.real, -self.imag)
    }

    /// Times j.
    fn turned(self) -> Self {
        number(-self.imag, self.real)
    }

    /// Times -j.
    fn turned_back(self) -> Self {
        number(self.imag, -self.real)
    }

    /// The logarithm of twice the absolute value of a large number.
    fn log_of_double(self) -> f64 {
        (self.real / 2.0).hypot(self.imag / 2.0).ln() + LN_2 * 2.0
    }

    /// The infinity that a function grows to with an infinite part, else NaN.
    fn infinity(self) -> f64 {
        if self.is_infinite() { INF } else { NAN }
    }

    /// The angle of a number that is not finite; NaN with a part that is NaN.
    fn angle_at_end(self) -> f64 {
        if self.is_nan() { NAN } else { self.phase() }
    }

    /// Arc cosine.
    pub fn acos(self) -> Self {
        let Self { real: x, imag: y } = self;
        if !self.is_finite() {
            let is_right = x == 0.0 && y.is_nan();
            let real = if is_right { FRAC_PI_2 } else { number(x, y.abs()).angle_at_end() };
            let imag = match y.is_nan() {
                true => self.infinity(),
                false => self.infinity().copysign(-y),
            };
            return number(real, imag);
        }
        if self.is_large() {
            return number(y.abs().atan2(x), self.log_of_double().copysign(-y));
        }
        let below = number(1.0 - x, -y).sqrt();
        let above = number(1.0 + x, y).sqrt();
        number(
            2.0 * below.real.atan2(above.real),
            special::asinh(above.real * below.imag - above.imag * below.real),
        )
    }

    /// Inverse hyperbolic cosine.
    pub fn acosh(self) -> Self {
        let Self { real: x, imag: y } = self;
        if !self.is_finite() {
            return number(self.infinity(), self.angle_at_end());
        }
        if self.is_large() {
            return number(self.log_of_double(), self.phase());
        }
        let (below, above) = (number(x - 1.0, y).sqrt(), number(x + 1.0, y).sqrt());
        number(
            special::asinh(below.real * above.real + below.imag * above.imag),
            2.0 * below.imag.atan2(above.real),
        )
    }

    /// Arc sine.
    pub fn asin(self) -> Self {
        self.turned().asinh().turned_back()
    }

    /// Inverse hyperbolic sine.
    pub fn asinh(self) -> Self {
        let Self { real: x, imag: y } = self;
        if !self.is_finite() {
            let imag = match () {
                () if x.is_nan() && y == 0.0 => y,
                () => number(x.abs(), y).angle_at_end(),
            };
            let real = if x.is_nan() { self.infinity() } else { self.infinity().copysign(x) };
            return number(real, imag);
        }
        if self.is_large() {
            return number(self.log_of_double().copysign(x), y.atan2(x.abs()));
        }
        let above = number(1.0 + y, -x).sqrt();
        let below = number(1.0 - y, x).sqrt();
        number(
            special::asinh(above.real * below.imag - below.real * above.imag),
            y.atan2(above.real * below.real - above.imag * below.imag),
        )
    }

    /// Arc tangent: fails at j and -j.
    pub fn atan(self) -> Outcome {
        self.turned().atanh().map(Self::turned_back)
    }

    /// Inverse hyperbolic tangent: fails at 1 and -1.
    pub fn atanh(self) -> Outcome {
        let Self { real: x, imag: y } = self;
        if !self.is_finite() {
            let real = match () {
                () if self.is_infinite() && x.is_nan() => 0.0,
                () if self.is_infinite() || x == 0.0 => 0.0_f64.copysign(x),
                () => NAN,
            };
            let imag = match () {
                () if y.is_nan() || !self.is_infinite() => NAN,
                () => FRAC_PI_2.copysign(y),
            };
            return Ok(number(real, imag));
        }
        if x.is_sign_negative() {
            return self.neg().atanh().map(Self::neg);
        }
        let size = y.abs();
        if x > LARGE.sqrt() || size > LARGE.sqrt() {
            let half = (x / 2.0).hypot(y / 2.0);
            return Ok(number(x / 4.0 / half / half, FRAC_PI_2.copysign(y)));
        }
        if x == 1.0 && size < f64::MIN_POSITIVE.sqrt() {
            if size == 0.0 {
                return Err(Fault::Domain);
            }
            let real = -(size.sqrt() / size.hypot(2.0).sqrt()).ln();
            return Ok(number(real, (2.0_f64.atan2(-size) / 2.0).copysign(y)));
        }
        Ok(number(
            (4.0 * x / ((1.0 - x) * (1.0 - x) + size * size)).ln_1p() / 4.0,
            -(-2.0 * y).atan2((1.0 - x) * (1.0 + x) - size * size) / 2.0,
        ))
    }

    /// Cosine.
    pub fn cos(self) -> Outcome {
        self.turned().cosh()
    }

    /// Hyperbolic cosine.
    pub fn cosh(self) -> Outcome {
        let Self { real: x, imag: y } = self;
        if !self.is_finite() {
            return match () {
                () if y.is_infinite() && !x.is_nan() => Err(Fault::Domain),
                () if x.is_infinite() && y == 0.0 => Ok(number(INF, y * 1_f64.copysign(x))),
                () if x.is_infinite() && y.is_nan() => Ok(number(INF, NAN)),
                () if x.is_infinite() => {
                    Ok(number(INF.copysign(y.cos()), INF.copysign(y.sin()) * 1_f64.copysign(x)))
                }
                () if x == 0.0 || y == 0.0 => Ok(number(NAN, 0.0)),
                () => Ok(number(NAN, NAN)),
            };
        }
        let (x, scale) = within_range(x);
        in_range(number(y.cos() * x.cosh() * scale, y.sin() * x.sinh() * scale))
    }

    /// e to the power of the number.
    pub fn exp(self) -> Outcome {
        let Self { real: x, imag: y } = self;
        if !self.is_finite() {
            return match () {
                () if y.is_infinite() && (x.is_finite() || x == INF) => Err(Fault::Domain),
                () if x == -INF && !y.is_finite() => Ok(number(0.0, 0.0)),
                () if y == 0.0 && x == -INF => Ok(number(0.0, y)),
                () if y == 0.0 => Ok(number(x, y)),
                () if x == -INF => Ok(number(0.0_f64.copysign(y.cos()), 0.0_f64.copysign(y.sin()))),
                () if x == INF && y.is_nan() => Ok(number(INF, NAN)),
                () if x == INF => Ok(number(INF.copysign(y.cos()), INF.copysign(y.sin()))),
                () => Ok(number(NAN, NAN)),
            };
        }
        let (x, scale) = if x > log_large() { (x - 1.0, E) } else { (x, 1.0) };
        in_range(number(x.exp() * y.cos() * scale, x.exp() * y.sin() * scale))
    }

    /// Natural logarithm: fails at 0.
    pub fn log(self) -> Outcome {
        if !self.is_finite() {
            return Ok(number(self.infinity(), self.angle_at_end()));
        }
        let (a, b) = (self.real.abs(), self.imag.abs());
        let real = if self.is_large() {
            (a / 2.0).hypot(b / 2.0).ln() + LN_2
        } else if a < f64::MIN_POSITIVE && b < f64::MIN_POSITIVE {
            if a == 0.0 && b == 0.0 {
                return Err(Fault::Domain);
            }
            const DIGITS: f64 = f64::MANTISSA_DIGITS as f64;
            (a * DIGITS.exp2()).hypot(b * DIGITS.exp2()).ln() - DIGITS * LN_2
        } else {
            let size = a.hypot(b);
            match (0.71..=1.73).contains(&size) {
                true => {
                    let (most, least) = (a.max(b), a.min(b));
                    ((most - 1.0) * (most + 1.0) + least * least).ln_1p() / 2.0
                }
                false => size.ln(),
            }
        };
        Ok(number(real, self.phase()))
    }

    /// Logarithm to base 10: fails at 0.
    pub fn log10(self) -> Outcome {
        self.log().map(|it| number(it.real / LN_10, it.imag / LN_10))
    }

    /// The number with a distance from 0 and an angle.
    pub fn rect(size: f64, angle: f64) -> Outcome {
        if size.is_finite() && angle.is_finite() {
            return Ok(match angle == 0.0 {
                true => number(size, size * angle),
                false => number(size * angle.cos(), size * angle.sin()),
            });
        }
        match () {
            () if size != 0.0 && !size.is_nan() && angle.is_infinite() => Err(Fault::Domain),
            () if size == 0.0 => Ok(number(0.0, 0.0)),
            () if size.is_infinite() && angle == 0.0 => {
                Ok(number(size, angle * 1_f64.copysign(size)))
            }
            () if size.is_infinite() && angle.is_nan() => Ok(number(INF, NAN)),
            () if size.is_infinite() => {
                let sign = 1_f64.copysign(size);
                Ok(number(INF.copysign(angle.cos()) * sign, INF.copysign(angle.sin()) * sign))
            }
            () if angle == 0.0 => Ok(number(NAN, 0.0)),
            () => Ok(number(NAN, NAN)),
        }
    }

    /// Sine.
    pub fn sin(self) -> Outcome {
        self.turned().sinh().map(Self::turned_back)
    }

    /// Hyperbolic sine.
    pub fn sinh(self) -> Outcome {
        let Self { real: x, imag: y } = self;
        if !self.is_finite() {
            return match () {
                () if y.is_infinite() && !x.is_nan() => Err(Fault::Domain),
                () if x.is_infinite() && y.is_nan() => Ok(number(INF, NAN)),
                () if y == 0.0 => Ok(number(x, y)),
                () if x.is_infinite() => {
                    Ok(number(INF.copysign(y.cos()) * 1_f64.copysign(x), INF.copysign(y.sin())))
                }
                () if x == 0.0 => Ok(number(0.0, NAN)),
                () => Ok(number(NAN, NAN)),
            };
        }
        let (x, scale) = within_range(x);
        in_range(number(y.cos() * x.sinh() * scale, y.sin() * x.cosh() * scale))
    }

    /// The root with a real part that is not below 0.
    pub fn sqrt(self) -> Self {
        let Self { real: x, imag: y } = self;
        if !self.is_finite() {
            return match () {
                () if y.is_infinite() => number(INF, y),
                () if x == INF => number(INF, if y.is_nan() { NAN } else { 0.0_f64.copysign(y) }),
                () if x == -INF && y.is_nan() => number(NAN, INF),
                () if x == -INF => number(0.0, INF.copysign(y)),
                () => number(NAN, NAN),
            };
        }
        if x == 0.0 && y == 0.0 {
            return number(0.0, y);
        }
        let (a, b) = (x.abs(), y.abs());
        // Subnormal numbers lose digits before the root is taken.
        let root = if a < f64::MIN_POSITIVE && b < f64::MIN_POSITIVE {
            let up = 53_f64.exp2();
            (a * up + (a * up).hypot(b * up)).sqrt() * (-27_f64).exp2()
        } else {
            let eighth = a / 8.0;
            2.0 * (eighth + eighth.hypot(b / 8.0)).sqrt()
        };
        let other = b / (2.0 * root);
        match x >= 0.0 {
            true => number(root, other.copysign(y)),
            false => number(other, root.copysign(y)),
        }
    }

    /// Tangent.
    pub fn tan(self) -> Outcome {
        self.turned().tanh().map(Self::turned_back)
    }

    /// Hyperbolic tangent.
    pub fn tanh(self) -> Outcome {
        let Self { real: x, imag: y } = self;
        if !self.is_finite() {
            return match () {
                () if y.is_infinite() && x.is_finite() => Err(Fault::Domain),
                () if x.is_infinite() && y.is_finite() && y != 0.0 => {
                    let imag = 0.0_f64.copysign(2.0 * y.sin() * y.cos());
                    Ok(number(1_f64.copysign(x), imag))
                }
                () if x.is_infinite() => {
                    Ok(number(1_f64.copysign(x), if y == 0.0 { y } else { 0.0 }))
                }
                () if y == 0.0 => Ok(number(NAN, y)),
                () => Ok(number(NAN, NAN)),
            };
        }
        if x.abs() > log_large() {
            let imag = 4.0 * y.sin() * y.cos() * (-2.0 * x.abs()).exp();
            return Ok(number(1_f64.copysign(x), imag));
        }
        let (tx, ty, cx) = (x.tanh(), y.tan(), 1.0 / x.cosh());
        let product = tx * ty;
        let below = 1.0 + product * product;
        Ok(number(tx * (1.0 + ty * ty) / below, ((ty / below) * cx) * cx))
    }
}

/// A number one nearer to 0, and the factor that its hyperbolic functions lack, where these would leave the range of floats.
fn within_range(x: f64) -> (f64, f64) {
    if x.abs() > log_large() { (x - 1_f64.copysign(x), E) } else { (x, 1.0) }
}

fn in_range(res: Complex) -> Outcome {
    if res.is_infinite() { Err(Fault::Range) } else { Ok(res) }
}

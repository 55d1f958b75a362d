//! The arithmetic of complex numbers, on tensors of their parts.

use crate::functional::{
    self as f, atan2, complex, cosh, eq, full, hypot, logical_and, logical_not, logical_or, lt, ne,
    neg, num, part, select_where, sinh, to,
};
use crate::{DType, Result, Shape, Tensor};

/// Complex numbers by their parts, or real numbers, whose imaginary part is left out.
#[derive(Clone)]
pub(crate) struct Pair {
    pub(crate) real: Tensor,
    pub(crate) imag: Option<Tensor>,
}

/// Both parts of a tensor in this dtype; the imaginary part of real numbers is the number 0. Numbers of the program stay such.
pub(crate) fn parts_of(x: &Tensor, dtype: DType) -> Result<[Tensor; 2]> {
    match x.as_number() {
        Some(number) => Ok([num(number.as_f64()), num(number.imag())]),
        None if x.dtype().is_complex() => Ok([to(&part(x, 0)?, dtype)?, to(&part(x, 1)?, dtype)?]),
        None => Ok([to(x, dtype)?, num(0.0)]),
    }
}

/// A function of two numbers of the program or tensors; numbers are computed as doubles.
macro_rules! arithmetic {
    ($($name:ident $symbol:tt;)*) => {$(
        pub(super) fn $name(x: &Tensor, y: &Tensor) -> Result<Tensor> {
            match (x.as_number(), y.as_number()) {
                (Some(x), Some(y)) => Ok(num(x.as_f64() $symbol y.as_f64())),
                _ => f::$name(x, y),
            }
        }
    )*};
}

arithmetic! { add +; sub -; mul *; div /; }

impl Pair {
    /// Real numbers.
    pub(crate) fn real(real: Tensor) -> Self {
        Self { real, imag: None }
    }

    /// From both parts.
    pub(crate) fn new(real: Tensor, imag: Tensor) -> Self {
        Self { real, imag: Some(imag) }
    }

    /// One tensor: of complex numbers whose parts are of this dtype and shape, or the real numbers as they are.
    pub(crate) fn joined(&self, dtype: DType, shape: &Shape) -> Result<Tensor> {
        let Some(imag) = &self.imag else { return Ok(self.real.clone()) };
        let whole = |it: &Tensor| match it.as_number() {
            Some(number) => full(shape, number.as_f64(), dtype),
            None => to(it, dtype),
        };
        complex(&whole(&self.real)?, &whole(imag)?)
    }

    pub(super) fn imag(&self) -> Tensor {
        self.imag.clone().unwrap_or_else(|| num(0.0))
    }

    fn each(&self, function: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Self> {
        Ok(Self {
            real: function(&self.real)?,
            imag: self.imag.as_ref().map(function).transpose()?,
        })
    }

    pub(super) fn neg(&self) -> Result<Self> {
        self.each(|it| match it.as_number() {
            Some(number) => Ok(num(-number.as_f64())),
            None => neg(it),
        })
    }

    /// Times a real number, part by part.
    pub(super) fn scaled(&self, factor: f64) -> Result<Self> {
        self.each(|it| mul(it, &num(factor)))
    }

    /// The parts of both where one of them is complex.
    fn beside(&self, other: &Self) -> Option<[Tensor; 2]> {
        let is_real = self.imag.is_none() && other.imag.is_none();
        (!is_real).then(|| [self.imag(), other.imag()])
    }

    pub(super) fn add(&self, other: &Self) -> Result<Self> {
        let real = add(&self.real, &other.real)?;
        let imag = self.beside(other).map(|[x, y]| add(&x, &y)).transpose()?;
        Ok(Self { real, imag })
    }

    pub(super) fn sub(&self, other: &Self) -> Result<Self> {
        let real = sub(&self.real, &other.real)?;
        let imag = self.beside(other).map(|[x, y]| sub(&x, &y)).transpose()?;
        Ok(Self { real, imag })
    }

    /// `(a + bj)(c + dj) = (ac - bd) + (ad + bc)j`.
    pub(super) fn mul(&self, other: &Self) -> Result<Self> {
        let Some([b, d]) = &self.beside(other) else {
            return Ok(Self::real(mul(&self.real, &other.real)?));
        };
        let (a, c) = (&self.real, &other.real);
        Ok(Self::new(sub(&mul(a, c)?, &mul(b, d)?)?, add(&mul(a, d)?, &mul(b, c)?)?))
    }

    /// Both divided by the larger part of the divisor first, so that its square is in range. By 0, each part is divided by it.
    pub(super) fn div(&self, other: &Self) -> Result<Self> {
        let Some([b, d]) = &self.beside(other) else {
            return Ok(Self::real(div(&self.real, &other.real)?));
        };
        let (a, c) = (&self.real, &other.real);
        let scale = largest(c, d)?;
        let (c, d) = (unit([c, d], &scale, 1.0)?, unit([d, c], &scale, 0.0)?);
        let square = mul(&add(&mul(&c, &c)?, &mul(&d, &d)?)?, &scale)?;
        let real = add(&mul(a, &c)?, &mul(b, &d)?)?;
        let imag = sub(&mul(b, &c)?, &mul(a, &d)?)?;
        Ok(Self::new(div(&real, &square)?, div(&imag, &square)?))
    }

    /// The absolute value; its gradient at 0 is 0.
    pub(super) fn abs(&self) -> Result<Self> {
        let Some(imag) = &self.imag else { return self.each(f::abs) };
        let is_zero = logical_and(&eq(&self.real, &num(0.0))?, &eq(imag, &num(0.0))?)?;
        let away = select_where(&is_zero, &num(1.0), &self.real)?;
        Ok(Self::real(select_where(&is_zero, &num(0.0), &hypot(&away, imag)?)?))
    }

    pub(super) fn exp(&self) -> Result<Self> {
        let (size, angle) = (f::exp(&self.real)?, self.imag());
        Ok(Self::new(times(&size, &f::cos(&angle)?)?, times(&size, &f::sin(&angle)?)?))
    }

    pub(super) fn log(&self) -> Result<Self> {
        let size = hypot(&self.real, &self.imag())?;
        Ok(Self::new(f::log(&size)?, atan2(&self.imag(), &self.real)?))
    }

    /// The root with a real part of at least 0. With `u = sqrt((|z| + |re|) / 2)` it is `u + im / 2u j`, or turned where the real part
    /// is below 0.
    pub(super) fn sqrt(&self) -> Result<Self> {
        let (real, imag) = (&self.real, &self.imag());
        // Not the absolute values, which have no derivative at 0.
        let (is_left, is_below) = (lt(real, &num(0.0))?, is_below_zero(imag)?);
        let width = select_where(&is_left, &neg(real)?, real)?;
        let height = select_where(&is_below, &neg(imag)?, imag)?;
        let sum = add(&self.abs()?.real, &width)?;
        let is_zero = eq(&sum, &num(0.0))?;
        let u = f::sqrt(&div(&select_where(&is_zero, &num(1.0), &sum)?, &num(2.0))?)?;
        let infinite = num(f64::INFINITY);
        let ratio = div(&height, &mul(&u, &num(2.0))?)?;
        let v = select_where(&eq(&height, &infinite)?, &infinite, &ratio)?;
        let size = select_where(&is_left, &u, &v)?;
        let signed = select_where(&is_below, &neg(&size)?, &size)?;
        let root = select_where(&is_left, &v, &u)?;
        Ok(Self::new(
            select_where(&is_zero, &num(0.0), &root)?,
            select_where(&is_zero, imag, &signed)?,
        ))
    }

    pub(super) fn sin(&self) -> Result<Self> {
        let (x, y) = (&self.real, &self.imag());
        Ok(Self::new(times(&cosh(y)?, &f::sin(x)?)?, times(&f::cos(x)?, &sinh(y)?)?))
    }

    pub(super) fn cos(&self) -> Result<Self> {
        let (x, y) = (&self.real, &self.imag());
        let imag = times(&sinh(y)?, &f::sin(x)?)?;
        Ok(Self::new(mul(&f::cos(x)?, &cosh(y)?)?, neg(&imag)?))
    }

    pub(super) fn sinh(&self) -> Result<Self> {
        self.turned()?.sin()?.turned_back()
    }

    pub(super) fn cosh(&self) -> Result<Self> {
        self.turned()?.cos()
    }

    /// Kahan's formula, with `t = tan im`, `s = sinh re` and `b = 1 + t^2`; far from 0, where `s` leaves the range of floats, its limit.
    pub(super) fn tanh(&self) -> Result<Self> {
        let within = f::maximum(&f::minimum(&self.real, &num(40.0))?, &num(-40.0))?;
        let (t, s) = (f::tan(&self.imag())?, sinh(&within)?);
        let (b, square) = (add(&mul(&t, &t)?, &num(1.0))?, mul(&s, &s)?);
        let below = add(&mul(&b, &square)?, &num(1.0))?;
        let rho = f::sqrt(&add(&square, &num(1.0))?)?;
        let real = div(&mul(&mul(&b, &rho)?, &s)?, &below)?;
        let (y, size) = (&self.imag(), f::abs(&self.real)?);
        let far = mul(&mul(&f::sin(y)?, &f::cos(y)?)?, &f::exp(&mul(&size, &num(-2.0))?)?)?;
        let far = mul(&far, &num(4.0))?;
        Ok(Self::new(real, select_where(&lt(&size, &num(40.0))?, &div(&t, &below)?, &far)?))
    }

    pub(super) fn tan(&self) -> Result<Self> {
        self.turned()?.neg()?.tanh()?.turned()
    }

    /// Times j.
    pub(super) fn turned(&self) -> Result<Self> {
        Ok(Self::new(neg(&self.imag())?, self.real.clone()))
    }

    /// Times -j.
    pub(super) fn turned_back(&self) -> Result<Self> {
        Ok(Self::new(self.imag(), neg(&self.real)?))
    }

    /// `exp(other * log(self))`, with the logarithm of a number of the program computed in doubles; 1 to any power is 1. Of 0 it is
    /// what the real part of the power says: 0 above 0, infinite below, else NaN.
    pub(super) fn pow(&self, other: &Self) -> Result<Self> {
        if let (Some(power), None | Some(0.0)) = (number(&other.real), other.imag_number()) {
            match power {
                0.0 => return Ok(one()),
                2.0 => return self.mul(self),
                3.0 => return self.mul(self)?.mul(self),
                0.5 => return self.sqrt(),
                -0.5 => return one().div(&self.sqrt()?),
                -1.0 => return one().div(self),
                -2.0 => return one().div(&self.mul(self)?),
                _ => {}
            }
        }
        match (number(&self.real), self.imag_number()) {
            (Some(1.0), Some(0.0)) => return other.each(|it| times(it, &num(0.0)))?.exp(),
            (Some(real), Some(imag)) if (real, imag) != (0.0, 0.0) => {
                let log = Self::new(num(real.hypot(imag).ln()), num(imag.atan2(real)));
                return log.mul(other)?.exp();
            }
            _ => {}
        }
        let is_zero = logical_not(&self.truth()?)?;
        let base = select(&is_zero, &one(), self)?;
        let power = base.log()?.mul(other)?.exp()?;
        let (above, below) = (lt(&num(0.0), &other.real)?, lt(&other.real, &num(0.0))?);
        let nan = num(f64::NAN);
        let size = select_where(&below, &num(f64::INFINITY), &nan)?;
        let at_zero = Self::new(
            select_where(&above, &num(0.0), &size)?,
            select_where(&above, &num(0.0), &nan)?,
        );
        select(&is_zero, &at_zero, &power)
    }

    fn imag_number(&self) -> Option<f64> {
        self.imag.as_ref().map_or(Some(0.0), number)
    }

    /// Whether it is not 0, as a bool.
    pub(super) fn truth(&self) -> Result<Tensor> {
        let of = |it: &Tensor| match it.dtype().is_bool() {
            true => Ok(it.clone()),
            false => ne(it, &num(0.0)),
        };
        match &self.imag {
            Some(imag) => logical_or(&of(&self.real)?, &of(imag)?),
            None => of(&self.real),
        }
    }

    pub(super) fn equals(&self, other: &Self) -> Result<Self> {
        let real = eq(&self.real, &other.real)?;
        if self.imag.is_none() && other.imag.is_none() {
            return Ok(Self::real(real));
        }
        Ok(Self::real(logical_and(&real, &eq(&self.imag(), &other.imag())?)?))
    }
}

/// `yes` where the condition holds, else `no`.
pub(super) fn select(condition: &Tensor, yes: &Pair, no: &Pair) -> Result<Pair> {
    let real = select_where(condition, &yes.real, &no.real)?;
    if yes.imag.is_none() && no.imag.is_none() {
        return Ok(Pair::real(real));
    }
    Ok(Pair::new(real, select_where(condition, &yes.imag(), &no.imag())?))
}

/// A part of a divisor over the larger one: 1 where it alone is infinite, `at_zero` where both are 0.
fn unit([part, other]: [&Tensor; 2], scale: &Tensor, at_zero: f64) -> Result<Tensor> {
    if let (Some(part), Some(other), Some(scale)) = (number(part), number(other), number(scale)) {
        return Ok(num(match scale {
            0.0 => at_zero,
            _ if part.is_infinite() && other.is_finite() => part.signum(),
            scale => part / scale,
        }));
    }
    let mut unit = div(part, scale)?;
    let is_finite = lt(&f::abs(&other.detach())?, &num(f64::INFINITY))?;
    for (end, sign) in [(f64::INFINITY, 1.0), (f64::NEG_INFINITY, -1.0)] {
        let is_end = logical_and(&eq(part, &num(end))?, &is_finite)?;
        unit = select_where(&is_end, &num(sign), &unit)?;
    }
    select_where(&eq(scale, &num(0.0))?, &num(at_zero), &unit)
}

/// A product that is 0 where one of both is, also beside what is infinite or NaN.
fn times(x: &Tensor, y: &Tensor) -> Result<Tensor> {
    let product = mul(x, y)?;
    let is_nan = ne(&product, &product)?;
    [x, y].into_iter().try_fold(product, |product, it| {
        let is_zero = logical_and(&is_nan, &eq(it, &num(0.0))?)?;
        select_where(&is_zero, it, &product)
    })
}

/// Whether a real number is below 0, or -0.0.
pub(super) fn is_below_zero(x: &Tensor) -> Result<Tensor> {
    lt(&atan2(&x.detach(), &num(-1.0))?, &num(0.0))
}

/// The larger absolute value, as a constant for gradients: what is scaled by it is scaled back.
fn largest(c: &Tensor, d: &Tensor) -> Result<Tensor> {
    match (number(c), number(d)) {
        (Some(c), Some(d)) => Ok(num(c.abs().max(d.abs()))),
        _ => Ok(f::maximum(&f::abs(&c.detach())?, &f::abs(&d.detach())?)?),
    }
}

fn number(x: &Tensor) -> Option<f64> {
    x.as_number().map(crate::Number::as_f64)
}

fn one() -> Pair {
    Pair::new(num(1.0), num(0.0))
}

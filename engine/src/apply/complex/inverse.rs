//! The inverse trigonometric and hyperbolic functions of complex numbers, and `expm1` and `log1p`, on tensors of their parts.
//!
//! Branch cuts and the signs of zeros are those of C99's Annex G. The formulas (Kahan, *Branch Cuts for Complex Elementary Functions*)
//! have derivatives wherever the functions have them, also where a part is 0.

use super::pair::{Pair, add, div, is_below_zero, mul, sub};
use crate::functional::{
    self as f, asinh, atan2, eq, expm1, hypot, log, log1p, logical_and, logical_not, lt, neg, num,
    select_where,
};
use crate::{Result, Tensor};

/// From here on `atanh z` is `1 / z`, turned by a right angle, as near as doubles go.
const FAR: f64 = 1e9;

impl Pair {
    /// `exp(z) - 1`, accurate near 0: the real part is `expm1(x) cos y - 2 sin(y / 2)^2`.
    pub(super) fn expm1(&self) -> Result<Self> {
        let (x, y) = (&self.real, &self.imag());
        let half = f::sin(&mul(y, &num(0.5))?)?;
        let beyond = mul(&mul(&half, &half)?, &num(2.0))?;
        let real = sub(&mul(&expm1(x)?, &f::cos(y)?)?, &beyond)?;
        Ok(Self::new(real, mul(&f::exp(x)?, &f::sin(y)?)?))
    }

    /// `log(1 + z)`, accurate near 0: there the real part is `log1p(x (x + 2) + y^2) / 2`.
    pub(super) fn log1p(&self) -> Result<Self> {
        let (x, y) = (&self.real, &self.imag());
        let near = lt(&hypot(x, y)?, &num(0.5))?;
        let rest = add(&mul(x, &add(x, &num(2.0))?)?, &mul(y, y)?)?;
        let rest = log1p(&select_where(&near, &rest, &num(0.0))?)?;
        let one_more = add(x, &num(1.0))?;
        let size = select_where(&near, &num(1.0), &hypot(&one_more, y)?)?;
        let half = mul(&rest, &num(0.5))?;
        Ok(Self::new(select_where(&near, &half, &log(&size)?)?, atan2(y, &one_more)?))
    }

    pub(super) fn asin(&self) -> Result<Self> {
        let (below, above) = (self.one_minus()?.sqrt()?, self.plus(1.0)?.sqrt()?);
        let ([a, b], [c, d]) = (below.both(), above.both());
        let across = sub(&mul(&a, &c)?, &mul(&b, &d)?)?;
        let imag = sub(&mul(&a, &d)?, &mul(&c, &b)?)?;
        Ok(Self::new(atan2(&self.real, &across)?, asinh(&imag)?))
    }

    pub(super) fn acos(&self) -> Result<Self> {
        let (below, above) = (self.one_minus()?.sqrt()?, self.plus(1.0)?.sqrt()?);
        let ([a, b], [c, d]) = (below.both(), above.both());
        let imag = sub(&mul(&c, &b)?, &mul(&d, &a)?)?;
        Ok(Self::new(mul(&atan2(&a, &c)?, &num(2.0))?, asinh(&imag)?))
    }

    /// `-j atanh(jz)`.
    pub(super) fn atan(&self) -> Result<Self> {
        self.turned()?.atanh()?.turned_back()
    }

    /// `-j asin(jz)`.
    pub(super) fn asinh(&self) -> Result<Self> {
        self.turned()?.asin()?.turned_back()
    }

    pub(super) fn acosh(&self) -> Result<Self> {
        let (below, above) = (self.plus(-1.0)?.sqrt()?, self.plus(1.0)?.sqrt()?);
        let ([a, b], [c, d]) = (below.both(), above.both());
        let real = add(&mul(&a, &c)?, &mul(&b, &d)?)?;
        Ok(Self::new(asinh(&real)?, mul(&atan2(&b, &c)?, &num(2.0))?))
    }

    /// With `x` not below 0 the parts are `log1p(4x / ((1 - x)^2 + y^2)) / 4` and `atan2(2y, (1 - x)(1 + x) - y^2) / 2`; the function is odd.
    pub(super) fn atanh(&self) -> Result<Self> {
        let (y, is_left) = (&self.imag(), is_below_zero(&self.real)?);
        let sided = |it: &Tensor| select_where(&is_left, &neg(it)?, it);
        let x = &sided(&self.real)?;
        let size = hypot(&x.detach(), &y.detach())?;
        let is_infinite = eq(&size, &num(f64::INFINITY))?;
        let is_far = lt(&num(FAR), &size)?;
        let (less, more) = (sub(&num(1.0), x)?, add(x, &num(1.0))?);
        let square = mul(y, y)?;
        let ratio = div(&mul(x, &num(4.0))?, &add(&mul(&less, &less)?, &square)?)?;
        let near = mul(&log1p(&select_where(&is_far, &num(0.0), &ratio)?)?, &num(0.25))?;
        let across = sub(&mul(&less, &more)?, &square)?;
        // Where it is far but in range, both arguments of the angle are divided by the square of the size.
        let is_within = logical_and(&is_far, &logical_not(&is_infinite)?)?;
        let far_x = select_where(&is_within, x, &num(0.0))?;
        let far_y = select_where(&is_within, y, &num(1.0))?;
        let scale = hypot(&far_x, &far_y)?;
        let far = div(&div(&far_x, &scale)?, &scale)?;
        let up = mul(&div(&div(&far_y, &scale)?, &scale)?, &num(2.0))?;
        let at_end = select_where(&is_below_zero(y)?, &num(-0.0), &num(0.0))?;
        let up = select_where(&is_infinite, &at_end, &up)?;
        let up = select_where(&is_far, &up, &mul(y, &num(2.0))?)?;
        let across = select_where(&is_far, &num(-1.0), &across)?;
        let real = sided(&select_where(&is_far, &far, &near)?)?;
        Ok(Self::new(real, mul(&atan2(&up, &across)?, &num(0.5))?))
    }

    fn plus(&self, number: f64) -> Result<Self> {
        Ok(Self::new(add(&self.real, &num(number))?, self.imag()))
    }

    /// `1 - z`.
    fn one_minus(&self) -> Result<Self> {
        Ok(Self::new(sub(&num(1.0), &self.real)?, neg(&self.imag())?))
    }

    fn both(self) -> [Tensor; 2] {
        let imag = self.imag();
        [self.real, imag]
    }
}

//! Scalar expressions, element by element: each step in double precision and rounded to the type that the row computes in.
//!
//! With each number goes how far from it a careful computation may end: functions that no machine rounds exactly are allowed some units
//! in the last place, and what follows from them is found by trying both ends.

use ndarray::ArrayD;

use super::{bessel, functions, gamma};
use crate::attr::Attrs;
use crate::dtype::{DType, Number};
use crate::expr::{BinOp, Expr, Term, UnOp};
use crate::lane::{expr_of, number_of};
use crate::meaning::{Array, broadcast, by_index};
use crate::op::InferCx;
use crate::{Error, OpDef, Result, Tensor, rules};

/// A number, and how far from it a careful computation may end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reading {
    pub(super) value: f64,
    pub(super) slack: f64,
}

/// Units in the last place that functions may be off: those that are not rounded exactly.
const LOOSE: f64 = 4.0;

/// The results of an elementwise op.
pub(super) fn elements(
    op: &'static OpDef,
    inputs: &[Tensor],
    arrays: &[Array],
    attrs: &Attrs,
) -> Result<Array> {
    let (compute, out) = rules::elementwise_dtypes(&InferCx { op, inputs, attrs })?;
    let expr = expr_of(op, attrs)
        .ok_or(Error::Trace { problem: format!("{} is not elementwise", op.name) })?;
    let shape = broadcast(arrays.iter().map(Array::shape));
    let arrays: Vec<Array> = arrays.iter().map(|it| it.expanded(&shape)).collect();
    if compute.is_float() {
        return Ok(readings(&expr, inputs, &arrays, attrs, [compute, out])
            .mapv(|it| it.value)
            .into());
    }
    let operands: Vec<ArrayD<i64>> = arrays.iter().map(|it| it.to(compute).ints()).collect();
    let whole = |at: &[usize]| {
        let operands: Vec<i64> = operands.iter().map(|it| it[at]).collect();
        Whole { operands: &operands, attrs, compute }.evaluate(&expr)
    };
    Ok(by_index(&shape, whole).into())
}

/// What a float expression gives for each element of operands of one shape, computed in one dtype for results of another.
pub(super) fn readings(
    expr: &Expr,
    inputs: &[Tensor],
    arrays: &[Array],
    attrs: &Attrs,
    [compute, out]: [DType; 2],
) -> ArrayD<Reading> {
    // Halves are computed in float32; they are compared as they are, also with numbers.
    let lane = compute.arithmetic().dtype();
    let as_element = |input: &Tensor, it: &Array| match compute.is_half() && out == DType::Bool {
        true if input.dtype() != compute => it.rounded(compute).floats(),
        _ => it.floats(),
    };
    let operands: Vec<ArrayD<f64>> = inputs
        .iter()
        .zip(arrays)
        .map(|(input, it)| as_element(input, it).mapv(|it| lane.nearest(it)))
        .collect();
    by_index(arrays.first().map_or(&[], Array::shape), |at| {
        let operands: Vec<f64> = operands.iter().map(|it| it[at]).collect();
        Real { operands: &operands, attrs, lane }.evaluate(expr)
    })
}

/// An expression in floats.
struct Real<'a> {
    operands: &'a [f64],
    attrs: &'a Attrs,
    /// The type that each step is rounded to.
    lane: DType,
}

impl Real<'_> {
    fn evaluate(&self, expr: &Expr) -> Reading {
        match &*expr.0 {
            Term::Input(idx) => self.exact(self.operands[*idx]),
            Term::Param(idx) => self.exact(number_at(self.attrs, *idx).as_f64()),
            Term::Const(value) => self.exact(*value),
            Term::Unary(op, x) => {
                let loose = if is_exact(*op) { 0.0 } else { LOOSE };
                let res = self.through([self.evaluate(x)], loose, |[x]| unary(*op, x));
                // Their zeros below 0 are where large numbers cancel out.
                let is_gamma = matches!(op, UnOp::Lgamma | UnOp::Digamma | UnOp::Trigamma);
                let least =
                    if is_gamma { loose * unit(1.0 + res.value.abs(), self.lane) } else { 0.0 };
                Reading { slack: res.slack.max(least), ..res }
            }
            Term::Binary(op, x, y) => {
                let (x, y) = (self.evaluate(x), self.evaluate(y));
                let loose = loose_of(*op, x.value, y.value, self.lane);
                let res = self.through([x, y], loose, |[x, y]| binary(*op, x, y));
                // Of zeros of both signs either is the larger.
                let is_tie = matches!(op, BinOp::Min | BinOp::Max) && res.value == 0.0;
                Reading { slack: if is_tie { res.slack.max(TINY) } else { res.slack }, ..res }
            }
            Term::Select(cond, x, y) => {
                let (cond, x, y) = (self.evaluate(cond), self.evaluate(x), self.evaluate(y));
                // Where both may be taken, the result may end at either.
                self.through([cond], 0.0, |[it]| it).either(x, y)
            }
        }
    }

    fn exact(&self, value: f64) -> Reading {
        Reading { value: self.lane.nearest(value), slack: 0.0 }
    }

    /// What a function gives, and how far from it where its arguments are at their ends.
    fn through<const N: usize>(
        &self,
        args: [Reading; N],
        loose: f64,
        f: impl Fn([f64; N]) -> f64,
    ) -> Reading {
        let of = |args: [f64; N]| self.lane.nearest(f(args));
        let value = of(args.map(|it| it.value));
        let mut slack = loose * unit(value, self.lane);
        if args.iter().any(|it| it.slack > 0.0) {
            for corner in 0..1 << (2 * N) {
                let mut at = 0;
                let end = args.map(|it| {
                    let side = [0.0, -1.0, 1.0, 0.0][corner >> at & 3];
                    at += 2;
                    it.value + side * it.slack
                });
                slack = slack.max(apart(of(end), value));
            }
        }
        Reading { value, slack }
    }
}

impl Reading {
    /// `yes` where this is not 0, else `no`; near 0 it may be both.
    fn either(self, yes: Self, no: Self) -> Self {
        let (taken, other) = if self.value != 0.0 { (yes, no) } else { (no, yes) };
        let is_sure = self.slack == 0.0 || taken == other;
        let apart = (taken.value - other.value).abs() + other.slack;
        let slack = if is_sure { taken.slack } else { taken.slack.max(apart) };
        Self { value: taken.value, slack }
    }

    /// Whether an element of a dtype may be what comes of this number.
    #[cfg(test)]
    pub(super) fn admits(self, got: f64, dtype: DType) -> bool {
        let end = |side: f64| dtype.nearest(self.value + side * self.slack);
        if self.slack.is_nan() || self.slack.is_infinite() {
            return true;
        }
        let is_zero_of_sign = |it: f64| {
            it != 0.0 || self.slack > 0.0 || it.is_sign_negative() == self.value.is_sign_negative()
        };
        match self.value.is_nan() {
            true => got.is_nan(),
            false => (end(-1.0)..=end(1.0)).contains(&got) && is_zero_of_sign(got),
        }
    }
}

/// How far two results of one computation are from each other; zeros of two signs are apart, too.
fn apart(a: f64, b: f64) -> f64 {
    match (a - b).abs() {
        _ if a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan() => 0.0,
        0.0 => TINY,
        distance if distance.is_nan() => f64::INFINITY,
        distance => distance,
    }
}

/// Too little to be seen, but not nothing.
const TINY: f64 = f64::MIN_POSITIVE / 4.0;

/// The distance to the next number of a dtype. Functions may take what is smaller than all normal ones for 0.
fn unit(value: f64, dtype: DType) -> f64 {
    let (digits, least) = if dtype == DType::F32 {
        (23, f64::from(f32::MIN_POSITIVE))
    } else {
        (52, f64::MIN_POSITIVE)
    };
    match value.abs() {
        size if !size.is_finite() => 0.0,
        size if size < least => least,
        size => 2.0_f64.powi(size.log2().floor() as i32 - digits),
    }
}

/// Units in the last place that a function of these may be off. Where floats are whole numbers and more apart, so are quotients that are
/// rounded down.
fn loose_of(op: BinOp, x: f64, y: f64, lane: DType) -> f64 {
    match op {
        BinOp::Pow | BinOp::Atan2 | BinOp::Hypot => LOOSE,
        BinOp::FloorDiv if unit(binary(op, x, y), lane) >= 1.0 => 1.0,
        _ => 0.0,
    }
}

/// Attribute `idx` as a number; NaN where it is none.
pub(super) fn number_at(attrs: &Attrs, idx: usize) -> Number {
    attrs.get(idx).and_then(number_of).unwrap_or(Number::Float(f64::NAN))
}

/// Whether IEEE 754 says each bit of the result.
fn is_exact(op: UnOp) -> bool {
    use UnOp::{Abs, Ceil, Floor, Neg, Not, Recip, Round, Sign, Sqrt, Trunc};
    matches!(op, Neg | Abs | Sign | Floor | Ceil | Round | Trunc | Sqrt | Recip | Not)
}

fn truth(it: bool) -> f64 {
    f64::from(u8::from(it))
}

fn unary(op: UnOp, x: f64) -> f64 {
    match op {
        UnOp::Neg => -x,
        UnOp::Abs => x.abs(),
        UnOp::Sign => truth(x > 0.0) - truth(x < 0.0),
        UnOp::Floor => x.floor(),
        UnOp::Ceil => x.ceil(),
        UnOp::Round => x.round_ties_even(),
        UnOp::Trunc => x.trunc(),
        UnOp::Exp => x.exp(),
        UnOp::Exp2 => x.exp2(),
        UnOp::Expm1 => x.exp_m1(),
        UnOp::Log => x.ln(),
        UnOp::Log2 => x.log2(),
        UnOp::Log10 => x.log10(),
        UnOp::Log1p => x.ln_1p(),
        UnOp::Sqrt => x.sqrt(),
        UnOp::Rsqrt => 1.0 / x.sqrt(),
        UnOp::Recip => 1.0 / x,
        UnOp::Sin => x.sin(),
        UnOp::Cos => x.cos(),
        UnOp::Tan => x.tan(),
        UnOp::Asin => x.asin(),
        UnOp::Acos => x.acos(),
        UnOp::Atan => x.atan(),
        UnOp::Sinh => x.sinh(),
        UnOp::Cosh => x.cosh(),
        UnOp::Tanh => x.tanh(),
        UnOp::Asinh => functions::asinh(x),
        UnOp::Acosh => functions::acosh(x),
        UnOp::Atanh => x.atanh(),
        UnOp::Sigmoid if x < 0.0 => x.exp() / (1.0 + x.exp()),
        UnOp::Sigmoid => 1.0 / (1.0 + (-x).exp()),
        UnOp::Erf => functions::erf(x),
        UnOp::Erfc => functions::erfc(x),
        UnOp::Erfinv => functions::erfinv(x),
        UnOp::Lgamma => gamma::lgamma(x),
        UnOp::Digamma => gamma::digamma(x),
        UnOp::Trigamma => gamma::trigamma(x),
        UnOp::I0 => bessel::whole(0, x),
        UnOp::I0e => bessel::scaled(0, x),
        UnOp::I1 => bessel::whole(1, x),
        UnOp::I1e => bessel::scaled(1, x),
        UnOp::Not => truth(x == 0.0),
        UnOp::BitNot => f64::NAN,
    }
}

fn binary(op: BinOp, x: f64, y: f64) -> f64 {
    match op {
        BinOp::Add => x + y,
        BinOp::Sub => x - y,
        BinOp::Mul => x * y,
        BinOp::Div => x / y,
        BinOp::FloorDiv => functions::floor_div(x, y),
        BinOp::Rem => functions::remainder(x, y),
        BinOp::Fmod => x % y,
        BinOp::Pow => x.powf(y),
        BinOp::Atan2 => x.atan2(y),
        BinOp::Hypot => x.hypot(y),
        BinOp::Min | BinOp::Max if x.is_nan() || y.is_nan() => f64::NAN,
        BinOp::Min => {
            if y < x {
                y
            } else {
                x
            }
        }
        BinOp::Max => {
            if y > x {
                y
            } else {
                x
            }
        }
        BinOp::Eq => truth(x == y),
        BinOp::Ne => truth(x != y),
        BinOp::Lt => truth(x < y),
        BinOp::Le => truth(x <= y),
        BinOp::And => truth(x != 0.0 && y != 0.0),
        BinOp::Or => truth(x != 0.0 || y != 0.0),
        BinOp::Xor => truth((x != 0.0) != (y != 0.0)),
        BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor | BinOp::Shl | BinOp::Shr => f64::NAN,
    }
}

/// An expression in whole numbers, which wrap; bools are 0 and 1.
struct Whole<'a> {
    operands: &'a [i64],
    attrs: &'a Attrs,
    compute: DType,
}

impl Whole<'_> {
    fn evaluate(&self, expr: &Expr) -> i64 {
        match &*expr.0 {
            Term::Input(idx) => self.operands[*idx],
            Term::Param(idx) => number_at(self.attrs, *idx).as_i64(),
            Term::Const(value) => *value as i64,
            Term::Unary(op, x) => self.unary(*op, self.evaluate(x)),
            Term::Binary(op, x, y) => whole_binary(*op, self.evaluate(x), self.evaluate(y)),
            Term::Select(cond, x, y) => match self.evaluate(cond) {
                0 => self.evaluate(y),
                _ => self.evaluate(x),
            },
        }
    }

    /// What is no whole number has no meaning here: rows compute it in floats.
    fn unary(&self, op: UnOp, x: i64) -> i64 {
        match op {
            UnOp::Neg => x.wrapping_neg(),
            UnOp::Abs => x.wrapping_abs(),
            UnOp::Sign => x.signum(),
            UnOp::Not => i64::from(x == 0),
            UnOp::BitNot if self.compute == DType::Bool => i64::from(x == 0),
            UnOp::BitNot => !x,
            _ => x,
        }
    }
}

/// `x` times itself, `y` times in all; 1 divided by that where `y` is negative, rounded towards 0.
fn power(x: i64, y: i64) -> i64 {
    if y < 0 {
        return if matches!(x, 1 | -1) { power(x, -(y % 2)) } else { 0 };
    }
    (0..i64::BITS).rev().fold(1, |res: i64, bit| {
        let square = res.wrapping_mul(res);
        if y >> bit & 1 == 1 { square.wrapping_mul(x) } else { square }
    })
}

fn whole_binary(op: BinOp, x: i64, y: i64) -> i64 {
    let count = u32::try_from(y).ok().filter(|it| *it < i64::BITS);
    match op {
        BinOp::Add => x.wrapping_add(y),
        BinOp::Sub => x.wrapping_sub(y),
        BinOp::Mul => x.wrapping_mul(y),
        BinOp::Div | BinOp::FloorDiv | BinOp::Rem | BinOp::Fmod if y == 0 => 0,
        BinOp::Div => x.wrapping_div(y),
        BinOp::FloorDiv => {
            let is_between = x.wrapping_rem(y) != 0 && (x < 0) != (y < 0);
            x.wrapping_div(y) - i64::from(is_between)
        }
        BinOp::Rem => {
            let rest = x.wrapping_rem(y);
            if rest != 0 && (rest < 0) != (y < 0) { rest + y } else { rest }
        }
        BinOp::Fmod => x.wrapping_rem(y),
        BinOp::Pow => power(x, y),
        BinOp::Atan2 | BinOp::Hypot => 0,
        BinOp::Min => x.min(y),
        BinOp::Max => x.max(y),
        BinOp::Eq => i64::from(x == y),
        BinOp::Ne => i64::from(x != y),
        BinOp::Lt => i64::from(x < y),
        BinOp::Le => i64::from(x <= y),
        BinOp::And => i64::from(x != 0 && y != 0),
        BinOp::Or => i64::from(x != 0 || y != 0),
        BinOp::Xor => i64::from((x != 0) != (y != 0)),
        BinOp::BitAnd => x & y,
        BinOp::BitOr => x | y,
        BinOp::BitXor => x ^ y,
        BinOp::Shl => count.map_or(0, |it| x << it),
        BinOp::Shr => x >> count.unwrap_or(i64::BITS - 1),
    }
}

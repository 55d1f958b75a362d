//! The derivative of an expression, with PyTorch's choices where it is not defined.
//!
//! `relu'(0) = 0` and `clamp` stops gradients at its bounds: where `max(bound, x)` and `min(bound, x)` meet their bound, it
//! wins. Ties of two inputs share the gradient half and half. The derivative of `select` is that of the branch taken.
//!
//! Where a derivative can be had from the result alone (`tanh`, `exp`, `relu`), a tape need not keep what the op was applied to.

use std::collections::HashMap;

use super::{BinOp, Expr, Term, UnOp};

impl Expr {
    /// The derivative with respect to input `n`, lightly simplified.
    pub fn derivative(&self, n: usize) -> Self {
        Derivation { input: n, by_result: false, done: HashMap::new() }.of(self)
    }

    /// The derivative with respect to input `n` in terms of the result, which is `result` in it; `None` where it needs an input as well, or
    /// not even the result.
    pub(crate) fn derivative_by_result(&self, n: usize, result: &Self) -> Option<Self> {
        let slope = Derivation { input: n, by_result: true, done: HashMap::new() }.of(self);
        let slope = slope.replace(self, result);
        let is_whole = |it: &Self| it.as_input().is_some_and(|it| result.as_input() == Some(it));
        let (mut uses, mut others) = (false, false);
        slope.each_input(&mut |it| if is_whole(it) { uses = true } else { others = true });
        (uses && !others).then_some(slope)
    }

    /// `factor * self`, moved into the branches of `self`: a branch that is not taken may be infinite or NaN.
    pub(crate) fn scaled_by(&self, factor: &Self) -> Self {
        scale(factor, self)
    }
}

struct Derivation {
    input: usize,
    /// Whether bounds are looked for in what comes out, where that says the same.
    by_result: bool,
    /// By address, since expressions share parts.
    done: HashMap<*const Term, Expr>,
}

impl Derivation {
    fn of(&mut self, expr: &Expr) -> Expr {
        let key = std::rc::Rc::as_ptr(&expr.0);
        if let Some(known) = self.done.get(&key) {
            return known.clone();
        }
        let res = match &*expr.0 {
            Term::Input(idx) => num(if *idx == self.input { 1.0 } else { 0.0 }),
            Term::Param(_) | Term::Const(_) => num(0.0),
            Term::Unary(op, x) => {
                let dx = self.of(x);
                if is(&dx, 0.0) { dx } else { scale(&unary(*op, x, expr), &dx) }
            }
            Term::Binary(op, x, y) => {
                let (dx, dy) = (self.of(x), self.of(y));
                if is(&dx, 0.0) && is(&dy, 0.0) {
                    dx
                } else if self.by_result && is_bound(x) && matches!(op, BinOp::Min | BinOp::Max) {
                    binary(*op, x, expr, expr, dx, dy)
                } else {
                    binary(*op, x, y, expr, dx, dy)
                }
            }
            Term::Select(cond, x, y) => select(cond, self.of(x), self.of(y)),
        };
        self.done.insert(key, res.clone());
        res
    }
}

/// The derivative of `op` at `x`; `y` is `op(x)`.
fn unary(op: UnOp, x: &Expr, y: &Expr) -> Expr {
    let (x, y) = (x.clone(), y.clone());
    match op {
        UnOp::Neg => num(-1.0),
        UnOp::Abs => x.sign(),
        UnOp::Sign | UnOp::Floor | UnOp::Ceil | UnOp::Round | UnOp::Trunc => num(0.0),
        UnOp::Not | UnOp::BitNot => num(0.0),
        UnOp::Exp => y,
        UnOp::Exp2 => y * std::f64::consts::LN_2,
        UnOp::Expm1 => y + 1.0,
        UnOp::Log => x.recip(),
        UnOp::Log2 => (x * std::f64::consts::LN_2).recip(),
        UnOp::Log10 => (x * std::f64::consts::LN_10).recip(),
        UnOp::Log1p => (x + 1.0).recip(),
        UnOp::Sqrt => 0.5 / y,
        UnOp::Rsqrt => y.clone().square() * y * -0.5,
        UnOp::Recip => -(y.square()),
        UnOp::Sin => x.cos(),
        UnOp::Cos => -(x.sin()),
        UnOp::Tan => y.square() + 1.0,
        UnOp::Asin => (1.0 - x.square()).rsqrt(),
        UnOp::Acos => -((1.0 - x.square()).rsqrt()),
        UnOp::Atan => (x.square() + 1.0).recip(),
        UnOp::Sinh => x.cosh(),
        UnOp::Cosh => x.sinh(),
        UnOp::Tanh => 1.0 - y.square(),
        UnOp::Asinh => (x.square() + 1.0).rsqrt(),
        UnOp::Acosh => (x.square() - 1.0).rsqrt(),
        UnOp::Atanh => (1.0 - x.square()).recip(),
        UnOp::Sigmoid => y.clone() * (1.0 - y),
        UnOp::Erf => (-(x.square())).exp() * std::f64::consts::FRAC_2_SQRT_PI,
        UnOp::Erfc => (-(x.square())).exp() * -std::f64::consts::FRAC_2_SQRT_PI,
        UnOp::Erfinv => y.square().exp() * (1.0 / std::f64::consts::FRAC_2_SQRT_PI),
        UnOp::Lgamma => x.digamma(),
        UnOp::Digamma => x.trigamma(),
        UnOp::Trigamma => tetragamma(&x),
        UnOp::I0 => x.i1(),
        UnOp::I0e => x.clone().i1e() - x.sign() * y,
        UnOp::I1 => Expr::select(x.clone().eq(0.0), 0.5, x.clone().i0() - y / x),
        UnOp::I1e => {
            let slope = x.clone().i0e() - (x.clone().sign() + x.clone().recip()) * y;
            Expr::select(x.eq(0.0), 0.5, slope)
        }
    }
}

/// The derivative of trigamma: a term for each of ten steps up, then the expansion at infinity (DLMF 5.15.8); below 1/2 by reflection (DLMF 5.15.6).
fn tetragamma(x: &Expr) -> Expr {
    use std::f64::consts::PI;
    let cube = |it: Expr| it.clone().square() * it;
    let is_low = x.clone().lt(0.5);
    let y = Expr::select(is_low.clone(), 1.0 - x.clone(), x.clone());
    let steps = (0..10).map(|at| cube((y.clone() + f64::from(at)).recip()) * -2.0);
    let inverse = (y.clone() + 10.0).recip();
    let square = inverse.clone().square();
    let terms = [691.0 / 210.0, -5.0 / 6.0, 0.3, -1.0 / 6.0, 1.0 / 6.0, -0.5];
    let even = terms[1..].iter().fold(num(terms[0]), |sum, &it| sum * square.clone() + it);
    let tail = square.clone() * (even * square - inverse - 1.0);
    let above = steps.fold(tail, |sum, it| sum + it);
    let angle = (x.clone() - x.clone().round()) * PI;
    let turned = angle.clone().cos() / cube(angle.sin()) * (2.0 * PI * PI * PI);
    Expr::select(is_low, above.clone() - turned, above)
}

/// The derivative of `z = op(x, y)` from those of `x` and `y`.
fn binary(op: BinOp, x: &Expr, y: &Expr, z: &Expr, dx: Expr, dy: Expr) -> Expr {
    let by_x = |factor: &dyn Fn() -> Expr, dx: Expr| -> Expr {
        if is(&dx, 0.0) { dx } else { scale(&factor(), &dx) }
    };
    let (a, b) = (|| x.clone(), || y.clone());
    match op {
        BinOp::Add => add(dx, dy),
        BinOp::Sub => sub(dx, dy),
        BinOp::Mul => add(by_x(&b, dx), by_x(&a, dy)),
        BinOp::Div => {
            let left = if is(&dx, 0.0) { dx } else { dx / b() };
            if is(&dy, 0.0) { left } else { sub(left, mul(dy, z.clone()) / b()) }
        }
        BinOp::Pow => add(by_x(&|| pow_base(x, y), dx), by_x(&|| pow_exponent(x, y, z), dy)),
        BinOp::Fmod => sub(dx, by_x(&|| (a() / b()).trunc(), dy)),
        BinOp::Rem => sub(dx, by_x(&|| a().floor_div(b()), dy)),
        BinOp::Atan2 => {
            // 0 at the origin, where there is none.
            let at_origin = a().eq(0.0).and(b().eq(0.0));
            let norm = a().square() + b().square();
            let per = |x: Expr| Expr::select(at_origin.clone(), 0.0, x / norm.clone());
            let up = by_x(&|| per(b()), dx);
            sub(up, by_x(&|| per(a()), dy))
        }
        BinOp::Hypot => {
            let along = by_x(&|| a() / z.clone(), dx);
            add(along, by_x(&|| b() / z.clone(), dy))
        }
        BinOp::Min if is_bound(x) => select(&b().ge(a()), dx, dy),
        BinOp::Max if is_bound(x) => select(&b().le(a()), dx, dy),
        BinOp::Min => tie(b().lt(a()), a().eq(b()), dy, dx),
        BinOp::Max => tie(a().lt(b()), a().eq(b()), dy, dx),
        _ => num(0.0),
    }
}

/// `y * x^(y - 1)`, 0 where `y` is 0.
fn pow_base(x: &Expr, y: &Expr) -> Expr {
    match y.as_const() {
        Some(2.0) => mul(num(2.0), x.clone()),
        Some(value) => mul(num(value), x.clone().pow(value - 1.0)),
        None => {
            let slope = y.clone() * x.clone().pow(y.clone() - 1.0);
            Expr::select(y.clone().eq(0.0), 0.0, slope)
        }
    }
}

/// `x^y * log(x)`, 0 where `x` is 0 and `y` is not negative.
fn pow_exponent(x: &Expr, y: &Expr, z: &Expr) -> Expr {
    let flat = x.clone().eq(0.0).and(y.clone().ge(0.0));
    Expr::select(flat, 0.0, z.clone() * x.clone().log())
}

/// `other` where it won, half of both at a tie, else `first`.
fn tie(other_won: Expr, tied: Expr, other: Expr, first: Expr) -> Expr {
    let half = mul(num(0.5), add(first.clone(), other.clone()));
    select(&tied, half, select(&other_won, other, first))
}

/// What is no input stops the gradient where the other side meets it.
fn is_bound(expr: &Expr) -> bool {
    matches!(&*expr.0, Term::Param(_) | Term::Const(_))
}

fn num(value: f64) -> Expr {
    Expr::constant(value)
}

fn is(expr: &Expr, value: f64) -> bool {
    expr.as_const() == Some(value)
}

/// `x + y`, without zeros: the derivative of what is constant adds nothing.
fn add(x: Expr, y: Expr) -> Expr {
    match (x.as_const(), y.as_const()) {
        (Some(0.0), _) => y,
        (_, Some(0.0)) => x,
        (Some(a), Some(b)) => num(a + b),
        _ => x + y,
    }
}

fn sub(x: Expr, y: Expr) -> Expr {
    match (x.as_const(), y.as_const()) {
        (_, Some(0.0)) => x,
        (Some(0.0), _) => mul(num(-1.0), y),
        (Some(a), Some(b)) => num(a - b),
        _ => x - y,
    }
}

/// `x * y`, where a constant 0 wins and a constant 1 vanishes.
fn mul(x: Expr, y: Expr) -> Expr {
    match (x.as_const(), y.as_const()) {
        (Some(0.0), _) | (_, Some(0.0)) => num(0.0),
        (Some(1.0), _) => y,
        (_, Some(1.0)) => x,
        (Some(a), Some(b)) => num(a * b),
        (Some(-1.0), _) => -y,
        (_, Some(-1.0)) => -x,
        _ => x * y,
    }
}

fn select(cond: &Expr, yes: Expr, no: Expr) -> Expr {
    match (yes.as_const(), no.as_const()) {
        (Some(a), Some(b)) if a == b => yes,
        _ => Expr::select(cond.clone(), yes, no),
    }
}

fn scale(factor: &Expr, d: &Expr) -> Expr {
    match &*d.0 {
        Term::Select(cond, yes, no) => select(cond, scale(factor, yes), scale(factor, no)),
        _ => mul(factor.clone(), d.clone()),
    }
}

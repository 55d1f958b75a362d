//! Scalar expressions: the meaning of an elementwise op. Kernel, derivative, formula and fusion follow from them.
//!
//! An expression has no dtype: it is computed in the dtype that the op's row chooses. Comparisons and logic give 0 or 1.

mod derive;
mod formula;

use std::ops::{Add, Div, Mul, Neg, Sub};
use std::rc::Rc;

/// A scalar expression over the inputs of an op.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr(pub(crate) Rc<Term>);

/// One step of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Term {
    /// Input `n` of the op.
    Input(usize),
    /// Attribute `n` of the op, a number read when the op runs.
    Param(usize),
    /// A number.
    Const(f64),
    Unary(UnOp, Expr),
    Binary(BinOp, Expr, Expr),
    /// The second where the first is not 0, else the third.
    Select(Expr, Expr, Expr),
}

/// Scalar functions of one argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnOp {
    Neg,
    Abs,
    /// -1, 0 or 1; NaN gives 0, as in PyTorch.
    Sign,
    Floor,
    Ceil,
    /// To the nearest, ties to even.
    Round,
    Trunc,
    Exp,
    Exp2,
    Expm1,
    Log,
    Log2,
    Log10,
    Log1p,
    Sqrt,
    Rsqrt,
    Recip,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Sigmoid,
    Erf,
    Erfc,
    /// The x whose erf is the argument.
    Erfinv,
    /// The logarithm of the absolute value of the gamma function, its derivative, and that one's.
    Lgamma,
    Digamma,
    Trigamma,
    /// The modified Bessel functions of the first kind of order 0 and 1, also times `exp(-|x|)`.
    I0,
    I0e,
    I1,
    I1e,
    /// 1 where the argument is 0.
    Not,
    /// Every bit inverted; integers and bool only.
    BitNot,
}

/// Scalar functions of two arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    /// True division; floats only.
    Div,
    /// Rounds down, as Python's `//`.
    FloorDiv,
    /// The sign of the divisor, as Python's `%`.
    Rem,
    /// The sign of the dividend, as C's `fmod`.
    Fmod,
    Pow,
    Atan2,
    /// The length of the hypotenuse, without overflow on the way.
    Hypot,
    /// NaN when either is NaN.
    Min,
    Max,
    Eq,
    Ne,
    Lt,
    Le,
    And,
    Or,
    Xor,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    /// Keeps the sign.
    Shr,
}

impl UnOp {
    /// Whether the result is 0 or 1.
    pub(crate) fn is_truth(self) -> bool {
        self == Self::Not
    }
}

impl BinOp {
    /// Whether the result is 0 or 1.
    pub(crate) fn is_truth(self) -> bool {
        use BinOp::{And, Eq, Le, Lt, Ne, Or, Xor};
        matches!(self, Eq | Ne | Lt | Le | And | Or | Xor)
    }
}

impl Expr {
    fn new(term: Term) -> Self {
        Self(Rc::new(term))
    }

    /// Input `n` of the op.
    pub fn input(n: usize) -> Self {
        Self::new(Term::Input(n))
    }

    /// Attribute `n` of the op, which must be a number when the op runs. Programs do not depend on its value.
    pub fn param(n: usize) -> Self {
        Self::new(Term::Param(n))
    }

    /// A number.
    pub fn constant(value: f64) -> Self {
        Self::new(Term::Const(value))
    }

    /// `yes` where `cond` is not 0, else `no`. The branch not taken does not matter, whatever its value.
    pub fn select(cond: Self, yes: impl Into<Self>, no: impl Into<Self>) -> Self {
        Self::new(Term::Select(cond, yes.into(), no.into()))
    }

    pub(crate) fn unary(op: UnOp, x: Self) -> Self {
        Self::new(Term::Unary(op, x))
    }

    pub(crate) fn binary(op: BinOp, x: Self, y: Self) -> Self {
        Self::new(Term::Binary(op, x, y))
    }

    /// 1 where `self > other`.
    pub fn gt(self, other: impl Into<Self>) -> Self {
        other.into().lt(self)
    }

    /// 1 where `self >= other`.
    pub fn ge(self, other: impl Into<Self>) -> Self {
        other.into().le(self)
    }

    /// 1 where the number is NaN.
    pub fn isnan(self) -> Self {
        self.clone().ne(self)
    }

    /// 1 where the number is infinite.
    pub fn isinf(self) -> Self {
        self.abs().eq(f64::INFINITY)
    }

    /// 1 where the number is neither infinite nor NaN.
    pub fn isfinite(self) -> Self {
        self.abs().lt(f64::INFINITY)
    }

    /// `self * self`.
    pub fn square(self) -> Self {
        self.clone() * self
    }

    /// `log(1 + exp(x))` without overflow: `max(x, 0) + log1p(exp(-|x|))`. Written with branches, each of which is smooth at 0, as derivatives
    /// of any order are taken of it, and `|x|` has none there.
    pub fn softplus(self) -> Self {
        let above = self.clone().gt(0.0);
        let part = Self::select(above.clone(), self.clone(), 0.0);
        part + Self::select(above, -self.clone(), self).exp().log1p()
    }

    /// Whether input `n` occurs.
    pub(crate) fn mentions(&self, n: usize) -> bool {
        match &*self.0 {
            Term::Input(idx) => *idx == n,
            Term::Param(_) | Term::Const(_) => false,
            Term::Unary(_, x) => x.mentions(n),
            Term::Binary(_, x, y) => x.mentions(n) || y.mentions(n),
            Term::Select(c, x, y) => c.mentions(n) || x.mentions(n) || y.mentions(n),
        }
    }

    /// Calls `seen` with every input, as often as it occurs.
    pub(crate) fn each_input(&self, seen: &mut dyn FnMut(&Self)) {
        match &*self.0 {
            Term::Input(_) => seen(self),
            Term::Param(_) | Term::Const(_) => {}
            Term::Unary(_, x) => x.each_input(seen),
            Term::Binary(_, x, y) => [x, y].into_iter().for_each(|it| it.each_input(seen)),
            Term::Select(c, x, y) => [c, x, y].into_iter().for_each(|it| it.each_input(seen)),
        }
    }

    /// The expression with `with` wherever `part` occurs.
    pub(crate) fn replace(&self, part: &Self, with: &Self) -> Self {
        if self == part {
            return with.clone();
        }
        let of = |it: &Self| it.replace(part, with);
        match &*self.0 {
            Term::Input(_) | Term::Param(_) | Term::Const(_) => self.clone(),
            Term::Unary(op, x) => Self::unary(*op, of(x)),
            Term::Binary(op, x, y) => Self::binary(*op, of(x), of(y)),
            Term::Select(c, x, y) => Self::select(of(c), of(x), of(y)),
        }
    }

    /// Calls `seen` with every function of two arguments that occurs, and its second argument.
    pub(crate) fn each_binary(&self, seen: &mut dyn FnMut(BinOp, &Self)) {
        match &*self.0 {
            Term::Input(_) | Term::Param(_) | Term::Const(_) => {}
            Term::Unary(_, x) => x.each_binary(seen),
            Term::Binary(op, x, y) => {
                seen(*op, y);
                x.each_binary(seen);
                y.each_binary(seen);
            }
            Term::Select(c, x, y) => [c, x, y].into_iter().for_each(|it| it.each_binary(seen)),
        }
    }

    /// Calls `seen` with the number of every attribute that occurs.
    pub(crate) fn each_param(&self, seen: &mut dyn FnMut(usize)) {
        match &*self.0 {
            Term::Param(idx) => seen(*idx),
            Term::Input(_) | Term::Const(_) => {}
            Term::Unary(_, x) => x.each_param(seen),
            Term::Binary(_, x, y) => {
                x.each_param(seen);
                y.each_param(seen);
            }
            Term::Select(c, x, y) => {
                c.each_param(seen);
                x.each_param(seen);
                y.each_param(seen);
            }
        }
    }

    /// The expression with input `n` replaced by `with[n]`.
    pub(crate) fn substitute(&self, with: &[Self]) -> Self {
        match &*self.0 {
            Term::Input(idx) => with.get(*idx).cloned().unwrap_or_else(|| self.clone()),
            Term::Param(_) | Term::Const(_) => self.clone(),
            Term::Unary(op, x) => Self::unary(*op, x.substitute(with)),
            Term::Binary(op, x, y) => Self::binary(*op, x.substitute(with), y.substitute(with)),
            Term::Select(c, x, y) => {
                Self::select(c.substitute(with), x.substitute(with), y.substitute(with))
            }
        }
    }

    /// Whether it is a number or an attribute.
    pub(crate) fn is_number(&self) -> bool {
        matches!(&*self.0, Term::Const(_) | Term::Param(_))
    }

    /// The number of the input that it is.
    pub(crate) fn as_input(&self) -> Option<usize> {
        match &*self.0 {
            Term::Input(idx) => Some(*idx),
            _ => None,
        }
    }

    pub(crate) fn as_const(&self) -> Option<f64> {
        match &*self.0 {
            Term::Const(value) => Some(*value),
            _ => None,
        }
    }
}

impl From<f64> for Expr {
    fn from(value: f64) -> Self {
        Self::constant(value)
    }
}

macro_rules! unary_methods {
    ($($(#[$doc:meta])* $name:ident = $op:ident,)*) => {
        #[expect(clippy::should_implement_trait, reason = "these give numbers, not what the traits mean")]
        impl Expr {
            $($(#[$doc])* pub fn $name(self) -> Self {
                Self::unary(UnOp::$op, self)
            })*
        }
    };
}

unary_methods! {
    /// Absolute value.
    abs = Abs,
    /// -1, 0 or 1.
    sign = Sign,
    /// Rounds down.
    floor = Floor,
    /// Rounds up.
    ceil = Ceil,
    /// Rounds to the nearest, ties to even.
    round = Round,
    /// Rounds towards 0.
    trunc = Trunc,
    /// `e^x`.
    exp = Exp,
    /// `2^x`.
    exp2 = Exp2,
    /// `e^x - 1`, accurate near 0.
    expm1 = Expm1,
    /// Natural logarithm.
    log = Log,
    /// Logarithm to base 2.
    log2 = Log2,
    /// Logarithm to base 10.
    log10 = Log10,
    /// `log(1 + x)`, accurate near 0.
    log1p = Log1p,
    /// Square root.
    sqrt = Sqrt,
    /// `1 / sqrt(x)`.
    rsqrt = Rsqrt,
    /// `1 / x`.
    recip = Recip,
    /// Sine of radians.
    sin = Sin,
    /// Cosine of radians.
    cos = Cos,
    /// Tangent of radians.
    tan = Tan,
    /// Inverse sine.
    asin = Asin,
    /// Inverse cosine.
    acos = Acos,
    /// Inverse tangent.
    atan = Atan,
    /// Hyperbolic sine.
    sinh = Sinh,
    /// Hyperbolic cosine.
    cosh = Cosh,
    /// Hyperbolic tangent.
    tanh = Tanh,
    /// Inverse hyperbolic sine.
    asinh = Asinh,
    /// Inverse hyperbolic cosine.
    acosh = Acosh,
    /// Inverse hyperbolic tangent.
    atanh = Atanh,
    /// `1 / (1 + exp(-x))`.
    sigmoid = Sigmoid,
    /// Error function.
    erf = Erf,
    /// `1 - erf(x)`, accurate where little is left.
    erfc = Erfc,
    /// The x with `erf(x) = self`; infinite at -1 and 1, NaN beyond.
    erfinv = Erfinv,
    /// The logarithm of the absolute value of the gamma function.
    lgamma = Lgamma,
    /// The derivative of `lgamma`.
    digamma = Digamma,
    /// The derivative of `digamma`.
    trigamma = Trigamma,
    /// The modified Bessel function of the first kind of order 0.
    i0 = I0,
    /// `exp(-|x|) i0(x)`.
    i0e = I0e,
    /// The modified Bessel function of the first kind of order 1.
    i1 = I1,
    /// `exp(-|x|) i1(x)`.
    i1e = I1e,
    /// 1 where the number is 0, else 0.
    not = Not,
    /// Every bit inverted (bool: the other one).
    bit_not = BitNot,
}

macro_rules! binary_methods {
    ($($(#[$doc:meta])* $name:ident = $op:ident,)*) => {
        #[expect(clippy::should_implement_trait, reason = "these give numbers, not what the traits mean")]
        impl Expr {
            $($(#[$doc])* pub fn $name(self, other: impl Into<Self>) -> Self {
                Self::binary(BinOp::$op, self, other.into())
            })*
        }
    };
}

binary_methods! {
    /// The lesser; NaN when either is NaN.
    min = Min,
    /// The greater; NaN when either is NaN.
    max = Max,
    /// `self` to the power of `other`.
    pow = Pow,
    /// Quotient rounded down.
    floor_div = FloorDiv,
    /// Remainder with the sign of the divisor.
    rem = Rem,
    /// Remainder with the sign of the dividend.
    fmod = Fmod,
    /// Angle of the point (other, self).
    atan2 = Atan2,
    /// `sqrt(x^2 + y^2)` without overflow on the way.
    hypot = Hypot,
    /// 1 where equal.
    eq = Eq,
    /// 1 where not equal.
    ne = Ne,
    /// 1 where `self < other`.
    lt = Lt,
    /// 1 where `self <= other`.
    le = Le,
    /// 1 where both are not 0.
    and = And,
    /// 1 where one is not 0.
    or = Or,
    /// 1 where exactly one is not 0.
    xor = Xor,
    /// Bitwise and.
    bit_and = BitAnd,
    /// Bitwise or.
    bit_or = BitOr,
    /// Bitwise exclusive or.
    bit_xor = BitXor,
    /// Shifts left; 0 when the count is not in range.
    shl = Shl,
    /// Shifts right, keeping the sign.
    shr = Shr,
}

macro_rules! operators {
    ($($trait:ident $method:ident,)*) => {$(
        impl<T: Into<Expr>> $trait<T> for Expr {
            type Output = Expr;

            fn $method(self, other: T) -> Expr {
                Expr::binary(BinOp::$trait, self, other.into())
            }
        }

        impl $trait<Expr> for f64 {
            type Output = Expr;

            fn $method(self, other: Expr) -> Expr {
                Expr::binary(BinOp::$trait, self.into(), other)
            }
        }
    )*};
}

operators! { Add add, Sub sub, Mul mul, Div div, }

impl Neg for Expr {
    type Output = Self;

    fn neg(self) -> Self {
        Self::unary(UnOp::Neg, self)
    }
}

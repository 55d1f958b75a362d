//! Scalar expressions on complex numbers, by their parts.

use smallvec::SmallVec;

use super::pair::{self, Pair, parts_of};
use super::refused;
use crate::dtype::result_type;
use crate::expr::{BinOp, Expr, Term, UnOp};
use crate::functional::{self as f, logical_and, logical_not, logical_or, ne, num};
use crate::lane::{expr_of, number_of};
use crate::{Attrs, Error, Number, OpDef, Outputs, Result, Tensor, rules};

/// An elementwise op on operands of which one at least is complex.
pub(super) fn evaluate(op: &'static OpDef, inputs: &[Tensor], attrs: &Attrs) -> Result<Outputs> {
    let refuse = || refused(op, inputs, attrs);
    let expr = expr_of(op, attrs).ok_or_else(refuse)?;
    let dtype = result_type(inputs.iter().map(|it| (it.dtype(), it.strength()))).part();
    let shape = rules::broadcast_shape(op, inputs)?;
    let operand = |it: &Tensor| match it.dtype().is_bool() && it.as_number().is_none() {
        true => Ok(Pair::real(it.clone())),
        false => parts_of(it, dtype).map(|[real, imag]| Pair::new(real, imag)),
    };
    let operands = inputs.iter().map(operand).collect::<Result<SmallVec<[Pair; 3]>>>()?;
    let res = Evaluation { operands: &operands, attrs, refuse: &refuse }.of(&expr)?;
    Ok(smallvec::smallvec![res.joined(dtype, &shape)?])
}

struct Evaluation<'a> {
    operands: &'a [Pair],
    attrs: &'a Attrs,
    refuse: &'a dyn Fn() -> Error,
}

impl Evaluation<'_> {
    fn of(&self, expr: &Expr) -> Result<Pair> {
        match &*expr.0 {
            Term::Input(idx) => Ok(self.operands[*idx].clone()),
            Term::Const(value) => Ok(Pair::real(num(*value))),
            Term::Param(idx) => {
                let number = self.attrs.get(*idx).and_then(number_of);
                let number = number.unwrap_or(Number::Float(f64::NAN));
                Ok(match number {
                    Number::Complex(real, imag) => Pair::new(num(real), num(imag)),
                    real => Pair::real(num(real.as_f64())),
                })
            }
            Term::Unary(op, x) => self.unary(*op, &self.of(x)?),
            Term::Binary(op, x, y) => self.binary(*op, &self.of(x)?, &self.of(y)?),
            Term::Select(cond, x, y) => {
                pair::select(&self.of(cond)?.truth()?, &self.of(x)?, &self.of(y)?)
            }
        }
    }

    fn unary(&self, op: UnOp, x: &Pair) -> Result<Pair> {
        let of_base = |base: f64| x.log()?.scaled(1.0 / base.ln());
        let one = number(1.0);
        match op {
            UnOp::Neg => x.neg(),
            UnOp::Abs => x.abs(),
            UnOp::Exp => x.exp(),
            UnOp::Exp2 => x.scaled(std::f64::consts::LN_2)?.exp(),
            UnOp::Log => x.log(),
            UnOp::Log2 => of_base(2.0),
            UnOp::Log10 => of_base(10.0),
            UnOp::Sqrt => x.sqrt(),
            UnOp::Rsqrt => one.div(&x.sqrt()?),
            UnOp::Recip => one.div(x),
            UnOp::Sin => x.sin(),
            UnOp::Cos => x.cos(),
            UnOp::Tan => x.tan(),
            UnOp::Sinh => x.sinh(),
            UnOp::Cosh => x.cosh(),
            UnOp::Tanh => x.tanh(),
            UnOp::Expm1 => x.expm1(),
            UnOp::Log1p => x.log1p(),
            UnOp::Asin => x.asin(),
            UnOp::Acos => x.acos(),
            UnOp::Atan => x.atan(),
            UnOp::Asinh => x.asinh(),
            UnOp::Acosh => x.acosh(),
            UnOp::Atanh => x.atanh(),
            UnOp::Sigmoid => one.div(&one.add(&x.neg()?.exp()?)?),
            UnOp::Not => Ok(Pair::real(logical_not(&x.truth()?)?)),
            UnOp::Sign
            | UnOp::Floor
            | UnOp::Ceil
            | UnOp::Round
            | UnOp::Trunc
            | UnOp::Erf
            | UnOp::Erfc
            | UnOp::Erfinv
            | UnOp::Lgamma
            | UnOp::Digamma
            | UnOp::Trigamma
            | UnOp::I0
            | UnOp::I0e
            | UnOp::I1
            | UnOp::I1e
            | UnOp::BitNot => Err((self.refuse)()),
        }
    }

    fn binary(&self, op: BinOp, x: &Pair, y: &Pair) -> Result<Pair> {
        let truths = |of: fn(&Tensor, &Tensor) -> Result<Tensor>| {
            Ok(Pair::real(of(&x.truth()?, &y.truth()?)?))
        };
        match op {
            BinOp::Add => x.add(y),
            BinOp::Sub => x.sub(y),
            BinOp::Mul => x.mul(y),
            BinOp::Div => x.div(y),
            BinOp::Pow => x.pow(y),
            BinOp::Eq => x.equals(y),
            BinOp::Ne => Ok(Pair::real(logical_not(&x.equals(y)?.real)?)),
            BinOp::And => truths(logical_and),
            BinOp::Or => truths(logical_or),
            BinOp::Xor => truths(ne),
            BinOp::Lt => self.compared(f::lt, x, y),
            BinOp::Le => self.compared(f::le, x, y),
            BinOp::FloorDiv
            | BinOp::Rem
            | BinOp::Fmod
            | BinOp::Atan2
            | BinOp::Hypot
            | BinOp::Min
            | BinOp::Max
            | BinOp::BitAnd
            | BinOp::BitOr
            | BinOp::BitXor
            | BinOp::Shl
            | BinOp::Shr => Err((self.refuse)()),
        }
    }

    /// Only what is real has an order: absolute values, beside numbers without an imaginary part.
    fn compared(
        &self,
        of: fn(&Tensor, &Tensor) -> Result<Tensor>,
        x: &Pair,
        y: &Pair,
    ) -> Result<Pair> {
        let is_real = |it: &Pair| match &it.imag {
            Some(imag) => imag.as_number().is_some_and(|it| it.as_f64() == 0.0),
            None => true,
        };
        let is_number = |it: &Pair| it.real.as_number().is_some();
        match is_real(x) && is_real(y) && !(is_number(x) && is_number(y)) {
            true => Ok(Pair::real(of(&x.real, &y.real)?)),
            false => Err((self.refuse)()),
        }
    }
}

fn number(value: f64) -> Pair {
    Pair::real(num(value))
}

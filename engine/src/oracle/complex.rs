//! Scalar expressions on complex numbers, element by element in double precision: each function by its definition through exponentials
//! and logarithms, where composed ops take formulas on the parts.
//!
//! Functions that have no meaning for complex numbers give `None`; order is that of the real parts of real numbers.

use num_complex::Complex64;

use super::scalar::number_at;
use crate::OpDef;
use crate::attr::Attrs;
use crate::expr::{BinOp, Expr, Term, UnOp};
use crate::lane::expr_of;
use crate::meaning::{Array, broadcast, by_index};

const I: Complex64 = Complex64::I;
const ONE: Complex64 = Complex64::ONE;

/// The results of an elementwise op of which one operand at least is complex; `None` where its expression has no complex meaning.
pub(super) fn elements(op: &'static OpDef, arrays: &[Array], attrs: &Attrs) -> Option<Array> {
    let expr = expr_of(op, attrs)?;
    let shape = broadcast(arrays.iter().map(Array::shape));
    let parts: Vec<_> = arrays.iter().map(|it| it.expanded(&shape).parts()).collect();
    let all = by_index(&shape, |at| {
        let operands: Vec<_> =
            parts.iter().map(|[real, imag]| Complex64::new(real[at], imag[at])).collect();
        value(&expr, &operands, attrs)
    });
    if all.iter().any(Option::is_none) {
        return None;
    }
    let part = |of: fn(Complex64) -> f64| all.mapv(|it| of(it.unwrap_or_default()));
    let real = part(|it| it.re);
    Some(if is_real(&expr) { real.into() } else { Array::Complex(real, part(|it| it.im)) })
}

/// Whether an expression gives real numbers, whatever it is applied to.
fn is_real(expr: &Expr) -> bool {
    match &*expr.0 {
        Term::Input(_) | Term::Param(_) => false,
        Term::Const(_) => true,
        Term::Unary(op, x) => *op == UnOp::Abs || op.is_truth() || is_real(x),
        Term::Binary(op, x, y) => op.is_truth() || is_real(x) && is_real(y),
        Term::Select(_, x, y) => is_real(x) && is_real(y),
    }
}

fn value(expr: &Expr, operands: &[Complex64], attrs: &Attrs) -> Option<Complex64> {
    let of = |it: &Expr| value(it, operands, attrs);
    match &*expr.0 {
        Term::Input(idx) => operands.get(*idx).copied(),
        Term::Const(it) => Some((*it).into()),
        Term::Param(idx) => {
            let number = number_at(attrs, *idx);
            Some(Complex64::new(number.as_f64(), number.imag()))
        }
        Term::Unary(op, x) => unary(*op, of(x)?),
        Term::Binary(op, x, y) => binary(*op, of(x)?, of(y)?),
        Term::Select(condition, x, y) => of(if is_true(of(condition)?) { x } else { y }),
    }
}

fn is_true(x: Complex64) -> bool {
    x.re != 0.0 || x.im != 0.0
}

fn truth(it: bool) -> Option<Complex64> {
    Some(f64::from(u8::from(it)).into())
}

fn log(x: Complex64) -> Complex64 {
    Complex64::new(x.re.hypot(x.im).ln(), x.im.atan2(x.re))
}

fn exp(x: Complex64) -> Complex64 {
    Complex64::new(x.re.exp() * x.im.cos(), x.re.exp() * x.im.sin())
}

/// The root on the side of the positive real numbers.
fn sqrt(x: Complex64) -> Complex64 {
    if is_true(x) { exp(log(x) * 0.5) } else { Complex64::new(0.0, x.im) }
}

/// `1 + sign * x`, where zeros keep their sign.
fn beside_one(x: Complex64, sign: f64) -> Complex64 {
    Complex64::new(1.0 + sign * x.re, sign * x.im)
}

fn asin(x: Complex64) -> Complex64 {
    let jx = Complex64::new(-x.im, x.re);
    let inner = sqrt(beside_one(x, -1.0)) * sqrt(beside_one(x, 1.0));
    let log = log(jx + inner);
    Complex64::new(log.im, -log.re)
}

fn atanh(x: Complex64) -> Complex64 {
    (log(beside_one(x, 1.0)) - log(beside_one(x, -1.0))) * 0.5
}

fn sinh(x: Complex64) -> Complex64 {
    (exp(x) - exp(-x)) * 0.5
}

fn cosh(x: Complex64) -> Complex64 {
    (exp(x) + exp(-x)) * 0.5
}

fn unary(op: UnOp, x: Complex64) -> Option<Complex64> {
    Some(match op {
        UnOp::Neg => -x,
        UnOp::Abs => x.re.hypot(x.im).into(),
        UnOp::Exp => exp(x),
        UnOp::Exp2 => exp(x * 2_f64.ln()),
        UnOp::Expm1 => exp(x) - ONE,
        UnOp::Log => log(x),
        UnOp::Log2 => log(x) / 2_f64.ln(),
        UnOp::Log10 => log(x) / 10_f64.ln(),
        UnOp::Log1p => log(beside_one(x, 1.0)),
        UnOp::Sqrt => sqrt(x),
        UnOp::Rsqrt => ONE / sqrt(x),
        UnOp::Recip => ONE / x,
        UnOp::Sin => -I * sinh(I * x),
        UnOp::Cos => cosh(I * x),
        UnOp::Tan => -I * sinh(I * x) / cosh(I * x),
        UnOp::Sinh => sinh(x),
        UnOp::Cosh => cosh(x),
        UnOp::Tanh => sinh(x) / cosh(x),
        UnOp::Asin => asin(x),
        UnOp::Acos => std::f64::consts::FRAC_PI_2 - asin(x),
        UnOp::Atan => {
            let it = atanh(Complex64::new(-x.im, x.re));
            Complex64::new(it.im, -it.re)
        }
        UnOp::Asinh => log(x + sqrt(x * x + ONE)),
        UnOp::Acosh => log(x + sqrt(Complex64::new(x.re - 1.0, x.im)) * sqrt(beside_one(x, 1.0))),
        UnOp::Atanh => atanh(x),
        UnOp::Sigmoid => ONE / (ONE + exp(-x)),
        UnOp::Not => return truth(!is_true(x)),
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
        | UnOp::BitNot => return None,
    })
}

fn binary(op: BinOp, x: Complex64, y: Complex64) -> Option<Complex64> {
    let is_real = x.im == 0.0 && y.im == 0.0;
    Some(match op {
        BinOp::Add => x + y,
        BinOp::Sub => x - y,
        BinOp::Mul => x * y,
        BinOp::Div => x / y,
        BinOp::Pow if x == ONE => ONE,
        BinOp::Pow if !is_true(x) && y.re > 0.0 => Complex64::ZERO,
        BinOp::Pow if !is_true(x) && y.re < 0.0 => Complex64::new(f64::INFINITY, f64::NAN),
        BinOp::Pow if !is_true(x) => Complex64::new(f64::NAN, f64::NAN),
        BinOp::Pow => exp(y * log(x)),
        BinOp::Eq => return truth(x == y),
        BinOp::Ne => return truth(x != y),
        BinOp::And => return truth(is_true(x) && is_true(y)),
        BinOp::Or => return truth(is_true(x) || is_true(y)),
        BinOp::Xor => return truth(is_true(x) != is_true(y)),
        BinOp::Lt if is_real => return truth(x.re < y.re),
        BinOp::Le if is_real => return truth(x.re <= y.re),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use crate::{Attr, Attrs, DType, Shape, Tensor, apply_one, ops, oracle};

    /// Away from where functions have no value, on both sides of their cuts.
    const POINTS: [(f64, f64); 12] = [
        (1.0, 2.0),
        (-0.5, 0.25),
        (0.3, -0.7),
        (-2.0, 0.0),
        (-2.0, -0.0),
        (3.0, 0.0),
        (3.0, -0.0),
        (0.0, 2.5),
        (-0.0, -2.5),
        (-3.5, -1.25),
        (0.01, -0.02),
        (5.0, 4.0),
    ];

    fn points(shape: [usize; 2], dtype: DType) -> Tensor {
        Tensor::from_pairs(&POINTS, Shape::from(shape), dtype).unwrap()
    }

    /// The first element that is not what is meant, and how many there are.
    fn differs(op: &'static crate::OpDef, inputs: &[Tensor], attrs: &Attrs) -> (usize, String) {
        let Ok(got) = apply_one(op, inputs, attrs) else { return (0, String::new()) };
        let arrays: Vec<_> = inputs.iter().map(|it| oracle::array_of(it).unwrap()).collect();
        let Some(want) = super::elements(op, &arrays, attrs) else {
            return (1, format!("{}: computed, but means nothing", op.name));
        };
        let [got, want] = [oracle::array_of(&got).unwrap(), want].map(|it| it.parts());
        let far = |part: usize| {
            got[part].iter().zip(&want[part]).enumerate().find_map(|(at, (got, want))| {
                let size = want.abs().max(1e-2);
                let limit = if inputs[0].dtype() == DType::C64 { 2e-5 } else { 1e-13 };
                let is_far = (got - want).abs() > limit * size || got.is_nan() != want.is_nan();
                is_far.then(|| format!("{}[{at}].{part}: {got} instead of {want}", op.name))
            })
        };
        (got[0].len(), far(0).or_else(|| far(1)).unwrap_or_default())
    }

    #[test]
    fn compositions_on_parts_are_what_expressions_mean() {
        let (mut n_rows, mut problems) = (0, Vec::new());
        for op in ops::all().filter(|it| it.body.is_elementwise() && it.surface.complex.is_none()) {
            for dtype in [DType::C64, DType::C128] {
                let inputs: Vec<Tensor> = [[12, 1], [1, 12], [12, 1]][..op.n_tensors()]
                    .iter()
                    .map(|it| points(*it, dtype))
                    .collect();
                let mut attrs = op.default_attrs();
                attrs.iter_mut().filter(|it| **it == Attr::None).for_each(|it| {
                    *it = Attr::Complex(0.5, -0.25);
                });
                let (n_elements, problem) = differs(op, &inputs, &attrs);
                n_rows += usize::from(n_elements > 0);
                problems.extend((!problem.is_empty()).then_some(problem));
            }
        }
        assert!(n_rows > 60, "{n_rows} rows");
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }
}

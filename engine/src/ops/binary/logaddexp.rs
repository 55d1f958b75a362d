//! `logaddexp`: `log(exp(x) + exp(y))` without overflow.

use std::f64::consts::LN_2;

use smallvec::smallvec;

use crate::expr::Expr;
use crate::functional::{add, eq, exp, log1p, lt, num, part, select_where, sub};
use crate::meaning::Meaning;
use crate::op::{Body, ComposedCx, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::{Outputs, Result, Tensor, rules};

/// The row of `logaddexp`.
pub static OP: OpDef = OpDef {
    name: "logaddexp",
    doc: "`log(exp(x) + exp(y))` without overflow.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::tensor("other")],
    dtypes: DTypeRule::FloatsToSame,
    infer: rules::broadcast,
    // Branches that are smooth where both are equal, as in `Expr::softplus`; infinite ones that are equal have no difference.
    body: Body::Binary(|x, y| {
        let gap = x.clone() - y.clone();
        let is_first = gap.clone().gt(0.0);
        let larger = Expr::select(is_first.clone(), x.clone(), y.clone());
        let res = larger + Expr::select(is_first, -gap.clone(), gap.clone()).exp().log1p();
        let equal = x.clone() * 0.5 + y.clone() * 0.5 + LN_2;
        let equal = Expr::select(gap.clone().ne(gap), equal, res.clone());
        Expr::select(x.eq(y), equal, res)
    }),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface { complex: Some(of_complex), ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &["megengine.functional.logaddexp"],
    examples: &[
        ("logaddexp(tensor([0.0, 1.0]), tensor([0.0, 2.0]))", "tensor([0.6931, 2.3133])"),
        (
            "logaddexp(tensor([1000.0, -1000.0]), tensor([1000.0, -1000.0]))",
            "tensor([1000.6932, -999.3068])",
        ),
        ("logaddexp(tensor(nan), tensor(1.0))", "tensor(nan)"),
    ],
};

/// The number with the larger real part stands outside: `larger + log1p(exp(smaller - larger))`.
fn of_complex(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let (x, y) = (cx.input(0)?, cx.input(1)?);
    let real = |it: &Tensor| if it.dtype().is_complex() { part(it, 0) } else { Ok(it.clone()) };
    let is_less = lt(&real(x)?, &real(y)?)?;
    let (smaller, larger) = (select_where(&is_less, x, y)?, select_where(&is_less, y, x)?);
    let res = add(&larger, &log1p(&exp(&sub(&smaller, &larger)?)?)?)?;
    // Both are 0 before the logarithm.
    let is_none = eq(&real(&larger)?, &num(f64::NEG_INFINITY))?;
    Ok(smallvec![select_where(&is_none, &larger, &res)?])
}

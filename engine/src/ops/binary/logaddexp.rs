//! `logaddexp`: `log(exp(x) + exp(y))` without overflow.

use crate::expr::Expr;
use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, OpDef, Param, Surface};
use crate::rules;
use std::f64::consts::LN_2;

/// The row of `logaddexp`.
pub static OP: OpDef = OpDef {
    name: "logaddexp",
    doc: "`log(exp(x) + exp(y))` without overflow.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::tensor("other")],
    dtypes: DTypeRule::FloatsToSame,
    infer: rules::broadcast,
    body: Body::Binary(|x, y| {
        let gap = (x.clone() - y.clone()).abs();
        let equal = x.clone() * 0.5 + y.clone() * 0.5 + LN_2;
        let other = x.clone().max(y.clone()) + (-gap).exp().log1p();
        Expr::select(x.eq(y), equal, other)
    }),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: &[],
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

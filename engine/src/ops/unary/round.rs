//! `round`: the nearest number with `decimals` digits after the point; ties go to the even one.

use crate::expr::Expr;
use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Default, Grad, Onnx, OpDef, Param, ParamKind, Surface};
use crate::rules;
use crate::{Attrs, op};

/// The row of `round`.
pub static OP: OpDef = OpDef {
    name: "round",
    doc: "The nearest number with `decimals` digits after the point; ties go to the even one.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::with("decimals", ParamKind::Int, Default::Int(0))],
    dtypes: DTypeRule::Promote,
    infer: rules::broadcast,
    body: Body::Scalar(|x, attrs| body(&x[0], attrs)),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Round", 11, &[]),
    aliases: &["megengine.functional.round", "oneflow.round"],
    examples: &[
        ("round(tensor([-1.5, -0.5, 0.5, 1.5, 2.5]))", "tensor([-2., -0.,  0.,  2.,  2.])"),
        ("round(tensor([0.0, inf, nan]))", "tensor([0., inf, nan])"),
        ("round(tensor([-3, 3]))", "tensor([-3,  3])"),
        ("round(tensor([3.14159, 2.71828]), decimals=2)", "tensor([3.1400, 2.7200])"),
    ],
};

fn body(x: &Expr, attrs: &Attrs) -> Expr {
    let power = 10.0_f64.powi(op::int(attrs, 0).unsigned_abs().min(300) as i32);
    match op::int(attrs, 0) {
        0 => x.clone().round(),
        1.. => (x.clone() * power).round() / power,
        _ => (x.clone() / power).round() * power,
    }
}

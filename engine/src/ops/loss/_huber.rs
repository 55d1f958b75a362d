//! `_huber`: `near * d^2` where `d = |input - target|` is below `delta`, `far * (d - delta / 2)` elsewhere: losses that grow with the square of small
//! differences and with large ones.

use crate::expr::Expr;
use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Default, Grad, Onnx, Param, ParamKind, Surface};
use crate::{OpDef, rules};

pub static OP: OpDef = OpDef {
    name: "_huber",
    doc: "`near * d^2` where `d = |input - target|` is below `delta`, `far * (d - delta / 2)` elsewhere: losses that grow with the square of small differences and with large ones.",
    meaning: Meaning::Expression,
    params: &[
        Param::tensor("input"),
        Param::tensor("target"),
        Param::with("delta", ParamKind::Float, Default::Float(1.0)),
        Param::with("near", ParamKind::Float, Default::Float(0.5)),
        Param::with("far", ParamKind::Float, Default::Float(1.0)),
    ],
    dtypes: DTypeRule::FloatsToSame,
    infer: rules::broadcast,
    body: Body::Scalar(|x, _| {
        let [delta, near, far] = [0, 1, 2].map(Expr::param);
        let distance = (x[0].clone() - x[1].clone()).abs();
        let above = far * (distance.clone() - delta.clone() * 0.5);
        let below = near * (distance.clone() * distance.clone());
        Expr::select(distance.lt(delta), below, above)
    }),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: false,
    internal: true,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        (
            "_huber(tensor([1.0, 2.0, nan]), tensor([0.5, 5.0, 0.0]), 1.0, 0.5, 1.0)",
            "tensor([0.1250, 2.5000,    nan])",
        ),
        ("_huber(tensor([inf]), tensor([0.0]), 2.0, 0.25, 1.0)", "tensor([inf])"),
    ],
};

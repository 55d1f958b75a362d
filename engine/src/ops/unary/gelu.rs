//! `gelu`: x times the normal distribution function at x; `approximate` is `none` or `tanh`.

use crate::expr::Expr;
use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Default, Grad, Onnx, OpDef, Param, ParamKind, Surface};
use crate::rules;
use crate::{Attr, Attrs};
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_PI};

/// The row of `gelu`.
pub static OP: OpDef = OpDef {
    name: "gelu",
    doc: "x times the normal distribution function at x; `approximate` is `none` or `tanh`.",
    meaning: Meaning::Expression,
    params: &[
        Param::tensor("input"),
        Param::with("approximate", ParamKind::Str, Default::Str("none")),
    ],
    dtypes: DTypeRule::FloatsToSame,
    infer: rules::broadcast,
    body: Body::Scalar(|x, attrs| body(&x[0], attrs)),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Gelu", 20, &[("approximate", "approximate")]),
    aliases: &[
        "megengine.functional.nn.gelu",
        "oneflow.gelu",
        "oneflow.nn.functional.gelu",
        "torch.nn.functional.gelu",
    ],
    examples: &[
        ("gelu(tensor([-1.5, -0.0, 0.5, 2.0]))", "tensor([-0.1002, -0.0000,  0.3457,  1.9545])"),
        ("gelu(tensor([0.0, nan]))", "tensor([0., nan])"),
        ("gelu(tensor([-1.0, 1.0]), approximate='tanh')", "tensor([-0.1588,  0.8412])"),
    ],
};

fn body(x: &Expr, attrs: &Attrs) -> Expr {
    let inner = if matches!(attrs.first(), Some(Attr::Str("tanh"))) {
        let cubic = x.clone() * x.clone().square() * 0.044715 + x.clone();
        (cubic * FRAC_2_PI.sqrt()).tanh()
    } else {
        (x.clone() * FRAC_1_SQRT_2).erf()
    };
    x.clone() * 0.5 * (inner + 1.0)
}

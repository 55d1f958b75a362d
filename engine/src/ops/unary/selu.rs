//! `selu`: the self-normalising exponential unit.

use crate::expr::Expr;
use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `selu`.
pub static OP: OpDef = OpDef {
    name: "selu",
    doc: "The self-normalising exponential unit.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::FloatsToSame,
    infer: rules::broadcast,
    body: Body::Unary(|x| {
        let bent = x.clone().expm1() * (ALPHA * SCALE);
        Expr::select(x.clone().gt(0.0), x * SCALE, bent)
    }),
    grad: Grad::Derived,
    step: Some(|_| "EluBackward0"),
    pure: true,
    method: false,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Selu", 6, &[]),
    aliases: &["oneflow.nn.functional.selu", "torch.nn.functional.selu"],
    examples: &[
        ("selu(tensor([-1.5, -0.0, 0.5, 2.0]))", "tensor([-1.3658, -0.0000,  0.5254,  2.1014])"),
        ("selu(tensor([0.0, inf, nan]))", "tensor([0., inf, nan])"),
        ("selu(tensor(-100.0))", "tensor(-1.7581)"),
    ],
};

/// Constants of Klambauer et al., 2017.
const ALPHA: f64 = 1.673_263_242_354_377_2;
const SCALE: f64 = 1.050_700_987_355_480_5;

//! `log_sigmoid`: `log(sigmoid(x))` without overflow.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `log_sigmoid`.
pub static OP: OpDef = OpDef {
    name: "log_sigmoid",
    doc: "`log(sigmoid(x))` without overflow.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::FloatsToSame,
    infer: rules::broadcast,
    body: Body::Unary(|x| -((-x).softplus())),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &[
        "megengine.functional.logsigmoid",
        "megengine.functional.nn.logsigmoid",
        "oneflow.nn.functional.logsigmoid",
        "torch.nn.functional.logsigmoid",
    ],
    examples: &[
        (
            "log_sigmoid(tensor([-1.5, -0.0, 0.5, 2.0]))",
            "tensor([-1.7014, -0.6931, -0.4741, -0.1269])",
        ),
        ("log_sigmoid(tensor([0.0, inf, nan]))", "tensor([-0.6931,  0.0000,     nan])"),
        ("log_sigmoid(tensor([-100.0, 100.0]))", "tensor([-1.0000e+02, -3.9236e-44])"),
    ],
};

//! `axpy`: `input + other * alpha`; what `add` and `sub` do when they are given an `alpha`.

use crate::op::{Body, DTypeRule, Grad, OpDef, Param};
use crate::rules;

/// The row of `axpy`.
pub static OP: OpDef = OpDef {
    name: "axpy",
    doc: "`input + other * alpha`: the step of an optimiser, as one op.",
    params: &[Param::tensor("input"), Param::tensor("other"), Param::tensor("alpha")],
    dtypes: DTypeRule::Promote,
    infer: rules::broadcast,
    body: Body::Ternary(|x, y, alpha| x + y * alpha),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: false,
    internal: false,
    onnx: &[],
    aliases: &[],
    examples: &[
        ("axpy(tensor([1.0, 2.0]), tensor([10.0, 20.0]), -0.5)", "tensor([-4., -8.])"),
        ("axpy(tensor([1.0]), tensor([inf]), 0.0)", "tensor([nan])"),
        ("axpy(tensor([1, 2]), tensor([[3], [4]]), 2)", "tensor([[ 7,  8],\n        [ 9, 10]])"),
    ],
};

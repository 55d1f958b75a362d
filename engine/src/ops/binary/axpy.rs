//! `axpy`: `input + other * alpha`; what `add` and `sub` do when they are given an `alpha`.

use crate::dtype::result_type;
use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, InferCx, Onnx, OpDef, Param, Surface};
use crate::{Attrs, DType, Error, Result, Tensor, rules};

/// The row of `axpy`.
pub static OP: OpDef = OpDef {
    name: "axpy",
    doc: "`input + other * alpha`: the step of an optimiser, as one op.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::tensor("other"), Param::tensor("alpha")],
    dtypes: DTypeRule::Custom(of_terms),
    infer: rules::broadcast,
    body: Body::Ternary(|x, y, alpha| x + y * alpha),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface { refuses: Some(alpha_beside_whole), ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("axpy(tensor([1.0, 2.0]), tensor([10.0, 20.0]), -0.5)", "tensor([-4., -8.])"),
        ("axpy(tensor([1.0]), tensor([inf]), 0.0)", "tensor([nan])"),
        ("axpy(tensor([1, 2]), tensor([[3], [4]]), 2)", "tensor([[ 7,  8],\n        [ 9, 10]])"),
    ],
};

/// The dtype of the sum without `alpha`: of whole numbers only whole multiples are added.
fn of_terms(inputs: &[Tensor], _attrs: &Attrs) -> Result<(DType, DType)> {
    let dtype = result_type(inputs[..2].iter().map(|it| (it.dtype(), it.strength())));
    let alpha = inputs[2].dtype();
    if alpha.is_float() && !dtype.is_float() {
        let allowed = "a whole number as alpha, as what is added is whole";
        return Err(Error::DType { op: OP.name, dtype: alpha, allowed });
    }
    Ok((dtype, dtype))
}

/// The dtype of whole numbers must hold what they are multiplied by.
fn alpha_beside_whole(cx: &InferCx<'_>) -> Result<()> {
    let Some(alpha) = cx.inputs[2].as_number() else { return Ok(()) };
    let terms = [cx.inputs[0].dtype(), cx.inputs[1].dtype()];
    if cx.inputs[2].dtype().is_complex() && !terms.iter().any(|it| it.is_complex()) {
        let allowed = "a real alpha, as what is added is real";
        return Err(Error::DType { op: "add", dtype: cx.inputs[2].dtype(), allowed });
    }
    let Some(dtype) = rules::whole_dtype(cx)? else { return Ok(()) };
    rules::check_fits("add", "alpha", alpha, dtype)
}

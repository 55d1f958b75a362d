//! `pow`: x to the power of y.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, InferCx, Onnx, OpDef, Param, Surface};
use crate::{DType, Error, Number, Result, Tensor, rules};

/// The row of `pow`.
pub static OP: OpDef = OpDef {
    name: "pow",
    doc: "x to the power of y. Negative powers of whole numbers are rounded towards 0, and a number is refused as such an exponent.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::tensor("exponent")],
    dtypes: DTypeRule::PromoteNumbers,
    infer: rules::broadcast,
    body: Body::Binary(|x, y| x.pow(y)),
    grad: Grad::Derived,
    step: Some(|cx| match (cx.is_number(0), cx.is_number(1)) {
        (true, _) => "PowBackward2",
        (_, true) => "PowBackward0",
        _ => "PowBackward1",
    }),
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        refuses: Some(number_beside_whole),
        instead: Some(simpler),
        ..Surface::PLAIN
    },
    onnx: Onnx::named("Pow", 15, &[]),
    aliases: &["megengine.functional.pow", "oneflow.pow"],
    examples: &[
        (
            "pow(tensor([-7.0, 7.0, 0.0]), tensor([2.0, -2.0, 0.0]))",
            "tensor([4.9000e+01, 2.0408e-02, 1.0000e+00])",
        ),
        (
            "pow(tensor([1.0, inf]), tensor([[nan], [2.0]]))",
            "tensor([[1., nan],\n        [1., inf]])",
        ),
        ("pow(tensor([2, -3]), tensor([10, 3]))", "tensor([1024,  -27])"),
        ("pow(tensor([2, -1, 1, 0]), tensor(-3))", "tensor([ 0, -1,  1,  0])"),
    ],
};

/// The second and third power of floats are products, each rounded, as in PyTorch; truth values to the power of one are they themselves, or all true.
fn simpler(inputs: &[Tensor]) -> Option<&'static OpDef> {
    let exponent = inputs[1].as_number()?;
    if inputs[0].dtype() == DType::Bool
        && let Number::Bool(stays) = exponent
    {
        let ones = &crate::ops::create::ones_like::OP;
        return Some(if stays { &crate::ops::unary::clone::OP } else { ones });
    }
    if !inputs[0].dtype().is_float() || inputs[0].as_number().is_some() {
        return None;
    }
    match exponent.as_f64() {
        2.0 => Some(&crate::ops::unary::square::OP),
        3.0 => Some(&crate::ops::unary::cube::OP),
        _ => None,
    }
}

/// A number as exponent of whole numbers must not be negative, whatever the elements are, and their dtype must hold it.
fn number_beside_whole(cx: &InferCx<'_>) -> Result<()> {
    let Some(exponent) = cx.inputs[1].as_number() else { return Ok(()) };
    let Some(dtype) = rules::whole_dtype(cx)? else { return Ok(()) };
    if exponent.as_f64() < 0.0 {
        let problem = "is negative; integers have no negative powers, convert to float first";
        return Err(Error::Attr { op: cx.op.name, name: "exponent", problem: problem.into() });
    }
    rules::check_fits(cx.op.name, "exponent", exponent, dtype)
}

//! `masked_fill`: the input with a number where a mask holds.

use crate::dtype::Strength;
use crate::expr::Expr;
use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;
use crate::{Attrs, DType, Error, Result, Tensor};

pub static OP: OpDef = OpDef {
    name: "masked_fill",
    doc: "The input with the number `value` where the bool `mask` holds.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::tensor("mask"), Param::tensor("value")],
    dtypes: DTypeRule::Custom(of_input),
    infer: rules::broadcast,
    body: Body::Ternary(|x, mask, value| Expr::select(mask, value, x)),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface { refuses: Some(rules::check_numbers), ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &["oneflow.masked_fill"],
    examples: &[
        (
            "masked_fill(tensor([1.0, 2.0, 3.0]), tensor([True, False, True]), 0.0)",
            "tensor([0., 2., 0.])",
        ),
        (
            "masked_fill(tensor([[1, 2], [3, 4]]), tensor([True, False]), -1)",
            "tensor([[-1,  2],\n        [-1,  4]])",
        ),
        ("masked_fill(tensor([1, 2, 3]), tensor([True, False, True]), 2.9)", "tensor([2, 2, 2])"),
        (
            "masked_fill(tensor([1.0, 2.0]), tensor([[True], [False]]), -inf)",
            "tensor([[-inf, -inf],\n        [1., 2.]])",
        ),
    ],
};

/// The dtype of the input; of a float that goes into whole numbers the fraction is left out.
fn of_input(inputs: &[Tensor], _attrs: &Attrs) -> Result<(DType, DType)> {
    let refuse = |dtype, allowed| Err(Error::DType { op: "masked_fill", dtype, allowed });
    let (dtype, mask, value) = (inputs[0].dtype(), inputs[1].dtype(), inputs[2].dtype());
    if mask != DType::Bool {
        return refuse(mask, "a bool mask");
    }
    if inputs[2].strength() == Strength::Tensor {
        let shapes = inputs.iter().map(|it| it.shape().clone()).collect();
        let rule =
            "the value must be a number or a tensor without dimensions; torch.where takes others"
                .into();
        return Err(Error::Shapes { op: OP.name, shapes, rule });
    }
    if value.is_complex() && !dtype.is_complex() {
        return refuse(value, "a real number as value, as the input holds real numbers");
    }
    Ok((dtype, dtype))
}

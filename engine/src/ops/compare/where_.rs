//! `where`: `input` where the condition holds, else `other`.

use crate::expr::Expr;
use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Form, Grad, Is, Onnx, OpDef, Param, Surface, When};
use crate::rules;
use crate::{Attrs, DType, Error, Result, Tensor};

/// The row of `where`.
pub static OP: OpDef = OpDef {
    name: "where",
    doc: "`input` where the condition holds, else `other`.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("condition"), Param::tensor("input"), Param::tensor("other")],
    dtypes: DTypeRule::Custom(chosen),
    infer: rules::broadcast,
    body: Body::Ternary(Expr::select),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface {
        has_condition: true,
        refuses: Some(rules::check_numbers),
        form: Some(Form::new(
            "where_true",
            When::All(&[
                When::Arg("condition", Is::Given),
                When::Arg("input", Is::Absent),
                When::Arg("other", Is::Absent),
            ]),
        )),
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &["megengine.functional.where", "oneflow.where"],
    examples: &[
        (
            "where(tensor([True, False]), tensor([1.0, 2.0]), tensor([3.0, nan]))",
            "tensor([1., nan])",
        ),
        (
            "where(tensor([[True], [False]]), tensor([1, 2]), tensor(0))",
            "tensor([[1, 2],\n        [0, 0]])",
        ),
        ("where(tensor(False), tensor(inf), tensor(1.0))", "tensor(1.)"),
        ("where(tensor([2, 0], dtype=uint8), tensor([1, 2]), tensor([3, 4]))", "tensor([1, 4])"),
    ],
};

/// The dtype of what is chosen between; the condition takes no part.
fn chosen(inputs: &[Tensor], _attrs: &Attrs) -> Result<(DType, DType)> {
    let condition = inputs[0].dtype();
    // Bytes are true or false, as in `x[mask]`.
    if !condition.is_mask() {
        let allowed = "a bool condition: compare, or write `x != 0`";
        return Err(Error::DType { op: OP.name, dtype: condition, allowed });
    }
    let operands = inputs[1..].iter().map(|it| (it.dtype(), it.strength()));
    let dtype = crate::dtype::result_type(operands);
    Ok((dtype, dtype))
}

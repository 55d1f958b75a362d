//! `nanmedian`: the median of what is not NaN, or along `dim` with where it is; NaN where there is nothing else.

use super::median;
use crate::functional::{floor_divide, maximum, sub};
use crate::meaning::Meaning;
use crate::op::{
    Body, ComposedCx, DTypeRule, Default, Grad, Onnx, Param, ParamKind, Returns, Surface, shapes,
};
use crate::{OpDef, Outputs, Result, Tensor, rules};

pub static OP: OpDef = OpDef {
    name: "nanmedian",
    doc: "The median of the elements that are not NaN, or along `dim` with where it is; of an even number the lower one. NaN where there is nothing else.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::with("dim", ParamKind::OptInt, Default::None),
        Param::with("keepdim", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface { returns: Returns::Named, shapes: shapes::WITH_INDICES, ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("nanmedian(tensor([3.0, nan, 2.0]))", "tensor(2.)"),
        ("nanmedian(tensor([4, 1, 3, 2]))", "tensor(2)"),
        (
            "nanmedian(tensor([[3.0, nan, 2.0], [nan, nan, nan]]), 1)",
            "torch.return_types.nanmedian(
values=tensor([2., nan]),
indices=tensor([2, 0]))",
        ),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    median::of(cx, true, |size, n_nan| {
        let n_numbers = sub(&Tensor::int_number(size), n_nan)?;
        let last = maximum(&sub(&n_numbers, &Tensor::int_number(1))?, &Tensor::int_number(0))?;
        floor_divide(&last, &Tensor::int_number(2))
    })
}

//! `unbind`: the elements along a dimension, which goes away, one by one.

use super::dim_attr;
use crate::functional::select;
use crate::meaning::Meaning;
use crate::op::{
    Body, ComposedCx, DTypeRule, Default, Grad, Onnx, Param, ParamKind, Returns, Surface,
};
use crate::{Error, OpDef, Outputs, Result, rules};

pub static OP: OpDef = OpDef {
    name: "unbind",
    doc: "The elements along a dimension, which goes away, one by one.",
    meaning: Meaning::Composed,
    params: &[Param::tensor("input"), Param::with("dim", ParamKind::Int, Default::Int(0))],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "UnbindBackward0"),
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        returns: Returns::Views,
        shapes: "as many results as the size of dim, which is left out",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("unbind(tensor([[1, 2], [3, 4]]))", "(tensor([1, 2]), tensor([3, 4]))"),
        ("unbind(tensor([[1, 2], [3, 4]]), 1)", "(tensor([1, 3]), tensor([2, 4]))"),
        ("unbind(tensor([7]))", "(tensor(7),)"),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let input = cx.input(0)?;
    let dim = dim_attr(cx.op.name, cx.attrs, 0, input.rank())?;
    let Some(&size) = input.shape().get(dim) else {
        return Err(Error::DimRange { op: cx.op.name, dim: 0, rank: 0 });
    };
    super::views(size, |at| select(input, dim as i64, at as i64))
}

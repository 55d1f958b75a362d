//! `chunk`: at most `chunks` pieces of equal size along a dimension; the last may be smaller.

use super::dim_attr;
use crate::meaning::Meaning;
use crate::op::{
    Body, ComposedCx, DTypeRule, Default, Grad, Onnx, Param, ParamKind, Returns, Surface,
};
use crate::{Error, OpDef, Outputs, Result, rules};

pub static OP: OpDef = OpDef {
    name: "chunk",
    doc: "At most `chunks` pieces of equal size along a dimension; the last may be smaller.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::required("chunks", ParamKind::Int),
        Param::with("dim", ParamKind::Int, Default::Int(0)),
    ],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "SplitBackward0"),
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        returns: Returns::Views,
        shapes: "pieces along dim; the last may be smaller",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &["oneflow.chunk"],
    examples: &[
        ("chunk(tensor([1, 2, 3, 4, 5]), 2)", "(tensor([1, 2, 3]), tensor([4, 5]))"),
        ("chunk(tensor([1, 2, 3, 4, 5]), 4)", "(tensor([1, 2]), tensor([3, 4]), tensor([5]))"),
        ("chunk(tensor([[1, 2]]), 2, -1)", "(tensor([[1]]), tensor([[2]]))"),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let input = cx.input(0)?;
    let dim = dim_attr(cx.op.name, cx.attrs, 1, input.rank())?;
    let n_parts = cx.int(0);
    if n_parts < 1 {
        return Err(Error::Attr {
            op: cx.op.name,
            name: "chunks",
            problem: "must be at least 1".into(),
        });
    }
    let size = input.shape().get(dim).copied().unwrap_or(0);
    let step = size.div_ceil(n_parts as usize).max(1);
    let sizes: Vec<usize> = match size {
        0 => vec![0; (n_parts as usize).min(1024)],
        _ => (0..size.div_ceil(step)).map(|it| step.min(size - it * step)).collect(),
    };
    super::pieces(input, dim, &sizes)
}

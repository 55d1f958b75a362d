//! `split`: pieces along a dimension: of one size (the last may be smaller), or of the sizes given.

use super::{dim_attr, size_list};
use crate::meaning::Meaning;
use crate::op::{
    Body, ComposedCx, DTypeRule, Default, Grad, Onnx, Param, ParamKind, Returns, Surface,
};
use crate::{Attr, Error, OpDef, Outputs, Result, rules};

pub static OP: OpDef = OpDef {
    name: "split",
    doc: "Pieces along a dimension: of one size (the last may be smaller), or of the sizes given.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::required("split_size", ParamKind::Ints),
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
        shapes: "pieces of the given sizes along dim",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &["oneflow.split"],
    examples: &[
        ("split(tensor([1, 2, 3, 4, 5]), 2)", "(tensor([1, 2]), tensor([3, 4]), tensor([5]))"),
        ("split(tensor([1, 2, 3]), [1, 2])", "(tensor([1]), tensor([2, 3]))"),
        ("split(tensor([[1, 2]]), 1, 1)", "(tensor([[1]]), tensor([[2]]))"),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let input = cx.input(0)?;
    let dim = dim_attr(cx.op.name, cx.attrs, 1, input.rank())?;
    let size = input.shape().get(dim).copied().unwrap_or(0);
    let refuse = |problem: String| Error::Attr { op: cx.op.name, name: "split_size", problem };
    let sizes = size_list(cx.op.name, "split_size", &cx.ints(0).unwrap_or_default())?;
    let sizes: Vec<usize> = match &cx.attrs[0] {
        Attr::Int(_) => {
            let step = sizes[0];
            if step == 0 && size > 0 {
                return Err(refuse("must not be 0".into()));
            }
            let n_parts = if size == 0 { 1 } else { size.div_ceil(step) };
            (0..n_parts).map(|it| step.min(size - it * step)).collect()
        }
        _ if sizes.iter().sum::<usize>() != size => {
            return Err(refuse(format!("must add up to the size {size}")));
        }
        _ => sizes.to_vec(),
    };
    super::pieces(input, dim, &sizes)
}

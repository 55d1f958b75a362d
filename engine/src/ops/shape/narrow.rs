//! `narrow`: `length` elements from `start` along a dimension.

use smallvec::smallvec;

use super::dim_attr;
use crate::functional::slice;
use crate::meaning::Meaning;
use crate::op::{Body, ComposedCx, DTypeRule, Grad, Onnx, Param, ParamKind, Returns, Surface};
use crate::{Error, OpDef, Outputs, Result, rules};

pub static OP: OpDef = OpDef {
    name: "narrow",
    doc: "`length` elements from `start` along a dimension.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::required("dim", ParamKind::Int),
        Param::required("start", ParamKind::Int),
        Param::required("length", ParamKind::Int),
    ],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        returns: Returns::View,
        shapes: "the shape of the input, with the given length along dim",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &["oneflow.narrow"],
    examples: &[
        ("narrow(tensor([1, 2, 3, 4]), 0, 1, 2)", "tensor([2, 3])"),
        ("narrow(tensor([[1, 2], [3, 4]]), 1, 0, 1)", "tensor([[1],\n        [3]])"),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let input = cx.input(0)?;
    let dim = dim_attr(cx.op.name, cx.attrs, 0, input.rank())?;
    let size = input.shape().get(dim).copied().unwrap_or(0) as i64;
    let (start, len) = (cx.int(1), cx.int(2));
    let start = if start < 0 { start.saturating_add(size) } else { start };
    if start < 0 || len < 0 || start.saturating_add(len) > size {
        let problem = format!("{len} from {start} does not lie within a dimension of size {size}");
        return Err(Error::Attr { op: cx.op.name, name: "length", problem });
    }
    Ok(smallvec![slice(input, dim as i64, start, start + len, 1)?])
}

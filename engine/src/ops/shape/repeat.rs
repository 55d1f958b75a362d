//! `repeat`: copies side by side: `repeats` per dimension, which may add dimensions in front.

use crate::meaning::Meaning;
use crate::op::{Body, ComposedCx, DTypeRule, Grad, Onnx, Param, ParamKind, Surface};
use crate::{Error, OpDef, Outputs, Result, rules};

pub static OP: OpDef = OpDef {
    name: "repeat",
    doc: "Copies side by side: `repeats` per dimension, which may add dimensions in front.",
    meaning: Meaning::Composed,
    params: &[Param::tensor("input"), Param::required("repeats", ParamKind::Ints)],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "RepeatBackward0"),
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        shapes: "each size times its number; more numbers than dimensions add some in front",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &["oneflow.repeat"],
    examples: &[
        ("repeat(tensor([1, 2]), (2,))", "tensor([1, 2, 1, 2])"),
        ("repeat(tensor([1, 2]), (2, 1))", "tensor([[1, 2],\n        [1, 2]])"),
        ("repeat(tensor([[1], [2]]), (1, 0)).shape", "torch.Size([2, 0])"),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let (rank, given) = (cx.input(0)?.rank(), cx.ints(0).unwrap_or_default().len());
    if given < rank {
        let problem = format!(
            "has {given} numbers for {rank} dimensions; give one for each, or use tile(), which takes 1 for those in front"
        );
        return Err(Error::Attr { op: cx.op.name, name: "repeats", problem });
    }
    super::tile::body(cx)
}

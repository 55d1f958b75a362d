//! `t`: the transpose of a matrix; vectors and scalars stay as they are.

use smallvec::smallvec;

use crate::functional::transpose;
use crate::meaning::Meaning;
use crate::op::{Body, ComposedCx, DTypeRule, Grad, Onnx, Param, Returns, Surface};
use crate::{Error, OpDef, Outputs, Result, rules};

pub static OP: OpDef = OpDef {
    name: "t",
    doc: "The transpose of a matrix; vectors and scalars stay as they are.",
    meaning: Meaning::Composed,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "TBackward0"),
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        returns: Returns::View,
        shapes: "[N, M] gives [M, N]; vectors stay",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &["oneflow.t"],
    examples: &[
        ("t(tensor([[1, 2], [3, 4]]))", "tensor([[1, 3],\n        [2, 4]])"),
        ("t(tensor([1, 2]))", "tensor([1, 2])"),
        ("t(zeros(0, 3)).shape", "torch.Size([3, 0])"),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let input = cx.input(0)?;
    match input.rank() {
        0 | 1 => Ok(smallvec![input.clone()]),
        2 => Ok(smallvec![transpose(input, 0, 1)?]),
        _ => Err(Error::Shapes {
            op: cx.op.name,
            shapes: vec![input.shape().clone()],
            rule: "a matrix is needed; use .mT for a batch of matrices".into(),
        }),
    }
}

//! `diag`: the matrix with a vector as its diagonal, or the diagonal of a matrix.

use smallvec::smallvec;

use crate::meaning::Meaning;
use crate::op::{Body, ComposedCx, DTypeRule, Default, Grad, Onnx, Param, ParamKind, Surface};
use crate::{Attr, Error, OpDef, Outputs, Result, apply, rules};

pub static OP: OpDef = OpDef {
    name: "diag",
    doc: "The matrix with a vector as its diagonal, or the diagonal of a matrix.",
    meaning: Meaning::Composed,
    params: &[Param::tensor("input"), Param::with("diagonal", ParamKind::Int, Default::Int(0))],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        shapes: "[N] gives [N + |diagonal|, N + |diagonal|], a matrix gives one diagonal",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &["megengine.functional.diag", "oneflow.diag"],
    examples: &[
        ("diag(tensor([1, 2]))", "tensor([[1, 0],\n        [0, 2]])"),
        ("diag(tensor([[1, 2], [3, 4]]))", "tensor([1, 4])"),
        ("diag(tensor([1.0]), -1)", "tensor([[0., 0.],\n        [1., 0.]])"),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let (input, offset) = (cx.input(0)?, Attr::Int(cx.int(0)));
    let one = std::slice::from_ref(input);
    match input.rank() {
        1 => apply(&super::diag_embed::OP, one, &smallvec![offset, Attr::Int(-2), Attr::Int(-1)]),
        2 => apply(&super::diagonal::OP, one, &smallvec![offset, Attr::Int(0), Attr::Int(1)]),
        _ => Err(Error::Shapes {
            op: cx.op.name,
            shapes: vec![input.shape().clone()],
            rule: "a vector or a matrix is needed".into(),
        }),
    }
}

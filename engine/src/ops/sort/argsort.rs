//! `argsort`: where the elements in order come from, along a dimension.

use crate::meaning::Meaning;
use crate::op::{
    Body, ComposedCx, DTypeRule, Default, Grad, Onnx, Param, ParamKind, Surface, shapes,
};
use crate::{OpDef, Outputs, Result, apply, rules};

pub static OP: OpDef = OpDef {
    name: "argsort",
    doc: "Where the elements in order come from, along a dimension.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::with("dim", ParamKind::Int, Default::Int(-1)),
        Param::with("descending", ParamKind::Bool, Default::Bool(false)),
        Param::with("stable", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Stops("indices are whole numbers"),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface { shapes: shapes::SAME, ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &["megengine.functional.argsort", "oneflow.argsort"],
    examples: &[
        ("argsort(tensor([3.0, 1.0, 2.0]))", "tensor([1, 2, 0])"),
        ("argsort(tensor([[1, 3], [2, 0]]), 1, True)", "tensor([[1, 0],\n        [0, 1]])"),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let parts = apply(&super::sort::OP, &[cx.input(0)?.detach()], cx.attrs)?;
    Ok(parts.into_iter().skip(1).collect())
}

//! `stop_gradient`: the same elements, through which no gradient flows.

use smallvec::smallvec;

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, Param, Returns, Surface};
use crate::{OpDef, Result};

/// The row of `stop_gradient`.
pub static OP: OpDef = OpDef {
    name: "stop_gradient",
    doc: "The same elements, through which no gradient flows: what `detach` and `no_grad` come to in the graph of a branch or loop.",
    meaning: Meaning::of(|cx| cx.input(0).clone()),
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::Any,
    infer: |cx| -> Result<_> { Ok(smallvec![cx.inputs[0].meta()]) },
    body: Body::View(|layout, _, _| Some(layout.clone())),
    grad: Grad::Stops("that is what it is for"),
    step: None,
    pure: true,
    method: false,
    internal: true,
    surface: Surface { returns: Returns::View, ..Surface::PLAIN },
    onnx: Onnx::written("Identity", super::onnx::itself),
    aliases: &[],
    examples: &[("stop_gradient(tensor([1.0, 2.0], requires_grad=True))", "tensor([1., 2.])")],
};

//! `std_mean`: the standard deviation and the mean over dimensions, or of all elements.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Default, Grad, Onnx, Param, ParamKind, Surface, shapes};
use crate::{OpDef, rules};

pub static OP: OpDef = OpDef {
    name: "std_mean",
    doc: "The standard deviation and the mean over dimensions, or of all elements.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::with("dim", ParamKind::OptInts, Default::None),
        Param::with("correction", ParamKind::OptFloat, Default::Int(1)),
        Param::with("keepdim", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::FloatsToSame,
    infer: rules::composed,
    body: Body::Composed(|cx| super::with_mean(cx, &super::std_::OP)),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface {
        shapes: shapes::TWICE_REDUCED,
        complex: Some(|cx| super::with_mean(cx, &super::std_::OP)),
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("std_mean(tensor([1.0, 2.0, 6.0]))", "(tensor(2.6458), tensor(3.))"),
        (
            "std_mean(tensor([[1.0, 2.0], [3.0, 5.0]]), 1, correction=0)",
            "(tensor([0.5000, 1.0000]), tensor([1.5000, 4.0000]))",
        ),
        ("std_mean(tensor([[1.0, 3.0]]), 1, keepdim=True)", "(tensor([[1.4142]]), tensor([[2.]]))"),
    ],
};

//! `nll_loss`: the negative log probability of the target class; `input` holds log probabilities, classes in dimension 1 (0 for a vector).

use super::class_rows::{Rows, refuse_narrow};
use super::reduction;
use crate::functional::neg;
use crate::meaning::Meaning;
use crate::op::{
    Autocast, Body, ComposedCx, DTypeRule, Default, Form, Grad, Onnx, Param, ParamKind, Surface,
    shapes,
};
use crate::{OpDef, Outputs, Result, rules};

pub static OP: OpDef = OpDef {
    name: "nll_loss",
    doc: "The negative log probability of the target class; `input` holds log probabilities, classes in dimension 1 (0 for a vector).",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::tensor("target"),
        Param::with("weight", ParamKind::OptTensor, Default::None),
        Param::with("ignore_index", ParamKind::Int, Default::Int(-100)),
        Param::with("reduction", ParamKind::Str, Default::Str("mean")),
    ],
    dtypes: DTypeRule::FloatFirst,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "NllLossBackward0"),
    pure: true,
    method: false,
    internal: false,
    surface: Surface {
        autocast: Autocast::Float32,
        form: Some(Form::new("nll_loss", super::FLAGS)),
        refuses_in_torch: Some(refuse_narrow),
        shapes: shapes::CLASSES,
        takes_no_numbers: true,
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &["megengine.functional.loss.nll_loss", "oneflow.nn.functional.nll_loss"],
    examples: &[
        ("nll_loss(tensor([[-0.5, -1.0], [-2.0, -0.1]]), tensor([0, 1]))", "tensor(0.3000)"),
        ("nll_loss(tensor([[-0.5, -1.0], [-2.0, -0.1]]), tensor([0, -100]))", "tensor(0.5000)"),
        ("nll_loss(tensor([-0.5, -1.0]), tensor(1))", "tensor(1.)"),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let (log_p, target) = (cx.input(0)?, cx.input(1)?);
    let rows = Rows::new(cx.op.name, log_p, target)?;
    let picked = neg(&rows.picked(&rows.scores, cx.int(0))?)?;
    rows.finish(picked, cx.opt_input(2), cx.int(0), reduction(cx.op.name, cx.attrs, 1)?, target)
}

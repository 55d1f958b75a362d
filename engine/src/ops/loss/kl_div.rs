//! `kl_div`: the divergence of `input` (log probabilities) from `target` (probabilities, or their logarithms with log_target): `t (log t - x)`.

use smallvec::smallvec;

use super::{reduced, reduction};
use crate::functional::{div, eq, exp, log, mul, num, select_where, sub, sum};
use crate::meaning::Meaning;
use crate::op::{
    Autocast, Body, ComposedCx, DTypeRule, Default, Form, Grad, Onnx, Param, ParamKind, Surface,
    shapes,
};
use crate::{Attr, OpDef, Outputs, Result, functional, rules};

pub static OP: OpDef = OpDef {
    name: "kl_div",
    doc: "The divergence of `input` (log probabilities) from `target` (probabilities, or their logarithms with log_target): `t (log t - x)`. Reduction `batchmean` divides by the batch size.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::tensor("target"),
        Param::with("reduction", ParamKind::Str, Default::Str("mean")),
        Param::with("log_target", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::FloatsToSame,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface {
        autocast: Autocast::Float32,
        form: Some(Form::new("kl_div", super::FLAGS)),
        shapes: shapes::LOSS,
        takes_no_numbers: true,
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &["oneflow.nn.functional.kl_div"],
    examples: &[
        ("kl_div(tensor([-1.0, -2.0]), tensor([0.5, 0.5]), reduction=\"sum\")", "tensor(0.8069)"),
        (
            "kl_div(tensor([[-1.0, -2.0]]), tensor([[0.0, 1.0]]), reduction=\"batchmean\")",
            "tensor(2.)",
        ),
        ("kl_div(tensor([-1.0]), tensor([-0.5]), log_target=True)", "tensor(0.3033)"),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let (x, target) = (cx.input(0)?, cx.input(1)?);
    let losses = if cx.flag(1) {
        mul(&exp(target)?, &sub(target, x)?)?
    } else {
        // `t log t` is 0 where `t` is 0.
        let none = eq(target, &num(0.0))?;
        let one = functional::full(target.shape(), 1.0, target.dtype())?;
        let safe = select_where(&none, &one, target)?;
        sub(&mul(target, &log(&safe)?)?, &mul(target, x)?)?
    };
    if matches!(cx.attrs.first(), Some(Attr::Str("batchmean"))) {
        let n_rows = x.shape().first().copied().unwrap_or(1);
        return Ok(smallvec![div(&sum(&losses, &[], false)?, &num(n_rows as f64))?]);
    }
    reduced(&losses, reduction(cx.op.name, cx.attrs, 0)?)
}

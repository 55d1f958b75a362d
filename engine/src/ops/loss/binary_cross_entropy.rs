//! `binary_cross_entropy`: `-(t log p + (1 - t) log(1 - p))` for probabilities `p` and targets `t`; logarithms are cut at -100.

use smallvec::smallvec;

use super::{reduced, reduction, same_floats, same_shapes};
use crate::functional::{add, le, log, maximum, mul, neg, num, select_where, sub, to};
use crate::meaning::Meaning;
use crate::op::{
    Autocast, Body, ComposedCx, DTypeRule, Default, Form, Grad, Onnx, Param, ParamKind, Surface,
    shapes,
};
use crate::{Attr, OpDef, Outputs, Result, Tensor, apply_one, rules};

pub static OP: OpDef = OpDef {
    name: "binary_cross_entropy",
    doc: "`-(t log p + (1 - t) log(1 - p))` for probabilities `p` and targets `t`; logarithms are cut at -100.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::tensor("target"),
        Param::with("weight", ParamKind::OptTensor, Default::None),
        Param::with("reduction", ParamKind::Str, Default::Str("mean")),
    ],
    dtypes: DTypeRule::FloatFirst,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "BinaryCrossEntropyBackward0"),
    pure: true,
    method: false,
    internal: false,
    surface: Surface {
        autocast: Autocast::Float32,
        form: Some(Form::new("binary_cross_entropy", super::FLAGS)),
        shapes: shapes::LOSS,
        takes_no_numbers: true,
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &["oneflow.nn.functional.binary_cross_entropy"],
    examples: &[
        ("binary_cross_entropy(tensor([0.8, 0.4]), tensor([1.0, 0.0]))", "tensor(0.3670)"),
        (
            "binary_cross_entropy(tensor([0.0, 1.0]), tensor([1.0, 1.0]), reduction=\"none\")",
            "tensor([100.,  -0.])",
        ),
    ],
};

/// Arguments of the logarithm up to here count as having a logarithm of -100.
const LEAST: f64 = 3.720_075_976_020_836e-44;

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let (p, target) = same_shapes(cx)?;
    same_floats(cx)?;
    let checked = |it: &Tensor, name| {
        apply_one(&super::probabilities::OP, std::slice::from_ref(it), &smallvec![Attr::Str(name)])
    };
    let (p, target) = (&checked(p, "input")?, &checked(target, "target")?);
    let cut_log = |it: &Tensor| {
        select_where(&le(it, &num(LEAST))?, &num(-100.0), &log(&maximum(it, &num(LEAST))?)?)
    };
    let hit = mul(target, &cut_log(p)?)?;
    let miss = mul(&sub(&num(1.0), target)?, &cut_log(&sub(&num(1.0), p)?)?)?;
    let mut losses = neg(&add(&hit, &miss)?)?;
    if let Some(weight) = cx.opt_input(2) {
        losses = to(&mul(&losses, weight)?, losses.dtype())?;
    }
    reduced(&losses, reduction(cx.op.name, cx.attrs, 0)?)
}

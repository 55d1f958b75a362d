//! `conv1d`: sequences `[n, c, length]` convolved with kernels `[k, c / groups, r]`; then the bias is added.

use smallvec::smallvec;

use crate::functional::{squeeze, unsqueeze};
use crate::meaning::Meaning;
use crate::op::{Autocast, Body, ComposedCx, DTypeRule, Form, Grad, Is, Onnx, Surface, When};
use crate::{Attr, Error, OpDef, Outputs, Result, rules};

pub static OP: OpDef = OpDef {
    name: "conv1d",
    doc: "Sequences `[n, c, length]` convolved with kernels `[k, c / groups, r]`; then the bias is added.",
    meaning: Meaning::Composed,
    params: super::PARAMS,
    dtypes: DTypeRule::OfParts(&DTypeRule::SameNumbers),
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "ConvolutionBackward0"),
    pure: true,
    method: false,
    internal: false,
    surface: Surface {
        autocast: Autocast::Half,
        form: Some(Form::new("conv1d", When::Arg("padding", Is::Str))),
        shapes: "input [N, C, L], weight [O, C / groups, k], bias [O] give [N, O, L'] with L' = (L + 2 padding - dilation (k - 1) - 1) / stride + 1, rounded down",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &["torch.conv1d", "megengine.functional.conv1d", "oneflow.nn.functional.conv1d"],
    examples: &[
        ("conv1d(tensor([[[1.0, 2.0, 3.0]]]), tensor([[[1.0, 1.0]]]))", "tensor([[[3., 5.]]])"),
        (
            "conv1d(tensor([[[1.0, 2.0]]]), tensor([[[1.0, 0.0, 0.0]]]), padding=1)",
            "tensor([[[0., 1.]]])",
        ),
    ],
};

/// An image of height 1.
fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let (input, weight) = (unsqueeze(cx.input(0)?, -2)?, unsqueeze(cx.input(1)?, -2)?);
    let along = |idx: usize, name: &'static str, flat: i64| match cx.ints(idx).as_deref() {
        Some([one]) => Ok(Attr::ints(&[flat, *one])),
        _ => Err(Error::Attr { op: cx.op.name, name, problem: "takes one number".into() }),
    };
    let attrs = smallvec![
        along(0, "stride", 1)?,
        along(1, "padding", 0)?,
        along(2, "dilation", 1)?,
        Attr::Int(cx.int(3))
    ];
    let y = crate::apply::apply_optional(
        &super::conv2d::OP,
        &[Some(input), Some(weight), cx.opt_input(2).cloned()],
        &attrs,
    )?;
    Ok(smallvec![squeeze(&y[0], -2)?])
}

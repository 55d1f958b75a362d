//! `conv2d`: images `[n, c, h, w]` (or one image `[c, h, w]`) convolved with kernels `[k, c / groups, r, s]`; then the bias is added per kernel.

use smallvec::smallvec;

use super::whole;
use crate::functional::{squeeze, unsqueeze};
use crate::meaning::Meaning;
use crate::op::{
    Autocast, Body, ComposedCx, DTypeRule, Form, Grad, Is, Onnx, Surface, When, shapes,
};
use crate::{OpDef, Outputs, Result, Tensor, apply_one, rules};

pub static OP: OpDef = OpDef {
    name: "conv2d",
    doc: "Images `[n, c, h, w]` (or one image `[c, h, w]`) convolved with kernels `[k, c / groups, r, s]`; then the bias is added per kernel.",
    meaning: Meaning::Composed,
    params: super::PARAMS,
    dtypes: DTypeRule::OfParts(&DTypeRule::SameNumbers),
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface {
        autocast: Autocast::Half,
        form: Some(Form::new("conv2d", When::Arg("padding", Is::Str))),
        shapes: shapes::CONVOLVED,
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &["torch.conv2d", "megengine.functional.conv2d", "oneflow.nn.functional.conv2d"],
    examples: &[
        (
            "conv2d(ones(1, 1, 3, 3), ones(1, 1, 2, 2))",
            "tensor([[[[4., 4.],\n          [4., 4.]]]])",
        ),
        (
            "conv2d(ones(1, 1, 2, 2), ones(1, 1, 3, 3), tensor([10.0]), padding=1)",
            "tensor([[[[14., 14.],\n          [14., 14.]]]])",
        ),
        ("conv2d(ones(1, 2, 2), ones(1, 1, 1, 1), stride=2)", "tensor([[[1.]]])"),
    ],
};

/// One image is a batch of one.
fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let (input, weight) = (cx.input(0)?, cx.input(1)?);
    let single = input.rank() == 3;
    let batch = if single { unsqueeze(input, 0)? } else { input.clone() };
    let inputs: Vec<Tensor> =
        [batch, weight.clone()].into_iter().chain(cx.opt_input(2).cloned()).collect();
    let y = match input.dtype().is_int() {
        true => whole::convolved(&inputs, cx.attrs)?,
        false => apply_one(&super::convolution::OP, &inputs, cx.attrs)?,
    };
    Ok(smallvec![if single { squeeze(&y, 0)? } else { y }])
}

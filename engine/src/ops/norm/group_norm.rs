//! `group_norm`: channels (dimension 1) in `num_groups` groups, each standardised together with the positions of its channels; then times weight, plus bias, per channel.

use smallvec::smallvec;

use super::affine;
use crate::functional::reshape;
use crate::meaning::Meaning;
use crate::op::{Body, ComposedCx, DTypeRule, Default, Grad, Onnx, Param, ParamKind, Surface};
use crate::{Attr, Error, OpDef, Outputs, Result, Shape, apply, rules};

pub static OP: OpDef = OpDef {
    name: "group_norm",
    doc: "Channels (dimension 1) in `num_groups` groups, each standardised together with the positions of its channels; then times weight, plus bias, per channel.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::required("num_groups", ParamKind::Int),
        Param::with("weight", ParamKind::OptTensor, Default::None),
        Param::with("bias", ParamKind::OptTensor, Default::None),
        Param::with("eps", ParamKind::Float, Default::Float(1e-05)),
    ],
    dtypes: DTypeRule::FloatsLikeFirst,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "NativeGroupNormBackward0"),
    pure: true,
    method: false,
    internal: false,
    surface: Surface {
        shapes: "input [N, C, ...], weight and bias [C]; the shape of the input",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[
        "torch.group_norm",
        "megengine.functional.nn.group_norm",
        "oneflow.nn.functional.group_norm",
    ],
    examples: &[
        (
            "group_norm(tensor([[1.0, 3.0, 2.0, 6.0]]), 2)",
            "tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])",
        ),
        (
            "group_norm(tensor([[1.0, 3.0]]), 1, tensor([1.0, 2.0]), tensor([0.0, 1.0]))",
            "tensor([[-1.0000,  3.0000]])",
        ),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let (input, n_groups) = (cx.input(0)?, cx.int(0));
    // [N, groups, channels of a group, positions]: what follows on the rows is on what the kernel gives, as it lies.
    let split = match (&input.shape()[..], usize::try_from(n_groups)) {
        (&[n, n_channels, ref positions @ ..], Ok(it)) if it > 0 && n_channels % it == 0 => {
            [n, it, n_channels / it, positions.iter().product()]
        }
        _ => {
            let rule = format!("the channels (dimension 1) must split into {n_groups} groups");
            return Err(Error::Shapes {
                op: cx.op.name,
                shapes: vec![input.shape().clone()],
                rule,
            });
        }
    };
    let rows = reshape(input, &Shape::from(split))?;
    let attrs = smallvec![Attr::ints(&[2, 3]), Attr::Float(cx.float(1))];
    let parts = apply(&super::standardize::OP, &[rows], &attrs)?;
    let shape = Shape::from([split[1], split[2], 1]);
    let scaled = affine(parts[0].clone(), cx.opt_input(1), cx.opt_input(2), &shape)?;
    Ok(smallvec![reshape(&scaled, input.shape())?])
}

//! `layer_norm`: standardised over the last dimensions, which have `normalized_shape`; then times weight, plus bias.

use smallvec::smallvec;

use super::affine;
use crate::meaning::Meaning;
use crate::op::{Body, ComposedCx, DTypeRule, Default, Grad, Onnx, Param, ParamKind, Surface};
use crate::{Attr, Error, OpDef, Outputs, Result, Shape, apply, rules};

pub static OP: OpDef = OpDef {
    name: "layer_norm",
    doc: "Standardised over the last dimensions, which have `normalized_shape`; then times weight, plus bias.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::required("normalized_shape", ParamKind::Ints),
        Param::with("weight", ParamKind::OptTensor, Default::None),
        Param::with("bias", ParamKind::OptTensor, Default::None),
        Param::with("eps", ParamKind::Float, Default::Float(1e-05)),
    ],
    dtypes: DTypeRule::FloatsLikeFirst,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "NativeLayerNormBackward0"),
    pure: true,
    method: false,
    internal: false,
    surface: Surface {
        shapes: "input [..., normalized_shape...], weight and bias of normalized_shape; the shape of the input",
        ..Surface::PLAIN
    },
    onnx: &[Onnx { op_type: "LayerNormalization", since: 17, attrs: &[("eps", "epsilon")] }],
    aliases: &[
        "torch.layer_norm",
        "megengine.functional.layer_norm",
        "oneflow.nn.functional.layer_norm",
    ],
    examples: &[
        ("layer_norm(tensor([1.0, 2.0, 3.0]), (3,))", "tensor([-1.2247,  0.0000,  1.2247])"),
        (
            "layer_norm(tensor([[1.0, 2.0], [5.0, 5.0]]), (2,), tensor([2.0, 2.0]), tensor([0.0, 1.0]))",
            "tensor([[-2.0000,  3.0000],\n        [ 0.0000,  1.0000]])",
        ),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let input = cx.input(0)?;
    let sizes = cx.ints(0).unwrap_or_default();
    let lead = input.rank().checked_sub(sizes.len()).filter(|&lead| {
        !sizes.is_empty()
            && input.shape()[lead..].iter().zip(&sizes).all(|(&have, &want)| have as i64 == want)
    });
    let Some(lead) = lead else {
        let rule = format!("it must end in the normalized shape {:?}", sizes.as_slice());
        return Err(Error::Shapes { op: cx.op.name, shapes: vec![input.shape().clone()], rule });
    };
    let dims: Vec<i64> = (lead..input.rank()).map(|it| it as i64).collect();
    let attrs = smallvec![Attr::ints(&dims), Attr::Float(cx.float(1))];
    let mut parts = apply(&super::standardize::OP, std::slice::from_ref(input), &attrs)?;
    parts.truncate(1);
    let shape = Shape::new(&input.shape()[lead..]);
    let scaled = parts.pop().map(|it| affine(it, cx.opt_input(1), cx.opt_input(2), &shape));
    scaled.into_iter().collect()
}

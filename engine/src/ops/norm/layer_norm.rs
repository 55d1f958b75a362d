//! `layer_norm`: standardised over the last dimensions, which have `normalized_shape`; then times weight, plus bias.

use smallvec::{SmallVec, smallvec};

use crate::meaning::Meaning;
use crate::op::{Body, ComposedCx, DTypeRule, Default, Grad, Onnx, Param, ParamKind, Surface};
use crate::{Attr, DType, Error, OpDef, Outputs, Result, Shape, Tensor, apply, functional, rules};

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
    dtypes: DTypeRule::OfParts(&DTypeRule::FloatsLikeFirst),
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
    onnx: Onnx::Absent,
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
    let shape = Shape::new(&input.shape()[lead..]);
    let mut inputs: SmallVec<[Tensor; 3]> = smallvec![input.clone()];
    inputs.extend(parameters(cx, &shape)?);
    let sizes: Vec<i64> = shape.iter().map(|&it| it as i64).collect();
    let attrs = smallvec![Attr::ints(&sizes), Attr::Float(cx.float(1))];
    apply(&super::native_layer_norm::OP, &inputs, &attrs)
}

/// Weight and bias in the normalized shape; a bias alone gets a weight of ones.
fn parameters(cx: &ComposedCx<'_>, shape: &Shape) -> Result<SmallVec<[Tensor; 2]>> {
    let shaped = |it: &Tensor| match it.shape() == shape {
        true => Ok(it.clone()),
        false if it.numel() == shape.numel() => functional::reshape(it, shape),
        false => {
            let rule = format!("weight and bias must have the normalized shape {shape}");
            Err(Error::Shapes { op: cx.op.name, shapes: vec![it.shape().clone()], rule })
        }
    };
    let (weight, bias) = (cx.opt_input(1).map(shaped), cx.opt_input(2).map(shaped));
    let ones = |bias: &Result<Tensor>| {
        let dtype = bias.as_ref().map_or(DType::F32, Tensor::dtype);
        functional::full(shape, 1.0, dtype)
    };
    let weight = weight.or_else(|| bias.as_ref().map(ones));
    weight.into_iter().chain(bias).collect()
}

//! `conv_transpose2d`: the transposed convolution: images `[n, c, h, w]` (or one image `[c, h, w]`) spread with kernels `[c, k / groups, r, s]`; then the bias is added.

use smallvec::smallvec;

use super::{Steps, pair, whole};
use crate::apply::apply_optional;
use crate::functional::{add, reshape, squeeze, unsqueeze};
use crate::meaning::Meaning;
use crate::op::{
    Autocast, Body, ComposedCx, DTypeRule, Default, Grad, Onnx, Param, ParamKind, Surface,
};
use crate::{Attr, DType, Error, OpDef, Outputs, Result, Shape, apply_one, rules};

pub static OP: OpDef = OpDef {
    name: "conv_transpose2d",
    doc: "The transposed convolution: images `[n, c, h, w]` (or one image `[c, h, w]`) spread with kernels `[c, k / groups, r, s]`; then the bias is added.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::tensor("weight"),
        Param::with("bias", ParamKind::OptTensor, Default::None),
        Param::with("stride", ParamKind::Ints, Default::Ints(&[1])),
        Param::with("padding", ParamKind::Ints, Default::Ints(&[0])),
        Param::with("output_padding", ParamKind::Ints, Default::Ints(&[0])),
        Param::with("groups", ParamKind::Int, Default::Int(1)),
        Param::with("dilation", ParamKind::Ints, Default::Ints(&[1])),
    ],
    dtypes: DTypeRule::SameNumbers,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "ConvolutionBackward0"),
    pure: true,
    method: false,
    internal: false,
    surface: Surface {
        autocast: Autocast::Half,
        shapes: "input [N, C, H, W], weight [C, O / groups, kh, kw], bias [O] give [N, O, H', W'] with H' = (H - 1) stride - 2 padding + dilation (kh - 1) + output_padding + 1",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[
        "torch.conv_transpose2d",
        "megengine.functional.conv_transpose2d",
        "oneflow.nn.functional.conv_transpose2d",
    ],
    examples: &[
        (
            "conv_transpose2d(ones(1, 1, 1, 1), ones(1, 1, 2, 2))",
            "tensor([[[[1., 1.],\n          [1., 1.]]]])",
        ),
        (
            "conv_transpose2d(ones(1, 1, 2, 2), ones(1, 1, 2, 2), tensor([1.0]), stride=2)",
            "tensor([[[[2., 2., 2., 2.],\n          [2., 2., 2., 2.],\n          [2., 2., 2., 2.],\n          [2., 2., 2., 2.]]]])",
        ),
        (
            "conv_transpose2d(tensor([[[[2, 3]]]]), tensor([[[[1, 10]]]]))",
            "tensor([[[[ 2, 23, 30]]]])",
        ),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let (input, weight) = (cx.input(0)?, cx.input(1)?);
    if input.dtype().is_int() && input.dtype() != DType::I64 {
        let allowed = "floats, or int64";
        return Err(Error::DType { op: cx.op.name, dtype: input.dtype(), allowed });
    }
    if input.rank() == 3 {
        let batch = [Some(unsqueeze(input, 0)?), Some(weight.clone()), cx.opt_input(2).cloned()];
        let y = apply_optional(&OP, &batch, cx.attrs)?;
        return Ok(smallvec![squeeze(&y[0], 0)?]);
    }
    let (stride, padding, dilation) = (
        pair(cx.op.name, "stride", cx.attrs, 0, 1, [1, 1])?,
        pair(cx.op.name, "padding", cx.attrs, 1, 0, [0, 0])?,
        pair(cx.op.name, "dilation", cx.attrs, 4, 1, [1, 1])?,
    );
    let extra = pair(cx.op.name, "output_padding", cx.attrs, 2, 0, [0, 0])?;
    let refuse = |rule: &str| {
        let shapes = vec![input.shape().clone(), weight.shape().clone()];
        Error::Shapes { op: cx.op.name, shapes, rule: rule.into() }
    };
    let ([_, _, height, width], [_, _, rows, columns]) = (&input.shape()[..], &weight.shape()[..])
    else {
        return Err(refuse("images [n, c, h, w] and kernels [c, k / groups, r, s] are needed"));
    };
    if input.shape()[1] != weight.shape()[0] {
        return Err(refuse(
            "the second size of the images and the first of the kernels are the input channels",
        ));
    }
    let mut size = [0_usize; 2];
    for (axis, (from, taps)) in [(height, rows), (width, columns)].into_iter().enumerate() {
        let reach = from.saturating_sub(1) * stride[axis]
            + dilation[axis] * taps.saturating_sub(1)
            + 1
            + extra[axis];
        size[axis] = reach
            .checked_sub(2 * padding[axis])
            .ok_or_else(|| refuse("the padding leaves nothing"))?;
    }
    let attrs = smallvec![
        Attr::sizes(&size),
        Attr::sizes(&stride),
        Attr::sizes(&padding),
        Attr::sizes(&dilation),
        Attr::Int(cx.int(3))
    ];
    let y = match input.dtype() == DType::I64 {
        true => whole::spread(input, weight, size, &Steps::from_attrs(OP.name, &attrs, 1)?)?,
        false => {
            apply_one(&super::conv2d_input_grad::OP, &[input.clone(), weight.clone()], &attrs)?
        }
    };
    let Some(bias) = cx.opt_input(2) else { return Ok(smallvec![y]) };
    let n_channels = y.shape()[1];
    if bias.shape()[..] != [n_channels] {
        let shapes = vec![weight.shape().clone(), bias.shape().clone()];
        let rule = format!(
            "the bias needs {n_channels} elements in one dimension, one for each channel that comes out"
        );
        return Err(Error::Shapes { op: cx.op.name, shapes, rule });
    }
    Ok(smallvec![add(&y, &reshape(bias, &Shape::from([bias.numel(), 1, 1]))?)?])
}

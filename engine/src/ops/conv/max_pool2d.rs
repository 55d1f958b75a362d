//! `max_pool2d`: the largest element of each window; with `return_indices` also where it lies in its plane.

use crate::meaning::Meaning;
use crate::op::{
    Body, ComposedCx, DTypeRule, Default, Grad, Onnx, Param, ParamKind, Surface, shapes,
};
use crate::{OpDef, Outputs, Result, apply, rules};

pub static OP: OpDef = OpDef {
    name: "max_pool2d",
    doc: "The largest element of each window; with `return_indices` also where it lies in its plane.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::required("kernel_size", ParamKind::Ints),
        Param::with("stride", ParamKind::OptInts, Default::None),
        Param::with("padding", ParamKind::Ints, Default::Ints(&[0])),
        Param::with("dilation", ParamKind::Ints, Default::Ints(&[1])),
        Param::with("ceil_mode", ParamKind::Bool, Default::Bool(false)),
        Param::with("return_indices", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::OfParts(&DTypeRule::SameNumbers),
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "MaxPool2DWithIndicesBackward0"),
    pure: true,
    method: false,
    internal: false,
    surface: Surface { shapes: shapes::WINDOWS, ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &[
        "torch.max_pool2d",
        "megengine.functional.max_pool2d",
        "oneflow.nn.functional.max_pool2d",
    ],
    examples: &[
        ("max_pool2d(tensor([[[1.0, 2.0], [3.0, 4.0]]]), 2)", "tensor([[[4.]]])"),
        (
            "max_pool2d(tensor([[[1.0, 2.0, 0.0], [3.0, 4.0, 5.0], [0.0, 1.0, 9.0]]]), 2, 1)",
            "tensor([[[4., 5.],\n         [4., 9.]]])",
        ),
        (
            "max_pool2d(tensor([[[-1.0, -2.0], [-3.0, -4.0]]]), 2, return_indices=True)",
            "(tensor([[[-1.]]]), tensor([[[0]]]))",
        ),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let attrs = cx.attrs[..5].iter().cloned().collect();
    let mut parts = apply(&super::max_pool2d_with_indices::OP, &[cx.input(0)?.clone()], &attrs)?;
    if !cx.flag(5) {
        parts.truncate(1);
    }
    Ok(parts)
}

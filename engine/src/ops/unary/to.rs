//! `to`: the same numbers in another dtype.

use smallvec::smallvec;

use crate::apply::complex::Pair;
use crate::dtype::Kind;
use crate::meaning::Meaning;
use crate::op::{Body, ComposedCx, DTypeRule, Grad, Onnx, OpDef, Param, ParamKind, Surface};
use crate::rules;
use crate::{Attr, Attrs, DType, Outputs, Result, Tensor, functional};

/// The row of `to`.
pub static OP: OpDef = OpDef {
    name: "to",
    doc: "The same numbers in another dtype. Floats lose their fraction on the way to integers; everything but 0 becomes True.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::required("dtype", ParamKind::DType)],
    dtypes: DTypeRule::Custom(|inputs, attrs| Ok((inputs[0].dtype(), target(inputs, attrs)))),
    infer: rules::broadcast,
    body: Body::Scalar(|x, _| x[0].clone()),
    grad: Grad::Derived,
    step: Some(|_| "ToCopyBackward0"),
    pure: true,
    method: true,
    internal: false,
    surface: Surface { complex: Some(converted), ..Surface::PLAIN },
    onnx: Onnx::written("Cast", super::onnx::to),
    aliases: &[
        "megengine.functional.astype",
        "oneflow.cast",
        "oneflow.Tensor.to",
        "torch.Tensor.to",
        "torch.Tensor.type",
    ],
    examples: &[
        ("to(tensor([-1.5, 0.0, 2.7]), int64)", "tensor([-1,  0,  2])"),
        ("to(tensor([0.0, nan, 2.0]), bool)", "tensor([False,  True,  True])"),
        ("to(tensor([True, False]), float32)", "tensor([1., 0.])"),
    ],
};

fn target(inputs: &[Tensor], attrs: &Attrs) -> DType {
    match attrs.first() {
        Some(Attr::DType(dtype)) => *dtype,
        _ => inputs[0].dtype(),
    }
}

/// Real numbers have an imaginary part of 0; complex ones lose theirs on the way to real numbers.
fn converted(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let input = cx.input(0)?;
    let dtype = target(std::slice::from_ref(input), cx.attrs);
    let pair = Pair::of(input)?;
    Ok(smallvec![match dtype.kind() {
        Kind::Bool => functional::ne(input, &functional::num(0.0))?,
        Kind::Complex => pair.joined(dtype.part(), input.shape())?,
        Kind::Int | Kind::Float => functional::to(&pair.real, dtype)?,
    }])
}

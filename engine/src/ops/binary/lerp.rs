//! `lerp`: `input + weight * (end - input)`.

use crate::dtype::{Strength, result_type};
use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::{Attrs, DType, Error, Result, Tensor, rules};

/// The row of `lerp`.
pub static OP: OpDef = OpDef {
    name: "lerp",
    doc: "`input + weight * (end - input)`.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::tensor("end"), Param::tensor("weight")],
    dtypes: DTypeRule::Custom(of_all),
    infer: rules::broadcast,
    body: Body::Ternary(|x, y, w| x.clone() + w * (y - x)),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("lerp(tensor([0.0, 10.0]), tensor([1.0, 20.0]), 0.5)", "tensor([ 0.5000, 15.0000])"),
        ("lerp(tensor([1.0]), tensor([2.0]), tensor([0.0]))", "tensor([1.])"),
        ("lerp(tensor([1.0]), tensor([nan]), tensor([0.5]))", "tensor([nan])"),
    ],
};

/// One float dtype; the weight may be a number, or one element of any real dtype, which counts as in sums.
fn of_all(inputs: &[Tensor], _attrs: &Attrs) -> Result<(DType, DType)> {
    let dtype = inputs[0].dtype();
    if !dtype.is_float() {
        return Err(Error::DType { op: OP.name, dtype, allowed: "floats" });
    }
    let fits = |(at, it): (usize, &Tensor)| match it.strength() {
        Strength::Tensor => it.dtype() == dtype,
        Strength::ZeroDim => it.dtype() == dtype || at == 2 && !it.dtype().is_complex(),
        Strength::Number => true,
    };
    if !inputs.iter().enumerate().all(fits) {
        let dtypes = inputs.iter().map(Tensor::dtype).collect();
        return Err(Error::DTypes { op: OP.name, dtypes });
    }
    let found = result_type(inputs.iter().map(|it| (it.dtype(), it.strength())));
    Ok((found, found))
}

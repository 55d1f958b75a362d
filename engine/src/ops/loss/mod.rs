//! Losses. `reduction` is mean, sum or none.

use smallvec::smallvec;

use crate::OpDef;
use crate::dtype::DType;
use crate::op::{ComposedCx, Is, When};
use crate::{Attr, Attrs, Error, Outputs, Result, Tensor, functional};

pub mod _huber;
pub mod binary_cross_entropy;
pub mod binary_cross_entropy_with_logits;
mod class_rows;
pub mod cross_entropy;
mod cuda;
pub mod huber_loss;
pub mod kl_div;
pub mod l1_loss;
pub mod mse_loss;
pub mod nll_loss;
mod onnx;
pub mod pick_class;
pub mod pick_class_backward;
pub mod probabilities;
pub mod smooth_l1_loss;
pub mod softmax_cross_entropy;
pub mod softmax_cross_entropy_backward;

/// The rows of this family.
pub static ALL: &[&OpDef] = &[
    &_huber::OP,
    &binary_cross_entropy::OP,
    &binary_cross_entropy_with_logits::OP,
    &cross_entropy::OP,
    &huber_loss::OP,
    &kl_div::OP,
    &l1_loss::OP,
    &mse_loss::OP,
    &nll_loss::OP,
    &pick_class::OP,
    &pick_class_backward::OP,
    &probabilities::OP,
    &smooth_l1_loss::OP,
    &softmax_cross_entropy::OP,
    &softmax_cross_entropy_backward::OP,
];

/// Calls with PyTorch's old flags in place of a reduction.
const FLAGS: When = When::Any(&[
    When::Arg("size_average", Is::Given),
    When::Arg("reduce", Is::Given),
    When::Arg("reduction", Is::Number),
    When::Arg("reduction", Is::None),
]);

/// These, and calls with a weight for each element.
const FLAGS_OR_WEIGHT: When = When::Any(&[FLAGS, When::Arg("weight", Is::Given)]);

/// How the losses of single elements become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduction {
    None,
    Mean,
    Sum,
}

/// Reads attribute `idx` as a reduction.
pub(crate) fn reduction(op: &'static str, attrs: &Attrs, idx: usize) -> Result<Reduction> {
    match attrs.get(idx) {
        Some(Attr::Str("none")) => Ok(Reduction::None),
        Some(Attr::Str("mean")) | None => Ok(Reduction::Mean),
        Some(Attr::Str("sum")) => Ok(Reduction::Sum),
        _ => {
            Err(Error::Attr { op, name: "reduction", problem: "must be mean, sum or none".into() })
        }
    }
}

/// The losses of single elements, reduced.
pub(crate) fn reduced(losses: &Tensor, how: Reduction) -> Result<Outputs> {
    Ok(smallvec![match how {
        Reduction::None => losses.clone(),
        Reduction::Mean => functional::mean(losses, &[], false)?,
        Reduction::Sum => functional::sum(losses, &[], false)?,
    }])
}

/// Input less target in the dtype that they have together, which must be one of floats.
pub(crate) fn difference(cx: &ComposedCx<'_>) -> Result<Tensor> {
    let [input, target] = promoted(cx)?;
    functional::sub(&input, &target)
}

/// Input and target in the dtype that they have together, which must be one of floats.
fn promoted(cx: &ComposedCx<'_>) -> Result<[Tensor; 2]> {
    let (input, target) = (cx.input(0)?, cx.input(1)?);
    let dtype = input.dtype().promote(target.dtype());
    if !dtype.is_float() {
        return Err(Error::DType { op: cx.op.name, dtype, allowed: "floats" });
    }
    Ok([functional::to(input, dtype)?, functional::to(target, dtype)?])
}

/// Checks that input and target are floats of one dtype: targets that are shares or probabilities, not classes.
pub(crate) fn same_floats(cx: &ComposedCx<'_>) -> Result<()> {
    let (input, target) = (cx.input(0)?.dtype(), float_target(cx)?);
    if input == target {
        return Ok(());
    }
    Err(Error::DTypes { op: cx.op.name, dtypes: vec![input, target] })
}

/// The dtype of the target, which must be one of floats.
pub(crate) fn float_target(cx: &ComposedCx<'_>) -> Result<DType> {
    let target = cx.input(1)?.dtype();
    if target.is_float() {
        return Ok(target);
    }
    let allowed = "a float target, of the dtype of the input: write target.float()";
    Err(Error::DType { op: cx.op.name, dtype: target, allowed })
}

/// Input and target, which must have one shape.
pub(crate) fn same_shapes<'a>(cx: &'a ComposedCx<'_>) -> Result<(&'a Tensor, &'a Tensor)> {
    let (input, target) = (cx.input(0)?, cx.input(1)?);
    if input.shape() == target.shape() {
        return Ok((input, target));
    }
    let shapes = vec![input.shape().clone(), target.shape().clone()];
    Err(Error::Unequal {
        op: cx.op.name,
        shapes,
        rule: "input and target must have one shape".into(),
    })
}

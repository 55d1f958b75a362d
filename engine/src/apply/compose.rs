//! Bodies of composed ops.

use smallvec::SmallVec;

use crate::op::ComposedCx;
use crate::tensor::Outputs;
use crate::{DType, Result, Tensor, functional};

/// Runs the body of a composed op, on float32 where it widens halves; then the results are rounded.
pub(super) fn compose(
    body: fn(&ComposedCx<'_>) -> Result<Outputs>,
    cx: &ComposedCx<'_>,
) -> Result<Outputs> {
    if !cx.widens() {
        return body(cx);
    }
    let widened = |it: &Option<Tensor>| match it {
        Some(it) if it.dtype().is_half() => functional::to(it, DType::F32).map(Some),
        it => Ok(it.clone()),
    };
    let inputs = cx.inputs.iter().map(widened).collect::<Result<SmallVec<[_; 4]>>>()?;
    let outputs = body(&ComposedCx { inputs: &inputs, ..*cx })?;
    let rounded = |(at, it): (usize, &Tensor)| match cx.rounded(at, it.dtype()) {
        dtype if dtype == it.dtype() => Ok(it.clone()),
        dtype => functional::to(it, dtype),
    };
    outputs.iter().enumerate().map(rounded).collect()
}

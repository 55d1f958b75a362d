//! Bodies of composed ops.

use smallvec::SmallVec;

use crate::op::{Composed, ComposedCx, InferCx};
use crate::tensor::Outputs;
use crate::{DType, Result, Tensor, functional};

/// Runs the body of a composed op, on float32 where it widens halves; then the results are rounded.
pub(super) fn compose(body: Composed, cx: &ComposedCx<'_>) -> Result<Outputs> {
    if !cx.widens() {
        return body(cx);
    }
    let outputs = on_wide(body, cx)?;
    let rounded = |(at, it): (usize, &Tensor)| as_dtype(it, cx.rounded(at, it.dtype()));
    outputs.iter().enumerate().map(rounded).collect()
}

/// As [`compose`], of an op with kernels on other devices, whose results have the dtypes that it infers.
pub(crate) fn compose_kernel(body: Composed, cx: &ComposedCx<'_>) -> Result<Outputs> {
    if !cx.widens() {
        return body(cx);
    }
    let given: SmallVec<[Tensor; 3]> = cx.inputs.iter().flatten().cloned().collect();
    let metas = (cx.op.infer)(&InferCx { op: cx.op, inputs: &given, attrs: cx.attrs })?;
    let outputs = on_wide(body, cx)?;
    outputs.iter().zip(metas).map(|(it, meta)| as_dtype(it, meta.dtype)).collect()
}

/// What the body gives for halves as float32.
fn on_wide(body: Composed, cx: &ComposedCx<'_>) -> Result<Outputs> {
    let widened = |it: &Option<Tensor>| match it {
        Some(it) if it.dtype().is_half() => functional::to(it, DType::F32).map(Some),
        it => Ok(it.clone()),
    };
    let inputs = cx.inputs.iter().map(widened).collect::<Result<SmallVec<[_; 4]>>>()?;
    body(&ComposedCx { inputs: &inputs, ..*cx })
}

fn as_dtype(x: &Tensor, dtype: DType) -> Result<Tensor> {
    if x.dtype() == dtype { Ok(x.clone()) } else { functional::to(x, dtype) }
}

//! Products of matrices and vectors.

use smallvec::smallvec;

use crate::functional::{self, add, complex, part, sub};
use crate::op::ComposedCx;
use crate::{Error, OpDef, Outputs, Result, Shape, Tensor};

pub mod _int_mm;
pub mod addbmm;
pub mod addmm;
pub mod addmv;
pub mod addr;
mod attention;
pub mod baddbmm;
pub mod bmm;
pub mod cdist;
pub mod cross;
pub(crate) mod cuda;
mod cuda_attention;
pub mod dot;
pub mod linear;
pub mod matmul;
pub mod mm;
pub mod mv;
pub mod native_attention;
pub mod native_attention_backward;
mod onnx;
pub mod outer;
mod products;
pub mod scaled_dot_product_attention;
mod tiles;
mod weighed;

use products::{Products, gemm_kernels};
use weighed::{ALPHA, BETA, ranks, same_batch, weighed_sum};

/// The rows of this family.
pub static ALL: &[&OpDef] = &[
    &_int_mm::OP,
    &addbmm::OP,
    &addmm::OP,
    &addmv::OP,
    &addr::OP,
    &baddbmm::OP,
    &bmm::OP,
    &cdist::OP,
    &cross::OP,
    &dot::OP,
    &linear::OP,
    &matmul::OP,
    &mm::OP,
    &mv::OP,
    &native_attention::OP,
    &native_attention_backward::OP,
    &outer::OP,
    &scaled_dot_product_attention::OP,
];

/// A product of complex numbers, from four products of their parts.
pub(crate) fn product_of_parts(
    cx: &ComposedCx<'_>,
    product: impl Fn(&Tensor, &Tensor) -> Result<Tensor>,
) -> Result<Outputs> {
    let (a, b) = (cx.input(0)?, cx.input(1)?);
    if a.dtype() != b.dtype() {
        return Err(Error::DTypes { op: cx.op.name, dtypes: vec![a.dtype(), b.dtype()] });
    }
    let [ar, ai] = [part(a, 0)?, part(a, 1)?];
    let [br, bi] = [part(b, 0)?, part(b, 1)?];
    let real = sub(&product(&ar, &br)?, &product(&ai, &bi)?)?;
    let imag = add(&product(&ar, &bi)?, &product(&ai, &br)?)?;
    Ok(smallvec![complex(&real, &imag)?])
}

/// `input @ weight.T + bias` of complex numbers.
fn linear_of_parts(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let mut outputs = product_of_parts(cx, |x, weight| functional::linear(x, weight, None))?;
    if let Some(bias) = cx.opt_input(2) {
        outputs[0] = add(&outputs[0], bias)?;
    }
    Ok(outputs)
}

/// The operands, which must be vectors.
fn two_vectors<'a>(cx: &'a ComposedCx<'_>) -> Result<(&'a Tensor, &'a Tensor)> {
    let (a, b) = (cx.input(0)?, cx.input(1)?);
    if a.rank() != 1 || b.rank() != 1 {
        let shapes = vec![a.shape().clone(), b.shape().clone()];
        let rule = "two vectors are needed".into();
        return Err(Error::Shapes { op: cx.op.name, shapes, rule });
    }
    Ok((a, b))
}

/// The batch sizes that both broadcast to, with (m, k, n); vectors count as one row or one column.
pub(crate) fn product_shape(a: &Shape, b: &Shape) -> Option<(Shape, [usize; 3])> {
    let (&k, &k_of_b) = (a.last()?, &b[b.rank().saturating_sub(2)..].first().copied()?);
    let m = if a.rank() > 1 { a[a.rank() - 2] } else { 1 };
    let n = if b.rank() > 1 { b[b.rank() - 1] } else { 1 };
    let batch = Shape::new(&a[..a.rank().saturating_sub(2)])
        .broadcast(&Shape::new(&b[..b.rank().saturating_sub(2)]))?;
    (k == k_of_b).then_some((batch, [m, k, n]))
}

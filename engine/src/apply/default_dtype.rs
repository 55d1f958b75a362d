//! The default dtype: that of floats for which nothing else says one, such as the number in `ones + 0.5` beside integers.
//!
//! Rows take it to be float32. Where another is set, [`super::apply`] says so before it asks a row: what is made of numbers alone is given its
//! dtype, and integers that an op computes as floats are converted. So tapes, traces, graphs and model files hold dtypes that nobody sets again.

use std::cell::Cell;

use smallvec::SmallVec;

use crate::op::{InferCx, ParamKind};
use crate::tensor::Metas;
use crate::{Attr, Attrs, DType, Error, OpDef, Result, Tensor, functional, rules};

thread_local! {
    static DEFAULT: Cell<DType> = const { Cell::new(DType::F32) };
}

/// The default dtype of this thread.
#[inline]
pub fn get() -> DType {
    DEFAULT.get()
}

/// Sets the dtype of floats for which nothing else says one, from here on; gives what was set before.
pub fn set(float: DType) -> DType {
    debug_assert!(float.is_float(), "a default dtype is one of floats");
    DEFAULT.replace(float)
}

/// The dtype of complex numbers for which nothing else says one; `op` makes them.
pub fn complex(op: &'static str) -> Result<DType> {
    match get() {
        half if half.is_half() => Err(Error::DType {
            op,
            dtype: half,
            allowed: "a default dtype of float32 or float64 where it makes complex numbers: there are none of two halves; say dtype=torch.complex64",
        }),
        float => Ok(float.complex()),
    }
}

/// Whether it is not what rows take it to be.
#[inline]
pub(crate) fn is_set() -> bool {
    DEFAULT.get() != DType::F32
}

/// Runs what an op on floats, or a gradient, consists of: there numbers follow their operands alone.
pub(crate) fn left_alone<R>(body: impl FnOnce() -> R) -> R {
    let before = DEFAULT.replace(DType::F32);
    let res = body();
    DEFAULT.set(before);
    res
}

/// Runs the body of an op on these operands: of integers the default dtype makes floats there, too.
#[inline]
pub(super) fn within<'a, R>(
    operands: impl IntoIterator<Item = &'a Tensor>,
    body: impl FnOnce() -> R,
) -> R {
    match is_set() && operands.into_iter().any(is_of_parts) {
        true => left_alone(body),
        false => body(),
    }
}

/// An op and its operands in words that leave no dtype to the default; `None` if they do so as they are.
#[inline]
pub(super) fn said(
    op: &'static OpDef,
    inputs: &[Tensor],
    attrs: &Attrs,
) -> Result<Option<(SmallVec<[Tensor; 3]>, Attrs)>> {
    if is_set() { say(op, inputs, attrs) } else { Ok(None) }
}

#[cold]
fn say(
    op: &'static OpDef,
    inputs: &[Tensor],
    attrs: &Attrs,
) -> Result<Option<(SmallVec<[Tensor; 3]>, Attrs)>> {
    if inputs.is_empty() {
        return Ok(made(op, attrs)?.map(|it| (SmallVec::new(), it)));
    }
    let first = usize::from(op.surface.has_condition);
    let operands = inputs.get(first..).unwrap_or(&[]);
    if !op.body.is_elementwise() || operands.iter().any(is_of_parts) {
        return Ok(None);
    }
    // The row says what is wrong when it is asked.
    let Ok((own, _)) = rules::elementwise_dtypes(&InferCx { op, inputs, attrs }) else {
        return Ok(None);
    };
    let Some(computed) = instead_of(own, op)? else { return Ok(None) };
    let are_numbers = operands.iter().all(|it| it.as_number().is_some());
    let mut found: SmallVec<[Tensor; 3]> = inputs.iter().cloned().collect();
    for it in found.iter_mut().skip(first) {
        if are_numbers || it.as_number().is_none() {
            *it = functional::to(it, computed)?;
        }
    }
    Ok(Some((found, attrs.clone())))
}

/// The attributes of an op that makes a tensor of nothing, with the dtype that is left to the default.
fn made(op: &'static OpDef, attrs: &Attrs) -> Result<Option<Attrs>> {
    let Some(at) = dtype_attr(op) else { return Ok(None) };
    if matches!(attrs.get(at), Some(Attr::DType(_))) {
        return Ok(None);
    }
    let metas: Metas = match (op.infer)(&InferCx { op, inputs: &[], attrs }) {
        Ok(it) => it,
        // The row says the same when it is asked.
        Err(_) => return Ok(None),
    };
    // As in PyTorch, which asks for no default of halves where it fills with a complex number.
    let Some(own) = metas.first().map(|it| it.dtype) else { return Ok(None) };
    let Some(dtype) = instead_of(own, op)? else { return Ok(None) };
    let mut attrs = attrs.clone();
    while attrs.len() <= at {
        attrs.push(Attr::None);
    }
    attrs[at] = Attr::DType(dtype);
    Ok(Some(attrs))
}

/// What a dtype becomes that is there because nobody has said another: float32, and complex numbers of two. There are none of two
/// halves: where these are the default, and beside integers, complex numbers are of two float32.
fn instead_of(own: DType, op: &'static OpDef) -> Result<Option<DType>> {
    if own == DType::F32 {
        return Ok(Some(get()));
    }
    if own != DType::C64 {
        return Ok(None);
    }
    if get().is_half() { Ok(Some(own)) } else { complex(op.name).map(Some) }
}

/// Where among its attributes an op is told the dtype of what it makes.
fn dtype_attr(op: &OpDef) -> Option<usize> {
    let mut attrs = op.params.iter().filter(|it| !it.kind.is_tensor());
    attrs.position(|it| it.kind == ParamKind::OptDType)
}

/// Whether an operand says itself which floats an op computes.
fn is_of_parts(operand: &Tensor) -> bool {
    operand.dtype().is_differentiable() && operand.as_number().is_none()
}

#[cfg(test)]
mod tests {
    use smallvec::smallvec;

    use super::*;
    use crate::autograd::{self, Root};
    use crate::functional::{add, div, mul, num, sum};
    use crate::ops::{compare::where_, create::ones};
    use crate::{Shape, apply_one};

    fn with<R>(float: DType, body: impl FnOnce() -> R) -> R {
        let before = set(float);
        let res = body();
        set(before);
        res
    }

    fn whole() -> Tensor {
        Tensor::from_vec(&[1_i64, 2, 3], Shape::from([3])).unwrap()
    }

    #[test]
    fn integers_become_floats_of_the_default_dtype() {
        for float in [DType::F16, DType::BF16, DType::F32, DType::F64] {
            with(float, || {
                assert_eq!(div(&whole(), &whole()).unwrap().dtype(), float);
                assert_eq!(mul(&whole(), &num(0.5)).unwrap().dtype(), float);
                let chosen =
                    [crate::functional::lt(&whole(), &num(2.5)).unwrap(), num(1.5), num(2.0)];
                let chosen = apply_one(&where_::OP, &chosen, &Attrs::new()).unwrap();
                assert_eq!(chosen.dtype(), float);
                let made = apply_one(&ones::OP, &[], &smallvec![Attr::ints(&[2])]).unwrap();
                assert_eq!(made.dtype(), float);
            });
        }
    }

    #[test]
    fn floats_and_their_gradients_keep_their_dtype() {
        with(DType::F64, || {
            let x = Tensor::from_vec(&[1.0_f32, 2.0, 3.0], Shape::from([3])).unwrap();
            let x = x.leaf();
            let y = add(&mul(&x, &num(0.5)).unwrap(), &whole()).unwrap();
            assert_eq!(y.dtype(), DType::F32);
            let total = sum(&mul(&y, &y).unwrap(), &[], false).unwrap();
            let roots: [Root; 1] = [(total, None)];
            let found = autograd::grad(&roots, &[x], false, false).unwrap();
            assert_eq!(found[0].as_ref().unwrap().dtype(), DType::F32);
        });
    }

    #[test]
    fn complex_numbers_beside_integers_are_of_two_float32_where_floats_are_halves() {
        for (float, complex) in
            [(DType::F16, DType::C64), (DType::BF16, DType::C64), (DType::F64, DType::C128)]
        {
            with(float, || {
                let turned = Tensor::from_number(crate::Number::Complex(0.0, 1.0));
                assert_eq!(mul(&whole(), &turned).unwrap().dtype(), complex);
            });
        }
    }
}

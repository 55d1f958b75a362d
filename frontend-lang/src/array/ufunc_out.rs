//! Where results of universal functions go: into arrays that are there, `a += b` and `np.add(a, b, out=c)`. Where nobody else sees what these
//! hold, the results are computed there.

use std::rc::Rc;

use engine::{DType, Tensor};
use smallvec::{SmallVec, smallvec};

use super::scalar_ops::common;
use super::ufunc::{Operand, Row, check_fits};
use super::ufunc_rows::Kind;
use super::{dtype, shape_text};
use crate::native::*;
use crate::objects::tensor::Look;
use crate::tensor::{arith, convert};

impl Row {
    /// Whether the result was written where the elements of the first operand are: it has their dtype, and nobody else sees them. What
    /// is wrong with the operands is said where the result is made.
    pub(super) fn replaces(
        &self,
        cx: &mut Cx,
        this: &Value,
        other: Option<&Value>,
    ) -> Result<bool, Raised> {
        let (Some(ready), Value::Tensor(object)) = (self.ready(), this) else { return Ok(false) };
        let values: SmallVec<[&Value; 2]> = std::iter::once(this).chain(other).collect();
        // No look at it stays while its base is looked at.
        let dtype = object.seen().dtype();
        let Some(inputs) = self.direct(cx, &values, dtype)? else {
            return Ok(false);
        };
        // No handle on the elements stays.
        let mut others: SmallVec<[Tensor; 2]> = inputs.into_iter().skip(1).collect();
        for it in &mut others {
            if let Some(copy) = object.apart(it)? {
                *it = copy;
            }
        }
        Ok(matches!(object.apply_in_place(ready.op, &others, &ready.attrs), Ok(true)))
    }

    /// Whether the result was computed where the elements of an array are: it is of their dtype and shape, and nobody else sees them.
    pub(super) fn goes_into(
        &self,
        cx: &mut Cx,
        out: &Value,
        values: &[&Value],
    ) -> Result<bool, Raised> {
        let (Some(ready), Value::Tensor(object)) = (self.ready(), out) else { return Ok(false) };
        let is_array = |it: &Value| it.as_tensor().is_none_or(|it| it.look() == Look::Array);
        if !is_array(out) || !values.iter().all(|it| is_array(it)) {
            return Ok(false);
        }
        let is_out = |it: &Value| it.as_tensor().is_some_and(|it| Rc::ptr_eq(it, object));
        match values {
            [first, others @ ..] if is_out(first) => {
                return self.replaces(cx, out, others.first().copied());
            }
            [first, second] if is_out(second) && self.kind.commutes() => {
                return self.replaces(cx, out, Some(first));
            }
            _ => {}
        }
        let dtype = object.seen().dtype();
        let Some(inputs) = self.direct(cx, values, dtype)? else {
            return Ok(false);
        };
        Ok(matches!(object.apply_into(ready.op, &inputs, &ready.attrs), Ok(true)))
    }

    /// The operands as the op takes them, where that computes the result from them at once, in this dtype.
    fn direct(
        &self,
        cx: &mut Cx,
        values: &[&Value],
        dtype: DType,
    ) -> Result<Option<SmallVec<[Tensor; 2]>>, Raised> {
        let mut operands: SmallVec<[Operand; 2]> = SmallVec::new();
        for value in values {
            let Some(operand) = Operand::read(cx, value)? else { return Ok(None) };
            operands.push(operand);
        }
        match &operands[..] {
            [x] if x.dtype == dtype && self.kind.is_direct(dtype) => {
                Ok(Some(smallvec![x.ready(dtype, x)?]))
            }
            [a, b] if common((a.dtype, a.weak), (b.dtype, b.weak)) == dtype => {
                let number = |it: &Operand| it.tensor.as_number().filter(|_| it.weak);
                let fits = |it| number(it).is_none_or(|it| check_fits(it, dtype).is_ok());
                if !self.kind.is_direct(dtype) || !fits(a) || !fits(b) {
                    return Ok(None);
                }
                Ok(Some(smallvec![a.ready(dtype, b)?, b.ready(dtype, a)?]))
            }
            _ => Ok(None),
        }
    }
}

impl Kind {
    /// Whether the operands may change places, and all bits stay.
    fn commutes(self) -> bool {
        matches!(self, Self::Adds | Self::Multiplies)
    }

    /// Whether the op of the engine computes the result from operands of this dtype, in it.
    fn is_direct(self, dtype: DType) -> bool {
        match self {
            Self::Same | Self::Negative | Self::Adds | Self::Subtracts | Self::Multiplies => {
                dtype != DType::Bool
            }
            Self::ToFloat | Self::Rounds | Self::Divides | Self::Powers | Self::Whole => {
                dtype.is_float()
            }
            Self::Picks => dtype != DType::Bool,
            Self::Tests | Self::Not | Self::Invert | Self::Bits => false,
            Self::Compares | Self::Logical | Self::MatMul => false,
        }
    }
}

/// Puts a result into an array that is there, if its kind of number and its shape allow it.
pub(super) fn store(row: &Row, out: &Value, result: Tensor) -> Result<(), Raised> {
    // No handle on what is there stays.
    let before = convert::variable(out)?.get().meta();
    let (have, want) = (result.dtype(), before.dtype);
    let rank = |it: DType| "buif".find(dtype::kind(it)).unwrap_or(0);
    if rank(have) > rank(want) {
        return Err(type_error(format!(
            "Cannot cast ufunc '{}' output from dtype('{have}') to dtype('{want}') with casting rule 'same_kind'",
            row.name
        )));
    }
    if before.shape != *result.shape() {
        if result.shape().broadcast(&before.shape).as_ref() != Some(&before.shape) {
            return Err(value_error(format!(
                "non-broadcastable output operand with shape {} doesn't match the broadcast shape {}",
                shape_text(&before.shape),
                shape_text(result.shape())
            )));
        }
        return arith::assign(out, engine::functional::expand(&result, &before.shape)?);
    }
    arith::assign(out, convert::cast(&result, Some(want))?)
}

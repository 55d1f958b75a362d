//! Complex numbers and their parts. What other rows do with complex numbers is composed of what they do with the parts
//! ([`mod@crate::apply`]).

pub mod angle;
#[expect(clippy::module_inception, reason = "a row's file has its name")]
pub mod complex;
pub mod conj;
pub mod imag;
pub mod part;
pub mod polar;
pub mod real;
pub mod view_as_complex;
pub mod view_as_real;

use crate::op::InferCx;
use crate::{Error, OpDef, Result};

/// The family, sorted by name.
pub static ALL: &[&OpDef] = &[
    &angle::OP,
    &complex::OP,
    &conj::OP,
    &imag::OP,
    &part::OP,
    &polar::OP,
    &real::OP,
    &view_as_complex::OP,
    &view_as_real::OP,
];

/// Refuses a first operand of real numbers.
fn needs_complex(cx: &InferCx<'_>) -> Result<()> {
    match cx.dtype(0) {
        dtype if dtype.is_complex() => Ok(()),
        dtype => Err(Error::NotComplex { op: cx.op.name, dtype }),
    }
}

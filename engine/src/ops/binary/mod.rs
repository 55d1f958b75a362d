//! Arithmetic, logic and bits of two tensors, element by element.

pub mod add;
pub mod addcdiv;
pub mod addcmul;
pub mod atan2;
pub mod axpy;
pub mod bitwise_and;
pub mod bitwise_left_shift;
pub mod bitwise_or;
pub mod bitwise_right_shift;
pub mod bitwise_xor;
pub mod div;
pub mod floor_divide;
pub mod fmod;
pub mod hypot;
pub mod lerp;
pub mod logaddexp;
pub mod logical_and;
pub mod logical_or;
pub mod logical_xor;
pub mod maximum;
pub mod minimum;
pub mod mul;
pub mod pow;
pub mod remainder;
pub mod sub;
pub mod xlogy;

use crate::OpDef;

/// The family, sorted by name.
pub static ALL: &[&OpDef] = &[
    &add::OP,
    &addcdiv::OP,
    &addcmul::OP,
    &atan2::OP,
    &axpy::OP,
    &bitwise_and::OP,
    &bitwise_left_shift::OP,
    &bitwise_or::OP,
    &bitwise_right_shift::OP,
    &bitwise_xor::OP,
    &div::OP,
    &floor_divide::OP,
    &fmod::OP,
    &hypot::OP,
    &lerp::OP,
    &logaddexp::OP,
    &logical_and::OP,
    &logical_or::OP,
    &logical_xor::OP,
    &maximum::OP,
    &minimum::OP,
    &mul::OP,
    &pow::OP,
    &remainder::OP,
    &sub::OP,
    &xlogy::OP,
];

//! Functions of one tensor, element by element.

pub mod _i0;
pub mod _i0e;
pub mod _i1;
pub mod _i1e;
pub mod _trigamma;
pub mod abs;
pub mod acos;
pub mod acosh;
pub mod asin;
pub mod asinh;
pub mod atan;
pub mod atanh;
pub mod bitwise_not;
pub mod ceil;
pub mod celu;
pub mod clamp;
pub mod clone;
pub mod cos;
pub mod cosh;
pub mod cube;
pub mod digamma;
pub mod elu;
pub mod erf;
pub mod erfc;
pub mod erfinv;
pub mod exp;
pub mod exp2;
pub mod expm1;
pub mod floor;
pub mod frac;
pub mod gelu;
pub mod hardshrink;
pub mod hardsigmoid;
pub mod hardswish;
pub mod hardtanh;
pub mod isfinite;
pub mod isinf;
pub mod isnan;
pub mod leaky_relu;
pub mod lgamma;
pub mod log;
pub mod log10;
pub mod log1p;
pub mod log2;
pub mod log_sigmoid;
pub mod logical_not;
pub mod mish;
pub mod nan_to_num;
pub mod neg;
mod onnx;
pub mod reciprocal;
pub mod relu;
pub mod relu6;
pub mod round;
pub mod rsqrt;
pub mod selu;
pub mod sigmoid;
pub mod sign;
pub mod silu;
pub mod sin;
pub mod sinh;
pub mod softplus;
pub mod softshrink;
pub mod softsign;
pub mod sqrt;
pub mod square;
pub mod tan;
pub mod tanh;
pub mod threshold;
pub mod to;
pub mod to_device;
pub mod trunc;

use crate::OpDef;

/// The family, sorted by name.
pub static ALL: &[&OpDef] = &[
    &_i0::OP,
    &_i0e::OP,
    &_i1::OP,
    &_i1e::OP,
    &_trigamma::OP,
    &abs::OP,
    &acos::OP,
    &acosh::OP,
    &asin::OP,
    &asinh::OP,
    &atan::OP,
    &atanh::OP,
    &bitwise_not::OP,
    &ceil::OP,
    &celu::OP,
    &clamp::OP,
    &clone::OP,
    &cos::OP,
    &cosh::OP,
    &cube::OP,
    &digamma::OP,
    &elu::OP,
    &erf::OP,
    &erfc::OP,
    &erfinv::OP,
    &exp::OP,
    &exp2::OP,
    &expm1::OP,
    &floor::OP,
    &frac::OP,
    &gelu::OP,
    &hardshrink::OP,
    &hardsigmoid::OP,
    &hardswish::OP,
    &hardtanh::OP,
    &isfinite::OP,
    &isinf::OP,
    &isnan::OP,
    &leaky_relu::OP,
    &lgamma::OP,
    &log::OP,
    &log10::OP,
    &log1p::OP,
    &log2::OP,
    &log_sigmoid::OP,
    &logical_not::OP,
    &mish::OP,
    &nan_to_num::OP,
    &neg::OP,
    &reciprocal::OP,
    &relu::OP,
    &relu6::OP,
    &round::OP,
    &rsqrt::OP,
    &selu::OP,
    &sigmoid::OP,
    &sign::OP,
    &silu::OP,
    &sin::OP,
    &sinh::OP,
    &softplus::OP,
    &softshrink::OP,
    &softsign::OP,
    &sqrt::OP,
    &square::OP,
    &tan::OP,
    &tanh::OP,
    &threshold::OP,
    &to::OP,
    &to_device::OP,
    &trunc::OP,
];

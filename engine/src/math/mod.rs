//! The mathematics of elementwise ops, each function written once over numbers of any make.
//!
//! Given numbers of the machine a function is the body of a loop; given nodes of a recorder it is written down as
//! arithmetic on bits and numbers, which other back ends read. Both round alike, since both are the same operations in the same order.
//!
//! **Invariant:** fused multiply-add happens where a formula says `mul_add` and nowhere else.

pub(crate) mod bessel;
pub(crate) mod binary;
pub(crate) mod circular64;
pub(crate) mod float;
pub(crate) mod float32;
pub(crate) mod float64;
pub(crate) mod gamma;
pub(crate) mod halves;
mod library;
mod native;
pub(crate) mod recorded;
mod series;
pub(crate) mod unary;
pub(crate) mod whole;

use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Shl, Shr, Sub};

pub(crate) use library::{Library, Library2};

use crate::expr::BinOp;

/// The error function.
pub fn erf(x: f64) -> f64 {
    float64::erf(x)
}

/// The complementary error function, `1 - erf(x)` without cancellation.
pub fn erfc(x: f64) -> f64 {
    float64::erfc(x)
}

/// True or false.
pub(crate) trait Logic:
    Copy + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Not<Output = Self>
{
}

/// What is true of all numbers.
pub(crate) trait Scalar: Copy {
    /// The type of the machine that it stands for.
    type Native: Copy;
    type Truth: Logic;

    /// A known number.
    fn of(value: Self::Native) -> Self;

    fn select(cond: Self::Truth, yes: Self, no: Self) -> Self;

    /// As `select`; what is not taken need not be computed.
    fn either(cond: Self::Truth, yes: impl FnOnce() -> Self, no: impl FnOnce() -> Self) -> Self;

    fn equals(self, other: Self) -> Self::Truth;

    fn less(self, other: Self) -> Self::Truth;

    fn at_most(self, other: Self) -> Self::Truth;
}

/// Whole numbers that wrap around.
pub(crate) trait Whole:
    Scalar
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
    fn wrapping_add(self, other: Self) -> Self;

    fn wrapping_sub(self, other: Self) -> Self;

    fn wrapping_mul(self, other: Self) -> Self;
}

/// Whole numbers of 64 bits: what integers of all dtypes are computed in.
pub(crate) trait Whole64: Whole<Native = i64> {
    /// Rounded towards 0; 0 where `other` is.
    fn quotient(self, other: Self) -> Self;

    /// With the sign of `self`; 0 where `other` is.
    fn remainder(self, other: Self) -> Self;

    /// Multiplied by itself, wrapping around; of negative powers what is left when they are rounded towards 0.
    fn power(self, exponent: Self) -> Self;

    /// By a count of 0 to 63.
    fn shl_by(self, count: Self) -> Self;

    /// As `shl_by`, keeping the sign.
    fn shr_by(self, count: Self) -> Self;
}

/// Floating point numbers.
pub(crate) trait Float:
    Scalar
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
{
    /// Whole numbers of the same width.
    type Bits: Whole<Truth = Self::Truth>;

    /// A number that is exact in 32 bits.
    fn plain(value: f32) -> Self;

    fn to_bits(self) -> Self::Bits;

    fn from_bits(bits: Self::Bits) -> Self;

    fn mul_add(self, by: Self, plus: Self) -> Self;

    fn sqrt(self) -> Self;

    fn abs(self) -> Self;

    fn copysign(self, sign: Self) -> Self;

    fn floor(self) -> Self;

    fn ceil(self) -> Self;

    fn trunc(self) -> Self;

    fn round_ties_even(self) -> Self;

    /// A function of the C library.
    fn library(self, function: Library) -> Self;

    /// A function of two arguments of the C library.
    fn library2(self, other: Self, function: Library2) -> Self;
}

/// Numbers of 32 bits.
pub(crate) trait Float32: Float<Native = f32, Bits = Self::Int> {
    type Int: Whole<Native = i32, Truth = Self::Truth>;
    type Wide: Float64<Truth = Self::Truth>;

    fn widen(self) -> Self::Wide;

    /// The nearest number.
    fn narrow(wide: Self::Wide) -> Self;

    /// The nearest number.
    fn from_int(whole: Self::Int) -> Self;
}

/// Numbers of 64 bits.
pub(crate) trait Float64: Float<Native = f64, Bits = Self::Int> {
    type Int: Whole<Native = i64, Truth = Self::Truth>;
}

/// What arithmetic on whole numbers runs into; each stops the run of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    DivisionByZero,
}

impl Fault {
    /// What an operation on whole numbers refuses in its second operand.
    pub(crate) fn of(op: BinOp) -> Option<Self> {
        match op {
            BinOp::FloorDiv | BinOp::Rem | BinOp::Fmod => Some(Self::DivisionByZero),
            _ => None,
        }
    }

    /// Whether one of these second operands is refused. All are looked at, so that the loop becomes vector code.
    pub(crate) fn is_met_in(self, operands: &[i64]) -> bool {
        match self {
            Self::DivisionByZero => operands.iter().fold(false, |met, &it| met | (it == 0)),
        }
    }
}

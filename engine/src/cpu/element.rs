//! The floating-point types that matrix, convolution and pooling kernels are written for.

use std::ops::{Add, AddAssign, Div, Mul, Sub};

use super::conv::{Code, ConvAlgo};
use super::features::Isa;
use super::gemm::{GemmAlgo, GemmRun};
use super::simd::{Exponential, Kernels};

/// Which [`Element`] a problem is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElementKind {
    F32,
    F64,
}

impl ElementKind {
    /// Bytes per element.
    pub fn size(self) -> usize {
        match self {
            ElementKind::F32 => 4,
            ElementKind::F64 => 8,
        }
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// `f32` or `f64`.
pub trait Element:
    sealed::Sealed
    + Copy
    + Default
    + PartialOrd
    + std::fmt::Debug
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + AddAssign
    + Send
    + Sync
    + 'static
{
    const KIND: ElementKind;
    const ZERO: Self;
    const ONE: Self;
    const NEG_INFINITY: Self;
    const NAN: Self;

    #[doc(hidden)]
    #[allow(private_interfaces)]
    const EXP: Exponential<Self>;

    /// Rounds a double to this type.
    fn from_f64(value: f64) -> Self;

    /// This value as a double, without loss.
    fn to_f64(self) -> f64;

    /// `self * 2^k` for the whole number k in the last bits of `shifted`; both this and the result are normal numbers.
    #[doc(hidden)]
    fn raised(self, shifted: Self) -> Self;

    #[doc(hidden)]
    #[allow(private_interfaces)]
    fn kernels(isa: Isa) -> &'static Kernels<Self>;

    #[doc(hidden)]
    fn gemm_run(algo: &GemmAlgo) -> GemmRun<Self>;

    #[doc(hidden)]
    fn conv_code(algo: &ConvAlgo) -> &Code<Self>;
}

macro_rules! element {
    ($t:ty, $kind:ident, $field:ident, $exp:path, $mantissa:literal) => {
        impl Element for $t {
            const KIND: ElementKind = ElementKind::$kind;
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const NEG_INFINITY: Self = <$t>::NEG_INFINITY;
            const NAN: Self = <$t>::NAN;
            #[allow(private_interfaces)]
            const EXP: Exponential<Self> = $exp;

            fn from_f64(value: f64) -> Self {
                value as $t
            }

            fn to_f64(self) -> f64 {
                f64::from(self)
            }

            #[inline(always)]
            fn raised(self, shifted: Self) -> Self {
                <$t>::from_bits(self.to_bits().wrapping_add(shifted.to_bits() << $mantissa))
            }

            #[allow(private_interfaces)]
            fn kernels(isa: Isa) -> &'static Kernels<Self> {
                super::simd::$field(isa)
            }

            fn gemm_run(algo: &GemmAlgo) -> GemmRun<Self> {
                algo.$field
            }

            fn conv_code(algo: &ConvAlgo) -> &Code<Self> {
                &algo.$field
            }
        }
    };
}

element!(f32, F32, f32, super::simd::EXP_F32, 23);
element!(f64, F64, f64, super::simd::EXP_F64, 52);

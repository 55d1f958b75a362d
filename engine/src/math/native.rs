//! Numbers of the machine.

use super::{Float, Float32, Float64, Library, Library2, Logic, Scalar, Whole, Whole64};

impl Logic for bool {}

macro_rules! scalars {
    ($($T:ident)*) => {$(
        impl Scalar for $T {
            type Native = $T;
            type Truth = bool;

            #[inline(always)]
            fn of(value: $T) -> Self {
                value
            }

            #[inline(always)]
            fn select(cond: bool, yes: Self, no: Self) -> Self {
                if cond { yes } else { no }
            }

            #[inline(always)]
            fn either(cond: bool, yes: impl FnOnce() -> Self, no: impl FnOnce() -> Self) -> Self {
                if cond { yes() } else { no() }
            }

            #[inline(always)]
            fn equals(self, other: Self) -> bool {
                self == other
            }

            #[inline(always)]
            fn less(self, other: Self) -> bool {
                self < other
            }

            #[inline(always)]
            fn at_most(self, other: Self) -> bool {
                self <= other
            }
        }
    )*};
}

scalars!(i32 i64 f32 f64);

macro_rules! whole {
    ($($T:ident)*) => {$(
        impl Whole for $T {
            #[inline(always)]
            fn wrapping_add(self, other: Self) -> Self {
                $T::wrapping_add(self, other)
            }

            #[inline(always)]
            fn wrapping_sub(self, other: Self) -> Self {
                $T::wrapping_sub(self, other)
            }

            #[inline(always)]
            fn wrapping_mul(self, other: Self) -> Self {
                $T::wrapping_mul(self, other)
            }
        }
    )*};
}

whole!(i32 i64);

impl Whole64 for i64 {
    #[inline(always)]
    fn quotient(self, other: Self) -> Self {
        if other == 0 { 0 } else { self.wrapping_div(other) }
    }

    #[inline(always)]
    fn remainder(self, other: Self) -> Self {
        if other == 0 { 0 } else { self.wrapping_rem(other) }
    }

    fn power(self, exponent: Self) -> Self {
        if exponent < 0 {
            return match self {
                1 => 1,
                -1 if exponent & 1 == 0 => 1,
                -1 => -1,
                _ => 0,
            };
        }
        let (mut base, mut rest, mut res) = (self, exponent, 1_i64);
        while rest > 0 {
            if rest & 1 == 1 {
                res = res.wrapping_mul(base);
            }
            base = base.wrapping_mul(base);
            rest >>= 1;
        }
        res
    }

    #[inline(always)]
    fn shl_by(self, count: Self) -> Self {
        self.wrapping_shl(count as u32)
    }

    #[inline(always)]
    fn shr_by(self, count: Self) -> Self {
        self.wrapping_shr(count as u32)
    }
}

macro_rules! floats {
    ($($T:ident $Bits:ident $Unsigned:ident;)*) => {$(
        impl Float for $T {
            type Bits = $Bits;

            #[inline(always)]
            fn plain(value: f32) -> Self {
                $T::from(value)
            }

            #[inline(always)]
            fn to_bits(self) -> $Bits {
                $T::to_bits(self) as $Bits
            }

            #[inline(always)]
            fn from_bits(bits: $Bits) -> Self {
                $T::from_bits(bits as $Unsigned)
            }

            #[inline(always)]
            fn mul_add(self, by: Self, plus: Self) -> Self {
                $T::mul_add(self, by, plus)
            }

            #[inline(always)]
            fn sqrt(self) -> Self {
                $T::sqrt(self)
            }

            #[inline(always)]
            fn abs(self) -> Self {
                $T::abs(self)
            }

            #[inline(always)]
            fn copysign(self, sign: Self) -> Self {
                $T::copysign(self, sign)
            }

            #[inline(always)]
            fn floor(self) -> Self {
                $T::floor(self)
            }

            #[inline(always)]
            fn ceil(self) -> Self {
                $T::ceil(self)
            }

            #[inline(always)]
            fn trunc(self) -> Self {
                $T::trunc(self)
            }

            #[inline(always)]
            fn round_ties_even(self) -> Self {
                $T::round_ties_even(self)
            }

            #[inline(always)]
            fn library(self, function: Library) -> Self {
                match function {
                    Library::Exp => self.exp(),
                    Library::Exp2 => self.exp2(),
                    Library::Log => self.ln(),
                    Library::Log2 => self.log2(),
                    Library::Log10 => self.log10(),
                    Library::Log1p => self.ln_1p(),
                    Library::Sin => self.sin(),
                    Library::Cos => self.cos(),
                    Library::Tan => self.tan(),
                    Library::Asin => self.asin(),
                    Library::Acos => self.acos(),
                    Library::Atan => self.atan(),
                    Library::Sinh => self.sinh(),
                    Library::Cosh => self.cosh(),
                }
            }

            #[inline(always)]
            fn library2(self, other: Self, function: Library2) -> Self {
                match function {
                    Library2::Pow => self.powf(other),
                    Library2::Atan2 => self.atan2(other),
                    Library2::Hypot => self.hypot(other),
                    Library2::Fmod => self % other,
                }
            }
        }
    )*};
}

floats!(f32 i32 u32; f64 i64 u64;);

impl Float32 for f32 {
    type Int = i32;
    type Wide = f64;

    #[inline(always)]
    fn widen(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn narrow(wide: f64) -> Self {
        wide as f32
    }

    #[inline(always)]
    fn from_int(whole: i32) -> Self {
        whole as f32
    }
}

impl Float64 for f64 {
    type Int = i64;
}

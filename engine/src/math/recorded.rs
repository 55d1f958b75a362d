//! Numbers that write down what is done to them: how a function becomes its own expansion.

use std::cell::RefCell;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Shl, Shr, Sub};

use rustc_hash::FxHashMap;

use super::halves;
use super::{Float, Float32, Float64, Library, Library2, Logic, Scalar, Whole, Whole64};

/// Types of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Type {
    Bool,
    I32,
    I64,
    F32,
    F64,
}

/// What one step does. Arithmetic on whole numbers wraps around.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Action {
    /// Something from outside, by the number that whoever wrote it down gave it.
    Given(u32),
    /// These bits.
    Known(u64),
    Neg,
    Add,
    Sub,
    Mul,
    Div,
    MulAdd,
    Sqrt,
    Abs,
    Copysign,
    Floor,
    Ceil,
    Trunc,
    RoundTiesEven,
    Library(Library),
    Library2(Library2),
    Quotient,
    Remainder,
    Power,
    And,
    Or,
    Xor,
    Not,
    Shl(u32),
    Shr(u32),
    ShlBy,
    ShrBy,
    Equals,
    Less,
    AtMost,
    /// The second where the first is true, else the third.
    Select,
    /// The same bits as another type.
    Bits,
    /// The value of a binary16, whose bits are the low ones.
    FromHalf,
    /// The nearest binary16, in the low bits.
    ToHalf,
    /// The nearest number of another type; floats are truncated to integers, at most to the last in range, and integers keep low bits.
    Convert,
}

/// One step: operands are earlier steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Op {
    pub(crate) action: Action,
    pub(crate) ty: Type,
    pub(crate) operands: [u32; 3],
    pub(crate) n_operands: u8,
}

impl Op {
    pub(crate) fn operands(&self) -> &[u32] {
        &self.operands[..usize::from(self.n_operands)]
    }
}

/// A list of steps in which equal ones stand once.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    ops: RefCell<Vec<Op>>,
    known: RefCell<FxHashMap<Op, u32>>,
}

impl Recorder {
    /// The steps so far.
    pub(crate) fn ops(&self) -> Vec<Op> {
        self.ops.borrow().clone()
    }

    /// A value from outside.
    pub(crate) fn given<T: Primitive>(&self, number: u32) -> Sym<'_, T> {
        Sym::Step(self, self.push(Action::Given(number), T::TYPE, &[]))
    }

    /// The step that gives a value.
    pub(crate) fn step<T: Primitive>(&self, value: Sym<'_, T>) -> u32 {
        match value {
            Sym::Known(value) => self.push(Action::Known(value.bits()), T::TYPE, &[]),
            Sym::Step(_, step) => step,
        }
    }

    fn push(&self, action: Action, ty: Type, given: &[u32]) -> u32 {
        let mut operands = [0; 3];
        operands[..given.len()].copy_from_slice(given);
        let op = Op { action, ty, operands, n_operands: given.len() as u8 };
        let mut ops = self.ops.borrow_mut();
        *self.known.borrow_mut().entry(op).or_insert_with(|| {
            ops.push(op);
            ops.len() as u32 - 1
        })
    }
}

/// Types of the machine that values stand for.
pub(crate) trait Primitive: Copy {
    const TYPE: Type;

    fn bits(self) -> u64;
}

macro_rules! primitives {
    ($($T:ty: $ty:ident |$it:ident| $bits:expr;)*) => {$(
        impl Primitive for $T {
            const TYPE: Type = Type::$ty;

            fn bits(self) -> u64 {
                let $it = self;
                $bits
            }
        }
    )*};
}

primitives! {
    bool: Bool |it| u64::from(it);
    i32: I32 |it| u64::from(it as u32);
    i64: I64 |it| it as u64;
    f32: F32 |it| u64::from(it.to_bits());
    f64: F64 |it| it.to_bits();
}

/// A number that is known, or a step that gives it.
#[derive(Clone, Copy)]
pub(crate) enum Sym<'a, T> {
    Known(T),
    Step(&'a Recorder, u32),
}

/// None of these is inlined: functions of hundreds of steps are made of them, and compile many times faster so.
impl<'a, T: Primitive> Sym<'a, T> {
    /// What an action gives on this alone; `known` computes it for a known number.
    #[inline(never)]
    fn unary<R: Primitive>(self, action: Action, known: impl FnOnce(T) -> R) -> Sym<'a, R> {
        match self {
            Self::Known(x) => Sym::Known(known(x)),
            Self::Step(recorder, x) => Sym::Step(recorder, recorder.push(action, R::TYPE, &[x])),
        }
    }

    #[inline(never)]
    fn binary<R: Primitive>(
        self,
        other: Self,
        action: Action,
        known: impl FnOnce(T, T) -> R,
    ) -> Sym<'a, R> {
        match (self, other) {
            (Self::Known(x), Self::Known(y)) => Sym::Known(known(x, y)),
            (Self::Step(recorder, _), _) | (_, Self::Step(recorder, _)) => {
                let operands = [recorder.step(self), recorder.step(other)];
                Sym::Step(recorder, recorder.push(action, R::TYPE, &operands))
            }
        }
    }

    /// As another type.
    pub(crate) fn convert<R: Primitive>(self, known: impl FnOnce(T) -> R) -> Sym<'a, R> {
        self.unary(Action::Convert, known)
    }
}

impl<'a> Sym<'a, i32> {
    /// [`halves::from_f16`] as one step, which processors have an instruction for.
    pub(crate) fn as_half(self) -> Sym<'a, f32> {
        self.unary(Action::FromHalf, halves::from_f16)
    }
}

impl<'a> Sym<'a, f32> {
    /// [`halves::to_f16`] as one step.
    pub(crate) fn to_half(self) -> Sym<'a, i32> {
        self.unary(Action::ToHalf, halves::to_f16)
    }
}

/// Operators of one, and of two operands, for these types.
macro_rules! operators {
    ($($T:ident: $($one:ident $one_name:ident)* ; $($two:ident $two_name:ident)*;)*) => {$(
        $(impl<'a> $one for Sym<'a, $T> {
            type Output = Self;

            fn $one_name(self) -> Self {
                self.unary(Action::$one, |x: $T| x.$one_name())
            }
        })*
        $(impl<'a> $two for Sym<'a, $T> {
            type Output = Self;

            fn $two_name(self, other: Self) -> Self {
                self.binary(other, Action::$two, |x: $T, y| x.$two_name(y))
            }
        })*
    )*};
}

/// The names of logic: `std` says `BitAnd` for what is `And` here.
macro_rules! logic_operators {
    ($($T:ident)*) => {$(
        impl<'a> BitAnd for Sym<'a, $T> {
            type Output = Self;

            fn bitand(self, other: Self) -> Self {
                self.binary(other, Action::And, |x: $T, y| x & y)
            }
        }

        impl<'a> BitOr for Sym<'a, $T> {
            type Output = Self;

            fn bitor(self, other: Self) -> Self {
                self.binary(other, Action::Or, |x: $T, y| x | y)
            }
        }

        impl<'a> BitXor for Sym<'a, $T> {
            type Output = Self;

            fn bitxor(self, other: Self) -> Self {
                self.binary(other, Action::Xor, |x: $T, y| x ^ y)
            }
        }
    )*};
}

operators! {
    bool: Not not; ;
    i32: Not not; ;
    i64: Not not; ;
    f32: Neg neg; Add add Sub sub Mul mul Div div;
    f64: Neg neg; Add add Sub sub Mul mul Div div;
}

logic_operators!(bool i32 i64);

impl Logic for Sym<'_, bool> {}

macro_rules! scalars {
    ($($T:ident)*) => {$(
        impl<'a> Scalar for Sym<'a, $T> {
            type Native = $T;
            type Truth = Sym<'a, bool>;

            fn of(value: $T) -> Self {
                Self::Known(value)
            }

            #[inline(never)]
            fn select(cond: Self::Truth, yes: Self, no: Self) -> Self {
                match cond {
                    Sym::Known(cond) => if cond { yes } else { no },
                    Sym::Step(recorder, cond) => {
                        let operands = [cond, recorder.step(yes), recorder.step(no)];
                        Self::Step(recorder, recorder.push(Action::Select, $T::TYPE, &operands))
                    }
                }
            }

            /// Both are written down.
            fn either(
                cond: Self::Truth,
                yes: impl FnOnce() -> Self,
                no: impl FnOnce() -> Self,
            ) -> Self {
                Self::select(cond, yes(), no())
            }

            fn equals(self, other: Self) -> Self::Truth {
                self.binary(other, Action::Equals, |x: $T, y| x == y)
            }

            fn less(self, other: Self) -> Self::Truth {
                self.binary(other, Action::Less, |x: $T, y| x < y)
            }

            fn at_most(self, other: Self) -> Self::Truth {
                self.binary(other, Action::AtMost, |x: $T, y| x <= y)
            }
        }
    )*};
}

scalars!(i32 i64 f32 f64);

macro_rules! whole {
    ($($T:ident)*) => {$(
        impl Shl<u32> for Sym<'_, $T> {
            type Output = Self;

            fn shl(self, count: u32) -> Self {
                self.unary(Action::Shl(count), |x: $T| x << count)
            }
        }

        impl Shr<u32> for Sym<'_, $T> {
            type Output = Self;

            fn shr(self, count: u32) -> Self {
                self.unary(Action::Shr(count), |x: $T| x >> count)
            }
        }

        impl Whole for Sym<'_, $T> {
            fn wrapping_add(self, other: Self) -> Self {
                self.binary(other, Action::Add, $T::wrapping_add)
            }

            fn wrapping_sub(self, other: Self) -> Self {
                self.binary(other, Action::Sub, $T::wrapping_sub)
            }

            fn wrapping_mul(self, other: Self) -> Self {
                self.binary(other, Action::Mul, $T::wrapping_mul)
            }
        }
    )*};
}

whole!(i32 i64);

impl Whole64 for Sym<'_, i64> {
    fn quotient(self, other: Self) -> Self {
        self.binary(other, Action::Quotient, i64::quotient)
    }

    fn remainder(self, other: Self) -> Self {
        self.binary(other, Action::Remainder, i64::remainder)
    }

    fn power(self, exponent: Self) -> Self {
        self.binary(exponent, Action::Power, i64::power)
    }

    fn shl_by(self, count: Self) -> Self {
        self.binary(count, Action::ShlBy, i64::shl_by)
    }

    fn shr_by(self, count: Self) -> Self {
        self.binary(count, Action::ShrBy, i64::shr_by)
    }
}

macro_rules! floats {
    ($($T:ident $Bits:ident;)*) => {$(
        impl<'a> Float for Sym<'a, $T> {
            type Bits = Sym<'a, $Bits>;

            fn plain(value: f32) -> Self {
                Self::Known($T::from(value))
            }

            fn to_bits(self) -> Self::Bits {
                self.unary(Action::Bits, |x: $T| <$T as Float>::to_bits(x))
            }

            fn from_bits(bits: Self::Bits) -> Self {
                bits.unary(Action::Bits, |x: $Bits| <$T as Float>::from_bits(x))
            }

            #[inline(never)]
            fn mul_add(self, by: Self, plus: Self) -> Self {
                match (self, by, plus) {
                    (Self::Known(x), Self::Known(y), Self::Known(z)) => Self::Known(x.mul_add(y, z)),
                    (Self::Step(recorder, _), ..)
                    | (_, Self::Step(recorder, _), _)
                    | (.., Self::Step(recorder, _)) => {
                        let operands = [self, by, plus].map(|it| recorder.step(it));
                        Self::Step(recorder, recorder.push(Action::MulAdd, $T::TYPE, &operands))
                    }
                }
            }

            fn sqrt(self) -> Self {
                self.unary(Action::Sqrt, $T::sqrt)
            }

            fn abs(self) -> Self {
                self.unary(Action::Abs, $T::abs)
            }

            fn copysign(self, sign: Self) -> Self {
                self.binary(sign, Action::Copysign, $T::copysign)
            }

            fn floor(self) -> Self {
                self.unary(Action::Floor, $T::floor)
            }

            fn ceil(self) -> Self {
                self.unary(Action::Ceil, $T::ceil)
            }

            fn trunc(self) -> Self {
                self.unary(Action::Trunc, $T::trunc)
            }

            fn round_ties_even(self) -> Self {
                self.unary(Action::RoundTiesEven, $T::round_ties_even)
            }

            fn library(self, function: Library) -> Self {
                self.unary(Action::Library(function), |x: $T| x.library(function))
            }

            fn library2(self, other: Self, function: Library2) -> Self {
                self.binary(other, Action::Library2(function), |x: $T, y| x.library2(y, function))
            }
        }
    )*};
}

floats!(f32 i32; f64 i64;);

impl<'a> Float32 for Sym<'a, f32> {
    type Int = Sym<'a, i32>;
    type Wide = Sym<'a, f64>;

    fn widen(self) -> Self::Wide {
        self.convert(f64::from)
    }

    fn narrow(wide: Self::Wide) -> Self {
        wide.convert(|it| it as f32)
    }

    fn from_int(whole: Self::Int) -> Self {
        whole.convert(|it| it as f32)
    }
}

impl<'a> Float64 for Sym<'a, f64> {
    type Int = Sym<'a, i64>;
}

//! Element types: one row for each, and how they promote (PyTorch's table).

mod format;
mod number;
mod promotion;
mod width;

pub use format::Format;
pub use number::Number;
pub use width::Width;

use std::fmt;

/// The type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DType {
    /// One byte, 0 or 1.
    Bool,
    /// Unsigned 8-bit integer.
    U8,
    /// Signed 8-bit integer.
    I8,
    /// Signed 16-bit integer.
    I16,
    /// Unsigned 16-bit integer.
    U16,
    /// Signed 32-bit integer.
    I32,
    /// Signed 64-bit integer.
    I64,
    /// IEEE 754 binary16.
    F16,
    /// The upper half of a binary32.
    BF16,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
    /// Two `F32`: the real and the imaginary part.
    C64,
    /// Two `F64`: the real and the imaginary part.
    C128,
}

/// What kind of numbers a dtype holds. Promotion never leaves the highest kind present.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Bool,
    Int,
    Float,
    Complex,
}

/// The Rust types that written kernels compute in. Elements of other dtypes are converted for them: narrow integers to `I32`,
/// halves to `F32`, so that what they accumulate is rounded once. Complex numbers are computed by their parts, which have this type
/// ([`mod@crate::apply`]): no kernel that computes meets them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    U8,
    I32,
    I64,
    F32,
    F64,
}

/// What is true of one dtype.
#[derive(Clone, Copy)]
struct Row {
    dtype: DType,
    /// As PyTorch and NumPy name it.
    name: &'static str,
    /// As graph text and annotations name it.
    short: &'static str,
    /// As safetensors files name it, where they have it.
    safetensors: Option<&'static str>,
    /// Its number in ONNX files (`TensorProto.DataType`).
    onnx: i32,
    kind: Kind,
    width: Width,
    arithmetic: Arithmetic,
    /// The least and the greatest of whole numbers.
    range: Option<(i64, i64)>,
    /// That of floats, or of the parts of complex numbers.
    format: Option<Format>,
    /// The dtype of the parts of complex numbers; of others their own.
    part: DType,
    /// The dtype of complex numbers that these are parts of, or become.
    complex: DType,
}

/// The rows, in the order of the enum: the names are the long one, the short one and that of safetensors files.
#[rustfmt::skip]
static ROWS: [Row; 13] = {
    use self::{Arithmetic as A, DType as D, Format as F, Width as W};
    [
        Row { kind: Kind::Bool, ..whole(D::Bool, ["bool", "bool", "BOOL"], 9, W::W1, A::U8, (0, 1)) },
        whole(D::U8, ["uint8", "u8", "U8"], 2, W::W1, A::U8, (0, u8::MAX as i64)),
        whole(D::I8, ["int8", "i8", "I8"], 3, W::W1, A::I32, (i8::MIN as i64, i8::MAX as i64)),
        whole(D::I16, ["int16", "i16", "I16"], 5, W::W2, A::I32, (i16::MIN as i64, i16::MAX as i64)),
        whole(D::U16, ["uint16", "u16", "U16"], 4, W::W2, A::I32, (0, u16::MAX as i64)),
        whole(D::I32, ["int32", "i32", "I32"], 6, W::W4, A::I32, (i32::MIN as i64, i32::MAX as i64)),
        whole(D::I64, ["int64", "i64", "I64"], 7, W::W8, A::I64, (i64::MIN, i64::MAX)),
        float(D::F16, ["float16", "f16", "F16"], 10, F::F16, D::C64),
        float(D::BF16, ["bfloat16", "bf16", "BF16"], 16, F::BF16, D::C64),
        float(D::F32, ["float32", "f32", "F32"], 1, F::F32, D::C64),
        float(D::F64, ["float64", "f64", "F64"], 11, F::F64, D::C128),
        complex(D::C64, ["complex64", "c64", "C64"], 14, W::W8, F::F32, D::F32),
        Row { safetensors: None, ..complex(D::C128, ["complex128", "c128", ""], 15, W::W16, F::F64, D::F64) },
    ]
};

/// A row of whole numbers between two.
const fn whole(
    dtype: DType,
    [name, short, safetensors]: [&'static str; 3],
    onnx: i32,
    width: Width,
    arithmetic: Arithmetic,
    range: (i64, i64),
) -> Row {
    let (safetensors, kind) = (Some(safetensors), Kind::Int);
    let (range, format, part, complex) = (Some(range), None, dtype, DType::C64);
    Row {
        dtype,
        name,
        short,
        safetensors,
        onnx,
        kind,
        width,
        arithmetic,
        range,
        format,
        part,
        complex,
    }
}

/// A row of floats.
const fn float(
    dtype: DType,
    names: [&'static str; 3],
    onnx: i32,
    format: Format,
    complex: DType,
) -> Row {
    let row = whole(dtype, names, onnx, format.width(), format.arithmetic(), (0, 0));
    Row { kind: Kind::Float, range: None, format: Some(format), complex, ..row }
}

/// A row of complex numbers with parts of a format.
const fn complex(
    dtype: DType,
    names: [&'static str; 3],
    onnx: i32,
    width: Width,
    format: Format,
    part: DType,
) -> Row {
    let row = float(dtype, names, onnx, format, dtype);
    Row { kind: Kind::Complex, width, part, ..row }
}

impl Kind {
    /// The dtype of numbers of the language that are of this kind.
    pub const fn of_numbers(self) -> DType {
        match self {
            Self::Bool => DType::Bool,
            Self::Int => DType::I64,
            Self::Float => DType::F64,
            Self::Complex => DType::C128,
        }
    }
}

impl Width {
    /// Bytes of one element.
    pub const fn bytes(self) -> usize {
        match self {
            Self::W1 => 1,
            Self::W2 => 2,
            Self::W4 => 4,
            Self::W8 => 8,
            Self::W16 => 16,
        }
    }
}

impl Arithmetic {
    /// The dtype whose elements are of this type.
    pub const fn dtype(self) -> DType {
        match self {
            Self::U8 => DType::U8,
            Self::I32 => DType::I32,
            Self::I64 => DType::I64,
            Self::F32 => DType::F32,
            Self::F64 => DType::F64,
        }
    }
}

impl DType {
    /// Every dtype, in the order of the enum.
    pub const ALL: [Self; 13] = {
        let mut all = [Self::Bool; ROWS.len()];
        let mut idx = 0;
        while idx < all.len() {
            all[idx] = ROWS[idx].dtype;
            assert!(all[idx] as usize == idx, "rows stand in the order of the enum");
            idx += 1;
        }
        all
    };

    /// The dtypes of real numbers, which kernels and lane programs compute in.
    pub const REAL: [Self; 11] = {
        let mut real = [Self::Bool; 11];
        let mut idx = 0;
        while idx < real.len() {
            assert!(!ROWS[idx].dtype.is_complex(), "complex numbers stand last");
            real[idx] = ROWS[idx].dtype;
            idx += 1;
        }
        real
    };

    const fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// How wide an element is.
    pub const fn width(self) -> Width {
        self.row().width
    }

    /// Bytes of one element.
    #[inline]
    pub const fn size(self) -> usize {
        self.width().bytes()
    }

    /// The name users write, as in PyTorch: `float32`.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The short name of graph text and annotations: `f32`.
    pub const fn short(self) -> &'static str {
        self.row().short
    }

    /// The number in ONNX files.
    pub const fn onnx(self) -> i32 {
        self.row().onnx
    }

    /// The dtype of this number in ONNX files, if there is one.
    pub fn of_onnx(number: i32) -> Option<Self> {
        ROWS.iter().find(|it| it.onnx == number).map(|it| it.dtype)
    }

    /// The name in safetensors files: `F32`; `None` where they have no such dtype.
    pub const fn safetensors(self) -> Option<&'static str> {
        self.row().safetensors
    }

    /// What kind of numbers the elements are.
    pub const fn kind(self) -> Kind {
        self.row().kind
    }

    /// The type that written kernels compute in.
    pub const fn arithmetic(self) -> Arithmetic {
        self.row().arithmetic
    }

    /// Whether written kernels compute in the elements as they are.
    pub fn is_arithmetic(self) -> bool {
        self == Self::Bool || self.arithmetic().dtype() == self
    }

    /// The dtype in which written kernels compute in such elements: itself, or a wider one.
    pub fn computed(self) -> Self {
        if self.is_arithmetic() { self } else { self.arithmetic().dtype() }
    }

    /// Whether elements have 16 bits and are computed in float32.
    #[inline]
    pub const fn is_half(self) -> bool {
        match self.row().format {
            Some(format) => format.is_half() && self.is_float(),
            None => false,
        }
    }

    /// Whether elements are floats in which written kernels compute as they are: all but halves.
    pub const fn is_full_float(self) -> bool {
        self.is_float() && !self.is_half()
    }

    /// The format of floats, or of the parts of complex numbers.
    pub const fn format(self) -> Option<Format> {
        self.row().format
    }

    /// Whether numbers of the language have this dtype.
    pub fn is_of_numbers(self) -> bool {
        self.kind().of_numbers() == self
    }

    /// Whether elements choose: truths, and bytes, which were once what truths are.
    pub const fn is_mask(self) -> bool {
        match self {
            Self::Bool | Self::U8 => true,
            Self::I8 | Self::I16 | Self::U16 | Self::I32 | Self::I64 => false,
            Self::F16 | Self::BF16 | Self::F32 | Self::F64 | Self::C64 | Self::C128 => false,
        }
    }

    /// int32 for truths and for whole numbers that are narrower; others are their own.
    pub const fn at_least_i32(self) -> Self {
        match self.kind() {
            Kind::Bool | Kind::Int if self.size() < 4 => Self::I32,
            Kind::Bool | Kind::Int | Kind::Float | Kind::Complex => self,
        }
    }

    /// The dtype of floats that are near whole numbers of this dtype, however large; of others their own.
    pub const fn floats(self) -> Self {
        if self.is_differentiable() { self } else { Self::F64 }
    }

    /// Looks a dtype up by either of its names.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dtype| dtype.name() == text || dtype.short() == text)
    }

    /// Whether elements are truths.
    #[inline]
    pub const fn is_bool(self) -> bool {
        self.kind() as u8 == Kind::Bool as u8
    }

    /// Whether elements are floating point numbers.
    #[inline]
    pub const fn is_float(self) -> bool {
        self.kind() as u8 == Kind::Float as u8
    }

    /// Whether elements have a real and an imaginary part.
    #[inline]
    pub const fn is_complex(self) -> bool {
        self.kind() as u8 == Kind::Complex as u8
    }

    /// Whether elements are whole numbers (`bool` is not).
    #[inline]
    pub const fn is_int(self) -> bool {
        self.kind() as u8 == Kind::Int as u8
    }

    /// Whether gradients flow to elements.
    pub const fn is_differentiable(self) -> bool {
        match self.kind() {
            Kind::Float | Kind::Complex => true,
            Kind::Bool | Kind::Int => false,
        }
    }

    /// The dtype of the parts of a complex number; others are their own.
    pub const fn part(self) -> Self {
        self.row().part
    }

    /// The dtype of complex numbers that floats of this dtype are parts of; of halves and integers it is that of `F32`.
    pub const fn complex(self) -> Self {
        self.row().complex
    }

    /// The least and the greatest whole number among the elements; `None` for floats and complex numbers.
    pub const fn int_range(self) -> Option<(i64, i64)> {
        self.row().range
    }

    /// The nearest float of this dtype, as a double; for dtypes of whole numbers the number itself.
    pub fn nearest(self, value: f64) -> f64 {
        self.format().map_or(value, |it| it.nearest(value))
    }

    /// The whole number with the low bits that an element has.
    pub const fn wrapped(self, value: i64) -> i64 {
        let Some((least, _)) = self.int_range() else { return value };
        if self.is_bool() {
            return value;
        }
        let unused = 64 - 8 * self.size();
        if least < 0 {
            value << unused >> unused
        } else {
            ((value as u64) << unused >> unused) as i64
        }
    }

    /// The double with the fewest digits whose nearest float of this dtype is that of `value`: how an element is written.
    pub fn shortest(self, value: f64) -> f64 {
        self.format().map_or(value, |it| it.shortest(value))
    }

    /// The greatest finite element.
    pub fn largest(self) -> f64 {
        let whole = || self.int_range().map_or(f64::MAX, |it| it.1 as f64);
        self.format().map_or_else(whole, Format::largest)
    }

    /// The dtype in which values of both dtypes are computed (`torch.promote_types`).
    pub fn promote(self, other: Self) -> Self {
        promotion::PROMOTED[self as usize][other as usize]
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How strongly an operand pulls the result dtype: number written in the program < 0-d tensor < tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// A number of the language; only its category counts.
    Number,
    /// A tensor of rank 0.
    ZeroDim,
    /// A tensor of rank 1 or more.
    Tensor,
}

/// The dtype of an elementwise result (`torch.result_type`): operands of a weaker strength matter only when their
/// category is higher than that of all stronger ones. A float number beside integers gives `F32`; complex numbers take the width of
/// the floats that are stronger.
pub fn result_type(operands: impl Iterator<Item = (DType, Strength)> + Clone) -> DType {
    let mut res: Option<DType> = None;
    for level in [Strength::Tensor, Strength::ZeroDim, Strength::Number] {
        let here =
            operands.clone().filter(|it| it.1 == level).map(|it| it.0).reduce(DType::promote);
        let Some(here) = here else { continue };
        res = Some(match res {
            None if level == Strength::Number && here.is_complex() => DType::C64,
            None if level == Strength::Number && here.is_float() => DType::F32,
            None => here,
            Some(above) if here.kind() <= above.kind() => above,
            Some(above) if here.is_complex() && above.is_float() => above.complex(),
            Some(above) if level == Strength::Number => default_of(here, above),
            Some(above) => above.promote(here),
        });
    }
    res.unwrap_or(DType::F32)
}

/// A number lifts `above` into its kind with the default dtype of that kind.
fn default_of(number: DType, above: DType) -> DType {
    match number.kind() {
        Kind::Complex => DType::C64,
        Kind::Float => DType::F32,
        Kind::Int => DType::I64,
        Kind::Bool => above,
    }
}

/// Runs `$body` with the type alias `$T` bound to the Rust type that kernels compute `$dtype` in ([`Arithmetic`]). Bool elements are
/// `u8` holding 0 or 1.
#[macro_export]
macro_rules! with_dtype {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype.arithmetic() {
            $crate::dtype::Arithmetic::U8 => {
                type $T = u8;
                $body
            }
            $crate::dtype::Arithmetic::I32 => {
                type $T = i32;
                $body
            }
            $crate::dtype::Arithmetic::I64 => {
                type $T = i64;
                $body
            }
            $crate::dtype::Arithmetic::F32 => {
                type $T = f32;
                $body
            }
            $crate::dtype::Arithmetic::F64 => {
                type $T = f64;
                $body
            }
        }
    };
}

/// Runs `$body` with the type alias `$T` bound to an integer as wide as `$dtype`: for kernels that move elements and never look at
/// them.
#[macro_export]
macro_rules! with_size {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype.width() {
            $crate::dtype::Width::W1 => {
                type $T = u8;
                $body
            }
            $crate::dtype::Width::W2 => {
                type $T = i16;
                $body
            }
            $crate::dtype::Width::W4 => {
                type $T = i32;
                $body
            }
            $crate::dtype::Width::W8 => {
                type $T = i64;
                $body
            }
            $crate::dtype::Width::W16 => {
                type $T = u128;
                $body
            }
        }
    };
}

/// As [`with_dtype!`], for kernels whose row admits floats only: other dtypes give `Error::DType`.
#[macro_export]
macro_rules! with_float {
    ($op:expr, $dtype:expr, $T:ident => $body:expr) => {
        match $dtype.arithmetic() {
            $crate::dtype::Arithmetic::F32 => {
                type $T = f32;
                $body
            }
            $crate::dtype::Arithmetic::F64 => {
                type $T = f64;
                $body
            }
            $crate::dtype::Arithmetic::U8
            | $crate::dtype::Arithmetic::I32
            | $crate::dtype::Arithmetic::I64 => {
                Err($crate::Error::DType { op: $op, dtype: $dtype, allowed: "floats" })
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_written_with_the_fewest_digits() {
        assert_eq!(DType::F16.shortest(0.1), 0.1);
        assert_eq!(DType::F16.shortest(0.099_975_586), 0.1);
        assert_eq!(DType::BF16.shortest(2.718_75), 2.72);
        assert_eq!(DType::F32.shortest(f64::from(0.1_f32)), 0.1);
        assert_eq!(DType::F32.shortest(f64::from(f32::MAX)), 3.402_823_5e38);
        assert!(DType::F16.shortest(f64::NAN).is_nan());
        assert_eq!(DType::F16.shortest(1e9), f64::INFINITY);
    }

    #[test]
    fn promotes_as_pytorch() {
        use Strength::{Number, Tensor, ZeroDim};
        let of = |list: &[(DType, Strength)]| result_type(list.iter().copied());
        assert_eq!(of(&[(DType::I64, Tensor), (DType::F64, Number)]), DType::F32);
        assert_eq!(of(&[(DType::I32, Tensor), (DType::I64, Number)]), DType::I32);
        assert_eq!(of(&[(DType::Bool, Tensor), (DType::I64, Number)]), DType::I64);
        assert_eq!(of(&[(DType::F32, Tensor), (DType::F64, ZeroDim)]), DType::F32);
        assert_eq!(of(&[(DType::I32, Tensor), (DType::F64, ZeroDim)]), DType::F64);
        assert_eq!(of(&[(DType::U8, Tensor), (DType::I32, Tensor)]), DType::I32);
        assert_eq!(of(&[(DType::F32, Tensor), (DType::F64, Tensor)]), DType::F64);
        assert_eq!(of(&[(DType::F16, Tensor), (DType::BF16, Tensor)]), DType::F32);
        assert_eq!(of(&[(DType::BF16, Tensor), (DType::F64, ZeroDim)]), DType::BF16);
        assert_eq!(of(&[(DType::F16, Tensor), (DType::F64, Number)]), DType::F16);
        assert_eq!(of(&[(DType::I8, Tensor), (DType::U8, Tensor)]), DType::I16);
        assert_eq!(of(&[(DType::I8, Tensor), (DType::I64, Number)]), DType::I8);
    }
}

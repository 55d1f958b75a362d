//! Element types and the promotion table (PyTorch's).

use std::fmt;

/// The type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DType {
    /// One byte, 0 or 1.
    Bool,
    /// Unsigned 8-bit integer.
    U8,
    /// Signed 32-bit integer.
    I32,
    /// Signed 64-bit integer.
    I64,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
}

impl DType {
    /// Every dtype, in promotion order.
    pub const ALL: [Self; 6] = [Self::Bool, Self::U8, Self::I32, Self::I64, Self::F32, Self::F64];

    /// Bytes of one element.
    pub const fn size(self) -> usize {
        match self {
            Self::Bool | Self::U8 => 1,
            Self::I32 | Self::F32 => 4,
            Self::I64 | Self::F64 => 8,
        }
    }

    /// The name users write, as in PyTorch: `float32`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::U8 => "uint8",
            Self::I32 => "int32",
            Self::I64 => "int64",
            Self::F32 => "float32",
            Self::F64 => "float64",
        }
    }

    /// The short name of graph text and annotations: `f32`.
    pub const fn short(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::U8 => "u8",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// Looks a dtype up by either of its names.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dtype| dtype.name() == text || dtype.short() == text)
    }

    /// Whether elements are floating point numbers.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    /// Whether elements are whole numbers (`bool` is not).
    pub const fn is_int(self) -> bool {
        matches!(self, Self::U8 | Self::I32 | Self::I64)
    }

    /// 0 bool, 1 integers, 2 floats: promotion never leaves the highest category present.
    const fn category(self) -> u8 {
        match self {
            Self::Bool => 0,
            Self::U8 | Self::I32 | Self::I64 => 1,
            Self::F32 | Self::F64 => 2,
        }
    }

    /// The dtype in which values of both dtypes are computed (`torch.promote_types`).
    pub fn promote(self, other: Self) -> Self {
        self.max(other)
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
/// category is higher than that of all stronger ones. A float number beside integers gives `F32`.
pub fn result_type(operands: impl Iterator<Item = (DType, Strength)> + Clone) -> DType {
    let mut res: Option<DType> = None;
    for level in [Strength::Tensor, Strength::ZeroDim, Strength::Number] {
        let here =
            operands.clone().filter(|it| it.1 == level).map(|it| it.0).reduce(DType::promote);
        let Some(here) = here else { continue };
        res = Some(match res {
            None if level == Strength::Number && here.is_float() => DType::F32,
            None => here,
            Some(above) if here.category() <= above.category() => above,
            Some(above) if level == Strength::Number => default_of(here, above),
            Some(above) => above.promote(here),
        });
    }
    res.unwrap_or(DType::F32)
}

/// A number lifts `above` into its category with the default dtype of that category.
fn default_of(number: DType, above: DType) -> DType {
    match number.category() {
        2 => DType::F32,
        1 => DType::I64,
        _ => above,
    }
}

/// Runs `$body` with the type alias `$T` bound to the Rust type of `$dtype`. Bool elements are `u8` holding 0 or 1.
#[macro_export]
macro_rules! with_dtype {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            $crate::DType::Bool | $crate::DType::U8 => {
                type $T = u8;
                $body
            }
            $crate::DType::I32 => {
                type $T = i32;
                $body
            }
            $crate::DType::I64 => {
                type $T = i64;
                $body
            }
            $crate::DType::F32 => {
                type $T = f32;
                $body
            }
            $crate::DType::F64 => {
                type $T = f64;
                $body
            }
        }
    };
}

/// Runs `$body` with the type alias `$T` bound to a type of the size of `$dtype`: for kernels that move elements and never look
/// at them.
#[macro_export]
macro_rules! with_size {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype.size() {
            1 => {
                type $T = u8;
                $body
            }
            4 => {
                type $T = i32;
                $body
            }
            _ => {
                type $T = i64;
                $body
            }
        }
    };
}

/// As [`with_dtype!`], for kernels whose row admits floats only: other dtypes give `Error::DType`.
#[macro_export]
macro_rules! with_float {
    ($op:expr, $dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            $crate::DType::F32 => {
                type $T = f32;
                $body
            }
            $crate::DType::F64 => {
                type $T = f64;
                $body
            }
            other => {
                Err($crate::Error::DType { op: $op, dtype: other, allowed: "float32 or float64" })
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

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
    }
}

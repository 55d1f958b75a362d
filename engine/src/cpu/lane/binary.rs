//! Kernels of scalar functions of two arguments, from the rows of [`crate::math::binary`], and of `select`.

use super::super::features::Isa;
use super::Lane;
use super::loops::{Kern, lanes};
use crate::expr::BinOp;
use crate::math::binary::{float32_binary, float64_binary, whole_binary};
use crate::math::{Fault, Float, Library2, Scalar, Whole64, float, float32, whole};

/// The kernel of `op` on lanes of a type; `None` where the op has no meaning there.
pub(crate) fn binary(op: BinOp, lane: Lane, isa: Isa) -> Option<Kern> {
    match lane {
        Lane::F32 => f32_lanes(op, isa),
        Lane::F64 => f64_lanes(op, isa),
        Lane::I64 => i64_lanes(op, isa).map(|it| Kern { refuses: Fault::of(op), ..it }),
    }
}

/// Two functions of two arguments each, one of what the other gives, in one pass: what the first gives is rounded, and so is what comes of
/// it, as by two kernels.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Joined {
    /// `a * b + z`
    Add,
    /// `z + a * b`
    AddTo,
    /// `a * b - z`
    Sub,
    /// `z - a * b`
    SubFrom,
    /// `z * (a + b)`
    TimesSum,
    /// `min(z, max(a, b))`
    Limit,
}

/// The kernel of that, whose operands are `z`, `a` and `b`; `None` where there is none for lanes of a type.
pub(crate) fn joined(what: Joined, lane: Lane, isa: Isa) -> Option<Kern> {
    macro_rules! of {
        ($t:ty) => {
            match what {
                Joined::Add => lanes!(all isa, $t, |z, a, b| a * b + z),
                Joined::AddTo => lanes!(all isa, $t, |z, a, b| z + a * b),
                Joined::Sub => lanes!(all isa, $t, |z, a, b| a * b - z),
                Joined::SubFrom => lanes!(all isa, $t, |z, a, b| z - a * b),
                Joined::TimesSum => lanes!(all isa, $t, |z, a, b| z * (a + b)),
                Joined::Limit => lanes!(all isa, $t, |z, a, b| float::min(z, float::max(a, b))),
            }
        };
    }
    Some(match lane {
        Lane::F32 => of!(f32),
        Lane::F64 => of!(f64),
        Lane::I64 => return None,
    })
}

/// The kernel of `b if a != 0 else c`.
pub(crate) fn select(lane: Lane, isa: Isa) -> Kern {
    match lane {
        Lane::F32 => lanes!(all isa, f32, |c, x, y| if c != 0.0 { x } else { y }),
        Lane::F64 => lanes!(all isa, f64, |c, x, y| if c != 0.0 { x } else { y }),
        Lane::I64 => lanes!(two isa, i64, |c, x, y| if c != 0 { x } else { y }),
    }
}

/// The kernel of `c if op(a, b) else d`; `None` unless `op` is a comparison.
pub(crate) fn select_compare(op: BinOp, lane: Lane, isa: Isa) -> Option<Kern> {
    macro_rules! of {
        ($t:ty) => {
            match op {
                BinOp::Eq => lanes!(two isa, $t, |a, b, x, y| if a == b { x } else { y }),
                BinOp::Ne => lanes!(two isa, $t, |a, b, x, y| if a != b { x } else { y }),
                BinOp::Lt => lanes!(two isa, $t, |a, b, x, y| if a < b { x } else { y }),
                BinOp::Le => lanes!(two isa, $t, |a, b, x, y| if a <= b { x } else { y }),
                _ => return None,
            }
        };
    }
    Some(match lane {
        Lane::F32 => of!(f32),
        Lane::F64 => of!(f64),
        Lane::I64 => of!(i64),
    })
}

/// The kernel of one of the rows.
macro_rules! kernels {
    ([$which:ident $isa:ident $t:ident] $($op:ident $sets:ident |$x:ident, $y:ident| $body:expr;)*) => {
        Some(match $which {
            $(BinOp::$op => lanes!($sets $isa, $t, |$x, $y| $body),)*
            _ => return None,
        })
    };
}

fn f32_lanes(op: BinOp, isa: Isa) -> Option<Kern> {
    float32_binary!(kernels op isa f32)
}

fn f64_lanes(op: BinOp, isa: Isa) -> Option<Kern> {
    float64_binary!(kernels op isa f64)
}

fn i64_lanes(op: BinOp, isa: Isa) -> Option<Kern> {
    whole_binary!(kernels op isa i64)
}

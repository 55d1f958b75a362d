//! Kernels of scalar functions of one argument, from the rows of [`crate::math::unary`].

use super::super::features::Isa;
use super::Lane;
use super::loops::{Kern, lanes};
use crate::expr::UnOp;
use crate::math::unary::{float32_unary, float64_unary, whole_unary};
use crate::math::{Float, Library, bessel, circular64, float, float32, float64, gamma, whole};

/// The kernel of `op` on lanes of a type; `None` where the op has no meaning there.
pub(crate) fn unary(op: UnOp, lane: Lane, isa: Isa) -> Option<Kern> {
    match lane {
        Lane::F32 => f32_lanes(op, isa),
        Lane::F64 => f64_lanes(op, isa),
        Lane::I64 => i64_lanes(op, isa),
    }
}

/// The kernel of a row. A trigonometric one is vector code, then the library for the arguments that are too large for it.
macro_rules! kernel {
    ($op:ident trig $isa:expr, f32, |$x:ident| $body:expr) => {
        kernel!(@far $op $isa, f32, float32::is_far, |$x| $body)
    };
    ($op:ident trig64 $isa:expr, f64, |$x:ident| $body:expr) => {
        kernel!(@far $op $isa, f64, circular64::is_far, |$x| $body)
    };
    (@far $op:ident $isa:expr, $t:ident, $is_far:expr, |$x:ident| $body:expr) => {{
        struct Body;
        impl $crate::cpu::lane::loops::Map1<$t, $t> for Body {
            const REDO: bool = true;

            #[inline(always)]
            fn call($x: $t) -> $t {
                $body
            }

            #[inline(always)]
            fn redo(x: $t) -> bool {
                $is_far(x)
            }

            fn again(x: $t) -> $t {
                x.library(Library::$op)
            }
        }
        $crate::cpu::lane::loops::map1::<$t, $t, Body>($isa)
    }};
    ($op:ident $sets:ident $($rest:tt)*) => {
        lanes!($sets $($rest)*)
    };
}

/// The kernel of one of the rows.
macro_rules! kernels {
    ([$which:ident $isa:ident $t:ident] $($op:ident $sets:ident |$x:ident| $body:expr;)*) => {
        Some(match $which {
            $(UnOp::$op => kernel!($op $sets $isa, $t, |$x| $body),)*
            _ => return None,
        })
    };
}

fn f32_lanes(op: UnOp, isa: Isa) -> Option<Kern> {
    float32_unary!(kernels op isa f32)
}

fn f64_lanes(op: UnOp, isa: Isa) -> Option<Kern> {
    float64_unary!(kernels op isa f64)
}

fn i64_lanes(op: UnOp, isa: Isa) -> Option<Kern> {
    whole_unary!(kernels op isa i64)
}

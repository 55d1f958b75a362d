//! Kernels of scalar functions of one argument.

use super::super::features::Isa;
use super::loops::{Kern, lanes};
use super::{Lane, math32, math64};
use crate::expr::UnOp;

/// A trigonometric kernel: vector code, then the library for the arguments that are too large for it.
macro_rules! reduced {
    ($isa:expr, $near:path, $far:path) => {{
        struct Body;
        impl $crate::cpu::lane::loops::Map1<f32, f32> for Body {
            const REDO: bool = true;

            #[inline(always)]
            fn call(x: f32) -> f32 {
                $near(x)
            }

            #[inline(always)]
            fn redo(x: f32) -> bool {
                x.abs() > math32::TRIG_LIMIT
            }

            fn again(x: f32) -> f32 {
                $far(x)
            }
        }
        $crate::cpu::lane::loops::map1::<f32, f32, Body>($isa)
    }};
}

/// The kernel of `op` on lanes of a type; `None` where the op has no meaning there.
pub(crate) fn unary(op: UnOp, lane: Lane, isa: Isa) -> Option<Kern> {
    match lane {
        Lane::F32 => f32_lanes(op, isa),
        // One compiled version suffices where a library function is called per lane.
        Lane::F64 => f64_lanes(op, isa),
        Lane::I64 => i64_lanes(op, isa),
    }
}

fn f32_lanes(op: UnOp, isa: Isa) -> Option<Kern> {
    Some(match op {
        UnOp::Neg => lanes!(isa, f32, |x| -x),
        UnOp::Abs => lanes!(isa, f32, |x| x.abs()),
        UnOp::Sign => {
            lanes!(isa, f32, |x| f32::from(u8::from(x > 0.0)) - f32::from(u8::from(x < 0.0)))
        }
        UnOp::Floor => lanes!(isa, f32, |x| x.floor()),
        UnOp::Ceil => lanes!(isa, f32, |x| x.ceil()),
        UnOp::Round => lanes!(isa, f32, |x| x.round_ties_even()),
        UnOp::Trunc => lanes!(isa, f32, |x| x.trunc()),
        UnOp::Exp => lanes!(isa, f32, |x| math32::exp(x)),
        UnOp::Exp2 => lanes!(isa, f32, |x| math32::exp2(x)),
        UnOp::Expm1 => lanes!(isa, f32, |x| math32::expm1(x)),
        UnOp::Log => lanes!(isa, f32, |x| math32::log(x)),
        UnOp::Log2 => lanes!(isa, f32, |x| math32::log2(x)),
        UnOp::Log10 => lanes!(isa, f32, |x| math32::log10(x)),
        UnOp::Log1p => lanes!(isa, f32, |x| math32::log1p(x)),
        UnOp::Sqrt => lanes!(isa, f32, |x| x.sqrt()),
        UnOp::Rsqrt => lanes!(isa, f32, |x| 1.0 / x.sqrt()),
        UnOp::Recip => lanes!(isa, f32, |x| 1.0 / x),
        UnOp::Sin => reduced!(isa, math32::sin, f32::sin),
        UnOp::Cos => reduced!(isa, math32::cos, f32::cos),
        UnOp::Tan => reduced!(isa, math32::tan, f32::tan),
        UnOp::Asin => lanes!(plain, f32, |x| x.asin()),
        UnOp::Acos => lanes!(plain, f32, |x| x.acos()),
        UnOp::Atan => lanes!(plain, f32, |x| x.atan()),
        UnOp::Sinh => lanes!(isa, f32, |x| math32::sinh(x)),
        UnOp::Cosh => lanes!(isa, f32, |x| math32::cosh(x)),
        UnOp::Tanh => lanes!(isa, f32, |x| math32::tanh(x)),
        UnOp::Asinh => lanes!(plain, f32, |x| f64::from(x).asinh() as f32),
        UnOp::Acosh => lanes!(plain, f32, |x| f64::from(x).acosh() as f32),
        UnOp::Atanh => lanes!(plain, f32, |x| f64::from(x).atanh() as f32),
        UnOp::Sigmoid => lanes!(isa, f32, |x| math32::sigmoid(x)),
        UnOp::Erf => lanes!(isa, f32, |x| math32::erf(x)),
        UnOp::Erfc => lanes!(plain, f32, |x| math64::erfc(f64::from(x)) as f32),
        UnOp::Erfinv => lanes!(plain, f32, |x| math64::erfinv(f64::from(x)) as f32),
        UnOp::Not => lanes!(isa, f32, |x| f32::from(u8::from(x == 0.0))),
        UnOp::BitNot => return None,
    })
}

fn f64_lanes(op: UnOp, isa: Isa) -> Option<Kern> {
    Some(match op {
        UnOp::Neg => lanes!(isa, f64, |x| -x),
        UnOp::Abs => lanes!(isa, f64, |x| x.abs()),
        UnOp::Sign => {
            lanes!(isa, f64, |x| f64::from(u8::from(x > 0.0)) - f64::from(u8::from(x < 0.0)))
        }
        UnOp::Floor => lanes!(isa, f64, |x| x.floor()),
        UnOp::Ceil => lanes!(isa, f64, |x| x.ceil()),
        UnOp::Round => lanes!(isa, f64, |x| x.round_ties_even()),
        UnOp::Trunc => lanes!(isa, f64, |x| x.trunc()),
        UnOp::Exp => lanes!(plain, f64, |x| x.exp()),
        UnOp::Exp2 => lanes!(plain, f64, |x| x.exp2()),
        UnOp::Expm1 => lanes!(plain, f64, |x| x.exp_m1()),
        UnOp::Log => lanes!(plain, f64, |x| x.ln()),
        UnOp::Log2 => lanes!(plain, f64, |x| x.log2()),
        UnOp::Log10 => lanes!(plain, f64, |x| x.log10()),
        UnOp::Log1p => lanes!(plain, f64, |x| x.ln_1p()),
        UnOp::Sqrt => lanes!(isa, f64, |x| x.sqrt()),
        UnOp::Rsqrt => lanes!(isa, f64, |x| 1.0 / x.sqrt()),
        UnOp::Recip => lanes!(isa, f64, |x| 1.0 / x),
        UnOp::Sin => lanes!(plain, f64, |x| x.sin()),
        UnOp::Cos => lanes!(plain, f64, |x| x.cos()),
        UnOp::Tan => lanes!(plain, f64, |x| x.tan()),
        UnOp::Asin => lanes!(plain, f64, |x| x.asin()),
        UnOp::Acos => lanes!(plain, f64, |x| x.acos()),
        UnOp::Atan => lanes!(plain, f64, |x| x.atan()),
        UnOp::Sinh => lanes!(plain, f64, |x| x.sinh()),
        UnOp::Cosh => lanes!(plain, f64, |x| x.cosh()),
        UnOp::Tanh => lanes!(plain, f64, |x| x.tanh()),
        UnOp::Asinh => lanes!(plain, f64, |x| x.asinh()),
        // Twice the largest numbers is infinite.
        UnOp::Acosh => lanes!(plain, f64, |x| if x > 1e150 {
            x.ln() + std::f64::consts::LN_2
        } else {
            x.acosh()
        }),
        UnOp::Atanh => lanes!(plain, f64, |x| x.atanh()),
        UnOp::Sigmoid => lanes!(plain, f64, |x| math64::sigmoid(x)),
        UnOp::Erf => lanes!(plain, f64, |x| math64::erf(x)),
        UnOp::Erfc => lanes!(plain, f64, |x| math64::erfc(x)),
        UnOp::Erfinv => lanes!(plain, f64, |x| math64::erfinv(x)),
        UnOp::Not => lanes!(isa, f64, |x| f64::from(u8::from(x == 0.0))),
        UnOp::BitNot => return None,
    })
}

fn i64_lanes(op: UnOp, isa: Isa) -> Option<Kern> {
    Some(match op {
        UnOp::Neg => lanes!(narrow isa, i64, |x| x.wrapping_neg()),
        UnOp::Abs => lanes!(narrow isa, i64, |x| x.wrapping_abs()),
        UnOp::Sign => lanes!(narrow isa, i64, |x| i64::from(x > 0) - i64::from(x < 0)),
        UnOp::Floor | UnOp::Ceil | UnOp::Round | UnOp::Trunc => lanes!(plain, i64, |x| x),
        UnOp::Not => lanes!(narrow isa, i64, |x| i64::from(x == 0)),
        UnOp::BitNot => lanes!(narrow isa, i64, |x| !x),
        _ => return None,
    })
}

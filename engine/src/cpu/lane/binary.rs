//! Kernels of scalar functions of two arguments, and of `select`.

use super::super::features::Isa;
use super::loops::{Kern, lanes};
use super::{Fault, Lane, fault, math32};
use crate::expr::BinOp;

/// The kernel of `op` on lanes of a type; `None` where the op has no meaning there.
pub(crate) fn binary(op: BinOp, lane: Lane, isa: Isa) -> Option<Kern> {
    match lane {
        Lane::F32 => f32_lanes(op, isa),
        Lane::F64 => f64_lanes(op, isa),
        Lane::I64 => i64_lanes(op, isa),
    }
}

/// The kernel of `b if a != 0 else c`.
pub(crate) fn select(lane: Lane, isa: Isa) -> Kern {
    match lane {
        Lane::F32 => lanes!(isa, f32, |c, x, y| if c != 0.0 { x } else { y }),
        Lane::F64 => lanes!(isa, f64, |c, x, y| if c != 0.0 { x } else { y }),
        Lane::I64 => lanes!(narrow isa, i64, |c, x, y| if c != 0 { x } else { y }),
    }
}

/// The kernel of `c if op(a, b) else d`; `None` unless `op` is a comparison.
pub(crate) fn select_compare(op: BinOp, lane: Lane, isa: Isa) -> Option<Kern> {
    macro_rules! of {
        ($t:ty) => {
            match op {
                BinOp::Eq => lanes!(narrow isa, $t, |a, b, x, y| if a == b { x } else { y }),
                BinOp::Ne => lanes!(narrow isa, $t, |a, b, x, y| if a != b { x } else { y }),
                BinOp::Lt => lanes!(narrow isa, $t, |a, b, x, y| if a < b { x } else { y }),
                BinOp::Le => lanes!(narrow isa, $t, |a, b, x, y| if a <= b { x } else { y }),
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

/// What both float types share; `$pow` gives the kernel of the power function.
macro_rules! float_lanes {
    ($name:ident, $t:ident, $pow:expr) => {
        fn $name(op: BinOp, isa: Isa) -> Option<Kern> {
            const ZERO: $t = 0.0;
            Some(match op {
                BinOp::Add => lanes!(isa, $t, |x, y| x + y),
                BinOp::Sub => lanes!(isa, $t, |x, y| x - y),
                BinOp::Mul => lanes!(isa, $t, |x, y| x * y),
                BinOp::Div => lanes!(isa, $t, |x, y| x / y),
                BinOp::FloorDiv => lanes!(plain, $t, |x, y| $name::floor_div(x, y)),
                BinOp::Rem => lanes!(plain, $t, |x, y| $name::rem(x, y)),
                BinOp::Fmod => lanes!(plain, $t, |x, y| x % y),
                BinOp::Pow => $pow(isa),
                BinOp::Atan2 => lanes!(plain, $t, |x, y| x.atan2(y)),
                BinOp::Hypot => lanes!(plain, $t, |x, y| x.hypot(y)),
                BinOp::Min => lanes!(isa, $t, |x, y| if x < y || x.is_nan() { x } else { y }),
                BinOp::Max => lanes!(isa, $t, |x, y| if x > y || x.is_nan() { x } else { y }),
                BinOp::Eq => lanes!(isa, $t, |x, y| $t::from(u8::from(x == y))),
                BinOp::Ne => lanes!(isa, $t, |x, y| $t::from(u8::from(x != y))),
                BinOp::Lt => lanes!(isa, $t, |x, y| $t::from(u8::from(x < y))),
                BinOp::Le => lanes!(isa, $t, |x, y| $t::from(u8::from(x <= y))),
                BinOp::And => lanes!(isa, $t, |x, y| $t::from(u8::from(x != ZERO && y != ZERO))),
                BinOp::Or => lanes!(isa, $t, |x, y| $t::from(u8::from(x != ZERO || y != ZERO))),
                BinOp::Xor => {
                    lanes!(isa, $t, |x, y| $t::from(u8::from((x != ZERO) != (y != ZERO))))
                }
                BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor | BinOp::Shl | BinOp::Shr => {
                    return None;
                }
            })
        }

        mod $name {
            /// Quotient rounded down; the reasoning is that of CPython's `float_divmod`.
            pub(super) fn floor_div(x: $t, y: $t) -> $t {
                if y == 0.0 {
                    return x / y;
                }
                let modulo = x % y;
                let mut quotient = (x - modulo) / y;
                if modulo != 0.0 && (y < 0.0) != (modulo < 0.0) {
                    quotient -= 1.0;
                }
                if quotient == 0.0 {
                    let zero: $t = 0.0;
                    return zero.copysign(x / y);
                }
                let floor = quotient.floor();
                if quotient - floor > 0.5 { floor + 1.0 } else { floor }
            }

            /// Remainder with the sign of the divisor.
            pub(super) fn rem(x: $t, y: $t) -> $t {
                let modulo = x % y;
                if modulo != 0.0 && (y < 0.0) != (modulo < 0.0) { modulo + y } else { modulo }
            }
        }
    };
}

float_lanes!(f32_lanes, f32, |isa| lanes!(isa, f32, |x, y| math32::pow(x, y)));
float_lanes!(f64_lanes, f64, |_| lanes!(plain, f64, |x, y| x.powf(y)));

fn i64_lanes(op: BinOp, isa: Isa) -> Option<Kern> {
    Some(match op {
        BinOp::Add => lanes!(narrow isa, i64, |x, y| x.wrapping_add(y)),
        BinOp::Sub => lanes!(narrow isa, i64, |x, y| x.wrapping_sub(y)),
        BinOp::Mul => lanes!(narrow isa, i64, |x, y| x.wrapping_mul(y)),
        BinOp::FloorDiv => lanes!(plain, i64, |x, y| int_floor_div(x, y)),
        BinOp::Rem => lanes!(plain, i64, |x, y| int_rem(x, y)),
        BinOp::Fmod => lanes!(plain, i64, |x, y| int_fmod(x, y)),
        BinOp::Pow => lanes!(plain, i64, |x, y| int_pow(x, y)),
        BinOp::Min => lanes!(narrow isa, i64, |x, y| if x < y { x } else { y }),
        BinOp::Max => lanes!(narrow isa, i64, |x, y| if x > y { x } else { y }),
        BinOp::Eq => lanes!(narrow isa, i64, |x, y| i64::from(x == y)),
        BinOp::Ne => lanes!(narrow isa, i64, |x, y| i64::from(x != y)),
        BinOp::Lt => lanes!(narrow isa, i64, |x, y| i64::from(x < y)),
        BinOp::Le => lanes!(narrow isa, i64, |x, y| i64::from(x <= y)),
        BinOp::And => lanes!(narrow isa, i64, |x, y| i64::from(x != 0 && y != 0)),
        BinOp::Or => lanes!(narrow isa, i64, |x, y| i64::from(x != 0 || y != 0)),
        BinOp::Xor => lanes!(narrow isa, i64, |x, y| i64::from((x != 0) != (y != 0))),
        BinOp::BitAnd => lanes!(narrow isa, i64, |x, y| x & y),
        BinOp::BitOr => lanes!(narrow isa, i64, |x, y| x | y),
        BinOp::BitXor => lanes!(narrow isa, i64, |x, y| x ^ y),
        BinOp::Shl => lanes!(narrow isa, i64, |x, y| if (0..64).contains(&y) { x << y } else { 0 }),
        BinOp::Shr => {
            lanes!(narrow isa, i64, |x, y| x >> if (0..64).contains(&y) { y } else { 63 })
        }
        BinOp::Div | BinOp::Atan2 | BinOp::Hypot => return None,
    })
}

fn int_floor_div(x: i64, y: i64) -> i64 {
    if y == 0 {
        fault(Fault::DivisionByZero);
        return 0;
    }
    let quotient = x.wrapping_div(y);
    if x.wrapping_rem(y) != 0 && (x < 0) != (y < 0) { quotient - 1 } else { quotient }
}

fn int_rem(x: i64, y: i64) -> i64 {
    let modulo = int_fmod(x, y);
    if modulo != 0 && (modulo < 0) != (y < 0) { modulo + y } else { modulo }
}

fn int_fmod(x: i64, y: i64) -> i64 {
    if y == 0 {
        fault(Fault::DivisionByZero);
        return 0;
    }
    x.wrapping_rem(y)
}

/// Wraps around, as repeated multiplication does.
fn int_pow(x: i64, y: i64) -> i64 {
    if y < 0 {
        fault(Fault::NegativeExponent);
        return 0;
    }
    let (mut base, mut rest, mut res) = (x, y, 1_i64);
    while rest > 0 {
        if rest & 1 == 1 {
            res = res.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        rest >>= 1;
    }
    res
}

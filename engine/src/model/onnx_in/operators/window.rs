//! Windows of signals.

use std::f64::consts::TAU;

use super::super::args::Cx;
use super::{Operator, one};
use crate::functional::to;
use crate::model::onnx_in::tensors::dtype_of;
use crate::{Result, Shape, Tensor};

pub(super) static ALL: &[Operator] = &[
    one("BlackmanWindow", |cx| window(cx, [0.42, 0.5, 0.08])),
    one("HammingWindow", |cx| window(cx, [25.0 / 46.0, 21.0 / 46.0, 0.0])),
    one("HannWindow", |cx| window(cx, [0.5, 0.5, 0.0])),
];

/// `a - b cos(2 pi n / N) + c cos(4 pi n / N)`
fn window(cx: &Cx<'_>, [a, b, c]: [f64; 3]) -> Result<Tensor> {
    let size = cx.int_at(0)?.ok_or_else(|| cx.bad("its size is missing"))?;
    if !(0..1_i64 << 28).contains(&size) {
        return Err(cx.bad(format!("a window of {size} elements makes no sense")));
    }
    let whole = if cx.int("periodic", 1) != 0 { size } else { size - 1 };
    let element = |at: i64| match whole {
        0 => 1.0,
        _ => {
            let angle = TAU * at as f64 / whole as f64;
            a - b * angle.cos() + c * (2.0 * angle).cos()
        }
    };
    let all: Vec<f64> = (0..size).map(element).collect();
    to(
        &Tensor::from_vec(&all, Shape::from([all.len()]))?,
        dtype_of(cx.int("output_datatype", 1) as i32)?,
    )
}

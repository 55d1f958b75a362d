//! Comparisons, truth values and bits.

use super::super::args::Cx;
use super::super::calls::{call, full};
use super::elementwise::{binary, zero_of};
use super::{Operator, one};
use crate::functional::{eq, ge, gt, le, logical_and, logical_not, logical_or, lt};
use crate::{Attr, DType, Result, Tensor, functional};

pub(super) static ALL: &[Operator] = &[
    one("And", |cx| binary(cx, logical_and)),
    one("BitShift", shift),
    one("BitwiseAnd", |cx| bits(cx, "bitwise_and")),
    one("BitwiseNot", |cx| call("bitwise_not", &[cx.input(0)?], &[])),
    one("BitwiseOr", |cx| bits(cx, "bitwise_or")),
    one("BitwiseXor", |cx| bits(cx, "bitwise_xor")),
    one("Equal", |cx| binary(cx, eq)),
    one("Greater", |cx| binary(cx, gt)),
    one("GreaterOrEqual", |cx| binary(cx, ge)),
    one("IsInf", is_inf),
    one("IsNaN", |cx| call("isnan", &[cx.input(0)?], &[])),
    one("Less", |cx| binary(cx, lt)),
    one("LessOrEqual", |cx| binary(cx, le)),
    one("Not", |cx| logical_not(cx.input(0)?)),
    one("Or", |cx| binary(cx, logical_or)),
    one("Xor", |cx| binary(cx, |a, b| call("logical_xor", &[a, b], &[]))),
];

fn bits(cx: &Cx<'_>, name: &'static str) -> Result<Tensor> {
    call(name, &[cx.input(0)?, cx.input(1)?], &[])
}

/// Shifts of all bits or more, and negative ones, leave what shifting one by one would: zeros, or the sign.
fn shift(cx: &Cx<'_>) -> Result<Tensor> {
    let (x, by) = (cx.input(0)?, cx.input(1)?);
    let n_bits = 8 * x.dtype().size() as i64;
    let left = match cx.text("direction", "") {
        "LEFT" => true,
        "RIGHT" => false,
        other => return Err(cx.bad(format!("its direction '{other}' is neither LEFT nor RIGHT"))),
    };
    let most = full(&[], (n_bits - 1) as f64, by.dtype())?;
    let inside = logical_and(&ge(by, &zero_of(by)?)?, &le(by, &most)?)?;
    let within = functional::select_where(&inside, by, &zero_of(by)?)?;
    let name = if left { "bitwise_left_shift" } else { "bitwise_right_shift" };
    let shifted = call(name, &[x, &within], &[])?;
    let beyond = match left {
        true => zero_of(x)?,
        false => {
            call("bitwise_right_shift", &[x, &full(&[], (n_bits - 1) as f64, x.dtype())?], &[])?
        }
    };
    let beyond =
        if left || x.dtype().int_range().is_some_and(|it| it.0 < 0) { beyond } else { zero_of(x)? };
    functional::select_where(&inside, &shifted, &beyond)
}

fn is_inf(cx: &Cx<'_>) -> Result<Tensor> {
    let x = cx.input(0)?;
    let infinite = call("isinf", &[x], &[])?;
    let of_sign = |it: &Tensor, flag: &str, signed: Result<Tensor>| match cx.int(flag, 1) {
        0 => logical_and(it, &logical_not(&signed?)?),
        _ => Ok(it.clone()),
    };
    let zero = zero_of(x)?;
    let without = of_sign(&infinite, "detect_negative", lt(x, &zero))?;
    of_sign(&without, "detect_positive", gt(x, &zero))
}

/// Bools as bytes, for what has no meaning on bools.
pub(super) fn through_bytes(
    x: &Tensor,
    body: impl FnOnce(&Tensor) -> Result<Tensor>,
) -> Result<Tensor> {
    if x.dtype() != DType::Bool {
        return body(x);
    }
    functional::to(&body(&functional::to(x, DType::U8)?)?, DType::Bool)
}

/// A flag as an attribute of an op.
pub(super) fn yes(value: bool) -> Attr {
    Attr::Bool(value)
}

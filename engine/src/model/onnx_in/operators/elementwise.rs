//! Arithmetic element by element, and the functions of neural networks.

use super::super::args::Cx;
use super::super::build::Attribute;
use super::super::calls::{call, full, reshape};
use super::{Operator, one};
use crate::functional::{
    abs, add, div, expm1, floor_divide, gt, lt, maximum, minimum, mul, neg, num, pow, select_where,
    sub, to,
};
use crate::model::onnx_in::tensors::dtype_of;
use crate::{Attr, DType, Result, Tensor};

pub(super) static ALL: &[Operator] = &[
    one("Abs", |cx| abs(cx.input(0)?)),
    one("Acos", |cx| unary(cx, "acos")),
    one("Acosh", |cx| unary(cx, "acosh")),
    one("Add", |cx| binary(cx, add)),
    one("Asin", |cx| unary(cx, "asin")),
    one("Asinh", |cx| unary(cx, "asinh")),
    one("Atan", |cx| unary(cx, "atan")),
    one("Atanh", |cx| unary(cx, "atanh")),
    one("BitCast", bit_cast),
    one("Cast", |cx| to(cx.input(0)?, target(cx)?)),
    one("CastLike", |cx| to(cx.input(0)?, cx.input(1)?.dtype())),
    one("Ceil", |cx| unary(cx, "ceil")),
    one("Celu", |cx| with_float(cx, "celu", "alpha", 1.0)),
    one("Clip", clip),
    one("Cos", |cx| unary(cx, "cos")),
    one("Cosh", |cx| unary(cx, "cosh")),
    one("Div", |cx| binary(cx, quotient)),
    one("Elu", |cx| with_float(cx, "elu", "alpha", 1.0)),
    one("Erf", |cx| unary(cx, "erf")),
    one("Exp", |cx| unary(cx, "exp")),
    one("Floor", |cx| unary(cx, "floor")),
    one("Gelu", gelu),
    one("HardSigmoid", |cx| {
        hard_sigmoid(cx.input(0)?, cx.float("alpha", 0.2), cx.float("beta", 0.5))
    }),
    one("HardSwish", |cx| unary(cx, "hardswish")),
    one("LeakyRelu", |cx| with_float(cx, "leaky_relu", "alpha", f64::from(0.01_f32))),
    one("Log", |cx| unary(cx, "log")),
    one("Max", |cx| fold(cx, maximum)),
    one("Mean", mean),
    one("Min", |cx| fold(cx, minimum)),
    one("Mish", |cx| unary(cx, "mish")),
    one("Mod", remainder),
    one("Mul", |cx| binary(cx, mul)),
    one("Neg", |cx| neg(cx.input(0)?)),
    one("PRelu", prelu),
    one("Pow", power),
    one("Reciprocal", |cx| unary(cx, "reciprocal")),
    one("Relu", |cx| unary(cx, "relu")),
    one("Round", |cx| unary(cx, "round")),
    one("Selu", selu),
    one("Shrink", shrink),
    one("Sigmoid", |cx| unary(cx, "sigmoid")),
    one("Sign", |cx| unary(cx, "sign")),
    one("Sin", |cx| unary(cx, "sin")),
    one("Sinh", |cx| unary(cx, "sinh")),
    one("Softplus", |cx| softplus(cx.input(0)?)),
    one("Softsign", |cx| unary(cx, "softsign")),
    one("Sqrt", |cx| unary(cx, "sqrt")),
    one("Sub", |cx| binary(cx, sub)),
    one("Sum", |cx| fold(cx, add)),
    one("SwiGLU", swiglu),
    one("Swish", |cx| swish(cx.input(0)?, cx.float("alpha", 1.0))),
    one("Tan", |cx| unary(cx, "tan")),
    one("Tanh", |cx| unary(cx, "tanh")),
    one("ThresholdedRelu", thresholded_relu),
    one("Where", |cx| select_where(cx.input(0)?, cx.input(1)?, cx.input(2)?)),
];

fn unary(cx: &Cx<'_>, name: &'static str) -> Result<Tensor> {
    call(name, &[cx.input(0)?], &[])
}

fn with_float(cx: &Cx<'_>, name: &'static str, attr: &str, default: f64) -> Result<Tensor> {
    call(name, &[cx.input(0)?], &[Attr::Float(cx.float(attr, default))])
}

/// An op on two operands. Before opset 7 the second was broadcast only where an attribute said so.
pub(super) fn binary(cx: &Cx<'_>, op: fn(&Tensor, &Tensor) -> Result<Tensor>) -> Result<Tensor> {
    let (a, b) = (cx.input(0)?, cx.input(1)?);
    let axis = cx.opt_int("axis").filter(|_| cx.opset() < 7 && cx.flag("broadcast"));
    let Some(axis) = axis else { return op(a, b) };
    let axis = cx.dim(axis, a.rank())?;
    let mut sizes = b.shape().to_vec();
    sizes.resize((a.rank() - axis).max(sizes.len()), 1);
    op(a, &reshape(b, &sizes)?)
}

fn fold(cx: &Cx<'_>, op: fn(&Tensor, &Tensor) -> Result<Tensor>) -> Result<Tensor> {
    let mut res = cx.input(0)?.clone();
    for idx in 1..cx.n_inputs() {
        res = op(&res, cx.input(idx)?)?;
    }
    Ok(res)
}

fn mean(cx: &Cx<'_>) -> Result<Tensor> {
    div(&fold(cx, add)?, &num(cx.n_inputs() as f64))
}

/// The dtype that the attribute `to` names.
fn target(cx: &Cx<'_>) -> Result<DType> {
    // Before opset 6 it was a name.
    match cx.attribute("to") {
        Some(Attribute::Text(name)) => match name.to_lowercase().as_str() {
            "float" => Ok(DType::F32),
            "double" => Ok(DType::F64),
            name => DType::parse(name).ok_or_else(|| cx.bad(format!("there is no dtype {name}"))),
        },
        _ => dtype_of(cx.int("to", 0) as i32),
    }
}

/// The same bits as elements of another dtype of that width.
fn bit_cast(cx: &Cx<'_>) -> Result<Tensor> {
    let (x, dtype) = (cx.input(0)?, target(cx)?);
    let mut bytes = Vec::new();
    x.append_le_bytes(&mut bytes)?;
    Tensor::from_le_bytes(&bytes, x.shape().clone(), dtype)
}

fn clip(cx: &Cx<'_>) -> Result<Tensor> {
    let x = cx.input(0)?;
    if cx.opset() < 11 {
        let limit = |name| cx.opt_float(name).map_or(Attr::None, Attr::Float);
        return call("clamp", &[x], &[limit("min"), limit("max")]);
    }
    let low = cx.opt_input(1).map_or(Ok(x.clone()), |low| maximum(x, low))?;
    cx.opt_input(2).map_or(Ok(low.clone()), |high| minimum(&low, high))
}

/// Whole numbers are divided toward zero.
pub(super) fn quotient(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    if a.dtype().is_float() || b.dtype().is_float() {
        return div(a, b);
    }
    let rest = call("fmod", &[a, b], &[])?;
    floor_divide(&sub(a, &rest)?, b)
}

fn gelu(cx: &Cx<'_>) -> Result<Tensor> {
    let how = if cx.text("approximate", "none") == "tanh" { "tanh" } else { "none" };
    call("gelu", &[cx.input(0)?], &[Attr::Str(how)])
}

pub(super) fn hard_sigmoid(x: &Tensor, alpha: f64, beta: f64) -> Result<Tensor> {
    let sloped = add(&mul(x, &num(alpha))?, &num(beta))?;
    call("clamp", &[&sloped], &[Attr::Float(0.0), Attr::Float(1.0)])
}

fn remainder(cx: &Cx<'_>) -> Result<Tensor> {
    let name = if cx.flag("fmod") { "fmod" } else { "remainder" };
    call(name, &[cx.input(0)?, cx.input(1)?], &[])
}

fn prelu(cx: &Cx<'_>) -> Result<Tensor> {
    let (x, slope) = (cx.input(0)?, cx.input(1)?);
    let mut sizes = slope.shape().to_vec();
    // A slope per channel.
    if cx.opset() < 7 && sizes.len() == 1 && x.rank() > 2 {
        sizes.resize(x.rank() - 1, 1);
    }
    let negative = mul(x, &reshape(slope, &sizes)?)?;
    select_where(&lt(x, &zero_of(x)?)?, &negative, x)
}

/// A zero of the dtype of `x`.
pub(super) fn zero_of(x: &Tensor) -> Result<Tensor> {
    full(&[], 0.0, x.dtype())
}

/// The result has the dtype of the base.
fn power(cx: &Cx<'_>) -> Result<Tensor> {
    let base = cx.input(0)?;
    binary(cx, pow).and_then(|it| to(&it, base.dtype()))
}

fn selu(cx: &Cx<'_>) -> Result<Tensor> {
    let x = cx.input(0)?;
    let alpha = cx.float("alpha", 1.673_263_192_176_818_8);
    let gamma = cx.float("gamma", 1.050_700_902_938_842_8);
    let negative = mul(&expm1(x)?, &num(alpha))?;
    mul(&select_where(&gt(x, &zero_of(x)?)?, x, &negative)?, &num(gamma))
}

fn shrink(cx: &Cx<'_>) -> Result<Tensor> {
    let (x, bias, limit) = (cx.input(0)?, cx.float("bias", 0.0), cx.float("lambd", 0.5));
    let above = select_where(&gt(x, &num(limit))?, &sub(x, &num(bias))?, &zero_of(x)?)?;
    let res = select_where(&lt(x, &num(-limit))?, &add(x, &num(bias))?, &above)?;
    to(&res, x.dtype())
}

pub(super) fn softplus(x: &Tensor) -> Result<Tensor> {
    call("softplus", &[x], &[])
}

pub(super) fn swish(x: &Tensor, alpha: f64) -> Result<Tensor> {
    mul(x, &call("sigmoid", &[&mul(x, &num(alpha))?], &[])?)
}

/// The first half of a dimension, as a gate, times the second.
fn swiglu(cx: &Cx<'_>) -> Result<Tensor> {
    mul(&swish(cx.input(0)?, cx.float("alpha", 1.0))?, cx.input(1)?)
}

fn thresholded_relu(cx: &Cx<'_>) -> Result<Tensor> {
    let (x, limit) = (cx.input(0)?, cx.float("alpha", 1.0));
    select_where(&gt(x, &num(limit))?, x, &zero_of(x)?)
}

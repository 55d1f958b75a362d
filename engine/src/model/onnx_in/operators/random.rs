//! Random numbers, of Notegrad's own generators: a seed that a model names is not looked at.

use super::super::args::Cx;
use super::super::calls::{call, reshape};
use super::logic::yes;
use super::{Operator, one};
use crate::functional::{exp, to};
use crate::model::onnx_in::tensors::dtype_of;
use crate::{Attr, DType, Result, Tensor};

pub(super) static ALL: &[Operator] = &[
    one("Bernoulli", bernoulli),
    one("Multinomial", multinomial),
    one("RandomNormal", |cx| drawn(cx, "normal", ["mean", "scale"], None)),
    one("RandomNormalLike", |cx| drawn(cx, "normal", ["mean", "scale"], Some(cx.input(0)?))),
    one("RandomUniform", |cx| drawn(cx, "uniform", ["low", "high"], None)),
    one("RandomUniformLike", |cx| drawn(cx, "uniform", ["low", "high"], Some(cx.input(0)?))),
];

/// The dtype that a node names.
fn dtype_or(cx: &Cx<'_>, default: DType) -> Result<DType> {
    cx.opt_int("dtype").map_or(Ok(default), |it| dtype_of(it as i32))
}

fn bernoulli(cx: &Cx<'_>) -> Result<Tensor> {
    let p = cx.input(0)?;
    to(&call("bernoulli", &[p], &[])?, dtype_or(cx, p.dtype())?)
}

/// Classes by the logarithms of their shares.
fn multinomial(cx: &Cx<'_>) -> Result<Tensor> {
    let shares = exp(&call("log_softmax", &[cx.input(0)?], &[Attr::Int(-1)])?)?;
    let attrs = [Attr::Int(cx.int("sample_size", 1)), yes(true)];
    to(&call("multinomial", &[&shares], &attrs)?, dtype_or(cx, DType::I32)?)
}

fn drawn(
    cx: &Cx<'_>,
    name: &'static str,
    numbers: [&str; 2],
    like: Option<&Tensor>,
) -> Result<Tensor> {
    let (shape, default) = match like {
        Some(it) => (it.shape().to_vec(), it.dtype()),
        None => {
            let given = cx.ints("shape").ok_or_else(|| cx.bad("its shape is missing"))?;
            let size = |it: &i64| usize::try_from(*it).ok();
            let shape: Option<Vec<usize>> = given.iter().map(size).collect();
            (shape.ok_or_else(|| cx.bad(format!("its shape is {given:?}")))?, DType::F32)
        }
    };
    let dtype = dtype_or(cx, default)?;
    if !dtype.is_float() {
        return Err(cx.bad(format!("{} holds no such random numbers", dtype.short())));
    }
    let sizes: Vec<i64> = shape.iter().map(|&it| it as i64).collect();
    let attrs = [
        Attr::Float(cx.float(numbers[0], 0.0)),
        Attr::Float(cx.float(numbers[1], 1.0)),
        Attr::ints(&sizes),
        Attr::DType(dtype),
    ];
    reshape(&call(name, &[], &attrs)?, &shape)
}

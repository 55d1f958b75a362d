//! `uniform_` and `normal_`: the elements are drawn in the order in which they lie, as in PyTorch.

use std::f64::consts::FRAC_1_SQRT_2;

use engine::apply::place;
use engine::{Attr, Attrs, DType, Error, OpDef, Shape, Tensor, functional};

use super::{convert, methods};
use crate::builtins::modules::generator;
use crate::native::*;

/// Of elements with gaps, or in another order, so many normal numbers are drawn at a time: each as if it were alone.
const FEW: usize = 15;

/// `x.uniform_(from, to)`.
pub(super) fn uniform(_cx: &mut Cx, args: Args<'_>) -> Res {
    let (from, to) = (args.float(1)?, args.float(2)?);
    let dtype = floats("uniform_", &args)?;
    let most = dtype.largest();
    let is_held = |it: f64| it.abs() <= most;
    let problem = if !is_held(from) {
        Some(format!("from is out of bounds for {dtype}"))
    } else if !is_held(to) {
        Some(format!("to is out of bounds for {dtype}"))
    } else if from > to {
        Some(format!(
            "uniform_ expects to return a [from, to) range, but found from={from} > to={to}"
        ))
    } else if to - from > most {
        Some(format!("uniform_ expects to - from <= {most}, but found to={to} and from={from}"))
    } else {
        None
    };
    problem.map_or_else(|| drawn(&args, "uniform", [from, to]), |it| Err(runtime_error(it)))
}

/// `x.normal_(mean, std)`.
pub(super) fn normal(_cx: &mut Cx, args: Args<'_>) -> Res {
    let (mean, std) = (args.float(1)?, args.float(2)?);
    floats("normal_", &args)?;
    if std.is_nan() || std < 0.0 {
        return Err(runtime_error(format!("normal expects std >= 0.0, but found std {std}")));
    }
    drawn(&args, "normal", [mean, std])
}

/// The dtype of the numbers, or of their parts; an error if these are no floats.
fn floats(op: &'static str, args: &Args<'_>) -> Result<DType, Raised> {
    let dtype = convert::variable(&args[0])?.seen().dtype();
    match dtype.part().is_float() {
        true => Ok(dtype.part()),
        false => Err(Error::DType { op, dtype, allowed: "floats" }.into()),
    }
}

/// Fills the tensor with what a random op of two numbers draws: complex numbers part by part, each with half of the variance.
fn drawn(args: &Args<'_>, op: &'static str, [first, second]: [f64; 2]) -> Res {
    let row =
        engine::ops::find(op).ok_or_else(|| runtime_error(format!("the op {op} is missing")))?;
    let object = convert::variable(&args[0])?;
    let value = object.get();
    let is_complex = value.dtype().is_complex();
    let (layout, device) = (value.layout().clone(), value.device());
    let as_is = || (0..layout.shape.rank()).collect();
    let order = if layout.is_contiguous() { as_is() } else { layout.order() };
    let mut sizes: Vec<usize> = order.iter().map(|&it| layout.shape[it]).collect();
    sizes.extend(is_complex.then_some(2));
    let scale = if is_complex && op == "normal" { FRAC_1_SQRT_2 } else { 1.0 };
    let bounds = [Attr::Float(first), Attr::Float(second * scale)];
    let rest = [Attr::sizes(&sizes), Attr::DType(value.dtype().part())];
    let attrs = bounds.into_iter().chain(rest).collect();
    // No handle on the old value stays, so that it can be overwritten.
    drop(value);
    let within = || !is_complex && matches!(object.apply_into(row, &[], &attrs), Ok(true));
    if generator::with(args.opt(3), within)? {
        return Ok(args[0].clone());
    }
    let draw = |sizes: &[usize]| {
        let drawn = match op == "normal" && !layout.is_contiguous() {
            true => singly(row, &attrs, sizes)?,
            false => engine::apply_one(row, &[], &sized(&attrs, sizes))?,
        };
        if is_complex { functional::view_as_complex(&drawn) } else { Ok(drawn) }
    };
    if !layout.is_contiguous() {
        let mut make = |shape: &Shape| {
            let sizes: Vec<usize> = shape.iter().copied().chain(is_complex.then_some(2)).collect();
            draw(&sizes)
        };
        if generator::with(args.opt(3), || object.fill_in_order(&mut make))?? {
            return Ok(args[0].clone());
        }
    }
    let drawn = generator::with(args.opt(3), || place::making_on(device, || draw(&sizes)))??;
    methods::filled(&args[0], back(drawn, &order)?)
}

/// The attributes of a draw of other sizes.
fn sized(attrs: &Attrs, sizes: &[usize]) -> Attrs {
    let mut attrs = attrs.clone();
    attrs[2] = Attr::sizes(sizes);
    attrs
}

/// Brings dimensions that stand in this order to where they were.
fn back(drawn: Tensor, order: &[usize]) -> engine::Result<Tensor> {
    if order.is_sorted() {
        return Ok(drawn);
    }
    let place = |dim| order.iter().position(|it| *it == dim).unwrap_or(dim) as i64;
    let dims: Vec<i64> = (0..order.len()).map(place).collect();
    functional::permute(&drawn, &dims)
}

/// What the op draws where each number is drawn alone.
fn singly(op: &'static OpDef, attrs: &Attrs, sizes: &[usize]) -> engine::Result<Tensor> {
    let shape: Shape = sizes.iter().copied().collect();
    let parts = (0..shape.numel())
        .step_by(FEW)
        .map(|start| engine::apply_one(op, &[], &sized(attrs, &[FEW.min(shape.numel() - start)])));
    let parts = parts.collect::<engine::Result<Vec<_>>>()?;
    functional::reshape(&functional::cat(&parts, 0)?, &shape)
}

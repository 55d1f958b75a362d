//! Images in other sizes: a product with a matrix of weights for each dimension.

use super::super::args::Cx;
use super::super::calls::{call, full, of_ints, reshape};
use super::{Operator, one};
use crate::functional::{matmul, matrix_transpose, maximum, minimum, select_where, to, transpose};
use crate::{DType, Result, Shape, Tensor};

use super::sort::call_select;

pub(super) static ALL: &[Operator] = &[one("Resize", resize), one("Upsample", upsample)];

/// How new elements come from old ones.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Nearest,
    Linear,
    Cubic,
}

/// The largest size that a dimension is given.
const MOST: f64 = (1_u64 << 28) as f64;

/// What a node says of all its dimensions.
struct How<'a> {
    mode: Mode,
    nearest: &'a str,
    coordinates: &'a str,
    antialias: bool,
    cubic_a: f64,
    exclude_outside: bool,
}

/// A dimension: its sizes, the scale between them, and the part of it that is asked for.
struct Side {
    size: usize,
    new_size: usize,
    scale: f64,
    roi: [f64; 2],
}

fn mode(cx: &Cx<'_>) -> Result<Mode> {
    match cx.text("mode", "nearest") {
        "nearest" => Ok(Mode::Nearest),
        "linear" | "bilinear" => Ok(Mode::Linear),
        "cubic" => Ok(Mode::Cubic),
        other => Err(cx.bad(format!("its mode '{other}' is not known"))),
    }
}

fn floats(x: Option<&Tensor>) -> Result<Vec<f64>> {
    x.map_or_else(|| Ok(Vec::new()), |it| to(it, DType::F64)?.to_vec())
}

/// Upsample, and the first version of Resize: a place is divided by the scale.
fn upsample(cx: &Cx<'_>) -> Result<Tensor> {
    let x = cx.input(0)?;
    let scales = match cx.attribute("scales") {
        Some(super::super::build::Attribute::Floats(it)) => {
            it.iter().map(|&it| f64::from(it)).collect()
        }
        _ => floats(cx.opt_input(1))?,
    };
    let how = How {
        mode: mode(cx)?,
        nearest: "floor",
        coordinates: "asymmetric",
        antialias: false,
        cubic_a: -0.75,
        exclude_outside: false,
    };
    let axes: Vec<usize> = (0..x.rank()).collect();
    let sides = by_scales(cx, x, &axes, &scales)?;
    resized(cx, x, &how, &axes, &sides, 0.0)
}

fn resize(cx: &Cx<'_>) -> Result<Tensor> {
    if cx.opset() < 11 {
        return upsample(cx);
    }
    let x = cx.input(0)?;
    let how = How {
        mode: mode(cx)?,
        nearest: cx.text("nearest_mode", "round_prefer_floor"),
        coordinates: cx.text("coordinate_transformation_mode", "half_pixel"),
        antialias: cx.flag("antialias"),
        cubic_a: cx.float("cubic_coeff_a", -0.75),
        exclude_outside: cx.flag("exclude_outside"),
    };
    let axes: Vec<usize> = match cx.ints("axes") {
        Some(it) => it.iter().map(|&it| cx.dim(it, x.rank())).collect::<Result<_>>()?,
        None => (0..x.rank()).collect(),
    };
    let scales = floats(cx.opt_input(2))?;
    let sizes = cx.ints_at(3)?.unwrap_or_default();
    let mut sides = match (scales.is_empty(), sizes.is_empty()) {
        (false, true) => by_scales(cx, x, &axes, &scales)?,
        (true, false) => by_sizes(cx, x, &axes, &sizes)?,
        _ if x.rank() == 0 => Vec::new(),
        _ => return Err(cx.bad("one of scales and sizes should be there")),
    };
    let roi = floats(cx.opt_input(1))?;
    if how.coordinates == "tf_crop_and_resize" {
        if roi.len() != 2 * axes.len() {
            return Err(cx.bad(format!("its roi has {} numbers", roi.len())));
        }
        for (at, side) in sides.iter_mut().enumerate() {
            side.roi = [roi[at], roi[axes.len() + at]];
        }
    }
    resized(cx, x, &how, &axes, &sides, cx.float("extrapolation_value", 0.0))
}

fn side(cx: &Cx<'_>, size: usize, new_size: f64, scale: f64) -> Result<Side> {
    let possible = scale > 0.0 && (0.0..=MOST).contains(&new_size);
    if !possible || (size == 0 && new_size > 0.0) {
        return Err(cx.bad(format!("a size of {size} cannot be made {new_size}")));
    }
    Ok(Side { size, new_size: new_size as usize, scale, roi: [0.0, 1.0] })
}

fn by_scales(cx: &Cx<'_>, x: &Tensor, axes: &[usize], scales: &[f64]) -> Result<Vec<Side>> {
    if scales.len() != axes.len() {
        return Err(cx.bad(format!("{} scales are given for {} axes", scales.len(), axes.len())));
    }
    axes.iter()
        .zip(scales)
        .map(|(&axis, &scale)| {
            let size = x.shape()[axis];
            side(cx, size, (size as f64 * scale).floor(), scale)
        })
        .collect()
}

fn by_sizes(cx: &Cx<'_>, x: &Tensor, axes: &[usize], sizes: &[i64]) -> Result<Vec<Side>> {
    if sizes.len() != axes.len() {
        return Err(cx.bad(format!("{} sizes are given for {} axes", sizes.len(), axes.len())));
    }
    let scales = axes.iter().zip(sizes).map(|(&axis, &to)| to as f64 / x.shape()[axis] as f64);
    let one = match cx.text("keep_aspect_ratio_policy", "stretch") {
        "stretch" => None,
        "not_larger" => scales.clone().reduce(f64::min),
        "not_smaller" => scales.clone().reduce(f64::max),
        other => return Err(cx.bad(format!("its policy '{other}' is not known"))),
    };
    axes.iter()
        .zip(sizes)
        .zip(scales)
        .map(|((&axis, &to), own)| {
            let size = x.shape()[axis];
            let kept = one.map_or(to as f64, |it| (it * size as f64 + 0.5).floor());
            side(cx, size, kept, one.unwrap_or(own))
        })
        .collect()
}

/// Each dimension in its new size.
fn resized(
    cx: &Cx<'_>,
    x: &Tensor,
    how: &How<'_>,
    axes: &[usize],
    sides: &[Side],
    outside: f64,
) -> Result<Tensor> {
    let dtype = x.dtype();
    let computes = if how.mode == Mode::Nearest { dtype } else { dtype.floats().computed() };
    let mut y = to(x, computes)?;
    for (&axis, side) in axes.iter().zip(sides) {
        if side.scale == 1.0 && side.new_size == side.size && side.roi == [0.0, 1.0] {
            continue;
        }
        let places = (0..side.new_size)
            .map(|at| place(how.coordinates, at as f64, side))
            .collect::<Option<Vec<f64>>>()
            .ok_or_else(|| cx.bad(format!("its mode '{}' is not known", how.coordinates)))?;
        y = match how.mode {
            Mode::Nearest => {
                let nearest = |&it: &f64| nearest(how.nearest, it, side.size);
                let picked: Option<Vec<i64>> = places.iter().map(nearest).collect();
                let unknown = || cx.bad(format!("its mode '{}' is not known", how.nearest));
                call_select(&y, axis, &picked.ok_or_else(unknown)?)?
            }
            _ if side.new_size.saturating_mul(side.size) as f64 > MOST * 16.0 => {
                return Err(
                    cx.bad(format!("{} by {} weights are too many", side.new_size, side.size))
                );
            }
            _ => {
                let weights: Vec<f64> = places.iter().flat_map(|&it| row(how, it, side)).collect();
                let shape = Shape::from([side.new_size, side.size]);
                let weights = to(&Tensor::from_vec(&weights, shape)?, computes)?;
                let (axis, last) = (axis as i64, y.rank() as i64 - 1);
                let turned = transpose(&y, axis, last)?;
                transpose(&matmul(&turned, &matrix_transpose(&weights)?)?, axis, last)?
            }
        };
        let end = side.size as f64 - 1.0;
        if how.coordinates == "tf_crop_and_resize" {
            let beyond: Vec<i64> =
                places.iter().map(|it| i64::from(*it < 0.0 || *it > end)).collect();
            let mut sizes = vec![1; y.rank()];
            sizes[axis] = side.new_size;
            let beyond = to(&reshape(&of_ints(&beyond)?, &sizes)?, DType::Bool)?;
            y = select_where(&beyond, &full(&[], outside, computes)?, &y)?;
        }
    }
    if dtype.is_float() || how.mode == Mode::Nearest {
        return to(&y, dtype);
    }
    let whole = call("round", &[&y], &[])?;
    let (low, high) = dtype.int_range().unwrap_or((0, 1));
    let limit = |it: f64| full(&[], it, computes);
    to(&minimum(&maximum(&whole, &limit(low as f64)?)?, &limit(high as f64)?)?, dtype)
}

/// Where a new element lies among the old ones.
fn place(coordinates: &str, at: f64, side: &Side) -> Option<f64> {
    let size = side.size as f64;
    let wide = side.scale * size;
    let half = (at + 0.5) / side.scale - 0.5;
    Some(match coordinates {
        "align_corners" if wide == 1.0 => 0.0,
        "align_corners" => at * (size - 1.0) / (wide - 1.0),
        "asymmetric" => at / side.scale,
        "half_pixel" => half,
        "half_pixel_symmetric" => size / 2.0 * (1.0 - side.new_size as f64 / wide) + half,
        "pytorch_half_pixel" if wide == 1.0 => -0.5,
        "pytorch_half_pixel" => half,
        "tf_crop_and_resize" => {
            let [start, end] = side.roi;
            let along = match wide == 1.0 {
                true => (end - start) * (size - 1.0) / 2.0,
                false => at * (end - start) * (size - 1.0) / (wide - 1.0),
            };
            along + start * (size - 1.0)
        }
        // The first version with coordinates had this one too.
        "tf_half_pixel_for_nn" => (at + 0.5) / side.scale,
        _ => return None,
    })
}

fn nearest(how: &str, place: f64, size: usize) -> Option<i64> {
    let near = match how {
        "round_prefer_floor" => (place - 0.5).ceil(),
        "round_prefer_ceil" => (place + 0.5).floor(),
        "floor" => place.floor(),
        "ceil" => place.ceil(),
        _ => return None,
    };
    Some(near.clamp(0.0, (size as f64 - 1.0).max(0.0)) as i64)
}

/// The weights of old elements for a new one.
fn row(how: &How<'_>, place: f64, side: &Side) -> Vec<f64> {
    let mut weights = vec![0.0; side.size];
    let shrink = if how.antialias { side.scale.min(1.0) } else { 1.0 };
    let reach = if how.mode == Mode::Cubic { 2.0 } else { 1.0 } / shrink;
    let (from, to) = ((place - reach).floor(), (place + reach).ceil());
    let last = side.size as f64 - 1.0;
    let mut total = 0.0;
    for step in 0..=(to - from) as usize {
        let at = from + step as f64;
        let apart = ((at - place) * shrink).abs();
        let weight = match how.mode {
            Mode::Cubic => cubic(apart, how.cubic_a),
            _ => (1.0 - apart).max(0.0),
        };
        if !how.exclude_outside || (0.0..=last).contains(&at) {
            weights[at.clamp(0.0, last) as usize] += weight;
            total += weight;
        }
    }
    if total != 0.0 && (how.antialias || how.exclude_outside) {
        weights.iter_mut().for_each(|it| *it /= total);
    }
    weights
}

/// The cubic convolution of Keys.
fn cubic(x: f64, a: f64) -> f64 {
    if x <= 1.0 {
        ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0
    } else if x < 2.0 {
        ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a
    } else {
        0.0
    }
}

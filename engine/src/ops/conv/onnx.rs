//! How convolutions and pooling are written in ONNX.

use crate::attr::Attr;
use crate::op::{NodeCx, Wire, attr};
use crate::{Result, Shape, Tensor};

/// Attribute `idx` for height and width.
fn pair(cx: &NodeCx<'_>, idx: usize, default: [i64; 2]) -> [i64; 2] {
    match cx.ints(idx).as_deref() {
        Some([both]) => [*both; 2],
        Some([height, width]) => [*height, *width],
        _ => default,
    }
}

fn both_ends([height, width]: [i64; 2]) -> [i64; 4] {
    [height, width, height, width]
}

pub(super) fn convolution(cx: &mut NodeCx<'_>) -> Result<()> {
    let attrs = vec![
        attr::ints("strides", &pair(cx, 0, [1; 2])),
        attr::ints("pads", &both_ends(pair(cx, 1, [0; 2]))),
        attr::ints("dilations", &pair(cx, 2, [1; 2])),
        attr::int("group", cx.int(3)),
    ];
    let inputs: Vec<Wire> = (0..cx.n_inputs()).map(|at| cx.input(at)).collect();
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    let wire = cx.node("Conv", &inputs, attrs);
    cx.give(wire)
}

/// A transposed convolution; what the size is larger than the smallest that fits is padded at the end.
pub(super) fn transposed(cx: &mut NodeCx<'_>) -> Result<()> {
    let (stride, padding) = (pair(cx, 1, [1; 2]), pair(cx, 2, [0; 2]));
    let dilation = pair(cx, 3, [1; 2]);
    let (from, kernel, to) = (cx.shape(0), cx.shape(1), &cx.output(0).shape);
    let extra = |side: usize| {
        let reach = dilation[side] * (kernel[2 + side] as i64 - 1) + 1;
        let least = (from[2 + side] as i64 - 1) * stride[side] - 2 * padding[side] + reach;
        to[2 + side] as i64 - least
    };
    let attrs = vec![
        attr::ints("strides", &stride),
        attr::ints("pads", &both_ends(padding)),
        attr::ints("dilations", &dilation),
        attr::ints("output_padding", &[extra(0), extra(1)]),
        attr::int("group", cx.int(4)),
    ];
    let (x, weight) = (cx.input(0), cx.input(1));
    let wire = cx.node("ConvTranspose", &[&x, &weight], attrs);
    cx.give(wire)
}

/// Operand 0 as a batch of images with channels; images alone become a batch of one.
fn images(cx: &mut NodeCx<'_>) -> Result<Wire> {
    let x = cx.input(0);
    match cx.rank(0) {
        3 => {
            let axes = cx.constant(&[0])?;
            Ok(cx.node("Unsqueeze", &[&x, &axes], Vec::new()))
        }
        _ => Ok(x),
    }
}

/// The reverse of [`images`].
fn give_images(cx: &mut NodeCx<'_>, wire: Wire) -> Result<()> {
    let wire = match cx.rank(0) {
        3 => {
            let axes = cx.constant(&[0])?;
            cx.node("Squeeze", &[&wire, &axes], Vec::new())
        }
        _ => wire,
    };
    cx.give(wire)
}

pub(super) fn max_pool(cx: &mut NodeCx<'_>) -> Result<()> {
    let kernel = pair(cx, 0, [1; 2]);
    let attrs = vec![
        attr::ints("kernel_shape", &kernel),
        attr::ints("strides", &pair(cx, 1, kernel)),
        attr::ints("pads", &both_ends(pair(cx, 2, [0; 2]))),
        attr::ints("dilations", &pair(cx, 3, [1; 2])),
        attr::int("ceil_mode", i64::from(cx.flag(4))),
    ];
    let n_results = 1 + usize::from(cx.is_used(1));
    let rank = cx.rank(0);
    let plane: usize = cx.shape(0)[rank - 2..].iter().product();
    let x = images(cx)?;
    let results = cx.nodes("MaxPool", &[&x], n_results, attrs);
    give_images(cx, results[0].clone())?;
    if let Some(places) = results.get(1) {
        // ONNX counts through the whole batch.
        let plane = cx.index(plane as i64)?;
        let places = cx.node("Mod", &[places, &plane], Vec::new());
        give_images(cx, places)?;
    }
    Ok(())
}

pub(super) fn avg_pool(cx: &mut NodeCx<'_>) -> Result<()> {
    let kernel = pair(cx, 0, [1; 2]);
    let divisor = match cx.attrs.get(5) {
        Some(Attr::Int(it)) => Some(*it),
        _ => None,
    };
    if divisor.is_some() && cx.flag(3) {
        return cx.refuse("divisor_override with ceil_mode has no operator there");
    }
    let counts_padding = cx.flag(4) || divisor.is_some();
    let attrs = vec![
        attr::ints("kernel_shape", &kernel),
        attr::ints("strides", &pair(cx, 1, kernel)),
        attr::ints("pads", &both_ends(pair(cx, 2, [0; 2]))),
        attr::int("ceil_mode", i64::from(cx.flag(3))),
        attr::int("count_include_pad", i64::from(counts_padding)),
    ];
    let x = images(cx)?;
    let mut wire = cx.node("AveragePool", &[&x], attrs);
    if let Some(divisor) = divisor {
        let scale = kernel.iter().product::<i64>() as f64 / divisor as f64;
        let scale = cx.number(scale, cx.dtype(0))?;
        wire = cx.node("Mul", &[&wire, &scale], Vec::new());
    }
    give_images(cx, wire)
}

/// Where windows are equal, an average pool; else products with a matrix of shares for each direction.
pub(super) fn adaptive_avg_pool(cx: &mut NodeCx<'_>) -> Result<()> {
    let (rank, dtype) = (cx.rank(0), cx.dtype(0));
    let from = [cx.shape(0)[rank - 2], cx.shape(0)[rank - 1]];
    let to = [cx.output(0).shape[rank - 2], cx.output(0).shape[rank - 1]];
    let x = images(cx)?;
    if to == [1, 1] {
        let wire = cx.node("GlobalAveragePool", &[&x], Vec::new());
        return give_images(cx, wire);
    }
    if (0..2).all(|side| to[side] > 0 && from[side].is_multiple_of(to[side])) {
        let kernel = [0, 1].map(|side| (from[side] / to[side]) as i64);
        let attrs = vec![attr::ints("kernel_shape", &kernel), attr::ints("strides", &kernel)];
        let wire = cx.node("AveragePool", &[&x], attrs);
        return give_images(cx, wire);
    }
    let rows =
        Tensor::from_converted(&shares(from[0], to[0]), Shape::new(&[to[0], from[0]]), dtype)?;
    let columns =
        Tensor::from_converted(&shares(from[1], to[1]), Shape::new(&[to[1], from[1]]), dtype)?;
    let (rows, columns) = (cx.tensor(&rows)?, cx.tensor(&columns)?);
    let across = cx.node("Transpose", &[&columns], vec![attr::ints("perm", &[1, 0])]);
    let down = cx.node("MatMul", &[&rows, &x], Vec::new());
    let wire = cx.node("MatMul", &[&down, &across], Vec::new());
    give_images(cx, wire)
}

/// Row i holds the share that each of `from` places has in window i of `to`.
fn shares(from: usize, to: usize) -> Vec<f64> {
    let row = |at: usize| {
        let (start, end) = (at * from / to, ((at + 1) * from).div_ceil(to));
        (0..from).map(move |it| match (start..end).contains(&it) {
            true => 1.0 / (end - start) as f64,
            false => 0.0,
        })
    };
    (0..to).flat_map(row).collect()
}

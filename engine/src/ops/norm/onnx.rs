//! How softmax and norms are written in ONNX.

use crate::op::{NodeCx, attr};
use crate::{Result, Shape};

fn along(cx: &mut NodeCx<'_>, op_type: &str) -> Result<()> {
    let dtype = cx.output(0).dtype;
    let x = cx.input_as(0, dtype);
    let rank = cx.rank(0);
    let attrs = |dim: i64| vec![attr::int("axis", dim)];
    if rank == 0 {
        let line = cx.reshape(&x, &[1])?;
        let shares = cx.node(op_type, &[&line], attrs(0));
        let wire = cx.reshape(&shares, &[])?;
        return cx.give(wire);
    }
    // Without a dimension, PyTorch takes the second, or the first of tensors of no more than one dimension, or of three.
    let dim = match cx.ints(0) {
        Some(_) => cx.dim(0),
        None => i64::from(!matches!(rank, 0 | 1 | 3)),
    };
    let wire = cx.node(op_type, &[&x], attrs(dim));
    cx.give(wire)
}

pub(super) fn softmax(cx: &mut NodeCx<'_>) -> Result<()> {
    along(cx, "Softmax")
}

pub(super) fn log_softmax(cx: &mut NodeCx<'_>) -> Result<()> {
    along(cx, "LogSoftmax")
}

pub(super) fn layer_norm(cx: &mut NodeCx<'_>) -> Result<()> {
    let n_dims = cx.ints(0).map_or(1, |it| it.len());
    let lines = Shape::new(&cx.shape(0)[cx.rank(0) - n_dims..]);
    let dtype = cx.dtype(0);
    let scale = match cx.n_inputs() {
        1 => {
            let (one, shape) = (cx.number(1.0, dtype)?, cx.constant(&NodeCx::sizes(&lines))?);
            cx.node("Expand", &[&one, &shape], Vec::new())
        }
        _ => cx.input_as(1, dtype),
    };
    let mut inputs = vec![cx.input(0), scale];
    if cx.n_inputs() > 2 {
        inputs.push(cx.input_as(2, dtype));
    }
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    let attrs = vec![attr::int("axis", -(n_dims as i64)), attr::float("epsilon", cx.float(1))];
    let wire = cx.node("LayerNormalization", &inputs, attrs);
    cx.give(wire)
}

/// The standardised operand, its mean and its variance.
pub(super) fn standardize(cx: &mut NodeCx<'_>) -> Result<()> {
    let rank = cx.rank(0);
    let dims = cx.ints(0).unwrap_or_default();
    let dims: Vec<i64> = dims.iter().map(|&it| cx.nonnegative(it, rank)).collect();
    let eps = cx.float(1);
    standard(cx, &dims, eps)?.into_iter().try_for_each(|it| cx.give(it))
}

/// As [`standardize`], over these dimensions.
fn standard(cx: &mut NodeCx<'_>, dims: &[i64], eps: f64) -> Result<[String; 3]> {
    let dtype = cx.output(1).dtype;
    let x = cx.input_as(0, dtype);
    let mean = cx.reduce("ReduceMean", &x, dims, true)?;
    let centred = cx.node("Sub", &[&x, &mean], Vec::new());
    let square = cx.node("Mul", &[&centred, &centred], Vec::new());
    let variance = cx.reduce("ReduceMean", &square, dims, true)?;
    let eps = cx.number(eps, dtype)?;
    let safe = cx.node("Add", &[&variance, &eps], Vec::new());
    let deviation = cx.node("Sqrt", &[&safe], Vec::new());
    let wire = cx.node("Div", &[&centred, &deviation], Vec::new());
    Ok([wire, mean, variance])
}

/// Channels standardised, times weight, plus bias; their means and variances.
pub(super) fn batch_norm(cx: &mut NodeCx<'_>) -> Result<()> {
    let (rank, dtype) = (cx.rank(0), cx.output(1).dtype);
    let dims: Vec<i64> = (0..rank as i64).filter(|it| *it != 1).collect();
    let n_channels = cx.shape(0)[1] as i64;
    let eps = cx.float(0);
    let [mut y, mean, variance] = standard(cx, &dims, eps)?;
    let wide: Vec<i64> = (1..rank).map(|dim| if dim == 1 { n_channels } else { 1 }).collect();
    for (idx, op_type) in [(1, "Mul"), (2, "Add")] {
        if idx < cx.n_inputs() {
            let parameter = cx.input_as(idx, dtype);
            let parameter = cx.reshape(&parameter, &wide)?;
            y = cx.node(op_type, &[&y, &parameter], Vec::new());
        }
    }
    let y = cx.cast(&y, dtype, cx.dtype(0));
    cx.give(y)?;
    for it in [mean, variance] {
        let flat = cx.reshape(&it, &[n_channels])?;
        cx.give(flat)?;
    }
    Ok(())
}

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
    let (rank, dtype) = (cx.rank(0), cx.dtype(0));
    let dims = cx.ints(0).unwrap_or_default();
    let dims: Vec<i64> = dims.iter().map(|&it| cx.nonnegative(it, rank)).collect();
    let x = cx.input(0);
    let mean = cx.reduce("ReduceMean", &x, &dims, true)?;
    let centred = cx.node("Sub", &[&x, &mean], Vec::new());
    let square = cx.node("Mul", &[&centred, &centred], Vec::new());
    let variance = cx.reduce("ReduceMean", &square, &dims, true)?;
    let eps = cx.number(cx.float(1), dtype)?;
    let safe = cx.node("Add", &[&variance, &eps], Vec::new());
    let deviation = cx.node("Sqrt", &[&safe], Vec::new());
    let wire = cx.node("Div", &[&centred, &deviation], Vec::new());
    cx.give(wire)?;
    cx.give(mean)?;
    cx.give(variance)
}

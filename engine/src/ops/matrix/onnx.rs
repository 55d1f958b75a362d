//! How products and attention are written in ONNX.

use crate::op::{NodeCx, Wire, attr};
use crate::{DType, Result};

pub(super) fn matmul(cx: &mut NodeCx<'_>) -> Result<()> {
    let (a, b) = (cx.input(0), cx.input(1));
    let wire = product(cx, &a, &b);
    cx.give(wire)
}

/// A product in the dtype of operand 0; narrow whole numbers are multiplied as wider ones.
fn product(cx: &mut NodeCx<'_>, a: &str, b: &str) -> Wire {
    let dtype = cx.dtype(0);
    let work = dtype.at_least_i32();
    let (a, b) = (cx.cast(a, dtype, work), cx.cast(b, dtype, work));
    let wire = cx.node("MatMul", &[&a, &b], Vec::new());
    cx.cast(&wire, work, dtype)
}

/// `x w^T + b`: one `Gemm` for matrices of floats.
pub(super) fn linear(cx: &mut NodeCx<'_>) -> Result<()> {
    let (x, weight, rank) = (cx.input(0), cx.input(1), cx.rank(1));
    let bias = (cx.n_inputs() > 2).then(|| cx.input(2));
    if cx.rank(0) == 2 && rank == 2 && cx.dtype(0).is_float() {
        let mut inputs = vec![x.as_str(), &weight];
        inputs.extend(bias.as_deref());
        let wire = cx.node("Gemm", &inputs, vec![attr::int("transB", 1)]);
        return cx.give(wire);
    }
    let weight = match rank {
        2 => cx.node("Transpose", &[&weight], vec![attr::ints("perm", &[1, 0])]),
        _ => weight,
    };
    let mut wire = product(cx, &x, &weight);
    if let Some(bias) = bias {
        wire = cx.node("Add", &[&wire, &bias], Vec::new());
    }
    cx.give(wire)
}

/// Softmax of scaled products with the keys, plus the mask, times the values; queries that see nothing give 0.
pub(super) fn attention(cx: &mut NodeCx<'_>) -> Result<()> {
    let (rank, dtype) = (cx.rank(0), cx.dtype(0));
    let mut perm: Vec<i64> = (0..rank as i64).collect();
    perm.swap(rank - 2, rank - 1);
    let keys = cx.node("Transpose", &[&cx.input(1)], vec![attr::ints("perm", &perm)]);
    let scale = cx.number(cx.float(0), dtype)?;
    let queries = cx.node("Mul", &[&cx.input(0), &scale], Vec::new());
    let mut scores = cx.node("MatMul", &[&queries, &keys], Vec::new());
    let (is_causal, has_mask) = (cx.flag(1), cx.n_inputs() > 3);
    if has_mask {
        let mask = cx.input_as(3, dtype);
        scores = cx.node("Add", &[&scores, &mask], Vec::new());
    }
    if is_causal {
        scores = below_diagonal(cx, &scores)?;
    }
    let last = rank as i64 - 1;
    let mut shares = scores.clone();
    if has_mask || is_causal {
        // Rows of minus infinities alone have no softmax.
        let dims = [last];
        let largest = cx.reduce("ReduceMax", &scores, &dims, true)?;
        let lowest = cx.number(f64::NEG_INFINITY, dtype)?;
        let zero = cx.number(0.0, dtype)?;
        let none = cx.node("Equal", &[&largest, &lowest], Vec::new());
        let safe = cx.node("Where", &[&none, &zero, &scores], Vec::new());
        let all = cx.node("Softmax", &[&safe], vec![attr::int("axis", last)]);
        shares = cx.node("Where", &[&none, &zero, &all], Vec::new());
    } else {
        shares = cx.node("Softmax", &[&shares], vec![attr::int("axis", last)]);
    }
    let wire = cx.node("MatMul", &[&shares, &cx.input(2)], Vec::new());
    cx.give(wire)?;
    if cx.is_used(1) {
        let sums = cx.reduce("ReduceLogSumExp", &scores, &[last], false)?;
        cx.give_as(&sums, dtype);
    }
    Ok(())
}

/// Minus infinity above the diagonal of the last two dimensions.
fn below_diagonal(cx: &mut NodeCx<'_>, scores: &str) -> Result<Wire> {
    let dtype = cx.dtype(0);
    let (lead, keys) = (cx.rank(0) - 2, cx.rank(1) - 2);
    let sizes = [cx.shape(0)[lead] as i64, cx.shape(1)[keys] as i64];
    let (truth, shape) =
        (cx.sink.number(crate::Number::Bool(true), DType::Bool)?, cx.constant(&sizes)?);
    let all = cx.node("Expand", &[&truth, &shape], Vec::new());
    let seen = cx.node("Trilu", &[&all], vec![attr::int("upper", 0)]);
    let lowest = cx.number(f64::NEG_INFINITY, dtype)?;
    Ok(cx.node("Where", &[&seen, scores, &lowest], Vec::new()))
}

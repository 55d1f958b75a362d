//! How picking and placing by index is written in ONNX.

use crate::attr::Attr;
use crate::op::{NodeCx, Wire, attr};
use crate::{DType, Result, Shape};

fn axis(cx: &NodeCx<'_>) -> Vec<crate::onnx::proto::AttributeProto> {
    vec![attr::int("axis", cx.dim(0))]
}

pub(super) fn gather(cx: &mut NodeCx<'_>) -> Result<()> {
    if cx.rank(0) == 0 {
        let sizes = NodeCx::sizes(&cx.output(0).shape);
        let wire = cx.reshape(&cx.input(0), &sizes)?;
        return cx.give(wire);
    }
    let index = cx.input_as(1, DType::I64);
    // Other dimensions of the index may be shorter than those of the operand.
    let (from, to, dim) = (cx.shape(0).clone(), cx.shape(1).clone(), cx.dim(0));
    let shorter = (0..from.rank()).filter(|&it| it as i64 != dim && to[it] < from[it]);
    let parts: Vec<_> = shorter.map(|it| (it as i64, 0, to[it] as i64, 1)).collect();
    let mut x = cx.input(0);
    if !parts.is_empty() {
        x = cx.slice(&x, &parts)?;
    }
    let wire = cx.node("GatherElements", &[&x, &index], axis(cx));
    cx.give(wire)
}

pub(super) fn index_select(cx: &mut NodeCx<'_>) -> Result<()> {
    let mut index = cx.input_as(1, DType::I64);
    if cx.rank(1) == 0 {
        index = cx.reshape(&index, &[1])?;
    }
    let mut x = cx.input(0);
    let is_scalar = cx.rank(0) == 0;
    if is_scalar {
        x = cx.reshape(&x, &[1])?;
    }
    let mut wire = cx.node("Gather", &[&x, &index], axis(cx));
    if is_scalar {
        wire = cx.reshape(&wire, &[])?;
    }
    cx.give(wire)
}

/// Rows of a table.
pub(super) fn embedding(cx: &mut NodeCx<'_>) -> Result<()> {
    let (index, table) = (cx.input_as(0, DType::I64), cx.input(1));
    let rows = cx.node("Gather", &[&table, &index], vec![attr::int("axis", 0)]);
    cx.give(rows)
}

/// All slices that are picked, weighed, and their sums along the dimension of the terms.
pub(super) fn mix_slices(cx: &mut NodeCx<'_>) -> Result<()> {
    let (dim, rank) = (cx.nonnegative(cx.dim(0), cx.rank(0)), cx.rank(0));
    let (x, index) = (cx.input(0), cx.input_as(1, DType::I64));
    let picked = cx.node("Gather", &[&x, &index], vec![attr::int("axis", dim)]);
    let mut sizes = NodeCx::sizes(cx.shape(1));
    sizes.resize(rank + 1 - dim as usize, 1);
    let weights = cx.input(2);
    let weights = cx.reshape(&weights, &sizes)?;
    let terms = cx.node("Mul", &[&picked, &weights], Vec::new());
    let wire = cx.reduce("ReduceSum", &terms, &[dim + 1], false)?;
    cx.give(wire)
}

/// The index tensors from operand `first` on, broadcast together and side by side in a last dimension; and the shape they have together.
fn positions(cx: &mut NodeCx<'_>, first: usize) -> Result<(Wire, Shape)> {
    let together = (first..cx.n_inputs())
        .try_fold(Shape::default(), |shape, at| shape.broadcast(cx.shape(at)).ok_or(()));
    let Ok(together) = together else { return cx.refuse("its indices do not broadcast") };
    let mut parts = Vec::new();
    for at in first..cx.n_inputs() {
        let index = cx.input_as(at, DType::I64);
        let shape = cx.constant(&NodeCx::sizes(&together))?;
        let wide = cx.node("Expand", &[&index, &shape], Vec::new());
        let axes = cx.constant(&[-1])?;
        parts.push(cx.node("Unsqueeze", &[&wide, &axes], Vec::new()));
    }
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    Ok((cx.node("Concat", &parts, vec![attr::int("axis", -1)]), together))
}

pub(super) fn index(cx: &mut NodeCx<'_>) -> Result<()> {
    let x = cx.input(0);
    let wire = match cx.n_inputs() {
        1 => x,
        2 => {
            let index = cx.input_as(1, DType::I64);
            cx.node("Gather", &[&x, &index], vec![attr::int("axis", 0)])
        }
        _ => {
            let (positions, _) = positions(cx, 1)?;
            cx.node("GatherND", &[&x, &positions], Vec::new())
        }
    };
    cx.give(wire)
}

pub(super) fn index_put(cx: &mut NodeCx<'_>) -> Result<()> {
    let n_indices = cx.n_inputs() - 2;
    if n_indices == 0 {
        return cx.refuse("without an index it writes everywhere");
    }
    let (positions, together) = positions(cx, 2)?;
    let rest = &cx.shape(0)[n_indices..];
    let target: Vec<i64> = together.iter().chain(rest).map(|&it| it as i64).collect();
    let (values, shape) = (cx.input(1), cx.constant(&target)?);
    let values = cx.node("Expand", &[&values, &shape], Vec::new());
    let reduction = if cx.flag(0) { "add" } else { "none" };
    let x = cx.input(0);
    let attrs = vec![attr::text("reduction", reduction)];
    let wire = cx.node("ScatterND", &[&x, &positions, &values], attrs);
    cx.give(wire)
}

pub(super) fn index_add(cx: &mut NodeCx<'_>) -> Result<()> {
    let (dim, source) = (cx.dim(0), cx.shape(2).clone());
    if source.rank() == 0 || cx.rank(0) == 0 {
        return cx.refuse("of a tensor without dimensions it has no operator there");
    }
    let index = cx.input_as(1, DType::I64);
    let mut sizes = vec![1; source.rank()];
    sizes[dim as usize] = source[dim as usize] as i64;
    let line = cx.reshape(&index, &sizes)?;
    let shape = cx.constant(&NodeCx::sizes(&source))?;
    let index = cx.node("Expand", &[&line, &shape], Vec::new());
    let (x, values) = (cx.input(0), cx.input(2));
    let wire = scatter_elements(cx, &x, &index, &values, "add")?;
    cx.give(wire)
}

fn scatter_elements(
    cx: &mut NodeCx<'_>,
    x: &str,
    index: &str,
    values: &str,
    reduction: &str,
) -> Result<Wire> {
    if matches!(reduction, "max" | "min") {
        cx.needs_opset(18)?;
    }
    let mut attrs = axis(cx);
    attrs.push(attr::text("reduction", reduction));
    Ok(cx.node("ScatterElements", &[x, index, values], attrs))
}

/// Values are placed by the index alone: what it does not name is not read.
fn scattered(cx: &mut NodeCx<'_>, x: &str, reduction: &str) -> Result<()> {
    if cx.rank(0) == 0 {
        return cx.refuse("of a tensor without dimensions it has no operator there");
    }
    let index = cx.input_as(1, DType::I64);
    let (taken, given) = (cx.shape(1).clone(), cx.shape(2).clone());
    let shorter = (0..given.rank()).filter(|&it| taken[it] < given[it]);
    let parts: Vec<_> = shorter.map(|it| (it as i64, 0, taken[it] as i64, 1)).collect();
    let mut values = cx.input(2);
    if !parts.is_empty() {
        values = cx.slice(&values, &parts)?;
    }
    let wire = scatter_elements(cx, x, &index, &values, reduction)?;
    cx.give(wire)
}

pub(super) fn scatter(cx: &mut NodeCx<'_>) -> Result<()> {
    scattered(cx, &cx.input(0), "none")
}

pub(super) fn scatter_add(cx: &mut NodeCx<'_>) -> Result<()> {
    scattered(cx, &cx.input(0), "add")
}

pub(super) fn scatter_reduce(cx: &mut NodeCx<'_>) -> Result<()> {
    let (reduction, neutral) = match cx.attrs.get(1) {
        Some(Attr::Str("sum")) => ("add", 0.0),
        Some(Attr::Str("prod")) => ("mul", 1.0),
        Some(Attr::Str("amax")) => ("max", f64::NEG_INFINITY),
        Some(Attr::Str("amin")) => ("min", f64::INFINITY),
        _ => return cx.refuse("only sum, prod, amax and amin have an operator there"),
    };
    let x = cx.input(0);
    let includes_self = !matches!(cx.attrs.get(2), Some(Attr::Bool(false)));
    if includes_self {
        return scattered(cx, &x, reduction);
    }
    if neutral.is_infinite() && !cx.dtype(0).is_float() {
        return cx.refuse("include_self=False of whole numbers has no operator there");
    }
    // What is overwritten counts as nothing.
    let index = cx.input_as(1, DType::I64);
    let shape = cx.shape(1).clone();
    let nothing = cx.filled_with(&shape, neutral, cx.dtype(0))?;
    let cleared = scatter_elements(cx, &x, &index, &nothing, "none")?;
    scattered(cx, &cleared, reduction)
}

pub(super) fn one_hot(cx: &mut NodeCx<'_>) -> Result<()> {
    let classes = cx.output(0).shape.last().map_or(1, |&it| it as i64);
    let index = cx.input_as(0, DType::I64);
    let (depth, values) = (cx.index(classes)?, cx.constant(&[0, 1])?);
    let wire = cx.node("OneHot", &[&index, &depth, &values], vec![attr::int("axis", -1)]);
    cx.give(wire)
}

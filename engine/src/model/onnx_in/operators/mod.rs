//! The operators of ONNX: one row for each, by family. What differs between versions is decided inside, by the opset.

mod attention;
mod boxes;
mod control;
mod conv;
mod elementwise;
mod gather;
mod grid;
mod logic;
mod loss;
mod norm;
mod pool;
mod product;
mod quantise;
mod random;
mod recurrent;
mod reduce;
mod resize;
mod sequence;
mod shape;
mod slice;
mod sort;
mod window;

use super::args::Cx;
use super::value::Value;
use crate::{Result, Tensor};

/// An operator.
pub(super) struct Operator {
    /// As files name it; of another domain than ONNX's own, with the domain before it.
    pub(super) name: &'static str,
    pub(super) read: Read,
}

/// What an operator computes.
pub(super) enum Read {
    /// One tensor.
    One(fn(&Cx<'_>) -> Result<Tensor>),
    /// Several values, or one that may be no tensor.
    Many(fn(&Cx<'_>) -> Result<Vec<Value>>),
}

/// All operators, by family.
static FAMILIES: &[&[Operator]] = &[
    attention::ALL,
    boxes::ALL,
    control::ALL,
    conv::ALL,
    elementwise::ALL,
    gather::ALL,
    grid::ALL,
    logic::ALL,
    loss::ALL,
    norm::ALL,
    pool::ALL,
    product::ALL,
    quantise::ALL,
    random::ALL,
    recurrent::ALL,
    reduce::ALL,
    resize::ALL,
    sequence::ALL,
    shape::ALL,
    slice::ALL,
    sort::ALL,
    window::ALL,
];

/// The operator of this name.
pub(super) fn find(name: &str) -> Option<&'static Operator> {
    FAMILIES.iter().copied().flatten().find(|it| it.name == name)
}

/// An operator that gives one tensor.
const fn one(name: &'static str, read: fn(&Cx<'_>) -> Result<Tensor>) -> Operator {
    Operator { name, read: Read::One(read) }
}

/// An operator that gives several values, or one that may be no tensor.
const fn many(name: &'static str, read: fn(&Cx<'_>) -> Result<Vec<Value>>) -> Operator {
    Operator { name, read: Read::Many(read) }
}

/// Tensors as values.
fn values(tensors: impl IntoIterator<Item = Tensor>) -> Vec<Value> {
    tensors.into_iter().map(Value::Tensor).collect()
}

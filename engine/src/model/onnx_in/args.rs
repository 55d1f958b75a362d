//! What an operator sees of its node: inputs, attributes and the version of the opset.

use super::build::{Attribute, Graph, Node};
use super::calls;
use super::run::Frame;
use super::value::Value;
use crate::{Error, Result, Tensor};

/// One application of an operator.
pub(super) struct Cx<'a> {
    pub(super) node: &'a Node,
    pub(super) inputs: Vec<Option<Value>>,
    pub(super) frame: &'a Frame,
}

impl Cx<'_> {
    /// The version of the set of operators.
    pub(super) fn opset(&self) -> i64 {
        self.node.opset
    }

    /// How many inputs the node lists, absent ones among them.
    pub(super) fn n_inputs(&self) -> usize {
        self.inputs.len()
    }

    /// How many outputs the node lists.
    pub(super) fn n_outputs(&self) -> usize {
        self.node.outputs.len()
    }

    /// Whether output `idx` is used.
    pub(super) fn wants(&self, idx: usize) -> bool {
        self.node.outputs.get(idx).is_some_and(Option::is_some)
    }

    /// What is wrong.
    pub(super) fn bad(&self, problem: impl Into<String>) -> Error {
        Error::File { problem: problem.into() }
    }

    /// Input `idx`, whatever it is; `None` where it is absent.
    pub(super) fn value(&self, idx: usize) -> Option<&Value> {
        self.inputs.get(idx).and_then(Option::as_ref)
    }

    /// Input `idx`, a tensor.
    pub(super) fn input(&self, idx: usize) -> Result<&Tensor> {
        match self.value(idx) {
            Some(Value::Tensor(it)) => Ok(it),
            None => Err(self.bad(format!("its input {idx} is missing"))),
            Some(it) => Err(self.bad(format!("its input {idx} is {}, not a tensor", it.words()))),
        }
    }

    /// Input `idx` if it is there.
    pub(super) fn opt_input(&self, idx: usize) -> Option<&Tensor> {
        match self.value(idx) {
            Some(Value::Tensor(it)) => Some(it),
            _ => None,
        }
    }

    /// All inputs; absent ones are an error.
    pub(super) fn all_inputs(&self) -> Result<Vec<Tensor>> {
        (0..self.n_inputs()).map(|it| self.input(it).cloned()).collect()
    }

    /// Input `idx`, a sequence.
    pub(super) fn sequence(&self, idx: usize) -> Result<&[Value]> {
        match self.value(idx) {
            Some(Value::Sequence(it)) => Ok(it),
            _ => Err(self.bad(format!("its input {idx} is no sequence"))),
        }
    }

    /// The whole numbers of input `idx` if it is there.
    pub(super) fn ints_at(&self, idx: usize) -> Result<Option<Vec<i64>>> {
        self.opt_input(idx).map(calls::whole_numbers).transpose()
    }

    /// The only number of input `idx` if it is there.
    pub(super) fn int_at(&self, idx: usize) -> Result<Option<i64>> {
        let Some(all) = self.ints_at(idx)? else { return Ok(None) };
        match all[..] {
            [one] => Ok(Some(one)),
            _ => Err(self.bad(format!("its input {idx} has {} elements, not one", all.len()))),
        }
    }

    /// The only number of input `idx` if it is there.
    pub(super) fn float_at(&self, idx: usize) -> Result<Option<f64>> {
        self.opt_input(idx).map(|it| Ok(it.item()?.as_f64())).transpose()
    }

    /// Whole numbers that are an attribute in old versions, input `idx` in newer ones.
    pub(super) fn ints_of(&self, name: &str, idx: usize) -> Result<Option<Vec<i64>>> {
        match self.ints(name) {
            Some(it) => Ok(Some(it.to_vec())),
            None => self.ints_at(idx),
        }
    }

    /// An attribute, whatever it is.
    pub(super) fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.node.attributes.iter().find(|it| it.0 == name).map(|it| &it.1)
    }

    pub(super) fn opt_int(&self, name: &str) -> Option<i64> {
        match self.attribute(name) {
            Some(Attribute::Int(it)) => Some(*it),
            _ => None,
        }
    }

    pub(super) fn int(&self, name: &str, default: i64) -> i64 {
        self.opt_int(name).unwrap_or(default)
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        self.int(name, 0) != 0
    }

    pub(super) fn opt_float(&self, name: &str) -> Option<f64> {
        match self.attribute(name) {
            Some(Attribute::Float(it)) => Some(f64::from(*it)),
            _ => None,
        }
    }

    pub(super) fn float(&self, name: &str, default: f64) -> f64 {
        self.opt_float(name).unwrap_or(default)
    }

    pub(super) fn text<'a>(&'a self, name: &str, default: &'a str) -> &'a str {
        match self.attribute(name) {
            Some(Attribute::Text(it)) => it,
            _ => default,
        }
    }

    pub(super) fn ints(&self, name: &str) -> Option<&[i64]> {
        match self.attribute(name) {
            Some(Attribute::Ints(it)) => Some(it),
            _ => None,
        }
    }

    /// The graph of an attribute.
    pub(super) fn graph(&self, name: &str) -> Result<&Graph> {
        match self.attribute(name) {
            Some(Attribute::Graph(it)) => Ok(it),
            _ => Err(self.bad(format!("its attribute '{name}' should be a graph"))),
        }
    }

    /// The outputs of a graph of an attribute, which sees the values around it.
    pub(super) fn run(&self, graph: &Graph, inputs: Vec<Value>) -> Result<Vec<Value>> {
        self.frame.run(graph, inputs, &[])
    }

    /// The dimension that an attribute names, counted from the front.
    pub(super) fn axis(&self, name: &str, default: i64, rank: usize) -> Result<usize> {
        self.dim(self.int(name, default), rank)
    }

    /// A dimension counted from the front.
    pub(super) fn dim(&self, axis: i64, rank: usize) -> Result<usize> {
        let n = rank as i64;
        match axis {
            it if (0..n).contains(&it) => Ok(it as usize),
            it if (-n..0).contains(&it) => Ok((it + n) as usize),
            it => Err(self.bad(format!("axis {it} is out of range for {rank} dimensions"))),
        }
    }
}

//! Computes the nodes of a graph in order. What nothing needs any more is dropped at once.

use std::cell::RefCell;

use super::args::Cx;
use super::build::{Graph, How, Node};
use super::operators::Read;
use super::value::Value;
use crate::{Error, Result, Tensor};

/// The values of a graph and of those inside it.
pub(super) struct Frame(RefCell<Vec<Option<Value>>>);

impl Frame {
    /// A frame of so many slots.
    pub(super) fn new(n_slots: usize) -> Self {
        Self(RefCell::new(vec![None; n_slots]))
    }

    /// The outputs of a graph. `weights` stand for its constants, as far as they are given.
    pub(super) fn run(
        &self,
        graph: &Graph,
        inputs: Vec<Value>,
        weights: &[Option<Tensor>],
    ) -> Result<Vec<Value>> {
        for (at, constant) in graph.constants.iter().enumerate() {
            let given = weights.get(at).and_then(Option::as_ref);
            self.put(constant.slot, Value::Tensor(given.unwrap_or(&constant.tensor).clone()));
        }
        for (slot, texts) in &graph.texts {
            self.put(*slot, Value::Texts(texts.clone()));
        }
        if inputs.len() > graph.inputs.len() {
            let (takes, got) = (graph.inputs.len(), inputs.len());
            let problem = format!("its graph takes {takes} inputs, got {got}");
            return Err(Error::File { problem });
        }
        // Inputs that are left out are absent.
        let given = inputs.into_iter().chain(std::iter::repeat(Value::Nothing));
        for (slot, value) in graph.inputs.iter().zip(given) {
            self.put(*slot, value);
        }
        for node in &graph.nodes {
            self.step(node).map_err(|it| node.error(it))?;
        }
        graph.outputs.iter().map(|slot| self.get(*slot)).collect()
    }

    fn put(&self, slot: usize, value: Value) {
        if let Some(place) = self.0.borrow_mut().get_mut(slot) {
            *place = Some(value);
        }
    }

    fn get(&self, slot: usize) -> Result<Value> {
        let missing = || Error::File { problem: "a value is used before it is there".into() };
        self.0.borrow().get(slot).cloned().flatten().ok_or_else(missing)
    }

    fn step(&self, node: &Node) -> Result<()> {
        let mut inputs = Vec::with_capacity(node.inputs.len());
        for slot in &node.inputs {
            inputs.push(slot.map(|it| self.get(it)).transpose()?);
        }
        let given = match &node.how {
            How::Operator(operator) => {
                let cx = Cx { node, inputs, frame: self };
                match operator.read {
                    Read::One(read) => vec![Value::Tensor(read(&cx)?)],
                    Read::Many(read) => read(&cx)?,
                }
            }
            How::Function(graph, n_slots) => {
                let inputs = inputs.into_iter().map(|it| it.unwrap_or(Value::Nothing)).collect();
                Self::new(*n_slots).run(graph, inputs, &[])?
            }
        };
        let n_given = given.len();
        for (at, slot) in node.outputs.iter().enumerate().skip(n_given) {
            if slot.is_some() {
                let problem = format!("it gives {n_given} outputs, number {} is used", at + 1);
                return Err(Error::File { problem });
            }
        }
        for (slot, value) in node.outputs.iter().zip(given) {
            if let Some(slot) = slot {
                self.put(*slot, value);
            }
        }
        let mut slots = self.0.borrow_mut();
        for slot in &node.frees {
            slots[*slot] = None;
        }
        Ok(())
    }
}

//! ONNX models: their nodes are computed one after the other on tensors, as the lines of a program are.
//!
//! So gradients, traces and inputs of any size come as they do for any program. Weights are tensors of the caller.
//! `build.rs` checks a file and resolves its names, `run.rs` computes nodes, `operators/` has a row for each operator.

mod args;
mod build;
mod calls;
mod operators;
mod run;
pub mod tensors;
#[cfg(test)]
mod tests;
mod value;

use std::path::Path;

use prost::Message;

pub use value::{Dim, Kind, Signature, Texts, Value};

use crate::apply::default_dtype;
use crate::model::onnx_in::tensors::{Files, ReadFile};
use crate::onnx::proto::ModelProto;
use crate::{Error, Result, Tensor, atomic_file};

/// A model of an ONNX file.
pub struct OnnxModel {
    graph: build::Graph,
    n_slots: usize,
    inputs: Vec<Signature>,
    outputs: Vec<Signature>,
}

impl OnnxModel {
    /// Reads a model file, and files with weights beside it.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = atomic_file::read(path).map_err(atomic_file::about(path))?;
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let mut read = |location: &str| {
            let path = folder.join(location);
            atomic_file::read(&path).map_err(atomic_file::about(&path))
        };
        Self::from_bytes(&bytes, &mut read)
    }

    /// A model from the content of a file; `read` gives files below its folder, in which elements of tensors may stand.
    pub fn from_bytes(bytes: &[u8], read: ReadFile<'_>) -> Result<Self> {
        let proto = ModelProto::decode(bytes)
            .map_err(|it| damaged(&format!("it is no ONNX model: {it}")))?;
        build::model(&proto, &mut Files::new(read))
    }

    /// What the caller passes, in order: the inputs that no initializer has a value for.
    pub fn inputs(&self) -> &[Signature] {
        &self.inputs
    }

    /// What the model gives, in order.
    pub fn outputs(&self) -> &[Signature] {
        &self.outputs
    }

    /// The tensors that the file holds values of, with their names: weights and other constants.
    pub fn initializers(&self) -> impl ExactSizeIterator<Item = (&str, &Tensor)> {
        self.graph.constants.iter().map(|it| (it.name.as_str(), &it.tensor))
    }

    /// The outputs for these inputs. `weights` stand in the order of the initializers; those missing keep the values of the file.
    pub fn run(&self, inputs: &[Value], weights: &[Option<Tensor>]) -> Result<Vec<Value>> {
        if inputs.len() != self.inputs.len() {
            let (expected, got) = (self.inputs.len(), inputs.len());
            return Err(Error::File {
                problem: format!("the model takes {expected} inputs, got {got}"),
            });
        }
        let run = || run::Frame::new(self.n_slots).run(&self.graph, inputs.to_vec(), weights);
        default_dtype::left_alone(run)
    }
}

fn damaged(problem: &str) -> Error {
    Error::File { problem: format!("this ONNX file cannot be used: {problem}") }
}

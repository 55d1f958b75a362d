//! Writing model files: the same model gives the same bytes.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::{FORMAT, Model, VERSION, checksum};
use crate::graph::text::constants;
use crate::{Error, Result, Tensor, atomic_file};

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Op applications.
    pub n_ops: usize,
    /// Bytes of the file.
    pub total_bytes: usize,
    /// Bytes of the weights.
    pub weight_bytes: usize,
    /// Names of the inputs.
    pub inputs: Vec<String>,
    /// Names of the outputs.
    pub outputs: Vec<String>,
    /// Number of weights.
    pub n_weights: usize,
    /// Number of test cases.
    pub n_cases: usize,
}

impl Model {
    /// Writes the model to a file; a crash leaves the old file.
    pub fn write(&self, path: &Path) -> Result<Summary> {
        let bytes = self.to_bytes()?;
        atomic_file::write(path, &bytes).map_err(atomic_file::about(path))?;
        let weights = constants(&self.graph);
        Ok(Summary {
            n_ops: self.graph.n_ops(),
            total_bytes: bytes.len(),
            weight_bytes: weights.iter().map(|it| it.meta().bytes()).sum(),
            inputs: self.input_names.clone(),
            outputs: self.output_names.clone(),
            n_weights: weights.len(),
            n_cases: self.cases.len(),
        })
    }

    /// The content of the file.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut header = Map::new();
        header.insert("__metadata__".into(), self.metadata());
        let mut data = Vec::new();
        for (name, tensor) in self.tensors() {
            let start = data.len();
            let Some(dtype) = tensor.dtype().safetensors() else {
                let problem = format!(
                    "{name}: safetensors files have no {}; convert it to complex64, or keep .real and .imag apart",
                    tensor.dtype()
                );
                return Err(Error::File { problem });
            };
            tensor.append_le_bytes(&mut data)?;
            let entry = json!({
                "dtype": dtype,
                "shape": tensor.shape().to_vec(),
                "data_offsets": [start, data.len()],
            });
            header.insert(name, entry);
        }
        let mut text = Value::Object(header).to_string();
        // The header is padded so that the data is aligned.
        text.extend(std::iter::repeat_n(' ', text.len().next_multiple_of(8) - text.len()));
        let mut res = (text.len() as u64).to_le_bytes().to_vec();
        res.extend_from_slice(text.as_bytes());
        res.extend_from_slice(&data);
        checksum::put(&mut res);
        Ok(res)
    }

    /// Values of safetensors metadata are strings.
    fn metadata(&self) -> Value {
        let mut metadata = json!({
            "checksum": checksum::NONE_YET,
            "format": FORMAT,
            "version": VERSION.to_string(),
            "graph": self.graph.to_string(),
            "inputs": json!(self.input_names).to_string(),
            "outputs": json!(self.output_names).to_string(),
            "cases": self.cases.len().to_string(),
            "info": self.info,
        });
        if let (Some(sizes), Some(all)) = (&self.sizes, metadata.as_object_mut()) {
            let any: Vec<Value> = sizes
                .any
                .iter()
                .map(|it| json!({"name": it.name, "places": it.places, "lowest": it.lowest}))
                .collect();
            all.insert("graph for any sizes".into(), sizes.template.text().into());
            all.insert("any sizes".into(), json!(any).to_string().into());
        }
        metadata
    }

    fn tensors(&self) -> Vec<(String, Tensor)> {
        let named = |stem: String, tensors: Vec<Tensor>| {
            let name = move |(idx, it): (usize, Tensor)| (format!("{stem}.{idx}"), it);
            tensors.into_iter().enumerate().map(name)
        };
        let mut res: Vec<_> = named("weight".into(), constants(&self.graph)).collect();
        for (idx, case) in self.cases.iter().enumerate() {
            res.extend(named(format!("case.{idx}.input"), case.inputs.clone()));
            res.extend(named(format!("case.{idx}.output"), case.outputs.clone()));
        }
        res
    }
}

//! Every case of `testdata/ops.json` whose row is in graphs, written as ONNX, read back and computed: the values are PyTorch's.
//!
//! With `NOTEGRAD_ONNX_CASES=FOLDER` the files are left there, with inputs and outputs as ONNX's own suite has them, for another runtime.

use std::collections::BTreeSet;
use std::path::Path;

use prost::Message;

use super::OPSET;
use crate::graph::{Graph, Value};
use crate::lane::expected;
use crate::model::Model;
use crate::model::onnx_in::{OnnxModel, Value as Given};
use crate::op::{Body, Onnx, tensor_proto};
use crate::ops::tests::{cases, differs, name};
use crate::{Attrs, Error, OpDef, Result, Tensor, ops};

/// An application of a row that is written.
struct Said<'a> {
    op: &'static OpDef,
    attrs: &'a Attrs,
    inputs: Vec<&'a Tensor>,
    name: String,
}

impl Said<'_> {
    fn bytes(&self, n_outputs: u32) -> Result<Vec<u8>> {
        let mut graph = Graph::new();
        let inputs: Vec<Value> =
            self.inputs.iter().map(|it| graph.input(it.dtype(), it.layout().clone())).collect();
        let node = graph.apply(self.op, &inputs, self.attrs)?;
        graph.outputs = (0..n_outputs).map(|output| Value { node, output }).collect();
        Model::new(graph, &[], &[])?.to_onnx(OPSET)
    }

    fn read_back(&self, bytes: &[u8]) -> Result<Vec<Tensor>> {
        let model = OnnxModel::from_bytes(bytes, &mut |_| Ok(Vec::new()))?;
        let inputs: Vec<Given> = self.inputs.iter().map(|&it| Given::Tensor(it.clone())).collect();
        let tensor = |it| if let Given::Tensor(it) = it { Some(it) } else { None };
        Ok(model.run(&inputs, &[])?.into_iter().filter_map(tensor).collect())
    }

    /// Leaves the file, with what goes in and what has to come out.
    fn leave(&self, at: usize, bytes: &[u8], outputs: &[Tensor]) {
        let Ok(folder) = std::env::var("NOTEGRAD_ONNX_CASES") else { return };
        let folder = Path::new(&folder).join(format!("{}_{at}", self.op.name));
        let data = folder.join("test_data_set_0");
        std::fs::create_dir_all(&data).unwrap();
        std::fs::write(folder.join("model.onnx"), bytes).unwrap();
        let write = |kind: &str, at: usize, it: &Tensor| {
            let proto = tensor_proto(kind, it).unwrap();
            std::fs::write(data.join(format!("{kind}_{at}.pb")), proto.encode_to_vec()).unwrap();
        };
        self.inputs.iter().enumerate().for_each(|(at, it)| write("input", at, it));
        outputs.iter().enumerate().for_each(|(at, it)| write("output", at, it));
    }
}

/// Rows with cases that ONNX has no words for, and why.
const NOT_SAID: &[(&str, &str)] = &[
    ("avg_pool2d", "divisor_override with ceil_mode"),
    ("scatter_reduce", "means, and whole numbers without the element itself"),
    ("topk", "none of the elements of a tensor without dimensions"),
    ("erfinv", "the inverse of erf"),
    ("lgamma", "the gamma function"),
    ("digamma", "the gamma function"),
    ("_trigamma", "the gamma function"),
    ("_i0", "Bessel functions"),
    ("_i0e", "Bessel functions"),
    ("_i1", "Bessel functions"),
    ("_i1e", "Bessel functions"),
];

fn is_unsaid(error: &Error, op: &OpDef) -> bool {
    matches!(error, Error::NotInOnnx { .. }) && NOT_SAID.iter().any(|it| it.0 == op.name)
}

#[test]
fn cases_are_written_and_read_back() {
    let (mut written, mut problems, mut n_cases) = (BTreeSet::new(), Vec::new(), 0);
    for (at, case) in cases().iter().enumerate() {
        let is_said = matches!(case.op.onnx, Onnx::Written { .. } | Onnx::Named { .. });
        if matches!(case.op.body, Body::Composed(_)) || !is_said || !case.op.pure {
            continue;
        }
        let inputs = case.inputs.iter().flatten().collect();
        let said = Said { op: case.op, attrs: &case.attrs, inputs, name: name(case) };
        // Some results are there for gradients alone.
        let n_outputs = case.outputs.len() as u32;
        let bytes = match said.bytes(n_outputs).or_else(|_| said.bytes(1)) {
            Ok(bytes) => bytes,
            Err(error) if is_unsaid(&error, case.op) => continue,
            Err(error) => {
                problems.push(format!("{}: {error}", said.name));
                continue;
            }
        };
        n_cases += 1;
        written.insert(case.op.name);
        match said.read_back(&bytes) {
            Ok(outputs) => {
                said.leave(at, &bytes, &case.outputs[..outputs.len()]);
                let pairs = outputs.iter().zip(&case.outputs);
                let far = pairs.filter_map(|(got, want)| differs(got, want));
                problems.extend(far.map(|it| format!("{}: {it}", said.name)));
            }
            Err(error) => problems.push(format!("{}: {error}", said.name)),
        }
    }
    println!("{n_cases} cases of {} rows are the same after ONNX", written.len());
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn elementwise_cases_are_written_and_read_back() {
    let (mut written, mut problems, mut n_cases) = (BTreeSet::new(), Vec::new(), 0);
    for (at, case) in expected::cases().iter().enumerate() {
        let op = ops::find(&case.op).unwrap();
        if case.inputs.iter().any(|it| it.dtype().is_complex()) || !op.body.is_elementwise() {
            continue;
        }
        let name = format!("{} of {}; {:?}", case.op, case.inputs[0].meta(), case.attrs);
        let inputs = case.inputs.iter().collect();
        let said = Said { op, attrs: &case.attrs, inputs, name };
        let got = said.bytes(1).and_then(|bytes| Ok((said.read_back(&bytes)?, bytes)));
        let (outputs, bytes) = match got {
            Ok(got) => got,
            Err(error) if is_unsaid(&error, op) => continue,
            Err(error) => {
                problems.push(format!("{}: {error}", said.name));
                continue;
            }
        };
        n_cases += 1;
        written.insert(op.name);
        let want = Tensor::from_converted(&case.expected, case.shape.clone(), case.dtype).unwrap();
        said.leave(10_000 + at, &bytes, std::slice::from_ref(&want));
        let far = differs(&outputs[0], &want);
        problems.extend(far.map(|it| format!("{}: {it}", said.name)));
    }
    println!("{n_cases} elementwise cases of {} rows are the same after ONNX", written.len());
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

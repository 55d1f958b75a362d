//! Model files (`.ngm`): a graph with its weights, names and test cases in a safetensors file that any reader opens.
//!
//! The weights are tensors `weight.0`, `weight.1` ..., test cases `case.0.input.0`, `case.0.output.0` ...; the graph's
//! text and the names stand in the metadata, and a checksum of the whole file (`checksum.rs`).

mod checksum;
pub mod onnx_in;
mod onnx_out;
mod read;
mod sizes;
#[cfg(test)]
mod tests;
mod write;

use std::cell::RefCell;
use std::rc::Rc;

use crate::graph::text::constants;
use crate::graph::{Graph, Kind, verify};
use crate::lower::{self, Plan};
use crate::passes;
use crate::rewrite::run::Log;
use crate::{Error, Meta, Result, Tensor};

pub use checksum::put as seal;
pub use onnx_out::{OPSET, OPSETS};
pub use sizes::AnySize;
pub use write::Summary;

/// Format name in the metadata.
pub(crate) const FORMAT: &str = "notegrad-model";
/// Version of the format.
pub(crate) const VERSION: u64 = 1;

/// A graph that stands alone.
pub struct Model {
    graph: Graph,
    input_names: Vec<String>,
    output_names: Vec<String>,
    cases: Vec<TestCase>,
    /// Text that the user keeps with the model.
    pub info: String,
    /// Dimensions of inputs that can have any size.
    sizes: Option<sizes::Sizes>,
    /// Compiled plans by these sizes; the one that was used last stands last.
    plans: RefCell<Vec<(Vec<usize>, Rc<Plan>)>>,
}

/// Sizes for which a model keeps plans.
const MOST_PLANS: usize = 16;

/// An input or output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Its name; unique among inputs or outputs.
    pub name: String,
    /// Its shape and dtype; of dimensions that can have any size, those of the call that was written.
    pub meta: Meta,
    /// The dimensions of an input that can have any size.
    pub free: Vec<usize>,
    /// What it is in words where it depends on such sizes: `f32[N, 784]`.
    pub(crate) words: Option<String>,
}

impl Port {
    /// A port of one kind alone.
    pub fn new(name: &str, meta: Meta) -> Self {
        Self { name: name.into(), meta, free: Vec::new(), words: None }
    }
}

/// Inputs with the outputs that the model gave for them when the case was made.
#[derive(Clone, Debug)]
pub struct TestCase {
    pub inputs: Vec<Tensor>,
    pub outputs: Vec<Tensor>,
}

impl Model {
    /// A model of a graph. Missing names become `arg_0` ... and `out_0` ...; too many or repeated ones are an error.
    pub fn new(graph: Graph, inputs: &[String], outputs: &[String]) -> Result<Self> {
        verify::verify(&graph)?;
        if graph.outputs.is_empty() {
            let problem = "a function that returns no tensors cannot be written".into();
            return Err(Error::Trace { problem });
        }
        let has = |wanted: fn(&Kind) -> bool| {
            graph.inputs().iter().any(|&id| wanted(&graph.node(id).kind))
        };
        if has(|it| matches!(it, Kind::Variable { .. })) {
            let problem = "a model file holds no variables; write a function that stores nothing";
            return Err(Error::Trace { problem: problem.into() });
        }
        if has(|it| matches!(it, Kind::Fed)) {
            let problem = "a number differs from call to call; pass it as a tensor".into();
            return Err(Error::Trace { problem });
        }
        let input_names = names("input", "arg", inputs, graph.inputs().len())?;
        let output_names = names("output", "out", outputs, graph.outputs.len())?;
        let (cases, info, plans) = (Vec::new(), String::new(), RefCell::default());
        Ok(Self { graph, input_names, output_names, cases, info, sizes: None, plans })
    }

    /// The graph, weights included.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Inputs in order.
    pub fn inputs(&self) -> Vec<Port> {
        let ids = self.graph.inputs().iter();
        let port = |(at, (&id, name)): (usize, (&u32, &String))| {
            let places = self.any_sizes().iter().flat_map(|it| &it.places);
            let free = places.filter(|it| it.0 == at).map(|it| it.1).collect();
            let meta = self.graph.node(id).metas[0].clone();
            Port { name: name.clone(), meta, free, words: self.words(true, at) }
        };
        ids.zip(&self.input_names).enumerate().map(port).collect()
    }

    /// Outputs in order.
    pub fn outputs(&self) -> Vec<Port> {
        let values = self.graph.outputs.iter();
        let port = |(at, (&value, name)): (usize, (_, &String))| {
            let meta = self.graph.meta(value).clone();
            Port { name: name.clone(), meta, free: Vec::new(), words: self.words(false, at) }
        };
        values.zip(&self.output_names).enumerate().map(port).collect()
    }

    /// The test cases that the file holds.
    pub fn test_cases(&self) -> &[TestCase] {
        &self.cases
    }

    /// Runs the model on `inputs` and keeps both as a test case.
    pub fn add_test_case(&mut self, inputs: &[Tensor]) -> Result<()> {
        let outputs = self.run(inputs)?;
        self.cases.push(TestCase { inputs: inputs.to_vec(), outputs });
        Ok(())
    }

    /// The compiled plan for the sizes that [`Port::meta`] gives, made when first needed.
    pub fn plan(&self) -> Result<Rc<Plan>> {
        let inputs: Vec<Tensor> =
            self.inputs().into_iter().map(|it| Tensor::abstract_of(it.meta)).collect();
        self.plan_at(&self.sizes_of(&inputs)?)
    }

    /// The outputs for these inputs. Each size of a dimension that can have any is compiled once.
    pub fn run(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        self.plan_at(&self.sizes_of(inputs)?)?.run(inputs)
    }

    fn plan_at(&self, at: &[usize]) -> Result<Rc<Plan>> {
        let mut plans = self.plans.borrow_mut();
        if let Some(known) = plans.iter().position(|it| it.0 == at) {
            let known = plans.remove(known);
            plans.push(known);
        } else {
            let graph = match &self.sizes {
                Some(sizes) => sizes.template.graph(at, &constants(&self.graph))?,
                None => self.graph.clone(),
            };
            let graph = passes::optimize(graph, 2, &mut Log::default())?;
            if plans.len() >= MOST_PLANS {
                plans.remove(0);
            }
            plans.push((at.to_vec(), Rc::new(lower::compile(&graph, true)?)));
        }
        let none = || Error::Trace { problem: "a plan was lost".into() };
        plans.last().map(|it| it.1.clone()).ok_or_else(none)
    }

    /// Runs all test cases; per case the largest error relative to `max(1, |expected|)`. Equal infinities and NaN count
    /// as equal, other differences of them as infinite.
    pub fn check(&self) -> Result<Vec<f64>> {
        self.cases.iter().map(|case| self.check_case(case)).collect()
    }

    fn check_case(&self, case: &TestCase) -> Result<f64> {
        let mut worst = 0.0_f64;
        for (got, expected) in self.run(&case.inputs)?.iter().zip(&case.outputs) {
            let (got, expected) = (got.to_f64_vec()?, expected.to_f64_vec()?);
            worst = got.iter().zip(&expected).map(|it| error(*it.0, *it.1)).fold(worst, f64::max);
        }
        Ok(worst)
    }
}

fn error(got: f64, expected: f64) -> f64 {
    if got == expected || (got.is_nan() && expected.is_nan()) {
        return 0.0;
    }
    let error = (got - expected).abs() / expected.abs().max(1.0);
    if error.is_finite() { error } else { f64::INFINITY }
}

fn names(what: &str, stem: &str, given: &[String], count: usize) -> Result<Vec<String>> {
    let refuse = |problem: String| Err(Error::Trace { problem });
    if !given.is_empty() && given.len() != count {
        return refuse(format!(
            "wrong number of {what} names: {count} are needed, got {}",
            given.len()
        ));
    }
    let names: Vec<String> = match given {
        [] => (0..count).map(|idx| format!("{stem}_{idx}")).collect(),
        _ => given.to_vec(),
    };
    for (idx, name) in names.iter().enumerate() {
        if name.is_empty() || names[..idx].contains(name) {
            return refuse(format!("{what} names must differ and not be empty: `{name}`"));
        }
    }
    Ok(names)
}

//! Models as ONNX files: each op as its row says.

mod any_sizes;
mod expression;
#[cfg(test)]
mod tests;

use prost::Message;
use rustc_hash::FxHashMap;

use super::Model;
use crate::graph::{Graph, Kind, Node, NodeId, Phase, Value};
use crate::onnx::proto::{
    Dimension, DimensionValue, GraphProto, ModelProto, OperatorSetIdProto, StringStringEntryProto,
    TensorShapeProto, TensorType, TypeProto, TypeValue, ValueInfoProto,
};
use crate::op::{NodeCx, Onnx, Operand, Sink, Wire, attr};
use crate::rewrite::run::Log;
use crate::{Attr, Error, Meta, OpDef, Result, Tensor, passes};

/// The versions of ONNX's operators that models are written in.
pub const OPSETS: std::ops::RangeInclusive<i64> = 17..=23;
/// The one that is written unless another is asked for.
pub const OPSET: i64 = 20;
/// What a file of protocol buffers holds at most.
const LIMIT: usize = i32::MAX as usize;

impl Model {
    /// The model as an ONNX file for this version of its operators. Models with test cases are refused: such a file holds none.
    pub fn to_onnx(&self, opset: i64) -> Result<Vec<u8>> {
        if !OPSETS.contains(&opset) {
            let (first, last) = (OPSETS.start(), OPSETS.end());
            return Err(refused(format!("opset {opset} is not one of {first} to {last}")));
        }
        if !self.cases.is_empty() {
            return Err(refused(
                "an ONNX file holds no test cases; leave test_case out, or write `.ngm`".into(),
            ));
        }
        let both = self.input_names.iter().find(|it| self.output_names.contains(it));
        if let Some(name) = both {
            return Err(refused(format!(
                "an input and an output are called `{name}`, which ONNX does not take; name the outputs"
            )));
        }
        let graph = match &self.sizes {
            Some(sizes) => self.of_any_sizes(sizes, opset)?,
            None => {
                let graph = passes::optimize(self.graph.clone(), 2, &mut Log::default())?;
                self.written(&graph, opset)?
            }
        };
        let bytes = envelope(graph, opset, &self.info).encode_to_vec();
        match bytes.len() <= LIMIT {
            true => Ok(bytes),
            false => Err(refused("a model of 2 GiB or more does not fit into an ONNX file".into())),
        }
    }

    /// The constants of the graph with names; graphs that were read from a text do not know any.
    fn parameters(&self) -> Vec<(Tensor, String)> {
        let users = first_users(&self.graph);
        let named = |(id, node): (usize, &Node)| match &node.kind {
            Kind::Const(tensor) => {
                let name = parameter(&self.graph, &users, Value::of(id as NodeId))?;
                Some((tensor.clone(), name))
            }
            _ => None,
        };
        self.graph.nodes().iter().enumerate().filter_map(named).collect()
    }

    /// A graph of this model in the words of ONNX.
    fn written(&self, graph: &Graph, opset: i64) -> Result<GraphProto> {
        let names = self.input_names.iter().chain(&self.output_names);
        let mut writer = Writer {
            graph,
            sink: Sink::new(opset, names.cloned()),
            wires: FxHashMap::default(),
            users: first_users(graph),
            parameters: self.parameters(),
        };
        for (&id, name) in graph.inputs().iter().zip(&self.input_names) {
            writer.wires.insert(Value::of(id), name.clone());
            writer.sink.graph.input.push(value_info(name, &graph.node(id).metas[0]));
        }
        writer.nodes()?;
        for (&value, name) in graph.outputs.iter().zip(&self.output_names) {
            writer.output(value, name)?;
        }
        writer.sink.graph.name = "notegrad".into();
        Ok(writer.sink.graph)
    }
}

fn refused(problem: String) -> Error {
    Error::Trace { problem }
}

fn envelope(graph: GraphProto, opset: i64, info: &str) -> ModelProto {
    let info = (!info.is_empty())
        .then(|| StringStringEntryProto { key: "info".into(), value: info.into() });
    ModelProto {
        // The first version of the format that has the operators.
        ir_version: match opset {
            ..=18 => 8,
            19..=20 => 9,
            21..=22 => 10,
            _ => 11,
        },
        producer_name: "notegrad".into(),
        producer_version: env!("CARGO_PKG_VERSION").into(),
        graph: Some(graph),
        opset_import: vec![OperatorSetIdProto { domain: String::new(), version: opset }],
        metadata_props: info.into_iter().collect(),
        ..ModelProto::default()
    }
}

fn value_info(name: &str, meta: &Meta) -> ValueInfoProto {
    let dim = |&size: &usize| Dimension {
        value: Some(DimensionValue::Size(size as i64)),
        ..Dimension::default()
    };
    let shape = TensorShapeProto { dim: meta.shape.iter().map(dim).collect() };
    let kind = TensorType { elem_type: meta.dtype.onnx(), shape: Some(shape) };
    let kind = TypeProto { value: Some(TypeValue::Tensor(kind)), ..TypeProto::default() };
    ValueInfoProto { name: name.into(), r#type: Some(kind), ..ValueInfoProto::default() }
}

/// For each value the node that uses it first, and as which operand.
fn first_users(graph: &Graph) -> FxHashMap<Value, (NodeId, usize)> {
    let mut users = FxHashMap::default();
    let needed = graph.needed_for_values();
    for (id, node) in graph.nodes().iter().enumerate().filter(|it| needed[it.0]) {
        for (at, &input) in node.inputs().iter().enumerate() {
            users.entry(input).or_insert((id as NodeId, at));
        }
    }
    users
}

/// The name of a value after the parameter that it is where it is used first: `fc1.weight`.
fn parameter(
    graph: &Graph,
    users: &FxHashMap<Value, (NodeId, usize)>,
    value: Value,
) -> Option<String> {
    let &(id, at) = users.get(&value)?;
    let node = graph.node(id);
    let param = node.op()?.params.iter().filter(|it| it.kind.is_tensor()).nth(at)?;
    let path = node.origin.scope.path();
    let dot = if path.is_empty() { "" } else { "." };
    Some(format!("{path}{dot}{}", param.name))
}

struct Writer<'a> {
    graph: &'a Graph,
    sink: Sink,
    wires: FxHashMap<Value, Wire>,
    users: FxHashMap<Value, (NodeId, usize)>,
    /// Constants by what they are for the modules that have them.
    parameters: Vec<(Tensor, String)>,
}

impl Writer<'_> {
    fn nodes(&mut self) -> Result<()> {
        let needed = self.graph.needed_for_values();
        for (id, node) in self.graph.nodes().iter().enumerate().filter(|it| needed[it.0]) {
            let id = id as NodeId;
            match &node.kind {
                Kind::Const(tensor) => {
                    let name = self.name_of(Value::of(id), tensor);
                    let wire = self.sink.tensor(&name, tensor)?;
                    self.wires.insert(Value::of(id), wire);
                }
                Kind::Op { op, .. } => self.node(id, node, op)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// What a constant is called: as the parameter that it is, else after the one that it is for the node that uses it first.
    fn name_of(&mut self, value: Value, tensor: &Tensor) -> Wire {
        let known = self
            .parameters
            .iter()
            .find(|it| it.0.shares_buffer(tensor) && it.0.layout() == tensor.layout())
            .map(|it| it.1.clone());
        let stem = known.or_else(|| parameter(self.graph, &self.users, value));
        self.sink.named(stem.as_deref().unwrap_or("constant"))
    }

    fn node(&mut self, id: NodeId, node: &Node, op: &'static OpDef) -> Result<()> {
        let is_elementwise = op.body.is_elementwise();
        let inputs = node.inputs().iter().map(|&it| self.operand(it, is_elementwise));
        let inputs = inputs.collect::<Result<Vec<_>>>()?;
        let is_output = |value: &Value| self.graph.outputs.contains(value);
        let outputs: Vec<(Meta, bool)> = (0..)
            .zip(&node.metas)
            .map(|(output, meta)| {
                let value = Value { node: id, output };
                (meta.clone(), self.users.contains_key(&value) || is_output(&value))
            })
            .collect();
        let none = crate::Attrs::new();
        self.sink.place = node.origin.scope.path();
        let mut cx = NodeCx {
            op,
            attrs: node.attrs().unwrap_or(&none),
            inputs: &inputs,
            outputs: &outputs,
            sink: &mut self.sink,
            site: node.origin.site,
            results: Vec::new(),
        };
        match op.onnx {
            Onnx::Written { write, .. } => write(&mut cx)?,
            _ if is_elementwise => {
                let operands: Vec<Tensor> =
                    node.inputs().iter().map(|&it| self.graph.stand_in(it)).collect();
                expression::elementwise(&mut cx, &operands)?;
            }
            Onnx::Named { op_type, since, attrs } => {
                cx.needs_opset(since)?;
                plain(&mut cx, op_type, attrs)?;
            }
            Onnx::Absent => return cx.refuse(why_absent(node.origin.phase)),
        }
        let results = std::mem::take(&mut cx.results);
        if (results.len()..outputs.len()).any(|it| cx.is_used(it)) {
            return cx.refuse("one of its results has no operator there");
        }
        for (output, wire) in (0..).zip(results) {
            self.wires.insert(Value { node: id, output }, wire);
        }
        Ok(())
    }

    /// An operand. Numbers of the language become tensors but for elementwise ops, which say in which dtype.
    fn operand(&mut self, value: Value, is_elementwise: bool) -> Result<Operand> {
        let meta = self.graph.meta(value).clone();
        if let Kind::Number(number) = self.graph.node(value.node).kind {
            let wire = match is_elementwise {
                true => Wire::new(),
                false => self.sink.number(number, meta.dtype)?,
            };
            return Ok(Operand { wire, number: is_elementwise.then_some(number), meta });
        }
        let lost = || refused(format!("%{} has no name in the ONNX graph", value.node));
        let wire = self.wires.get(&value).cloned().ok_or_else(lost)?;
        Ok(Operand { wire, number: None, meta })
    }

    /// Gives a value the name of an output.
    fn output(&mut self, value: Value, name: &str) -> Result<()> {
        let Operand { wire, meta, .. } = self.operand(value, false)?;
        let nodes = &mut self.sink.graph.node;
        let made = nodes.iter().any(|it| it.output.contains(&wire));
        let is_output = self.sink.graph.output.iter().any(|it| it.name == wire);
        if made && !is_output {
            let wires = nodes.iter_mut().flat_map(|it| it.input.iter_mut().chain(&mut it.output));
            wires.filter(|it| **it == wire).for_each(|it| name.clone_into(it));
            self.wires.values_mut().filter(|it| **it == wire).for_each(|it| name.clone_into(it));
        } else {
            let copy = self.sink.node("Identity", &[&wire], Vec::new());
            if let Some(node) = self.sink.graph.node.last_mut() {
                node.output = vec![name.into()];
                node.name = copy;
            }
        }
        self.sink.graph.output.push(value_info(name, &meta));
        Ok(())
    }
}

/// One operator of the same operands.
fn plain(cx: &mut NodeCx<'_>, op_type: &str, names: &[(&str, &str)]) -> Result<()> {
    let mut attrs = Vec::new();
    for (at, param) in cx.op.attr_params().enumerate() {
        let Some(name) = names.iter().find(|it| it.0 == param.name).map(|it| it.1) else {
            continue;
        };
        match &cx.attrs[at] {
            Attr::Int(it) => attrs.push(attr::int(name, *it)),
            Attr::Float(it) => attrs.push(attr::float(name, *it)),
            Attr::Bool(it) => attrs.push(attr::int(name, i64::from(*it))),
            Attr::Ints(it) => attrs.push(attr::ints(name, it)),
            Attr::Str(it) => attrs.push(attr::text(name, it)),
            _ => {}
        }
    }
    let inputs: Vec<Wire> = (0..cx.n_inputs()).map(|at| cx.input(at)).collect();
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    let wire = cx.node(op_type, &inputs, attrs);
    cx.give(wire)
}

fn why_absent(phase: Phase) -> &'static str {
    match phase {
        Phase::Forward => {
            "it has no operator there; write the model as `.ngm`, or compute that part outside of it"
        }
        _ => {
            "it is a part of a gradient, which has no operator there; write a function that only goes forward"
        }
    }
}

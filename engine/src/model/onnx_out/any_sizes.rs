//! ONNX models for inputs of any size along some dimensions.
//!
//! The model is written at several sizes. What differs are numbers in it, which become what nodes compute from the shapes of the inputs.

use rustc_hash::FxHashSet;

use super::{Model, refused};
use crate::graph::sizes::Template;
use crate::graph::text::constants;
use crate::model::sizes::Sizes;
use crate::onnx::proto::{
    Dimension, DimensionValue, GraphProto, TensorProto, TensorShapeProto, TypeValue, ValueInfoProto,
};
use crate::op::{Sink, Wire, attr};
use crate::rewrite::run::Log;
use crate::{DType, Number, Result, passes};

impl Model {
    /// The graph of a model that has dimensions of any size.
    pub(super) fn of_any_sizes(&self, sizes: &Sizes, opset: i64) -> Result<GraphProto> {
        let (template, weights) = (&sizes.template, constants(&self.graph));
        let points = template.points();
        let at = |point: &Vec<usize>| {
            // What depends on sizes is not computed now.
            let graph = passes::optimize(template.graph(point, &weights)?, 1, &mut Log::default())?;
            self.written(&graph, opset)
        };
        let mut all = points.iter().map(at).collect::<Result<Vec<_>>>()?;
        if let Some(other) = all.iter().find(|it| !has_nodes_of(it, &all[0])) {
            let first = all[0].node.iter().zip(&other.node).find(|it| it.0 != it.1);
            let name = first.map_or("the last", |it| &it.0.name);
            return Err(refused(format!(
                "at other sizes the ONNX graph has other nodes, from {name} on; write the model for the sizes of the call: dynamic_axes={{}}"
            )));
        }
        let names = all[0].node.iter().flat_map(|it| &it.output);
        let names = names.chain(all[0].initializer.iter().map(|it| &it.name));
        let names: Vec<Wire> = names.chain(&self.input_names).cloned().collect();
        let mut numbers = Numbers { sink: Sink::new(opset, names), template, points: &points };
        let sizes = self.read_sizes(&mut numbers.sink)?;
        let (mut kept, rest) = (Vec::new(), all.split_off(1));
        let mut graph = all.swap_remove(0);
        for (at, first) in graph.initializer.drain(..).enumerate() {
            let others: Vec<&TensorProto> = rest.iter().map(|it| &it.initializer[at]).collect();
            match others.iter().all(|it| **it == first) {
                true => kept.push(first),
                false => numbers.write(&first, &others, &sizes)?,
            }
        }
        let GraphProto { mut node, mut initializer, .. } = numbers.sink.graph;
        node.append(&mut graph.node);
        initializer.append(&mut kept);
        let asked: FxHashSet<&Wire> = node.iter().flat_map(|it| &it.input).collect();
        let is_asked: Vec<bool> = node
            .iter()
            .map(|it| it.op_type != "Shape" || it.output.iter().any(|it| asked.contains(it)))
            .collect();
        let mut is_asked = is_asked.into_iter();
        node.retain(|_| is_asked.next().unwrap_or(true));
        (graph.node, graph.initializer) = (node, initializer);
        for input in 0..graph.input.len() {
            let any = |dim: usize| sizes_name(self, input, dim);
            name_dims(&mut graph.input[input], any);
        }
        for output in 0..graph.output.len() {
            let seen: Vec<ValueInfoProto> =
                rest.iter().map(|it| it.output[output].clone()).collect();
            let known = dims(&graph.output[output]);
            let words = |dim: usize| {
                let differs = seen.iter().any(|it| dims(it).get(dim) != known.get(dim));
                let size = |it: &ValueInfoProto| dims(it).get(dim).copied().unwrap_or_default();
                let mut values = vec![known[dim]];
                values.extend(seen.iter().map(size));
                differs.then(|| in_words(template, &values))
            };
            let named: Vec<Option<String>> = (0..known.len()).map(words).collect();
            name_dims(&mut graph.output[output], |dim| named[dim].clone());
        }
        Ok(graph)
    }

    /// The sizes as values of one element each, from the shapes of inputs.
    fn read_sizes(&self, sink: &mut Sink) -> Result<Vec<Wire>> {
        let one = |(input, dim): (usize, usize)| {
            let (start, end) = (dim as i64, dim as i64 + 1);
            let attrs = vec![attr::int("start", start), attr::int("end", end)];
            sink.node("Shape", &[&self.input_names[input]], attrs)
        };
        Ok(self.any_sizes().iter().filter_map(|it| it.places.first().copied()).map(one).collect())
    }
}

/// Whether nothing but numbers differs.
fn has_nodes_of(graph: &GraphProto, other: &GraphProto) -> bool {
    let kind = |it: &TensorProto| (it.name.clone(), it.data_type);
    graph.node == other.node
        && graph.initializer.iter().map(kind).eq(other.initializer.iter().map(kind))
}

/// The name of a dimension of an input, if it has any size.
fn sizes_name(model: &Model, input: usize, dim: usize) -> Option<String> {
    let any = model.any_sizes().iter().find(|it| it.places.contains(&(input, dim)));
    any.map(|it| it.name.clone())
}

/// The words for a size of an output.
fn in_words(template: &Template, seen: &[i64]) -> String {
    let Some(terms) = template.whole(seen) else { return "?".into() };
    let term = |(factor, dims): &(i64, Vec<usize>)| {
        let names = dims.iter().map(|&it| template.names()[it].clone());
        let factor = (*factor != 1 || dims.is_empty()).then(|| factor.to_string());
        factor.into_iter().chain(names).collect::<Vec<_>>().join("*")
    };
    terms.iter().map(term).collect::<Vec<_>>().join(" + ")
}

fn shape(info: &ValueInfoProto) -> Option<&TensorShapeProto> {
    match info.r#type.as_ref()?.value.as_ref()? {
        TypeValue::Tensor(it) => it.shape.as_ref(),
        _ => None,
    }
}

fn dims(info: &ValueInfoProto) -> Vec<i64> {
    let size = |it: &Dimension| match it.value {
        Some(DimensionValue::Size(size)) => size,
        _ => 0,
    };
    shape(info).map_or(Vec::new(), |it| it.dim.iter().map(size).collect())
}

fn name_dims(info: &mut ValueInfoProto, name: impl Fn(usize) -> Option<String>) {
    let Some(TypeValue::Tensor(kind)) = info.r#type.as_mut().and_then(|it| it.value.as_mut())
    else {
        return;
    };
    let Some(shape) = &mut kind.shape else { return };
    for (at, dim) in shape.dim.iter_mut().enumerate() {
        if let Some(name) = name(at) {
            dim.value = Some(DimensionValue::Name(name));
        }
    }
}

/// Numbers that depend on sizes, as nodes.
struct Numbers<'a> {
    sink: Sink,
    template: &'a Template,
    points: &'a [Vec<usize>],
}

impl Numbers<'_> {
    /// Nodes that compute what stood in a constant; `others` is the constant at the other points.
    fn write(
        &mut self,
        first: &TensorProto,
        others: &[&TensorProto],
        sizes: &[Wire],
    ) -> Result<()> {
        let all: Vec<&TensorProto> = std::iter::once(first).chain(others.iter().copied()).collect();
        let unsaid = || {
            refused(format!(
                "`{}` depends on the sizes of the inputs in a way that ONNX has no words for here; write the model for the sizes of the call: dynamic_axes={{}}",
                first.name
            ))
        };
        if all.iter().any(|it| it.dims != first.dims) {
            return Err(unsaid());
        }
        let wire = if first.data_type == DType::I64.onnx() {
            let values: Vec<Vec<i64>> = all.iter().map(|it| whole(it)).collect();
            let mut parts = Vec::new();
            for at in 0..values[0].len() {
                let seen: Vec<i64> = values.iter().map(|it| it[at]).collect();
                let terms = self.template.whole(&seen).ok_or_else(unsaid)?;
                parts.push(self.sum(&terms, sizes)?);
            }
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            match parts[..] {
                [only] => only.to_owned(),
                _ => self.sink.node("Concat", &parts, vec![attr::int("axis", 0)]),
            }
        } else {
            let values: Option<Vec<f64>> = all.iter().map(|it| float(it)).collect();
            self.quotient(&values.ok_or_else(unsaid)?, first.data_type, sizes)?
                .ok_or_else(unsaid)?
        };
        let shape = self.sink.ints(&first.dims)?;
        self.sink.node("Reshape", &[&wire, &shape], Vec::new());
        if let Some(node) = self.sink.graph.node.last_mut() {
            node.output = vec![first.name.clone()];
        }
        Ok(())
    }

    /// Terms added up, as one element.
    fn sum(&mut self, terms: &[(i64, Vec<usize>)], sizes: &[Wire]) -> Result<Wire> {
        let mut total: Option<Wire> = None;
        for (factor, dims) in terms {
            let mut dims = dims.iter();
            let mut term = match (factor, dims.len()) {
                (1, 1..) => sizes[*dims.next().unwrap_or(&0)].clone(),
                _ => self.sink.ints(&[*factor])?,
            };
            for &dim in dims {
                term = self.sink.node("Mul", &[&term, &sizes[dim]], Vec::new());
            }
            total = Some(match total {
                Some(total) => self.sink.node("Add", &[&total, &term], Vec::new()),
                None => term,
            });
        }
        match total {
            Some(total) => Ok(total),
            None => self.sink.ints(&[0]),
        }
    }

    /// A factor times or over sizes, each once at most.
    fn quotient(&mut self, seen: &[f64], data_type: i32, sizes: &[Wire]) -> Result<Option<Wire>> {
        let n_dims = sizes.len();
        for code in 0..3_usize.pow(n_dims as u32) {
            let powers: Vec<i32> =
                (0..n_dims).map(|dim| (code / 3_usize.pow(dim as u32) % 3) as i32 - 1).collect();
            let scale = |point: &Vec<usize>| -> f64 {
                point.iter().zip(&powers).map(|it| (*it.0 as f64).powi(*it.1)).product()
            };
            let factors: Vec<f64> =
                self.points.iter().zip(seen).map(|it| it.1 / scale(it.0)).collect();
            if factors.iter().any(|it| (it - factors[0]).abs() > 1e-6 * factors[0].abs()) {
                continue;
            }
            let mut wire = self.sink.number(Number::Float(factors[0]), DType::F64)?;
            for (size, power) in sizes.iter().zip(&powers) {
                let op_type = match power {
                    1 => "Mul",
                    -1 => "Div",
                    _ => continue,
                };
                let size = self.sink.cast(size, DType::I64, DType::F64);
                wire = self.sink.node(op_type, &[&wire, &size], Vec::new());
            }
            let to = vec![attr::int("to", i64::from(data_type))];
            return Ok(Some(self.sink.node("Cast", &[&wire], to)));
        }
        Ok(None)
    }
}

fn whole(tensor: &TensorProto) -> Vec<i64> {
    let of = |it: &[u8]| it.try_into().map_or(0, i64::from_le_bytes);
    tensor.raw_data.chunks(8).map(of).collect()
}

/// The only element of a tensor of floats.
fn float(tensor: &TensorProto) -> Option<f64> {
    let bytes = &tensor.raw_data[..];
    match tensor.data_type {
        it if it == DType::F32.onnx() => {
            Some(f64::from(f32::from_le_bytes(bytes.try_into().ok()?)))
        }
        it if it == DType::F64.onnx() => Some(f64::from_le_bytes(bytes.try_into().ok()?)),
        _ => None,
    }
}

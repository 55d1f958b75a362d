//! The slow evaluator: runs a graph op by op through the eager kernels. It gives a graph its meaning.

use smallvec::SmallVec;

use super::{Graph, Kind, Value};
use crate::{Error, Result, Tensor, apply};

/// The outputs of `graph` for these inputs, one tensor per graph input.
pub fn evaluate(graph: &Graph, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
    check_inputs(graph, inputs)?;
    let mut values: Vec<SmallVec<[Tensor; 1]>> = vec![SmallVec::new(); graph.nodes().len()];
    for (&id, tensor) in graph.inputs().iter().zip(inputs) {
        values[id as usize] = [tensor.detach()].into();
    }
    let last_use = last_uses(graph);
    let needed = graph.needed();
    let mut dying = vec![Vec::new(); graph.nodes().len()];
    for (id, &at) in last_use.iter().enumerate() {
        if let Some(at) = at {
            dying[at].push(id);
        }
    }
    for (id, node) in graph.nodes().iter().enumerate() {
        match &node.kind {
            _ if !needed[id] => {}
            Kind::Input { .. } | Kind::Fed => {}
            Kind::Const(tensor) => values[id] = [tensor.clone()].into(),
            Kind::Number(number) => values[id] = [Tensor::from_number(*number)].into(),
            Kind::Op { op, attrs, inputs } => {
                let operands = inputs.iter().map(|it| read(&values, *it));
                let operands = operands.collect::<Result<SmallVec<[Tensor; 3]>>>()?;
                values[id] = apply::run(op, &operands, attrs)?;
            }
        }
        for &dead in &dying[id] {
            values[dead].clear();
        }
    }
    graph.outputs.iter().map(|it| read(&values, *it)).collect()
}

/// As [`evaluate`], each output by itself: those that depend on an op that fails have its error. Stopping ends it all.
pub fn evaluate_each(graph: &Graph, inputs: &[Tensor]) -> Result<Vec<Result<Tensor>>> {
    check_inputs(graph, inputs)?;
    let none = || Err(Error::Abstract);
    let mut values: Vec<Result<SmallVec<[Tensor; 1]>>> = Vec::with_capacity(graph.nodes().len());
    let needed = graph.needed();
    let given = |id: usize| {
        let at = graph.inputs().iter().position(|&it| it as usize == id);
        at.map_or_else(none, |at| Ok([inputs[at].detach()].into()))
    };
    for (id, node) in graph.nodes().iter().enumerate() {
        values.push(match &node.kind {
            _ if !needed[id] => none(),
            Kind::Input { .. } | Kind::Fed => given(id),
            Kind::Const(tensor) => Ok([tensor.clone()].into()),
            Kind::Number(number) => Ok([Tensor::from_number(*number)].into()),
            Kind::Op { op, attrs, inputs } => {
                let operands = inputs.iter().map(|it| {
                    let of = values[it.node as usize].as_ref().map_err(Error::clone)?;
                    Ok(of[it.output as usize].clone())
                });
                let operands: Result<SmallVec<[Tensor; 3]>> = operands.collect();
                match operands.and_then(|it| apply::run(op, &it, attrs)) {
                    Err(Error::Interrupted) => return Err(Error::Interrupted),
                    res => res,
                }
            }
        });
    }
    let output = |it: &Value| {
        let of = values[it.node as usize].as_ref().map_err(Error::clone)?;
        Ok(of[it.output as usize].clone())
    };
    Ok(graph.outputs.iter().map(output).collect())
}

fn check_inputs(graph: &Graph, inputs: &[Tensor]) -> Result<()> {
    let expected = graph.inputs().len();
    if inputs.len() != expected {
        return Err(Error::Arity { op: "graph", expected, got: inputs.len() });
    }
    for (&id, tensor) in graph.inputs().iter().zip(inputs) {
        let meta = &graph.node(id).metas[0];
        if tensor.shape() != &meta.shape || tensor.dtype() != meta.dtype {
            let problem = format!("the graph takes {meta} for %{id}, got {}", tensor.meta());
            return Err(Error::Trace { problem });
        }
    }
    Ok(())
}

fn read(values: &[SmallVec<[Tensor; 1]>], value: Value) -> Result<Tensor> {
    let tensor = values[value.node as usize].get(value.output as usize).cloned();
    tensor.ok_or_else(|| Error::Trace { problem: format!("%{} has no value", value.node) })
}

/// For each node the last node that reads it; `None` for outputs and for nodes that nobody reads.
fn last_uses(graph: &Graph) -> Vec<Option<usize>> {
    let mut last = vec![None; graph.nodes().len()];
    for (id, node) in graph.nodes().iter().enumerate() {
        for input in node.inputs() {
            last[input.node as usize] = Some(id);
        }
    }
    for output in &graph.outputs {
        last[output.node as usize] = None;
    }
    last
}

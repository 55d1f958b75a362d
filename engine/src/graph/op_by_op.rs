//! A graph without a plan: runs it op by op through the eager kernels. A plan gives the same bits.

use smallvec::SmallVec;

use super::{Graph, Kind, Value};
use crate::{Error, Result, Tensor, apply};

/// The outputs of `graph` for these inputs, one tensor per graph input, and after them what it stores.
pub fn run(graph: &Graph, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
    run_until(graph, inputs, |_| true)?.into_iter().collect()
}

/// As [`run`], each result by itself: those that depend on an op that fails have its error. Stopping ends it all.
pub fn run_each(graph: &Graph, inputs: &[Tensor]) -> Result<Vec<Result<Tensor>>> {
    run_until(graph, inputs, |error| *error == Error::Interrupted)
}

/// What a node gives, or the error of the op that it depends on.
type Outcome = Result<SmallVec<[Tensor; 1]>>;

/// Runs op by op; an error for which `ends` holds ends it, others go on to what depends on the op.
fn run_until(
    graph: &Graph,
    inputs: &[Tensor],
    ends: impl Fn(&Error) -> bool,
) -> Result<Vec<Result<Tensor>>> {
    check_inputs(graph, inputs)?;
    let mut values: Vec<Outcome> = vec![Ok(SmallVec::new()); graph.nodes().len()];
    for (&id, tensor) in graph.inputs().iter().zip(inputs) {
        values[id as usize] = Ok([tensor.detach()].into());
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
            Kind::Input { .. } | Kind::Variable { .. } | Kind::Fed => {}
            Kind::Const(tensor) => values[id] = Ok([tensor.clone()].into()),
            Kind::Number(number) => values[id] = Ok([Tensor::from_number(*number)].into()),
            Kind::Op { op, attrs, inputs } => {
                let operands = inputs.iter().map(|it| read(&values, *it));
                let operands = operands.collect::<Result<SmallVec<[Tensor; 3]>>>();
                let outcome = operands.and_then(|it| {
                    let run = || apply::run_on(graph.device, op, &it, attrs);
                    node.origin.site.within(run).map_err(|it| it.at(node.origin.site))
                });
                if let Err(error) = &outcome
                    && ends(error)
                {
                    return Err(error.clone());
                }
                values[id] = outcome;
            }
        }
        for &dead in &dying[id] {
            values[dead] = Ok(SmallVec::new());
        }
    }
    Ok(graph.results().map(|it| read(&values, it)).collect())
}

/// Refuses inputs that are not those of the graph.
pub(crate) fn check_inputs(graph: &Graph, inputs: &[Tensor]) -> Result<()> {
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

fn read(values: &[Outcome], value: Value) -> Result<Tensor> {
    let of_node = values[value.node as usize].as_ref().map_err(Error::clone)?;
    let tensor = of_node.get(value.output as usize).cloned();
    tensor.ok_or_else(|| Error::Trace { problem: format!("%{} has no value", value.node) })
}

/// For each node the last node that reads it; `None` for results and for nodes that nobody reads.
fn last_uses(graph: &Graph) -> Vec<Option<usize>> {
    let mut last = vec![None; graph.nodes().len()];
    for (id, node) in graph.nodes().iter().enumerate() {
        for input in node.inputs() {
            last[input.node as usize] = Some(id);
        }
    }
    for result in graph.results() {
        last[result.node as usize] = None;
    }
    last
}

//! The gradient of a region: its graph runs op by op with the tape on while another region is recorded, and the reverse walk with it.

use smallvec::SmallVec;

use super::record::Recording;
use crate::apply::{autocast, default_dtype, place};
use crate::autograd::{self, Root};
use crate::functional::full;
use crate::graph::{Graph, Kind, Value};
use crate::{Device, Error, Meta, Result, Tensor, apply, tape};

/// The graph of [`crate::op::Block::gradient`].
pub(super) fn gradient(
    graph: &Graph,
    wanted: &[bool],
    given: &[bool],
    summed: &[bool],
) -> Result<Graph> {
    let before = tape::set_enabled(true);
    let recording = Recording::begin();
    // A graph runs where its operands are: what is made of nothing belongs to no device while it is recorded.
    let walked =
        || place::making_on(Device::Cpu, || walk(&recording, graph, wanted, given, summed));
    let outputs = autocast::left_alone(|| default_dtype::left_alone(walked));
    let found = outputs.and_then(|it| recording.finish(&it)?.alone());
    tape::set_enabled(before);
    found
}

fn walk(
    recording: &Recording,
    graph: &Graph,
    wanted: &[bool],
    given: &[bool],
    summed: &[bool],
) -> Result<Vec<Tensor>> {
    let is = |flags: &[bool], idx: usize| flags.get(idx).copied().unwrap_or(false);
    let kind = |&id: &u32| graph.node(id).metas[0].clone();
    let metas: Vec<Meta> = graph.inputs().iter().map(kind).collect();
    let inputs: Vec<Tensor> = metas
        .iter()
        .enumerate()
        .map(|(idx, meta)| recording.parameter(meta.clone(), Device::Cpu, is(wanted, idx)))
        .collect();
    let given = (0..graph.outputs.len()).filter(|&it| is(given, it));
    let grads: Vec<(usize, Tensor)> = given
        .map(|it| {
            (it, recording.parameter(graph.meta(graph.outputs[it]).clone(), Device::Cpu, false))
        })
        .collect();
    let sums = (0..inputs.len()).filter(|&it| is(summed, it));
    let sums: Vec<(usize, Tensor)> =
        sums.map(|it| (it, recording.parameter(metas[it].clone(), Device::Cpu, false))).collect();
    let outputs = run(graph, &inputs)?;
    let seeds = sums.into_iter().map(|(at, sum)| (inputs[at].clone(), Some(sum)));
    let roots = grads.into_iter().map(|(at, grad)| (outputs[at].clone(), Some(grad)));
    let roots: Vec<Root> = seeds.chain(roots).filter(|it| it.0.requires_grad()).collect();
    let leaves: Vec<Tensor> = inputs.iter().filter(|it| it.requires_grad()).cloned().collect();
    let found = autograd::grad(&roots, &leaves, true, true)?;
    let zeros = |it: &Tensor| full(it.shape(), 0.0, it.dtype());
    let grad = |(found, leaf): (Option<Tensor>, &Tensor)| found.map_or_else(|| zeros(leaf), Ok);
    found.into_iter().zip(&leaves).map(grad).collect()
}

/// The outputs of a graph through `apply`, so that tape and recorder see its ops.
fn run(graph: &Graph, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
    let mut values: Vec<SmallVec<[Tensor; 1]>> = vec![SmallVec::new(); graph.nodes().len()];
    for (&id, tensor) in graph.inputs().iter().zip(inputs) {
        values[id as usize].push(tensor.clone());
    }
    let read = |values: &[SmallVec<[Tensor; 1]>], it: &Value| {
        let found = values[it.node as usize].get(it.output as usize).cloned();
        found.ok_or_else(|| Error::Trace { problem: format!("%{} has no value", it.node) })
    };
    for (id, node) in graph.nodes().iter().enumerate() {
        match &node.kind {
            Kind::Number(number) => values[id].push(Tensor::from_number(*number)),
            Kind::Op { op, attrs, inputs } => {
                let operands = inputs.iter().map(|it| read(&values, it));
                let operands = operands.collect::<Result<SmallVec<[Tensor; 3]>>>()?;
                let outputs = node.origin.site.within(|| apply::apply(op, &operands, attrs))?;
                values[id] = outputs.into_iter().collect();
            }
            Kind::Input { .. } | Kind::Variable { .. } | Kind::Fed | Kind::Const(_) => {}
        }
    }
    graph.outputs.iter().map(|it| read(&values, it)).collect()
}

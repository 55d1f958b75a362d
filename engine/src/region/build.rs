//! From what was recorded to an op: the regions of one op take the same operands, so what each has captured is put together.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::region_of;
use crate::apply;
use crate::graph::{Graph, Kind, NodeId, Value};
use crate::ops::control::{cond as branch, while_loop as looping};
use crate::ops::create::full;
use crate::trace::{Key, key_of};
use crate::{Attr, Attrs, Device, Error, Layout, Result, Tensor};

/// A region that was recorded.
pub struct Recorded {
    pub(super) graph: Graph,
    /// What its inputs are behind the parameters.
    pub(super) captures: Vec<Tensor>,
    pub(super) n_parameters: usize,
    /// Which of its outputs are on the tape.
    pub(super) edged: Vec<bool>,
    /// Where its outputs are; single elements may be anywhere.
    pub(super) devices: Vec<Option<Device>>,
}

impl Recorded {
    /// Shapes and dtypes of what it gives.
    pub fn outputs(&self) -> Vec<crate::Meta> {
        self.graph.outputs.iter().map(|&it| self.graph.meta(it).clone()).collect()
    }

    /// Whether it draws random numbers.
    pub fn draws(&self) -> bool {
        self.graph.nodes().iter().any(|it| it.draws())
    }

    /// The graph by itself; it must have captured nothing.
    pub(super) fn alone(&self) -> Result<Graph> {
        rebuilt(self, &[])
    }
}

/// What all regions of an op have captured, each tensor once; only what some graph needs.
fn captures_of(regions: &[&Recorded]) -> Vec<Tensor> {
    let mut all: Vec<Tensor> = Vec::new();
    let mut known: FxHashMap<(Option<Key>, bool), ()> = FxHashMap::default();
    for region in regions {
        let needed = region.graph.needed();
        let inputs = &region.graph.inputs()[region.n_parameters..];
        for (&id, tensor) in inputs.iter().zip(&region.captures) {
            let key = (key_of(tensor), tensor.requires_grad());
            if needed[id as usize] && known.insert(key, ()).is_none() {
                all.push(tensor.clone());
            }
        }
    }
    all
}

/// The graph with `captures` as inputs behind its parameters, numbered as its text will be.
fn rebuilt(region: &Recorded, captures: &[Tensor]) -> Result<Graph> {
    let old = &region.graph;
    let mut new = Graph::new();
    let mut values: FxHashMap<Value, Value> = FxHashMap::default();
    let (parameters, captured) = old.inputs().split_at(region.n_parameters);
    for &id in parameters {
        let meta = &old.node(id).metas[0];
        let value = new.input(meta.dtype, Layout::contiguous(meta.shape.clone()));
        values.insert(Value::of(id), value);
    }
    let same =
        |a: &Tensor, b: &Tensor| key_of(a) == key_of(b) && a.requires_grad() == b.requires_grad();
    for tensor in captures {
        let value = new.input(tensor.dtype(), Layout::contiguous(tensor.shape().clone()));
        if let Some(at) = region.captures.iter().position(|it| same(it, tensor)) {
            values.insert(Value::of(captured[at]), value);
        }
    }
    let needed = old.needed();
    for (id, node) in old.nodes().iter().enumerate().filter(|it| needed[it.0]) {
        let Kind::Op { op, attrs, inputs } = &node.kind else { continue };
        new.origin.clone_from(&node.origin);
        let inputs = inputs.iter().map(|it| value_in(&mut new, old, &values, *it));
        let inputs = inputs.collect::<Result<SmallVec<[Value; 3]>>>()?;
        let node_in_new = new.apply_known(op, &inputs, attrs, node.metas.clone());
        for output in 0..node.metas.len() as u32 {
            let before = Value { node: id as NodeId, output };
            values.insert(before, Value { node: node_in_new, output });
        }
    }
    let outputs = old.outputs.iter().map(|it| value_in(&mut new, old, &values, *it));
    new.outputs = outputs.collect::<Result<_>>()?;
    Ok(new)
}

/// A value of the old graph in the new one.
fn value_in(
    new: &mut Graph,
    old: &Graph,
    values: &FxHashMap<Value, Value>,
    value: Value,
) -> Result<Value> {
    let missing =
        || Error::Trace { problem: format!("%{} of a region comes from nowhere", value.node) };
    match old.node(value.node).kind {
        Kind::Number(number) => Ok(new.number(number)),
        _ => values.get(&value).copied().ok_or_else(missing),
    }
}

/// Puts something to give where a region draws and gives nothing, since it must run.
fn giving_something(region: &mut Recorded) -> Result<()> {
    let attrs: Attrs = [Attr::ints(&[]), Attr::Float(0.0), Attr::None].into_iter().collect();
    let value = region.graph.apply_one(&full::OP, &[], &attrs)?;
    region.graph.outputs.push(value);
    region.edged.push(false);
    region.devices.push(None);
    Ok(())
}

/// Where two regions give what they give; an error where they do not give it at the same place.
fn device_of(then: &Recorded, orelse: &Recorded) -> Result<Option<Device>> {
    let pairs = then.devices.iter().zip(&orelse.devices);
    for pair in pairs {
        if let (Some(a), Some(b)) = pair
            && a != b
        {
            let problem = format!(
                "one branch on a tensor gives a value on {a} and the other on {b}; bring both to one device before the `if`"
            );
            return Err(Error::Trace { problem });
        }
    }
    Ok(then.devices.iter().chain(&orelse.devices).copied().flatten().next())
}

/// What one of two regions gives, as a condition says; they take no parameters and give values of the same kinds.
pub fn cond(condition: &Tensor, mut then: Recorded, mut orelse: Recorded) -> Result<Vec<Tensor>> {
    let n_outputs = then.graph.outputs.len();
    if n_outputs == 0 && orelse.graph.outputs.is_empty() {
        if !then.draws() && !orelse.draws() {
            return Ok(Vec::new());
        }
        giving_something(&mut then)?;
        giving_something(&mut orelse)?;
    }
    let captures = captures_of(&[&then, &orelse]);
    let device = device_of(&then, &orelse)?;
    check_goes_along("branch", device, captures.iter().chain([condition]))?;
    let region = |it: &Recorded| region_of(&rebuilt(it, &captures)?).map(Attr::Region);
    let attrs: Attrs = [region(&then)?, region(&orelse)?].into_iter().collect();
    let operands: SmallVec<[Tensor; 8]> =
        std::iter::once(condition.clone()).chain(captures.iter().cloned()).collect();
    let results = apply::apply(&branch::OP, &operands, &attrs)?;
    // What is on the tape in neither branch is not afterwards.
    let flows = then.edged.iter().zip(&orelse.edged).map(|(a, b)| *a || *b);
    let placed = results.into_iter().zip(flows);
    Ok(placed.take(n_outputs).map(|(it, flows)| if flows { it } else { it.detach() }).collect())
}

/// Refuses what would take to a GPU what is computed on the CPU: a single element there that a branch or a loop reads.
fn check_goes_along<'a>(
    what: &str,
    device: Option<Device>,
    operands: impl Iterator<Item = &'a Tensor>,
) -> Result<()> {
    let mut operands = operands.map(Tensor::device).filter(|it| *it != Device::Cpu);
    match (device, operands.next()) {
        (Some(Device::Cpu), Some(other)) => {
            let problem = format!(
                "a {what} on a tensor computes on cpu and reads a value on {other}; bring both to one device before it"
            );
            Err(Error::Trace { problem })
        }
        _ => Ok(()),
    }
}

/// A state after turns of a loop: `test` and `body` take it as their parameters, and `body` gives the next one.
pub fn while_loop(initial: &[Tensor], test: &Recorded, body: &Recorded) -> Result<Vec<Tensor>> {
    let captures = captures_of(&[test, body]);
    let region = |it: &Recorded| region_of(&rebuilt(it, &captures)?).map(Attr::Region);
    let attrs: Attrs =
        [region(test)?, region(body)?, Attr::Int(initial.len() as i64)].into_iter().collect();
    let device = initial.iter().find(|it| it.rank() > 0).map(Tensor::device);
    check_goes_along("loop", device, captures.iter())?;
    let operands: SmallVec<[Tensor; 8]> = initial.iter().chain(&captures).cloned().collect();
    Ok(apply::apply(&looping::OP, &operands, &attrs)?.into_iter().collect())
}

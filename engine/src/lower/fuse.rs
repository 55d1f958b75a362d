//! A group as launches: elementwise nodes become programs, which run by themselves or around the kernel of the group.
//!
//! What the kernel's first operand needs is its prologue, which makes that operand piece by piece; what follows on its first output
//! finishes that part by part. Where a kernel does not take a program so, they are launches one after the other.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use super::compile::{Chosen, Compiler, Given, Location};
use super::group::{Around, Group};
use super::plan::{Finishing, Prologue, Work};
use super::shares::Shares;
use crate::graph::{Kind, NodeId, Value};
use crate::lane::{self, Program, Ref, Step};
use crate::op::{Body, Kernel};
use crate::ops::unary::to;
use crate::{Attr, DType, Device, Error, Meta, Result, Site, Tensor, apply};

/// Bytes of a tensor that a plan keeps, instead of making it in each run.
const SMALL: usize = 4096;

/// Elementwise nodes as one program.
struct Fused {
    program: Arc<Program>,
    inputs: Vec<Value>,
    label: String,
}

/// What follows on the output of a kernel, its inputs, and the nodes that somebody outside the group needs.
type Finished = (Finishing, Vec<Given>, Vec<NodeId>);

impl Compiler<'_> {
    /// The launches of a group, mostly one.
    pub(super) fn launch(&mut self, group: &Group) -> Result<()> {
        let Around { before, kernel, behind } = Around::of(self.graph, &group.nodes);
        let Some(kernel) = kernel else { return self.programs(&behind) };
        if !before.is_empty() && self.kernel_within(kernel, &before, &behind)? {
            return Ok(());
        }
        if !before.is_empty() && self.kernel_within(kernel, &before, &[])? {
            return self.programs(&behind);
        }
        if self.filled(kernel)? {
            return self.programs(&behind);
        }
        self.programs(&before)?;
        if !behind.is_empty() && self.kernel_within(kernel, &[], &behind)? {
            return Ok(());
        }
        self.kernel(kernel)?;
        self.programs(&behind)
    }

    /// Whether it is a small tensor that an op without operands makes, which is made here, once for all runs.
    fn filled(&mut self, id: NodeId) -> Result<bool> {
        let node = self.graph.node(id);
        let (Kind::Op { op, attrs, inputs }, [meta]) = (&node.kind, &node.metas[..]) else {
            return Ok(false);
        };
        let is_computed = matches!(op.body, Body::Kernels(_)) && op.is_pure(attrs);
        if !inputs.is_empty() || !is_computed || op.only_checks() || meta.bytes() > SMALL {
            return Ok(false);
        }
        let made = apply::run(op, &[], attrs)?;
        let Some(made) = made.first().filter(|it| it.meta() == *meta) else { return Ok(false) };
        self.hold(Value::of(id), made)?;
        Ok(true)
    }

    /// One program, or as many as they fit into.
    fn programs(&mut self, nodes: &[NodeId]) -> Result<()> {
        match nodes {
            [] => Ok(()),
            [_] => self.lanes(nodes),
            _ if self.lanes(nodes).is_ok() => Ok(()),
            _ => {
                let (first, others) = nodes.split_at(nodes.len() / 2);
                self.programs(first)?;
                self.programs(others)
            }
        }
    }

    fn lanes(&mut self, nodes: &[NodeId]) -> Result<()> {
        let outputs = self.left_by(nodes, nodes);
        let Fused { program, inputs, label } = self.fused(nodes, None, &outputs, Vec::new())?;
        if self.graph.device != Device::Cpu && !lane::on_gpu::takes(&program) {
            return Err(Error::Trace { problem: "a program does not fit into a kernel".into() });
        }
        let given = inputs.iter().map(|&it| self.given(it)).collect::<Result<Vec<_>>>()?;
        let (params, replaced) = (program.param_values(), SmallVec::new());
        let work = Work::Lanes { program, params, replaced, label };
        let values: Vec<Value> = outputs.iter().map(|&it| Value::of(it)).collect();
        let shares = Shares::of_nodes(self.graph, nodes);
        self.draft((self.last_site(nodes), shares), work, given, &values);
        Ok(())
    }

    /// Where the program applies the last of some ops.
    fn last_site(&self, nodes: &[NodeId]) -> Site {
        nodes.last().map_or(Site::NOWHERE, |&it| self.graph.node(it).origin.site)
    }

    /// A launch of a kernel that takes the program of the nodes before it as its prologue, if there are such, and runs that of the nodes
    /// behind it on its parts; false, with nothing done, if it cannot.
    fn kernel_within(&mut self, id: NodeId, before: &[NodeId], behind: &[NodeId]) -> Result<bool> {
        if self.graph.device != Device::Cpu {
            return self.finished_on_gpu(id, before, behind);
        }
        let Some(chosen) = self.chosen(id, !before.is_empty())? else { return Ok(false) };
        let Chosen { op, kernel, attrs, at, made } = chosen;
        let computes = |it: &Location| it.dtype.is_arithmetic();
        let finishes = kernel.kernel.finishes && at.iter().all(computes);
        if !finishes && !behind.is_empty() {
            return Ok(false);
        }
        let group: Vec<NodeId> = [before, behind, &[id]].concat();
        let (mut given, mut values) = (Vec::new(), self.outputs(id));
        let mut prologue = None;
        let mut kept = self.left_by(&group, before);
        if let Some(meta) = made {
            // What the kernel reads comes first, so that it reads that where it is kept.
            let operand = self.graph.node(id).inputs()[0].node;
            kept.sort_by_key(|&it| (it != operand, it));
            let Some((first, inputs)) = self.prologue(id, meta, before, &kept)? else {
                return Ok(false);
            };
            prologue = Some(Box::new(first));
            given.extend(inputs);
        }
        given.extend(at.into_iter().map(Given::At));
        let mut finishing = None;
        if !behind.is_empty() {
            let Some((last, inputs, outputs)) = self.finishing(id, &group, behind)? else {
                return Ok(false);
            };
            let mut outputs = outputs.into_iter().map(Value::of);
            if last.replaces {
                values[0] = outputs.next().unwrap_or(values[0]);
            }
            values.extend(outputs);
            finishing = Some(last);
            given.extend(inputs);
        }
        values.extend(kept.into_iter().map(Value::of));
        self.note_choice(op, kernel.kernel);
        let work = Work::Kernel { op, kernel, attrs, in_place: false, prologue, finishing };
        let shares = Shares::of_nodes(self.graph, &group);
        self.draft((self.graph.node(id).origin.site, shares), work, given, &values);
        Ok(true)
    }

    /// As [`Compiler::kernel_within`], on a GPU, whose kernels take no prologue.
    fn finished_on_gpu(
        &mut self,
        id: NodeId,
        before: &[NodeId],
        behind: &[NodeId],
    ) -> Result<bool> {
        let Kind::Op { op, attrs, inputs } = &self.graph.node(id).kind else { return Ok(false) };
        let finishes =
            matches!(op.body, Body::Kernels([Kernel { finishes_on_cuda: true, .. }, ..]));
        if !finishes || !before.is_empty() {
            return Ok(false);
        }
        let group: Vec<NodeId> = [behind, &[id]].concat();
        let Some((finishing, others, outputs)) = self.finishing(id, &group, behind)? else {
            return Ok(false);
        };
        let n = self.graph.node(id).metas[0].shape.numel();
        let fits = |it: &Given| it.is_flat(n) || it.is_one();
        if !others.iter().all(fits) || lane::on_gpu::most(&finishing.program) == 0 {
            return Ok(false);
        }
        let mut given = self.operands(inputs)?;
        given.extend(others);
        let (mut values, mut outputs) = (self.outputs(id), outputs.into_iter().map(Value::of));
        if finishing.replaces {
            values[0] = outputs.next().unwrap_or(values[0]);
        }
        values.extend(outputs);
        let work = Work::OnGpu { op, attrs: attrs.clone(), finishing: Some(finishing) };
        let shares = Shares::of_nodes(self.graph, &group);
        self.draft((self.graph.node(id).origin.site, shares), work, given, &values);
        Ok(true)
    }

    /// The program that makes the first operand of a kernel, of that kind, and its inputs; `kept` are the nodes that others need, too.
    fn prologue(
        &mut self,
        kernel: NodeId,
        meta: Meta,
        nodes: &[NodeId],
        kept: &[NodeId],
    ) -> Result<Option<(Prologue, Vec<Given>)>> {
        let operand = self.graph.node(kernel).inputs()[0].node;
        let is_kept =
            kept.first() == Some(&operand) && self.graph.node(operand).metas[0].dtype == meta.dtype;
        let read = (!is_kept).then_some((operand, meta.dtype));
        let Ok(fused) = self.fused(nodes, read, kept, Vec::new()) else { return Ok(None) };
        let Fused { program, inputs, label } = fused;
        let given = inputs.iter().map(|&it| self.given(it)).collect::<Result<Vec<_>>>()?;
        let (n_inputs, n_outputs, site) = (given.len(), kept.len(), self.last_site(nodes));
        let params = program.param_values();
        Ok(Some((Prologue { program, params, label, site, meta, n_inputs, n_outputs }, given)))
    }

    /// The program that follows on the first output of a kernel, its inputs, and the nodes that somebody outside the group needs, the one
    /// that takes the place of the output first.
    fn finishing(
        &mut self,
        kernel: NodeId,
        group: &[NodeId],
        nodes: &[NodeId],
    ) -> Result<Option<Finished>> {
        let mut outputs = self.left_by(group, nodes);
        let output = self.graph.node(kernel);
        let alike = |&it: &NodeId| self.graph.node(it).metas[0].dtype == output.metas[0].dtype;
        let replaced =
            outputs.iter().position(alike).filter(|_| !self.leaves(group, Value::of(kernel)));
        if let Some(first) = replaced {
            outputs.swap(0, first);
        }
        let fused = self.fused(nodes, None, &outputs, vec![Value::of(kernel)]);
        let Ok(Fused { program, inputs, label }) = fused else { return Ok(None) };
        let given = inputs[1..].iter().map(|&it| self.given(it)).collect::<Result<Vec<_>>>()?;
        let (params, n_inputs, n_own) = (program.param_values(), given.len(), output.metas.len());
        let replaces = replaced.is_some();
        let finishing = Finishing { program, params, label, n_inputs, n_own, replaces };
        Ok(Some((finishing, given, outputs)))
    }

    /// The nodes as one program, whose first inputs are `inputs`. It gives what a kernel reads, in that dtype, and then the outputs.
    fn fused(
        &self,
        nodes: &[NodeId],
        read: Option<(NodeId, DType)>,
        outputs: &[NodeId],
        mut inputs: Vec<Value>,
    ) -> Result<Fused> {
        let mut steps: Vec<Step> = Vec::new();
        for &id in nodes {
            let node = self.graph.node(id);
            let (Some(op), Some(attrs)) = (node.op(), node.attrs()) else { continue };
            let mut refs: SmallVec<[Ref; 3]> = SmallVec::new();
            for &input in node.inputs() {
                refs.push(reference(nodes, &mut inputs, input));
            }
            let tensors: SmallVec<[Tensor; 3]> =
                node.inputs().iter().map(|&it| self.graph.stand_in(it)).collect();
            steps.push(Step::new(op, attrs, &refs, &tensors)?);
        }
        let names: Vec<&str> = steps.iter().map(|it| it.op.name).collect();
        let label = names.join(" ");
        let dtypes: Vec<DType> = inputs.iter().map(|&it| self.graph.meta(it).dtype).collect();
        let step = |id: &NodeId| nodes.iter().position(|it| it == id).map(Ref::Step);
        let mut refs: Vec<Ref> = Vec::new();
        if let Some((id, dtype)) = read {
            refs.extend(step(&id));
            if self.graph.node(id).metas[0].dtype != dtype {
                let operand = [self.graph.stand_in(Value::of(id))];
                steps.push(Step::new(&to::OP, &smallvec![Attr::DType(dtype)], &refs, &operand)?);
                refs = vec![Ref::Step(steps.len() - 1)];
            }
        }
        refs.extend(outputs.iter().filter_map(step));
        Ok(Fused { program: lane::shared(dtypes, steps, refs)?, inputs, label })
    }

    /// Those of `nodes` that somebody outside the group needs.
    fn left_by(&self, group: &[NodeId], nodes: &[NodeId]) -> Vec<NodeId> {
        nodes.iter().copied().filter(|&it| self.leaves(group, Value::of(it))).collect()
    }

    /// Whether somebody outside the group needs the value.
    fn leaves(&self, nodes: &[NodeId], value: Value) -> bool {
        let takes = |it: &NodeId| self.graph.node(*it).inputs().contains(&value);
        self.is_result.contains(&value)
            || self.users[value.node as usize].iter().any(|it| !nodes.contains(it) && takes(it))
    }
}

/// A step's operand: an earlier step of the group, or an input of the program.
fn reference(nodes: &[NodeId], inputs: &mut Vec<Value>, value: Value) -> Ref {
    if let Some(step) = nodes.iter().position(|&it| it == value.node) {
        return Ref::Step(step);
    }
    let known = inputs.iter().position(|&it| it == value);
    Ref::Input(known.unwrap_or_else(|| {
        inputs.push(value);
        inputs.len() - 1
    }))
}

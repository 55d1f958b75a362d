//! Graphs that ops run, as rows see them: what goes in and comes out, running one, and its gradient. `region` makes them.

use std::any::Any;
use std::sync::Arc;

use super::{GradCx, InferCx, OpDef};
use crate::attr::{Attr, Attrs, Region, attr_readers};
use crate::{Device, Error, Meta, Result, Tensor};

/// A graph that an op runs.
pub trait Block: Send + Sync {
    /// Kinds of what it takes.
    fn inputs(&self) -> &[Meta];

    /// Kinds of what it gives.
    fn outputs(&self) -> &[Meta];

    /// The outputs for these inputs, computed on a device, off the tape and outside any trace.
    fn run(&self, device: Device, inputs: &[Tensor]) -> Result<Vec<Tensor>>;

    /// The graph that takes the inputs, then the gradients of the `given` outputs, then sums for the `summed` inputs, and gives the gradients
    /// of the `wanted` inputs, those of the summed ones added to their sums.
    fn gradient(&self, wanted: &[bool], given: &[bool], summed: &[bool]) -> Result<Region>;

    /// The graph itself, for those who know graphs.
    fn graph(&self) -> &(dyn Any + Send + Sync);
}

/// What the body of an op that runs graphs sees.
pub struct ControlCx<'a> {
    pub op: &'static OpDef,
    /// Where the graphs run.
    pub device: Device,
    pub inputs: &'a [Tensor],
    pub attrs: &'a Attrs,
}

attr_readers!(ControlCx<'_>);

/// What runs the region that attribute `idx` is.
pub(crate) fn block<'a>(op: &'static OpDef, attrs: &'a Attrs, idx: usize) -> Result<&'a dyn Block> {
    let found = match attrs.get(idx) {
        Some(Attr::Region(it)) => it.block().downcast_ref::<Arc<dyn Block>>(),
        _ => None,
    };
    let name = op.attr_params().nth(idx).map_or("region", |it| it.name);
    let problem = || Error::Attr { op: op.name, name, problem: "must be a graph".into() };
    found.map(|it| &**it).ok_or_else(problem)
}

impl ControlCx<'_> {
    /// The graph that attribute `idx` is.
    pub fn block(&self, idx: usize) -> Result<&dyn Block> {
        block(self.op, self.attrs, idx)
    }
}

impl InferCx<'_> {
    /// The graph that attribute `idx` is.
    pub fn block(&self, idx: usize) -> Result<&dyn Block> {
        block(self.op, self.attrs, idx)
    }
}

impl GradCx<'_> {
    /// The graph that attribute `idx` is.
    pub fn block(&self, idx: usize) -> Result<&dyn Block> {
        block(self.op, self.attrs, idx)
    }
}

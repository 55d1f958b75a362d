//! Regions: graphs that ops run, which are their attributes. Recording one, running it, and its gradient.
//!
//! `record` notes the ops of a branch or a loop's body, `build` makes `cond` and `while_loop` of what was noted, `gradient` the graph of
//! a reverse walk, `fused` a program that changes tensors in place. The rows of these ops see a region as a [`Block`].
//!
//! ```
//! use engine::functional::{add, gt, mul};
//! use engine::region::{self, Recording};
//! use engine::{Shape, Tensor};
//!
//! let x = Tensor::from_vec(&[1.0, -3.0], Shape::from([2]))?;
//! let condition = gt(&engine::functional::sum(&x, &[], false)?, &Tensor::number(0.0))?;
//! let recording = Recording::begin();
//! let then = recording.finish(&[mul(&x, &Tensor::number(2.0))?])?;
//! let recording = Recording::begin();
//! let orelse = recording.finish(&[add(&x, &Tensor::number(1.0))?])?;
//! let y = region::cond(&condition, then, orelse)?;
//! assert_eq!(y[0].to_f64_vec()?, [2.0, -2.0]);
//! # Ok::<(), engine::Error>(())
//! ```
//!
//! **Invariant:** a region holds no tensors: what it reads from outside are operands of the op that runs it. So its text says all of it.

mod build;
mod fused;
mod gradient;
mod record;

#[cfg(test)]
mod tests;

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, Weak};

use smallvec::SmallVec;

use crate::attr::Region;
use crate::fastrun::{self, Strategy};
use crate::graph::{Graph, Kind, parse};
use crate::lower::{self, Plan};
use crate::op::Block;
use crate::rewrite::run::Log;
use crate::sync::Mutex;
use crate::{Device, Error, Meta, Result, Site, Tensor, passes};

pub use build::{Recorded, cond, while_loop};
pub use fused::Fused;
pub use record::{Paused, Recording, is_recording};

/// Parses the listing of a graph, those of its branches and loops included; `constants` are what it names `const(0)`, `const(1)` ...
pub fn parse(text: &str, constants: &[Tensor]) -> Result<Graph> {
    parse::parse_with(text, constants, region_of)
}

/// The region whose graph this is the listing of.
pub fn parse_region(text: &str) -> Result<Region> {
    region_of(&parse(text, &[])?)
}

/// A graph as a region. Graphs of one text whose ops stand at the same places are one region, so what was compiled for the first serves all.
pub fn region_of(graph: &Graph) -> Result<Region> {
    let plain =
        |kind: &Kind| matches!(kind, Kind::Input { .. } | Kind::Number(_) | Kind::Op { .. });
    if !graph.nodes().iter().all(|it| plain(&it.kind)) || !graph.stores.is_empty() {
        let problem =
            "a graph inside of another takes inputs, and holds no tensors, variables or stores";
        return Err(Error::Trace { problem: problem.into() });
    }
    let text = graph.to_string();
    let sites: SmallVec<[Site; 8]> = graph.nodes().iter().map(|it| it.origin.site).collect();
    let key = (text, sites);
    let known = KNOWN.with_borrow(|it| it.get(&key).and_then(Weak::upgrade));
    let block = known.unwrap_or_else(|| {
        let block = Arc::new(Compiled::new(graph));
        KNOWN.with_borrow_mut(|it| {
            if it.len() >= MOST {
                it.retain(|_, it| it.strong_count() > 0);
            }
            it.insert(key.clone(), Arc::downgrade(&block));
        });
        block
    });
    let pure = !graph.nodes().iter().any(|it| it.draws());
    let block: Arc<dyn Block> = block;
    Ok(Region::new(key.0, pure, Box::new(block)))
}

/// Regions that are remembered before those are looked for that nobody has any more.
const MOST: usize = 256;

type Key = (String, SmallVec<[Site; 8]>);

thread_local! {
    static KNOWN: RefCell<HashMap<Key, Weak<Compiled>>> = RefCell::default();
}

/// Which gradients of a region are asked for.
type Asked = (Vec<bool>, Vec<bool>, Vec<bool>);

/// A plan for a device, and how algorithms were chosen for it.
struct Planned {
    device: Device,
    strategy: Strategy,
    plan: Arc<Plan>,
}

/// A graph with its plans, and the gradients that were asked for.
struct Compiled {
    graph: Graph,
    inputs: Vec<Meta>,
    outputs: Vec<Meta>,
    /// The plans of the devices on which it has run.
    plans: Mutex<SmallVec<[Planned; 1]>>,
    gradients: Mutex<HashMap<Asked, Region>>,
}

impl Compiled {
    fn new(graph: &Graph) -> Self {
        let inputs = graph.inputs().iter().map(|&it| graph.node(it).metas[0].clone()).collect();
        let outputs = graph.outputs.iter().map(|&it| graph.meta(it).clone()).collect();
        let (plans, gradients) = Default::default();
        Self { graph: graph.clone(), inputs, outputs, plans, gradients }
    }

    /// The plan for a device, made when first needed, and anew once algorithms are chosen otherwise.
    fn plan(&self, device: Device) -> Result<Arc<Plan>> {
        let strategy = fastrun::strategy();
        let kept = || self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        let known = |it: &&Planned| it.device == device && it.strategy == strategy;
        if let Some(known) = kept().iter().find(known) {
            return Ok(known.plan.clone());
        }
        let mut graph = self.graph.clone();
        graph.device = device;
        let graph = passes::optimize(graph, 3, &mut Log::default())?;
        let plan = Arc::new(lower::compile(&graph, true)?);
        let mut plans = kept();
        plans.retain(|it| it.device != device);
        plans.push(Planned { device, strategy, plan: plan.clone() });
        Ok(plan)
    }
}

impl Block for Compiled {
    fn inputs(&self) -> &[Meta] {
        &self.inputs
    }

    fn outputs(&self) -> &[Meta] {
        &self.outputs
    }

    fn run(&self, device: Device, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        self.plan(device)?.run(inputs)
    }

    fn gradient(&self, wanted: &[bool], given: &[bool], summed: &[bool]) -> Result<Region> {
        let asked = (wanted.to_vec(), given.to_vec(), summed.to_vec());
        let lock = || self.gradients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&asked) {
            return Ok(known.clone());
        }
        let graph = gradient::gradient(&self.graph, wanted, given, summed)?;
        let region = region_of(&graph)?;
        lock().insert(asked, region.clone());
        Ok(region)
    }

    fn graph(&self) -> &(dyn Any + Send + Sync) {
        &self.graph
    }
}

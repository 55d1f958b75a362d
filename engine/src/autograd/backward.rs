//! The reverse walk: from roots to leaves over the gradient rules of the rows.
//!
//! **Invariant:** nodes are visited by descending id, so every gradient of a node has arrived before it is used. The walk
//! keeps its own list and never recurses.

use std::collections::BTreeMap;
use std::iter::repeat;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::elementwise::elementwise_grad;
use super::retained::{self, Retained};
use crate::apply::anomaly::{self, Watch};
use crate::apply::{apply_in_place, autocast, default_dtype, place};
use crate::functional::{add, full, to, unbroadcast};
use crate::interpreter::{self, Interpreter};
use crate::op::{Grad, GradCx};
use crate::scope::Entered;
use crate::tape::{self, Edge, Node, OpStep, Saved};
use crate::{Attrs, Device, Error, Result, Site, Tensor, ops};

pub use crate::interpreter::Root;

/// A place on the tape: node id, output.
pub type Place = (u64, u32);

/// Gradients by place.
type Found = FxHashMap<Place, Tensor>;

/// Walks back from `roots` and returns the gradient of every leaf reached, or of the `wanted` places. Leaves that keep something are
/// always among them. A walk to all leaves also reports the places that are retained, by their numbers in place of a node's.
///
/// Saved tensors are freed on the way unless `retain_graph` or `create_graph`. With `create_graph` the gradients are on
/// the tape themselves. Gradients have the dtype of their leaf.
pub fn backward(
    roots: &[Root],
    wanted: Option<&[Edge]>,
    retain_graph: bool,
    create_graph: bool,
) -> Result<Vec<(Place, Tensor)>> {
    let interpreter = interpreter::current();
    if interpreter.is_some_and(Interpreter::records_only) {
        let problem = "a function that calls backward() cannot be made into a file: a model file holds the way \
                       from inputs to outputs; dump a function that only predicts";
        return Err(Error::Trace { problem: problem.into() });
    }
    // A walk to all leaves may be one that a traced call has seen before.
    let is_plain = wanted.is_none()
        && !create_graph
        && retained::none()
        && anomaly::watch() == Watch::Nothing
        && roots.iter().all(|it| it.0.is_traced());
    let watcher = interpreter.filter(|_| is_plain);
    if let Some(watcher) = watcher
        && let Some(found) = watcher.take_walk(roots, retain_graph)?
    {
        return Ok(found.into_iter().map(|(id, grad)| ((id, 0), grad)).collect());
    }
    let begun = watcher.and_then(|it| Some((it, it.walk_begins()?)));
    let walk =
        autocast::left_alone(|| walk(roots, wanted, retain_graph, create_graph, begun.is_some()))?;
    let mut res: Vec<_> = walk.found.into_iter().collect();
    res.extend(walk.kept.into_iter().map(|(number, grad)| ((number, 0), grad)));
    res.sort_by_key(|it| it.0);
    if let Some((watcher, begun)) = begun {
        let by_leaf: Vec<_> = res.iter().map(|((id, _), grad)| (*id, grad.clone())).collect();
        watcher.walk_ends(&*begun, roots, retain_graph, &walk.passed, &by_leaf);
    }
    Ok(res)
}

/// The gradient of `roots` for each of `inputs`, leaves or not; `None` for an input they do not depend on.
pub fn grad(
    roots: &[Root],
    inputs: &[Tensor],
    retain_graph: bool,
    create_graph: bool,
) -> Result<Vec<Option<Tensor>>> {
    let edges = inputs.iter().map(|it| {
        it.edge().cloned().ok_or_else(|| Error::Backward {
            problem: "an input does not need gradients; make it with requires_grad=True".into(),
        })
    });
    let edges = edges.collect::<Result<Vec<_>>>()?;
    let walk = || walk(roots, Some(&edges), retain_graph, create_graph, false);
    let found = autocast::left_alone(walk)?.found;
    Ok(edges.iter().map(|it| found.get(&(it.id(), it.output)).cloned()).collect())
}

fn walk(
    roots: &[Root],
    wanted: Option<&[Edge]>,
    retain_graph: bool,
    create_graph: bool,
    watched: bool,
) -> Result<Walk> {
    let before = tape::set_enabled(create_graph);
    let walking = Walking::begin();
    let mut walk = Walk {
        watch: walking.watch,
        pending: BTreeMap::new(),
        wanted: wanted.map(|it| it.iter().map(|it| (it.id(), it.output)).collect()),
        on_path: wanted.map(|it| nodes_towards(roots, it)),
        keep: retain_graph || create_graph,
        found: Found::default(),
        retained: if wanted.is_none() { retained::all() } else { Retained::default() },
        kept: Vec::new(),
        watched,
        passed: Vec::new(),
    };
    let res = walk.start(roots).and_then(|()| walk.run());
    tape::set_enabled(before);
    res.map(|()| walk)
}

/// While it exists, a reverse walk is under way.
struct Walking {
    /// Where it was begun.
    site: Site,
    _scope: Entered,
    /// What is looked for: in its gradients, and not in the results of the ops that they are made by.
    watch: Watch,
}

impl Walking {
    fn begin() -> Self {
        interpreter::current().inspect(|it| it.walking(true));
        let watch = anomaly::set_watch(Watch::Nothing);
        Self { site: Site::here(), _scope: Entered::here(), watch }
    }
}

impl Drop for Walking {
    fn drop(&mut self) {
        self.site.enter();
        anomaly::set_watch(self.watch);
        interpreter::current().inspect(|it| it.walking(false));
    }
}

/// What waits for its turn: a node with the gradients of its outputs so far.
struct Arrived {
    node: Arc<Node>,
    grads: SmallVec<[Option<Tensor>; 1]>,
}

struct Walk {
    watch: Watch,
    pending: BTreeMap<u64, Arrived>,
    wanted: Option<FxHashSet<Place>>,
    /// Ids of nodes on a path to a wanted one, the wanted ones included.
    on_path: Option<FxHashSet<u64>>,
    keep: bool,
    found: Found,
    /// Places whose gradients are kept, and what came to them.
    retained: Retained,
    kept: Vec<(u64, Tensor)>,
    /// Whether `passed` is wanted: the nodes that the walk went through, in order.
    watched: bool,
    passed: Vec<Arc<Node>>,
}

impl Walk {
    fn start(&mut self, roots: &[Root]) -> Result<()> {
        for (root, grad) in roots {
            let Some(edge) = root.edge() else {
                let problem = "this value does not depend on anything that needs gradients";
                return Err(Error::Backward { problem: problem.into() });
            };
            let grad = seed(root, grad.as_ref())?;
            self.arrive(edge, grad)?;
        }
        Ok(())
    }

    fn run(&mut self) -> Result<()> {
        while let Some((id, arrived)) = self.pending.pop_last() {
            self.deliver(id, &arrived);
            if let Some(step) = &arrived.node.op {
                step.site.gradient().enter();
                if interpreter::active() {
                    step.scope.clone().enter();
                }
                self.pass(step, &arrived)?;
                if self.watched {
                    self.passed.push(arrived.node.clone());
                }
            }
        }
        Ok(())
    }

    /// Keeps what the caller asked for.
    fn deliver(&mut self, id: u64, arrived: &Arrived) {
        for (output, grad) in arrived.grads.iter().enumerate() {
            let place = (id, output as u32);
            let asked = match &self.wanted {
                Some(wanted) => wanted.contains(&place) || arrived.node.kept.is_some(),
                None => arrived.node.op.is_none(),
            };
            if let (true, Some(grad)) = (asked, grad) {
                self.found.insert(place, grad.clone());
            }
            if let (Some(number), Some(grad)) = (self.retained.get(&place), grad) {
                self.kept.push((*number, grad.clone()));
            }
        }
    }

    /// Sends the gradients of one step to the steps that fed it.
    fn pass(&mut self, step: &OpStep, arrived: &Arrived) -> Result<()> {
        let needs: SmallVec<[bool; 4]> =
            step.edges.iter().map(|it| it.as_ref().is_some_and(|it| self.leads_on(it))).collect();
        if !needs.contains(&true) {
            return Ok(());
        }
        let Some(saved) = step.saved(self.keep) else {
            return Err(Error::Freed { op: step.op.name });
        };
        let mut devices = arrived.grads.iter().flatten().map(Tensor::device);
        let device = devices.find(|it| *it != Device::Cpu).unwrap_or_default();
        let mut sums = self.sums_for(step, &needs);
        let mut grads = || input_grads(step, &saved, arrived, (&needs, &mut sums));
        let grads: Vec<Option<Tensor>> = match device {
            Device::Cpu => grads()?,
            Device::Cuda(_) => place::inside(device, grads)?,
            Device::Meta => {
                let grads = place::inside(device, grads)?;
                grads.into_iter().map(|it| it.map(|it| it.to_meta())).collect()
            }
        };
        if self.watch != Watch::Nothing {
            let edge = Edge { node: arrived.node.clone(), output: 0 };
            anomaly::check_gradients(
                self.watch,
                step,
                &edge,
                &arrived.grads,
                &saved.inputs,
                &grads,
            )?;
        }
        let grads = grads.into_iter().zip(sums.into_iter().chain(repeat(None)));
        for ((edge, (grad, sum)), input) in step.edges.iter().zip(grads).zip(&saved.inputs) {
            if let (Some(edge), Some(grad)) = (edge, grad.or(sum)) {
                let same = grad.dtype() == input.dtype();
                let grad = if same { grad } else { to(&grad, input.dtype())? };
                self.arrive(edge, grad)?;
            }
        }
        Ok(())
    }

    /// What a step goes on from is taken out of what waits: what it gives stands in its place.
    fn sums_for(&mut self, step: &OpStep, needs: &[bool]) -> SmallVec<[Option<Tensor>; 4]> {
        if !matches!(step.op.grad, Grad::Onto(..)) {
            return SmallVec::new();
        }
        let edges =
            step.edges.iter().zip(needs).map(|(edge, needed)| edge.as_ref().filter(|_| *needed));
        let mut waiting =
            |edge: &Edge| self.pending.get_mut(&edge.id())?.grads[edge.output as usize].take();
        edges.map(|edge| edge.and_then(&mut waiting)).collect()
    }

    fn leads_on(&self, edge: &Edge) -> bool {
        self.on_path.as_ref().is_none_or(|it| it.contains(&edge.id()))
    }

    fn arrive(&mut self, edge: &Edge, grad: Tensor) -> Result<()> {
        let n_outputs = edge.node.op.as_ref().map_or(1, |it| it.n_outputs as usize);
        let arrived = self.pending.entry(edge.id()).or_insert_with(|| Arrived {
            node: edge.node.clone(),
            grads: SmallVec::from_elem(None, n_outputs),
        });
        let slot = &mut arrived.grads[edge.output as usize];
        *slot = Some(match slot.take() {
            Some(sum) => sum_of(sum, grad)?,
            None => grad,
        });
        Ok(())
    }
}

/// Elements from which on a sum of gradients is worth a look at who else sees them.
const MANY: usize = 1 << 12;

/// The sum of two gradients of a place, where the first lies if it has many elements and nobody else sees them.
fn sum_of(mut sum: Tensor, grad: Tensor) -> Result<Tensor> {
    let (plus, given) = (&ops::binary::add::OP, std::slice::from_ref(&grad));
    if sum.numel() >= MANY && apply_in_place(plus, &mut sum, None, given, &Attrs::new())? {
        return Ok(sum);
    }
    add(&sum, &grad)
}

/// The gradient a root starts with.
fn seed(root: &Tensor, grad: Option<&Tensor>) -> Result<Tensor> {
    match grad {
        Some(grad) if grad.shape() == root.shape() => {
            if grad.dtype() == root.dtype() {
                Ok(grad.clone())
            } else {
                to(grad, root.dtype())
            }
        }
        Some(grad) => Err(Error::Backward {
            problem: format!(
                "the gradient has shape {}, but the value has shape {}",
                grad.shape(),
                root.shape()
            ),
        }),
        None if root.numel() != 1 => Err(Error::Backward {
            problem: format!(
                "a gradient can start from a single number only, this value has shape {}; sum it first or pass a gradient",
                root.shape()
            ),
        }),
        None if root.dtype().is_complex() => Err(Error::Backward {
            problem: format!(
                "grad can be implicitly created only for real scalar outputs but got torch.{}; take abs(), .real or .imag, or pass a \
                 gradient",
                root.dtype()
            ),
        }),
        None if root.is_abstract() => Ok(Tensor::abstract_on(root.device(), root.meta())),
        None if root.is_meta() => Ok(Tensor::on_meta(root.meta())),
        None => place::making_on(root.device(), || full(root.shape(), 1.0, root.dtype())),
    }
}

/// One gradient per input of a step; `None` where none is needed or none flows.
fn input_grads(
    step: &OpStep,
    saved: &Saved,
    arrived: &Arrived,
    (needs, sums): (&[bool], &mut [Option<Tensor>]),
) -> Result<Vec<Option<Tensor>>> {
    let outputs: SmallVec<[Tensor; 1]> = (0_u32..)
        .zip(&saved.outputs)
        .map(|(output, it)| it.with_edge(Some(Edge { node: arrived.node.clone(), output })))
        .collect();
    default_dtype::left_alone(|| match step.op.grad {
        Grad::Rule(rule, _) | Grad::Onto(rule, _) => rule(&mut GradCx {
            op: step.op,
            attrs: &step.attrs,
            inputs: &saved.inputs,
            outputs: &outputs,
            output_grads: &arrived.grads,
            needs,
            sums,
        }),
        Grad::Derived => derived(step, (&saved.inputs, &outputs), &arrived.grads, needs),
        Grad::Stops(reason) => Err(Error::NoGradient { op: step.op.name, reason }),
    })
}

/// Gradients of an elementwise op, from its expression.
fn derived(
    step: &OpStep,
    (inputs, outputs): (&[Tensor], &[Tensor]),
    grads: &[Option<Tensor>],
    needs: &[bool],
) -> Result<Vec<Option<Tensor>>> {
    let Some(Some(dy)) = grads.first() else { return Ok(vec![None; needs.len()]) };
    let of = |(idx, needed): (usize, &bool)| {
        if !needed {
            return Ok(None);
        }
        let dx = elementwise_grad(step.op, (inputs, &outputs[0]), &step.attrs, dy, idx)?;
        unbroadcast(&dx, inputs[idx].shape()).map(Some)
    };
    needs.iter().enumerate().map(of).collect()
}

/// Ids of the nodes that are wanted or lead to a wanted one.
fn nodes_towards(roots: &[Root], wanted: &[Edge]) -> FxHashSet<u64> {
    let lowest = wanted.iter().map(Edge::id).min().unwrap_or(u64::MAX);
    let mut res: FxHashSet<u64> = wanted.iter().map(Edge::id).collect();
    let mut seen: BTreeMap<u64, Arc<Node>> = BTreeMap::new();
    let mut rest: Vec<Edge> = roots.iter().filter_map(|it| it.0.edge().cloned()).collect();
    while let Some(edge) = rest.pop() {
        if edge.id() < lowest || seen.contains_key(&edge.id()) {
            continue;
        }
        if let Some(step) = &edge.node.op {
            rest.extend(step.edges.iter().flatten().cloned());
        }
        if edge.node.kept.is_some() {
            res.insert(edge.id());
        }
        seen.insert(edge.id(), edge.node);
    }
    for (id, node) in seen {
        let Some(step) = &node.op else { continue };
        if step.edges.iter().flatten().any(|it| res.contains(&it.id())) {
            res.insert(id);
        }
    }
    res
}

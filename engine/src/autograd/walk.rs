//! One reverse walk.
//!
//! **Invariant:** nodes are visited by descending id, so every gradient of a node has arrived before it is used. The walk
//! keeps its own list and never recurses.
//!
//! **Invariant:** where the walk stands still, nothing of it is in force: whoever answers has the modes and the place of who began it.

use std::collections::BTreeMap;
use std::iter::repeat;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::backward::{How, Place, Root};
use super::rules::input_grads;
use crate::apply::anomaly::{self, Watch};
use crate::apply::{apply_in_place, autocast, place};
use crate::functional::{add, full, to};
use crate::interpreter;
use crate::op::Grad;
use crate::scope::Entered;
use crate::tape::{self, Edge, Kept, Node, OpStep, Origin};
use crate::{Attrs, Device, Error, Result, Site, Tensor, ops};

/// Where a walk stands still for somebody else, who says with which gradients it goes on.
pub enum Stop {
    /// The gradient of a value that is watched: the walk goes on with the one of the answer. `watcher` is what [`Edge::watch`] was given.
    Passing { watcher: Kept, grad: Tensor },
    /// A step that is no op has the gradients of its outputs, `None` where none came: the answer has those of its inputs, `None` where
    /// none flows. `edge` is its first output.
    Step { edge: Edge, grads: Vec<Option<Tensor>> },
}

/// Gradients by place.
pub(super) type Found = FxHashMap<Place, Tensor>;

/// What waits for its turn: a node with the gradients of its outputs so far.
struct Arrived {
    node: Arc<Node>,
    grads: SmallVec<[Option<Tensor>; 1]>,
}

/// A node whose turn it is.
struct Turn {
    at: Arrived,
    /// Whether the walk goes on from there to a place that is wanted.
    leads_on: bool,
    /// Outputs whose watchers were asked, and the one of them that an answer is awaited for.
    n_shown: usize,
    awaited: Option<usize>,
}

/// A walk that was begun.
pub(super) struct Walk {
    pending: BTreeMap<u64, Arrived>,
    /// Where it stands still.
    turn: Option<Turn>,
    wanted: Option<FxHashSet<Place>>,
    /// Ids of nodes on a path to a wanted one, the wanted ones included.
    on_path: Option<FxHashSet<u64>>,
    create_graph: bool,
    keep: bool,
    found: Found,
    /// What is looked for in the gradients.
    watch: Watch,
    /// Whether `passed` is wanted: the nodes that the walk went through, in order.
    watched: bool,
    passed: Vec<Arc<Node>>,
}

impl Walk {
    /// A walk that stands at its roots. `watched` says that somebody wants to know the nodes that it passes.
    pub(super) fn begin(roots: &[Root], how: How<'_>, watched: bool) -> Result<Self> {
        let wanted = how.wanted;
        let mut walk = Self {
            pending: BTreeMap::new(),
            turn: None,
            wanted: wanted.map(|it| it.iter().map(Edge::place).collect()),
            on_path: wanted.map(|it| nodes_towards(roots, it)),
            create_graph: how.create_graph,
            keep: how.retain_graph || how.create_graph,
            found: Found::default(),
            watch: anomaly::watch(),
            watched,
            passed: Vec::new(),
        };
        walk.moving(|it| it.start(roots))?;
        Ok(walk)
    }

    /// Goes on to the next stop; `None` at the end.
    pub(super) fn advance(&mut self) -> Result<Option<Stop>> {
        self.moving(Self::run)
    }

    /// Takes the answer to a stop.
    pub(super) fn go_on_with(&mut self, answer: Vec<Option<Tensor>>) -> Result<()> {
        self.moving(|it| it.take_answer(answer))
    }

    /// The gradients that were found, and the nodes passed.
    pub(super) fn end(self) -> (Found, Vec<Arc<Node>>) {
        (self.found, self.passed)
    }

    /// Runs a part of the walk.
    fn moving<R>(&mut self, body: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        autocast::left_alone(|| {
            let before = tape::set_enabled(self.create_graph);
            let walking = Walking::begin();
            let res = body(self);
            drop(walking);
            tape::set_enabled(before);
            res
        })
    }

    fn start(&mut self, roots: &[Root]) -> Result<()> {
        for (root, grad) in roots {
            let Some(edge) = root.edge() else {
                let problem = "this value does not depend on anything that needs gradients";
                return Err(Error::Backward { problem: problem.into() });
            };
            let grad = seed(root, grad.as_ref())?;
            if self.leads_on(edge) {
                self.arrive(edge, grad)?;
            }
        }
        Ok(())
    }

    fn run(&mut self) -> Result<Option<Stop>> {
        while let Some(mut turn) = self.turn.take().or_else(|| self.next_turn()) {
            if let Some(stop) = turn.next_watcher() {
                self.turn = Some(turn);
                return Ok(Some(stop));
            }
            if !turn.leads_on {
                self.deliver(&turn);
            }
            match &turn.at.node.origin {
                Origin::Leaf => {}
                Origin::Op(step) => {
                    step.site.gradient().enter();
                    if interpreter::active() {
                        step.scope.clone().enter();
                    }
                    self.pass(step, &turn.at)?;
                    if self.watched {
                        self.passed.push(turn.at.node);
                    }
                }
                Origin::Foreign(_) if self.wanted.is_some() && !turn.leads_on => {}
                Origin::Foreign(_) => {
                    let edge = Edge { node: turn.at.node.clone(), output: 0 };
                    let grads = turn.at.grads.to_vec();
                    self.turn = Some(turn);
                    return Ok(Some(Stop::Step { edge, grads }));
                }
            }
        }
        Ok(None)
    }

    fn next_turn(&mut self) -> Option<Turn> {
        let (_, at) = self.pending.pop_last()?;
        let leads_on =
            self.wanted.is_some() && at.node.edges().flatten().any(|it| self.leads_on(it));
        let turn = Turn { at, leads_on, n_shown: 0, awaited: None };
        // What watchers of such a place make of a gradient is for what comes after, as in PyTorch.
        if turn.leads_on {
            self.deliver(&turn);
        }
        Some(turn)
    }

    /// Goes on from where the walk stands still.
    fn take_answer(&mut self, answer: Vec<Option<Tensor>>) -> Result<()> {
        let Some(mut turn) = self.turn.take() else { return Ok(()) };
        if let Some(output) = turn.awaited.take() {
            let grad = &mut turn.at.grads[output];
            if let (Some(Some(given)), Some(before)) = (answer.first(), &grad) {
                *grad = Some(fitting(given, before)?);
            }
            self.turn = Some(turn);
            return Ok(());
        }
        let Origin::Foreign(step) = &turn.at.node.origin else { return Ok(()) };
        for (input, grad) in step.inputs.iter().zip(answer) {
            if let (Some(edge), Some(grad)) = (input.edge(), grad)
                && self.leads_on(edge)
            {
                self.arrive(edge, fitting(&grad, input)?)?;
            }
        }
        Ok(())
    }

    /// Keeps what the caller asked for.
    fn deliver(&mut self, turn: &Turn) {
        let node = &turn.at.node;
        for (output, grad) in (0_u32..).zip(&turn.at.grads) {
            let place = (node.id, output);
            let asked = match &self.wanted {
                Some(wanted) => wanted.contains(&place),
                None => matches!(node.origin, Origin::Leaf),
            };
            if let (true, Some(grad)) = (asked, grad) {
                self.found.insert(place, grad.clone());
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
        let mut grads =
            || input_grads(step, &saved, (&arrived.node, &arrived.grads), (&needs, &mut sums));
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
        let n_outputs = edge.node.n_outputs();
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

impl Turn {
    /// The next output that has a gradient which somebody watches.
    fn next_watcher(&mut self) -> Option<Stop> {
        let watchers = self.at.node.watchers.get()?;
        while let Some(grad) = self.at.grads.get(self.n_shown) {
            let output = self.n_shown;
            self.n_shown += 1;
            if let (Some(watcher), Some(grad)) = (watchers.of(output as u32), grad) {
                self.awaited = Some(output);
                return Some(Stop::Passing { watcher, grad: grad.clone() });
            }
        }
        None
    }
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
        Some(grad) => fitting(grad, root),
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

/// A gradient that somebody gave, in the dtype of what it is that of.
fn fitting(grad: &Tensor, of: &Tensor) -> Result<Tensor> {
    if grad.shape() != of.shape() {
        return Err(Error::Backward {
            problem: format!(
                "the gradient has shape {}, but the value has shape {}",
                grad.shape(),
                of.shape()
            ),
        });
    }
    if grad.dtype() == of.dtype() { Ok(grad.clone()) } else { to(grad, of.dtype()) }
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
        rest.extend(edge.node.edges().flatten().cloned());
        seen.insert(edge.id(), edge.node);
    }
    for (id, node) in seen {
        if node.edges().flatten().any(|it| res.contains(&it.id())) {
            res.insert(id);
        }
    }
    res
}

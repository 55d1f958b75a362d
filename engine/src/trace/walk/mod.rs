//! A reverse walk as one event: what a call has seen before it takes at once, without applying the walk's ops one by one.
//!
//! Which ops a walk applies follows from the piece of tape that it goes over. An event keeps that piece, each node by the
//! step that made it. When the tape of the running call is the same piece, the cursor passes all ops of the walk, and
//! the gradients of the leaves are the only values that come to be.
//!
//! **Invariant:** where the ops of an event read a value, every call saved that very value on the tape. So no event is made
//! while two values are one by chance: nobody could tell which of them the ops read.

mod keep;

use smallvec::SmallVec;

use crate::interpreter::Root;
use crate::op::Body;
use crate::tape::Mark;
use crate::tape::{Edge, Node};
use crate::trace::call::{Mode, State};
use crate::trace::identity::Slot;
use crate::trace::matching::deliver_later;
use crate::trace::tree::{Ref, StepId};
use crate::{Meta, OpDef, Result, Tensor};

/// The walks that begin at a step.
#[derive(Default)]
pub(super) struct Events {
    kept: Vec<Event>,
    tried: usize,
}

#[cfg(test)]
impl Events {
    /// Takes the gradients of leaves for each other.
    pub(super) fn spoil(&mut self) {
        self.kept.iter_mut().for_each(|it| it.grads.reverse());
    }
}

/// A walk that was seen.
struct Event {
    retain: bool,
    roots: SmallVec<[(Target, Meta); 1]>,
    /// In the order of the walk: a node's edges lead to later ones.
    nodes: Vec<Passed>,
    n_leaves: usize,
    /// The last op of the walk.
    end: StepId,
    n_steps: usize,
    n_results: usize,
    /// One per leaf.
    grads: Vec<Grad>,
    /// Results that are views of values from before the walk; others may have the same view.
    views: Vec<Made>,
    /// Values from before the walk that its ops read.
    reads: Vec<Read>,
}

/// A node that the walk went through.
struct Passed {
    step: StepId,
    edges: SmallVec<[Target; 3]>,
}

/// Where an edge of the tape leads.
#[derive(Clone, Copy)]
enum Target {
    /// There is no edge: no gradient is needed.
    Nowhere,
    /// No gradient went along it.
    Unused,
    Node {
        at: u32,
        output: u32,
    },
    Leaf(u32),
}

/// How the gradient of a leaf is made: a result of the walk, and views from it on.
type Grad = SmallVec<[Made; 1]>;

/// One result of the walk.
#[derive(Clone, Copy)]
struct Made {
    /// Counted from the walk's first.
    result: u32,
    step: StepId,
    output: u32,
}

/// A value that ops of the walk read.
struct Read {
    value: Ref,
    /// Where the tape saved it, if it did: a node, and which of its inputs and then outputs.
    saved: Option<(u32, u32)>,
}

/// A walk that is known and done all the same, as it is compared with what is known.
pub(in crate::trace) struct Foreseen {
    event: usize,
    /// The leaves that it leads to.
    leaves: SmallVec<[u64; 8]>,
}

/// Where a call stood when a walk began.
pub(crate) struct Begun {
    cursor: StepId,
    n_results: usize,
    settled: usize,
}

impl State {
    /// Takes a walk that an earlier call did on the same piece of tape: the gradients by id of the leaf.
    pub(in crate::trace) fn take_walk(
        &mut self,
        roots: &[Root],
        retain: bool,
    ) -> Result<Option<Vec<(u64, Tensor)>>> {
        if self.mode != Mode::Replay {
            return Ok(None);
        }
        let begin = self.cursor;
        let known = self.tree.step(begin).events.kept.iter().enumerate();
        let found = known.filter(|it| it.1.retain == retain).find_map(|(at, event)| {
            let tape = event.compare(roots, self.call)?;
            let late = self.late(&event.reads, &tape)?;
            Some((at, tape, late))
        });
        let Some((at, tape, late)) = found else { return Ok(None) };
        if let Some(beside) = &mut self.beside {
            beside.foreseen = Some(Foreseen { event: at, leaves: tape.leaves });
            return Ok(None);
        }
        for (value, tensor) in late {
            match value {
                Ref::Capture(at) => {
                    self.held.push(value);
                    self.captures[at as usize].hold(&tensor);
                }
                Ref::Result(at) => {
                    self.held.push(value);
                    self.results[at as usize].hold(&tensor);
                }
                Ref::Arg(_) | Ref::Number(_) | Ref::Fed(_) => {}
            }
        }
        if !retain {
            tape.release();
        }
        let mut found: Vec<_> = tape.leaves.into_iter().zip(self.pass(begin, at)?).collect();
        found.sort_by_key(|it| it.0);
        Ok(Some(found))
    }

    /// What the walk reads and the current segment does not hold: values of earlier segments, as the tape saved them. `None` if
    /// one is not there.
    fn late(&self, reads: &[Read], tape: &Tape<'_>) -> Option<SmallVec<[(Ref, Tensor); 4]>> {
        let mut late = SmallVec::new();
        for read in reads {
            let held = match read.value {
                Ref::Capture(at) => self.captures.get(at as usize)?.held.is_some(),
                Ref::Result(at) => {
                    at as usize >= self.settled || self.results[at as usize].held.is_some()
                }
                Ref::Arg(_) | Ref::Number(_) | Ref::Fed(_) => true,
            };
            if !held {
                late.push((read.value, tape.saved(read.saved?)?));
            }
        }
        Some(late)
    }

    /// Moves the cursor behind a walk; gives the gradients of its leaves, which are to come.
    fn pass(&mut self, begin: StepId, at: usize) -> Result<Vec<Tensor>> {
        let event = &self.tree.steps[begin as usize].events.kept[at];
        let first = self.results.len();
        self.results.resize_with(first + event.n_results, Slot::gone);
        let mut values: SmallVec<[Option<Tensor>; 32]> = SmallVec::new();
        values.resize(event.n_results, None);
        let mut grads = Vec::with_capacity(event.grads.len());
        for route in &event.grads {
            let mut before: Option<Tensor> = None;
            for made in route {
                let place = &mut values[made.result as usize];
                if place.is_none() {
                    let step = &self.tree.steps[made.step as usize];
                    let out = &step.outputs[made.output as usize];
                    let tensor = deliver_later(step, out, before.as_slice())?;
                    let slot = &mut self.results[first + made.result as usize];
                    *slot = Slot::of_result(&tensor, out.alias);
                    *place = Some(tensor);
                }
                before.clone_from(place);
            }
            grads.extend(before);
        }
        for made in &event.views {
            if let Some(slot) = self.view(made) {
                self.results[first + made.result as usize] = slot;
            }
        }
        self.stats.replayed += event.n_steps;
        self.stats.walks += 1;
        self.walked = true;
        self.cursor = event.end;
        Ok(grads)
    }

    /// Whether a walk that began there has done what was known of it: it came to the same step, and to these gradients by leaf.
    pub(in crate::trace) fn is_as_foreseen(
        &self,
        begun: &Begun,
        foreseen: &Foreseen,
        found: &[(u64, Tensor)],
    ) -> bool {
        let event = &self.tree.step(begun.cursor).events.kept[foreseen.event];
        let is_grad = |(leaf, route): (&u64, &Grad)| {
            let place = route.last().map(|it| begun.n_results + it.result as usize);
            let slot = place.and_then(|it| self.results.get(it));
            let grad = found.iter().find(|it| it.0 == *leaf);
            matches!((slot, grad), (Some(slot), Some((_, grad))) if slot.is(grad))
        };
        self.cursor == event.end
            && self.results.len() == begun.n_results + event.n_results
            && found.len() == foreseen.leaves.len()
            && foreseen.leaves.iter().zip(&event.grads).all(is_grad)
    }

    /// The slot of a view, whose base has one.
    fn view(&self, made: &Made) -> Option<Slot> {
        let step = self.tree.step(made.step);
        let base = self.slot(step.inputs[0])?;
        let out = &step.outputs[made.output as usize];
        let Some(OpDef { body: Body::View(view), .. }) = step.op else { return None };
        let layout = view(&base.layout, &step.attrs, &out.layout.shape)?;
        let root = base.root.clone();
        let (dtype, device) = (out.dtype, base.device);
        Some(Slot { layout, dtype, device, owns: false, held: None, root, leaf: 0 })
    }

    fn slot(&self, value: Ref) -> Option<&Slot> {
        match value {
            Ref::Arg(at) => self.args.get(at as usize),
            Ref::Capture(at) => self.captures.get(at as usize),
            Ref::Result(at) => self.results.get(at as usize),
            Ref::Number(_) | Ref::Fed(_) => None,
        }
    }
}

impl Event {
    /// The tape behind `roots`, if it is the piece of this event and nothing of it is used up.
    fn compare<'a>(&self, roots: &'a [Root], call: u64) -> Option<Tape<'a>> {
        if roots.len() != self.roots.len() {
            return None;
        }
        let mut tape = Tape {
            nodes: SmallVec::from_elem(None, self.nodes.len()),
            leaves: SmallVec::from_elem(0, self.n_leaves),
        };
        for ((root, grad), (target, meta)) in roots.iter().zip(&self.roots) {
            let alike = root.shape() == &meta.shape && root.dtype() == meta.dtype;
            let fits = grad.is_none() && alike && self.meets(&mut tape, *target, root.edge(), call);
            fits.then_some(())?;
        }
        for (at, passed) in self.nodes.iter().enumerate() {
            let op = tape.nodes[at]?.op()?;
            let mut edges = op.edges.iter().zip(&passed.edges);
            let fits = op.edges.len() == passed.edges.len() && op.has_saved();
            let fits = fits && edges.all(|it| self.meets(&mut tape, *it.1, it.0.as_ref(), call));
            fits.then_some(())?;
        }
        let mut sorted = tape.leaves.clone();
        sorted.sort_unstable();
        let apart = sorted.first() != Some(&0) && sorted.windows(2).all(|it| it[0] != it[1]);
        apart.then_some(tape)
    }

    /// Whether `edge` leads where `target` says.
    fn meets<'a>(
        &self,
        tape: &mut Tape<'a>,
        target: Target,
        edge: Option<&'a Edge>,
        call: u64,
    ) -> bool {
        match (target, edge) {
            (Target::Nowhere, None) => true,
            (Target::Nowhere, Some(_)) | (_, None) => false,
            (_, Some(edge)) if edge.stops_walks() => false,
            (Target::Unused, Some(_)) => true,
            (Target::Node { at, output }, Some(edge)) => {
                let mark = Mark::new(call, self.nodes[at as usize].step);
                tape.nodes[at as usize] = Some(&edge.node);
                edge.node.mark == mark && edge.output == output
            }
            (Target::Leaf(at), Some(edge)) => {
                let leaf = &mut tape.leaves[at as usize];
                let same = *leaf == 0 || *leaf == edge.id();
                *leaf = edge.id();
                same && edge.is_leaf()
            }
        }
    }
}

/// The nodes and leaves that stand where those of an event stood.
struct Tape<'a> {
    nodes: SmallVec<[Option<&'a Node>; 16]>,
    /// Ids; 0 where none is found yet.
    leaves: SmallVec<[u64; 8]>,
}

impl Tape<'_> {
    /// A tensor that a node saved.
    fn saved(&self, (node, at): (u32, u32)) -> Option<Tensor> {
        let saved = self.nodes[node as usize]?.op()?.saved(true)?;
        let tensor = saved.inputs.iter().chain(&saved.outputs).nth(at as usize)?;
        (!tensor.is_abstract()).then(|| tensor.clone())
    }

    /// Takes away what the nodes saved, as the walk would.
    fn release(&self) {
        for op in self.nodes.iter().flatten().filter_map(|it| it.op()) {
            op.saved(false);
        }
    }
}

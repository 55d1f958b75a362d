//! Stores that are written where their variables lie: parameters and the state of optimisers take no second buffer.
//!
//! What is written so is lost when it is overwritten, and a run that comes to nothing leaves all as it was. So these launches, and what
//! reads what they make, come last, and only what cannot fail is among them; whoever runs the plan hears before them what it has come to.

use std::cell::Cell;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::compile::{Compiler, Draft, Given};
use super::plan::{Delivery, Work};
use crate::graph::{Graph, Kind, Store, Value};
use crate::op::Kernel;
use crate::{Device, Meta};

thread_local! {
    /// Bytes of a variable from which on it is written where it lies. What is smaller is in the cache, and a launch of its own costs more
    /// than a buffer.
    static LEAST: Cell<usize> = const { Cell::new(if cfg!(test) { 1 } else { WORTH_WRITING_ONTO }) };
}

/// What [`write_onto_from`] is set to at first.
pub const WORTH_WRITING_ONTO: usize = 1 << 20;

/// Has plans that this thread compiles write variables of so many bytes and more where they lie: for tests, whose tensors are small.
pub fn write_onto_from(bytes: usize) {
    LEAST.set(bytes);
}

/// Bytes of a variable from which on plans that this thread compiles write it where it lies.
pub(super) fn worth_writing_onto() -> usize {
    LEAST.get()
}

/// A store that is written where its variable lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Onto {
    /// Which store of the graph.
    pub store: usize,
    /// The variable among the inputs.
    pub(super) input: usize,
    /// The buffer that would outlive the run.
    pub(super) kept: usize,
}

/// What a plan writes where it lies.
#[derive(Clone, Debug, Default)]
pub(super) struct Ontos {
    /// By buffer.
    pub(super) all: Vec<Onto>,
    /// The first launch that may do so.
    pub(super) from: usize,
}

/// Whether a store may be written where its variable lies, as far as the graph tells: nobody else gets the value.
fn may_be(graph: &Graph, store: Store) -> bool {
    let variable = graph.node(store.variable);
    let (Kind::Variable { layout }, Meta { dtype, .. }) = (&variable.kind, &variable.metas[0])
    else {
        return false;
    };
    let value = graph.meta(store.value);
    let is_alike = value.shape == layout.shape && value.dtype == *dtype;
    is_alike
        && layout.is_contiguous()
        && value.bytes() >= worth_writing_onto()
        && graph.results().filter(|it| *it == store.value).count() == 1
}

/// The stores that may be written where their variables lie, of those that `may` allows.
pub(super) fn stores_that_may(graph: &Graph, may: &dyn Fn(usize) -> bool) -> Vec<usize> {
    let is_one = |it: &usize| may_be(graph, graph.stores[*it]) && may(*it);
    let is_on_cpu = graph.device == Device::Cpu;
    (0..graph.stores.len()).filter(|_| is_on_cpu).filter(is_one).collect()
}

/// Nodes that nothing waits for but these stores: they may run last.
pub(super) fn late_nodes(graph: &Graph, stores: &[usize]) -> Vec<bool> {
    let mut late = vec![false; graph.nodes().len()];
    let stored: FxHashSet<Value> = stores.iter().map(|it| graph.stores[*it].value).collect();
    let results: FxHashSet<Value> = graph.results().collect();
    let users = graph.users();
    for (id, node) in graph.nodes().iter().enumerate().rev() {
        let value = Value::of(id as u32);
        let is_elementwise = node.op().is_some_and(|op| op.body.is_elementwise());
        let leaves = results.contains(&value) && !stored.contains(&value);
        late[id] = is_elementwise
            && !node.draws()
            && !leaves
            && users[id].iter().all(|&it| late[it as usize]);
    }
    late
}

impl Compiler<'_> {
    /// Has those of the stores written where their variables lie that can be, and these launches come last.
    pub(super) fn write_onto(&mut self, stores: &[usize], deliveries: &[Delivery]) -> Ontos {
        let mut all = self.stores_onto(stores, deliveries);
        let mut last = self.last(&all);
        loop {
            let n = all.len();
            all.retain(|it| self.is_overwritten_last(it, &last));
            if let Some(outside) = self.first_that_may_not_wait(&last, deliveries) {
                let leads_there = |it: &Onto| {
                    let writer = FxHashSet::from_iter([self.writer(it)]);
                    self.with_followers(writer).contains(&outside)
                };
                all.retain(|it| !leads_there(it));
            }
            if all.len() == n {
                break;
            }
            last = self.last(&all);
        }
        if all.is_empty() {
            return Ontos::default();
        }
        all.iter().for_each(|it| self.replace(it));
        let drafts = std::mem::take(&mut self.drafts).into_iter().enumerate();
        let (behind, before): (Vec<_>, Vec<_>) = drafts.partition(|it| last.contains(&it.0));
        let from = before.len();
        self.drafts = before.into_iter().chain(behind).map(|it| it.1).collect();
        self.follow_slots();
        all.sort_by_key(|it| it.kept);
        Ontos { all, from }
    }

    /// The stores whose values a launch makes that can write them over what it reads of their variables.
    fn stores_onto(&self, stores: &[usize], deliveries: &[Delivery]) -> Vec<Onto> {
        let n_outputs = self.graph.outputs.len();
        let kept_of = |it: &Delivery| match it {
            Delivery::Kept(at, _) => Some(*at),
            _ => None,
        };
        let mut all = Vec::new();
        for &store in stores {
            let input = self.input_at(self.graph.stores[store].variable);
            let Some(kept) = kept_of(&deliveries[n_outputs + store]) else { continue };
            let shares = deliveries.iter().filter(|it| kept_of(it) == Some(kept)).count() > 1;
            let leaves = |it: &Delivery| matches!(it, Delivery::Input(at, _) if *at == input);
            let onto = Onto { store, input, kept };
            if !shares && !deliveries.iter().any(leaves) && self.can_replace(&onto) {
                all.push(onto);
            }
        }
        all
    }

    /// The slot of a buffer that outlives the run.
    fn slot_kept(&self, kept: usize) -> Option<usize> {
        self.slots.iter().position(|it| it.kept == Some(kept))
    }

    /// The launch that makes what is stored.
    fn writer(&self, onto: &Onto) -> usize {
        self.slot_kept(onto.kept).map_or(0, |it| self.slots[it].from)
    }

    /// Whether the launch that makes what is stored can write it over the variable.
    fn can_replace(&self, onto: &Onto) -> bool {
        let Some(slot) = self.slot_kept(onto.kept) else { return false };
        let draft = &self.drafts[self.slots[slot].from];
        let reads: SmallVec<[usize; 2]> = draft.reads_of(onto.input).collect();
        let numel = self.slots[slot].meta.shape.numel();
        let is_flat = |at: &usize| draft.inputs[*at].is_all_of_input(onto.input, numel);
        match &draft.work {
            Work::Lanes { .. } => reads.len() <= 1 && reads.iter().all(is_flat),
            Work::Kernel { .. } => reads[..] == [0] && is_flat(&0),
            _ => false,
        }
    }

    /// The launches that write such stores, and all that wait for what they make.
    fn last(&self, all: &[Onto]) -> FxHashSet<usize> {
        self.with_followers(all.iter().map(|it| self.writer(it)).collect())
    }

    /// Some launches, and all that have to come after one of them: they read or change what one makes, or change what one reads.
    fn with_followers(&self, mut all: FxHashSet<usize>) -> FxHashSet<usize> {
        let mut read_places: FxHashSet<usize> = FxHashSet::default();
        for (at, draft) in self.drafts.iter().enumerate() {
            let read = || draft.inputs.iter().filter_map(Given::slot);
            let changed = || draft.outputs.iter().filter_map(|it| self.slots[*it].instead_of);
            let follows = read().chain(changed()).any(|it| all.contains(&self.slots[it].from))
                || changed().any(|it| read_places.contains(&self.place_of(it)));
            if follows || all.contains(&at) {
                all.insert(at);
                read_places.extend(read().map(|it| self.place_of(it)));
            }
        }
        all
    }

    /// The slot in whose place another one lies.
    fn place_of(&self, mut slot: usize) -> usize {
        while let Some(before) = self.slots[slot].instead_of {
            slot = before;
        }
        slot
    }

    /// Whether no other launch that comes last reads the variable after it is overwritten.
    fn is_overwritten_last(&self, onto: &Onto, last: &FxHashSet<usize>) -> bool {
        let writer = self.writer(onto);
        let later = last.iter().filter(|it| **it > writer);
        later.into_iter().all(|&it| self.drafts[it].reads_of(onto.input).next().is_none())
    }

    /// The first of these launches that has to come before anything is written over, as it may fail then, or makes an output.
    fn first_that_may_not_wait(
        &self,
        last: &FxHashSet<usize>,
        deliveries: &[Delivery],
    ) -> Option<usize> {
        let outputs: FxHashSet<usize> = deliveries[..self.graph.outputs.len()]
            .iter()
            .filter_map(|it| match it {
                Delivery::Kept(at, _) => self.slot_kept(*at),
                _ => None,
            })
            .collect();
        let first = last.iter().copied().min();
        let may_wait = |at: usize| {
            let Draft { work, outputs: made, .. } = &self.drafts[at];
            let is_sure = work.cannot_fail() || first == Some(at) && work.fails_before_it_writes();
            is_sure && !made.iter().any(|it| outputs.contains(&self.place_of(*it)))
        };
        last.iter().copied().filter(|&it| !may_wait(it)).min()
    }

    /// Has the writer of a store replace what it reads of the variable.
    fn replace(&mut self, onto: &Onto) {
        let Some(slot) = self.slot_kept(onto.kept) else { return };
        let at = self.slots[slot].from;
        let draft = &mut self.drafts[at];
        let read = draft.reads_of(onto.input).next();
        let Some(output) = draft.outputs.iter().position(|it| *it == slot) else { return };
        match &mut draft.work {
            Work::Lanes { replaced, .. } => {
                let Some(read) = read else { return };
                draft.inputs.remove(read);
                // Places count among all inputs of the program, those that are replaced included.
                let mut place = read;
                replaced.iter().for_each(|it| place += usize::from(it.0 <= place));
                replaced.push((place, output));
                replaced.sort_unstable();
            }
            Work::Kernel { in_place, .. } => {
                draft.inputs.remove(0);
                *in_place = true;
            }
            _ => {}
        }
    }
}

impl Draft {
    /// Which of its operands lie in an input.
    fn reads_of(&self, input: usize) -> impl Iterator<Item = usize> {
        self.inputs.iter().enumerate().filter(move |it| it.1.input() == Some(input)).map(|it| it.0)
    }
}

impl Work {
    /// Whether it comes to its end whatever its operands hold, and takes no memory for it.
    fn cannot_fail(&self) -> bool {
        match self {
            Self::Lanes { program, .. } => !program.may_refuse(),
            Self::Kernel { kernel, .. } => {
                let Kernel { moves, admits, .. } = kernel.kernel;
                self.fails_before_it_writes() && *moves && admits.is_none()
            }
            Self::Control { .. } | Self::Many { .. } | Self::OnGpu { .. } => false,
        }
    }

    /// Whether it changes nothing where it fails: it updates what its first operand holds.
    fn fails_before_it_writes(&self) -> bool {
        match self {
            Self::Kernel { kernel, prologue, finishing, .. } => {
                kernel.kernel.updates && prologue.is_none() && finishing.is_none()
            }
            _ => false,
        }
    }
}

/// The stores that go where their variables lie, by their variables.
pub(super) fn by_input(ontos: &Ontos) -> FxHashMap<usize, usize> {
    ontos.all.iter().map(|it| (it.input, it.kept)).collect()
}

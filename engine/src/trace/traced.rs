//! The handle that callers use: begin a call, run the body, finish; options, statistics, and the recorded graphs.

use std::cell::RefCell;
use std::mem;
use std::rc::Rc;
use std::sync::Arc;

use super::call::{Mode, State, Stats};
use super::departure::{depart, note_refusal, of_arguments};
use super::latest::{Ended, Place};
use super::recording::MOST_STEPS;
use super::segment::{lower, whole_graph};
use super::tree::{ArgSpec, StepId, Tree};
use super::{Active, active, flush, install, pace};
use crate::apply::anomaly::{self, Watch};
use crate::graph::Graph;
use crate::lower::Plan;
use crate::passes::recipes::Recipes;
use crate::passes::{self, EXACT};
use crate::pending::{self, Pending};
use crate::rewrite::run::Log;
use crate::tensor::Data;
use crate::{Error, Result, Scope, Tensor};

/// How a function is traced.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The body builds the graph without running anything; reading a value inside is an error.
    pub symbolic: bool,
    /// As `symbolic`, and the graph is not run after the body either.
    pub record_only: bool,
    /// Captured tensors become part of the graph and must stay the same.
    pub capture_as_const: bool,
    /// 0 no passes, 1 removal of unused and repeated work, 2 all passes that keep the bits of eager execution, 3 also fusion, 4 also
    /// passes that round in another way ([`Stats::relaxed`]), but for values that are read in the body.
    pub opt_level: u8,
    /// Paths that are kept per signature; calls that take yet another one run eagerly from there on.
    pub max_branches: usize,
    /// Ops that one graph may have which is built without running anything.
    pub max_ops: usize,
    /// Reverse walks of one call, each behind an update, after which a long one is not recorded: it is no step of training, but many.
    pub max_walks: usize,
    /// Traced also where the body is quicker as it was written: see [`super::Pace`]. The caller looks at this.
    pub always: bool,
    /// Each call is compared with eager execution, which runs beside it; the first op that gives something else is an error.
    pub check: bool,
    /// Kinds of arguments that are kept; the one that was not used for the longest time makes room for another.
    pub max_signatures: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            symbolic: false,
            record_only: false,
            capture_as_const: false,
            opt_level: 3,
            max_branches: 64,
            max_ops: MOST_STEPS,
            max_walks: usize::MAX,
            max_signatures: 64,
            always: false,
            check: false,
        }
    }
}

impl Options {
    /// The level of plans: what is compared with eager execution has its bits.
    pub fn level(&self) -> u8 {
        if self.check { self.opt_level.min(EXACT) } else { self.opt_level }
    }
}

/// A traced function: what its calls recorded so far. The engine never sees the body.
#[derive(Clone)]
pub struct Traced(pub(super) Rc<RefCell<Recorded>>);

pub(super) struct Recorded {
    pub(super) options: Options,
    pub(super) trees: Vec<Tree>,
    /// For each tree the number of the call that used it last.
    used: Vec<usize>,
    n_begun: usize,
    pub(super) stats: Stats,
    pub(super) ended: Option<Ended>,
    /// What the passes make of graphs that differ in sizes.
    pub(super) recipes: Rc<RefCell<Recipes>>,
}

/// One recorded path.
#[derive(Clone, Debug)]
pub struct Path {
    /// Shapes and dtypes of the arguments.
    pub signature: String,
    /// Op applications along the path.
    pub n_ops: usize,
    /// Compiled stretches along the path.
    pub n_segments: usize,
}

/// What a call comes to.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The results; delivered, unless the function is only recorded.
    pub results: Vec<Tensor>,
    /// What happened in this call; `branches` counts all of the function.
    pub stats: Stats,
    /// Whether a call in the same world came to the same end before, so that [`Traced::alone`] gives its graph.
    pub confirmed: bool,
    /// Whether the call was the first one with such arguments that was followed in its world: none can have confirmed it.
    pub is_first: bool,
    /// The numbers that the path takes in each call, as the body gave them to ops, where it was followed.
    pub fed: Vec<Tensor>,
}

/// How a body is followed that may be left out later.
#[derive(Clone, Copy, Debug)]
pub struct Following {
    /// What the body can find, as a number: the same for calls in which all of that is the same.
    pub world: u64,
    /// What prevents a run without the body is an error where it happens, and fails the call. Else it is only noted.
    pub strict: bool,
    /// Numbers that are fed may be others in each call of the world: the caller knows what they are computed from
    /// ([`Finished::fed`]).
    pub numbers_vary: bool,
}

impl Traced {
    /// A function that has not been called yet.
    pub fn new(mut options: Options) -> Self {
        options.symbolic |= options.record_only;
        options.capture_as_const |= options.record_only;
        let recorded = Recorded {
            options,
            trees: Vec::new(),
            used: Vec::new(),
            n_begun: 0,
            stats: Stats::default(),
            ended: None,
            recipes: Rc::default(),
        };
        Self(Rc::new(RefCell::new(recorded)))
    }

    /// How it is traced.
    pub fn options(&self) -> Options {
        self.0.borrow().options.clone()
    }

    /// Whether each call is compared with eager execution.
    pub fn is_checked(&self) -> bool {
        self.0.borrow().options.check
    }

    /// All calls together.
    pub fn stats(&self) -> Stats {
        self.0.borrow().stats.clone()
    }

    /// Starts a call. The body must see [`Call::args`]. Inside another traced call this one runs inline, and so it does while the first
    /// NaN is looked for, and on `meta`.
    pub fn begin(&self, args: &[Tensor]) -> Result<Call> {
        self.begin_following(args, None)
    }

    /// As [`Traced::begin`], for a body that may be left out later: it is followed to see whether its graph could do without it. What
    /// prevents that is told by [`Call::refused`].
    pub fn follow(&self, args: &[Tensor], following: Following) -> Result<Call> {
        self.begin_following(args, Some(following))
    }

    fn begin_following(&self, args: &[Tensor], following: Option<Following>) -> Result<Call> {
        let watches = anomaly::watch() != Watch::Nothing && !self.0.borrow().options.record_only;
        if active() || watches || !args.iter().all(Tensor::is_traced) {
            return Ok(Call { traced: self.clone(), seen: args.to_vec(), at: 0, state: None });
        }
        let mut recorded = self.0.borrow_mut();
        let signature: Vec<ArgSpec> = args.iter().map(ArgSpec::of).collect();
        let known = recorded.trees.iter().position(|it| it.signature == signature);
        let before = recorded.latest().map(|it| it.signature.clone());
        let at = known.unwrap_or_else(|| recorded.room());
        if known.is_none() {
            recorded.trees[at] = Tree::new(signature.clone());
            recorded.ended = recorded.ended.take().filter(|it| it.tree != at);
        }
        recorded.n_begun += 1;
        recorded.used[at] = recorded.n_begun;
        let tree = mem::replace(&mut recorded.trees[at], Tree::new(signature));
        let options = recorded.options.clone();
        let seen: Vec<Tensor> =
            if options.symbolic { args.iter().map(stand_in).collect() } else { args.to_vec() };
        let mut state = State::new(options, tree, (args, &seen), recorded.recipes.clone());
        state.following = following;
        Scope::NONE.enter();
        depart(false);
        note_refusal(false);
        if let (None, Some(recorded)) = (known, before) {
            state.stats.departure = Some(of_arguments(&recorded, &state.tree.signature));
        }
        let state = Rc::new(RefCell::new(state));
        install(Some(state.clone()));
        Ok(Call { traced: self.clone(), seen, at, state: Some(state) })
    }

    /// Recorded paths, oldest first within a signature.
    pub fn paths(&self) -> Vec<Path> {
        let recorded = self.0.borrow();
        let mut paths = Vec::new();
        for (tree, end) in ends(&recorded.trees) {
            let steps = tree.path(super::tree::ROOT, end);
            paths.push(Path {
                signature: kinds(tree),
                n_ops: steps.len(),
                n_segments: steps.iter().map(|&id| tree.step(id).segments.len()).sum(),
            });
        }
        paths
    }

    /// The graph of recorded path `at`, as recorded, from arguments to returned tensors. Captures that are not constants
    /// are inputs after the arguments.
    pub fn graph(&self, at: usize) -> Result<Graph> {
        let recorded = self.0.borrow();
        let found = ends(&recorded.trees).nth(at);
        let (tree, end) = found.ok_or_else(|| Error::Trace {
            problem: "nothing is recorded yet; call the function once".into(),
        })?;
        whole_graph(tree, end).map(|it| it.0)
    }

    /// The same after the passes, with what they did.
    pub fn optimized(&self, at: usize) -> Result<(Graph, Log)> {
        let mut log = Log { detailed: true, ..Log::default() };
        let graph = passes::optimize(self.graph(at)?, self.options().level(), &mut log)?;
        Ok((graph, log))
    }

    /// The same lowered, as one plan.
    pub fn plan(&self, at: usize) -> Result<Plan> {
        lower(self.graph(at)?, &self.options())
    }

    fn keep(&self, at: usize, state: &mut State, finished: bool) -> Stats {
        let mut recorded = self.0.borrow_mut();
        if finished && state.mode != Mode::Eager {
            recorded.ended = Some(Ended::of(at, state));
        }
        recorded.trees[at] = mem::replace(&mut state.tree, Tree::new(Vec::new()));
        let mut stats = mem::take(&mut state.stats);
        stats.calls = usize::from(finished);
        if stats.recorded > 0 || stats.compile_seconds > 0.0 || state.following.is_some() {
            pace::note_learning();
        }
        stats.branches = recorded.trees.iter().map(|it| it.n_paths).sum();
        let all = &mut recorded.stats;
        all.calls += stats.calls;
        all.segments += stats.segments;
        all.branches = stats.branches;
        all.recorded += stats.recorded;
        all.replayed += stats.replayed;
        all.walks += stats.walks;
        all.compile_seconds += stats.compile_seconds;
        all.relax(&stats.relaxed);
        if stats.departure.is_some() {
            all.departure.clone_from(&stats.departure);
        }
        stats
    }
}

impl Recorded {
    /// What the last call was recorded in.
    fn latest(&self) -> Option<&Tree> {
        let latest = self.used.iter().enumerate().max_by_key(|it| it.1)?;
        self.trees.get(latest.0)
    }

    /// A place for another tree.
    fn room(&mut self) -> usize {
        if self.trees.len() < self.options.max_signatures.max(1) {
            self.trees.push(Tree::new(Vec::new()));
            self.used.push(0);
            return self.trees.len() - 1;
        }
        let oldest = self.used.iter().enumerate().min_by_key(|it| it.1);
        oldest.map_or(0, |it| it.0)
    }
}

/// A call that is running. Dropping it without [`Call::finish`] aborts it.
pub struct Call {
    traced: Traced,
    seen: Vec<Tensor>,
    /// Which tree it walks.
    at: usize,
    /// `None` when the call runs inside another traced call.
    state: Option<Active>,
}

impl Call {
    /// What the body must use as its arguments.
    pub fn args(&self) -> &[Tensor] {
        &self.seen
    }

    /// Whether the call runs as part of another traced call.
    pub fn is_inline(&self) -> bool {
        self.state.is_none()
    }

    /// Why a body that is followed cannot be left out, also if it goes on.
    pub fn refused(&self) -> Option<Error> {
        self.state.as_ref().and_then(|it| it.borrow().refused.clone())
    }

    /// Whether it is worth knowing what the call leaves in variables: that is not known of every path yet.
    pub fn asks_for_stores(&self) -> bool {
        let asks = |it: &Active| {
            let state = it.borrow();
            state.mode != Mode::Replay || state.tree.n_told < state.tree.n_paths
        };
        self.state.as_ref().is_some_and(asks)
    }

    /// Ends the call: delivers every value that is still alive. An error leaves the trace usable.
    pub fn finish(self, results: &[Tensor]) -> Result<Finished> {
        self.finish_storing(results, None)
    }

    /// As [`Call::finish`], for a body that has left other values in variables: for each what it was when the call began, and what it
    /// is now. The first call of a path that tells it decides which variables the graph of the path holds, those that the call has made
    /// itself left out; [`Alone::run`](super::Alone::run) gives their next values.
    pub fn finish_storing(
        mut self,
        results: &[Tensor],
        stores: Option<&[(Place, Tensor)]>,
    ) -> Result<Finished> {
        let Some(state) = self.state.take() else {
            let stats = Stats::default();
            let (confirmed, is_first, fed) = (false, false, Vec::new());
            return Ok(Finished { results: results.to_vec(), stats, confirmed, is_first, fed });
        };
        let mut running = state.borrow_mut();
        let fed = running.all_fed.clone();
        let res = complete(&mut running, &self.seen, results, stores)
            .and_then(|()| running.failure().map_or(Ok(()), Err));
        if res.is_err() {
            running.forget();
        }
        let confirmed = running.confirmed && running.refused.is_none();
        let is_first = running.is_first;
        let stats = self.traced.keep(self.at, &mut running, res.is_ok());
        drop(running);
        install(None);
        res?;
        Ok(Finished { results: results.to_vec(), stats, confirmed, is_first, fed })
    }

    /// Ends the call after its body failed: values that are still alive are delivered, what was recorded is forgotten.
    pub fn abort(self) {
        drop(self);
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        let Some(state) = self.state.take() else { return };
        if let Ok(mut running) = state.try_borrow_mut() {
            end_symbolic(&mut running, &self.seen);
            // The body's own error is what the user sees; values that cannot be computed now say so when read.
            let _ = running.flush_eagerly();
            running.forget();
            self.traced.keep(self.at, &mut running, false);
        }
        install(None);
    }
}

fn complete(
    state: &mut State,
    seen: &[Tensor],
    results: &[Tensor],
    stores: Option<&[(Place, Tensor)]>,
) -> Result<()> {
    state.is_over = true;
    if state.mode != Mode::Symbolic {
        state.flush()?;
        state.end(results, stores);
        return Ok(());
    }
    state.end(results, stores);
    if state.options.record_only {
        return Ok(());
    }
    end_symbolic(state, seen);
    state.flush()
}

/// From now on values are computed: the stand-ins for arguments get theirs.
fn end_symbolic(state: &mut State, seen: &[Tensor]) {
    if state.mode != Mode::Symbolic || state.options.record_only {
        return;
    }
    state.mode = Mode::Replay;
    for (slot, tensor) in state.args.iter().zip(seen) {
        if let (Some(held), Data::Pending(pending)) = (&slot.held, tensor.data())
            && let Ok(bytes) = held.storage()
        {
            pending.deliver(bytes);
        }
    }
}

/// What the body sees for an argument when it runs symbolically.
fn stand_in(tensor: &Tensor) -> Tensor {
    if tensor.as_number().is_some() {
        return tensor.clone();
    }
    let pending = Data::Pending(Arc::new(Pending::on(tensor.device())));
    Tensor::make(tensor.dtype(), tensor.layout().clone(), pending, tensor.edge().cloned())
}

fn ends(trees: &[Tree]) -> impl Iterator<Item = (&Tree, StepId)> {
    trees.iter().flat_map(|tree| tree.ends().map(move |end| (tree, end)))
}

fn kinds(tree: &Tree) -> String {
    let kind = |it: &ArgSpec| format!("{}{}", it.dtype.short(), it.layout.shape);
    tree.signature.iter().map(kind).collect::<Vec<_>>().join(", ")
}

/// While it exists, ops run eagerly and are not recorded; what they compute comes back as captured tensors.
pub struct Excluded(Option<Active>);

/// Takes the running trace out of the way until the guard is dropped. Values owed so far are delivered first. An error where the body
/// is to be left out: nobody would run what is excluded.
pub fn exclude() -> Result<Excluded> {
    pending::read()?;
    flush()?;
    Ok(Excluded(install(None)))
}

impl Drop for Excluded {
    fn drop(&mut self) {
        install(self.0.take());
    }
}

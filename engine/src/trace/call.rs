//! One running call of a traced function: where it stands, what it holds, and when it delivers. How ops are matched is in
//! `matching`, how they are appended in `recording`.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustc_hash::FxHashMap;

use super::Departure;
use super::check::Beside;
use super::departure::note_refusal;
use super::identity::{Key, Slot};
use super::recording::reads_values;
use super::segment;
use super::traced::{Following, Options};
use super::tree::{End, Followed, ROOT, Ref, StepId, Stored, Tree};
use super::{Place, READS_ALONG};
use crate::graph::Phase;
use crate::lower;
use crate::passes::EXACT;
use crate::passes::recipes::Recipes;
use crate::pending::Pending;
use crate::tape::{self, Mark};
use crate::tensor::Outputs;
use crate::{Attrs, Device, Error, OpDef, Result, Tensor};

/// What happened in one call, or in all calls of a traced function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// Calls that finished.
    pub calls: usize,
    /// Compiled stretches that ran.
    pub segments: usize,
    /// Paths recorded so far, over all signatures.
    pub branches: usize,
    /// Op applications recorded.
    pub recorded: usize,
    /// Op applications answered from the recording.
    pub replayed: usize,
    /// Reverse walks answered from the recording as a whole.
    pub walks: usize,
    /// Seconds spent on compiling.
    pub compile_seconds: f64,
    /// Passes that did something to a plan after which it rounds in another way than eager execution.
    pub relaxed: Vec<&'static str>,
    /// Why the call, or the last that did so, was not answered from the recording.
    pub departure: Option<Departure>,
}

impl Stats {
    /// Whether it was many steps of training in one, too many to be recorded, where nothing else is known.
    pub fn is_many_steps(&self) -> bool {
        self.branches == 0 && matches!(self.departure, Some(Departure::ManySteps { .. }))
    }

    /// Notes passes that round in another way than eager execution.
    pub(super) fn relax(&mut self, passes: &[&'static str]) {
        for pass in passes {
            if !self.relaxed.contains(pass) {
                self.relaxed.push(pass);
            }
        }
    }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} calls, {} branches, {} ops recorded, {} replayed, {} segments run, {:.3} s compiling",
            self.calls,
            self.branches,
            self.recorded,
            self.replayed,
            self.segments,
            self.compile_seconds
        )?;
        match self.relaxed.as_slice() {
            [] => Ok(()),
            passes => write!(f, ", rounded otherwise by {}", passes.join(", ")),
        }
    }
}

static NEXT_CALL: AtomicU64 = AtomicU64::new(1);

/// The number of a call that happens now.
pub(super) fn next_call() -> u64 {
    NEXT_CALL.fetch_add(1, Ordering::Relaxed)
}

/// How the rest of a call is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Ops are matched with the tree.
    Replay,
    /// Ops run eagerly and are appended to the tree.
    Record,
    /// Ops are matched or appended, and never run inside the call.
    Symbolic,
    /// Ops run eagerly; the tree has no room for more branches.
    Eager,
}

/// The state of one call.
pub(crate) struct State {
    /// Its number; no two calls have the same.
    pub(super) call: u64,
    pub(super) options: Options,
    pub(super) tree: Tree,
    /// What the passes make of graphs of the function that differ in sizes.
    pub(super) recipes: Rc<RefCell<Recipes>>,
    pub(super) mode: Mode,
    /// The last step that matched or was recorded.
    pub(super) cursor: StepId,
    /// The step after which the current segment begins.
    pub(super) start: StepId,
    /// Results up to here belong to earlier segments.
    pub(super) settled: usize,
    pub(super) args: Vec<Slot>,
    pub(super) captures: Vec<Slot>,
    pub(super) results: Vec<Slot>,
    /// The captures and earlier results that the current segment reads.
    pub(super) held: Vec<Ref>,
    /// Numbers fed in the current segment, in order.
    pub(super) fed: Vec<Tensor>,
    pub(super) stats: Stats,
    /// Recording: values by identity.
    pub(super) known: FxHashMap<Key, Ref>,
    /// Recording: where it began, and the number of steps then.
    pub(super) recording: Option<(StepId, usize)>,
    /// Reverse walks that are under way, and whether there was one.
    pub(super) walking: usize,
    pub(super) walked: bool,
    /// How many have come to their end behind an update, and whether there was one since: a step of training has one walk behind the update
    /// of the step before, however often it walks.
    pub(super) n_walks: usize,
    pub(super) has_updated: bool,
    /// The body is over: what it branches on has been decided.
    pub(super) is_over: bool,
    /// How a body is followed that may be left out later; why it cannot, and whether a call before this one went the same way.
    pub(super) following: Option<Following>,
    pub(super) refused: Option<Error>,
    pub(super) confirmed: bool,
    /// Whether it is the first that is followed, with such arguments in its world.
    pub(super) is_first: bool,
    /// Its captures, some of which it makes of numbers, and the numbers that it feeds.
    pub(super) made: Vec<Tensor>,
    pub(super) all_fed: Vec<Tensor>,
    /// What eager execution gives, where the call is compared with that.
    pub(super) beside: Option<Box<Beside>>,
    /// Walks that the call looked at in order to make events of them.
    pub(super) n_tried: usize,
}

impl State {
    /// A call with these arguments; the body sees `seen`, which differ from `args` when it runs symbolically.
    pub(super) fn new(
        options: Options,
        tree: Tree,
        (args, seen): (&[Tensor], &[Tensor]),
        recipes: Rc<RefCell<Recipes>>,
    ) -> Self {
        let first = tree.steps.len() == 1 && tree.step(ROOT).end.is_none();
        let mode = match (options.symbolic, first) {
            (true, _) => Mode::Symbolic,
            (false, true) => Mode::Record,
            (false, false) => Mode::Replay,
        };
        let hold = |it: (&Tensor, &Tensor)| Slot { held: Some(it.0.held()), ..Slot::of(it.1) };
        let n_steps = tree.steps.len().min(4096);
        let is_compared = options.check && !options.record_only;
        let mut state = Self {
            call: next_call(),
            options,
            tree,
            recipes,
            mode,
            cursor: ROOT,
            start: ROOT,
            settled: 0,
            args: args.iter().zip(seen).map(hold).collect(),
            captures: Vec::new(),
            results: Vec::with_capacity(n_steps),
            fed: Vec::new(),
            stats: Stats::default(),
            known: FxHashMap::default(),
            recording: None,
            walking: 0,
            is_over: false,
            walked: false,
            n_walks: 0,
            has_updated: false,
            held: Vec::new(),
            following: None,
            refused: None,
            confirmed: false,
            is_first: false,
            made: Vec::new(),
            all_fed: Vec::new(),
            beside: is_compared.then(Box::default),
            n_tried: 0,
        };
        if mode != Mode::Replay {
            state.index();
            state.recording = Some((ROOT, state.tree.steps.len()));
        }
        state
    }

    pub(super) fn replay(
        &mut self,
        op: &'static OpDef,
        inputs: &[Tensor],
        attrs: &Attrs,
        device: Device,
    ) -> Result<Option<(Outputs, Mark)>> {
        if matches!(self.mode, Mode::Record | Mode::Eager) || inputs.iter().any(Tensor::is_abstract)
        {
            return Ok(None);
        }
        if let Some(id) = self.find(op, inputs, attrs, device)? {
            self.stay_on(device)?;
            if device == Device::Cpu {
                self.admit(op, inputs, attrs)?;
            }
            self.compute_beside(id, inputs)?;
            let outputs = self.follow(id, inputs)?;
            return Ok(Some((outputs, Mark::new(self.call, id))));
        }
        let reads_values = reads_values(op, inputs, attrs);
        if self.mode == Mode::Symbolic {
            if reads_values {
                let problem = format!("the shape that {} gives depends on values", op.name);
                return Err(Error::Trace { problem });
            }
            return Ok(Some((self.extend(op, inputs, attrs, device)?, Mark::NONE)));
        }
        if reads_values {
            self.may_read()?;
            self.flush()?
        } else {
            self.diverge(op, inputs, attrs)?
        }
        Ok(None)
    }

    /// A body that may be left out looks at elements.
    pub(super) fn may_read(&mut self) -> Result<()> {
        if READS_ALONG.get() {
            return Ok(());
        }
        self.refuse(
            "the value of a tensor is read here, and a run without the body cannot do that; return the tensor and \
             read it outside, or trace without without_host=True",
        )
    }

    /// The body brings elements to another device: they are computed before, and what it gets there comes from outside.
    pub(super) fn moves(&mut self, to: Device) -> Result<()> {
        let problem = format!(
            "a tensor is brought to {to} here, and a graph stays on the device where it runs; bring it there outside, and pass it"
        );
        if self.mode == Mode::Symbolic {
            return Err(Error::Trace { problem });
        }
        self.refuse(&problem)?;
        self.flush()
    }

    /// Notes what cannot be part of a run without the body. An error where that must not be; the call ends with it then, also if the
    /// body goes on.
    pub(super) fn refuse(&mut self, problem: &str) -> Result<()> {
        let Some(following) = self.following else { return Ok(()) };
        note_refusal(true);
        let error = self.refused.get_or_insert_with(|| Error::Trace { problem: problem.into() });
        if following.strict { Err(error.clone()) } else { Ok(()) }
    }

    /// What a call fails with whose body went on all the same.
    pub(super) fn failure(&self) -> Option<Error> {
        self.refused.clone().filter(|_| self.following.is_some_and(|it| it.strict))
    }

    /// The level at which the current segment is compiled. A value that is read in the body may decide where that goes on, and is the eager
    /// one.
    pub(super) fn opt_level(&self) -> u8 {
        let level = self.options.level();
        if self.is_over { level } else { level.min(EXACT) }
    }

    /// Delivers all values that someone can still read; the current segment ends here.
    pub(super) fn flush(&mut self) -> Result<()> {
        match self.mode {
            Mode::Replay => segment::settle(self, true),
            Mode::Symbolic => Err(Error::Trace {
                problem: "the value of a tensor is not known while a graph is built symbolically; \
                          compute with tensors, or trace without symbolic=True"
                    .into(),
            }),
            Mode::Record | Mode::Eager => Ok(()),
        }
    }

    /// As `flush`, op by op instead of through a compiled plan.
    pub(super) fn flush_eagerly(&mut self) -> Result<()> {
        if self.mode == Mode::Replay { segment::settle(self, false) } else { Ok(()) }
    }

    /// Marks the end of a path; `results` are what the function returns, `stores` the variables that it leaves with other values, if
    /// the caller knows them.
    pub(super) fn end(&mut self, results: &[Tensor], stores: Option<&[(Place, Tensor)]>) {
        self.recording = None;
        let end = self.tree.step(self.cursor).end.as_ref();
        let (is_new, tells) = (end.is_none(), stores.is_some());
        if self.mode == Mode::Eager || !is_new && !tells {
            return;
        }
        if self.mode == Mode::Replay {
            self.index();
        }
        if is_new {
            let results = results.iter().map(|it| self.known_ref(it)).collect();
            let lives = |it: &(u32, &Slot)| it.1.root.lives();
            let left = (0..).zip(&self.results).filter(lives).map(|it| it.0).collect();
            let end = End { results, left, ..End::default() };
            self.tree.step_mut(self.cursor).end = Some(end);
            self.tree.n_paths += 1;
        }
        let Some(stores) = stores else { return };
        self.is_first = self.following.is_some_and(|it| self.tree.note_world(it.world));
        let followed = self.following.map(|it| self.followed(it, results, stores));
        let stores = (0..).zip(stores).filter_map(|(at, it)| self.stored(at, it)).collect();
        let Some(end) = &mut self.tree.step_mut(self.cursor).end else { return };
        let is_untold = end.stores.replace(stores).is_none();
        let agrees = followed.and_then(|it| end.note(it));
        self.tree.n_told += usize::from(is_untold);
        self.confirmed = agrees == Some(true);
        if agrees == Some(false) {
            let _ = self.refuse(
                "a tensor that the body makes of numbers is another one in each call; make it outside and pass it",
            );
        }
    }

    /// Notes a tensor from outside that an op uses first.
    pub(super) fn capture(
        captures: &mut Vec<Slot>,
        made: Option<&mut Vec<Tensor>>,
        tensor: &Tensor,
    ) {
        captures.push(Slot { held: Some(tensor.held()), ..Slot::of(tensor) });
        if let Some(made) = made {
            made.push(tensor.detach());
        }
    }

    /// What a run without the body needs besides variables. Captures that are none of the caller's variables, which are all that the
    /// body can find, it has made of numbers.
    fn followed(
        &mut self,
        following: Following,
        results: &[Tensor],
        stores: &[(Place, Tensor)],
    ) -> Followed {
        let made = std::mem::take(&mut self.made);
        let is_variable = |slot: &Slot| {
            let found = stores.iter().map(|it| &it.0.0).chain(&self.args);
            found.into_iter().any(|it| it.root.is_root(&slot.root))
        };
        let slots = (0..).zip(&self.captures).zip(made);
        let constants = slots
            .filter(|((_, slot), _)| !is_variable(slot))
            .map(|((at, _), tensor)| (at, tensor))
            .collect();
        let results = results.iter().map(|it| self.known_ref(it)).collect();
        let Following { world, numbers_vary: fed_vary, .. } = following;
        Followed { world, results, constants, fed: std::mem::take(&mut self.all_fed), fed_vary }
    }

    /// What is left in a variable; `None` if the call has made it itself, or has not seen it.
    fn stored(&self, at: u32, (place, tensor): &(Place, Tensor)) -> Option<Stored> {
        let before = place.0.key().and_then(|it| self.known.get(&it).copied());
        let after = self.known_ref(tensor);
        let from_outside = || self.args.iter().chain(&self.captures);
        // The call may have seen its elements through a view, under the layout that the variable has.
        let is_seen = |it: &Slot| it.root.is_root(&place.0.root);
        let is_made_here = matches!(before, Some(Ref::Result(_))) && !from_outside().any(is_seen);
        let before = before.filter(|it| !matches!(it, Ref::Result(_)));
        let is_not_seen = before.is_none() && place.0.is(tensor);
        (!is_made_here && !is_not_seen).then_some(Stored { at, before, after })
    }

    /// Which part of a training step an op is that is applied now.
    pub(super) fn phase(&self) -> Phase {
        match (self.walking > 0, self.walked && !tape::enabled()) {
            (true, _) => Phase::Backward,
            (false, true) => Phase::Update,
            (false, false) => Phase::Forward,
        }
    }

    /// Forgets what this call recorded.
    pub(super) fn forget(&mut self) {
        if let Some((parent, len)) = self.recording.take()
            && self.tree.steps.len() > len
        {
            self.tree.truncate(len);
            self.cursor = parent;
        }
    }

    /// Ends the current segment at the cursor; nothing of it is held any longer.
    pub(super) fn settled(&mut self) {
        for slot in &mut self.results[self.settled..] {
            slot.root.settle();
        }
        self.start = self.cursor;
        self.settled = self.results.len();
        if let Some(beside) = &mut self.beside {
            beside.settled();
        }
        self.fed.clear();
        for it in self.held.drain(..) {
            let slot = match it {
                Ref::Capture(at) => self.captures.get_mut(at as usize),
                Ref::Result(at) => self.results.get_mut(at as usize),
                Ref::Arg(_) | Ref::Number(_) | Ref::Fed(_) => None,
            };
            if let Some(slot) = slot {
                slot.held = None;
            }
        }
    }

    /// Results of the current segment that someone can still read.
    pub(super) fn live(&self) -> Vec<(u32, Arc<Pending>)> {
        let new = self.results.iter().enumerate().skip(self.settled);
        new.filter_map(|(idx, slot)| Some((idx as u32, slot.live()?))).collect()
    }

    /// Hands out the elements of a result.
    pub(super) fn deliver(&mut self, at: u32, pending: &Pending, tensor: &Tensor) -> Result<()> {
        // A number that was expanded is one element.
        pending.deliver(lower::own(tensor)?.storage()?);
        self.results[at as usize].root.settle();
        Ok(())
    }
}

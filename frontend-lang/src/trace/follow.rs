//! How a body runs while it is found out whether it can be left out later: what would be lost then is refused at its line, and what it
//! finds in modules on its way becomes part of its world.

use engine::trace::just_refused;

use super::alone::{FINDS_CHOSEN, InVain, READS_LIST};
use super::bindings::Bindings;
use super::chosen::Rebound;
use super::node::{Node, can_change};
use super::notice::line_of;
use super::numbers::{Place, Tracking, can_stand_in_tuple};
use super::template::{Given, refused_here};
use super::world::World;
use crate::bytecode::{Code, Op};
use crate::check::native::acts_outside;
use crate::cx::{Cx, Mode};
use crate::error::{Raised, TRACE_ERROR};
use crate::native::{NativeFn, Res};
use crate::source::Span;
use crate::value::Value;
use crate::vm::frame::FrameKind;

/// A body that may be left out later, while it runs.
#[derive(Default)]
pub(crate) struct Follow {
    /// What the body has found so far.
    world: World,
    /// Objects that it may not change.
    watched: Vec<Node>,
    /// Whether what it may not do is an error, with which the call ends, also if the body goes on; else it is only noted.
    strict: bool,
    /// The first thing that it has done which it may not.
    refused: Option<Raised>,
    /// Where it did it.
    place: Option<Span>,
    /// The operation of the cell, where the body is part of one.
    refused_at: Option<usize>,
    /// Whether that was about an item which it takes out of a container.
    is_about_chosen: bool,
    /// Which operation of the cell runs.
    at: usize,
    /// The numbers that it is followed with.
    pub(super) tracking: Option<Tracking>,
    /// What it does to names, where it is part of a cell: those are what it is called with, and what it gives.
    pub(super) bindings: Option<Bindings>,
    /// Frames below its own.
    n_frames: usize,
}

/// How code ran before a body was followed.
pub(super) struct Outer {
    mode: Mode,
    follow: Follow,
}

/// A body that ran under [`Cx::following`].
pub(super) struct Followed {
    /// What it gave.
    pub(super) res: Res,
    /// The same as what a graph has to give, where the body was followed to its end with numbers.
    pub(super) given: Option<Given>,
    /// What was refused, which it may have caught.
    pub(super) refused: Option<Raised>,
    /// Line of the cell at which that was, or at which it did what the engine refuses.
    pub(super) line: Option<usize>,
    /// Where an attempt comes to nothing for that.
    pub(super) in_vain: InVain,
    /// The world, with what it found.
    pub(super) world: World,
    /// The numbers that it was followed with to its end.
    pub(super) tracking: Option<Tracking>,
}

/// What is said of a look at a number that differs from call to call.
pub(super) const LOOK: &str = "a number that differs from call to call is looked at here";

/// What is said where the element of a tensor has to be known before the graph has run.
pub(super) fn read_early() -> Raised {
    let problem = "without_host=True: the value of a tensor is read here, before a run without the body could know it; \
                   compute with the tensor instead of its item(), or trace without without_host=True";
    Raised::new(&TRACE_ERROR, problem)
}

/// The same as an error.
pub(super) fn looked() -> Raised {
    let problem = format!(
        "without_host=True: {LOOK}, as in the calls before, and a run without the body needs it to be the same; compute with it, \
         pass it as a tensor, or trace without without_host"
    );
    Raised::new(&TRACE_ERROR, problem)
}

impl Follow {
    /// A body in this world, that may not change `watched`; if that is asked for (`strict`), what is refused is an error at its line.
    pub(super) fn new(
        world: World,
        watched: Vec<Node>,
        tracking: Option<Tracking>,
        bindings: Option<Bindings>,
        strict: bool,
    ) -> Self {
        Self { world, watched, tracking, bindings, strict, ..Self::default() }
    }

    /// What its names are bound to.
    fn named(&self, stack: &[Value]) -> Vec<Value> {
        self.bindings.as_ref().map_or_else(Vec::new, |it| it.values(stack))
    }
}

impl Cx {
    /// From here on a body runs of which nothing may be lost when it does not run later.
    pub(super) fn begin_following(&mut self, follow: Follow) -> Outer {
        let mode = std::mem::replace(&mut self.mode, Mode::Follow);
        let follow = std::mem::replace(&mut self.follow, follow);
        self.follow.n_frames = self.machine.frames.len();
        Outer { mode, follow }
    }

    /// It has come to this.
    pub(super) fn end_following(&mut self, outer: Outer, args: &[Value], mut res: Res) -> Followed {
        self.mode = outer.mode;
        let mut found = self.follow.world.objects();
        // Containers among the arguments.
        found.extend(args.iter().filter(|it| it.as_tensor().is_none()).cloned());
        let mut given = None;
        match (&res, &self.follow.tracking) {
            (Ok(value), Some(tracking)) => {
                given = Some(Given::of(value, args, &self.follow.world, Some(tracking)));
            }
            (Err(raised), Some(_)) => {
                found.push(raised.value().clone());
                found.extend(self.follow.named(&self.machine.stack));
            }
            (_, None) => {}
        }
        let tracking = self.end_tracking(found);
        if let (Ok(value), Some(tracking), Some(given)) = (&mut res, &tracking, &given) {
            tracking.make_plain(value, given.template.is_ok());
        }
        let Follow { refused, place, refused_at, is_about_chosen, world, bindings, .. } =
            std::mem::replace(&mut self.follow, outer.follow);
        let in_vain = match refused_at {
            _ if is_about_chosen => InVain::Chosen,
            Some(at) => InVain::At(at),
            None => InVain::Nowhere,
        };
        if let Some(mut bindings) = bindings
            && let Err(raised) = bindings.release(&mut self.machine.stack)
        {
            res = Err(raised);
        }
        let line = place.and_then(|it| line_of(self, it));
        Followed { res, given, refused, line, in_vain, world, tracking }
    }

    /// Operation `at` is about to run. `Some` where an item of a container was taken in place of it, and of those up to there.
    pub(crate) fn follow_op(&mut self, code: &Code, at: usize) -> Result<Option<usize>, Raised> {
        let is_home = self.machine.frames.len() == self.follow.n_frames;
        if self.follow.bindings.is_some() && is_home {
            self.follow.at = at;
            if let Some(tracking) = &self.follow.tracking {
                tracking.is_at(Place { at, span: code.span(at) });
            }
        }
        self.refuse_changes()?;
        self.refuse_look()?;
        if just_refused() {
            self.note_place();
        }
        if is_home && let Some(behind) = self.take_chosen(code, at)? {
            return Ok(Some(behind));
        }
        let bindings = self.follow.bindings.as_mut();
        let is_function = bindings.map(|it| it.note(code, at, is_home)).is_none();
        if self.follow.tracking.is_some() {
            let is_last = is_function
                && self.machine.frames.len() == self.follow.n_frames + 1
                && matches!(code.ops.get(at + 1), Some(Op::Return));
            match code.ops[at] {
                // The tuple that the body gives.
                Op::Tuple(_) if is_last => {}
                Op::Tuple(count) if self.is_unpacked_next(code, at, count) => {}
                Op::Tuple(count) if is_stored_next(code, at) && self.are_numbers(count) => {}
                op => self.track_op(op, code.ops.get(at + 1).copied(), code.locals.len()),
            }
        }
        self.refuse_identity(code.ops[at])?;
        match code.ops[at] {
            // What a program's own functions find is known before they run.
            Op::Global(slot) if code.sites == 0 => {
                let value = code.globals.slots.borrow()[slot as usize].value.clone();
                self.find(&value)?;
            }
            _ => {}
        }
        Ok(None)
    }

    /// Whether the tuple that operation `at` makes is returned at once, by functions that return it at once too, to where its items are taken out
    /// again: nothing else comes by it.
    fn is_unpacked_next(&self, code: &Code, at: usize, count: u32) -> bool {
        let leaves = |it: &&Op| matches!(it, Op::EndTry | Op::WithExit(_) | Op::PopHandled);
        let is_returned = |code: &Code, from: usize| {
            code.ops[from..].iter().find(|it| !leaves(it)).is_some_and(|it| *it == Op::Return)
        };
        if !is_returned(code, at + 1) {
            return false;
        }
        let frames = &self.machine.frames;
        for callee in (self.follow.n_frames.max(1)..frames.len()).rev() {
            if !matches!(frames[callee].kind, FrameKind::Call | FrameKind::Part(_)) {
                return false;
            }
            let (code, next) = (&frames[callee - 1].func.code, frames[callee - 1].ip);
            match code.ops.get(next) {
                Some(Op::Unpack(n)) => return *n == count,
                _ if is_returned(code, next) => {}
                _ => return false,
            }
        }
        false
    }

    /// Whether so many numbers lie on top of the stack, which may stand as a tuple where they are followed.
    fn are_numbers(&self, count: u32) -> bool {
        let stack = &self.machine.stack;
        let top = stack.len().checked_sub(count as usize).map(|first| &stack[first..]);
        top.is_some_and(can_stand_in_tuple)
    }

    /// Takes the item that is an argument of the body, if this operation begins what would take it; gives where that ends.
    fn take_chosen(&mut self, code: &Code, at: usize) -> Result<Option<usize>, Raised> {
        match self.follow.bindings.as_ref().and_then(|it| it.chosen(code, at)) {
            Some(Ok((item, behind))) => {
                self.machine.stack.push(item);
                Ok(Some(behind))
            }
            Some(Err(Rebound)) => self.refuse_chosen().map(|()| None),
            None => Ok(None),
        }
    }

    /// An error if `is` is about to look which container of arguments an object is: a run without the body knows them by their form.
    fn refuse_identity(&mut self, op: Op) -> Result<(), Raised> {
        let (Op::Is | Op::IsNot, Some(bindings)) = (op, &self.follow.bindings) else {
            return Ok(());
        };
        let [.., a, b] = &self.machine.stack[..] else { return Ok(()) };
        let are_containers = [a, b].into_iter().all(crate::cycles::holds);
        if !are_containers || ![a, b].into_iter().any(|it| bindings.has_container(it)) {
            return Ok(());
        }
        let problem = "this asks which object a container of tensors is, that may be another one in each call; \
                       compare what it holds";
        self.refuse_for(problem.to_owned())
    }

    fn refuse_chosen(&mut self) -> Result<(), Raised> {
        self.follow.is_about_chosen |= self.follow.refused.is_none();
        self.refuse(refused_here(FINDS_CHOSEN.to_owned()))
    }

    /// A body comes by a value that was there before; an error if its state cannot be seen.
    pub(crate) fn find(&mut self, value: &Value) -> Result<(), Raised> {
        if !can_change(value) {
            return Ok(());
        }
        let world = &mut self.follow.world;
        match world.grow(value.clone()) {
            Err(refused) => self.refuse(refused),
            Ok(()) if self.follow.bindings.as_ref().is_some_and(|it| it.finds_chosen(world)) => {
                self.refuse_chosen()
            }
            Ok(()) if self.follow.bindings.as_ref().is_some_and(|it| it.are_in(world)) => {
                self.refuse(refused_here(READS_LIST.to_owned()))
            }
            Ok(()) => Ok(()),
        }
    }

    /// The operation before this one has run; an error if it changed what is watched.
    fn refuse_changes(&mut self) -> Result<(), Raised> {
        let Some(changed) = self.follow.watched.iter().find(|it| !it.is_unchanged_or_gone()) else {
            return Ok(());
        };
        let what = changed.described();
        // Handlers of the body run as they would.
        self.follow.watched.clear();
        self.refuse_for(format!(
            "this changes {what}, as an earlier call did, and a run without the body would lose that; \
             change tensors in place (`x.add_(1)`), return what is new, or trace without without_host"
        ))
    }

    /// The operation before this one has run; an error if it looked at a number that differs from call to call, and that must not be, or at one
    /// that only a graph gives.
    fn refuse_look(&mut self) -> Result<(), Raised> {
        // Once: what leaves a block on the way out has to run.
        if self.follow.refused.is_some() {
            return Ok(());
        }
        match &self.follow.tracking {
            Some(it) if it.is_read_early() => self.refuse(read_early()),
            Some(it) if it.has_refused() => self.refuse(looked()),
            _ => Ok(()),
        }
    }

    /// An error if a native acts outside of the program, or depends on what is there.
    pub(crate) fn refuse_outside(
        &mut self,
        row: &'static NativeFn,
        args: &mut [Value],
    ) -> Result<(), Raised> {
        if !acts_outside(row) {
            return Ok(());
        }
        // They are on the stack no longer.
        self.plain_args(args);
        self.refuse_for(format!(
            "{}() acts outside of the tensors, and a run without the body would not do it; call it outside, \
             or trace without without_host",
            row.name
        ))
    }

    /// An error if Python is asked for something, which acts outside too.
    pub(crate) fn refuse_python(&mut self) -> Result<(), Raised> {
        let problem = "Python is asked for something here, and a run without the body would not ask; do it outside, or trace \
                       without without_host";
        self.refuse_for(problem.to_owned())
    }

    fn refuse_for(&mut self, problem: String) -> Result<(), Raised> {
        self.refuse(Raised::new(&TRACE_ERROR, format!("without_host=True: {problem}")))
    }

    /// The objects that the frames of the body hold, its own and those of functions that it has called.
    fn held_by_frames(&self) -> Vec<Value> {
        let home = self.machine.frames.get(self.follow.n_frames.wrapping_sub(1));
        let base = home.map_or(0, |it| it.base).min(self.machine.stack.len());
        let held = self.machine.stack[base..].iter();
        held.filter(|it| it.address().is_some()).cloned().collect()
    }

    fn note_place(&mut self) {
        if self.follow.place.is_none() {
            let is_step = self.follow.bindings.is_some();
            let home = self.machine.frames.get(self.follow.n_frames.wrapping_sub(1));
            let own = home.filter(|_| is_step).map(|it| it.func.code.span(self.follow.at));
            self.follow.place = own.or_else(|| self.line_of_cell());
            self.follow.refused_at = is_step.then_some(self.follow.at);
        }
    }

    fn refuse(&mut self, refused: Raised) -> Result<(), Raised> {
        self.note_place();
        let refused = self.follow.refused.get_or_insert(refused).clone();
        if self.follow.strict {
            return Err(refused);
        }
        // The rest of the body runs as ever.
        self.mode = Mode::Eager;
        let mut found = self.follow.world.objects();
        found.extend(self.follow.named(&self.machine.stack));
        found.extend(self.held_by_frames());
        if let Some(tracking) = self.end_tracking(found) {
            tracking.give_up();
        }
        let stack = &mut self.machine.stack;
        self.follow.bindings.as_mut().map_or(Ok(()), |it| it.release(stack))
    }
}

/// Whether what operation `at` makes is stored at once, as an item or an attribute.
fn is_stored_next(code: &Code, at: usize) -> bool {
    let finds_place = |it: &&Op| {
        matches!(
            it.unjoined(),
            Op::Const(_)
                | Op::Local(_)
                | Op::Global(_)
                | Op::Cell(_)
                | Op::Free(_)
                | Op::Attr { .. }
        )
    };
    let next = code.ops[at + 1..].iter().find(|it| !finds_place(it));
    matches!(next, Some(Op::SetIndex | Op::SetAttr { .. }))
}

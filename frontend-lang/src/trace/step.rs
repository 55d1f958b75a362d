//! Steps of a traced cell: the body of a loop, or the whole cell; and of functions that it calls, where a loop of those has the steps
//! of training ([`super::stepped`]).
//!
//! Of loops inside each other the outer one is the step, unless the inner one has most of its ops and the tape is not walked outside of it:
//! then that is. It is seen in the first
//! round of the outer one, which is traced whole, up to [`MOST_TRIED`] ops.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use engine::trace::{self, Options, Pace, Traced, Turn};

use super::alone::{InVain, Unit};
use super::cuts::Cuts;
use super::names::Leaving;
use super::piece::{Begun, Entered, Piece, Stand};
use super::{next_turn, pace_of, paced, why_eager};
use crate::bytecode::Code;
use crate::cx::Mode;
use crate::native::*;

/// The type of steps; programs never see one.
static STEP: NativeType = NativeType {
    module: "notegrad.jit",
    ..NativeType::plain("trace_step", "One step of a traced cell.")
};

/// Ops of a round that is traced whole to see where they are.
const MOST_TRIED: usize = 4096;

/// Updates of parameters in a round that make a loop in a function, in which they are, one of steps.
const MOST_UPDATES: usize = 8;

/// One step of a traced cell.
pub struct Step {
    /// All of it.
    whole: Rc<Piece>,
    /// Its pieces, where it does not run as a whole.
    cuts: Cuts,
    /// Rounds in which no body of a piece ran.
    n_alone: Cell<usize>,
    options: Options,
    /// What runs now; inner ones run inline in the outermost.
    runs: RefCell<Vec<Run>>,
    /// Whether tracing pays; `None` where it is asked for in any case.
    pace: Option<Pace>,
    /// The source in which it ran last, and the line of its loop.
    place: RefCell<(String, Option<usize>)>,
    nested: Nested,
}

/// How a step lies in others.
#[derive(Default)]
struct Nested {
    outer: Option<Value>,
    /// The step that runs around the function whose step this is.
    around: RefCell<Option<Value>>,
    /// Whether there is a step inside.
    has_inner: Cell<bool>,
    /// Ops of the steps inside, in the round that runs.
    n_inner_ops: Cell<usize>,
    /// Whether one of these, and not what is around it, has walked a tape backwards.
    inner_walks: Cell<bool>,
    /// Where the ops are; `None` before the first round has ended.
    is_step: Cell<Option<bool>>,
}

/// A step that runs.
struct Run {
    begun: Begun,
    /// What has begun so.
    piece: Rc<Piece>,
    /// How that was decided; `None` where there was no choice.
    turn: Option<Turn>,
    /// Ops of the running trace before it.
    n_ops: usize,
    /// Whether that had walked a tape backwards before it.
    had_walked: bool,
    /// How often it had, behind updates.
    n_walks: usize,
    course: Course,
    /// Whether functions had steps before it.
    were_sought: bool,
}

/// How a round runs.
#[derive(Clone, Copy, PartialEq)]
enum Course {
    AsWritten,
    Whole,
    /// In pieces, none of which has run its body so far (`are_answered`), or some.
    Pieces {
        are_answered: bool,
    },
}

/// How a step goes on where a statement begins.
pub(crate) enum Cut {
    /// With that statement.
    Here,
    /// Behind a piece that was answered.
    Behind(usize),
    /// By leaving its loop, as a piece does that was answered.
    Breaks,
}

/// A step of a traced cell, as others see it.
pub struct CellStep {
    /// Where it stands: `In[3]`, or the name of a module.
    pub source: String,
    /// The line of its loop, from 1; `None` when the step is the whole cell.
    pub line: Option<usize>,
    /// What was recorded.
    pub traced: Traced,
    /// How often it ran as written.
    pub n_eager: usize,
    /// How often it ran without its body.
    pub n_alone: usize,
    /// What prevents that; empty where nothing is known to.
    pub prevented: String,
    /// The names of its tensor arguments.
    pub args: Vec<String>,
}

impl Step {
    /// A step that has not run yet, in the body of another one or in none.
    pub fn new(options: Options, outer: Option<Value>) -> Step {
        if let Some(outer) = outer.as_ref().and_then(Value::downcast::<Step>) {
            outer.nested.has_inner.set(true);
        }
        let pace = pace_of(&options, false);
        let options = paced(options, pace.as_ref());
        let whole = Rc::new(Piece::new(options.clone()));
        let nested = Nested { outer, ..Nested::default() };
        let (cuts, n_alone, runs, place) = Default::default();
        Step { whole, cuts, n_alone, options, runs, pace, place, nested }
    }

    /// Notes in which source it runs, and the line of its loop.
    pub(super) fn stands_at(&self, source: &str, line: Option<usize>) {
        self.place.replace((source.to_owned(), line));
    }

    /// Where it ran, and what was recorded; `None` where nothing was, as another step around it or inside runs traced.
    pub fn seen(&self) -> Option<CellStep> {
        let (source, line) = self.place.borrow().clone();
        let n_eager = self.pace.as_ref().map_or(0, Pace::n_eager);
        let n_alone = self.whole.n_alone() + self.n_alone.get();
        let shown = self.cuts.largest().unwrap_or_else(|| self.whole.clone());
        shown.settle();
        let (traced, args) = (shown.traced().clone(), shown.args());
        let has_run = n_eager + n_alone + traced.stats().calls > 0;
        let prevented = self.pace.as_ref().and_then(why_eager).unwrap_or_else(|| self.prevented());
        let seen = || CellStep { source, line, traced, n_eager, n_alone, prevented, args };
        (has_run && self.is_step()).then(seen)
    }

    fn prevented(&self) -> String {
        if self.is_many_steps() {
            return "runs as written: a round is many steps of training".to_owned();
        }
        match (self.cuts.is_cut(), self.cuts.why_whole()) {
            (true, _) => self.cuts.words(),
            (false, None) => self.whole.prevented(),
            (false, Some(why)) => match self.whole.prevented() {
                it if it.is_empty() => it,
                it => format!("{it}; not cut there: {why}"),
            },
        }
    }

    fn is_many_steps(&self) -> bool {
        self.whole.is_many_steps.get()
    }

    /// Enters it; the body are these operations of the cell's code. `Some` where it was answered: whether it ends its loop by `break`.
    fn begin(
        &self,
        cx: &mut Cx,
        code: &Rc<Code>,
        body: Range<usize>,
    ) -> Result<Option<bool>, Raised> {
        if cx.mode == Mode::Shadow {
            cx.shadow().memory.compiled = true;
            return Ok(None);
        }
        self.runs_in(cx.steps.innermost());
        self.end_trial();
        let is_inside = trace::active() || !self.is_step();
        let turn = if is_inside { None } else { next_turn(self.pace.as_ref(), cx) };
        let is_written = is_inside || turn.is_some_and(Turn::is_eager) || self.is_many_steps();
        let course = match (is_written, self.cuts.is_cut()) {
            (true, _) => Course::AsWritten,
            (false, true) => Course::Pieces { are_answered: true },
            (false, false) => Course::Whole,
        };
        let begun = match course {
            Course::AsWritten | Course::Pieces { .. } => Ok(Entered::Body(Begun::AsWritten)),
            Course::Whole => {
                self.cuts.look(code, &body);
                let stand = Stand { step: body.start, ops: body };
                self.whole.begin(cx, code, stand)
            }
        };
        match begun {
            Ok(Entered::Body(begun)) => {
                let (n_ops, had_walked) = (trace::n_ops().unwrap_or(0), trace::has_walked());
                let piece = self.whole.clone();
                let were_sought = cx.steps.seek(self.seeks());
                let n_walks = trace::n_updated_walks();
                let run =
                    Run { begun, piece, turn, n_ops, had_walked, n_walks, course, were_sought };
                self.runs.borrow_mut().push(run);
                Ok(None)
            }
            Ok(Entered::Answered(leaving)) => {
                self.timed(turn, true);
                Ok(Some(leaving == Leaving::Loop))
            }
            Err(raised) => {
                self.timed(turn, false);
                Err(raised)
            }
        }
    }

    /// Comes to where one of its statements begins, or to the end of the last one: this is that operation of the cell's code.
    fn cut(&self, cx: &mut Cx, code: &Rc<Code>, at: usize) -> Result<Cut, Raised> {
        let course = self.runs.borrow().last().map(|it| it.course);
        if !matches!(course, Some(Course::Pieces { .. })) || !self.cuts.is_edge(at) {
            return Ok(Cut::Here);
        }
        self.end_piece(cx, Leaving::Itself)?;
        if self.cuts.end() == Some(at) {
            self.cuts.weigh(self.whole.n_ops.get().unwrap_or(0));
        }
        let Some((piece, stand)) = self.cuts.piece_at(at) else { return Ok(Cut::Here) };
        let behind = stand.ops.end;
        match piece.begin(cx, code, stand)? {
            Entered::Body(begun) => {
                if let Some(run) = self.runs.borrow_mut().last_mut() {
                    (run.begun, run.piece) = (begun, piece);
                    run.course = Course::Pieces { are_answered: false };
                    // It has a trace of its own.
                    (run.n_ops, run.had_walked, run.n_walks) = (0, false, 0);
                }
                Ok(Cut::Here)
            }
            Entered::Answered(Leaving::Itself) => Ok(Cut::Behind(behind)),
            Entered::Answered(Leaving::Round) => Ok(Cut::Behind(self.cuts.end().unwrap_or(behind))),
            Entered::Answered(Leaving::Loop) => {
                self.end(cx, true)?;
                Ok(Cut::Breaks)
            }
        }
    }

    /// Ends what has begun last, while the step goes on.
    fn end_piece(&self, cx: &mut Cx, leaving: Leaving) -> Result<(), Raised> {
        let (begun, piece) = match self.runs.borrow_mut().last_mut() {
            Some(run) => {
                let begun = std::mem::replace(&mut run.begun, Begun::AsWritten);
                if matches!(begun, Begun::Traced(..) | Begun::Followed(..)) {
                    let n_ops = trace::n_ops().map(|it| it.saturating_sub(run.n_ops));
                    run.piece.n_ops.set(n_ops);
                    run.piece.has_walked.set(trace::has_walked() && !run.had_walked);
                }
                (begun, run.piece.clone())
            }
            None => return Ok(()),
        };
        let res = piece.end(cx, begun, leaving);
        self.learn(&piece);
        res
    }

    /// Cuts the step where an attempt to leave out the body of a piece, or of all of it, came to nothing.
    fn learn(&self, piece: &Rc<Piece>) {
        if piece.is_many_steps.get() {
            self.whole.is_many_steps.set(true);
        }
        match piece.in_vain() {
            Some(InVain::At(at)) if !self.whole.traced().is_checked() => {
                self.cuts.cut_at(at, piece.as_written(), &self.options);
            }
            Some(InVain::Name(slot)) if !self.whole.traced().is_checked() => {
                self.cuts.cut_out(slot, piece.as_written_for(slot), &self.options);
            }
            Some(_) if !Rc::ptr_eq(piece, &self.whole) => self.cuts.give_up(&piece.prevented()),
            _ => {}
        }
    }

    /// Ends the trial of a step around this one, if its round has had too many ops, or this one a whole step of training: this one is traced
    /// from here on.
    fn end_trial(&self) {
        let around = self.nested.around.borrow().clone();
        let around = around.as_ref().and_then(Value::downcast::<Step>);
        let Some(outer) = self.outer().or(around) else { return };
        outer.end_trial();
        let walks = outer.nested.inner_walks.get();
        let is_seen = match around {
            // Functions have loops of other kinds: over layers, over parameters.
            Some(_) => walks && trace::n_updated_walks() > MOST_UPDATES,
            None => walks || trace::n_ops().is_some_and(|it| it > MOST_TRIED),
        };
        if outer.nested.is_step.get().is_some() || !is_seen {
            return;
        }
        outer.nested.has_inner.set(true);
        if let Some(run) = outer.runs.borrow_mut().last_mut()
            && let Begun::Traced(call, _) = std::mem::replace(&mut run.begun, Begun::AsWritten)
        {
            call.abort();
            outer.nested.is_step.set(Some(false));
        }
    }

    /// The body has come to its end, by `break` or by another way.
    fn end(&self, cx: &mut Cx, breaks: bool) -> Result<(), Raised> {
        if let Some(run) = self.runs.borrow().last() {
            self.count_ops(run);
        }
        let leaving = if breaks { Leaving::Loop } else { Leaving::Round };
        let res = self.end_piece(cx, leaving);
        let Some(run) = self.runs.borrow_mut().pop() else { return res };
        cx.steps.leave(run.were_sought);
        if run.course == (Course::Pieces { are_answered: true }) && self.cuts.is_cut() {
            self.n_alone.set(self.n_alone.get() + 1);
        }
        self.timed(run.turn, res.is_ok());
        res
    }

    /// Notes where the ops of a round are: in this step, or in one inside.
    fn count_ops(&self, run: &Run) {
        let Some(n_ops) = trace::n_ops() else { return };
        let n_ops = n_ops - run.n_ops;
        if let Some(outer) = self.outer() {
            outer.nested.n_inner_ops.set(outer.nested.n_inner_ops.get() + n_ops);
        }
        let walks =
            trace::has_walked() && !run.had_walked || trace::n_updated_walks() > run.n_walks;
        if walks {
            self.has_walked();
        }
        let n_inner = self.nested.n_inner_ops.take();
        if self.nested.is_step.get().is_none() && matches!(run.begun, Begun::Traced(..)) {
            // Loops over layers or parameters may have most ops of a step of training.
            let walks_itself = walks && !self.nested.inner_walks.get();
            self.nested.is_step.set(Some(walks_itself || 2 * n_inner <= n_ops));
        }
    }

    /// The body has ended with an error.
    fn fail(&self, cx: &mut Cx, error: &Value) {
        let Some(run) = self.runs.borrow_mut().pop() else { return };
        cx.steps.leave(run.were_sought);
        self.nested.n_inner_ops.set(0);
        run.piece.fail(cx, run.begun, error);
        self.timed(run.turn, false);
    }

    /// Notes in steps around this one that it has walked a tape backwards.
    fn has_walked(&self) {
        if let Some(outer) = self.outer() {
            outer.nested.inner_walks.set(true);
        }
        let mut top = self;
        while let Some(outer) = top.outer() {
            top = outer;
        }
        let around = top.nested.around.borrow().clone();
        if let Some(around) = around.as_ref().and_then(Value::downcast::<Step>) {
            around.nested.inner_walks.set(true);
            around.has_walked();
        }
    }

    /// Notes which step runs around the function, if this one is the outermost of a function. Where it calls itself that stays, so that
    /// no step is around itself.
    fn runs_in(&self, innermost: Option<&Value>) {
        if self.nested.outer.is_none() && self.runs.borrow().is_empty() {
            self.nested.around.replace(innermost.cloned());
        }
    }

    /// Whether functions that the body calls may have the steps.
    fn seeks(&self) -> bool {
        match self.nested.is_step.get() {
            _ if self.is_many_steps() => true,
            Some(is_step) => !is_step,
            None => trace::active(),
        }
    }

    fn timed(&self, turn: Option<Turn>, is_ok: bool) {
        if let (Some(pace), Some(turn)) = (&self.pace, turn) {
            pace.ends(turn, is_ok);
        }
    }

    fn outer(&self) -> Option<&Step> {
        self.nested.outer.as_ref()?.downcast::<Step>()
    }

    /// Whether the body is traced: it has no loop inside, or not most of its ops in one, as far as that is known.
    fn is_step(&self) -> bool {
        !self.nested.has_inner.get() || self.nested.is_step.get() != Some(false)
    }
}

impl Cx {
    /// Enters a step whose body are these operations; what is kept until it is left, and whether the body was answered: then it is whether
    /// that ends the loop.
    pub(crate) fn enter_step(
        &mut self,
        code: &Rc<Code>,
        step: Value,
        body: Range<usize>,
    ) -> Result<(Value, bool), Raised> {
        let answered = match step.downcast::<Step>() {
            Some(it) => it.begin(self, code, body)?,
            None => None,
        };
        Ok(match answered {
            Some(breaks) => (Value::Bool(breaks), true),
            None => {
                if self.mode != Mode::Shadow {
                    self.steps.enter(step.clone());
                }
                (step, false)
            }
        })
    }

    /// A step comes to where one of its statements begins, or to the end of the last one.
    pub(crate) fn cut_step(
        &mut self,
        code: &Rc<Code>,
        step: &Value,
        at: usize,
    ) -> Result<Cut, Raised> {
        match step.downcast::<Step>() {
            Some(it) if self.mode != Mode::Shadow => it.cut(self, code, at),
            _ => Ok(Cut::Here),
        }
    }

    /// The body of a step has come to its end.
    pub(crate) fn leave_step(&mut self, step: &Value, breaks: bool) -> Result<(), Raised> {
        match step.downcast::<Step>() {
            Some(it) if self.mode != Mode::Shadow => it.end(self, breaks),
            _ => Ok(()),
        }
    }
}

impl NativeObject for Step {
    fn native_type(&self) -> &'static NativeType {
        &STEP
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_constant(&self) -> bool {
        true
    }

    fn exit(&self, cx: &mut Cx, _this: &Value, error: &Value) -> Result<bool, Raised> {
        if cx.mode != Mode::Shadow {
            self.fail(cx, error);
        }
        Ok(false)
    }
}

//! Steps of a traced cell: the body of a loop, or the whole cell.
//!
//! Of loops inside each other the outer one is the step, unless the inner one has most of its ops: then that is. It is seen in the first
//! round of the outer one, which is traced whole, up to [`MOST_TRIED`] ops.

use std::any::Any;
use std::cell::{Cell, OnceCell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use engine::trace::{self, Call, Departure, Options, Pace, Stats, Traced, Turn};

use super::alone::{Alone, Next, Unit};
use super::check::{self, Foreseen};
use super::growing::Growing;
use super::names::{self, Names, ends_loop};
use super::notice::Told;
use super::under_way::UnderWay;
use super::variant::Asked;
use super::{asks_for_body, finish, next_turn, pace_of, why_eager};
use crate::bytecode::{Code, CodeKind};
use crate::cx::Mode;
use crate::native::*;
use crate::tensor::journal::Writes;

/// The type of steps; programs never see one.
static STEP: NativeType = NativeType {
    module: "notegrad.jit",
    ..NativeType::plain("trace_step", "One step of a traced cell.")
};

/// Ops of a round that is traced whole to see where they are.
const MOST_TRIED: usize = 4096;

/// One step of a traced cell.
pub struct Step {
    traced: Traced,
    /// What runs now; inner ones run inline in the outermost.
    runs: RefCell<Vec<Run>>,
    told: Told,
    /// What runs without the body; `None` where the options ask for the body.
    alone: Option<Alone>,
    /// What the body reads and binds, once it has been entered.
    names: OnceCell<Names>,
    /// Whether tracing pays; `None` where it is asked for in any case.
    pace: Option<Pace>,
    /// The cell in which it ran last, and the line of its loop.
    place: Cell<(usize, Option<usize>)>,
    nested: Nested,
}

/// How a step lies in others.
#[derive(Default)]
struct Nested {
    outer: Option<Value>,
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
    /// How that was decided; `None` where there was no choice.
    turn: Option<Turn>,
    /// Ops of the running trace before it.
    n_ops: usize,
    /// Whether that had walked a tape backwards before it.
    had_walked: bool,
}

/// How a body runs.
enum Begun {
    AsWritten,
    Traced(Call, Option<Writes>),
    Followed(Box<UnderWay>, Asked<'static>),
    /// As `Traced`, and compared with what its graph has given.
    Compared(Box<Comparison>),
}

/// A body that is compared with its graph.
struct Comparison {
    call: Call,
    asked: Asked<'static>,
    names: names::Call,
    foreseen: Foreseen,
    /// How long the lists were that it appends to.
    lengths: Vec<usize>,
}

/// What comes of entering a step.
enum Entered {
    /// The body runs.
    Body(Begun),
    /// It was answered without it.
    Answered { breaks: bool },
}

/// A step of a traced cell, as others see it.
pub struct CellStep {
    /// The number of the cell in which it ran last.
    pub cell: usize,
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
        let alone = (!asks_for_body(&options)).then(Alone::default);
        let nested = Nested { outer, ..Nested::default() };
        let (runs, told, place, names) = Default::default();
        Step { traced: Traced::new(options), runs, told, alone, names, pace, place, nested }
    }

    /// Notes in which cell it runs, and the line of its loop.
    pub fn stands_at(&self, cell: usize, line: Option<usize>) {
        self.place.set((cell, line));
    }

    /// Where it ran, and what was recorded; `None` where nothing was, as another step around it or inside runs traced.
    pub fn seen(&self) -> Option<CellStep> {
        let (cell, line) = self.place.get();
        let prevented = self.pace.as_ref().and_then(why_eager).unwrap_or_else(|| self.prevented());
        let n_eager = self.pace.as_ref().map_or(0, Pace::n_eager);
        let n_alone = self.alone.as_ref().map_or(0, Alone::n_runs);
        if let Some(alone) = &self.alone {
            alone.settle();
        }
        let has_run = n_eager + n_alone + self.traced.stats().calls > 0;
        let traced = self.traced.clone();
        let args = self.names.get().map_or_else(Vec::new, Names::of_tensors);
        let seen = || CellStep { cell, line, traced, n_eager, n_alone, prevented, args };
        (has_run && self.is_step()).then(seen)
    }

    fn prevented(&self) -> String {
        match &self.alone {
            _ if self.traced.is_checked() => check::WORDS.to_owned(),
            Some(alone) => alone.prevented(),
            None => "its options ask for the body".to_owned(),
        }
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
        self.end_trial();
        let is_inside = trace::active() || !self.is_step();
        let turn = if is_inside { None } else { next_turn(self.pace.as_ref(), cx) };
        let begun = match is_inside || turn.is_some_and(Turn::is_eager) {
            true => Ok(Entered::Body(Begun::AsWritten)),
            false => self.begin_traced(cx, code, body),
        };
        match begun {
            Ok(Entered::Body(begun)) => {
                let (n_ops, had_walked) = (trace::n_ops().unwrap_or(0), trace::has_walked());
                self.runs.borrow_mut().push(Run { begun, turn, n_ops, had_walked });
                Ok(None)
            }
            Ok(Entered::Answered { breaks }) => {
                self.timed(turn, true);
                Ok(Some(breaks))
            }
            Err(raised) => {
                self.timed(turn, false);
                Err(raised)
            }
        }
    }

    /// Ends the trial of a step around this one, if its round has had too many ops, or this one a whole step of training: this one is traced
    /// from here on.
    fn end_trial(&self) {
        let Some(outer) = self.outer() else { return };
        outer.end_trial();
        let is_long = || trace::n_ops().is_some_and(|it| it > MOST_TRIED);
        let is_seen = outer.nested.inner_walks.get() || is_long();
        if outer.nested.is_step.get().is_some() || !is_seen {
            return;
        }
        if let Some(run) = outer.runs.borrow_mut().last_mut()
            && let Begun::Traced(call, _) = std::mem::replace(&mut run.begun, Begun::AsWritten)
        {
            call.abort();
            outer.nested.is_step.set(Some(false));
        }
    }

    fn begin_traced(
        &self,
        cx: &mut Cx,
        code: &Rc<Code>,
        body: Range<usize>,
    ) -> Result<Entered, Raised> {
        let alone = self.alone.as_ref().filter(|_| code.kind == CodeKind::Module);
        let Some(alone) = alone else { return self.record(&[]) };
        let names = self.names.get_or_init(|| Names::of(code, body));
        let call = names.call();
        if call.is_new {
            alone.clear();
        }
        let ask = || match names.refusal() {
            Some(refusal) => Err(Raised::new(&TRACE_ERROR, refusal)),
            None => call.asked(),
        };
        match alone.next(cx, self, ask) {
            (Next::Given(given), _) => {
                let given = given?;
                names.bind(&given, &call)?;
                Ok(Entered::Answered { breaks: ends_loop(&given) })
            }
            (Next::Follow(variant), Some(asked)) => {
                let bindings = names.follow(&call);
                let under_way = alone.begin(
                    cx,
                    self,
                    &asked,
                    call.as_args(),
                    (variant, Some(bindings), false),
                )?;
                if let Some(bindings) = &cx.follow.bindings {
                    bindings.enter(&under_way.tracked);
                }
                Ok(Entered::Body(Begun::Followed(Box::new(under_way), asked)))
            }
            (Next::Compare(foreseen), Some(asked)) => {
                let traced = self.traced.begin(&tensors(&call))?;
                let lengths = call.growing.iter().map(Growing::len).collect();
                let (foreseen, names) = (*foreseen, call);
                let comparison = Comparison { call: traced, asked, names, foreseen, lengths };
                Ok(Entered::Body(Begun::Compared(Box::new(comparison))))
            }
            _ => self.record(&tensors(&call)),
        }
    }

    /// Begins to run the body under the trace.
    fn record(&self, args: &[engine::Tensor]) -> Result<Entered, Raised> {
        let call = self.traced.begin(args)?;
        let writes = call.asks_for_stores().then(Writes::begin);
        Ok(Entered::Body(Begun::Traced(call, writes)))
    }

    /// The body has come to its end, by `break` or by another way.
    fn end(&self, cx: &mut Cx, breaks: bool) -> Result<(), Raised> {
        let Some(run) = self.runs.borrow_mut().pop() else { return Ok(()) };
        self.count_ops(&run);
        let res = match run.begun {
            Begun::AsWritten => Ok(()),
            Begun::Traced(call, writes) => match finish(call, &[], writes) {
                Ok(finished) => self.tell(cx, finished.stats),
                Err(error) => Err(error.into()),
            },
            Begun::Followed(under_way, asked) => self.end_followed(cx, *under_way, &asked, breaks),
            Begun::Compared(comparison) => self.end_compared(cx, *comparison, breaks),
        };
        self.timed(run.turn, res.is_ok());
        res
    }

    /// Notes where the ops of a round are: in this step, or in one inside.
    fn count_ops(&self, run: &Run) {
        let Some(n_ops) = trace::n_ops() else { return };
        let n_ops = n_ops - run.n_ops;
        if let Some(outer) = self.outer() {
            outer.nested.n_inner_ops.set(outer.nested.n_inner_ops.get() + n_ops);
            if trace::has_walked() && !run.had_walked {
                outer.nested.inner_walks.set(true);
            }
        }
        let n_inner = self.nested.n_inner_ops.take();
        if self.nested.is_step.get().is_none() && matches!(run.begun, Begun::Traced(..)) {
            self.nested.is_step.set(Some(2 * n_inner <= n_ops));
        }
    }

    fn end_followed(
        &self,
        cx: &mut Cx,
        under_way: UnderWay,
        asked: &Asked<'_>,
        breaks: bool,
    ) -> Result<(), Raised> {
        let (Some(alone), Some(names)) = (&self.alone, self.names.get()) else { return Ok(()) };
        let bindings = cx.follow.bindings.as_ref();
        let given = bindings.map_or(Value::None, |it| it.given(breaks));
        let read = bindings.map_or_else(Vec::new, |it| it.read.clone());
        alone.end(cx, self, asked, under_way, Ok(given))?;
        names.learn(&read);
        Ok(())
    }

    fn end_compared(&self, cx: &mut Cx, ended: Comparison, breaks: bool) -> Result<(), Raised> {
        let Comparison { call, asked, names: called, foreseen, lengths } = ended;
        let (Some(alone), Some(names)) = (&self.alone, self.names.get()) else { return Ok(()) };
        let finished = match finish(call, &[], None) {
            Ok(finished) => finished,
            Err(error) => {
                alone.keep(foreseen.variant);
                return Err(error.into());
            }
        };
        self.tell(cx, finished.stats)?;
        let actual = |given: &Value| names.given(given, &called, &lengths, breaks);
        alone.compare(cx, &asked, foreseen, actual)
    }

    /// The body has ended with an error.
    fn fail(&self, cx: &mut Cx, error: &Value) -> Result<(), Raised> {
        let Some(run) = self.runs.borrow_mut().pop() else { return Ok(()) };
        self.nested.n_inner_ops.set(0);
        match run.begun {
            Begun::AsWritten => {}
            Begun::Traced(call, _) => call.abort(),
            Begun::Compared(comparison) => {
                comparison.call.abort();
                if let Some(alone) = &self.alone {
                    alone.keep(comparison.foreseen.variant);
                }
            }
            Begun::Followed(under_way, asked) => {
                if let (Some(alone), Value::Instance(error)) = (&self.alone, error) {
                    let raised = Raised::from_instance(error.clone());
                    // It goes on from where it is.
                    let _ = alone.end(cx, self, &asked, *under_way, Err(raised));
                }
            }
        }
        self.timed(run.turn, false);
        Ok(())
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

/// The tensors that a body is called with.
fn tensors(call: &names::Call) -> Vec<engine::Tensor> {
    call.args.iter().filter_map(|it| it.as_tensor().map(|it| it.get())).collect()
}

impl Unit for Step {
    fn traced(&self) -> &Traced {
        &self.traced
    }

    fn keep_call(&self, _asked: &Asked<'_>) {}

    fn tell(&self, cx: &mut Cx, stats: Stats) -> Result<(), Raised> {
        // Another name has come to be an argument: that is nothing that a user has done.
        if let Some(Departure::Arguments { recorded, now }) = &stats.departure
            && recorded.len() != now.len()
        {
            cx.departure = None;
            return Ok(());
        }
        self.told.tell(cx, "this step", &stats);
        Ok(())
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
            None => (step, false),
        })
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
            self.fail(cx, error)?;
        }
        Ok(false)
    }
}

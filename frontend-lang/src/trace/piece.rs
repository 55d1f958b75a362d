//! A piece of a step: statements that are traced as one, and may run without being interpreted. Most steps are one piece.

use std::cell::{Cell, OnceCell};
use std::ops::Range;
use std::rc::Rc;

use engine::trace::{Call, Departure, Options, Stats, Traced};

use super::alone::{Alone, InVain, Next, Unit};
use super::asked::Asked;
use super::check::{self, Foreseen};
use super::growing::Growing;
use super::home::{Home, Name};
use super::names::{self, Leaving, Names, leaving};
use super::notice::Told;
use super::under_way::UnderWay;
use super::{asks_for_body, finish};
use crate::bytecode::{Code, CodeKind};
use crate::native::*;
use crate::tensor::journal::Writes;

/// Statements that are traced as one.
pub(super) struct Piece {
    traced: Traced,
    told: Told,
    /// What runs without the body; `None` where the options ask for the body.
    alone: Option<Alone>,
    /// What the body reads and binds, once it has been entered.
    names: OnceCell<Names>,
    /// Whether a round was given up that is many steps of training.
    pub(super) is_many_steps: Cell<bool>,
    /// Ops of the latest round in which the body ran under the trace.
    pub(super) n_ops: Cell<Option<usize>>,
    /// Whether that round walked a tape backwards in it.
    pub(super) has_walked: Cell<bool>,
}

/// Where a piece stands in the code of its cell.
#[derive(Clone)]
pub(super) struct Stand {
    pub(super) ops: Range<usize>,
    /// Where the step begins that it is a piece of.
    pub(super) step: usize,
}

/// How a body runs.
pub(super) enum Begun {
    AsWritten,
    Traced(Call, Option<Writes>),
    Followed(Box<UnderWay>, Box<Asked<'static>>),
    /// As `Traced`, and compared with what its graph has given.
    Compared(Box<Comparison>),
}

/// A body that is compared with its graph.
pub(super) struct Comparison {
    call: Call,
    asked: Asked<'static>,
    names: names::Call,
    foreseen: Foreseen,
    /// How long the lists were that it appends to.
    lengths: Vec<usize>,
}

/// What comes of entering a piece.
pub(super) enum Entered {
    /// The body runs.
    Body(Begun),
    /// It was answered without it.
    Answered(Leaving),
}

impl Piece {
    pub(super) fn new(options: Options) -> Piece {
        let alone = (!asks_for_body(&options)).then(Alone::default);
        let (told, names, is_many_steps, n_ops, has_walked) = Default::default();
        Piece { traced: Traced::new(options), told, alone, names, is_many_steps, n_ops, has_walked }
    }

    /// The same, whose body is followed as soon as a call has been recorded: what it is a piece of has been for a while.
    pub(super) fn soon(self) -> Piece {
        if let Some(alone) = &self.alone {
            alone.attempts.soon();
        }
        self
    }

    /// How often it ran without its body.
    pub(super) fn n_alone(&self) -> usize {
        self.alone.as_ref().map_or(0, Alone::n_runs)
    }

    /// What prevents that, in words; empty where nothing is known to.
    pub(super) fn prevented(&self) -> String {
        match &self.alone {
            _ if self.traced.is_checked() => check::WORDS.to_owned(),
            Some(alone) => alone.prevented(),
            None => "its options ask for the body".to_owned(),
        }
    }

    /// The same where what is around that line runs without its body.
    pub(super) fn as_written(&self) -> String {
        self.alone.as_ref().map_or_else(String::new, |it| it.prevented.as_written())
    }

    /// The same where lines that read a name do.
    pub(super) fn as_written_for(&self, name: Name) -> String {
        let name = self.names.get().map_or_else(String::new, |it| it.written(name));
        format!("what reads `{name}` runs as written: {}", self.prevented())
    }

    /// Where the latest attempt to leave out the body came to nothing, if that is not known yet.
    pub(super) fn in_vain(&self) -> Option<InVain> {
        let alone = self.alone.as_ref()?;
        let in_vain = alone.in_vain.take()?;
        if let (InVain::Chosen, Some(names)) = (in_vain, self.names.get()) {
            names.choose_no_longer();
            alone.attempts.soon();
            return None;
        }
        Some(in_vain)
    }

    /// Lets those who look at the latest call see it, if it was one without the body.
    pub(super) fn settle(&self) {
        if let Some(alone) = &self.alone {
            alone.settle();
        }
    }

    /// The names of its tensor arguments.
    pub(super) fn args(&self) -> Vec<String> {
        self.names.get().map_or_else(Vec::new, Names::of_tensors)
    }

    /// Enters it where it stands in the cell's code.
    pub(super) fn begin(
        &self,
        cx: &mut Cx,
        code: &Rc<Code>,
        stand: Stand,
    ) -> Result<Entered, Raised> {
        let alone = self.alone.as_ref().filter(|_| code.kind != CodeKind::Class);
        let home = Home::of(&cx.machine);
        let (Some(alone), Some(home)) = (alone, home) else { return self.record(&[]) };
        let names = self.names.get_or_init(|| Names::of(code, stand));
        let call = names.call(&cx.machine.stack, home);
        if call.is_new {
            alone.clear();
        }
        let ask = || match names.refusal() {
            Some(refusal) => Err(Raised::new(&TRACE_ERROR, refusal)),
            None => call.asked(),
        };
        let next = alone.next(cx, self, ask);
        if let Some(InVain::Nowhere) = alone.in_vain.get()
            && let Some(name) = call.unseen()
        {
            alone.in_vain.set(Some(InVain::Name(name)));
        }
        match next {
            (Next::Given(given), _) => {
                let given = given?;
                names.bind(&mut cx.machine.stack, &given, &call)?;
                Ok(Entered::Answered(leaving(&given)))
            }
            (Next::Follow(variant), Some(asked)) => {
                let bindings = names.follow(&call);
                let under_way =
                    alone.begin(cx, self, &asked, call.as_args(), (variant, bindings, false))?;
                if let Some(bindings) = &mut cx.follow.bindings {
                    bindings.enter(&mut cx.machine.stack, &under_way.tracked);
                }
                Ok(Entered::Body(Begun::Followed(Box::new(under_way), Box::new(asked))))
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

    /// Its body has come to its end.
    pub(super) fn end(&self, cx: &mut Cx, begun: Begun, leaving: Leaving) -> Result<(), Raised> {
        match begun {
            Begun::AsWritten => Ok(()),
            Begun::Traced(call, writes) => match finish(call, &[], writes) {
                Ok(finished) => self.tell(cx, finished.stats),
                Err(error) => Err(error.into()),
            },
            Begun::Followed(under_way, asked) => self.end_followed(cx, *under_way, &asked, leaving),
            Begun::Compared(comparison) => self.end_compared(cx, *comparison, leaving),
        }
    }

    fn end_followed(
        &self,
        cx: &mut Cx,
        under_way: UnderWay,
        asked: &Asked<'_>,
        leaving: Leaving,
    ) -> Result<(), Raised> {
        let (Some(alone), Some(names)) = (&self.alone, self.names.get()) else { return Ok(()) };
        let bindings = cx.follow.bindings.as_ref();
        let given = bindings.map_or(Value::None, |it| it.given(&cx.machine.stack, leaving));
        let read = bindings.map_or_else(Vec::new, |it| it.read.clone());
        alone.end(cx, self, asked, under_way, Ok(given))?;
        names.learn(&read);
        Ok(())
    }

    fn end_compared(&self, cx: &mut Cx, ended: Comparison, leaving: Leaving) -> Result<(), Raised> {
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
        let leaves = (&lengths[..], leaving);
        let actual =
            |cx: &Cx, given: &Value| names.given(&cx.machine.stack, given, &called, leaves);
        alone.compare(cx, &asked, foreseen, actual)
    }

    /// Its body has ended with an error.
    pub(super) fn fail(&self, cx: &mut Cx, begun: Begun, error: &Value) {
        match begun {
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
    }
}

/// The tensors that a body is called with.
fn tensors(call: &names::Call) -> Vec<engine::Tensor> {
    call.args.iter().filter_map(|it| it.as_tensor().map(|it| it.get())).collect()
}

impl Unit for Piece {
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
        if let Some(Departure::ManySteps { .. }) = stats.departure {
            // Where other rounds are known, this one is the exception.
            self.is_many_steps.set(stats.is_many_steps());
        }
        self.told.tell(cx, "this step", &stats);
        Ok(())
    }
}

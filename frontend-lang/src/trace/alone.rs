//! Runs without the body: once a function is known to do nothing but compute with tensors, its graph runs without its body.
//!
//! A call is answered by the graph when everything that the body can find is what it was in calls whose body has been followed to
//! its end: two of them came to the same ops, it read no value, and it left all that it found, but for tensors, as it was. Where
//! something differs, such as the learning rate, the body runs.
//!
//! A plain trace tries this by itself: what a run without the body would lose ends the attempt, and the next one waits longer. With
//! `trace(without_host=True)` it is refused at its line.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use engine::apply::anomaly::{self, Watch};
use engine::random;
use engine::trace::Following;

use super::TracedFn;
use super::follow::{Follow, Followed, LOOK, looked, read_early};
use super::node::Node;
use super::notice::line_of;
use super::numbers::{Found, Tracking, Tracks};
use super::prevented::Prevented;
use super::template::{Given, refused_here};
use super::variant::{Asked, Before, Variant, Way};
use super::world::World;
use crate::cx::Mode;
use crate::native::*;
use crate::value::Value;

/// Worlds whose graphs are kept.
const MOST: usize = 8;

/// Ways of one world that are kept.
const MOST_WAYS: usize = 8;

/// Ways that are run in one call, where what is read of tensors shows that the first is another one.
const MOST_TRIED: usize = 2;

/// Plain calls before a body is followed for the first time: one records, one shows that the recording answers.
const FIRST_WAIT: u32 = 2;

/// Longest wait between attempts, in calls.
const LONGEST_WAIT: u32 = 1 << 10;

/// Calls in a row whose body is followed, before that is given up for a while.
const MOST_FOLLOWED: u32 = 5;

/// Calls in a row of unknown worlds, after which those that are known are forgotten: they cost a look in each call.
const MOST_UNKNOWN: u32 = 64;

/// What a call has changed where no object but a tensor differs: the elements of tensors are not compared.
const STATE_OF_TENSORS: &str = "whether a tensor has a gradient, a history or hooks";

/// Places of a world that are compared before each call, where nobody has asked for it: about 30 us.
const MOST_PLACES: usize = 10_000;

/// The graphs of a function that run without its body.
#[derive(Default)]
pub(super) struct Alone {
    /// The one that was used last stands last.
    variants: RefCell<Vec<Variant>>,
    /// What earlier calls left changed; it is a mistake if another call changes it.
    changing: RefCell<Vec<Node>>,
    /// Numbers that they left changed: those are computed anew.
    tracks: Tracks,
    /// Calls in a row that looked at one of these, and came to nothing for that.
    n_looks: Cell<u32>,
    /// Calls without the body.
    n_runs: Cell<usize>,
    /// Whether the latest call was one.
    is_latest: Cell<bool>,
    /// Worlds so far.
    n_worlds: Cell<u64>,
    /// When a plain trace follows the body next.
    attempts: Attempts,
    /// Why that has led to nothing.
    prevented: Prevented,
}

/// What a call comes to that may run without the body.
enum Answer {
    Given(Res),
    /// The graph failed: the body names what is wrong, and the line.
    Failed,
    /// No graph is known for it.
    Unknown,
}

impl Answer {
    fn given(self) -> Option<Res> {
        match self {
            Answer::Given(res) => Some(res),
            Answer::Failed | Answer::Unknown => None,
        }
    }
}

/// When a body is followed, where nobody has asked for it.
struct Attempts {
    /// Calls until then.
    wait: Cell<u32>,
    /// How many it will be after the next attempt that comes to nothing.
    pause: Cell<u32>,
    /// Calls of this attempt.
    n_followed: Cell<u32>,
    /// Calls in a row for which no world was known.
    n_unknown: Cell<u32>,
}

impl Default for Attempts {
    fn default() -> Self {
        Self {
            wait: Cell::new(FIRST_WAIT),
            pause: Cell::new(FIRST_WAIT * 2),
            n_followed: Cell::new(0),
            n_unknown: Cell::new(0),
        }
    }
}

impl Attempts {
    /// Whether the body is to be followed now.
    fn is_due(&self) -> bool {
        let wait = self.wait.get();
        self.wait.set(wait.saturating_sub(1));
        wait == 0
    }

    fn came_to_nothing(&self) {
        self.n_followed.set(0);
        self.wait.set(self.pause.get());
        self.pause.set((self.pause.get() * 2).min(LONGEST_WAIT));
    }

    /// Another call is to be followed; false where there were too many of them.
    fn goes_on(&self) -> bool {
        self.n_followed.set(self.n_followed.get() + 1);
        let goes_on = self.n_followed.get() <= MOST_FOLLOWED;
        if !goes_on {
            self.came_to_nothing();
        }
        goes_on
    }

    fn succeeded(&self) {
        self.n_followed.set(0);
        self.n_unknown.set(0);
        self.pause.set(FIRST_WAIT * 2);
    }
}

impl Alone {
    /// Calls a function that is to run without its body, and does so where that is known to be the same.
    pub(super) fn call(&self, cx: &mut Cx, function: &TracedFn, args: CallArgs<'_>) -> Res {
        self.is_latest.set(false);
        if needs_body(cx) {
            return cx.call_with(&function.func, args);
        }
        let asked = Asked::new(&function.func, args)?;
        let variant = match self.take(&asked) {
            Some(known) => known,
            None => self.variant(&asked)?,
        };
        match self.answer(cx, function, &asked, &variant) {
            Answer::Given(res) => {
                self.keep(variant);
                res
            }
            Answer::Failed => {
                self.keep(variant);
                cx.call_with(&function.func, args)
            }
            Answer::Unknown => self.follow(cx, function, &asked, variant, true),
        }
    }

    /// Calls a function of a plain trace without its body, if that is known to be the same, or follows the body to see whether it could be
    /// left out. `None` where it is to be called as ever.
    pub(super) fn call_if_possible(
        &self,
        cx: &mut Cx,
        function: &TracedFn,
        args: CallArgs<'_>,
    ) -> Option<Res> {
        self.is_latest.set(false);
        let is_watched = cx.profile.is_some() || !cx.regions.is_empty();
        if cx.mode != Mode::Eager || is_watched || needs_body(cx) {
            return None;
        }
        let is_due = self.attempts.is_due();
        if !is_due && self.variants.borrow().is_empty() {
            return None;
        }
        let asked = match Asked::new(&function.func, args) {
            Ok(asked) => asked,
            Err(refused) => {
                if is_due {
                    self.prevented.note(&refused, None);
                }
                return self.cannot(is_due);
            }
        };
        let Some(variant) = self.take(&asked).or_else(|| self.small_variant(&asked, is_due)) else {
            self.miss();
            return self.cannot(is_due);
        };
        match self.answer(cx, function, &asked, &variant) {
            Answer::Unknown if is_due && variant.ways.len() < MOST_WAYS => {
                Some(self.follow(cx, function, &asked, variant, false))
            }
            answer => {
                self.keep(variant);
                let given = answer.given();
                if given.is_none() {
                    self.miss();
                }
                given
            }
        }
    }

    /// The call is to be made as ever; an attempt that was due has come to nothing.
    fn cannot(&self, was_due: bool) -> Option<Res> {
        if was_due {
            self.attempts.came_to_nothing();
        }
        None
    }

    /// The world as it is, where an attempt is due and it is small enough to be compared before each call.
    fn small_variant(&self, asked: &Asked<'_>, is_due: bool) -> Option<Variant> {
        match is_due.then(|| self.variant(asked))? {
            Ok(variant) if variant.world.n_places() <= MOST_PLACES => return Some(variant),
            Ok(_) => self.prevented.say("it finds too much to compare before each call", None),
            Err(refused) => self.prevented.note(&refused, None),
        }
        None
    }

    /// Runs the graph that is known for these arguments, if there is one.
    fn answer(
        &self,
        cx: &mut Cx,
        function: &TracedFn,
        asked: &Asked<'_>,
        variant: &Variant,
    ) -> Answer {
        let mut tried = None;
        for _ in 0..MOST_TRIED {
            let Some((at, mut numbers)) = variant.way(cx, asked, tried) else { break };
            match variant.ran(cx, asked, at, &mut numbers) {
                Ok(None) => tried = Some(at),
                Ok(Some(ran)) => {
                    let res = variant.commit(cx, asked, (at, &numbers), ran);
                    self.attempts.succeeded();
                    self.n_runs.set(self.n_runs.get() + 1);
                    self.is_latest.set(true);
                    function.keep_call(asked.args, asked.inputs.tensors.clone());
                    return Answer::Given(res);
                }
                Err(engine::Error::Interrupted) => {
                    return Answer::Given(Err(engine::Error::Interrupted.into()));
                }
                Err(_) => return Answer::Failed,
            }
        }
        Answer::Unknown
    }

    /// Lets those who look at the latest call see it, if it was one without the body.
    pub(super) fn settle(&self) {
        if self.is_latest.get()
            && let Some(variant) = self.variants.borrow().last()
        {
            variant.settle();
        }
    }

    /// How often the function ran without its body.
    pub(super) fn n_runs(&self) -> usize {
        self.n_runs.get()
    }

    /// What prevents that, in words.
    pub(super) fn prevented(&self) -> String {
        self.prevented.words()
    }

    /// Lets go of all graphs.
    pub(super) fn clear(&self) {
        let (variants, changing) = (self.variants.take(), self.changing.take());
        drop((variants, changing));
    }

    /// A call was made in a world that is not known.
    fn miss(&self) {
        let n = self.attempts.n_unknown.get() + 1;
        self.attempts.n_unknown.set(n);
        if n > MOST_UNKNOWN {
            self.attempts.n_unknown.set(0);
            self.clear();
        }
    }

    /// What was recorded in the world as it is.
    fn take(&self, asked: &Asked<'_>) -> Option<Variant> {
        let at = self.variants.borrow().iter().rposition(|it| it.is_for(asked))?;
        Some(self.variants.borrow_mut().remove(at))
    }

    /// The world as it is, of which nothing is recorded.
    fn variant(&self, asked: &Asked<'_>) -> Result<Variant, Raised> {
        // While numbers are tracked, a world knows them for what differs from call to call.
        let tracking = self.tracks.plant(&[], false);
        let world = World::of(&asked.roots);
        give_up(tracking);
        let world = world?;
        if asked.has_gradient_of(&world) {
            return Err(refused_here(
                "an argument is the gradient of a tensor that it finds; pass a clone()".to_owned(),
            ));
        }
        let sharing = asked.sharing(&world);
        let (ways, numbers) = (Vec::new(), Vec::new());
        let (latest, given) = (Cell::new(0), RefCell::default());
        Ok(Variant {
            number: self.number(),
            world,
            sharing,
            ways,
            is_seen: false,
            numbers,
            latest,
            given,
        })
    }

    fn number(&self) -> u64 {
        self.n_worlds.set(self.n_worlds.get() + 1);
        self.n_worlds.get()
    }

    fn keep(&self, variant: Variant) {
        let mut variants = self.variants.borrow_mut();
        if variants.len() >= MOST {
            let gone = variants.iter().position(|it| !it.world.can_return());
            variants.remove(gone.unwrap_or(0));
        }
        variants.push(variant);
    }

    /// Runs the body under the trace, and looks whether the graph could have done without it. If that is asked for (`strict`), what it
    /// would lose is an error.
    fn follow(
        &self,
        cx: &mut Cx,
        function: &TracedFn,
        asked: &Asked<'_>,
        mut variant: Variant,
        strict: bool,
    ) -> Res {
        if strict {
            self.tracks.follow_reads();
        }
        let refuses_looks = strict && self.n_looks.get() >= MOST_FOLLOWED;
        let tracking = self.tracks.plant(&asked.numbers, refuses_looks);
        let numbers_vary = tracking.is_some();
        let following = Following { world: variant.number, strict, numbers_vary };
        let drawn = random::state();
        let call = match function.traced.follow(&asked.inputs.tensors, following) {
            Ok(call) => call,
            Err(error) => {
                give_up(tracking);
                return Err(error.into());
            }
        };
        let mut before = variant.before(asked, drawn);
        let symbolic = function.traced.options().symbolic && !call.is_inline();
        let (positional, keywords) = asked.inputs.replaced(asked.args, &call, symbolic);
        let (mut tracked, mut named) = (positional.clone(), keywords.clone());
        if let Some(tracking) = &tracking {
            tracking.put_args(tracked.iter_mut().chain(named.iter_mut().map(|it| &mut it.1)));
        }
        let args = CallArgs { positional: &tracked, keywords: &named };
        let n_tensors = variant.world.n_tensors();
        let Followed { res, given, refused, line, world, tracking } =
            self.run_body(cx, &function.func, (args, &positional), &mut variant, tracking, strict);
        variant.world = world;
        let is_read_early = tracking.as_ref().is_some_and(Tracking::is_read_early);
        let refused = refused
            .or_else(|| is_read_early.then(read_early))
            .or_else(|| call.refused().map(Raised::from));
        let value = match (res, refused.clone().filter(|_| strict)) {
            (Ok(value), None) => value,
            (Ok(_), Some(refused)) => {
                give_up(tracking);
                return Err(refused);
            }
            (Err(raised), refused) => {
                give_up(tracking);
                self.attempts.came_to_nothing();
                return Err(instead(raised, refused));
            }
        };
        let mut given =
            given.unwrap_or_else(|| Given::of(&value, &positional, &variant.world, None));
        let stores = variant.stores(asked, &mut before);
        let finished = call.finish_storing(&given.results, Some(&stores));
        drop(stores);
        let is_refused = refused.is_some() && !strict;
        let fed = finished.as_ref().map_or(&[][..], |it| &it.fed);
        let looked_at = tracking.as_ref().and_then(Tracking::looked_at);
        let has_refused = tracking.as_ref().is_some_and(Tracking::has_refused);
        let strays = tracking.as_ref().map_or_else(Vec::new, Tracking::strays);
        let numbers = tracking.map_or_else(Found::default, |it| it.finish(fed));
        let finished = finished?;
        if has_refused {
            return Err(looked());
        }
        function.keep_call(asked.args, asked.inputs.tensors.clone());
        if !strict {
            function.tell(cx, finished.stats)?;
        }
        let has_grown = variant.world.n_tensors() != n_tensors;
        if has_grown {
            // It has found variables on its way that this call did not give to the graph.
            variant.number = self.number();
        }
        let (numbers, are_known) = variant.note_numbers(numbers);
        let is_confirmed = finished.confirmed && !has_grown && variant.is_seen && are_known;
        variant.is_seen = !has_grown;
        if let Some(refused) = refused {
            given.template = Err(refused);
        }
        let mut shown = shown(function, asked, &variant, before, (given, numbers), is_confirmed);
        // Perhaps for what it read: from now on that is followed.
        if shown.is_err() && is_refused && self.tracks.follow_reads() {
            shown = Ok(Shown::Unconfirmed);
        }
        if shown.is_ok() && !strays.is_empty() {
            shown = Ok(Shown::Change);
        }
        match &shown {
            Err(refused) => self.prevented.note(refused, line),
            Ok(Shown::Unconfirmed) if !are_known && looked_at.is_some() => {
                self.n_looks.set(self.n_looks.get() + 1);
                self.prevented.say(LOOK, looked_at.and_then(|it| line_of(cx, it)));
            }
            Ok(_) => self.n_looks.set(0),
        }
        self.learn(variant, shown, strays, strict)?;
        Ok(value)
    }

    /// Runs the body, which may not change what earlier calls have changed.
    fn run_body(
        &self,
        cx: &mut Cx,
        func: &Value,
        (args, positional): (CallArgs<'_>, &[Value]),
        variant: &mut Variant,
        tracking: Option<Tracking>,
        strict: bool,
    ) -> Followed {
        let watched = self.changing.borrow().iter().filter_map(Node::again).collect();
        let world = std::mem::take(&mut variant.world);
        let follow = Follow::new(world, watched, tracking, strict);
        cx.following(follow, positional, |cx| cx.call_with(func, args))
    }

    /// Keeps what a followed call has shown. An error if that has to be a way.
    fn learn(
        &self,
        mut variant: Variant,
        shown: Result<Shown, Raised>,
        strays: Vec<Node>,
        strict: bool,
    ) -> Result<(), Raised> {
        match shown {
            Ok(Shown::Way(way)) => {
                self.prevented.clear();
                if variant.ways.len() == MOST_WAYS {
                    variant.ways.remove(0);
                }
                variant.ways.push(*way);
            }
            Ok(Shown::Unconfirmed) => {
                if !self.attempts.goes_on() && self.prevented.words().is_empty() {
                    self.prevented.say("it comes to other ops in each call", None);
                }
            }
            Ok(Shown::Change) => {
                let is_new = self.note_changes(&variant.world, strays, strict);
                if strict {
                    return Ok(());
                }
                if !is_new {
                    self.attempts.came_to_nothing();
                }
                if variant.ways.is_empty() {
                    return Ok(());
                }
            }
            Err(refused) if strict => return Err(refused),
            Err(_) => {
                self.attempts.came_to_nothing();
                if variant.ways.is_empty() {
                    return Ok(());
                }
            }
        }
        self.keep(variant);
        Ok(())
    }

    /// A call has left changed what it found: numbers are followed from the next attempt on, of other things that sees at which line.
    /// `strays` hold numbers in places that were not followed. Whether there are new numbers to follow.
    fn note_changes(&self, world: &World, strays: Vec<Node>, strict: bool) -> bool {
        let changed: Vec<Node> = world.changed().collect();
        let is_new = [self.tracks.grow(&changed), self.tracks.grow(&strays)].contains(&true);
        let first = changed.first().or(strays.first());
        let what = first.map_or(STATE_OF_TENSORS.to_owned(), Node::described);
        self.prevented.say(&format!("it changes {what}"), None);
        match strict {
            true => self.changing.borrow_mut().extend(changed),
            false => drop(self.changing.replace(changed)),
        }
        is_new
    }
}

/// Puts the plain numbers back, where some were tracked.
fn give_up(tracking: Option<Tracking>) {
    if let Some(tracking) = tracking {
        tracking.give_up();
    }
}

/// Whether the body runs whatever is known: the first NaN is looked for, and named with the line that made it, or nothing is computed.
fn needs_body(cx: &Cx) -> bool {
    anomaly::watch() != Watch::Nothing || !cx.devices.is_cpu()
}

/// What a call has shown that began with these variables.
fn shown(
    function: &TracedFn,
    asked: &Asked<'_>,
    variant: &Variant,
    before: Before,
    (given, numbers): (Given, Rc<Found>),
    is_confirmed: bool,
) -> Result<Shown, Raised> {
    let template = given.template?;
    if !variant.world.is_but_gradients(&asked.roots) || !variant.leaves_gradients(&before) {
        return Ok(Shown::Change);
    }
    if !is_confirmed {
        return Ok(Shown::Unconfirmed);
    }
    let graph = function.traced.alone(&asked.inputs.tensors)?;
    if !variant.rehearses(&graph, asked, &before, &given.results) {
        let problem = "its graph gives something else than the body; trace without without_host";
        return Err(refused_here(problem.to_owned()));
    }
    Ok(Shown::Way(Box::new(Way::new(asked, graph, before, template, &given.made, numbers))))
}

/// What a followed call comes to.
enum Shown {
    /// The graph can do without the body.
    Way(Box<Way>),
    /// Another call of the same world has to come to the same.
    Unconfirmed,
    /// It left something changed besides tensors.
    Change,
}

/// What was refused in place of the error that the body has made of it, at the same line.
fn instead(raised: Raised, refused: Option<Raised>) -> Raised {
    let Some(mut refused) = refused else { return raised };
    refused.set_marks(raised.marks().to_vec());
    refused
}

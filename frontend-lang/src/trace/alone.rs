//! Runs without the body: once a function is known to do nothing but compute with tensors, its graph runs without its body.
//!
//! A call is answered by the graph when everything that the body can find is what it was in calls whose body has been followed to
//! its end: two of them came to the same ops, it read no value, and it left all that it found, but for tensors, as it was. Where
//! something differs, such as the learning rate, the body runs.
//!
//! A plain trace tries this by itself: what a run without the body would lose ends the attempt, and the next one waits longer. With
//! `trace(without_host=True)` it is refused at its line.

use std::cell::{Cell, RefCell};

use engine::apply::anomaly::{self, Watch};
use engine::random::Everywhere;
use engine::trace::{Stats, Traced};

use super::asked::Asked;
use super::check::Foreseen;
use super::home::Name;
use super::node::Node;
use super::numbers::{Tracking, Tracks};
use super::prevented::Prevented;
use super::template::refused_here;
use super::variant::{Variant, Way};
use crate::cx::Mode;
use crate::native::*;
use crate::tensor::device::DeviceObj;

/// Worlds whose graphs are kept.
const MOST: usize = 8;

/// Ways of one world that are kept: one for each size of the arguments.
const MOST_WAYS: usize = 32;

/// Calls that could have given another way, where there is no room, before one does: it costs as much as many calls.
const TURNED_AWAY: usize = 8;

/// Plain calls before a body is followed for the first time: one records, one shows that the recording answers.
const FIRST_WAIT: u32 = 2;

/// Longest wait between attempts, in calls.
const LONGEST_WAIT: u32 = 1 << 10;

/// Calls in a row whose body is followed, before that is given up for a while.
const MOST_FOLLOWED: u32 = 5;

/// Calls in a row of unknown worlds, after which those that are known are forgotten: they cost a look in each call.
const MOST_UNKNOWN: u32 = 64;

/// Places of a world that are compared before each call, where nobody has asked for it: about 30 us.
const MOST_PLACES: usize = 10_000;

/// Why a body is not left out that finds a list which it appends to.
pub(super) const READS_LIST: &str =
    "it also finds the list that it appends to in another way; reach that list by one name alone";

/// Why it is not that takes items out of a container, and comes by it otherwise.
pub(super) const FINDS_CHOSEN: &str =
    "it takes an item out of a container that it also finds in another way";

/// The graphs of a function that run without its body.
#[derive(Default)]
pub(super) struct Alone {
    /// The one that was used last stands last.
    pub(super) variants: RefCell<Vec<Variant>>,
    /// What earlier calls left changed; it is a mistake if another call changes it.
    pub(super) changing: RefCell<Vec<Node>>,
    /// Numbers that they left changed: those are computed anew.
    pub(super) tracks: Tracks,
    /// Calls in a row that looked at one of these, and came to nothing for that.
    pub(super) n_looks: Cell<u32>,
    /// Calls without the body.
    n_runs: Cell<usize>,
    /// Calls that could have given another way, where there was no room.
    n_turned_away: Cell<usize>,
    /// Whether the latest call was one.
    is_latest: Cell<bool>,
    /// Worlds so far.
    n_worlds: Cell<u64>,
    /// When a plain trace follows the body next.
    pub(super) attempts: Attempts,
    /// Why that has led to nothing.
    pub(super) prevented: Prevented,
    /// Where the latest attempt came to nothing, for those who have not heard of it yet.
    pub(super) in_vain: Cell<Option<InVain>>,
    /// Where tensors were made in the latest call, if nothing else was said.
    device: Cell<Option<DeviceObj>>,
}

/// What runs under a trace: a function, or a body in a cell.
pub(super) trait Unit {
    /// What was recorded.
    fn traced(&self) -> &Traced;

    /// Keeps what a call was made with, for those who look at it later.
    fn keep_call(&self, asked: &Asked<'_>);

    /// Tells what has happened in a call.
    fn tell(&self, cx: &mut Cx, stats: Stats) -> Result<(), Raised>;
}

/// Where an attempt to leave out a body came to nothing.
#[derive(Clone, Copy)]
pub(super) enum InVain {
    /// At this operation of the cell, or behind it.
    At(usize),
    /// Where this name is read: it is bound to something that cannot be seen.
    Name(Name),
    /// Where it comes by a container in another way that it takes items out of at places which differ.
    Chosen,
    /// Nowhere in particular: it is about what the body finds, or gives.
    Nowhere,
}

/// How a call goes.
pub(super) enum Next {
    /// Without the body: this is what it gives.
    Given(Res),
    /// The body is followed, in a world of which this is known: [`Alone::begin`].
    Follow(Box<Variant>),
    /// The body runs, and what it comes to is compared with this: [`Alone::compare`].
    Compare(Box<Foreseen>),
    /// The body runs as ever.
    Body,
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
pub(super) struct Attempts {
    /// Calls until then.
    wait: Cell<u32>,
    /// How many it will be after the next attempt that comes to nothing.
    pause: Cell<u32>,
    /// Calls of this attempt.
    n_followed: Cell<u32>,
    /// Calls in a row for which no world was known.
    n_unknown: Cell<u32>,
    /// Calls of this attempt that were the first with arguments of their kind.
    n_first: Cell<usize>,
}

impl Default for Attempts {
    fn default() -> Self {
        Self {
            wait: Cell::new(FIRST_WAIT),
            pause: Cell::new(FIRST_WAIT * 2),
            n_followed: Cell::new(0),
            n_unknown: Cell::new(0),
            n_first: Cell::new(0),
        }
    }
}

impl Attempts {
    /// The body is followed after one plain call.
    pub(super) fn soon(&self) {
        self.wait.set(1);
    }

    /// Whether the body is to be followed now.
    fn is_due(&self) -> bool {
        let wait = self.wait.get();
        self.wait.set(wait.saturating_sub(1));
        wait == 0
    }

    pub(super) fn came_to_nothing(&self) {
        self.n_followed.set(0);
        self.wait.set(self.pause.get());
        self.pause.set((self.pause.get() * 2).min(LONGEST_WAIT));
    }

    /// Another call is to be followed; false where there were too many of them. The first one of its kind (`is_first`) could not be confirmed.
    pub(super) fn goes_on(&self, is_first: bool) -> bool {
        if is_first && self.n_first.get() < MOST_WAYS {
            self.n_first.set(self.n_first.get() + 1);
            return true;
        }
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
        self.n_first.set(0);
        self.pause.set(FIRST_WAIT * 2);
    }
}

impl Alone {
    /// How a call goes that is to run without the body.
    pub(super) fn next_of_strict(
        &self,
        cx: &mut Cx,
        unit: &dyn Unit,
        asked: &Asked<'_>,
    ) -> Result<Next, Raised> {
        self.is_made_on(cx.devices.current());
        let variant = match self.take(asked) {
            Some(known) => known,
            None => self.variant(asked)?,
        };
        if unit.traced().is_checked() {
            let next = self.foresee(cx, asked, variant);
            return Ok(next.unwrap_or_else(Next::Follow));
        }
        let answer = self.answer(cx, unit, asked, &variant);
        if matches!(answer, Answer::Unknown) {
            return Ok(Next::Follow(Box::new(variant)));
        }
        self.keep(variant);
        Ok(answer.given().map_or(Next::Body, Next::Given))
    }

    /// How a call of a plain trace goes: without the body, if that is known to be the same; or its body is followed to see whether it could
    /// be left out. `ask` says what it is called with, or why that cannot be.
    pub(super) fn next<'a>(
        &self,
        cx: &mut Cx,
        unit: &dyn Unit,
        ask: impl FnOnce() -> Result<Asked<'a>, Raised>,
    ) -> (Next, Option<Asked<'a>>) {
        self.is_latest.set(false);
        let is_watched = cx.profile.is_some() || !cx.regions.is_empty();
        if cx.mode != Mode::Eager || is_watched || needs_body(cx) {
            return (Next::Body, None);
        }
        self.is_made_on(cx.devices.current());
        let is_due = self.attempts.is_due();
        if !is_due && self.variants.borrow().is_empty() {
            return (Next::Body, None);
        }
        let asked = match ask() {
            Ok(asked) => asked,
            Err(refused) => {
                if is_due {
                    self.refuse(&refused);
                }
                return (self.cannot(is_due), None);
            }
        };
        let known = self.take(&asked).or_else(|| self.small_variant(&asked, is_due));
        let Some(mut variant) = known else {
            self.miss();
            return (self.cannot(is_due), None);
        };
        let answered = match unit.traced().is_checked() {
            false => self.answer(cx, unit, &asked, &variant),
            true => match self.foresee(cx, &asked, variant) {
                Ok(next) => return (next, Some(asked)),
                Err(unknown) => {
                    variant = *unknown;
                    Answer::Unknown
                }
            },
        };
        let next = match answered {
            Answer::Unknown if is_due && has_room(&variant) => {
                return (Next::Follow(Box::new(variant)), Some(asked));
            }
            answer => {
                self.keep(variant);
                answer.given().map_or(Next::Body, Next::Given)
            }
        };
        if matches!(next, Next::Body) {
            self.miss();
        }
        (next, None)
    }

    /// The body runs as ever; an attempt that was due has come to nothing.
    fn cannot(&self, was_due: bool) -> Next {
        if was_due {
            self.attempts.came_to_nothing();
        }
        Next::Body
    }

    /// The world as it is, where an attempt is due and it is small enough to be compared before each call.
    fn small_variant(&self, asked: &Asked<'_>, is_due: bool) -> Option<Variant> {
        match is_due.then(|| self.variant(asked))? {
            Ok(variant) if variant.world.n_places() <= MOST_PLACES => return Some(variant),
            Ok(_) => {
                self.prevented.say("it finds too much to compare before each call", None);
                self.in_vain.set(Some(InVain::Nowhere));
            }
            Err(refused) => self.refuse(&refused),
        }
        None
    }

    /// An attempt has come to nothing for what the body is called with or finds.
    fn refuse(&self, refused: &Raised) {
        self.prevented.note(refused, None);
        let known = self.in_vain.take().filter(|it| matches!(it, InVain::Chosen));
        self.in_vain.set(known.or(Some(InVain::Nowhere)));
    }

    /// Runs the graph that is known for these arguments, if there is one.
    fn answer(&self, cx: &mut Cx, unit: &dyn Unit, asked: &Asked<'_>, variant: &Variant) -> Answer {
        match variant.outcome(cx, asked, true) {
            Ok(Some((at, numbers, ran))) => {
                let res = variant.commit(cx, asked, (at, &numbers), ran);
                self.attempts.succeeded();
                self.n_runs.set(self.n_runs.get() + 1);
                self.is_latest.set(true);
                unit.keep_call(asked);
                Answer::Given(res)
            }
            Ok(None) => Answer::Unknown,
            Err(engine::Error::Interrupted) => {
                Answer::Given(Err(engine::Error::Interrupted.into()))
            }
            Err(_) => Answer::Failed,
        }
    }

    /// The same where the body runs all the same, and is compared with it. The variant comes back where no graph is known.
    fn foresee(
        &self,
        cx: &mut Cx,
        asked: &Asked<'_>,
        variant: Variant,
    ) -> Result<Next, Box<Variant>> {
        let drawn = Everywhere::now();
        match variant.outcome(cx, asked, false) {
            Ok(Some(outcome)) => {
                let foreseen = Foreseen::new(variant, asked, outcome, drawn);
                Ok(Next::Compare(Box::new(foreseen)))
            }
            Ok(None) => Err(Box::new(variant)),
            Err(error) => {
                drawn.resume();
                self.keep(variant);
                let is_stopped = error == engine::Error::Interrupted;
                Ok(if is_stopped { Next::Given(Err(error.into())) } else { Next::Body })
            }
        }
    }

    /// Compares what a body has come to with what its graph has given; `actual` makes of the one the other.
    pub(super) fn compare(
        &self,
        cx: &mut Cx,
        asked: &Asked<'_>,
        foreseen: Foreseen,
        actual: impl FnOnce(&Cx, &Value) -> Value,
    ) -> Result<(), Raised> {
        let res = foreseen.compare(cx, asked, actual);
        self.attempts.succeeded();
        self.n_runs.set(self.n_runs.get() + 1);
        self.keep(foreseen.variant);
        res
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

    /// Whether calls in a row have come to nothing for a look at a number.
    pub(super) fn has_looked_often(&self) -> bool {
        self.n_looks.get() >= MOST_FOLLOWED
    }

    /// Lets go of all graphs.
    pub(super) fn clear(&self) {
        let (variants, changing) = (self.variants.take(), self.changing.take());
        drop((variants, changing));
    }

    /// Tensors are made on this device, if nothing else is said: what is known holds for one.
    fn is_made_on(&self, device: DeviceObj) {
        if self.device.replace(Some(device)).is_some_and(|it| it != device) {
            self.clear();
        }
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
        let world = asked.world();
        give_up(tracking);
        let world = world?;
        if asked.has_gradient_of(&world) {
            return Err(refused_here(
                "an argument is the gradient of a tensor that it finds; pass a clone()".to_owned(),
            ));
        }
        if asked.finds_chosen(&world) {
            self.in_vain.set(Some(InVain::Chosen));
            return Err(refused_here(FINDS_CHOSEN.to_owned()));
        }
        if !asked.is_apart_from(&world) {
            return Err(refused_here(READS_LIST.to_owned()));
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

    pub(super) fn number(&self) -> u64 {
        self.n_worlds.set(self.n_worlds.get() + 1);
        self.n_worlds.get()
    }

    /// Whether another way of a world is made of a call.
    pub(super) fn wants_way(&self, variant: &Variant) -> bool {
        let n_turned_away = self.n_turned_away.get() + usize::from(!has_room(variant));
        self.n_turned_away.set(n_turned_away);
        has_room(variant) || n_turned_away.is_multiple_of(TURNED_AWAY)
    }

    /// Keeps it. Where there is no room, each takes its turn to go, and not the one that was not used for the longest time: of sizes that
    /// come in turn, that is the next one.
    pub(super) fn keep_way(&self, variant: &mut Variant, way: Way) {
        match has_room(variant) {
            true => variant.ways.push(way),
            false => variant.ways[self.n_turned_away.get() / TURNED_AWAY % MOST_WAYS] = way,
        }
    }

    pub(super) fn keep(&self, variant: Variant) {
        let mut variants = self.variants.borrow_mut();
        if variants.len() >= MOST {
            let gone = variants.iter().position(|it| !it.world.can_return());
            variants.remove(gone.unwrap_or(0));
        }
        variants.push(variant);
    }
}

/// Whether another way is kept beside those that are known.
fn has_room(variant: &Variant) -> bool {
    variant.ways.len() < MOST_WAYS
}

/// Puts the plain numbers back, where some were tracked.
pub(super) fn give_up(tracking: Option<Tracking>) {
    if let Some(tracking) = tracking {
        tracking.give_up();
    }
}

/// Whether the body runs whatever is known: the first NaN is looked for, and named with the line that made it, or nothing is computed.
pub(super) fn needs_body(cx: &Cx) -> bool {
    anomaly::watch() != Watch::Nothing || !cx.devices.computes()
}

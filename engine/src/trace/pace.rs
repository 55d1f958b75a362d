//! Whether a function is quicker under the trace than as it was written: calls of both kinds are timed now and then, and those between
//! go the quicker way.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use smallvec::SmallVec;

use crate::cuda;

/// Calls under the trace before any is timed: recording and compiling are over by then.
const FIRST: u32 = 64;
/// Calls as written at first, of a function that will hardly be called more often.
const HELD: u32 = 2;
/// Timed calls of each kind.
const SAMPLES: usize = 16;
/// Untimed calls under the trace before those, which may have to come back to what was recorded.
const WARM: usize = 4;
/// A bit for each timed call: set for those as written. In no order, as what calls do may come in turns.
const ORDER: u32 = 0b1011_0010_0110_1101_0010_1100_1001_1001;
/// Calls from one trial to the next: at first, and at most.
const PAUSE: u32 = 1 << 10;
const LONGEST_PAUSE: u32 = 1 << 16;
/// Calls under the trace that record or compile, of which no trial takes the time: what they learn pays later. So many of one function.
const EXCUSED: u32 = 128;
/// How much longer than as written a call under the trace may take.
const LOSS: f64 = 1.05;

const _: () = assert!(ORDER.count_ones() as usize == SAMPLES);

thread_local! {
    /// How often a call took time that later ones need not take.
    static N_LEARNED: Cell<u64> = const { Cell::new(0) };
}

/// The call that ends has recorded or compiled something, or was followed.
pub(super) fn note_learning() {
    N_LEARNED.set(N_LEARNED.get() + 1);
}

/// How the calls of one function go.
pub struct Pace {
    way: Cell<Way>,
    /// Calls that go this way before the next step.
    left: Cell<u32>,
    pause: Cell<u32>,
    trial: RefCell<Option<Box<Trial>>>,
    /// A call as written is being timed: those inside it are neither timed nor traced.
    timing: Cell<bool>,
    verdict: Cell<Option<Verdict>>,
    /// Calls as written.
    n_eager: Cell<usize>,
    /// Calls that may still learn something without being timed.
    excused: Cell<u32>,
}

#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// As written, until it has been called some times.
    Held,
    Traced,
    Eager,
}

/// What a trial has shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// Seconds of a call as written.
    pub eager: f64,
    /// Seconds of a call under the trace.
    pub traced: f64,
}

#[derive(Default)]
struct Trial {
    begun: usize,
    eager: SmallVec<[Duration; SAMPLES]>,
    traced: SmallVec<[Duration; SAMPLES]>,
    /// Calls that were not timed as they have learned something.
    n_excused: usize,
}

/// How a call goes.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    is_eager: bool,
    clock: Option<Instant>,
    /// How much was learned before it.
    n_learned: u64,
}

impl Turn {
    fn new(is_eager: bool, clock: Option<Instant>) -> Self {
        Self { is_eager, clock, n_learned: N_LEARNED.get() }
    }

    /// Whether the function runs as it was written.
    pub fn is_eager(self) -> bool {
        self.is_eager
    }
}

impl Verdict {
    /// Whether calls go as written.
    pub fn is_eager(self) -> bool {
        self.traced > self.eager * LOSS
    }
}

impl Pace {
    /// Of a function that has not been called. If it `is_fleeting`, because others that were made like it were called once or twice and
    /// dropped, nothing is recorded until it has been called more often than that.
    pub fn new(is_fleeting: bool) -> Self {
        let (way, left) = if is_fleeting { (Way::Held, HELD) } else { (Way::Traced, FIRST) };
        Self {
            way: Cell::new(way),
            left: Cell::new(left),
            pause: Cell::new(PAUSE),
            trial: RefCell::default(),
            timing: Cell::new(false),
            verdict: Cell::new(None),
            n_eager: Cell::new(0),
            excused: Cell::new(EXCUSED),
        }
    }

    /// How the next call goes. [`Pace::ends`] is told of its end.
    pub fn turn(&self) -> Turn {
        let turn = self.next_turn();
        self.n_eager.set(self.n_eager.get() + usize::from(turn.is_eager));
        turn
    }

    fn next_turn(&self) -> Turn {
        if self.timing.get() {
            return Turn::new(true, None);
        }
        if let Some(left) = self.left.get().checked_sub(1) {
            self.left.set(left);
            return Turn::new(self.way.get() != Way::Traced, None);
        }
        self.tried()
    }

    /// Whether the next call goes as written and nobody is told of its end; it counts then.
    #[inline]
    pub fn goes_plainly(&self) -> bool {
        let left = self.left.get();
        let goes = left > 0 && self.way.get() != Way::Traced;
        if goes {
            self.left.set(left - 1);
            self.n_eager.set(self.n_eager.get() + 1);
        }
        goes
    }

    /// A call of a trial, or the first behind one.
    #[cold]
    fn tried(&self) -> Turn {
        if self.way.get() == Way::Held {
            self.way.set(Way::Traced);
            self.left.set(FIRST);
            return self.next_turn();
        }
        let mut trial = self.trial.borrow_mut();
        let begun = trial.get_or_insert_default();
        let at = begun.begun;
        begun.begun += 1;
        if at == WARM + 2 * SAMPLES {
            let ended = trial.take();
            drop(trial);
            self.decide(ended);
            return self.next_turn();
        }
        let Some(sample) = at.checked_sub(WARM) else {
            return Turn::new(false, None);
        };
        let is_eager = ORDER >> sample & 1 == 1;
        self.timing.set(is_eager);
        cuda::wait();
        Turn::new(is_eager, Some(Instant::now()))
    }

    /// A call has ended, with a result or an error: only the time of the first counts, until GPUs have done what it asked of them. What
    /// it has learned, later calls need not learn again: that does not count either, for some time.
    pub fn ends(&self, turn: Turn, is_ok: bool) {
        let is_excused = N_LEARNED.get() != turn.n_learned && self.excuse();
        let Some(clock) = turn.clock else { return };
        cuda::wait();
        let time = clock.elapsed();
        self.timing.set(false);
        if let Some(trial) = self.trial.borrow_mut().as_mut().filter(|_| is_ok) {
            if is_excused {
                trial.n_excused += 1;
                return;
            }
            let times = if turn.is_eager { &mut trial.eager } else { &mut trial.traced };
            times.push(time);
        }
    }

    /// Whether a call may learn something without being timed; it counts then.
    fn excuse(&self) -> bool {
        let left = self.excused.get();
        self.excused.set(left.saturating_sub(1));
        left > 0
    }

    fn decide(&self, trial: Option<Box<Trial>>) {
        let before = self.way.get();
        let n_excused = trial.as_ref().map_or(0, |it| it.n_excused);
        let verdict = trial.and_then(|it| it.verdict());
        if verdict.is_none() && n_excused > 0 {
            // It is tried again soon, when there is less to learn.
            self.left.set(FIRST / 2);
            return;
        }
        if let Some(verdict) = verdict {
            self.way.set(if verdict.is_eager() { Way::Eager } else { Way::Traced });
            self.verdict.set(Some(verdict));
        }
        let is_same = self.way.get() == before && self.verdict.get().is_some();
        let pause = if is_same { self.pause.get() } else { PAUSE };
        self.left.set(pause);
        self.pause.set((pause * 4).min(LONGEST_PAUSE));
    }

    /// How many calls went as written.
    pub fn n_eager(&self) -> usize {
        self.n_eager.get()
    }

    /// What the latest trial has shown.
    pub fn verdict(&self) -> Option<Verdict> {
        self.verdict.get()
    }

    /// Whether it goes as written because others like it were hardly called.
    pub fn is_held(&self) -> bool {
        self.way.get() == Way::Held
    }

    /// Whether it has been called, but once or twice only.
    pub fn was_fleeting(&self) -> bool {
        match self.way.get() {
            Way::Held => self.left.get() < HELD,
            Way::Traced => {
                self.verdict.get().is_none() && (FIRST - HELD..FIRST).contains(&self.left.get())
            }
            Way::Eager => false,
        }
    }
}

impl Trial {
    /// `None` where too many calls have failed.
    fn verdict(mut self: Box<Self>) -> Option<Verdict> {
        let enough = self.eager.len().min(self.traced.len()) >= SAMPLES / 2;
        enough.then(|| Verdict { eager: usual(&mut self.eager), traced: usual(&mut self.traced) })
    }
}

/// The mean without the longest quarter, in seconds: other processes get in the way now and then.
fn usual(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    let usual = &times[..times.len() - times.len() / 4];
    usual.iter().sum::<Duration>().as_secs_f64() / usual.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls that take these times; how many of them went as written.
    fn calls(pace: &Pace, count: usize, eager: Duration, traced: Duration) -> usize {
        let call = |_| {
            let turn = pace.turn();
            let started = Instant::now();
            let length = if turn.is_eager() { eager } else { traced };
            while turn.clock.is_some() && started.elapsed() < length {}
            pace.ends(turn, true);
            turn.is_eager()
        };
        (0..count).map(call).filter(|it| *it).count()
    }

    const SHORT: Duration = Duration::from_micros(20);
    const LONG: Duration = Duration::from_micros(200);
    const TRIAL: usize = WARM + 2 * SAMPLES;

    #[test]
    fn what_loses_under_the_trace_runs_as_written() {
        let pace = Pace::new(false);
        assert_eq!(calls(&pace, FIRST as usize, SHORT, LONG), 0);
        assert_eq!(calls(&pace, TRIAL, SHORT, LONG), SAMPLES);
        assert_eq!(calls(&pace, PAUSE as usize, SHORT, LONG), PAUSE as usize);
        assert_eq!(pace.n_eager(), SAMPLES + PAUSE as usize);
        let verdict = pace.verdict().unwrap();
        assert!(verdict.is_eager() && verdict.traced > 4.0 * verdict.eager, "{verdict:?}");
        // The next trial, and what it decides if things have changed.
        assert_eq!(calls(&pace, TRIAL, LONG, SHORT), SAMPLES);
        assert_eq!(calls(&pace, PAUSE as usize, LONG, SHORT), 0);
    }

    #[test]
    fn what_wins_stays_traced_and_is_asked_less_often() {
        let pace = Pace::new(false);
        calls(&pace, FIRST as usize, LONG, SHORT);
        let mut pause = PAUSE as usize;
        for _ in 0..3 {
            assert_eq!(calls(&pace, TRIAL, LONG, SHORT), SAMPLES);
            assert_eq!(calls(&pace, pause, LONG, SHORT), 0);
            pause *= 4;
        }
    }

    #[test]
    fn what_is_still_learning_is_timed_later() {
        let pace = Pace::new(false);
        let mut n_traced = 0;
        while pace.verdict().is_none() {
            let turn = pace.turn();
            n_traced += usize::from(!turn.is_eager());
            let length = if turn.is_eager() { SHORT } else { LONG };
            let started = Instant::now();
            while turn.clock.is_some() && started.elapsed() < length {}
            if !turn.is_eager() {
                note_learning();
            }
            pace.ends(turn, true);
        }
        assert!(n_traced > EXCUSED as usize && n_traced < 2 * EXCUSED as usize, "{n_traced}");
        assert!(pace.verdict().unwrap().is_eager());
    }

    #[test]
    fn calls_that_fail_or_stand_inside_others_are_not_timed() {
        let pace = Pace::new(false);
        for _ in 0..FIRST as usize + TRIAL + 1 {
            let turn = pace.turn();
            if turn.is_eager() {
                assert!(pace.turn().is_eager() && pace.turn().clock.is_none());
            }
            pace.ends(turn, false);
        }
        assert_eq!(pace.verdict(), None);
        assert!(!pace.turn().is_eager());
    }

    #[test]
    fn a_fleeting_function_is_recorded_from_its_third_call_on() {
        let pace = Pace::new(true);
        assert!(!pace.was_fleeting() && pace.goes_plainly() && pace.was_fleeting());
        assert!(pace.turn().is_eager() && !pace.goes_plainly() && pace.was_fleeting());
        assert!(!pace.turn().is_eager() && !pace.is_held());
        let other = Pace::new(false);
        let seen: Vec<bool> = (0..4).map(|_| (other.was_fleeting(), other.turn()).0).collect();
        assert_eq!(seen, [false, true, true, false]);
    }
}

//! How long a cell would run before the error that it is certain to end with.
//!
//! Ops count by the engine's meter, operations of the machine a fixed time each, rounds of a loop that are left out as much as the one
//! before them. The estimate decides whether the cell runs up to its error, as in Python, or not at all; a factor of a few does no harm.

use engine::estimate;

use crate::bytecode::Op;
use crate::check::cut::{is_plain, size_left};
use crate::check::{STEPS, Shadow};
use crate::value::Value;

/// A cell that takes less until its error runs as far as that.
pub(crate) const QUICK: f64 = 1.0;

/// What an operation of the machine takes.
const PER_STEP: f64 = 5e-8;

/// What a native takes for each item that it goes through.
const PER_ITEM: f64 = 2e-8;

impl Shadow {
    /// Seconds that all that has been seen would take; infinite if nobody knows.
    pub(super) fn seconds(&self) -> f64 {
        estimate::seconds() + (STEPS - self.steps) as f64 * PER_STEP + self.left_out
    }

    /// Counts `rounds` rounds that are not seen, each like what was seen since `since`.
    pub(super) fn leave_out(&mut self, rounds: usize, since: f64) {
        self.left_out += (self.seconds() - since) * rounds as f64;
    }

    /// Counts the rest of a loop that is left before its end.
    pub(super) fn leave_rest(&mut self, iterator: &Value, round: &[Op], ip: usize) {
        let watched = self.watches.iter().rfind(|it| it.ip == ip).map(|it| it.round.since);
        let by_length = is_plain(round).then_some(round.len() as f64 * PER_STEP);
        let each = watched.map(|since| self.seconds() - since).or(by_length);
        self.left_out += match (size_left(iterator), each) {
            (Some(rounds), Some(seconds)) => rounds as f64 * seconds,
            _ => f64::INFINITY,
        };
    }

    /// Counts a native that goes through so many items.
    pub(super) fn go_through(&mut self, items: usize) {
        self.left_out += items as f64 * PER_ITEM;
    }

    /// Counts a pause.
    pub(super) fn pause(&mut self, seconds: f64) {
        self.left_out += seconds.max(0.0);
    }
}

/// How long that is, in words.
pub(crate) fn words(seconds: f64) -> String {
    match seconds {
        it if it.is_infinite() || it >= 86_400.0 => "long".into(),
        it if it >= 5_400.0 => format!("about {:.0} hours", it / 3_600.0),
        it if it >= 90.0 => format!("about {:.0} minutes", it / 60.0),
        it => format!("about {:.0} s", it.max(1.0)),
    }
}

#[test]
fn words_round_to_units() {
    let said: Vec<String> = [1.2, 40.0, 200.0, 9_000.0, f64::INFINITY].map(words).into();
    assert_eq!(said, ["about 1 s", "about 40 s", "about 3 minutes", "about 2 hours", "long"]);
}

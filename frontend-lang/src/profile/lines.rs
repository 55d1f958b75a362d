//! Which line a program spends its time in: the clock is read whenever another line begins, so code that comes with the language, ops and
//! natives count for the line that calls them.
//!
//! What a compiled call computes belongs to the lines of the ops that its graph holds: the engine times its launches
//! (`engine::lower::timing`), and what they take is taken off the line that waits for them.

use std::ops::Range;

use engine::Site;
use engine::lower::timing::{self, Noting, Taken};
use rustc_hash::FxHashMap;

use super::LineTaken;
use crate::bytecode::Code;
use crate::cx::Cx;
use crate::site::{self, Place};

/// Lines of a profile under way.
pub(super) struct Lines {
    rows: Vec<Row>,
    /// Rows by the first site of their code, and line.
    known: FxHashMap<(u32, usize), usize>,
    current: Option<Current>,
    /// What launches took; without a place where the site means none any more, whose time stays where they were waited for.
    launched: FxHashMap<Site, (Option<Place>, Taken)>,
    _noting: Noting,
}

struct Row {
    place: Place,
    /// The first operation that ran; when it runs again, the line is begun again.
    first: usize,
    times: usize,
    seconds: f64,
}

struct Current {
    row: usize,
    sites: u32,
    /// Where the line stands in its source.
    bytes: Range<u32>,
    since: f64,
}

impl Default for Lines {
    fn default() -> Self {
        let (known, launched) = Default::default();
        Self { rows: Vec::new(), known, current: None, launched, _noting: Noting::begin() }
    }
}

impl Lines {
    /// Whether an operation belongs to the line that runs.
    fn goes_on(&mut self, code: &Code, at: usize) -> bool {
        let Some(current) = &self.current else { return false };
        let goes_on = current.sites == code.sites && current.bytes.contains(&code.places[at].0);
        if goes_on {
            let row = &mut self.rows[current.row];
            row.times += usize::from(row.first == at);
        }
        goes_on
    }

    fn begin(&mut self, code: &Code, at: usize, now: f64) {
        self.pass(now);
        let Some((place, bytes)) = code.line(at) else { return };
        let next = self.rows.len();
        let row = *self.known.entry((code.sites, place.line)).or_insert(next);
        if row == next {
            self.rows.push(Row { place, first: at, times: 0, seconds: 0.0 });
        }
        self.rows[row].times += usize::from(self.rows[row].first == at);
        self.current = Some(Current { row, sites: code.sites, bytes, since: now });
    }

    fn pass(&mut self, now: f64) {
        let launched = self.note_launches();
        if let Some(current) = self.current.take() {
            self.rows[current.row].seconds += (now - current.since - launched).max(0.0);
        }
    }

    /// Gives the time of launches to their lines; how much that was.
    fn note_launches(&mut self) -> f64 {
        let mut sum = 0.0;
        for (site, taken) in timing::take() {
            let none = || (site::place(site), Taken::default());
            let (place, all) = self.launched.entry(site).or_insert_with(none);
            all.seconds += taken.seconds;
            all.times += taken.times;
            sum += if place.is_some() { taken.seconds } else { 0.0 };
        }
        sum
    }

    /// What each line took, most first.
    pub(super) fn taken(mut self, now: f64) -> Vec<LineTaken> {
        self.pass(now);
        let mut lines = ByLine::default();
        for Row { place, times, seconds, .. } in self.rows {
            // A line may hold a function, too.
            add(&mut lines, place, false, Taken { seconds, times });
        }
        let mut compiled = ByLine::default();
        for (site, (place, taken)) in self.launched {
            if let Some(place) = place {
                add(&mut compiled, place, site.is_gradient(), taken);
            }
        }
        for ((place, is_gradient), line) in compiled {
            let none = || LineTaken { times: 0, seconds: 0.0, ..line.clone() };
            let all = lines.entry((place, is_gradient)).or_insert_with(none);
            all.times += line.times;
            all.seconds += line.seconds;
        }
        let mut lines: Vec<LineTaken> = lines.into_values().collect();
        let order = |a: &LineTaken, b: &LineTaken| {
            let names = || (&a.place, a.is_gradient).cmp(&(&b.place, b.is_gradient));
            b.seconds.total_cmp(&a.seconds).then_with(names)
        };
        lines.sort_by(order);
        lines
    }
}

/// Lines and their gradients.
type ByLine = FxHashMap<(Place, bool), LineTaken>;

/// Adds what a part of a line took, which is begun each time that the line is, or less often.
fn add(lines: &mut ByLine, place: Place, is_gradient: bool, taken: Taken) {
    let none = || LineTaken { place: place.clone(), is_gradient, times: 0, seconds: 0.0 };
    let line = lines.entry((place.clone(), is_gradient)).or_insert_with(none);
    line.times = line.times.max(taken.times);
    line.seconds += taken.seconds;
}

impl Cx {
    /// Operation `at` is about to run.
    pub(crate) fn note_line(&mut self, code: &Code, at: usize) {
        let Some(profile) = self.profile.as_deref_mut().filter(|_| code.sites != 0) else { return };
        if !profile.lines.goes_on(code, at) {
            let now = self.host.monotonic();
            profile.lines.begin(code, at, now);
        }
    }
}

//! Which line a program spends its time in: the clock is read whenever another line begins, so code that comes with the language, ops and
//! natives count for the line that calls them.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::LineTaken;
use crate::bytecode::Code;
use crate::cx::Cx;
use crate::site::Place;

/// Lines of a profile under way.
#[derive(Default)]
pub(super) struct Lines {
    rows: Vec<Row>,
    /// Rows by the first site of their code, and line.
    known: FxHashMap<(u32, usize), usize>,
    current: Option<Current>,
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
        if let Some(current) = self.current.take() {
            self.rows[current.row].seconds += now - current.since;
        }
    }

    /// What each line took, most first.
    pub(super) fn taken(mut self, now: f64) -> Vec<LineTaken> {
        self.pass(now);
        let mut lines: FxHashMap<Place, LineTaken> = FxHashMap::default();
        for Row { place, times, seconds, .. } in self.rows {
            let none = || LineTaken { place: place.clone(), times: 0, seconds: 0.0 };
            let line = lines.entry(place.clone()).or_insert_with(none);
            // A line may hold a function, too.
            line.times = line.times.max(times);
            line.seconds += seconds;
        }
        let mut lines: Vec<LineTaken> = lines.into_values().collect();
        let order = |a: &LineTaken, b: &LineTaken| {
            b.seconds.total_cmp(&a.seconds).then_with(|| a.place.cmp(&b.place))
        };
        lines.sort_by(order);
        lines
    }
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

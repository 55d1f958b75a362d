//! Which function a program spends its time in: noted whenever another frame begins to run, so every call counts.
//!
//! Time in natives and ops belongs to the function that calls them. A generator
//! counts a call each time that the program goes on with it, and one in all where a native goes through it.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::bytecode::Code;
use crate::cx::Cx;
use crate::session::{CellResult, Options, Session};

/// What one function took.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    /// The name of the function; `<module>` for the code of a cell or module itself.
    pub name: String,
    /// Where it is defined: `In[3]:12`.
    pub place: String,
    pub calls: usize,
    /// Seconds in its own code, and in natives that it calls.
    pub own: f64,
    /// Seconds from call to return, with all that it calls; what calls itself counts once.
    pub total: f64,
}

/// A profile under way.
#[derive(Default)]
pub(crate) struct Profile {
    rows: Vec<Row>,
    /// Rows by the address of their code.
    known: FxHashMap<usize, usize>,
    /// Frames that run: row and when it was entered.
    stack: Vec<(usize, f64)>,
    /// Frames below the profiled code.
    below: usize,
    since: f64,
}

struct Row {
    code: Rc<Code>,
    calls: usize,
    own: f64,
    total: f64,
    /// How many of its frames run.
    active: usize,
}

impl Profile {
    fn pass(&mut self, now: f64) {
        if let Some((row, _)) = self.stack.last() {
            self.rows[*row].own += now - self.since;
        }
        self.since = now;
    }

    fn enter(&mut self, code: &Rc<Code>, now: f64) {
        let fresh = || Row { code: code.clone(), calls: 0, own: 0.0, total: 0.0, active: 0 };
        let next = self.rows.len();
        let at = *self.known.entry(Rc::as_ptr(code).addr()).or_insert(next);
        if at == next {
            self.rows.push(fresh());
        }
        self.rows[at].calls += 1;
        self.rows[at].active += 1;
        self.stack.push((at, now));
    }

    fn leave(&mut self, now: f64) {
        let Some((at, entered)) = self.stack.pop() else { return };
        let row = &mut self.rows[at];
        row.active -= 1;
        if row.active == 0 {
            row.total += now - entered;
        }
    }
}

impl Cx {
    /// Another frame begins to run, or one goes on.
    #[cold]
    pub(crate) fn note_frame(&mut self) {
        let now = self.host.monotonic();
        let frames = &self.machine.frames;
        let Some(profile) = self.profile.as_deref_mut() else { return };
        profile.pass(now);
        let depth = frames.len().saturating_sub(profile.below);
        while profile.stack.len() > depth {
            profile.leave(now);
        }
        // The frame before it at this place has returned to a native.
        let is_new = frames.last().is_some_and(|it| it.ip == 0);
        if is_new && depth > 0 && profile.stack.len() == depth {
            profile.leave(now);
        }
        for frame in &frames[(profile.below + profile.stack.len()).min(frames.len())..] {
            profile.enter(&frame.func.code, now);
        }
    }
}

impl Session {
    /// Runs a cell and says what each function took, most first.
    pub fn run_profiled(&mut self, code: &str, options: &Options) -> (CellResult, Vec<Taken>) {
        let below = self.cx.machine.frames.len();
        let since = self.cx.host.monotonic();
        self.cx.profile = Some(Box::new(Profile { below, since, ..Profile::default() }));
        let result = self.run_cell(code, options);
        let now = self.cx.host.monotonic();
        let mut profile = self.cx.profile.take().unwrap_or_default();
        profile.pass(now);
        while !profile.stack.is_empty() {
            profile.leave(now);
        }
        let mut rows: Vec<Taken> = profile.rows.iter().map(|it| self.taken(it)).collect();
        rows.sort_by(|a, b| b.own.total_cmp(&a.own).then(b.calls.cmp(&a.calls)));
        (result, rows)
    }

    fn taken(&self, row: &Row) -> Taken {
        let span = row.code.span;
        let source = self.cx.sources.get(span.source);
        let place = source
            .map_or_else(String::new, |it| format!("{}:{}", it.name, it.line_column(span.start).0));
        let name = row.code.qualname.to_string();
        let Row { calls, own, total, .. } = *row;
        Taken { name, place, calls, own, total }
    }
}

//! How much memory the cell will take, from the same run on shapes: the engine's meter follows the life of each abstract tensor.
//!
//! What autograd saves counts as long as the tape holds it. Of a loop that is cut, a round that is left out counts what the round before
//! it left behind: a list that grows by a tensor in each round grows to the end. Where that cannot be told, or the check ends early, the
//! estimate says *at least*. Scratch space inside kernels is not in it, nor what compiled steps save by sharing buffers.
//!
//! **Invariant:** a warning is given only if what is certain is too much: new tensors that live at the same time, and those of earlier cells
//! that this one cannot free.

use std::rc::Rc;

use engine::Device;
use engine::cpu::memory::HOST;
use engine::estimate::{self, Reading};
pub use engine::words::size;

use crate::check::unknown;
use crate::cx::Cx;
use crate::diagnostic::{Diagnostic, Severity};
use crate::source::{Source, Span};
use crate::value::Value;

/// The name of the warning, and of its page.
pub const CODE: &str = "memory::cell";

/// What the cell that was checked will use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Bytes of tensors when it began.
    pub before: usize,
    /// The most bytes in use while it runs.
    pub peak: usize,
    /// Where that is reached; `None` if the cell makes no tensors.
    pub place: Option<Span>,
    /// The check has seen all of the cell.
    pub whole: bool,
}

/// What a check notes of memory on its way.
#[derive(Default)]
pub(crate) struct Notes {
    before: i64,
    /// Where the peak was reached.
    place: Option<Span>,
    /// The frame and operation before this one.
    last: (usize, usize),
    /// Some of the cell was not seen.
    pub(crate) partly: bool,
    /// It may free values of earlier cells, nobody knows how many.
    pub(crate) frees: bool,
    /// It runs a compiled step, which takes less.
    pub(crate) compiled: bool,
}

/// What one round of a loop has used.
#[derive(Clone, Copy, Default)]
pub(crate) struct Round {
    /// In use when it began.
    begin: i64,
    /// The most in use since.
    high: i64,
    /// Seconds until it began.
    pub(super) since: f64,
}

impl Notes {
    pub(crate) fn begin() -> Notes {
        estimate::begin();
        unknown::vague(false);
        Notes { before: HOST.stats().live as i64, ..Notes::default() }
    }

    /// Ends the measurement.
    pub(crate) fn end(&self, stopped: bool) -> (Memory, Reading) {
        let reading = estimate::end();
        let peak = (self.before + reading.peak.max(0)).max(0) as usize;
        let (before, place) = (self.before as usize, self.place);
        let whole = !self.partly && !stopped && !unknown::vague(false);
        (Memory { before, peak, place, whole }, reading)
    }

    /// Bytes that are certain to be in use at a time.
    fn certain(&self, reading: &Reading) -> i64 {
        let kept = if self.frees { 0 } else { self.before - reading.known };
        reading.new_peak + kept.max(0)
    }
}

impl Round {
    /// A round that begins after so many seconds.
    pub(super) fn new(since: f64) -> Round {
        let live = estimate::live();
        Round { begin: live, high: live, since }
    }

    /// Counts `left_out` rounds like this one, which has ended; `kept` bytes of what is in use are no longer seen.
    pub(crate) fn repeat(self, left_out: usize, kept: i64) {
        let growth = (estimate::live() + kept - self.begin).max(0);
        let grown = growth.saturating_mul(left_out as i64);
        estimate::leap(self.high.saturating_add(grown), grown + kept);
    }
}

impl Cx {
    /// Notes where the peak is, when it has moved; called before each operation.
    pub(crate) fn note_memory(&mut self, depth: usize, ip: usize) {
        let Some(shadow) = self.check.as_deref_mut() else { return };
        let (last_depth, last_ip) = std::mem::replace(&mut shadow.memory.last, (depth, ip));
        if !estimate::moved() {
            return;
        }
        let frames = self.machine.frames.iter().enumerate().rev();
        let mut of_cell = frames
            .filter(|it| self.sources.get(it.1.func.code.source).is_some_and(Source::is_cell));
        let Some((at, frame)) = of_cell.next() else { return };
        let op = match at + 1 {
            at if at == depth && at == last_depth => last_ip.saturating_sub(1),
            // A call has come back: the operation before this one.
            at if at == depth => frame.ip.saturating_sub(2),
            _ => frame.ip.saturating_sub(1),
        };
        shadow.memory.place = Some(frame.func.code.span(op));
    }

    /// What a live global holds that is bound anew: a tensor that nobody else holds, to be dropped when that is done.
    pub(crate) fn freed(&mut self, live: Value, key: (usize, u32)) -> Option<Value> {
        let address = live.address()?;
        let known = self.shadow().copies.get(&address).cloned();
        let bound = self.shadow().overlay.get(&key).cloned();
        if bound.is_some_and(|it| !known.is_some_and(|known| known.is(&it))) {
            return None;
        }
        match &live {
            // The name and this function.
            Value::Tensor(it) if Rc::strong_count(it) == 2 => {
                let copy = self.adopt(&live).ok()?;
                let copies = &mut self.shadow().copies;
                copies.remove(&address);
                copy.address().map(|it| copies.remove(&it));
                Some(copy)
            }
            Value::Str(_) | Value::Native(_) | Value::Module(_) | Value::Class(_) => None,
            Value::Func(it) if it.closure.is_empty() => None,
            _ => {
                self.shadow().memory.frees = true;
                None
            }
        }
    }

    /// The most that has been in use goes to all loops under way.
    pub(crate) fn note_lap(&mut self) {
        let high = estimate::lap();
        for watch in &mut self.shadow().watches {
            watch.round.high = watch.round.high.max(high);
        }
    }

    /// Warns of a cell that needs more than there is.
    pub(crate) fn judge_memory(&mut self, notes: &Notes, memory: &Memory, reading: &Reading) {
        let certain = notes.certain(reading).max(0) as usize;
        let Some(place) = memory.place.filter(|_| !notes.compiled && reading.new_peak > 0) else {
            return;
        };
        let Some((room, whose)) = exceeded(certain) else { return };
        if self.is_meant(place, CODE) {
            return;
        }
        let message = format!(
            "this cell needs {} of memory for tensors at a time",
            size(memory.peak.max(certain))
        );
        let mut found = Diagnostic::error(CODE, place, message).with_help(
            "use smaller batches, keep numbers (`.item()`) instead of tensors, or free what is no longer needed with `del`",
        );
        found.severity = Severity::Warning;
        found.labels[0].text = "the most is in use here".into();
        found.notes.push(format!("{whose} {}", size(room)));
        if memory.before > 0 {
            found.notes.push(format!("{} of it in tensors of earlier cells", size(memory.before)));
        }
        self.findings.push(found);
    }
}

/// The least room for tensors that is less than `bytes`, and whose it is.
fn exceeded(bytes: usize) -> Option<(usize, &'static str)> {
    let stats = HOST.stats();
    let mut rooms = vec![(stats.budget, "the limit for tensors is")];
    // The system is asked only where it could matter.
    if bytes > stats.budget / 64 {
        let device = Device::default();
        let ours = stats.live + stats.cached;
        let left = device.memory_left().map(|it| it.saturating_add(ours));
        rooms.extend(left.map(|it| (it, "this machine can give")));
        rooms.extend(device.memory_limit().map(|it| (it, "this process may take")));
    }
    rooms.into_iter().filter(|it| bytes > it.0).min_by_key(|it| it.0)
}

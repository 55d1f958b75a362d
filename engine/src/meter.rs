//! The meter that runs along while ops only infer shapes: bytes that are claimed and freed, and seconds.
//!
//! Each result of an op holds a [`Claim`] on the bytes that its buffer would have; views share it. It ends with the last handle, on the
//! tape or off it. So the meter follows the memory of the real run without using any.
//!
//! **Invariant:** a claim that outlives its measurement changes no later one.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::cpu::alloc;

/// Bytes of one buffer that is not there, or of one that was there before.
pub(crate) struct Claim {
    bytes: i64,
    run: u32,
    is_new: bool,
}

/// What a measurement has found, in bytes of blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The most that was in use at a time beyond what was there before; less than 0 if nothing was made and something freed.
    pub peak: i64,
    /// The same of new buffers alone.
    pub new_peak: i64,
    /// Buffers that were there before and that the code has looked at.
    pub known: i64,
}

#[derive(Default)]
struct Meter {
    /// Number of the measurement; 0 if none runs.
    run: Cell<u32>,
    live: Cell<i64>,
    new: Cell<i64>,
    known: Cell<i64>,
    peak: Cell<i64>,
    new_peak: Cell<i64>,
    /// The peak since [`lap`], of all and of new buffers.
    lap: Cell<i64>,
    moved: Cell<bool>,
    seconds: Cell<f64>,
    may_refuse: Cell<bool>,
}

thread_local! {
    static METER: Meter = Meter::default();
}

static RUNS: AtomicU32 = AtomicU32::new(0);

/// Begins a measurement on this thread.
pub fn begin() {
    let run = RUNS.fetch_add(1, Ordering::Relaxed).wrapping_add(1).max(1);
    METER.with(|it| {
        it.run.set(run);
        for cell in [&it.live, &it.new, &it.known, &it.peak, &it.new_peak, &it.lap] {
            cell.set(0);
        }
        it.moved.set(false);
        it.seconds.set(0.0);
    });
}

/// Ends it.
pub fn end() -> Reading {
    METER.with(|it| {
        it.run.set(0);
        Reading { peak: it.peak.get(), new_peak: it.new_peak.get(), known: it.known.get() }
    })
}

/// Seconds that the ops since the beginning would take.
pub fn seconds() -> f64 {
    METER.with(|it| it.seconds.get())
}

/// Whether an op since the last call may refuse the elements that it gets.
pub fn may_refuse() -> bool {
    METER.with(|it| it.may_refuse.replace(false))
}

/// Bytes in use now, beyond what was there before.
pub fn live() -> i64 {
    METER.with(|it| it.live.get())
}

/// Whether the peak has moved since the last call.
pub fn moved() -> bool {
    METER.with(|it| it.moved.replace(false))
}

/// The most in use since the last call.
pub fn lap() -> i64 {
    METER.with(|it| it.lap.replace(it.live.get()))
}

/// Counts a peak that the code would come to in rounds that are left out, and what they leave behind.
pub fn leap(peak: i64, left: i64) {
    METER.with(|it| {
        let beyond = peak - it.live.get();
        it.note(peak, it.new.get() + beyond);
        it.add(left, true);
    });
}

/// Runs what the real run does not.
pub fn uncounted<R>(body: impl FnOnce() -> R) -> R {
    let run = METER.with(|it| it.run.replace(0));
    let res = body();
    METER.with(|it| it.run.set(run));
    res
}

/// A claim on a new buffer of `bytes`; `None` if nothing is measured.
pub(crate) fn claim_new(bytes: usize) -> Option<Arc<Claim>> {
    METER.with(|it| {
        let run = it.running()?;
        let bytes = alloc::block_size(bytes) as i64;
        it.add(bytes, true);
        Some(Arc::new(Claim { bytes, run, is_new: true }))
    })
}

/// Notes that a buffer of `bytes` that was there before is looked at. If that is the last use of it, a claim that frees it.
pub(crate) fn claim_known(bytes: usize, is_last: bool) -> Option<Arc<Claim>> {
    METER.with(|it| {
        let run = it.running()?;
        let bytes = alloc::block_size(bytes) as i64;
        it.known.set(it.known.get() + bytes);
        is_last.then(|| Arc::new(Claim { bytes, run, is_new: false }))
    })
}

/// Counts the time of an op, and whether it may refuse the elements that it gets.
pub(crate) fn count(seconds: f64, may_refuse: bool) {
    METER.with(|it| {
        it.seconds.set(it.seconds.get() + seconds);
        it.may_refuse.set(it.may_refuse.get() || may_refuse);
    });
}

/// Whether a measurement runs on this thread.
pub(crate) fn is_running() -> bool {
    METER.with(|it| it.running().is_some())
}

impl Meter {
    /// The number of the measurement.
    fn running(&self) -> Option<u32> {
        Some(self.run.get()).filter(|it| *it != 0)
    }

    fn add(&self, bytes: i64, is_new: bool) {
        let live = self.live.get() + bytes;
        self.live.set(live);
        if is_new {
            self.new.set(self.new.get() + bytes);
        }
        if bytes > 0 {
            self.note(live, self.new.get());
        }
    }

    fn note(&self, live: i64, new: i64) {
        self.lap.set(self.lap.get().max(live));
        self.new_peak.set(self.new_peak.get().max(new));
        if live > self.peak.get() {
            self.peak.set(live);
            self.moved.set(true);
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // While a thread ends the meter may be gone already.
        let _ = METER.try_with(|it| {
            if it.run.get() == self.run {
                it.add(-self.bytes, self.is_new);
            }
        });
    }
}

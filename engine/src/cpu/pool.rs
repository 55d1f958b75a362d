//! Worker pools: chunks of a job are claimed, by workers and by the caller alike.
//!
//! Each [`Pool`] stands for itself; kernels of the processor run on [`HOST`]. One job of a pool runs at a time. A second caller, and a call from inside a chunk, runs its chunks inline. The caller waits
//! only for chunks that a worker has already claimed, so a worker that the system does not schedule delays nobody.
//!
//! Invariant: `state` holds (epoch << 32 | chunks left). The fields of a job are written only while no chunk is left,
//! and a claim succeeds only if the epoch is still the one under which the fields were read.

use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, PoisonError};
use std::time::{Duration, Instant};

use super::interrupt;
use crate::sync::{Mutex, OnceLock};

const SPIN: Duration = Duration::from_micros(80);
const MAX_THREADS: usize = 256;
const LEFT: u64 = 0xffff_ffff;

type Job<'a> = &'a (dyn Fn(usize) + Sync + 'a);

/// Threads that share the work of one job after another.
pub struct Pool {
    state: AtomicU64,
    /// Address of a `Job` on the stack of the caller.
    job: AtomicPtr<()>,
    n_chunks: AtomicU32,
    done: AtomicU32,
    busy: AtomicBool,
    /// Threads that take part, the caller included.
    threads: AtomicUsize,
    spawned: Mutex<usize>,
    sleepers: AtomicUsize,
    /// Guards nothing: it goes with `wake`.
    sleep: std::sync::Mutex<()>,
    wake: Condvar,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

/// The pool of the processor's kernels.
pub static HOST: Pool = Pool::new();

/// [`Pool::threads`] of the processor's kernels.
pub fn threads() -> usize {
    HOST.threads()
}

/// [`Pool::set_threads`] of the processor's kernels.
pub fn set_threads(n: usize) {
    HOST.set_threads(n);
}

fn default_threads() -> usize {
    static DEFAULT: OnceLock<usize> = OnceLock::new();
    *DEFAULT.get_or_init(|| {
        let asked = std::env::var("NOTEGRAD_NUM_THREADS").ok().and_then(|text| text.parse().ok());
        let granted = || std::thread::available_parallelism().map_or(1, |n| n.get());
        asked.filter(|&n: &usize| n > 0).unwrap_or_else(granted).min(MAX_THREADS)
    })
}

/// [`Pool::for_each_chunk`] of the processor's kernels.
pub fn for_each_chunk(n_chunks: usize, f: &(dyn Fn(usize) + Sync)) {
    HOST.for_each_chunk(n_chunks, f);
}

/// As [`for_each_chunk`], on the calling thread alone unless `parallel`.
pub fn for_each_chunk_if(parallel: bool, n_chunks: usize, f: &(dyn Fn(usize) + Sync)) {
    match parallel {
        true => for_each_chunk(n_chunks, f),
        false => interrupt::run_job(f, |f| (0..n_chunks).for_each(f)),
    }
}

/// Elements that one call of [`for_each_range`] gets at least, if there are as many.
const GRAIN: usize = 1 << 16;

/// Calls `f` with ranges that cover `0..items`, on several threads if there is enough to do; an item is `work` elements.
/// The ranges depend on the two numbers alone.
pub fn for_each_range(items: usize, work: usize, f: &(dyn Fn(Range<usize>) + Sync)) {
    let step = (GRAIN / work.max(1)).max(1);
    for_each_chunk(items.div_ceil(step), &|chunk| f(chunk * step..((chunk + 1) * step).min(items)));
}

impl Pool {
    /// A pool that has no workers yet.
    #[expect(clippy::new_without_default, reason = "a pool lives as long as the process")]
    pub const fn new() -> Self {
        Self {
            state: AtomicU64::new(0),
            job: AtomicPtr::new(std::ptr::null_mut()),
            n_chunks: AtomicU32::new(0),
            done: AtomicU32::new(0),
            busy: AtomicBool::new(false),
            threads: AtomicUsize::new(0),
            spawned: Mutex::new(0),
            sleepers: AtomicUsize::new(0),
            sleep: std::sync::Mutex::new(()),
            wake: Condvar::new(),
            panic: Mutex::new(None),
        }
    }

    /// How many threads take part in a job, the caller included: [`Pool::set_threads`], else `NOTEGRAD_NUM_THREADS`, else what
    /// the system grants this process.
    pub fn threads(&self) -> usize {
        match self.threads.load(Ordering::Relaxed) {
            0 => default_threads(),
            n => n,
        }
    }

    /// Sets how many threads take part from the next job on; 0 returns to the default.
    pub fn set_threads(&self, n: usize) {
        self.threads.store(n.min(MAX_THREADS), Ordering::Relaxed);
    }

    /// Calls `f` once for each chunk index below `n_chunks`, on several threads, and returns when all calls have ended.
    ///
    /// The order of the calls is not fixed. If calls panic, one of the panics goes on here once no call is running.
    /// Chunks that have not begun when the user interrupts are left out: see [`interrupt`].
    pub fn for_each_chunk(&'static self, n_chunks: usize, f: &(dyn Fn(usize) + Sync)) {
        interrupt::run_job(f, |f| self.dispatch(n_chunks, f));
    }

    fn dispatch(&'static self, n_chunks: usize, f: Job<'_>) {
        let threads = self.threads();
        let inline = n_chunks <= 1 || threads <= 1 || n_chunks as u64 > LEFT;
        if inline || self.busy.swap(true, Ordering::Acquire) {
            (0..n_chunks).for_each(f);
            return;
        }
        self.ensure_workers(threads - 1);
        self.run(n_chunks as u32, f);
    }

    /// Runs a job while `busy` is held, and releases it.
    fn run(&'static self, n_chunks: u32, f: Job<'_>) {
        let job: *const Job<'_> = &raw const f;
        self.job.store(job.cast_mut().cast(), Ordering::Relaxed);
        self.n_chunks.store(n_chunks, Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
        let epoch = (self.state.load(Ordering::Relaxed) >> 32).wrapping_add(1) & LEFT;
        self.state.store(epoch << 32 | u64::from(n_chunks), Ordering::SeqCst);
        self.wake_workers(n_chunks as usize - 1);
        while self.claim_and_run() {}
        self.wait_until_done(n_chunks);
        let panic = self.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.busy.store(false, Ordering::Release);
        if let Some(payload) = panic {
            resume_unwind(payload);
        }
    }

    /// Claims one chunk and runs it; false if none is left.
    fn claim_and_run(&self) -> bool {
        let mut state = self.state.load(Ordering::Acquire);
        loop {
            let left = state & LEFT;
            if left == 0 {
                return false;
            }
            let job = self.job.load(Ordering::Relaxed);
            let n_chunks = self.n_chunks.load(Ordering::Relaxed);
            match self.state.compare_exchange_weak(
                state,
                state - 1,
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => {
                    // SAFETY: the claim succeeded, so the job is the one of this epoch.
                    unsafe { self.run_chunk(job, n_chunks as usize - left as usize) };
                    return true;
                }
                Err(now) => state = now,
            }
        }
    }

    /// # Safety
    /// `job` is the job in which this chunk was claimed.
    unsafe fn run_chunk(&self, job: *mut (), chunk: usize) {
        // SAFETY: the chunk was claimed, so the caller that owns the job stays in `run` until `done` below.
        let f = unsafe { *job.cast_const().cast::<Job<'_>>() };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| f(chunk))) {
            *self.panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(payload);
        }
        self.done.fetch_add(1, Ordering::Release);
    }

    fn wait_until_done(&self, n_chunks: u32) {
        let mut spins = 0u32;
        while self.done.load(Ordering::Acquire) < n_chunks {
            spins += 1;
            if spins.is_multiple_of(4096) {
                std::thread::yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
    }

    fn wake_workers(&self, wanted: usize) {
        let sleepers = self.sleepers.load(Ordering::SeqCst);
        if sleepers == 0 {
            return;
        }
        // The lock orders this after a worker that has looked for work and is about to wait.
        drop(self.sleep.lock().unwrap_or_else(PoisonError::into_inner));
        for _ in 0..wanted.min(sleepers) {
            self.wake.notify_one();
        }
    }

    fn ensure_workers(&'static self, wanted: usize) {
        let mut spawned = self.spawned.lock().unwrap_or_else(PoisonError::into_inner);
        while *spawned < wanted {
            let index = *spawned + 1;
            let name = format!("notegrad-{index}");
            let worker = move || self.worker(index);
            if std::thread::Builder::new().name(name).spawn(worker).is_err() {
                return;
            }
            *spawned += 1;
        }
    }

    /// The life of worker `index`; it takes part only while `index` is below the number of threads.
    fn worker(&'static self, index: usize) {
        loop {
            while index < self.threads() && self.claim_and_run() {}
            if !self.spin_for_work() || index >= self.threads() {
                self.sleep_until_work(index);
            }
        }
    }

    fn has_work(&self) -> bool {
        self.state.load(Ordering::SeqCst) & LEFT != 0
    }

    fn spin_for_work(&self) -> bool {
        let start = Instant::now();
        loop {
            for _ in 0..64 {
                if self.has_work() {
                    return true;
                }
                std::hint::spin_loop();
            }
            if start.elapsed() > SPIN {
                return false;
            }
        }
    }

    fn sleep_until_work(&self, index: usize) {
        let mut guard = self.sleep.lock().unwrap_or_else(PoisonError::into_inner);
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        let is_surplus = index >= self.threads();
        if is_surplus || !self.has_work() {
            guard = self.wake.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
        drop(guard);
    }
}

/// A pointer that may be used from any thread; whoever uses it keeps the accesses of different chunks apart.
#[derive(Clone, Copy)]
pub(crate) struct Shared<T>(pub(crate) *mut T);

// SAFETY: the pointer is only an address; the kernels that share one write disjoint ranges through it.
unsafe impl<T: Send> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// The address; a method, so that closures capture the whole wrapper.
    pub(crate) fn get(&self) -> *mut T {
        self.0
    }

    /// The elements of a range.
    ///
    /// # Safety
    /// The elements exist for `'a`, and nobody else uses them meanwhile.
    pub(crate) unsafe fn part<'a>(&self, range: Range<usize>) -> &'a mut [T] {
        // SAFETY: promised by the caller.
        unsafe { std::slice::from_raw_parts_mut(self.0.add(range.start), range.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> &'static Pool {
        let pool: &Pool = Box::leak(Box::new(Pool::new()));
        pool.set_threads(3);
        pool
    }

    fn sum(pool: &'static Pool, n: usize) -> usize {
        let total = AtomicUsize::new(0);
        pool.for_each_chunk(n, &|chunk| {
            total.fetch_add(chunk + 1, Ordering::Relaxed);
        });
        total.into_inner()
    }

    #[test]
    fn runs_each_chunk_once() {
        let pool = own();
        for n in [0, 1, 2, 3, 7, 64, 1000] {
            assert_eq!(sum(pool, n), n * (n + 1) / 2);
        }
        for _ in 0..5000 {
            assert_eq!(sum(pool, 8), 36);
        }
    }

    #[test]
    fn several_callers_at_once() {
        let pool = own();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..2000).for_each(|_| assert_eq!(sum(pool, 16), 136)));
            }
        });
    }

    #[test]
    fn nested_calls_run_inline() {
        let pool = own();
        let total = AtomicUsize::new(0);
        pool.for_each_chunk(8, &|_| {
            pool.for_each_chunk(4, &|_| {
                total.fetch_add(1, Ordering::Relaxed);
            });
        });
        assert_eq!(total.into_inner(), 32);
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_pool_lives_on() {
        let pool = own();
        let ran = AtomicUsize::new(0);
        let result = catch_unwind(AssertUnwindSafe(|| {
            pool.for_each_chunk(16, &|chunk| {
                ran.fetch_add(1, Ordering::Relaxed);
                assert!(chunk != 5, "chunk five");
            });
        }));
        assert!(result.is_err());
        assert!(ran.into_inner() >= 6);
        assert_eq!(sum(pool, 100), 5050);
    }

    #[test]
    fn wakes_sleeping_workers() {
        let pool = own();
        for _ in 0..5 {
            std::thread::sleep(Duration::from_millis(2));
            assert_eq!(sum(pool, 64), 64 * 65 / 2);
        }
    }

    #[test]
    fn pools_work_apart() {
        let (one, other) = (own(), own());
        other.set_threads(2);
        assert_eq!((one.threads(), other.threads()), (3, 2));
        let met = std::sync::Barrier::new(2);
        let seen = AtomicUsize::new(0);
        // The inner chunks wait for each other: they run at once, while the outer job has its pool.
        one.for_each_chunk(2, &|outer| {
            if outer == 0 {
                other.for_each_chunk(2, &|inner| {
                    met.wait();
                    seen.fetch_add(inner + 1, Ordering::Relaxed);
                });
            }
        });
        assert_eq!(seen.into_inner(), 3);
    }
}

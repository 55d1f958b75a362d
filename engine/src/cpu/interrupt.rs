//! Stopping long work from another thread.
//!
//! A session lends its flag to the thread that computes ([`watch`]). While the flag is up, the chunks of a job that have
//! not begun are left out, so a kernel ends within a chunk; what it wrote is worthless. Whoever ran it asks [`take`]
//! before anyone reads that. The pool, and memory, are as after any job.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    static OWNED: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
    /// The flag in force, or null. Its owner waits for the work that looks at it.
    static FLAG: Cell<*const AtomicBool> = const { Cell::new(std::ptr::null()) };
    /// Whether work of this thread was left out.
    static LEFT_OUT: Cell<bool> = const { Cell::new(false) };
}

/// Until dropped, the flag stops work that this thread starts.
pub struct Watching {
    before: Option<Arc<AtomicBool>>,
}

/// Lets `flag` stop the work of this thread from now on.
pub fn watch(flag: Arc<AtomicBool>) -> Watching {
    LEFT_OUT.set(false);
    FLAG.set(Arc::as_ptr(&flag));
    Watching { before: OWNED.replace(Some(flag)) }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let before = self.before.take();
        FLAG.set(before.as_ref().map_or(std::ptr::null(), Arc::as_ptr));
        OWNED.replace(before);
    }
}

/// Whether work of this thread was left out since the last call. Lowers the flag then: the error that follows tells of it.
pub fn take() -> bool {
    let left_out = LEFT_OUT.replace(false);
    if left_out {
        OWNED.with_borrow(|it| it.iter().for_each(|it| it.store(false, Ordering::Relaxed)));
    }
    left_out
}

/// Raises the flag again that [`take`] has lowered: what comes next is to tell of the interrupt.
pub fn renew() {
    OWNED.with_borrow(|it| it.iter().for_each(|it| it.store(true, Ordering::Relaxed)));
}

/// Whether work was left out, so that what it wrote must not be read.
pub fn was_left_out() -> bool {
    LEFT_OUT.get()
}

/// Whether the user has interrupted, for work that ends as it should all the same.
pub fn is_up() -> bool {
    let flag = FLAG.get();
    // SAFETY: see `FLAG`.
    !flag.is_null() && unsafe { (*flag).load(Ordering::Relaxed) }
}

/// For loops that are no job of the pool: whether to end now. What is left counts as left out.
pub fn ends_here() -> bool {
    let ends = is_up();
    if ends {
        LEFT_OUT.set(true);
    }
    ends
}

/// Runs what must not be left half done, writes into so many elements that are in use: an interrupt waits for its end. `None`, with
/// nothing begun, if it is long and the user has interrupted already.
pub fn unstopped<R>(len: usize, body: impl FnOnce() -> R) -> Option<R> {
    if len > PIECE && ends_here() {
        take();
        return None;
    }
    let _lent = Lent { before: FLAG.replace(std::ptr::null()) };
    Some(body())
}

/// Steps of sequential work between two looks at the flag: less than a millisecond of simple work.
const PIECE: usize = 1 << 16;

/// `0..len` piece by piece, for loops that are no job of the pool; none once the user has interrupted.
pub fn pieces(len: usize) -> impl Iterator<Item = Range<usize>> {
    pieces_of(len, 1)
}

/// As [`pieces`], where each step is as much work as `cost` simple ones.
pub fn pieces_of(len: usize, cost: usize) -> impl Iterator<Item = Range<usize>> {
    let step = (PIECE / cost.max(1)).max(1);
    let starts = (0..len).step_by(step).take_while(|_| !ends_here());
    starts.map(move |start| start..(start + step).min(len))
}

/// Sets all elements, but for those that are left when the user interrupts.
pub fn fill<T: Copy>(out: &mut [T], value: T) {
    pieces(out.len()).for_each(|piece| out[piece].fill(value));
}

/// Copies slices of one length, but for what is left when the user interrupts.
pub fn copy<T: Copy>(out: &mut [T], src: &[T]) {
    pieces(out.len()).for_each(|piece| out[piece.clone()].copy_from_slice(&src[piece]));
}

/// Runs a job, given what to do per chunk, through `dispatch`, which may call it on other threads but waits for them.
pub(super) fn run_job(f: &(dyn Fn(usize) + Sync), dispatch: impl FnOnce(&(dyn Fn(usize) + Sync))) {
    let flag = FLAG.get();
    if flag.is_null() {
        return dispatch(f);
    }
    // SAFETY: see `FLAG`.
    let flag = unsafe { &*flag };
    let left_out = AtomicBool::new(false);
    dispatch(&|chunk| {
        let lent = Lent { before: FLAG.replace(flag) };
        if !ends_here() {
            f(chunk);
        }
        drop(lent);
        if LEFT_OUT.replace(false) {
            left_out.store(true, Ordering::Relaxed);
        }
    });
    if left_out.into_inner() {
        LEFT_OUT.set(true);
    }
}

/// Until dropped, another flag is in force: that of a job on a thread that runs a chunk of it, or none.
struct Lent {
    before: *const AtomicBool,
}

impl Drop for Lent {
    fn drop(&mut self) {
        FLAG.set(self.before);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use crate::cpu::pool;

    #[test]
    fn a_raised_flag_leaves_chunks_out_and_is_lowered() {
        let flag = Arc::new(AtomicBool::new(false));
        let watching = watch(flag.clone());
        let ran = AtomicUsize::new(0);
        pool::for_each_chunk(64, &|_| {
            ran.fetch_add(1, Ordering::Relaxed);
            flag.store(true, Ordering::Relaxed);
        });
        assert!(ran.into_inner() < 64);
        assert!(take() && !take());
        assert!(!flag.load(Ordering::Relaxed));
        let ran = AtomicUsize::new(0);
        pool::for_each_chunk(64, &|_| {
            ran.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(ran.into_inner(), 64);
        drop(watching);
        flag.store(true, Ordering::Relaxed);
        pool::for_each_chunk(4, &|_| {});
        assert!(!take());
    }

    #[test]
    fn pieces_cover_everything_until_the_flag_is_up() {
        assert_eq!(pieces(3 * PIECE + 1).map(|it| it.len()).sum::<usize>(), 3 * PIECE + 1);
        assert_eq!(pieces_of(7, PIECE / 2).map(|it| it.len()).collect::<Vec<_>>(), [2, 2, 2, 1]);
        let flag = Arc::new(AtomicBool::new(false));
        let _watching = watch(flag.clone());
        let done = pieces(9 * PIECE).inspect(|_| flag.store(true, Ordering::Relaxed)).count();
        assert!(done == 1 && take());
    }

    #[test]
    fn jobs_within_a_chunk_see_the_flag() {
        let flag = Arc::new(AtomicBool::new(false));
        let _watching = watch(flag.clone());
        let inner = AtomicUsize::new(0);
        pool::for_each_chunk(8, &|_| {
            pool::for_each_chunk(8, &|_| {
                inner.fetch_add(1, Ordering::Relaxed);
                flag.store(true, Ordering::Relaxed);
            });
        });
        assert!(inner.into_inner() < 64 && take());
    }
}

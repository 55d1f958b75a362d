//! Stopping natives that run long without calling code of the language: they count steps, and look at the interrupt flag now and then.
//!
//! A loop that has a `Cx` counts with [`Pace`]; text and items are copied in pieces (`push_text`, `push_items`); one that has none, such as a comparison within a sort, calls [`tick`]
//! inside [`stoppable`]. **Invariant:** outside of `stoppable` a `tick` does nothing.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::cx::Cx;
use crate::error::{KEYBOARD_INTERRUPT, Raised};
use crate::objects::trash;
use crate::value::Value;

/// Steps between two looks: some microseconds of the simplest ones.
const STEPS: u32 = 4096;

/// Steps of one loop.
#[derive(Default)]
pub(crate) struct Pace(u32);

impl Pace {
    /// Counts a step; now and then looks whether the user has interrupted.
    #[inline]
    pub(crate) fn step(&mut self, cx: &mut Cx) -> Result<(), Raised> {
        self.0 += 1;
        if self.0 < STEPS {
            return Ok(());
        }
        self.0 = 0;
        cx.poll()
    }
}

/// Bytes that are copied between two looks.
const BYTES: usize = 1 << 18;
/// Items that are copied between two looks.
pub(crate) const ITEMS: usize = BYTES / size_of::<Value>();

impl Cx {
    /// Adds text to `out`, which has room for it.
    #[inline]
    pub(crate) fn push_text(&self, out: &mut String, text: &str) -> Result<(), Raised> {
        match append(out, text, &self.interrupt) {
            true => Ok(()),
            false => self.stop(),
        }
    }

    /// Fills `out`, which is empty and has room, with copies of a text, `bytes` in all: what is there already is copied, ever more at
    /// once, with a look before each time.
    pub(crate) fn push_copies(
        &self,
        out: &mut String,
        text: &str,
        bytes: usize,
    ) -> Result<(), Raised> {
        let most = BYTES / text.len().max(1) * text.len();
        while out.len() < bytes {
            let copied = out.len().min(most).min(bytes - out.len());
            if copied == 0 {
                self.push_text(out, text)?;
            } else if self.interrupt.load(Ordering::Relaxed) {
                return self.stop();
            } else {
                out.extend_from_within(..copied);
            }
        }
        Ok(())
    }

    /// Adds items to `out`, which has room for them; it is empty after an interrupt.
    pub(crate) fn push_items(
        &self,
        out: &mut Vec<Value>,
        items: impl IntoIterator<Item = Value>,
    ) -> Result<(), Raised> {
        let mut items = items.into_iter();
        loop {
            let before = out.len();
            out.extend(items.by_ref().take(ITEMS));
            if out.len() - before < ITEMS {
                return Ok(());
            }
            if self.interrupt.load(Ordering::Relaxed) {
                trash::free(std::mem::take(out));
                return self.stop();
            }
        }
    }

    fn stop(&self) -> Result<(), Raised> {
        self.interrupt.store(false, Ordering::Relaxed);
        Err(interrupted())
    }
}

/// The error of a cell that is to stop.
pub(crate) fn interrupted() -> Raised {
    trash::note_interrupt();
    Raised::with_args(&KEYBOARD_INTERRUPT, Vec::new())
}

/// Adds text; false, with nothing added, if `stop` is up before that is done.
#[inline]
pub(crate) fn append(text: &mut String, more: &str, stop: &AtomicBool) -> bool {
    if more.len() > BYTES {
        return append_long(text, more, stop);
    }
    text.push_str(more);
    true
}

fn append_long(text: &mut String, more: &str, stop: &AtomicBool) -> bool {
    let (len, mut rest) = (text.len(), more);
    while !rest.is_empty() {
        if stop.load(Ordering::Relaxed) {
            text.truncate(len);
            return false;
        }
        let (piece, behind) = rest.split_at(rest.floor_char_boundary(BYTES));
        text.push_str(piece);
        rest = behind;
    }
    true
}

/// Makes room for `capacity` bytes in all; false, with nothing changed, if `stop` is up before that is done.
pub(crate) fn make_room(text: &mut String, capacity: usize, stop: &AtomicBool) -> bool {
    if text.len() <= BYTES {
        text.reserve_exact(capacity - text.len());
        return true;
    }
    let mut larger = String::with_capacity(capacity);
    let is_done = append(&mut larger, text, stop);
    if is_done {
        *text = larger;
    }
    is_done
}

thread_local! {
    static FLAG: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
    static COUNT: Cell<u32> = const { Cell::new(0) };
}

/// What unwinds from a `tick` to its `stoppable`.
struct Stopped;

/// Counts a step of what [`stoppable`] runs, which ends here when the user interrupts.
#[inline]
pub(crate) fn tick() {
    let is_time = COUNT.with(|it| {
        it.set(it.get() + 1);
        it.get() >= STEPS
    });
    if is_time {
        look();
    }
}

/// Looks at once, inside of [`stoppable`].
#[cold]
pub(crate) fn look() {
    COUNT.set(0);
    let is_set = |it: &Arc<AtomicBool>| it.load(Ordering::Relaxed);
    if FLAG.with_borrow(|flag| flag.as_ref().is_some_and(is_set)) {
        resume_unwind(Box::new(Stopped));
    }
}

/// Runs code that ticks; `KeyboardInterrupt` if it was stopped. What it was changing holds some of the changes then.
pub(crate) fn stoppable<R>(cx: &mut Cx, body: impl FnOnce() -> R) -> Result<R, Raised> {
    let outer = FLAG.replace(Some(cx.interrupt.clone()));
    let result = catch_unwind(AssertUnwindSafe(body));
    FLAG.set(outer);
    match result {
        Ok(value) => Ok(value),
        Err(payload) if is_stopped(&*payload) => Err(match cx.poll() {
            Err(raised) => raised,
            Ok(()) => interrupted(),
        }),
        Err(payload) => resume_unwind(payload),
    }
}

/// As [`stoppable`], where `size` steps are to be made; few are not worth it.
#[inline]
pub(crate) fn stoppable_if_long<R>(
    cx: &mut Cx,
    size: usize,
    body: impl FnOnce() -> R,
) -> Result<R, Raised> {
    if size < STEPS as usize { Ok(body()) } else { stoppable(cx, body) }
}

fn is_stopped(payload: &(dyn Any + Send)) -> bool {
    payload.is::<Stopped>()
}

/// Adds text to `out`, with a look now and then.
pub(crate) fn push(out: &mut String, text: &str) {
    each_piece(text, |piece| out.push_str(piece));
}

/// Calls `each` with the pieces of a text, with a look before each.
pub(crate) fn each_piece(text: &str, mut each: impl FnMut(&str)) {
    let mut rest = text;
    while !rest.is_empty() {
        if text.len() > BYTES {
            look();
        }
        let (piece, behind) = rest.split_at(rest.floor_char_boundary(BYTES));
        each(piece);
        rest = behind;
    }
}

/// A character `count` times, each a step.
pub(crate) fn repeated(it: char, count: usize) -> impl Iterator<Item = char> {
    std::iter::repeat_n(it, count).inspect(|_| tick())
}

/// The characters of a text, each a step.
pub(crate) fn chars(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().inspect(|_| tick())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_is_not_added_whole_is_not_added() {
        let (up, down) = (AtomicBool::new(true), AtomicBool::new(false));
        let long = "é".repeat(BYTES);
        let mut text = "a".repeat(BYTES + 1);
        let before = text.clone();
        assert!(!append(&mut text, &long, &up) && !make_room(&mut text, 4 * BYTES, &up));
        assert_eq!(text, before);
        assert!(make_room(&mut text, 4 * BYTES, &down) && append(&mut text, &long, &down));
        assert!(text.capacity() >= 4 * BYTES && text == before + &long);
    }
}

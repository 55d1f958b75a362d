//! Copies of constant operands in the order in which kernels read them, so that a plan makes each once and not in every run.
//!
//! A copy is a buffer of the allocator, counted by the budget, and given back when whoever holds it (a plan) is dropped.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::alloc::Bytes;
use super::element::Element;
use super::{interrupt, memory};

/// A bound for such copies: where there is no room for one, the kernel makes it in scratch memory, for each run.
pub struct Shelf {
    room: usize,
    taken: AtomicUsize,
}

/// The shelf of the process.
pub static HOST: Shelf = Shelf::new(64 << 20);

/// A copy is made only where the budget leaves this many times its bytes.
const TIMES_ROOM: usize = 4;

/// A copy that stands on a shelf.
pub struct Kept {
    bytes: Bytes,
    shelf: &'static Shelf,
}

impl Shelf {
    /// An empty shelf for so many bytes.
    pub const fn new(room: usize) -> Self {
        Self { room, taken: AtomicUsize::new(0) }
    }

    /// Bytes that stand on it.
    pub fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    /// A copy of `len` elements that `fill` writes; `None` where there is no room, or `fill` could not do it.
    pub(super) fn keep<T: Element>(
        &'static self,
        len: usize,
        fill: impl FnOnce(&mut [T]) -> bool,
    ) -> Option<Kept> {
        let size = len.checked_mul(size_of::<T>()).filter(|&it| it > 0)?;
        let fits = |taken: usize| taken.checked_add(size).filter(|&it| it <= self.room);
        if !memory::HOST.has_room(size.checked_mul(TIMES_ROOM)?) {
            return None;
        }
        self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).ok()?;
        let Ok(bytes) = Bytes::uninit(size) else {
            self.taken.fetch_sub(size, Ordering::Relaxed);
            return None;
        };
        let mut kept = Kept { bytes, shelf: self };
        // SAFETY: the buffer has this many elements, aligned for all of them, and is of this function alone.
        let out = unsafe { std::slice::from_raw_parts_mut(kept.bytes.as_mut_ptr().cast(), len) };
        // What is kept is written to its end: an interrupt waits.
        interrupt::unstopped(0, || fill(out))?.then_some(kept)
    }
}

impl Kept {
    /// Its bytes.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Its elements, of the type that it was made of.
    pub(super) fn as_ptr<T: Element>(&self) -> *const T {
        self.bytes.as_ptr().cast()
    }

    /// As [`Kept::as_ptr`], as a slice.
    pub(super) fn as_slice<T: Element>(&self) -> &[T] {
        // SAFETY: the buffer is as long and aligned, and any bits are a value.
        unsafe { std::slice::from_raw_parts(self.as_ptr(), self.len() / size_of::<T>()) }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.shelf.taken.fetch_sub(self.bytes.len(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_take_room_until_they_are_dropped() {
        static SHELF: Shelf = Shelf::new(100);
        let keep = |len: usize| {
            SHELF.keep::<f32>(len, |out| {
                out.fill(1.5);
                true
            })
        };
        assert!(keep(26).is_none() && keep(0).is_none() && SHELF.taken() == 0);
        let first = keep(20).unwrap();
        assert_eq!((SHELF.taken(), first.as_slice::<f32>()), (80, &[1.5; 20][..]));
        assert!(keep(6).is_none());
        let second = keep(5).unwrap();
        assert_eq!(SHELF.taken(), 100);
        drop(first);
        assert_eq!((SHELF.taken(), second.len()), (20, 20));
        assert!(SHELF.keep::<f64>(2, |_| false).is_none());
        assert_eq!(SHELF.taken(), 20, "what could not be written is not held");
    }
}

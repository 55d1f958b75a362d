//! What kernels keep beside a buffer: copies of its elements in the order in which they read them (panels of a product, transformed
//! weights), so that an operand that stays is brought into that order once and not in every run.
//!
//! Kept are copies of parameters (tensors that a gradient is wanted of) and of constants of plans: data comes once, or in parts that are
//! others each time. A copy is made when the same one is wanted for the second time, of a constant for the first; it goes when the
//! buffer is written to or dropped. Copies are buffers of the allocator, counted by the budget, and all of them together take a part of it only ([`Shelf`]).

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};

use smallvec::SmallVec;

use super::alloc::Bytes;
use super::element::Element;
use super::{interrupt, memory};
use crate::sync::{Mutex, MutexGuard, OnceLock};

/// The copies beside a buffer.
pub struct Packs {
    /// Whether some are kept.
    is_open: AtomicBool,
    inner: OnceLock<Box<Mutex<Inner>>>,
}

#[derive(Default)]
struct Inner {
    /// A bit for each key that has been asked for.
    asked: u64,
    packed: SmallVec<[(Key, Arc<Packed>); 1]>,
}

/// Which copy it is: two of the same key have the same elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// Who reads it.
    pub form: &'static str,
    /// Address of the first element that is copied.
    pub at: usize,
    /// What else the order depends on.
    pub sizes: [usize; 8],
}

/// A copy.
#[derive(Debug)]
pub struct Packed {
    bytes: Bytes,
    shelf: &'static Shelf,
}

/// A bound for copies.
#[derive(Debug)]
pub struct Shelf {
    /// Bytes that it has room for; `None` for this part of the budget of main memory.
    room: Option<usize>,
    taken: AtomicUsize,
}

/// The shelf of the process.
static HOST: Shelf = Shelf::new(None);

/// The part of the budget that copies may take.
const PART: usize = 16;

/// A copy is made only where the budget leaves this many times its bytes.
const TIMES_ROOM: usize = 4;

impl Default for Packs {
    fn default() -> Self {
        Self { is_open: AtomicBool::new(false), inner: OnceLock::new() }
    }
}

/// Bytes of all copies that are kept.
pub fn kept_bytes() -> usize {
    HOST.taken()
}

impl Packs {
    /// For the buffer of a parameter: what is asked for again is kept.
    #[inline]
    pub fn open(&self) {
        self.is_open.store(true, Ordering::Relaxed);
    }

    /// For a buffer that is read in many runs: the first that is asked for is kept.
    pub fn expect_reuse(&self) {
        self.open();
        self.lock().asked = u64::MAX;
    }

    /// The copy of this key, of `len` elements that `fill` writes; `None` where it is asked for for the first time, there is no room, or
    /// `fill` could not do it.
    pub(super) fn get<T: Element>(
        &self,
        key: Key,
        len: usize,
        fill: impl FnOnce(&mut [T]) -> bool,
    ) -> Option<Arc<Packed>> {
        self.get_on(&HOST, key, len, fill)
    }

    /// As `get`, on a shelf.
    fn get_on<T: Element>(
        &self,
        shelf: &'static Shelf,
        key: Key,
        len: usize,
        fill: impl FnOnce(&mut [T]) -> bool,
    ) -> Option<Arc<Packed>> {
        if !self.is_open.load(Ordering::Relaxed) {
            return None;
        }
        let mut inner = self.lock();
        if let Some(found) = inner.packed.iter().find(|it| it.0 == key) {
            return Some(found.1.clone());
        }
        let bit = 1 << (hash(&key) % 64);
        let is_first = inner.asked & bit == 0;
        inner.asked |= bit;
        if is_first {
            return None;
        }
        // Not locked meanwhile: other threads take part in filling it.
        drop(inner);
        let packed = Arc::new(shelf.keep(len, fill)?);
        self.lock().packed.push((key, packed.clone()));
        Some(packed)
    }

    /// How many copies there are.
    #[cfg(test)]
    pub(crate) fn n_kept(&self) -> usize {
        self.lock().packed.len()
    }

    /// Forgets all: the buffer is about to be written to.
    #[inline]
    pub(crate) fn clear(&mut self) {
        if self.inner.get().is_some() {
            self.inner = OnceLock::new();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.get_or_init(Box::default).lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Packs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let n = self.inner.get().map_or(0, |_| self.lock().packed.len());
        write!(f, "{n} packed copies")
    }
}

fn hash(key: &Key) -> u64 {
    use std::hash::BuildHasher;
    rustc_hash::FxBuildHasher.hash_one(key)
}

impl Shelf {
    const fn new(room: Option<usize>) -> Self {
        Self { room, taken: AtomicUsize::new(0) }
    }

    /// Bytes that stand on it.
    fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    fn keep<T: Element>(
        &'static self,
        len: usize,
        fill: impl FnOnce(&mut [T]) -> bool,
    ) -> Option<Packed> {
        let size = len.checked_mul(size_of::<T>()).filter(|&it| it > 0)?;
        let room = self.room.unwrap_or_else(|| memory::HOST.budget() / PART);
        let fits = |taken: usize| taken.checked_add(size).filter(|&it| it <= room);
        if !memory::HOST.has_room(size.checked_mul(TIMES_ROOM)?) {
            return None;
        }
        self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).ok()?;
        let Ok(bytes) = Bytes::uninit(size) else {
            self.taken.fetch_sub(size, Ordering::Relaxed);
            return None;
        };
        let mut packed = Packed { bytes, shelf: self };
        // SAFETY: the buffer has this many elements, aligned for all of them, and is of this function alone.
        let out = unsafe { std::slice::from_raw_parts_mut(packed.bytes.as_mut_ptr().cast(), len) };
        // What is kept is written to its end: an interrupt waits.
        interrupt::unstopped(0, || fill(out))?.then_some(packed)
    }
}

impl Packed {
    /// Its elements, of the type that it was made of.
    pub(super) fn as_slice<T: Element>(&self) -> &[T] {
        // SAFETY: the buffer is as long and aligned, and any bits are a value.
        unsafe {
            let len = self.bytes.len() / size_of::<T>();
            std::slice::from_raw_parts(self.bytes.as_ptr().cast(), len)
        }
    }
}

impl Drop for Packed {
    fn drop(&mut self) {
        self.shelf.taken.fetch_sub(self.bytes.len(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(at: usize) -> Key {
        Key { form: "test", at, sizes: [0; 8] }
    }

    #[test]
    fn what_is_wanted_again_is_kept_until_the_buffer_changes() {
        static SHELF: Shelf = Shelf::new(Some(100));
        let mut packs = Packs::default();
        packs.open();
        let get = |packs: &Packs, at: usize, value: f32| {
            let fill = |out: &mut [f32]| {
                out.fill(value);
                true
            };
            packs.get_on(&SHELF, key(at), 20, fill)
        };
        assert!(get(&packs, 0, 1.0).is_none() && SHELF.taken() == 0, "once is not enough");
        let first = get(&packs, 0, 1.0).unwrap();
        assert_eq!((SHELF.taken(), first.as_slice::<f32>()), (80, &[1.0; 20][..]));
        let again = get(&packs, 0, 2.0).unwrap();
        assert_eq!(again.as_slice::<f32>()[0], 1.0, "made once");
        assert!((0..2).all(|_| get(&packs, 8, 3.0).is_none()), "no room for another");
        packs.clear();
        assert_eq!(SHELF.taken(), 80, "who holds one still has it");
        drop((first, again));
        assert_eq!(SHELF.taken(), 0);
        assert!(get(&packs, 0, 4.0).is_none(), "after a change it is a new one");
        assert_eq!(get(&packs, 0, 4.0).unwrap().as_slice::<f32>()[0], 4.0);
        drop(packs);
        assert_eq!(SHELF.taken(), 0);
    }

    #[test]
    fn constants_are_kept_at_once() {
        let packs = Packs::default();
        packs.expect_reuse();
        assert!(packs.get::<f64>(key(0), 2, |_| false).is_none(), "what could not be written");
        assert!(packs.get::<f64>(key(0), 2, |_| true).is_some());
    }
}

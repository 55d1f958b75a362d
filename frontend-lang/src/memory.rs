//! The memory budget of what programs hold: strings, containers, objects. Tensors have a budget of
//! their own, in the engine.
//!
//! Containers count what they hold where they grow ([`Charge`]) and give it back when they go. What
//! is about to become large asks first ([`room`]) and raises `MemoryError` instead of asking the
//! system for what is not there; many small things are noticed at the next step of the program.
//! Values do not know their session, so the count is the thread's. Sizes are close, not exact.

use std::cell::Cell;

use crate::error::{Raised, memory_error};
use crate::objects::trash;
use crate::value::Value;

/// Bytes counted for one value in a container.
pub const SLOT: usize = size_of::<Value>();

/// The part of the limit that is left for going on after a `MemoryError`.
const GRACE: usize = 16;

thread_local! {
    static USED: Cell<usize> = const { Cell::new(0) };
    static LIMIT: Cell<usize> = const { Cell::new(usize::MAX) };
    /// Where the next error is raised: the limit, or somewhat above once it has been reached.
    static EDGE: Cell<usize> = const { Cell::new(usize::MAX) };
    static OVER: Cell<bool> = const { Cell::new(false) };
}

/// Bytes in use on this thread.
pub fn used() -> usize {
    USED.get()
}

/// The limit in force on this thread.
pub fn limit() -> usize {
    LIMIT.get()
}

/// The limit where none is set: a fifth of the memory that the process may take. Tensors have three quarters.
pub fn default_limit() -> usize {
    engine::cpu::machine_memory::machine_memory() / 5
}

/// Puts a limit in force, for a cell that begins.
pub(crate) fn set_limit(bytes: usize) {
    if bytes != LIMIT.get() || used() < bytes - bytes / GRACE {
        LIMIT.set(bytes);
        EDGE.set(bytes);
        OVER.set(false);
    }
}

/// Checks that `bytes` more may be used; they are not counted yet.
#[inline]
pub fn room(bytes: usize) -> Result<(), Raised> {
    if bytes > EDGE.get().saturating_sub(USED.get()) { find_room(bytes) } else { Ok(()) }
}

/// Frees what is in cycles, and looks again.
#[cold]
fn find_room(bytes: usize) -> Result<(), Raised> {
    crate::cycles::collect();
    trash::empty();
    if bytes <= EDGE.get().saturating_sub(USED.get()) {
        return Ok(());
    }
    let raised = no_room(bytes);
    if bytes < LIMIT.get() / GRACE {
        open_grace();
    }
    Err(raised)
}

/// Checks that `count` more values may be kept.
pub fn room_for(count: usize) -> Result<(), Raised> {
    room(count.saturating_mul(SLOT))
}

/// Raises if small things have gone over the limit; loops that make many call it.
#[inline]
pub fn check() -> Result<(), Raised> {
    if OVER.get() { over() } else { Ok(()) }
}

#[cold]
fn over() -> Result<(), Raised> {
    OVER.set(false);
    if USED.get() <= EDGE.get() {
        return Ok(());
    }
    let raised = no_room(0);
    open_grace();
    Err(raised)
}

/// After an error there is a little more, so that the session can go on.
fn open_grace() {
    EDGE.set(LIMIT.get().saturating_add(LIMIT.get() / GRACE));
}

#[cold]
fn no_room(bytes: usize) -> Raised {
    let (used, limit) = (shown(USED.get()), shown(LIMIT.get()));
    let wanted =
        if bytes == 0 { String::new() } else { format!("{} more are wanted; ", shown(bytes)) };
    memory_error(format!(
        "{wanted}{used} of {limit} are in use; free names with `del`, or raise the limit with \
         notegrad.set_memory_limit(bytes)"
    ))
}

fn shown(bytes: usize) -> String {
    let mut size = bytes as f64;
    for unit in ["bytes", "KiB", "MiB", "GiB", "TiB"] {
        if size < 1024.0 {
            return if unit == "bytes" {
                format!("{bytes} bytes")
            } else {
                format!("{size:.1} {unit}")
            };
        }
        size /= 1024.0;
    }
    format!("{size:.0} PiB")
}

/// Counts `bytes`.
#[inline]
pub(crate) fn charge(bytes: usize) {
    let used = USED.get() + bytes;
    USED.set(used);
    if used > EDGE.get() {
        OVER.set(true);
        crate::cycles::look_soon();
    }
}

/// Gives `bytes` back.
#[inline]
pub(crate) fn release(bytes: usize) {
    USED.set(USED.get().saturating_sub(bytes));
}

/// What one container holds now; given back when it goes.
pub struct Charge(Cell<usize>);

impl Charge {
    /// A container that holds `bytes`.
    #[inline]
    pub fn new(bytes: usize) -> Charge {
        charge(bytes);
        Charge(Cell::new(bytes))
    }

    /// The container holds `bytes` from now on.
    #[inline]
    pub fn set(&self, bytes: usize) {
        let before = self.0.replace(bytes);
        if bytes > before {
            charge(bytes - before);
        } else {
            release(before - bytes);
        }
    }

    /// The container has grown by `bytes`.
    #[inline]
    pub fn add(&self, bytes: usize) {
        self.set(self.0.get() + bytes);
    }

    /// The container has shrunk by `bytes`.
    #[inline]
    pub fn sub(&self, bytes: usize) {
        self.set(self.0.get().saturating_sub(bytes));
    }
}

impl Default for Charge {
    fn default() -> Charge {
        Charge(Cell::new(0))
    }
}

impl Drop for Charge {
    #[inline]
    fn drop(&mut self) {
        release(self.0.get());
    }
}

/// An object whose size never changes; takes no space itself.
pub struct Fixed<const BYTES: usize>(());

impl<const BYTES: usize> Default for Fixed<BYTES> {
    #[inline]
    fn default() -> Self {
        charge(BYTES);
        Fixed(())
    }
}

impl<const BYTES: usize> Drop for Fixed<BYTES> {
    #[inline]
    fn drop(&mut self) {
        release(BYTES);
    }
}

/// Makes room in `items` for `more`, or raises.
pub fn reserve<T>(items: &mut Vec<T>, more: usize) -> Result<(), Raised> {
    let wanted = items.len().saturating_add(more);
    if wanted <= items.capacity() {
        return Ok(());
    }
    let size = size_of::<T>().max(1);
    let mut capacity = wanted.max(items.capacity().saturating_mul(2)).max(4);
    if room(capacity.saturating_mul(size)).is_err() {
        // Near the limit what is needed may fit although doubling does not.
        capacity = wanted.saturating_add(wanted / 8);
        room(capacity.saturating_sub(items.capacity()).saturating_mul(size))?;
    }
    items
        .try_reserve_exact(capacity - items.len())
        .map_err(|_| no_room(capacity.saturating_mul(size)))
}

/// `items.push(item)`, or `MemoryError`.
#[inline]
pub fn push<T>(items: &mut Vec<T>, item: T) -> Result<(), Raised> {
    if items.len() == items.capacity() {
        reserve(items, 1)?;
    }
    items.push(item);
    Ok(())
}

/// A string to which `bytes` can be added, or `MemoryError`.
pub fn string(bytes: usize) -> Result<String, Raised> {
    room(bytes)?;
    let mut text = String::new();
    text.try_reserve_exact(bytes).map_err(|_| no_room(bytes))?;
    Ok(text)
}

/// Checks a text that is being written, which may double when it next grows.
#[inline]
pub fn check_text(text: &String) -> Result<(), Raised> {
    if text.capacity() < 1 << 16 { Ok(()) } else { room(text.capacity()) }
}

/// Checks items that are being collected, whose room doubles when it is used up.
#[inline]
pub fn check_items<T>(items: &Vec<T>) -> Result<(), Raised> {
    if items.len() < items.capacity() || items.len() < 1 << 12 {
        return Ok(());
    }
    room(items.len().saturating_mul(2 * size_of::<T>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charges_are_given_back() {
        let before = used();
        let charge = Charge::new(100);
        charge.add(50);
        charge.sub(20);
        assert_eq!(used(), before + 130);
        drop(charge);
        let fixed = Fixed::<64>::default();
        assert_eq!(used(), before + 64);
        drop(fixed);
        assert_eq!(used(), before);
    }

    #[test]
    fn past_the_limit_there_is_one_error_and_then_some_grace() {
        let before = used();
        set_limit(before + (16 << 20));
        assert!(room(15 << 20).is_ok() && room(17 << 20).is_err() && room(usize::MAX).is_err());
        let charge = Charge::new((16 << 20) + 1);
        assert!(check().is_err() && check().is_ok());
        assert!(room(900 << 10).is_ok() && room(2 << 20).is_err());
        drop(charge);
        set_limit(usize::MAX);
    }
}

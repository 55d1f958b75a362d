//! Scratch memory of a kernel: a buffer like any other while it is used, so that the budget counts it, and nobody's afterwards.

use super::alloc::Bytes;
use super::element::Element;

/// Calls `f` with memory for `len` elements that hold any values; `None` if there is no memory.
pub(crate) fn with<T: Element, R>(len: usize, f: impl FnOnce(*mut T) -> R) -> Option<R> {
    let mut bytes = Bytes::uninit(len.checked_mul(size_of::<T>())?).ok()?;
    Some(f(bytes.as_mut_ptr().cast()))
}

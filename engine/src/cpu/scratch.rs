//! Scratch memory of a thread, kept between calls, so that a kernel does not allocate each time it runs.

use std::cell::Cell;

use super::alloc::Bytes;
use super::element::Element;

/// What the memory is for; each use has its own, so that kernels can call each other.
#[derive(Clone, Copy)]
pub(crate) enum Use {
    PackA,
    PackB,
    Gemv,
    ConvInput,
    ConvWeight,
    ConvOutput,
    ConvOther,
}

const N_USES: usize = 7;
/// Larger scratch memory is given back after use.
const KEEP: usize = 64 << 20;

thread_local! {
    static SLOTS: [Cell<Option<Bytes>>; N_USES] = const { [const { Cell::new(None) }; N_USES] };
}

/// Calls `f` with memory for `len` elements that hold any values; `None` if there is no memory.
pub(crate) fn with<T: Element, R>(what: Use, len: usize, f: impl FnOnce(*mut T) -> R) -> Option<R> {
    let size = len.checked_mul(size_of::<T>())?;
    let kept = SLOTS.try_with(|slots| slots[what as usize].take()).ok().flatten();
    let mut bytes = match kept {
        Some(bytes) if bytes.len() >= size => bytes,
        // Zeros, so that all of it may be read from now on.
        _ => Bytes::zeroed(size).ok()?,
    };
    let result = f(bytes.as_mut_ptr().cast());
    if bytes.len() <= KEEP {
        let _ = SLOTS.try_with(|slots| slots[what as usize].set(Some(bytes)));
    }
    Some(result)
}

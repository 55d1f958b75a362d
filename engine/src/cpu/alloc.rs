//! Byte buffers, in blocks of size classes.
//!
//! Block sizes are a power of two or a quarter step between two of them, so at most a fifth of a block is lost. Blocks of 2 MB and
//! more ask for huge pages.

use std::alloc::Layout;
use std::fmt;
use std::ptr::NonNull;

use super::memory::{HOST, Memory};
use crate::{DType, Shape};

const ALIGN: usize = 64;
pub(super) const HUGE: usize = 2 << 20;
/// Blocks up to this size have a list in each thread; longer buffers are noted among the large ones.
pub(super) const SMALL: usize = 64 << 10;
pub(super) const LOCAL_CLASSES: usize = class_of(SMALL) + 1;
pub(super) const N_CLASSES: usize = class_of(1 << 40) + 1;

/// An owned buffer of `len` bytes, aligned to 64 bytes. Dropping it returns the block to the memory that it is of.
pub struct Bytes {
    ptr: NonNull<u8>,
    len: usize,
    home: &'static Memory,
}

// SAFETY: a `Bytes` owns its block, as a `Vec<u8>` does.
unsafe impl Send for Bytes {}
// SAFETY: as above; shared access only reads.
unsafe impl Sync for Bytes {}

/// No memory: the budget is spent, or the system refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocError {
    /// Bytes that were asked for.
    pub bytes: usize,
    /// Bytes in use at that moment.
    pub live: usize,
    /// The budget in bytes.
    pub budget: usize,
}

impl fmt::Display for AllocError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AllocError { bytes, live, budget } = self;
        write!(f, "cannot allocate {bytes} bytes: {live} of {budget} bytes are in use")
    }
}

impl std::error::Error for AllocError {}

impl Bytes {
    /// A buffer of main memory, of any contents: see [`Memory::uninit`].
    pub fn uninit(len: usize) -> Result<Bytes, AllocError> {
        HOST.uninit(len)
    }

    /// A buffer of main memory for the elements of a tensor: see [`Memory::of`].
    pub fn of(shape: &Shape, dtype: DType) -> Result<Bytes, AllocError> {
        HOST.of(shape, dtype)
    }

    /// A block of so many bytes that `home` has handed out.
    pub(super) fn owning(ptr: NonNull<u8>, len: usize, home: &'static Memory) -> Bytes {
        Bytes { ptr, len, home }
    }

    /// A buffer of zeros.
    pub fn zeroed(len: usize) -> Result<Bytes, AllocError> {
        let bytes = Bytes::uninit(len)?;
        // SAFETY: the block has at least `len` bytes and nobody else knows it.
        unsafe { bytes.ptr.as_ptr().write_bytes(0, len) };
        Ok(bytes)
    }

    /// Whether it is a buffer of this memory.
    pub(crate) fn is_of(&self, memory: &Memory) -> bool {
        std::ptr::eq(self.home, memory)
    }

    /// Length in bytes, as asked for.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True for a buffer of no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// From now on what they hold was made here.
    pub(crate) fn made_here(&mut self) {
        self.home.made_here(self.ptr, self.len);
    }

    /// The first byte, for reading.
    pub fn as_ptr(&self) -> *const u8 {
        self.ptr.as_ptr()
    }

    /// The first byte, for writing.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.ptr.as_ptr()
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        self.home.take_back(self.ptr, self.len);
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bytes({} at {:p})", self.len, self.ptr)
    }
}

/// Bytes of the block that a buffer of `len` bytes takes.
pub fn block_size(len: usize) -> usize {
    class_size(class_of(len))
}

/// The class of the smallest block that holds `len` bytes.
pub(super) const fn class_of(len: usize) -> usize {
    if len <= 4 * ALIGN {
        return if len == 0 { 0 } else { (len - 1) / ALIGN };
    }
    // The step is a quarter of the power of two below: blocks of 5, 6, 7 and 8 steps.
    let power = (usize::BITS - 1 - (len - 1).leading_zeros()) as usize;
    let steps = (len - 1) >> (power - 2);
    4 + (power - 8) * 4 + (steps - 4)
}

/// Bytes in a block of `class`.
pub(super) const fn class_size(class: usize) -> usize {
    if class < 4 { (class + 1) * ALIGN } else { (5 + (class - 4) % 4) << (6 + (class - 4) / 4) }
}

/// How a block of `class` lies.
pub(super) fn block_layout(class: usize) -> Layout {
    let size = class_size(class);
    let align = if size >= HUGE { HUGE } else { ALIGN };
    // SAFETY: the alignment is a power of two and the largest class is far below `isize::MAX`.
    unsafe { Layout::from_size_align_unchecked(size, align) }
}

/// Under a sanitizer (`cargo xtask sanitize`) each buffer is a block of its own length and lives once, so that whatever reaches
/// beyond it, or comes too late, is seen.
pub(super) const EXACT: bool = cfg!(sanitized);

/// How a block of just `len` bytes lies.
pub(super) fn exact_layout(len: usize) -> Option<Layout> {
    Layout::from_size_align(len.max(1), ALIGN).ok()
}

#[cfg(test)]
#[path = "alloc_tests.rs"]
mod tests;

//! Memory of a thread for the slots of a run, kept from one to the next.

use std::cell::Cell;

thread_local! {
    static SCRATCH: Cell<Vec<Line>> = const { Cell::new(Vec::new()) };
}

/// Bytes of a cache line; slots start on one.
pub(super) const LINE: usize = size_of::<Line>();

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[expect(dead_code, reason = "read through pointers")] [u8; 64]);

/// Calls `f` with the address of so many bytes of any contents, null for none. A run within a run has its own.
#[inline]
pub(super) fn with_scratch<R>(bytes: usize, f: impl FnOnce(*mut u8) -> R) -> R {
    if bytes == 0 {
        return f(std::ptr::null_mut());
    }
    let mut scratch = SCRATCH.take();
    let lines = bytes.div_ceil(LINE);
    if scratch.len() < lines {
        scratch.resize(lines, Line([0; LINE]));
    }
    let res = f(scratch.as_mut_ptr().cast());
    SCRATCH.set(scratch);
    res
}

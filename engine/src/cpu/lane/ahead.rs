//! Cache lines that are asked for before they are written. A store to memory that is in no cache waits until its line has been read, and
//! the processor foresees loads, but few stores; asked for while the tile before is computed, the lines are there in time.

/// Bytes of an output from which on lines are asked for: smaller ones are still in a cache.
pub(super) const LEAST: usize = 8 << 20;

const LINE: usize = 64;

/// Asks for the lines of memory that will be written next. Nothing is read or written, so any address will do.
#[inline(always)]
pub(super) fn of_writes(start: *const u8, len: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..len / LINE {
        use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        // SAFETY: the instruction touches no memory, and what does not know it takes it for one that does nothing.
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(start.wrapping_add(line * LINE).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (start, len, LINE);
}

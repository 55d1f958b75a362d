//! Stores that go past the caches. A result larger than the last cache is not there when it is read again, and an ordinary store to a line
//! that is in no cache first reads it: a third of the traffic of a sum. So the tiles of such outputs are computed in slots, and copied from
//! there with stores that read nothing.

/// Bytes of an output from which on it goes past the caches.
pub(super) const LEAST: usize = 32 << 20;

/// Bytes to whose multiples such an output is aligned, and all its tiles with it: a cache line.
pub(super) const ALIGNMENT: usize = 64;

/// Copies `len` bytes past the caches. Other threads see them after [`finish`].
///
/// # Safety
/// `from` is readable and `to` writable for `len` bytes, which do not overlap; both are aligned to 16 bytes.
#[inline(always)]
pub(super) unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    #[cfg(target_arch = "x86_64")]
    let done = {
        use std::arch::x86_64::{__m128i, _mm_load_si128, _mm_stream_si128};
        let vectors = len / size_of::<__m128i>();
        for at in 0..vectors {
            // SAFETY: promised by the caller.
            unsafe {
                let vector = _mm_load_si128(from.cast::<__m128i>().add(at));
                _mm_stream_si128(to.cast::<__m128i>().add(at), vector);
            }
        }
        vectors * size_of::<__m128i>()
    };
    #[cfg(not(target_arch = "x86_64"))]
    let done = 0;
    // SAFETY: promised by the caller.
    unsafe { std::ptr::copy_nonoverlapping(from.add(done), to.add(done), len - done) };
}

/// Makes what was copied visible in order, before anything that is stored after it.
#[inline]
pub(super) fn finish() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction is part of every processor of this architecture.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

/// Has bytes brought near; any address may be named.
#[inline]
pub(super) fn prefetch(from: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for at in (0..bytes).step_by(ALIGNMENT) {
        // SAFETY: every processor of this kind has the instruction, which reads nothing.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(from.wrapping_add(at).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (from, bytes);
}

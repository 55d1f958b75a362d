//! The process's allocator: [mimalloc](https://github.com/microsoft/mimalloc), asked for an alignment only where its blocks do not have it.
//!
//! The crate `mimalloc` asks always. A request with an alignment takes a free block of its size if one is at hand, and else a larger one
//! to align within, so that once the free blocks of a size have run out each object of that size comes the long way.
#![expect(unsafe_code, reason = "an allocator hands out memory")]

use std::alloc::{GlobalAlloc, Layout};
use std::ffi::c_void;

use libmimalloc_sys as mi;

/// What every block is aligned to: all are whole words.
const ALIGN: usize = align_of::<usize>();

/// Blocks of mimalloc.
#[derive(Clone, Copy, Debug)]
pub struct Allocator;

// SAFETY: mimalloc's functions are those of C: blocks of at least the size, aligned to words or as asked, or null.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: any size and any power of two may be asked for.
        unsafe {
            match layout.align() <= ALIGN {
                true => mi::mi_malloc(layout.size()).cast(),
                false => mi::mi_malloc_aligned(layout.size(), layout.align()).cast(),
            }
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`.
        unsafe {
            match layout.align() <= ALIGN {
                true => mi::mi_zalloc(layout.size()).cast(),
                false => mi::mi_zalloc_aligned(layout.size(), layout.align()).cast(),
            }
        }
    }

    #[inline]
    unsafe fn dealloc(&self, ptr: *mut u8, _layout: Layout) {
        // SAFETY: the block is one of mimalloc's.
        unsafe { mi::mi_free(ptr.cast::<c_void>()) }
    }

    #[inline]
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        let ptr = ptr.cast::<c_void>();
        // SAFETY: the block is one of mimalloc's, and the alignment that of its request.
        unsafe {
            match layout.align() <= ALIGN {
                true => mi::mi_realloc(ptr, new_size).cast(),
                false => mi::mi_realloc_aligned(ptr, new_size, layout.align()).cast(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_as_asked_and_keep_what_they_hold() {
        for align in [1, 2, 4, 8, 16, 64, 4096] {
            for size in (1..300).chain([4096, 100_000, 3 << 20]) {
                let layout = Layout::from_size_align(size, align).unwrap();
                // SAFETY: each block is used within its size, and given back with its layout.
                unsafe {
                    let zeros = Allocator.alloc_zeroed(layout);
                    assert!(zeros.addr().is_multiple_of(align) && !zeros.is_null());
                    assert!(std::slice::from_raw_parts(zeros, size).iter().all(|it| *it == 0));
                    let block = Allocator.alloc(layout);
                    assert!(block.addr().is_multiple_of(align) && block != zeros);
                    block.write_bytes(7, size);
                    let larger = Allocator.realloc(block, layout, size * 2);
                    assert!(larger.addr().is_multiple_of(align));
                    assert!(std::slice::from_raw_parts(larger, size).iter().all(|it| *it == 7));
                    Allocator.dealloc(zeros, layout);
                    let layout = Layout::from_size_align(size * 2, align).unwrap();
                    Allocator.dealloc(larger, layout);
                }
            }
        }
    }
}

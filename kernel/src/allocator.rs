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

/// Has the first GiB of blocks lie in large pages, where the system has them on request; to be called before any block is handed out.
/// Only what is used takes memory. Small objects lie all over: in a virtual machine, where each small page is looked up through two
/// tables, a loop over a large dict is twice as fast and more. Whether it came to that.
#[cfg(target_os = "linux")]
pub fn use_large_pages() -> bool {
    // mmap(2) and madvise(2).
    unsafe extern "C" {
        fn mmap(
            at: *mut c_void,
            len: usize,
            prot: i32,
            flags: i32,
            fd: i32,
            from: i64,
        ) -> *mut c_void;
        fn madvise(at: *mut c_void, len: usize, advice: i32) -> i32;
    }
    const SIZE: usize = 1 << 30;
    const LARGE_PAGE: usize = 2 << 20;
    const READ_AND_WRITE: i32 = 3;
    const PRIVATE_ANONYMOUS_NORESERVE: i32 = 0x2 | 0x20 | 0x4000;
    const MADV_HUGEPAGE: i32 = 14;
    // SAFETY: addresses that are nobody's, of which mimalloc is given those from a large page on, as zeros that may be written.
    unsafe {
        let all = mmap(
            std::ptr::null_mut(),
            SIZE + LARGE_PAGE,
            READ_AND_WRITE,
            PRIVATE_ANONYMOUS_NORESERVE,
            -1,
            0,
        );
        if all.addr() == usize::MAX {
            return false;
        }
        let start = all.byte_add(all.addr().next_multiple_of(LARGE_PAGE) - all.addr());
        let advised = madvise(start, SIZE, MADV_HUGEPAGE) == 0;
        mi::mi_process_init();
        let none = std::ptr::null_mut();
        mi::mi_manage_os_memory_ex(start, SIZE, true, false, true, -1, false, none) && advised
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

    /// The addresses of mappings that the system was asked to put into large pages.
    #[cfg(target_os = "linux")]
    fn advised() -> Vec<std::ops::Range<usize>> {
        let mut found = Vec::new();
        let mut range = 0..0;
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        for line in maps.lines() {
            let first = line.split(' ').next().unwrap();
            let number = |it: &str| usize::from_str_radix(it, 16).ok();
            let ends = first.split_once('-').and_then(|(a, b)| Some(number(a)?..number(b)?));
            range = ends.unwrap_or(range);
            if line.starts_with("VmFlags:") && line.split(' ').any(|it| it == "hg") {
                found.push(range.clone());
            }
        }
        found
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_first_blocks_lie_where_large_pages_are_asked_for() {
        if !use_large_pages() {
            return;
        }
        let layout = Layout::from_size_align(48, 8).unwrap();
        let all: Vec<*mut u8> = (0..100_000)
            // SAFETY: each block is given back below.
            .map(|_| unsafe { Allocator.alloc(layout) })
            .collect();
        let advised = advised();
        let within = |it: &&*mut u8| advised.iter().any(|range| range.contains(&it.addr()));
        let count = all.iter().filter(within).count();
        for block in all {
            // SAFETY: as it was handed out.
            unsafe { Allocator.dealloc(block, layout) };
        }
        assert!(count > 0, "none of the blocks lies in {advised:x?}");
    }
}

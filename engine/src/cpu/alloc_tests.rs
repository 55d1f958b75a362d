//! Tests of the allocator. Those that read counters have memory of their own.

use super::*;
use crate::cpu::memory::Source;
use crate::cpu::typed;

fn own() -> &'static Memory {
    Box::leak(Box::new(Memory::new()))
}

#[test]
fn classes_cover_all_sizes() {
    for len in (0..5000).chain([65_535, 65_536, 65_537, 1 << 20, (1 << 20) + 1, 3 << 30, 1 << 40]) {
        let class = class_of(len);
        assert!(class_size(class) >= len, "{len}");
        assert!(class == 0 || class_size(class - 1) < len, "{len}");
        assert_eq!(class_of(class_size(class)), class);
        assert!(len < 256 || class_size(class) <= len + len / 4 + 1, "{len}");
    }
}

#[test]
fn buffers_are_aligned_and_apart() {
    let sizes = [0, 1, 8, 63, 64, 65, 256, 257, 1000, 70_000, 3 << 20];
    let mut buffers: Vec<Bytes> = Vec::new();
    for round in 0..3u8 {
        for &size in &sizes {
            let mut bytes = Bytes::zeroed(size).unwrap();
            assert_eq!(bytes.len(), size);
            assert_eq!(bytes.as_ptr() as usize % if size >= HUGE && !EXACT { HUGE } else { 64 }, 0);
            unsafe { bytes.as_mut_ptr().write_bytes(round * 16 + buffers.len() as u8, size) };
            buffers.push(bytes);
        }
    }
    for (i, bytes) in buffers.iter().enumerate() {
        let want = (i / sizes.len()) as u8 * 16 + i as u8;
        let slice = unsafe { std::slice::from_raw_parts(bytes.as_ptr(), bytes.len()) };
        assert!(slice.iter().all(|&byte| byte == want));
    }
}

#[cfg(not(sanitized))]
#[test]
fn a_freed_block_is_used_again() {
    for size in [16, 200, 5000, 1 << 20] {
        let first = Bytes::uninit(size).unwrap();
        let address = first.as_ptr();
        drop(first);
        if size <= 64 << 10 {
            assert_eq!(Bytes::uninit(size).unwrap().as_ptr(), address);
        }
    }
}

#[test]
fn a_block_from_the_system_holds_zeros() {
    let memory = own();
    for class in [LOCAL_CLASSES, class_of(3 << 20), class_of(9 << 20)] {
        let bytes = memory.uninit(class_size(class)).unwrap();
        assert!(typed::slice::<u8>(&bytes).iter().all(|&it| it == 0), "{class}");
    }
}

#[test]
fn too_much_is_an_error() {
    for len in [usize::MAX, isize::MAX as usize, 1 << 41, 1 << 39] {
        let refused = Bytes::uninit(len).unwrap_err();
        assert_eq!(refused.bytes, len);
        assert!(refused.to_string().starts_with("cannot allocate"));
    }
}

#[test]
fn each_memory_counts_for_itself() {
    let (one, other) = (own(), own());
    let few = one.uninit(100).unwrap();
    let many = one.uninit(3 << 20).unwrap();
    let live = if EXACT { 100 + (3 << 20) } else { 128 + (3 << 20) };
    let stats = one.stats();
    assert_eq!((stats.live, stats.peak, stats.cached, stats.allocations), (live, live, 0, 2));
    drop((few, many));
    let stats = one.stats();
    let kept = if EXACT { 0 } else { live };
    assert_eq!((stats.live, stats.peak, stats.cached, stats.allocations), (0, live, kept, 2));
    one.reset_peak();
    one.trim();
    assert_eq!((one.stats().peak, one.stats().cached), (0, if EXACT { 0 } else { 128 }));
    let none = other.stats();
    assert_eq!((none.live, none.peak, none.cached, none.allocations), (0, 0, 0, 0));
}

#[test]
fn a_part_of_a_memory_counts_there_and_has_blocks_of_its_own() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static TAKEN: AtomicUsize = AtomicUsize::new(0);
    fn layout(size: usize) -> Layout {
        Layout::from_size_align(size, 64).unwrap()
    }
    fn take(size: usize) -> Option<NonNull<u8>> {
        TAKEN.fetch_add(size, Ordering::Relaxed);
        NonNull::new(unsafe { std::alloc::alloc_zeroed(layout(size)) })
    }
    fn give(start: NonNull<u8>, size: usize) {
        TAKEN.fetch_sub(size, Ordering::Relaxed);
        unsafe { std::alloc::dealloc(start.as_ptr(), layout(size)) };
    }
    let outer = own();
    let part: &Memory = Box::leak(Box::new(Memory::inside(outer, Source { take, give })));
    let size = 1 << 20;
    let bytes = part.of(&Shape::from([size]), DType::U8).unwrap();
    assert!(bytes.is_of(part) && !bytes.is_of(outer));
    assert_eq!((part.stats().live, outer.stats().live, outer.stats().peak), (size, size, size));
    assert_eq!(outer.largest(1)[0].bytes, size);
    outer.set_budget(size + size / 2);
    let refused = AllocError { bytes: size, live: size, budget: size + size / 2 };
    assert_eq!(part.uninit(size).unwrap_err(), refused);
    assert_eq!(outer.uninit(size).unwrap_err(), refused);
    outer.set_budget(0);
    drop(bytes);
    assert_eq!((part.stats().live, outer.stats().live, outer.largest(1)), (0, 0, vec![]));
    assert_eq!((part.stats().cached, outer.stats().cached), (size, 0));
    assert_eq!(TAKEN.load(Ordering::Relaxed), size);
    part.trim();
    assert_eq!(TAKEN.load(Ordering::Relaxed), 0);
    drop(part.uninit(size).unwrap());
    assert_eq!(TAKEN.load(Ordering::Relaxed), size);
    outer.set_budget(size + size / 2);
    let others = outer.uninit(size).unwrap();
    assert_eq!((part.stats().cached, others.len()), (0, size), "what is kept inside makes room");
    assert_eq!(TAKEN.load(Ordering::Relaxed), 0);
}

#[test]
fn a_budget_holds_for_its_memory_alone() {
    let (small, other) = (own(), own());
    small.set_budget(1 << 20);
    let half = small.uninit(512 << 10).unwrap();
    let refused = small.uninit(600 << 10).unwrap_err();
    let live = 512 << 10;
    assert_eq!(refused, AllocError { bytes: 600 << 10, live, budget: 1 << 20 });
    assert!(other.uninit(600 << 10).is_ok());
    drop(half);
    assert!(small.uninit(600 << 10).is_ok());
    small.set_budget(0);
    assert_eq!(small.budget(), other.budget());
}

#[cfg(not(sanitized))]
#[test]
fn a_block_goes_back_to_where_it_came_from() {
    let (one, other) = (own(), own());
    for len in [100, 5000, 1 << 20] {
        let bytes = one.uninit(len).unwrap();
        let address = bytes.as_ptr();
        drop(bytes);
        let elsewhere = other.uninit(len).unwrap();
        assert_ne!(elsewhere.as_ptr(), address);
        assert_eq!(one.uninit(len).unwrap().as_ptr(), address);
    }
}

#[test]
fn blocks_may_be_freed_by_another_thread() {
    for _ in 0..10 {
        let buffers: Vec<Bytes> = (0..500).map(|i| Bytes::zeroed(i * 7).unwrap()).collect();
        std::thread::spawn(move || drop(buffers)).join().unwrap();
    }
}

/// `cargo xtask sanitize` says under which sanitizer this runs. A process of it that does wrong must end with a report.
#[cfg(sanitized)]
#[test]
fn a_sanitizer_sees_what_it_is_there_for() {
    let Ok(name) = std::env::var("SANITIZER") else { return };
    if std::env::var_os("DO_WRONG").is_some() {
        return do_wrong(&name);
    }
    let this = "cpu::alloc::tests::a_sanitizer_sees_what_it_is_there_for";
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    let output =
        child.args(["--exact", this, "--nocapture"]).env("DO_WRONG", "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    let report = if name == "address" { "heap-buffer-overflow" } else { "data race" };
    assert!(!output.status.success() && text.contains(report), "{name}: {text}");
}

/// Reads the byte behind a buffer, or writes to one from two threads.
#[cfg(sanitized)]
fn do_wrong(sanitizer: &str) {
    let mut bytes = Bytes::zeroed(100).unwrap();
    if sanitizer == "address" {
        let behind = std::hint::black_box(bytes.len());
        std::hint::black_box(unsafe { bytes.as_ptr().add(behind).read() });
        return;
    }
    let shared = crate::cpu::pool::Shared(bytes.as_mut_ptr());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(move || unsafe { *shared.get() += 1 });
        }
    });
    std::hint::black_box(bytes.as_ptr());
}

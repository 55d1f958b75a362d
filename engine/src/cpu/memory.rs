//! Memory that is handed out in blocks: its counters, its budget, the blocks that are kept for reuse.
//!
//! Each [`Memory`] stands for itself. [`HOST`] is the one of the device `cpu`; it alone has lists in the threads (`local.rs`), which
//! are asked first. Running out of memory is a value ([`AllocError`]), never an abort. A memory may get its blocks elsewhere than from the
//! system and still be a part of another one (`Memory::inside`): what it hands out counts there, too, and what it keeps is given back when
//! that runs short.

use std::ptr::NonNull;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};

use super::alloc::{
    AllocError, Bytes, EXACT, HUGE, LOCAL_CLASSES, N_CLASSES, SMALL, block_layout, class_of,
    class_size, exact_layout,
};
use super::large::{self, Large};
use super::local::{self, local};
use super::machine_memory::machine_memory;
use crate::sync::{Mutex, MutexGuard};
use crate::{DType, Shape};

/// An allocator: what it has handed out comes back to it.
pub struct Memory {
    live: AtomicI64,
    peak: AtomicI64,
    allocations: AtomicU64,
    budget: AtomicUsize,
    cache: Mutex<Cache>,
    large: large::List,
    inside: Option<Inside>,
    /// The memories inside this one that have handed something out.
    parts: Mutex<Vec<&'static Memory>>,
}

/// What makes a memory a part of another one.
struct Inside {
    outer: &'static Memory,
    source: Source,
}

/// Where blocks come from in place of the system.
#[derive(Clone, Copy)]
pub(crate) struct Source {
    /// A block of so many bytes, which may be read; it begins at a multiple of 64.
    pub(crate) take: fn(usize) -> Option<NonNull<u8>>,
    /// Takes a block of so many bytes back.
    pub(crate) give: fn(NonNull<u8>, usize),
}

/// Main memory, where tensors of the device `cpu` lie.
pub static HOST: Memory = Memory::new();

/// Counters of an allocator, in bytes of blocks but for `allocations`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// In use now.
    pub live: usize,
    /// Most in use since the start or [`Memory::reset_peak`]; of main memory exact to 256 KB per thread.
    pub peak: usize,
    /// Kept for reuse, the lists of the threads not counted.
    pub cached: usize,
    /// Buffers handed out so far.
    pub allocations: u64,
    /// The budget.
    pub budget: usize,
}

impl Memory {
    /// Memory of which nothing is handed out.
    #[expect(clippy::new_without_default, reason = "an allocator lives as long as the process")]
    pub const fn new() -> Self {
        Self::with(None)
    }

    /// Memory of which nothing is handed out, with blocks of its own. What is handed out counts against the budget of `outer`, is among
    /// what that has in use and on its list of large buffers.
    pub(crate) const fn inside(outer: &'static Memory, source: Source) -> Self {
        Self::with(Some(Inside { outer, source }))
    }

    const fn with(inside: Option<Inside>) -> Self {
        Self {
            live: AtomicI64::new(0),
            peak: AtomicI64::new(0),
            allocations: AtomicU64::new(0),
            budget: AtomicUsize::new(0),
            cache: Mutex::new(Cache { lists: [const { Vec::new() }; N_CLASSES], bytes: 0 }),
            large: large::List::new(),
            inside,
            parts: Mutex::new(Vec::new()),
        }
    }

    /// The memory whose budget holds.
    fn whole(&self) -> &Self {
        self.inside.as_ref().map_or(self, |it| it.outer)
    }

    /// Whether each buffer is a block of its own length.
    fn is_exact(&self) -> bool {
        EXACT && self.inside.is_none()
    }

    /// A buffer of any contents: zeros from the system, or what the block held for its last owner. They are there, so it may be read
    /// before it is written.
    pub fn uninit(&'static self, len: usize) -> Result<Bytes, AllocError> {
        self.holding(len, None)
    }

    /// As [`Memory::uninit`], for the elements of a tensor in row-major order: how large it is, and what the list of large buffers
    /// says.
    pub fn of(&'static self, shape: &Shape, dtype: DType) -> Result<Bytes, AllocError> {
        self.holding(shape.numel() * dtype.size(), Some((dtype, shape)))
    }

    fn holding(
        &'static self,
        len: usize,
        what: Option<(DType, &Shape)>,
    ) -> Result<Bytes, AllocError> {
        if len > 1 << 40 {
            return Err(self.refusal(len));
        }
        let class = class_of(len);
        let ptr = match class < LOCAL_CLASSES {
            _ if self.is_exact() => self.exact(len),
            true if self.has_lists() => local::allocate(class),
            _ => self.allocate(class),
        };
        let ptr = ptr.ok_or_else(|| self.refusal(len))?;
        if len > SMALL {
            self.whole().large.begins(ptr, len, what);
        }
        Ok(Bytes::owning(ptr, len, self))
    }

    /// From now on what a block of `len` bytes holds was made here.
    pub(super) fn made_here(&self, ptr: NonNull<u8>, len: usize) {
        if len > SMALL {
            self.whole().large.made_here(ptr);
        }
    }

    /// Takes a block back that was handed out for `len` bytes.
    #[inline]
    pub(super) fn take_back(&self, ptr: NonNull<u8>, len: usize) {
        if len > SMALL {
            self.whole().large.ends(ptr);
        }
        if self.is_exact() {
            return self.free_exact(ptr, len);
        }
        let class = class_of(len);
        let lists = class < LOCAL_CLASSES && self.has_lists();
        if !lists || !local(|local| local.free(class, ptr)).unwrap_or(false) {
            self.count(-(class_size(class) as i64), 0);
            self.keep(class, ptr);
        }
    }

    /// Whether threads have lists of its small blocks.
    #[inline]
    fn has_lists(&self) -> bool {
        std::ptr::eq(self, &HOST)
    }

    /// The counters now.
    pub fn stats(&self) -> Stats {
        self.settle();
        Stats {
            live: self.live(),
            peak: self.peak.load(Ordering::Relaxed).max(0) as usize,
            cached: self.cache().bytes,
            allocations: self.allocations.load(Ordering::Relaxed),
            budget: self.budget(),
        }
    }

    /// Starts a new measurement of [`Stats::peak`].
    pub fn reset_peak(&self) {
        self.settle();
        self.peak.store(self.live.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Counts what this thread has not told yet.
    fn settle(&self) {
        if self.has_lists() {
            let _ = local(local::Local::flush);
        }
    }

    /// The most bytes that may be in use; at first three quarters of the memory that the process may take.
    pub fn budget(&self) -> usize {
        match self.whole().budget.load(Ordering::Relaxed) {
            0 => machine_memory() / 4 * 3,
            bytes => bytes,
        }
    }

    /// Sets the budget; 0 returns to the default.
    pub fn set_budget(&self, bytes: usize) {
        self.budget.store(bytes, Ordering::Relaxed);
    }

    /// Gives what is kept for reuse back to the system.
    pub fn trim(&self) {
        self.shrink(0);
    }

    /// What takes the most memory, the largest first: buffers over 64 kB, those of one place, shape and dtype together.
    pub fn largest(&self, most: usize) -> Vec<Large> {
        self.large.largest(most)
    }

    pub(super) fn refusal(&self, bytes: usize) -> AllocError {
        AllocError { bytes, live: self.whole().live(), budget: self.budget() }
    }

    fn live(&self) -> usize {
        self.live.load(Ordering::Relaxed).max(0) as usize
    }

    /// Whether so many bytes more may be in use.
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        self.whole().live() + bytes <= self.budget()
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn count(&self, bytes: i64, allocations: u64) {
        if let Some(inside) = &self.inside {
            inside.outer.count(bytes, allocations);
        }
        let live = self.live.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if bytes > 0 && live > self.peak.load(Ordering::Relaxed) {
            self.peak.fetch_max(live, Ordering::Relaxed);
        }
        if allocations > 0 {
            self.allocations.fetch_add(allocations, Ordering::Relaxed);
        }
    }

    /// A block that is in no list of a thread, counted as live.
    pub(super) fn allocate(&'static self, class: usize) -> Option<NonNull<u8>> {
        let size = class_size(class);
        if !self.has_room(size) {
            return None;
        }
        let ptr = self.kept(class).or_else(|| {
            self.make_room(size);
            self.fresh(class)
        })?;
        self.count(size as i64, 1);
        Some(ptr)
    }

    fn kept(&self, class: usize) -> Option<NonNull<u8>> {
        let mut cache = self.cache();
        let ptr = cache.lists[class].pop()?;
        cache.bytes -= class_size(class);
        Some(ptr.0)
    }

    /// Keeps what is live and what is kept for reuse together below the budget.
    fn make_room(&'static self, size: usize) {
        if let Some(inside) = &self.inside {
            let mut parts = inside.outer.parts();
            if !parts.iter().any(|it| std::ptr::eq(*it, self)) {
                parts.push(self);
            }
        }
        let whole = self.whole();
        whole.shrink(whole.budget().saturating_sub(whole.live() + size));
    }

    fn parts(&self) -> MutexGuard<'_, Vec<&'static Memory>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Frees blocks, the largest first, until at most `limit` bytes are kept, here and inside; the bytes that are.
    fn shrink(&self, limit: usize) -> usize {
        let kept = self.shrink_alone(limit);
        self.parts().iter().fold(kept, |kept, it| kept + it.shrink(limit.saturating_sub(kept)))
    }

    /// As [`Memory::shrink`], of what is kept here; the bytes that are.
    fn shrink_alone(&self, limit: usize) -> usize {
        let source = self.inside.as_ref().map(|it| it.source);
        let mut cache = self.cache();
        cache.shrink_to(limit, source);
        cache.bytes
    }

    pub(super) fn fresh(&self, class: usize) -> Option<NonNull<u8>> {
        let layout = block_layout(class);
        let grab = || match &self.inside {
            Some(inside) => (inside.source.take)(layout.size()),
            // SAFETY: no class has size 0.
            None => NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) }),
        };
        let ptr = grab().or_else(|| {
            self.whole().trim();
            grab()
        })?;
        if layout.size() >= HUGE && self.inside.is_none() {
            advise_huge_pages(ptr, layout.size());
        }
        Some(ptr)
    }

    /// Keeps a free block for reuse.
    pub(super) fn keep(&self, class: usize, ptr: NonNull<u8>) {
        let cap = self.budget() / 4;
        let bytes = {
            let mut cache = self.cache();
            cache.lists[class].push(Block(ptr));
            cache.bytes += class_size(class);
            cache.bytes
        };
        if bytes > cap {
            self.shrink_alone(cap / 2);
        }
    }

    fn exact(&'static self, len: usize) -> Option<NonNull<u8>> {
        let layout = exact_layout(len)?;
        if !self.has_room(len) {
            return None;
        }
        self.make_room(len);
        // SAFETY: the size is not 0.
        let ptr = NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) })?;
        self.count(len as i64, 1);
        Some(ptr)
    }

    fn free_exact(&self, ptr: NonNull<u8>, len: usize) {
        self.count(-(len as i64), 0);
        if let Some(layout) = exact_layout(len) {
            // SAFETY: the block came from `exact` with this layout.
            unsafe { std::alloc::dealloc(ptr.as_ptr(), layout) };
        }
    }
}

struct Block(NonNull<u8>);

// SAFETY: a free block belongs to whoever takes it from the list.
unsafe impl Send for Block {}

struct Cache {
    lists: [Vec<Block>; N_CLASSES],
    bytes: usize,
}

impl Cache {
    /// Frees blocks, the largest first, until at most `limit` bytes are kept. Slab blocks stay.
    fn shrink_to(&mut self, limit: usize, source: Option<Source>) {
        for class in (4..N_CLASSES).rev() {
            while self.bytes > limit {
                let Some(block) = self.lists[class].pop() else { break };
                self.bytes -= class_size(class);
                match source {
                    Some(source) => (source.give)(block.0, class_size(class)),
                    // SAFETY: the block came from `Memory::fresh` with the layout of its class.
                    None => unsafe { std::alloc::dealloc(block.0.as_ptr(), block_layout(class)) },
                }
            }
        }
    }
}

#[cfg(target_os = "linux")]
fn advise_huge_pages(ptr: NonNull<u8>, len: usize) {
    // `int madvise(void *addr, size_t length, int advice)`, madvise(2).
    unsafe extern "C" {
        fn madvise(addr: *mut std::ffi::c_void, length: usize, advice: i32) -> i32;
    }
    const MADV_HUGEPAGE: i32 = 14;
    // SAFETY: the range is one block of ours, and the advice changes no contents. Its failure changes nothing.
    unsafe { madvise(ptr.as_ptr().cast(), len, MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
fn advise_huge_pages(_ptr: NonNull<u8>, _len: usize) {}

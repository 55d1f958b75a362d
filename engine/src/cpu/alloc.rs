//! Byte buffers from a cache of size classes, under a budget.
//!
//! Small blocks come from a list of the thread, others from a list of the process, and only then from the system.
//! Running out of memory is a value ([`AllocError`]), never an abort. Block sizes are a power of two or a quarter step
//! between two of them, so at most a fifth of a block is lost. Blocks of 2 MB and more ask for huge pages.

use std::alloc::Layout;
use std::cell::UnsafeCell;
use std::fmt;
use std::ptr::NonNull;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};

use super::large;
use super::machine_memory::machine_memory;
use crate::sync::Mutex;
use crate::{DType, Shape};

const ALIGN: usize = 64;
const HUGE: usize = 2 << 20;
/// Blocks up to this size have a list in each thread; longer buffers are noted among the [`large`] ones.
const SMALL: usize = 64 << 10;
const LOCAL_CLASSES: usize = class_of(SMALL) + 1;
const N_CLASSES: usize = class_of(1 << 40) + 1;
const SLAB: usize = 16 << 10;
const FLUSH_BYTES: i64 = 256 << 10;
const FLUSH_COUNT: u64 = 1024;

/// An owned buffer of `len` bytes, aligned to 64 bytes. Dropping it returns the block to the cache.
pub struct Bytes {
    ptr: NonNull<u8>,
    len: usize,
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

/// Counters of the allocator, in bytes of blocks but for `allocations`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// In use now.
    pub live: usize,
    /// Most in use since the start or [`reset_peak`]; exact to 256 KB per thread.
    pub peak: usize,
    /// Kept for reuse by the process, the lists of the threads not counted.
    pub cached: usize,
    /// Buffers handed out so far.
    pub allocations: u64,
    /// The budget.
    pub budget: usize,
}

static LIVE: AtomicI64 = AtomicI64::new(0);
static PEAK: AtomicI64 = AtomicI64::new(0);
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static BUDGET: AtomicUsize = AtomicUsize::new(0);
static CACHE: Mutex<Cache> =
    Mutex::new(Cache { lists: [const { Vec::new() }; N_CLASSES], bytes: 0 });

impl Bytes {
    /// A buffer of any contents: zeros from the system, or what the block held for its last owner. They are there, so it may be read
    /// before it is written.
    pub fn uninit(len: usize) -> Result<Bytes, AllocError> {
        Bytes::holding(len, None)
    }

    /// As [`Bytes::uninit`], for the elements of a tensor in row-major order: how large it is, and what the list of large buffers says.
    pub fn of(shape: &Shape, dtype: DType) -> Result<Bytes, AllocError> {
        Bytes::holding(shape.numel() * dtype.size(), Some((dtype, shape)))
    }

    fn holding(len: usize, what: Option<(DType, &Shape)>) -> Result<Bytes, AllocError> {
        let refused = || error(len);
        if len > 1 << 40 {
            return Err(refused());
        }
        let class = class_of(len);
        let ptr = match class < LOCAL_CLASSES {
            _ if EXACT => exact(len),
            true => allocate_small(class),
            false => allocate(class),
        };
        let ptr = ptr.ok_or_else(refused)?;
        if len > SMALL {
            large::begins(ptr, len, what);
        }
        Ok(Bytes { ptr, len })
    }

    /// A buffer of zeros.
    pub fn zeroed(len: usize) -> Result<Bytes, AllocError> {
        let bytes = Bytes::uninit(len)?;
        // SAFETY: the block has at least `len` bytes and nobody else knows it.
        unsafe { bytes.ptr.as_ptr().write_bytes(0, len) };
        Ok(bytes)
    }

    /// Length in bytes, as asked for.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True for a buffer of no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
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
        if self.len > SMALL {
            large::ends(self.ptr);
        }
        if EXACT {
            return free_exact(self);
        }
        let class = class_of(self.len);
        if class >= LOCAL_CLASSES || !local(|local| local.free(class, self.ptr)).unwrap_or(false) {
            if class < LOCAL_CLASSES {
                LIVE.fetch_sub(class_size(class) as i64, Ordering::Relaxed);
            } else {
                count(-(class_size(class) as i64), 0);
            }
            free(class, self.ptr);
        }
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bytes({} at {:p})", self.len, self.ptr)
    }
}

/// Bytes beside the buffers that count against the budget, such as those of the tape, until it is dropped.
#[derive(Debug)]
pub struct Held(usize);

impl Held {
    /// Counts `bytes`; an error where they are found to be too many, which is seen now and then.
    pub fn new(bytes: usize) -> Result<Held, AllocError> {
        let held = Held(bytes);
        match local(|it| it.hold(bytes as i64)) {
            Some(false) => Err(error(bytes)),
            Some(true) => Ok(held),
            None => {
                LIVE.fetch_add(bytes as i64, Ordering::Relaxed);
                Ok(held)
            }
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if local(|it| it.hold(-(self.0 as i64))).is_none() {
            LIVE.fetch_sub(self.0 as i64, Ordering::Relaxed);
        }
    }
}

/// The counters now.
pub fn stats() -> Stats {
    let _ = local(Local::flush);
    Stats {
        live: LIVE.load(Ordering::Relaxed).max(0) as usize,
        peak: PEAK.load(Ordering::Relaxed).max(0) as usize,
        cached: CACHE.lock().unwrap_or_else(PoisonError::into_inner).bytes,
        allocations: ALLOCATIONS.load(Ordering::Relaxed),
        budget: budget(),
    }
}

/// Starts a new measurement of [`Stats::peak`].
pub fn reset_peak() {
    let _ = local(Local::flush);
    PEAK.store(LIVE.load(Ordering::Relaxed), Ordering::Relaxed);
}

/// The most bytes that may be in use; at first three quarters of the memory that the process may take.
pub fn budget() -> usize {
    match BUDGET.load(Ordering::Relaxed) {
        0 => machine_memory() / 4 * 3,
        bytes => bytes,
    }
}

/// Sets the budget; 0 returns to the default.
pub fn set_budget(bytes: usize) {
    BUDGET.store(bytes, Ordering::Relaxed);
}

/// Gives what the process keeps for reuse back to the system.
pub fn trim() {
    CACHE.lock().unwrap_or_else(PoisonError::into_inner).shrink_to(0);
}

/// Bytes of the block that a buffer of `len` bytes takes.
pub fn block_size(len: usize) -> usize {
    class_size(class_of(len))
}

/// The class of the smallest block that holds `len` bytes.
const fn class_of(len: usize) -> usize {
    if len <= 4 * ALIGN {
        return if len == 0 { 0 } else { (len - 1) / ALIGN };
    }
    // The step is a quarter of the power of two below: blocks of 5, 6, 7 and 8 steps.
    let power = (usize::BITS - 1 - (len - 1).leading_zeros()) as usize;
    let steps = (len - 1) >> (power - 2);
    4 + (power - 8) * 4 + (steps - 4)
}

/// Bytes in a block of `class`.
const fn class_size(class: usize) -> usize {
    if class < 4 { (class + 1) * ALIGN } else { (5 + (class - 4) % 4) << (6 + (class - 4) / 4) }
}

fn layout(class: usize) -> Layout {
    let size = class_size(class);
    let align = if size >= HUGE { HUGE } else { ALIGN };
    // SAFETY: the alignment is a power of two and the largest class is far below `isize::MAX`.
    unsafe { Layout::from_size_align_unchecked(size, align) }
}

fn error(bytes: usize) -> AllocError {
    AllocError { bytes, live: LIVE.load(Ordering::Relaxed).max(0) as usize, budget: budget() }
}

fn count(bytes: i64, allocations: u64) {
    let live = LIVE.fetch_add(bytes, Ordering::Relaxed) + bytes;
    if bytes > 0 && live > PEAK.load(Ordering::Relaxed) {
        PEAK.fetch_max(live, Ordering::Relaxed);
    }
    if allocations > 0 {
        ALLOCATIONS.fetch_add(allocations, Ordering::Relaxed);
    }
}

fn allocate_small(class: usize) -> Option<NonNull<u8>> {
    match local(|local| local.take(class)) {
        Some(Some(ptr)) => return Some(ptr),
        Some(None) if class < 4 => {
            refill(class)?;
            return local(|local| local.take(class)).flatten();
        }
        _ => {}
    }
    allocate(class)
}

/// Under a sanitizer (`cargo xtask sanitize`) each buffer is a block of its own length and lives once, so that whatever reaches
/// beyond it, or comes too late, is seen.
const EXACT: bool = cfg!(sanitized);

fn exact_layout(len: usize) -> Option<Layout> {
    Layout::from_size_align(len.max(1), ALIGN).ok()
}

fn exact(len: usize) -> Option<NonNull<u8>> {
    let layout = exact_layout(len)?;
    if LIVE.load(Ordering::Relaxed).max(0) as usize + len > budget() {
        return None;
    }
    // SAFETY: the size is not 0.
    let ptr = NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) })?;
    count(len as i64, 1);
    Some(ptr)
}

fn free_exact(bytes: &Bytes) {
    count(-(bytes.len as i64), 0);
    if let Some(layout) = exact_layout(bytes.len) {
        // SAFETY: the block came from `exact` with this layout.
        unsafe { std::alloc::dealloc(bytes.ptr.as_ptr(), layout) };
    }
}

/// A block that is in no list of a thread, counted as live.
fn allocate(class: usize) -> Option<NonNull<u8>> {
    let size = class_size(class);
    if LIVE.load(Ordering::Relaxed).max(0) as usize + size > budget() {
        return None;
    }
    let ptr = cached(class).or_else(|| {
        make_room(size);
        from_system(class)
    })?;
    count(size as i64, 1);
    Some(ptr)
}

fn cached(class: usize) -> Option<NonNull<u8>> {
    let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    let ptr = cache.lists[class].pop()?;
    cache.bytes -= class_size(class);
    Some(ptr.0)
}

/// Keeps what is live and what is kept for reuse together below the budget.
fn make_room(size: usize) {
    let live = LIVE.load(Ordering::Relaxed).max(0) as usize;
    let limit = budget().saturating_sub(live + size);
    CACHE.lock().unwrap_or_else(PoisonError::into_inner).shrink_to(limit);
}

fn from_system(class: usize) -> Option<NonNull<u8>> {
    let layout = layout(class);
    // SAFETY: no class has size 0.
    let grab = || NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) });
    let ptr = grab().or_else(|| {
        trim();
        grab()
    })?;
    if layout.size() >= HUGE {
        advise_huge_pages(ptr, layout.size());
    }
    Some(ptr)
}

fn free(class: usize, ptr: NonNull<u8>) {
    let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    cache.lists[class].push(Block(ptr));
    cache.bytes += class_size(class);
    let cap = budget() / 4;
    if cache.bytes > cap {
        cache.shrink_to(cap / 2);
    }
}

/// Cuts one slab into blocks of a smallest class and lists them in this thread. Slabs are kept for good.
fn refill(class: usize) -> Option<()> {
    if LIVE.load(Ordering::Relaxed).max(0) as usize + SLAB > budget() {
        return None;
    }
    let slab = from_system(class_of(SLAB))?;
    let size = class_size(class);
    for i in 0..SLAB / size {
        // SAFETY: block `i` lies inside the slab.
        let ptr = unsafe { slab.add(i * size) };
        let _ = local(|local| local.push(class, ptr));
    }
    Some(())
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
    fn shrink_to(&mut self, limit: usize) {
        for class in (4..N_CLASSES).rev() {
            while self.bytes > limit {
                let Some(block) = self.lists[class].pop() else { break };
                self.bytes -= class_size(class);
                // SAFETY: the block came from `from_system` with the layout of its class.
                unsafe { std::alloc::dealloc(block.0.as_ptr(), layout(class)) };
            }
        }
    }
}

/// The lists of one thread: each free block holds the address of the next.
struct Local {
    heads: [*mut u8; LOCAL_CLASSES],
    counts: [u32; LOCAL_CLASSES],
    live: i64,
    allocations: u64,
}

thread_local! {
    static LOCAL: UnsafeCell<Local> = const {
        UnsafeCell::new(Local {
            heads: [std::ptr::null_mut(); LOCAL_CLASSES],
            counts: [0; LOCAL_CLASSES],
            live: 0,
            allocations: 0,
        })
    };
}

/// The lists of this thread, unless it is ending.
fn local<R>(f: impl FnOnce(&mut Local) -> R) -> Option<R> {
    // SAFETY: no function that is called on the lists calls back into `local`.
    LOCAL.try_with(|cell| f(unsafe { &mut *cell.get() })).ok()
}

impl Local {
    #[inline]
    fn take(&mut self, class: usize) -> Option<NonNull<u8>> {
        let ptr = NonNull::new(self.heads[class])?;
        // SAFETY: a listed block holds the next address in its first bytes.
        self.heads[class] = unsafe { ptr.as_ptr().cast::<*mut u8>().read() };
        self.counts[class] -= 1;
        self.live += class_size(class) as i64;
        self.allocations += 1;
        if self.live > FLUSH_BYTES || self.allocations > FLUSH_COUNT {
            self.flush();
        }
        Some(ptr)
    }

    /// Lists a block that was live; false if the list is full.
    #[inline]
    fn free(&mut self, class: usize, ptr: NonNull<u8>) -> bool {
        let max = if class < 4 { 4096 } else { (512 << 10) / class_size(class) as u32 };
        if self.counts[class] >= max {
            return false;
        }
        self.live -= class_size(class) as i64;
        if self.live < -FLUSH_BYTES {
            self.flush();
        }
        self.push(class, ptr);
        true
    }

    #[inline]
    fn push(&mut self, class: usize, ptr: NonNull<u8>) {
        // SAFETY: the block is free, aligned to 64 bytes and holds at least an address.
        unsafe { ptr.as_ptr().cast::<*mut u8>().write(self.heads[class]) };
        self.heads[class] = ptr.as_ptr();
        self.counts[class] += 1;
    }

    /// Counts bytes that lie elsewhere; false if more are live than may be.
    #[inline]
    fn hold(&mut self, bytes: i64) -> bool {
        self.live += bytes;
        if self.live.abs() <= FLUSH_BYTES {
            return true;
        }
        self.flush();
        bytes < 0 || LIVE.load(Ordering::Relaxed) <= budget() as i64
    }

    fn flush(&mut self) {
        count(std::mem::take(&mut self.live), std::mem::take(&mut self.allocations));
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        self.flush();
        for class in 0..LOCAL_CLASSES {
            while let Some(ptr) = NonNull::new(self.heads[class]) {
                // SAFETY: as in `take`.
                self.heads[class] = unsafe { ptr.as_ptr().cast::<*mut u8>().read() };
                free(class, ptr);
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

#[cfg(test)]
#[path = "alloc_tests.rs"]
mod tests;

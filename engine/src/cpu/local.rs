//! Lists of small free blocks of main memory, one per class in each thread, so that a small buffer takes no lock. What a thread hands
//! out and takes back is told to the counters now and then.

use std::cell::UnsafeCell;
use std::ptr::NonNull;

use super::alloc::{AllocError, LOCAL_CLASSES, class_of, class_size};
use super::memory::HOST;

const SLAB: usize = 16 << 10;
const FLUSH_BYTES: i64 = 256 << 10;
const FLUSH_COUNT: u64 = 1024;

/// A small block of main memory, counted as live.
pub(super) fn allocate(class: usize) -> Option<NonNull<u8>> {
    match local(|local| local.take(class)) {
        Some(Some(ptr)) => return Some(ptr),
        Some(None) if class < 4 => {
            refill(class)?;
            return local(|local| local.take(class)).flatten();
        }
        _ => {}
    }
    HOST.allocate(class)
}

/// Cuts one slab into blocks of a smallest class and lists them in this thread. Slabs are kept for good.
fn refill(class: usize) -> Option<()> {
    if !HOST.has_room(SLAB) {
        return None;
    }
    let slab = HOST.fresh(class_of(SLAB))?;
    let size = class_size(class);
    for i in 0..SLAB / size {
        // SAFETY: block `i` lies inside the slab.
        let ptr = unsafe { slab.add(i * size) };
        let _ = local(|local| local.push(class, ptr));
    }
    Some(())
}

/// Bytes beside the buffers that count against the budget of main memory, such as those of the tape, until it is dropped.
#[derive(Debug)]
pub(crate) struct Held(usize);

impl Held {
    /// Counts `bytes`; an error where they are found to be too many, which is seen now and then.
    pub(crate) fn new(bytes: usize) -> Result<Held, AllocError> {
        let held = Held(bytes);
        match local(|it| it.hold(bytes as i64)) {
            Some(false) => Err(HOST.refusal(bytes)),
            Some(true) => Ok(held),
            None => {
                HOST.count(bytes as i64, 0);
                Ok(held)
            }
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if local(|it| it.hold(-(self.0 as i64))).is_none() {
            HOST.count(-(self.0 as i64), 0);
        }
    }
}

/// The lists of one thread: each free block holds the address of the next.
pub(super) struct Local {
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
pub(super) fn local<R>(f: impl FnOnce(&mut Local) -> R) -> Option<R> {
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
    pub(super) fn free(&mut self, class: usize, ptr: NonNull<u8>) -> bool {
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
        bytes < 0 || HOST.has_room(0)
    }

    pub(super) fn flush(&mut self) {
        HOST.count(std::mem::take(&mut self.live), std::mem::take(&mut self.allocations));
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        self.flush();
        for class in 0..LOCAL_CLASSES {
            while let Some(ptr) = NonNull::new(self.heads[class]) {
                // SAFETY: as in `take`.
                self.heads[class] = unsafe { ptr.as_ptr().cast::<*mut u8>().read() };
                HOST.keep(class, ptr);
            }
        }
    }
}

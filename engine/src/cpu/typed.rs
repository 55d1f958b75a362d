//! Typed views of byte buffers.

use half::{bf16, f16};

use super::alloc::Bytes;

/// Types for which every bit pattern is a value.
///
/// # Safety
/// Implementors have no padding and no invalid bit patterns.
pub unsafe trait Plain: Copy + Default + Send + Sync + 'static {}

macro_rules! plain {
    ($($T:ty)*) => {$(
        // SAFETY: primitive numbers; halves are 16 bits, each of which means something.
        unsafe impl Plain for $T {}
    )*};
}

plain!(u8 i8 i16 u16 i32 u32 i64 u128 bf16 f16 f32 f64);

/// The buffer as elements of `T`; bytes past the last whole element are left out.
pub fn slice<T: Plain>(bytes: &Bytes) -> &[T] {
    // SAFETY: buffers are 64-byte aligned and `T` is plain.
    unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len() / size_of::<T>()) }
}

/// The buffer as elements of `T`, for writing.
pub fn slice_mut<T: Plain>(bytes: &mut Bytes) -> &mut [T] {
    let len = bytes.len() / size_of::<T>();
    // SAFETY: buffers are 64-byte aligned, exclusively borrowed, and `T` is plain.
    unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), len) }
}

/// The memory of elements.
pub fn bytes_of<T: Plain>(elements: &[T]) -> &[u8] {
    // SAFETY: plain types have no padding, and any byte is a `u8`.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
}

/// A region of a larger buffer: where a kernel reads or writes. Bounds are checked when it is made.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    ptr: *mut u8,
    len: usize,
}

// SAFETY: a region is an address range; whoever shares it guarantees that nothing else writes it (see `Region::slice_mut`).
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

impl Region {
    /// The whole buffer, for reading.
    pub fn of(bytes: &Bytes) -> Self {
        Self { ptr: bytes.as_ptr().cast_mut(), len: bytes.len() }
    }

    /// Memory for reading.
    pub(super) fn of_slice(bytes: &[u8]) -> Self {
        Self { ptr: bytes.as_ptr().cast_mut(), len: bytes.len() }
    }

    /// The whole buffer, for reading and writing.
    pub fn of_mut(bytes: &mut Bytes) -> Self {
        Self { ptr: bytes.as_mut_ptr(), len: bytes.len() }
    }

    /// `len` bytes from `start`, or `None` outside the region.
    pub fn part(self, start: usize, len: usize) -> Option<Self> {
        let end = start.checked_add(len)?;
        // SAFETY: `start` is within the region, checked here.
        (end <= self.len).then(|| Self { ptr: unsafe { self.ptr.add(start) }, len })
    }

    /// Bytes in the region.
    pub fn len(self) -> usize {
        self.len
    }

    /// Whether the region holds no bytes.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Address of the first byte.
    pub fn as_ptr(self) -> *mut u8 {
        self.ptr
    }

    /// The region as elements of `T`.
    ///
    /// # Safety
    /// The buffer outlives `'a` and nobody writes to the region meanwhile; it starts at a multiple of `T`'s size.
    pub unsafe fn slice<'a, T: Plain>(self) -> &'a [T] {
        // SAFETY: promised by the caller.
        unsafe { std::slice::from_raw_parts(self.ptr.cast(), self.len / size_of::<T>()) }
    }

    /// The region as elements of `T`, for writing.
    ///
    /// # Safety
    /// As [`Region::slice`], and nobody else reads the region meanwhile.
    pub unsafe fn slice_mut<'a, T: Plain>(self) -> &'a mut [T] {
        // SAFETY: promised by the caller.
        unsafe { std::slice::from_raw_parts_mut(self.ptr.cast(), self.len / size_of::<T>()) }
    }
}

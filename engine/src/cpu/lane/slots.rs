//! Slots of the tile machine: what is brought into them, and single elements.

use super::geometry::Geometry;
use crate::cpu::strided::copy_reversed;
use crate::cpu::wide;
use crate::dtype::Width;

/// # Safety
/// An element of this width at `ptr` is readable, and `ptr` is a multiple of it.
pub(super) unsafe fn read_bits(ptr: *const u8, width: Width) -> u64 {
    // SAFETY: promised by the caller.
    unsafe {
        match width {
            Width::W1 => u64::from(*ptr),
            Width::W2 => u64::from(*ptr.cast::<u16>()),
            Width::W4 => u64::from(*ptr.cast::<u32>()),
            // No lane is as wide: of complex numbers there are the parts.
            Width::W8 | Width::W16 => *ptr.cast::<u64>(),
        }
    }
}

/// Writes `n` equal elements to a slot.
///
/// # Safety
/// A slot of this thread begins at `slot` and holds as many.
pub(super) unsafe fn fill(slot: *mut u8, bits: u64, width: Width, n: usize) {
    // SAFETY: a slot is 64-byte aligned; the rest is promised by the caller.
    unsafe {
        match width {
            Width::W1 => fill_with(slot, bits as u8, n),
            Width::W2 => fill_with(slot.cast(), bits as u16, n),
            Width::W4 => fill_with(slot.cast(), bits as u32, n),
            Width::W8 => fill_with(slot.cast(), bits, n),
            Width::W16 => fill_with(slot.cast(), u128::from(bits), n),
        }
    }
}

/// # Safety
/// There is room for `n` elements at `slot`, which is a multiple of their size.
unsafe fn fill_with<T: Copy>(slot: *mut T, element: T, n: usize) {
    // SAFETY: promised by the caller.
    unsafe {
        match n {
            1 => slot.write(element),
            _ => wide::run(Fill { slots: std::slice::from_raw_parts_mut(slot, n), element }),
        }
    }
}

/// The same in all slots.
struct Fill<'a, T> {
    slots: &'a mut [T],
    element: T,
}

impl<T: Copy> wide::Loop for Fill<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.slots.fill(self.element);
    }
}

/// Writes elements `start..start + n` of a strided operand to a slot.
///
/// # Safety
/// A slot of this thread begins at `slot` and holds `n` elements; the geometry addresses elements of the operand that begins at `base`.
pub(super) unsafe fn gather(
    slot: *mut u8,
    base: *const u8,
    width: Width,
    geometry: &Geometry,
    row: usize,
    start: usize,
    n: usize,
) {
    // SAFETY: promised by the caller.
    unsafe {
        match width {
            Width::W1 => gather_as::<u8>(slot, base, geometry, row, start, n),
            Width::W2 => gather_as::<u16>(slot.cast(), base.cast(), geometry, row, start, n),
            Width::W4 => gather_as::<u32>(slot.cast(), base.cast(), geometry, row, start, n),
            Width::W8 => gather_as::<u64>(slot.cast(), base.cast(), geometry, row, start, n),
            Width::W16 => gather_as::<u128>(slot.cast(), base.cast(), geometry, row, start, n),
        }
    }
}

/// # Safety
/// `slot` holds `n` elements; all that the geometry addresses from `base` are readable.
unsafe fn gather_as<T: Copy>(
    slot: *mut T,
    base: *const T,
    geometry: &Geometry,
    row: usize,
    start: usize,
    n: usize,
) {
    // SAFETY: promised by the caller.
    geometry.runs(row, start, n, |at, offset, len, step| unsafe {
        let (dst, src) = (slot.add(at), base.offset(offset));
        match step {
            0 => std::slice::from_raw_parts_mut(dst, len).fill(*src),
            1 => std::ptr::copy_nonoverlapping(src, dst, len),
            -1 if len > 0 => copy_reversed(
                std::slice::from_raw_parts(src.sub(len - 1), len),
                std::slice::from_raw_parts_mut(dst, len),
            ),
            _ => (0..len).for_each(|it| *dst.add(it) = *src.offset(it as isize * step)),
        }
    });
}

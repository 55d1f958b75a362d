//! Code in memory that may be executed, and how it is called.

use std::mem::MaybeUninit;

use memmap2::{Mmap, MmapMut};
use smallvec::SmallVec;

/// Bytes of the widest vector.
const WIDEST: usize = 64;
/// Most inputs and outputs.
const MOST_REGISTERS: usize = 32;

/// Takes the addresses of inputs and outputs, how many elements there are (some, and whole vectors), and the numbers.
#[cfg(target_arch = "x86_64")]
type Entry = unsafe extern "sysv64" fn(*const *mut u8, usize, *const u64);
#[cfg(not(target_arch = "x86_64"))]
type Entry = unsafe extern "C" fn(*const *mut u8, usize, *const u64);

/// A loop over elements, written for one program and one way in which its inputs lie.
#[derive(Debug)]
pub(crate) struct MachineCode {
    /// Keeps the code.
    _memory: Mmap,
    entry: Entry,
    /// Elements of a vector.
    lanes: usize,
    /// For each input the bytes of an element, and whether there is one for all.
    reads: SmallVec<[(usize, bool); 8]>,
    /// For each output the bytes of an element.
    makes: SmallVec<[usize; 4]>,
}

impl MachineCode {
    /// Code that begins at `entry` among these bytes, which run at any address that is a multiple of a page. `None` where the system gives no
    /// memory that may be executed.
    pub(super) fn new(
        bytes: &[u8],
        entry: usize,
        lanes: usize,
        reads: SmallVec<[(usize, bool); 8]>,
        makes: SmallVec<[usize; 4]>,
    ) -> Option<Self> {
        if reads.len() + makes.len() > MOST_REGISTERS || entry >= bytes.len() {
            return None;
        }
        let mut memory = MmapMut::map_anon(bytes.len()).ok()?;
        memory[..bytes.len()].copy_from_slice(bytes);
        // Never writable and executable at once.
        let memory = memory.make_exec().ok()?;
        // SAFETY: whoever wrote the bytes wrote a function of this type there.
        let entry =
            unsafe { std::mem::transmute::<*const u8, Entry>(memory.as_ptr().wrapping_add(entry)) };
        Some(Self { _memory: memory, entry, lanes, reads, makes })
    }

    /// Computes `n` elements. `regs` are the addresses of the inputs, then of the outputs; `numbers` those of the run.
    ///
    /// # Safety
    /// As many elements can be read and written there, one of an input that there is one of for all. An output lies where an input does, element
    /// by element, or overlaps none. The processor has the instructions that the code is written with.
    pub(crate) unsafe fn run(&self, regs: &[*mut u8], n: usize, numbers: &[u64]) {
        assert!(regs.len() >= self.reads.len() + self.makes.len(), "an operand is missing");
        let whole = n - n % self.lanes;
        // SAFETY: promised by the caller.
        unsafe {
            if whole > 0 {
                (self.entry)(regs.as_ptr(), whole, numbers.as_ptr());
            }
            if whole < n {
                self.rest(regs, whole, n - whole, numbers);
            }
        }
    }

    /// Computes the `n` elements from `at` on, which do not fill a vector: beside where they lie, in vectors of their own.
    ///
    /// # Safety
    /// As [`run`](Self::run).
    unsafe fn rest(&self, regs: &[*mut u8], at: usize, n: usize, numbers: &[u64]) {
        #[repr(align(64))]
        #[derive(Clone, Copy)]
        struct Vector([u8; WIDEST]);
        // No more of them are cleared than are read.
        let mut vectors = [const { MaybeUninit::<Vector>::uninit() }; MOST_REGISTERS];
        let mut beside = [std::ptr::null_mut::<u8>(); MOST_REGISTERS];
        let (inputs, outputs) = regs.split_at(self.reads.len());
        for (idx, (&from, &(size, held))) in inputs.iter().zip(&self.reads).enumerate() {
            beside[idx] = from;
            if !held {
                beside[idx] = vectors[idx].write(Vector([0; WIDEST])).0.as_mut_ptr();
                // SAFETY: promised by the caller; a vector has room for fewer elements than it holds.
                unsafe {
                    std::ptr::copy_nonoverlapping(from.add(at * size), beside[idx], n * size);
                }
            }
        }
        for idx in self.reads.len()..self.reads.len() + self.makes.len() {
            beside[idx] = vectors[idx].as_mut_ptr().cast();
        }
        // SAFETY: there is a vector of each operand.
        unsafe { (self.entry)(beside.as_ptr(), self.lanes, numbers.as_ptr()) }
        for (idx, (&to, &size)) in outputs.iter().zip(&self.makes).enumerate() {
            let from = beside[self.reads.len() + idx];
            // SAFETY: as above.
            unsafe { std::ptr::copy_nonoverlapping(from, to.add(at * size), n * size) }
        }
    }
}

//! Prologues: code that makes the elements of a kernel's operand when the kernel is about to read them, piece by piece, while they are
//! near.

use std::ops::Range;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};

use smallvec::SmallVec;

use super::convert::{Mem, cast};
use super::faults::{Faults, stopped_by};
use super::geometry::Block;
use super::machine::{CHUNK, Code, Run, RunError, Source};
use super::operands::{Made, Numbers, gives, takes};
use crate::cpu::alloc::{AllocError, Bytes};
use crate::cpu::elements::Elements;
use crate::cpu::number::Num;
use crate::cpu::pool::{self, Shared};
use crate::cpu::typed::{self, Plain, Region};
use crate::cpu::view::{OutView, View};
use crate::dtype::Number;
use crate::sync::Mutex;
use crate::{DType, Layout, Shape};

/// Elementwise code that stands for the operand of a kernel, which is the first output of the code. It is there as a whole only if others
/// need it; such outputs are written while the pieces are made.
pub struct Producer<'a> {
    code: &'a Code,
    sources: &'a [Source<'a>],
    params: &'a [Number],
    numbers: Numbers,
    /// The shape, over a single element.
    layout: Layout,
    dtype: DType,
    /// Where the outputs begin; null for the first if it is in pieces alone.
    outputs: SmallVec<[*mut u8; 4]>,
    notes: Notes,
}

/// What went wrong while pieces were made.
#[derive(Default)]
struct Notes {
    faults: Faults,
    /// Inputs that do not broadcast to the operand.
    mismatch: AtomicBool,
    refused: Mutex<Option<AllocError>>,
}

/// What a kernel reads: elements that are there, or that are made for it.
#[derive(Clone, Copy)]
pub enum Input<'a> {
    /// A tensor.
    View(View<'a>),
    /// What a prologue makes.
    Made(&'a Producer<'a>),
}

/// The elements of an operand in row-major order, of which a kernel asks for a few at a time.
pub struct Pieces<'a, T: Plain>(Origin<'a, T>);

#[expect(clippy::large_enum_variant, reason = "one lies on the stack while a kernel runs")]
enum Origin<'a, T: Plain> {
    Whole(Elements<'a, T>),
    Made { run: Run<'a>, notes: &'a Notes },
}

/// Where a thread has pieces made: a buffer of the allocator, taken when it is needed and given back with this.
#[derive(Default)]
pub struct Scratch {
    bytes: Option<Bytes>,
    /// Zeros that stand in for a buffer that was refused.
    loose: Vec<u128>,
}

/// Bytes of a piece that stays in the first-level cache beside what it is made of.
const PIECE: usize = 16 << 10;
/// Bytes of a piece of what is kept as well, so that it is written far off in any case.
const KEPT_PIECE: usize = 64 << 10;

impl<'a> Producer<'a> {
    /// The code on these inputs, which makes elements of this kind. `outputs` are what others need: all of the code's, or all but the
    /// first.
    pub(crate) fn new(
        code: &'a Code,
        sources: &'a [Source<'a>],
        (shape, dtype): (&Shape, DType),
        outputs: &'a mut [OutView<'_>],
        params: &'a [Number],
    ) -> Result<Self, RunError> {
        let n_unkept = code.outputs.len().saturating_sub(outputs.len()).min(1);
        let fits = code.outputs.first() == Some(&Mem::of(dtype))
            && takes(code, sources, params)
            && gives(&code.outputs[n_unkept..], shape, outputs);
        if !fits {
            return Err(RunError::Operands);
        }
        let strides = shape.iter().map(|_| 0).collect();
        let starts = outputs.iter().map(|it| it.region().as_ptr());
        Ok(Self {
            numbers: Numbers::of(&code.inputs, sources),
            layout: Layout { shape: shape.clone(), strides, offset: 0 },
            outputs: std::iter::repeat_n(std::ptr::null_mut(), n_unkept).chain(starts).collect(),
            notes: Notes::default(),
            code,
            sources,
            params,
            dtype,
        })
    }

    /// A view that has the shape and the dtype of the operand, but none of its elements.
    pub(crate) fn stand_in(&self) -> View<'_> {
        static CELL: [u128; 1] = [0];
        let bytes = typed::bytes_of(&CELL);
        // SAFETY: strides are 0, so the layout is within one element, which is there for good and only read.
        unsafe { View::from_region(Region::of_slice(bytes), &self.layout, self.dtype) }
    }

    /// What the code refused, or what memory did, in all pieces.
    pub(crate) fn outcome<E: From<RunError> + From<AllocError>>(&self) -> Result<(), E> {
        if self.notes.mismatch.load(Ordering::Relaxed) {
            return Err(RunError::Operands.into());
        }
        stopped_by(self.notes.faults.first())?;
        let refused = self.notes.refused.lock().unwrap_or_else(PoisonError::into_inner).take();
        refused.map_or(Ok(()), |it| Err(it.into()))
    }

    /// The elements with the dimensions in this order; `T` is as wide as they are.
    fn pieces<T: Plain>(&self, order: Option<&[usize]>) -> Pieces<'_, T> {
        assert!(size_of::<T>() == self.dtype.size(), "pieces of another type");
        if order.is_some() && self.outputs.iter().any(|it| !it.is_null()) {
            return self.whole(order);
        }
        let (shape, outputs) = (&self.layout.shape, SmallVec::from_slice(&self.outputs));
        let made = Made { shape, order, outputs };
        match Run::new(self.code, self.sources, made, self.params, &self.numbers) {
            Ok(run) => Pieces(Origin::Made { run, notes: &self.notes }),
            Err(_) => {
                self.notes.mismatch.store(true, Ordering::Relaxed);
                Pieces(Origin::Whole(Elements::Loose(vec![T::default(); shape.numel()])))
            }
        }
    }

    /// All elements, in an order in which the outputs do not lie.
    fn whole<T: Plain>(&self, order: Option<&[usize]>) -> Pieces<'_, T> {
        let (mut pieces, mut scratch) = (self.pieces::<T>(None), Scratch::default());
        let all = pieces.all(&mut scratch);
        let layout = Layout::contiguous(self.layout.shape.clone());
        let layout = order.map_or(layout.clone(), |it| layout.permute(it));
        Pieces(Origin::Whole(crate::cpu::strided::gather(all, &layout)))
    }
}

impl<'a> Input<'a> {
    /// Sizes.
    pub fn shape(&self) -> &'a Shape {
        match self {
            Self::View(it) => it.shape(),
            Self::Made(it) => &it.layout.shape,
        }
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        match self {
            Self::View(it) => it.dtype(),
            Self::Made(it) => it.dtype,
        }
    }

    /// The elements in row-major order, in another dtype if need be: what is made comes as the kernel reads it
    /// ([`crate::op::Kernel::prologue`]).
    pub(crate) fn pieces<T: Num>(&self) -> Pieces<'a, T> {
        match self {
            Self::View(it) => Pieces(Origin::Whole(cast(it))),
            Self::Made(it) => it.pieces(None),
        }
    }

    /// As [`pieces`](Self::pieces), with the dimensions in this order.
    pub(crate) fn permuted<T: Num>(&self, order: &[usize]) -> Pieces<'a, T> {
        match self {
            Self::View(it) => {
                let layout = it.layout().permute(order);
                let all = it.with_layout(&layout).map(|it| cast::<T>(&it).owned());
                Pieces(Origin::Whole(all.unwrap_or(Elements::Lent(&[]))))
            }
            Self::Made(it) => it.pieces(Some(order)),
        }
    }

    /// As [`pieces`](Self::pieces), as plain bits: integers of the size.
    pub(crate) fn as_bits(&self) -> Self {
        match self {
            Self::View(it) => Self::View(it.as_bits()),
            Self::Made(_) => *self,
        }
    }

    /// Whether it lies in row-major order, or is made so.
    pub(crate) fn is_contiguous(&self) -> bool {
        match self {
            Self::View(it) => it.layout().is_contiguous(),
            Self::Made(_) => true,
        }
    }
}

impl<'a, T: Plain> From<&'a [T]> for Pieces<'a, T> {
    fn from(all: &'a [T]) -> Self {
        Self(Origin::Whole(Elements::Lent(all)))
    }
}

impl<T: Plain> Pieces<'_, T> {
    /// How many elements there are.
    pub(crate) fn len(&self) -> usize {
        match &self.0 {
            Origin::Whole(all) => all.len(),
            Origin::Made { run, .. } => run.numel,
        }
    }

    /// As many elements as are best asked for at a time: where they are made, as many as stay near.
    pub(crate) fn at_once(&self) -> usize {
        match &self.0 {
            Origin::Whole(_) => usize::MAX,
            Origin::Made { run, .. } => {
                let kept = !run.outputs[0].is_null();
                (if kept { KEPT_PIECE } else { PIECE }) / size_of::<T>()
            }
        }
    }

    /// All elements.
    pub(crate) fn all<'s>(&'s mut self, scratch: &'s mut Scratch) -> &'s [T] {
        // SAFETY: nobody else has the pieces meanwhile.
        unsafe { self.range(0..self.len(), scratch) }
    }

    /// The elements of a range.
    ///
    /// # Safety
    /// As [`block`](Self::block).
    #[inline(always)]
    pub(crate) unsafe fn range<'s>(
        &'s self,
        range: Range<usize>,
        scratch: &'s mut Scratch,
    ) -> &'s [T] {
        // SAFETY: promised by the caller.
        unsafe { self.block(Block::of(range), scratch).0 }
    }

    /// Elements, and how far the runs of them are apart in the slice.
    ///
    /// # Safety
    /// While this runs no other thread asks for any of them.
    #[inline(always)]
    pub(crate) unsafe fn block<'s>(
        &'s self,
        block: Block,
        scratch: &'s mut Scratch,
    ) -> (&'s [T], usize) {
        match &self.0 {
            Origin::Whole(all) => (&all[block.first..block.end()], block.step),
            Origin::Made { run, notes } => {
                // SAFETY: promised by the caller.
                (unsafe { scratch.filled(block, run, notes) }, block.len)
            }
        }
    }
}

impl Scratch {
    /// A block of elements, made.
    ///
    /// # Safety
    /// As [`Pieces::block`]; `T` is as wide as the elements of the run.
    #[inline(never)]
    unsafe fn filled<T: Plain>(&mut self, block: Block, run: &Run<'_>, notes: &Notes) -> &[T] {
        let (block, n) = (block.joined(), block.numel());
        assert!(n == 0 || block.end() <= run.numel, "a block beyond the operand");
        let kept = run.outputs[0];
        let here = |at: usize| {
            // SAFETY: the block lies within the operand, all of which is there.
            unsafe { std::slice::from_raw_parts(kept.cast::<T>().add(at), block.len) }
        };
        if n == 0 {
            return &[];
        }
        if !kept.is_null() && block.count == 1 {
            // SAFETY: promised by the caller; the first output has a place.
            unsafe { fill(block, run, notes, std::ptr::null_mut()) };
            return here(block.first);
        }
        let Some(first) = self.room(n * size_of::<T>(), notes) else {
            // SAFETY: as many bytes are there, aligned for `T`, which is plain.
            return unsafe { std::slice::from_raw_parts(self.loose.as_ptr().cast(), n) };
        };
        if kept.is_null() {
            // SAFETY: promised by the caller; the scratch has room for the block.
            unsafe { fill(block, run, notes, first) };
        } else {
            // SAFETY: promised by the caller; the first output has a place.
            unsafe { fill(block, run, notes, std::ptr::null_mut()) };
            for count in 0..block.count {
                let run = here(block.first + count * block.step);
                // SAFETY: the scratch has room for the block.
                let to = unsafe { first.cast::<T>().add(count * block.len) };
                // SAFETY: as above; nobody else has the scratch.
                unsafe { std::slice::from_raw_parts_mut(to, run.len()) }.copy_from_slice(run);
            }
        }
        // SAFETY: the block is there, in a buffer that is aligned for `T`, which is plain.
        unsafe { std::slice::from_raw_parts(first.cast_const().cast(), n) }
    }

    /// Room for so many bytes; `None` where it was refused, which is noted, and zeros stand in for it.
    fn room(&mut self, size: usize, notes: &Notes) -> Option<*mut u8> {
        if self.bytes.as_ref().is_none_or(|it| it.len() < size) {
            self.bytes = None;
            match Bytes::uninit(size) {
                Ok(bytes) => self.bytes = Some(bytes),
                Err(error) => {
                    *notes.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    // Zeros come from the system, which writes none.
                    self.loose = vec![0; size.div_ceil(16)];
                }
            }
        }
        self.bytes.as_mut().map(Bytes::as_mut_ptr)
    }
}

/// Has a block made, on several threads if it is long.
///
/// # Safety
/// As [`Run::block`], and no other thread has any of it made.
unsafe fn fill(block: Block, run: &Run<'_>, notes: &Notes, first: *mut u8) {
    if block.count > 1 || block.len <= 2 * CHUNK {
        // SAFETY: promised by the caller.
        return notes.faults.note(unsafe { run.block(block, first) });
    }
    let (first, size) = (Shared(first), run.code.outputs[0].size());
    pool::for_each_chunk(block.len.div_ceil(CHUNK), &|chunk| {
        let part = chunk * CHUNK..((chunk + 1) * CHUNK).min(block.len);
        let here = Block::of(block.first + part.start..block.first + part.end);
        let first = first.get();
        let first = if first.is_null() { first } else { first.wrapping_add(part.start * size) };
        // SAFETY: each chunk has a part of the room; the rest is promised by the caller.
        notes.faults.note(unsafe { run.block(here, first) });
    });
}

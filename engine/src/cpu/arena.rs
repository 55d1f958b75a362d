//! Operands of plan launches: addresses inside the inputs, constants, arena and outputs of one run.
//!
//! **Invariant:** what a launch writes overlaps nothing else that the launch touches. It is checked when the launch is
//! made, and every address is checked against its buffer when the launch runs. One launch at a time has the buffers.

use smallvec::SmallVec;

use super::alloc::Bytes;
use super::lane::machine::Source;
use super::packs::Packs;
use super::typed::Region;
use super::view::{OutView, View};
use crate::{DType, Layout, Number, Shape};

/// Which buffer an operand lies in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// Input `n`; the layout counts from the input's lowest element.
    Input(usize),
    /// Constant `n`.
    Const(usize),
    /// Byte offset in the arena.
    Arena(usize),
    /// Value `n` of a run on a device that has no arena.
    Slot(usize),
    /// Buffer `n` that outlives the run.
    Output(usize),
    /// A number.
    Number(Number),
    /// Input `n`, which is a number.
    Fed(usize),
}

/// An operand to read.
#[derive(Clone, Debug)]
pub struct Operand {
    pub place: Place,
    pub layout: Layout,
    pub dtype: DType,
}

/// An operand to write, contiguous.
#[derive(Clone, Debug)]
pub struct Target {
    pub place: Place,
    pub shape: Shape,
    pub dtype: DType,
}

/// The operands of one launch.
#[derive(Clone, Debug)]
pub struct Operands {
    inputs: Vec<Operand>,
    outputs: Vec<Target>,
    /// Bytes that the inputs, then the outputs, reach over from the first of their places on.
    reaches: Vec<usize>,
}

/// The buffers of one run.
pub struct Buffers<'a> {
    inputs: SmallVec<[Lasting<'a>; 16]>,
    consts: SmallVec<[Lasting<'a>; 16]>,
    arena: Region,
    outputs: SmallVec<[Region; 16]>,
    numbers: &'a [Option<Number>],
}

/// A buffer that was there before the run, and the copies beside it.
type Lasting<'a> = (Region, &'a Packs);

impl Operand {
    /// Bytes from the first of its place on that the layout reaches over.
    fn reach(&self) -> usize {
        self.layout.end() * self.dtype.size()
    }
}

impl Target {
    /// Bytes that it takes.
    fn reach(&self) -> usize {
        self.shape.numel() * self.dtype.size()
    }
}

impl Operands {
    /// The operands of a launch; `None` when a target overlaps another operand, or a layout begins before its buffer.
    pub fn new(inputs: Vec<Operand>, outputs: Vec<Target>) -> Option<Self> {
        if inputs.iter().any(|it| it.layout.reach().is_none()) {
            return None;
        }
        for (idx, target) in outputs.iter().enumerate() {
            let range = bytes_of(target.place, target.reach())?;
            let others = outputs[idx + 1..].iter().filter_map(|it| bytes_of(it.place, it.reach()));
            let read = inputs.iter().filter_map(|it| bytes_of(it.place, it.reach()));
            if read.chain(others).any(|it| overlap(range, it)) {
                return None;
            }
        }
        let read = inputs.iter().map(Operand::reach);
        let reaches = read.chain(outputs.iter().map(Target::reach)).collect();
        Some(Self { inputs, outputs, reaches })
    }

    /// What is read.
    pub fn inputs(&self) -> &[Operand] {
        &self.inputs
    }

    /// What is written.
    pub fn outputs(&self) -> &[Target] {
        &self.outputs
    }

    /// Calls `body` with the operands; `None` when one lies outside its buffer.
    ///
    /// ```
    /// use engine::cpu::arena::{Buffers, Operands};
    ///
    /// fn one_by_one(first: &Operands, second: &Operands, buffers: &mut Buffers<'_>) {
    ///     first.with(buffers, |_, _| ());
    ///     second.with(buffers, |_, _| ());
    /// }
    /// ```
    ///
    /// Operands of two launches never exist together, neither within each other
    ///
    /// ```compile_fail,E0499
    /// use engine::cpu::arena::{Buffers, Operands};
    ///
    /// fn nested(first: &Operands, second: &Operands, buffers: &mut Buffers<'_>) {
    ///     first.with(buffers, |_, _| second.with(buffers, |_, _| ()));
    /// }
    /// ```
    ///
    /// nor on two threads:
    ///
    /// ```compile_fail,E0499
    /// use engine::cpu::arena::{Buffers, Operands};
    ///
    /// fn at_once(first: &Operands, second: &Operands, buffers: &mut Buffers<'_>) {
    ///     std::thread::scope(|scope| {
    ///         scope.spawn(|| first.with(buffers, |_, _| ()));
    ///         scope.spawn(|| second.with(buffers, |_, _| ()));
    ///     });
    /// }
    /// ```
    pub fn with<R>(
        &self,
        buffers: &mut Buffers<'_>,
        body: impl for<'x> FnOnce(&[Source<'x>], &mut [OutView<'x>]) -> R,
    ) -> Option<R> {
        let buffers = &*buffers;
        let (read, written) = self.reaches.split_at_checked(self.inputs.len())?;
        let mut inputs: SmallVec<[Source<'_>; 8]> = SmallVec::new();
        for (it, &reach) in self.inputs.iter().zip(read) {
            inputs.push(buffers.read(it, reach)?);
        }
        let mut outputs: SmallVec<[OutView<'_>; 4]> = SmallVec::new();
        for (it, &reach) in self.outputs.iter().zip(written) {
            outputs.push(buffers.write(it, reach)?);
        }
        Some(body(&inputs, &mut outputs))
    }
}

impl<'a> Buffers<'a> {
    /// The buffers of a run. Inputs are (buffer, copies beside it, byte offset of the lowest element), outputs (buffer, byte offset of the
    /// first element); `None` when an offset is outside.
    pub fn new(
        inputs: impl Iterator<Item = (&'a Bytes, &'a Packs, usize)>,
        numbers: &'a [Option<Number>],
        consts: impl Iterator<Item = (&'a Bytes, &'a Packs)>,
        arena: &'a mut Bytes,
        outputs: impl Iterator<Item = (&'a mut Bytes, usize)>,
    ) -> Option<Self> {
        let input = |(bytes, packs, offset): (&Bytes, &'a Packs, usize)| {
            Some((Region::of(bytes).part(offset, bytes.len().checked_sub(offset)?)?, packs))
        };
        let output = |(bytes, offset): (&mut Bytes, usize)| {
            let len = bytes.len().checked_sub(offset)?;
            Region::of_mut(bytes).part(offset, len)
        };
        Some(Self {
            inputs: inputs.map(input).collect::<Option<_>>()?,
            consts: consts.map(|(bytes, packs)| (Region::of(bytes), packs)).collect(),
            arena: Region::of_mut(arena),
            outputs: outputs.map(output).collect::<Option<_>>()?,
            numbers,
        })
    }

    /// `len` bytes of a place, which begin where an element of `dtype` may.
    #[inline(always)]
    fn region(&self, place: Place, len: usize, dtype: DType) -> Option<Region> {
        let (region, start) = match place {
            Place::Input(at) => (self.inputs.get(at)?.0, 0),
            Place::Const(at) => (self.consts.get(at)?.0, 0),
            Place::Arena(offset) => (self.arena, offset),
            Place::Output(at) => (*self.outputs.get(at)?, 0),
            Place::Slot(_) | Place::Number(_) | Place::Fed(_) => return None,
        };
        region.part(start, len).filter(|it| (it.as_ptr() as usize).is_multiple_of(dtype.size()))
    }

    /// The first element of an operand, if it lies in one of the buffers.
    pub fn first(&self, operand: &Operand) -> Option<Number> {
        match self.read(operand, operand.reach())? {
            Source::View(view) => view.first(),
            Source::Number(number) => Some(number),
            Source::Replaced(_) => None,
        }
    }

    /// An operand, which reaches over so many bytes. Inlined, as is [`Buffers::write`], so that what it gives is made where it stays: moved, it would be read in other words than it was
    /// written in, and such a read has to wait for the writes.
    #[inline(always)]
    fn read<'b>(&'b self, operand: &'b Operand, reach: usize) -> Option<Source<'b>> {
        match operand.place {
            Place::Number(number) => return Some(Source::Number(number)),
            Place::Fed(at) => return Some(Source::Number((*self.numbers.get(at)?)?)),
            _ => {}
        }
        let region = self.region(operand.place, reach, operand.dtype)?;
        // SAFETY: the buffers are borrowed for the run; the region holds the layout, which does not begin before it; within
        // a launch nothing writes to it (`Operands::new`), and one launch at a time has the buffers (`Operands::with`).
        let view = unsafe { View::from_region(region, &operand.layout, operand.dtype) };
        let packs = match operand.place {
            Place::Input(at) => self.inputs.get(at).map(|it| it.1),
            Place::Const(at) => self.consts.get(at).map(|it| it.1),
            _ => None,
        };
        Some(Source::View(packs.map_or(view, |it| view.beside(it))))
    }

    #[inline(always)]
    fn write<'b>(&'b self, target: &'b Target, reach: usize) -> Option<OutView<'b>> {
        if !matches!(target.place, Place::Arena(_) | Place::Output(_)) {
            return None;
        }
        let region = self.region(target.place, reach, target.dtype)?;
        // SAFETY: arena and outputs are exclusively borrowed for the run; no other operand of the launch overlaps
        // (`Operands::new`), and no other launch has the buffers (`Operands::with`).
        Some(unsafe { OutView::from_region(region, &target.shape, target.dtype) })
    }
}

/// (buffer, start, end) in bytes; `None` for what occupies no memory of the run.
fn bytes_of(place: Place, len: usize) -> Option<((u8, usize), usize, usize)> {
    Some(match place {
        Place::Input(at) => ((0, at), 0, len),
        Place::Const(at) => ((1, at), 0, len),
        Place::Arena(offset) => ((2, 0), offset, offset + len),
        Place::Output(at) => ((3, at), 0, len),
        Place::Slot(at) => ((4, at), 0, len),
        Place::Number(_) | Place::Fed(_) => return None,
    })
}

fn overlap(a: ((u8, usize), usize, usize), b: ((u8, usize), usize, usize)) -> bool {
    a.0 == b.0 && a.1 < b.2 && b.1 < a.2
}

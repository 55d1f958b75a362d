//! The tiles of a run: where the registers of each lie, and what is run on it.

use smallvec::SmallVec;

use super::faults::Faults;
use super::geometry::{Access, Block};
use super::loops::Loop;
use super::machine::{CHUNK, Instr, Run, Splat, SplatValue, TILE, execute};
use super::operands::{LONG, Operand};
use super::scratch::with_scratch;
use super::slots::{fill, gather, read_bits};
use super::{Mem, stream};
use crate::cpu::pool::for_each_chunk;
use crate::dtype::Width;
use crate::math::Fault;

/// Elements of a tile when nothing is kept in slots.
const WIDE_TILE: usize = 1 << 16;
/// Bytes of slots that the first-level cache holds beside what is read and made.
const IN_CACHE: usize = 16 << 10;

/// Runs ahead of the one that is computed, of which the processor is told, and bytes of these: what follows on them it guesses.
const AHEAD: usize = 4;
const ANNOUNCED: usize = 512;

/// Registers whose addresses lie on the stack; a vector of them would be moved when it is made.
const FEW: usize = 32;

/// What runs, one after the other.
type Steps<'a> = SmallVec<[(Loop, &'a Instr); 8]>;

/// How far what a register holds is the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Same {
    InTheRun,
    /// Along the last dimension.
    InTheLine,
    Nowhere,
}

/// Elements of the tiles that make up a line, of at most `tile` each: not many and then few, and whole lines of the cache.
fn even(line: usize, tile: usize) -> usize {
    line.div_ceil(line.div_ceil(tile)).next_multiple_of(stream::ALIGNMENT).min(tile)
}

/// A register that lies in an operand or output, and the bytes of an element there.
type Mover = (usize, usize);

impl Run<'_> {
    /// Computes all elements, on other threads too.
    pub(super) fn shared(&self, faults: &Faults) {
        for_each_chunk(self.numel.div_ceil(CHUNK), &|chunk| {
            let (low, high) = (chunk * CHUNK, ((chunk + 1) * CHUNK).min(self.numel));
            faults.note(self.range(low, high));
        });
    }

    /// Computes elements `low..high` of the outputs. The first fault, if any.
    pub(super) fn range(&self, low: usize, high: usize) -> Option<Fault> {
        // SAFETY: the first output lies where all do.
        unsafe { self.block(Block::of(low..high), std::ptr::null_mut()) }
    }

    /// Computes a block of elements, those of the first output one after the other from `first` on, unless that is null.
    ///
    /// # Safety
    /// There is room for the block at `first`; where it is null, the first output has a place.
    pub(super) unsafe fn block(&self, block: Block, first: *mut u8) -> Option<Fault> {
        let staged = self.operands.iter().filter(|it| self.is_staged(it)).count();
        let streams = first.is_null() && self.streams(block);
        let streamed = if streams { self.outputs.len() } else { 0 };
        let n_slots = self.own_slots() + staged + streamed;
        let tile = self.tile(n_slots);
        // SAFETY: there is room for all slots; the rest is promised by the caller.
        let run = |scratch| unsafe { self.tiles(block, first, tile, scratch, streams) };
        let fault = with_scratch(n_slots * tile * self.code.width, run);
        if streams {
            stream::finish();
        }
        fault
    }

    /// Slots for what lies between instructions.
    fn own_slots(&self) -> usize {
        if self.written.is_some() { 0 } else { self.code.n_slots }
    }

    /// Whether an operand is brought to a slot. What is the same for all elements of a tile is read where it lies by code that was written.
    fn is_staged(&self, operand: &Operand) -> bool {
        match operand.access {
            Access::Direct => false,
            Access::Splat | Access::Along(_) => self.written.is_none(),
            Access::Strided(_) | Access::Replaced => true,
        }
    }

    /// Elements of a tile, of which so many slots hold one each: larger where few are in use, as each step on a tile has a cost of its own.
    fn tile(&self, n_slots: usize) -> usize {
        if n_slots == 0 {
            return WIDE_TILE;
        }
        // What is the same along a line is brought for each line, as much as a tile takes.
        if self.written.is_none()
            && self.operands.iter().any(|it| matches!(it.access, Access::Along(_)))
        {
            return TILE;
        }
        let room = IN_CACHE / (n_slots * self.code.width);
        [4 * TILE, 2 * TILE].into_iter().find(|it| *it <= room).unwrap_or(TILE)
    }

    /// # Safety
    /// As [`block`](Self::block); `scratch` holds all slots and one for each staged input and streamed output, of elements of a tile.
    unsafe fn tiles(
        &self,
        block: Block,
        first: *mut u8,
        tile: usize,
        scratch: *mut u8,
        streams: bool,
    ) -> Option<Fault> {
        let line = self.line();
        let slot_bytes = tile * self.code.width;
        let tile = line.map_or(tile, |line| even(line, tile));
        let mut fault = None;
        let (mut few, mut many) = ([std::ptr::null_mut(); FEW], Vec::new());
        let regs: &mut [*mut u8] = match self.code.n_registers() {
            n if n <= FEW => &mut few[..n],
            n => {
                many.resize(n, std::ptr::null_mut());
                &mut many
            }
        };
        self.point(regs, (scratch, slot_bytes), streams);
        // What goes elsewhere replaces nothing.
        let onto = if first.is_null() { &self.onto[..] } else { &[] };
        let (mut steps, mut of_lines) = (Steps::new(), Steps::new());
        let skips = block.numel() > tile;
        if self.written.is_none() {
            let filled = tile.min(block.len);
            // SAFETY: slots hold a tile.
            unsafe {
                self.list(&mut steps, &mut of_lines, regs, onto, (skips, filled), &mut fault);
            }
        }
        let mut movers: SmallVec<[Mover; 8]> = SmallVec::new();
        self.movers(&mut movers, streams);
        let is_staged = |it: Access| matches!(it, Access::Strided(_) | Access::Replaced);
        let brings = self.operands.iter().any(|it| is_staged(it.access));
        // Where the slots of inputs are, as those that lie side by side are read where they lie.
        let mut homes: SmallVec<[*mut u8; 6]> = SmallVec::new();
        if brings {
            homes.extend_from_slice(&regs[..self.operands.len()]);
        }
        for run in 0..block.count {
            if run + AHEAD < block.count {
                self.announce(block.first + (run + AHEAD) * block.step, block.len);
            }
            let mut at = block.first + run * block.step;
            let high = at + block.len;
            self.go_to(regs, at, streams);
            if !first.is_null() {
                let made = run * block.len * self.code.outputs[0].size();
                regs[self.operands.len()] = first.wrapping_add(made);
            }
            // What is left of the line, in which a tile ends then.
            let mut left = if line.is_some() { 0 } else { usize::MAX };
            while at < high {
                if let Some(line) = line.filter(|_| left == 0) {
                    left = line - at % line;
                    let n = tile.min(left).min(high - at);
                    // SAFETY: slots hold a tile; the rest as below.
                    unsafe {
                        self.bring_line(regs, at, n);
                        of_lines
                            .iter()
                            .for_each(|(run, it)| execute(*run, it, regs, n, &mut fault));
                    }
                }
                let n = tile.min(high - at).min(left);
                left -= n;
                debug_assert!(at + n <= self.numel);
                if brings {
                    self.bring(regs, &homes, at, n);
                }
                if let Some((code, numbers)) = &self.written {
                    // SAFETY: the registers of operands are where they are or in slots, which hold `n` elements of their types, as `check`
                    // made sure; outputs overlap no operand but for those that they replace. Code is written for this processor.
                    unsafe { code.run(regs, n, numbers) }
                }
                for &(run, it) in &steps {
                    // SAFETY: `Code::new` and `check` made sure that registers exist and hold `n` elements of the
                    // kernel's types, and that the destination is no operand but for the one that runs onto it.
                    unsafe { execute(run, it, regs, n, &mut fault) }
                }
                if streams {
                    // SAFETY: the slots of the outputs hold the `n` elements that were made, and have room in the outputs.
                    unsafe { self.store(regs, at, n) };
                }
                for &(reg, size) in &movers {
                    regs[reg] = regs[reg].wrapping_add(n * size);
                }
                at += n;
            }
        }
        fault
    }

    /// Points registers to slots of so many bytes in `scratch`, which holds all and one for each input that is not read where it lies and each output that
    /// is streamed, and to the first elements of what is read or made where it lies.
    fn point(&self, regs: &mut [*mut u8], (scratch, slot_bytes): (*mut u8, usize), streams: bool) {
        let (inputs, others) = regs.split_at_mut(self.operands.len());
        let (outputs, slots) = others.split_at_mut(self.outputs.len());
        let mut place = scratch;
        for reg in &mut slots[..self.own_slots()] {
            *reg = place;
            place = place.wrapping_add(slot_bytes);
        }
        for (reg, operand) in inputs.iter_mut().zip(&self.operands) {
            if self.is_staged(operand) {
                *reg = place;
                place = place.wrapping_add(slot_bytes);
            } else {
                *reg = operand.base.cast_mut();
            }
        }
        for (reg, output) in outputs.iter_mut().zip(&self.outputs) {
            *reg = if streams { place } else { *output };
            place = place.wrapping_add(slot_bytes);
        }
    }

    /// Writes what is the same everywhere to the first `filled` elements of its slot; of what is the same in the run, as far as `same` says so, to one.
    ///
    /// # Safety
    /// The registers are those of this run, whose slots hold a tile.
    unsafe fn fill_slots(&self, regs: &[*mut u8], same: &[Same], filled: usize) {
        let code = self.code;
        let count = |reg: usize| if same.get(reg) == Some(&Same::InTheRun) { 1 } else { filled };
        for it in &code.splats {
            let number = match it.value {
                SplatValue::Number(number) => number,
                SplatValue::Param(idx) => self.params[idx],
            };
            let (mem, reg) = (Mem::from(it.lane), usize::from(it.slot));
            // SAFETY: splats go to slots.
            unsafe { fill(regs[reg], mem.bits(number), mem.width(), count(reg)) };
        }
        for (idx, operand) in self.operands.iter().enumerate() {
            if operand.access == Access::Splat {
                let width = code.inputs[idx].width();
                // SAFETY: the first element of the operand is readable, and one that is not read in place has a slot.
                unsafe { fill(regs[idx], read_bits(operand.base, width), width, count(idx)) };
            }
        }
    }

    /// Lists what runs on each tile, and fills what that reads and is the same everywhere, for so many elements. Where there are further tiles, what
    /// gives the same in each, such as the conversion of a number, runs here, on one element that is then spread; what
    /// gives the same along a line is listed for lines.
    ///
    /// # Safety
    /// The registers are those of this run, whose slots hold a tile.
    unsafe fn list<'a>(
        &'a self,
        steps: &mut Steps<'a>,
        of_lines: &mut Steps<'a>,
        regs: &[*mut u8],
        onto: &[(usize, Loop)],
        (skips, filled): (bool, usize),
        fault: &mut Option<Fault>,
    ) {
        let code = self.code;
        let mut same = if skips { self.sameness(regs.len()) } else { SmallVec::new() };
        let skips = same.iter().any(|it| *it != Same::Nowhere);
        // SAFETY: promised by the caller.
        unsafe { self.fill_slots(regs, &same, filled) };
        for (idx, it) in code.instrs.iter().enumerate() {
            if skips && code.stays[idx] {
                let operands = it.src[..it.kern.arity].iter().map(|&reg| same[usize::from(reg)]);
                let found = operands.max().unwrap_or(Same::InTheRun);
                same[usize::from(it.dst)] = found;
                match found {
                    Same::InTheRun => {
                        // SAFETY: as in `tiles`; slots and splats hold an element.
                        unsafe { execute(it.kern.run, it, regs, 1, fault) }
                        continue;
                    }
                    Same::InTheLine => {
                        of_lines.push((it.kern.run, it));
                        continue;
                    }
                    Same::Nowhere => {}
                }
            }
            let written_onto = onto.iter().find(|it| it.0 == idx);
            steps.push((written_onto.map_or(it.kern.run, |it| it.1), it));
        }
        if skips {
            // SAFETY: what is the same in the run is in slots, each with an element.
            unsafe { spread(regs, &mut same, steps.iter().chain(&*of_lines), filled) };
        }
    }

    /// How far the registers, so many, hold the same before anything runs.
    fn sameness(&self, n: usize) -> SmallVec<[Same; 32]> {
        let mut same = SmallVec::from_elem(Same::Nowhere, n);
        for (same, operand) in same.iter_mut().zip(&self.operands) {
            *same = match operand.access {
                Access::Splat => Same::InTheRun,
                Access::Along(_) => Same::InTheLine,
                Access::Direct | Access::Strided(_) | Access::Replaced => Same::Nowhere,
            };
        }
        for Splat { slot, .. } in &self.code.splats {
            if self.code.instrs.iter().all(|it| it.dst != *slot) {
                same[usize::from(*slot)] = Same::InTheRun;
            }
        }
        same
    }

    /// Elements of a line, where tiles end with it: inputs are the same all along one, or lie in a row there, so that they are read where
    /// they lie.
    fn line(&self) -> Option<usize> {
        let geometry = self.geometry.as_ref()?;
        let has_same = self.operands.iter().any(|it| matches!(it.access, Access::Along(_)));
        let in_rows = || {
            self.operands.iter().all(|it| match it.access {
                Access::Strided(row) => geometry.is_in_row(row),
                _ => true,
            })
        };
        let ends = has_same || geometry.line() >= LONG && in_rows();
        ends.then(|| geometry.line())
    }

    /// Writes what is the same along the line that element `at` is of to the first `n` elements of its slot; code that was written is pointed to it.
    ///
    /// # Safety
    /// The registers are those of this run, whose slots hold a tile.
    unsafe fn bring_line(&self, regs: &mut [*mut u8], at: usize, n: usize) {
        for (idx, operand) in self.operands.iter().enumerate() {
            if let (Access::Along(row), Some(geometry)) = (operand.access, &self.geometry) {
                let mem = self.code.inputs[idx];
                let offset = geometry.offset(row, at) * mem.size() as isize;
                if self.written.is_some() {
                    // SAFETY: the geometry addresses elements of the operand.
                    regs[idx] = unsafe { operand.base.offset(offset) }.cast_mut();
                    continue;
                }
                // SAFETY: the geometry addresses elements of the operand, and one that is not read in place has a slot.
                unsafe {
                    let bits = read_bits(operand.base.offset(offset), mem.width());
                    fill(regs[idx], bits, mem.width(), n);
                }
            }
        }
    }

    /// Lists the registers that go on with the elements.
    fn movers(&self, movers: &mut SmallVec<[Mover; 8]>, streams: bool) {
        for (idx, operand) in self.operands.iter().enumerate() {
            if operand.access == Access::Direct {
                movers.push((idx, self.code.inputs[idx].size()));
            }
        }
        for (idx, mem) in self.code.outputs.iter().enumerate().filter(|_| !streams) {
            movers.push((self.operands.len() + idx, mem.size()));
        }
    }

    /// Tells the processor of a run that is about to be read where it lies, far from those before it: it would not guess.
    fn announce(&self, at: usize, len: usize) {
        let direct = |it: &(&Operand, &Mem)| it.0.access == Access::Direct;
        for (operand, mem) in self.operands.iter().zip(&self.code.inputs).filter(direct) {
            let bytes = (len * mem.size()).min(ANNOUNCED);
            stream::prefetch(operand.base.wrapping_add(at * mem.size()), bytes);
        }
    }

    /// Points the registers of what is read or made where it lies to element `at`.
    fn go_to(&self, regs: &mut [*mut u8], at: usize, streams: bool) {
        for (idx, operand) in self.operands.iter().enumerate() {
            if operand.access == Access::Direct {
                let base = operand.base.cast_mut();
                regs[idx] = base.wrapping_add(at * self.code.inputs[idx].size());
            }
        }
        if streams {
            return;
        }
        let regs = &mut regs[self.operands.len()..];
        for ((reg, base), mem) in regs.iter_mut().zip(&self.outputs).zip(&self.code.outputs) {
            *reg = base.wrapping_add(at * mem.size());
        }
    }

    /// Brings the `n` elements from `at` on of inputs that do not lie one after the other together in their slots, whose addresses are
    /// `homes`.
    fn bring(&self, regs: &mut [*mut u8], homes: &[*mut u8], at: usize, n: usize) {
        for (idx, operand) in self.operands.iter().enumerate() {
            let mem = self.code.inputs[idx];
            let size = mem.size();
            match (operand.access, &self.geometry) {
                // SAFETY: an output holds all `numel` elements; a slot, which is no part of it, holds a tile.
                (Access::Replaced, _) => unsafe {
                    std::ptr::copy_nonoverlapping(operand.base.add(at * size), regs[idx], n * size);
                },
                (Access::Strided(row), Some(geometry)) => {
                    if let Some(offset) = geometry.side_by_side(row, at, n) {
                        // SAFETY: the geometry addresses elements of the operand, from there on so many in a row.
                        regs[idx] =
                            unsafe { operand.base.offset(offset * size as isize) }.cast_mut();
                        continue;
                    }
                    regs[idx] = homes[idx];
                    // SAFETY: a strided operand has a slot, and the geometry is that of its layout.
                    unsafe { gather(homes[idx], operand.base, mem.width(), geometry, row, at, n) };
                }
                _ => {}
            }
        }
    }

    /// Whether a block of the outputs is stored past the caches: the last cache holds none of them, all tiles are aligned, and nothing is
    /// read where they lie.
    fn streams(&self, block: Block) -> bool {
        let is_far = |(mem, output): (&Mem, &*mut u8)| {
            let start = output.addr() + block.first * mem.size();
            let ends = self.line().unwrap_or(TILE) * mem.size();
            self.numel * mem.size() >= stream::LEAST
                && start.is_multiple_of(stream::ALIGNMENT)
                && ends.is_multiple_of(stream::ALIGNMENT)
        };
        // Nearly all outputs are small, so that is asked first.
        self.code.outputs.iter().zip(&self.outputs).all(is_far)
            && block.count == 1
            && !self.replaces
    }

    /// Stores the `n` elements from `at` on, which lie in the slots of the outputs.
    ///
    /// # Safety
    /// They do, and the outputs are streamed.
    unsafe fn store(&self, regs: &[*mut u8], at: usize, n: usize) {
        let regs = &regs[self.operands.len()..];
        for ((slot, output), mem) in regs.iter().zip(&self.outputs).zip(&self.code.outputs) {
            let size = mem.size();
            // SAFETY: promised by the caller; slots begin at a cache line, and so does a tile of an output that is streamed.
            unsafe { stream::copy(*slot, output.add(at * size), n * size) };
        }
    }
}

/// Writes the first element of what is the same in the run to the first `filled` elements of its slot, where one of the steps reads it.
///
/// # Safety
/// The registers are those of the run, whose slots hold a tile; what is the same in the run is in slots, each with an element.
unsafe fn spread<'a>(
    regs: &[*mut u8],
    same: &mut [Same],
    steps: impl Iterator<Item = &'a (Loop, &'a Instr)>,
    filled: usize,
) {
    for (_, it) in steps {
        for reg in it.src[..it.kern.arity].iter().map(|&reg| usize::from(reg)) {
            if same[reg] == Same::InTheRun {
                let width = Width::of_bytes(it.kern.operand);
                // SAFETY: promised by the caller.
                unsafe { fill(regs[reg], read_bits(regs[reg], width), width, filled) };
                // Spread once.
                same[reg] = Same::Nowhere;
            }
        }
    }
}

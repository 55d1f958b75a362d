//! The tile machine: runs a list of kernels over 256 elements at a time, with intermediate values in slots that stay
//! in the first-level cache. Contiguous inputs and outputs are used in place; others are gathered into slots first.
//!
//! **Invariant:** `Code::new` checks every register of every instruction, `run` every operand against the code.

use std::cell::Cell;
use std::ops::Range;

use smallvec::SmallVec;

use super::faults::{Faults, stopped_by};
use super::geometry::{Access, Block, Geometry};
use super::loops::Loop;
use super::operands::{Made, Numbers, Operand, check};
use super::{Kern, Lane, Mem, ahead};
use crate::cpu::interrupt;
use crate::cpu::pool::for_each_chunk;
use crate::cpu::view::{OutView, View};
use crate::dtype::Number;
use crate::dtype::Width;
use crate::math::Fault;

/// Elements of a tile.
const TILE: usize = 256;
/// Elements of a tile when nothing is kept in slots.
const WIDE_TILE: usize = 1 << 16;
/// Elements times instructions below which a run stays on its thread.
const SPLIT_WORK: usize = 1 << 17;
/// Registers of a program that fits into the short path for one element.
const FEW: usize = 24;
/// Elements of one claim of a thread.
pub(super) const CHUNK: usize = 1 << 15;

/// One kernel call. Registers are inputs, then outputs, then slots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instr {
    pub(crate) kern: Kern,
    pub(crate) dst: u16,
    pub(crate) src: [u16; 4],
}

/// A slot that holds one number in every lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Splat {
    pub(crate) slot: u16,
    pub(crate) lane: Lane,
    pub(crate) value: SplatValue,
}

/// Where a splat's number comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SplatValue {
    Number(Number),
    /// Parameter `n` of the run.
    Param(usize),
}

/// A checked list of instructions.
#[derive(Debug)]
pub(crate) struct Code {
    pub(super) inputs: Vec<Mem>,
    pub(super) outputs: Vec<Mem>,
    n_slots: usize,
    pub(super) instrs: Vec<Instr>,
    /// For each instruction whether it writes a slot that nothing else writes, so that its result stays.
    stays: Vec<bool>,
    splats: Vec<Splat>,
    pub(super) n_params: usize,
    /// Bytes of one element of the largest type in a slot.
    width: usize,
}

/// An input of a run.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// A tensor whose shape broadcasts to that of the outputs.
    View(View<'a>),
    /// A number for all elements.
    Number(Number),
    /// What the first output held before: the run replaces it.
    Replaced,
}

/// Why a run did not happen or failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunError {
    /// Operands other than those the code was built for.
    Operands,
    Fault(Fault),
    /// The user has stopped it; the outputs hold nothing of use.
    Interrupted,
}

impl Code {
    /// `None` when a register does not exist, is written though it is an input, is read and written by the same
    /// instruction, or holds elements of another size than a kernel takes.
    pub(crate) fn new(
        inputs: Vec<Mem>,
        outputs: Vec<Mem>,
        n_slots: usize,
        instrs: Vec<Instr>,
        splats: Vec<Splat>,
    ) -> Option<Self> {
        let n_params = splats.iter().filter_map(|it| match it.value {
            SplatValue::Param(idx) => Some(idx + 1),
            SplatValue::Number(_) => None,
        });
        let n_params = n_params.max().unwrap_or(0);
        let first_slot = inputs.len() + outputs.len();
        let mems = inputs.iter().chain(&outputs).map(|it| it.size());
        let sizes: Vec<usize> = mems.chain(std::iter::repeat_n(8, n_slots)).collect();
        let fits = |reg: u16, size: usize| {
            let reg = usize::from(reg);
            reg < sizes.len() && (reg >= first_slot || sizes[reg] == size)
        };
        for it in &instrs {
            let src = &it.src[..it.kern.arity];
            let reads = src.iter().all(|&reg| fits(reg, it.kern.operand) && reg != it.dst);
            let writes = fits(it.dst, it.kern.result) && usize::from(it.dst) >= inputs.len();
            if !reads || !writes {
                return None;
            }
        }
        // Faults are looked for among whole numbers of 64 bits.
        let sound =
            |it: &Instr| it.kern.refuses.is_none() || it.kern.operand == 8 && it.kern.arity > 1;
        if !instrs.iter().all(sound) {
            return None;
        }
        let in_slots = |reg: u16| (first_slot..sizes.len()).contains(&usize::from(reg));
        if !splats.iter().all(|it| in_slots(it.slot)) {
            return None;
        }
        let written = |reg: u16| {
            instrs.iter().filter(|it| it.dst == reg).count()
                + splats.iter().filter(|it| it.slot == reg).count()
        };
        let stays = instrs.iter().map(|it| in_slots(it.dst) && written(it.dst) == 1).collect();
        let kerns = instrs.iter().map(|it| it.kern.operand.max(it.kern.result));
        let width = kerns.chain(inputs.iter().map(|it| it.size())).max().unwrap_or(8);
        Some(Self { inputs, outputs, n_slots, instrs, stays, splats, n_params, width })
    }

    /// Number of instructions.
    pub(crate) fn len(&self) -> usize {
        self.instrs.len()
    }

    /// Number of instructions whose results stay for the whole run.
    #[cfg(test)]
    pub(crate) fn n_staying(&self) -> usize {
        self.stays.iter().filter(|it| **it).count()
    }

    fn n_registers(&self) -> usize {
        self.inputs.len() + self.outputs.len() + self.n_slots
    }
}

/// Everything that the threads of a run share.
pub(super) struct Run<'a> {
    pub(super) code: &'a Code,
    pub(super) params: &'a [Number],
    pub(super) operands: SmallVec<[Operand; 6]>,
    pub(super) outputs: SmallVec<[*mut u8; 4]>,
    pub(super) geometry: Option<Geometry>,
    pub(super) numel: usize,
    /// The instruction whose destination is also an operand, and how it runs.
    pub(super) onto: Option<(usize, Loop)>,
}

// SAFETY: inputs are only read, and threads write disjoint ranges of the outputs.
unsafe impl Sync for Run<'_> {}

/// Runs the code: all outputs have one shape, to which the inputs broadcast. Allocates nothing in steady state.
pub(crate) fn run(
    code: &Code,
    sources: &[Source<'_>],
    outputs: &mut [OutView<'_>],
    params: &[Number],
) -> Result<(), RunError> {
    let shape = check(code, sources, outputs, params)?;
    let numel = shape.numel();
    if numel == 0 {
        return Ok(());
    }
    let single = |it: &Source<'_>| match it {
        Source::View(view) => view.shape().numel() == 1,
        Source::Number(_) | Source::Replaced => true,
    };
    if numel == 1 && code.n_registers() <= FEW && sources.iter().all(single) {
        return stopped_by(run_one(code, sources, outputs, params));
    }
    let numbers = Numbers::of(&code.inputs, sources);
    let run = Run::new(code, sources, Made::into(outputs), params, &numbers)?;
    if numel * code.instrs.len() < SPLIT_WORK {
        return stopped_by(run.range(0, numel));
    }
    let faults = Faults::default();
    run.shared(&faults);
    if interrupt::take() {
        return Err(RunError::Interrupted);
    }
    stopped_by(faults.first())
}

/// Runs the code on one element: every operand is read in place, and slots hold one element. The first fault, if any.
fn run_one(
    code: &Code,
    sources: &[Source<'_>],
    outputs: &mut [OutView<'_>],
    params: &[Number],
) -> Option<Fault> {
    let mut cells = [0_u64; FEW];
    let mut regs = [std::ptr::null_mut::<u8>(); FEW];
    for (reg, cell) in regs.iter_mut().zip(&mut cells).take(code.n_registers()) {
        *reg = std::ptr::from_mut(cell).cast();
    }
    for ((reg, source), mem) in regs.iter_mut().zip(sources).zip(&code.inputs) {
        match source {
            // SAFETY: the register is a cell of eight bytes.
            Source::Number(number) => unsafe { *reg.cast::<u64>() = mem.bits(*number) },
            Source::View(view) => {
                let start = view.layout().offset * mem.size();
                // SAFETY: a view's layout lies within its region, so its first element does.
                *reg = unsafe { view.region().as_ptr().add(start) };
            }
            // SAFETY: the register is a cell of eight bytes, and an output of this type has one element.
            Source::Replaced => unsafe {
                *reg.cast::<u64>() = read_bits(outputs[0].region().as_ptr(), mem.width());
            },
        }
    }
    for (reg, output) in regs[sources.len()..].iter_mut().zip(outputs) {
        *reg = output.region().as_ptr();
    }
    for it in &code.splats {
        let number = match it.value {
            SplatValue::Number(number) => number,
            SplatValue::Param(idx) => params[idx],
        };
        // SAFETY: splats go to slots, which are cells of eight bytes here.
        unsafe {
            *regs[usize::from(it.slot)].cast::<u64>() = Mem::from(it.lane).bits(number);
        }
    }
    let mut fault = None;
    for it in &code.instrs {
        // SAFETY: `Code::new` and `check` made sure that registers exist and hold an element of the kernel's types,
        // and that the destination is no operand.
        unsafe { execute(it, &regs, 1, &mut fault) }
    }
    fault
}

/// Runs one instruction on `n` elements and notes what it refuses, if nothing was refused before.
///
/// # Safety
/// The registers exist and hold `n` elements of the kernel's types, and the destination is no operand.
#[inline(always)]
unsafe fn execute(instr: &Instr, regs: &[*mut u8], n: usize, fault: &mut Option<Fault>) {
    let src = operands_of(instr, regs);
    // SAFETY: promised by the caller.
    unsafe { (instr.kern.run)(regs[usize::from(instr.dst)], &src, n) }
    if let Some(refused) = instr.kern.refuses {
        // SAFETY: promised by the caller; `Code::new` has seen that such kernels take whole numbers of 64 bits.
        let second = unsafe { std::slice::from_raw_parts(src[1].cast::<i64>(), n) };
        if fault.is_none() && refused.is_met_in(second) {
            *fault = Some(refused);
        }
    }
}

/// The addresses that an instruction reads from. Spelled out: mapping the array goes through memory, and what reads it back
/// has to wait for the stores of the instruction before.
#[inline(always)]
fn operands_of(instr: &Instr, regs: &[*mut u8]) -> [*const u8; 4] {
    let [a, b, c, d] = instr.src;
    let at = |reg: u16| regs[usize::from(reg)].cast_const();
    [at(a), at(b), at(c), at(d)]
}

thread_local! {
    static SCRATCH: Cell<Vec<Line>> = const { Cell::new(Vec::new()) };
}

/// A cache line; slots start on one.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[expect(dead_code, reason = "read through pointers")] [u8; 64]);

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
        let staged = self.operands.iter().filter(|it| it.access != Access::Direct).count();
        let n_slots = self.code.n_slots + staged;
        if n_slots == 0 {
            // SAFETY: there are no slots; the rest is promised by the caller.
            return unsafe { self.tiles(block, first, WIDE_TILE, std::ptr::null_mut()) };
        }
        let mut scratch = SCRATCH.take();
        let lines = n_slots * TILE * self.code.width / size_of::<Line>();
        if scratch.len() < lines {
            scratch.resize(lines, Line([0; 64]));
        }
        // SAFETY: there are lines for all slots; the rest is promised by the caller.
        let fault = unsafe { self.tiles(block, first, TILE, scratch.as_mut_ptr().cast()) };
        SCRATCH.set(scratch);
        fault
    }

    /// # Safety
    /// As [`block`](Self::block); `scratch` holds all slots and one for each staged input, of elements of a tile.
    unsafe fn tiles(
        &self,
        block: Block,
        first: *mut u8,
        tile: usize,
        scratch: *mut u8,
    ) -> Option<Fault> {
        let code = self.code;
        let slot_bytes = TILE * code.width;
        // SAFETY: promised by the caller.
        let slot = |idx: usize| unsafe { scratch.add(idx * slot_bytes) };
        let mut regs: SmallVec<[*mut u8; 32]> = SmallVec::new();
        let mut n_staged = 0;
        for operand in &self.operands {
            regs.push(match operand.access {
                Access::Direct => operand.base.cast_mut(),
                _ => {
                    n_staged += 1;
                    slot(code.n_slots + n_staged - 1)
                }
            });
        }
        let staged = if self.geometry.is_some() { &regs[..] } else { &[] };
        let homes: SmallVec<[*mut u8; 6]> = SmallVec::from_slice(staged);
        regs.extend(self.outputs.iter().copied());
        regs.extend((0..code.n_slots).map(slot));
        debug_assert_eq!(regs.len(), code.n_registers());
        let filled = tile.min(block.len);
        for it in &code.splats {
            let number = match it.value {
                SplatValue::Number(number) => number,
                SplatValue::Param(idx) => self.params[idx],
            };
            let mem = Mem::from(it.lane);
            // SAFETY: splats go to slots.
            unsafe { fill(regs[usize::from(it.slot)], mem.bits(number), mem.width(), filled) };
        }
        for (idx, operand) in self.operands.iter().enumerate() {
            if operand.access == Access::Splat {
                let width = code.inputs[idx].width();
                // SAFETY: the first element of the operand is readable.
                let bits = unsafe { read_bits(operand.base, width) };
                // SAFETY: an operand that is not read in place has a slot.
                unsafe { fill(regs[idx], bits, width, filled) };
            }
        }
        let (mut each_tile, mut fault) = (u64::MAX, None);
        if block.numel() > tile {
            each_tile = self.run_once(&regs, filled, &mut fault);
        }
        let mut outputs: SmallVec<[*mut u8; 4]> = SmallVec::from_slice(&self.outputs);
        let looks_ahead = tile == TILE && self.is_large();
        // What goes elsewhere replaces nothing.
        let onto = self.onto.filter(|_| first.is_null());
        for run in 0..block.count {
            let low = block.first + run * block.step;
            if !first.is_null() {
                // Where its first element would be.
                let before = (low * code.outputs[0].size()).wrapping_neg();
                outputs[0] = first
                    .wrapping_add(before.wrapping_add(run * block.len * code.outputs[0].size()));
            }
            let (mut at, high) = (low, low + block.len);
            let (regs, places) = (&mut regs[..], (&homes[..], &outputs[..]));
            while at < high {
                let n = tile.min(high - at);
                self.place(regs, places, at, n);
                if looks_ahead {
                    self.look_ahead(places.1, at + n..high.min(at + 2 * n));
                }
                for (idx, it) in code.instrs.iter().enumerate() {
                    if idx < 64 && each_tile >> idx & 1 == 0 {
                        continue;
                    }
                    // SAFETY: `Code::new` and `check` made sure that registers exist and hold `n` elements of the
                    // kernel's types, and that the destination is no operand but for the one that runs onto it.
                    unsafe {
                        match onto {
                            Some((writer, run)) if writer == idx => {
                                run(regs[usize::from(it.dst)], &operands_of(it, regs), n);
                            }
                            _ => execute(it, regs, n, &mut fault),
                        }
                    }
                }
                at += n;
            }
        }
        fault
    }

    /// Whether an output is too large for the nearer caches.
    fn is_large(&self) -> bool {
        self.code.outputs.iter().any(|it| self.numel * it.size() >= ahead::LEAST)
    }

    /// Asks for the places of elements that will be written next.
    fn look_ahead(&self, outputs: &[*mut u8], next: Range<usize>) {
        for (base, mem) in outputs.iter().zip(&self.code.outputs) {
            let start = base.wrapping_add(next.start * mem.size());
            ahead::of_writes(start, next.len() * mem.size());
        }
    }

    /// Runs what gives the same in every tile, such as the conversion of a number. The bits of the instructions that are left,
    /// of the first 64.
    fn run_once(&self, regs: &[*mut u8], n: usize, fault: &mut Option<Fault>) -> u64 {
        let code = self.code;
        let splat = |it: &Operand| it.access == Access::Splat;
        if code.splats.is_empty() && !self.operands.iter().any(splat) {
            return u64::MAX;
        }
        let mut same: SmallVec<[bool; 32]> = SmallVec::from_elem(false, regs.len());
        for (idx, operand) in self.operands.iter().enumerate() {
            same[idx] = splat(operand);
        }
        for it in &code.splats {
            let slot = it.slot;
            same[usize::from(slot)] = code.instrs.iter().all(|it| it.dst != slot);
        }
        let mut each_tile = u64::MAX;
        for (idx, it) in code.instrs.iter().enumerate().take(64) {
            let known = it.src[..it.kern.arity].iter().all(|&reg| same[usize::from(reg)]);
            if code.stays[idx] && known {
                same[usize::from(it.dst)] = true;
                each_tile &= !(1 << idx);
                // SAFETY: as in `tiles`; slots and splats hold a whole tile.
                unsafe { execute(it, regs, n, fault) }
            }
        }
        each_tile
    }

    /// Points the registers of inputs and outputs to the tile that starts at element `at`: inputs that do not lie so are brought together
    /// in their slots, whose addresses are `homes`; `outputs` are those of the first elements.
    fn place(
        &self,
        regs: &mut [*mut u8],
        (homes, outputs): (&[*mut u8], &[*mut u8]),
        at: usize,
        n: usize,
    ) {
        for (idx, operand) in self.operands.iter().enumerate() {
            let mem = self.code.inputs[idx];
            let size = mem.size();
            match (operand.access, &self.geometry) {
                // SAFETY: a direct input holds all `numel` elements and `at` is below that.
                (Access::Direct, _) => unsafe {
                    regs[idx] = operand.base.add(at * size).cast_mut();
                },
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
        debug_assert!(at + n <= self.numel);
        let regs = &mut regs[self.operands.len()..];
        for ((reg, base), mem) in regs.iter_mut().zip(outputs).zip(&self.code.outputs) {
            // An output holds all `numel` elements, or has room for those of the block, and `at` is among them.
            *reg = base.wrapping_add(at * mem.size());
        }
    }
}

/// # Safety
/// An element of this width at `ptr` is readable, and `ptr` is a multiple of it.
unsafe fn read_bits(ptr: *const u8, width: Width) -> u64 {
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

/// Writes `n` (at most a tile) equal elements to a slot.
///
/// # Safety
/// A slot of this thread begins at `slot`.
unsafe fn fill(slot: *mut u8, bits: u64, width: Width, n: usize) {
    let n = n.min(TILE);
    // SAFETY: a slot holds a tile of elements of every size in use, 64-byte aligned.
    unsafe {
        match width {
            Width::W1 => std::slice::from_raw_parts_mut(slot, n).fill(bits as u8),
            Width::W2 => std::slice::from_raw_parts_mut(slot.cast(), n).fill(bits as u16),
            Width::W4 => std::slice::from_raw_parts_mut(slot.cast(), n).fill(bits as u32),
            Width::W8 => std::slice::from_raw_parts_mut(slot.cast(), n).fill(bits),
            Width::W16 => std::slice::from_raw_parts_mut(slot.cast(), n).fill(u128::from(bits)),
        }
    }
}

/// Writes elements `start..start + n` of a strided operand to a slot.
///
/// # Safety
/// A slot of this thread begins at `slot`; the geometry addresses elements of the operand that begins at `base`.
unsafe fn gather(
    slot: *mut u8,
    base: *const u8,
    width: Width,
    geometry: &Geometry,
    row: usize,
    start: usize,
    n: usize,
) {
    debug_assert!(n <= TILE);
    // SAFETY: the slot holds a tile; the rest is promised by the caller.
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
            _ => (0..len).for_each(|it| *dst.add(it) = *src.offset(it as isize * step)),
        }
    });
}

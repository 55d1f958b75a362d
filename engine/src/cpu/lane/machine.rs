//! The tile machine: runs a list of kernels over 256 elements at a time, with intermediate values in slots that stay
//! in the first-level cache. Contiguous inputs and outputs are used in place; others are gathered into slots first.
//!
//! **Invariant:** `Code::new` checks every register of every instruction, `run` every operand against the code.

use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;

use super::faults::{Faults, stopped_by};
use super::geometry::Geometry;
use super::in_place::Writers;
use super::loops::Loop;
use super::operands::{Made, Numbers, Operand, check};
use super::{Kern, Lane, Mem, small};
use crate::cpu::jit::{MachineCode, Writable};
use crate::cpu::view::{OutView, View};
use crate::cpu::{interrupt, pool};
use crate::dtype::Number;
use crate::math::Fault;

/// Elements of a tile.
pub(super) const TILE: usize = 256;
/// Elements times instructions below which a run stays on its thread.
const SPLIT_WORK: usize = 1 << 17;
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
    pub(super) n_slots: usize,
    pub(super) instrs: Vec<Instr>,
    /// For each instruction whether it writes a slot that nothing else writes, so that its result stays.
    pub(super) stays: Vec<bool>,
    pub(super) splats: Vec<Splat>,
    pub(super) n_params: usize,
    /// Bytes of one element of the largest type in a slot.
    pub(super) width: usize,
    /// What code of its own may be written for.
    pub(super) writable: Option<Arc<Writable>>,
}

/// An input of a run.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// A tensor whose shape broadcasts to that of the outputs.
    View(View<'a>),
    /// A number for all elements.
    Number(Number),
    /// What the output of this number held before: the run replaces it.
    Replaced(usize),
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
        let mems = inputs.iter().chain(&outputs).map(|it| it.size());
        let width = kerns.chain(mems).max().unwrap_or(8);
        let writable = None;
        Some(Self { inputs, outputs, n_slots, instrs, stays, splats, n_params, width, writable })
    }

    /// The same, for which code of its own may be written.
    pub(crate) fn with_written(mut self, writable: Option<Arc<Writable>>) -> Self {
        self.writable = writable;
        self
    }

    /// The code that was written for inputs of which those in `held` have one element for all; `None` where the instructions are to run.
    #[inline]
    pub(super) fn written(&self, held: u64, numel: usize) -> Option<&MachineCode> {
        self.writable.as_ref()?.form(held, numel)
    }

    /// The numbers of a run, as code that was written takes them.
    pub(super) fn numbers(&self, params: &[Number]) -> SmallVec<[u64; 4]> {
        let mut res = SmallVec::new();
        if let Some(writable) = &self.writable {
            writable.numbers(params, &mut res);
        }
        res
    }

    /// Has code with such vectors written from this expansion at the first run, if it can be.
    #[cfg(test)]
    pub(crate) fn write_at_once(
        &mut self,
        source: crate::cpu::jit::Source,
        vectors: crate::cpu::jit::Vectors,
    ) {
        self.writable = Some(Arc::new(Writable::at_once(source, vectors)));
    }

    /// How many versions of code have been written, and how many could not be.
    #[cfg(test)]
    pub(crate) fn n_forms(&self) -> (usize, usize) {
        self.writable.as_ref().map_or((0, 0), |it| it.n_forms())
    }

    /// Has no code written.
    #[cfg(test)]
    pub(crate) fn stay_with_instructions(&mut self) {
        self.writable = None;
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

    /// Whether an instruction may refuse an element.
    pub(crate) fn may_refuse(&self) -> bool {
        self.instrs.iter().any(|it| it.kern.refuses.is_some())
    }

    pub(super) fn n_registers(&self) -> usize {
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
    /// Whether inputs are read where outputs replace them.
    pub(super) replaces: bool,
    /// The instructions whose destination is also an operand, and how they run.
    pub(super) onto: Writers,
    /// The code that runs in place of the instructions, with the numbers that it takes.
    pub(super) written: Option<(&'a MachineCode, SmallVec<[u64; 4]>)>,
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
    if let Some(fault) = small::run(code, sources, shape, outputs, params) {
        return stopped_by(fault);
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

/// Runs the code on many tensors, on all threads at once: `sources` and `outputs` are those of the first run, then those of the next. Each
/// run has a shape of its own.
pub(crate) fn run_many(
    code: &Code,
    sources: &[Source<'_>],
    outputs: &mut [OutView<'_>],
    params: &[Number],
) -> Result<(), RunError> {
    let (n_inputs, n_outputs) = (code.inputs.len(), code.outputs.len());
    if n_inputs == 0 || n_outputs == 0 || sources.len() / n_inputs != outputs.len() / n_outputs {
        return Err(RunError::Operands);
    }
    let numel: usize = outputs.iter().step_by(n_outputs).map(|it| it.shape().numel()).sum();
    let each = sources.chunks(n_inputs).zip(outputs.chunks_mut(n_outputs));
    if numel * code.instrs.len() < SPLIT_WORK || pool::threads() == 1 {
        let mut each = each;
        return each.try_for_each(|(sources, outputs)| run(code, sources, outputs, params));
    }
    let all: Vec<_> = each.map(|it| (Numbers::of(&code.inputs, it.0), it)).collect();
    let mut runs: Vec<(Run<'_>, Range<usize>)> = Vec::with_capacity(all.len());
    let mut n_chunks = 0;
    for (numbers, (sources, outputs)) in &all {
        check(code, sources, outputs, params)?;
        let run = Run::new(code, sources, Made::into(outputs), params, numbers)?;
        let first = n_chunks;
        n_chunks += run.numel.div_ceil(CHUNK);
        runs.push((run, first..n_chunks));
    }
    let faults = Faults::default();
    pool::for_each_chunk(n_chunks, &|chunk| {
        let at = runs.partition_point(|it| it.1.end <= chunk);
        let (run, chunks) = &runs[at];
        let low = (chunk - chunks.start) * CHUNK;
        faults.note(run.range(low, (low + CHUNK).min(run.numel)));
    });
    if interrupt::take() {
        return Err(RunError::Interrupted);
    }
    stopped_by(faults.first())
}

/// Runs one instruction on `n` elements by a loop of its kernel, and notes what it refuses, if nothing was refused before.
///
/// # Safety
/// The registers exist and hold `n` elements of the kernel's types, and the destination is no operand but for a loop that runs onto it.
#[inline(always)]
pub(super) unsafe fn execute(
    run: Loop,
    instr: &Instr,
    regs: &[*mut u8],
    n: usize,
    fault: &mut Option<Fault>,
) {
    let src = operands_of(instr, regs);
    // SAFETY: promised by the caller.
    unsafe { run(regs[usize::from(instr.dst)], &src, n) }
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

//! The short path for few elements, most of whose time would go into getting ready: one tile, whose registers lie on the stack.

use smallvec::SmallVec;

use super::Mem;
use super::geometry::{Access, Geometry, simple_access};
use super::machine::{Code, Source, SplatValue, TILE, execute};
use super::operands::Numbers;
use super::scratch::{LINE, with_scratch};
use super::slots::{fill, gather, read_bits};
use crate::cpu::alloc::Bytes;
use crate::cpu::view::{OutView, View};
use crate::dtype::Number;
use crate::math::Fault;
use crate::{DType, Layout, Result, Shape};

/// Most registers of code that goes this way.
const FEW: usize = 24;
/// Most elements where nothing is kept in slots; a slot holds a tile.
const MOST: usize = 1 << 12;

/// Runs the code on operands that have been checked: the first fault, if any. `None`, with nothing done, where this is not the way: there
/// are many elements or registers.
pub(super) fn run(
    code: &Code,
    sources: &[Source<'_>],
    shape: &Shape,
    outputs: &[OutView<'_>],
    params: &[Number],
) -> Option<Option<Fault>> {
    let numel = shape.numel();
    if numel > MOST || code.n_registers() > FEW {
        return None;
    }
    // Inputs of which there is one element for all, a bit for each.
    let mut held = 0_u64;
    let mut regs = [std::ptr::null_mut::<u8>(); FEW];
    let mut strided: SmallVec<[Layout; 2]> = SmallVec::new();
    // Whether an input is one of those, a bit for each.
    let mut gathered = 0_u32;
    let mut staged = 0;
    for (idx, (source, mem)) in sources.iter().zip(&code.inputs).enumerate() {
        match source {
            // One element lies as another does, whatever the dimensions.
            Source::View(view) if numel == 1 && view.shape().numel() == 1 => {
                regs[idx] = first_of(view, *mem);
                continue;
            }
            Source::View(view) => match simple_access(view.layout(), shape, numel) {
                Some(Access::Direct) => {
                    regs[idx] = first_of(view, *mem);
                    continue;
                }
                Some(_) => held |= 1 << idx,
                None => {
                    strided.push(view.layout().broadcast_to(shape)?);
                    gathered |= 1 << idx;
                }
            },
            Source::Number(_) => held |= 1 << idx,
            Source::Replaced(_) => {}
        }
        staged += 1;
    }
    for (reg, output) in regs[sources.len()..].iter_mut().zip(outputs) {
        *reg = output.region().as_ptr();
    }
    if gathered == 0
        && let Some(written) = code.written(held, numel)
    {
        let numbers = Numbers::of(&code.inputs, sources);
        point(&mut regs, sources, (&code.inputs, &numbers), outputs);
        // SAFETY: as below; an output that is replaced is read where it is, element by element.
        unsafe { written.run(&regs, numel, &code.numbers(params)) }
        return Some(None);
    }
    let n_slots = code.n_slots + staged;
    if n_slots == 0 {
        // SAFETY: the registers are operands and outputs, which hold all elements.
        return Some(unsafe { execute_all(code, &regs, numel) });
    }
    if numel > TILE {
        return None;
    }
    let slot = (numel * code.width).next_multiple_of(LINE);
    Some(with_scratch(n_slots * slot, |scratch| {
        let mut place = scratch;
        let mut next = || {
            let it = place;
            place = it.wrapping_add(slot);
            it
        };
        regs[sources.len() + outputs.len()..code.n_registers()].fill_with(&mut next);
        let geometry = strided.first().map(|it| Geometry::new(&it.shape, &strided));
        for (idx, (source, mem)) in sources.iter().zip(&code.inputs).enumerate() {
            if !regs[idx].is_null() {
                continue;
            }
            regs[idx] = next();
            let row = (gathered & ((1 << idx) - 1)).count_ones() as usize;
            let gathers = geometry.as_ref().filter(|_| gathered >> idx & 1 == 1);
            let gathers = gathers.map(|it| (it, row));
            // SAFETY: slots hold all elements, as the first output does, and the geometry is that of what is gathered.
            unsafe { bring(regs[idx], source, *mem, gathers, outputs) };
        }
        for it in &code.splats {
            let number = match it.value {
                SplatValue::Number(number) => number,
                SplatValue::Param(idx) => params[idx],
            };
            let mem = Mem::from(it.lane);
            // SAFETY: splats go to slots.
            unsafe { fill(regs[usize::from(it.slot)], mem.bits(number), mem.width(), numel) };
        }
        // SAFETY: the registers are operands, outputs and slots, which hold all elements.
        unsafe { execute_all(code, &regs, numel) }
    }))
}

impl Code {
    /// Runs the code on operands that all have this shape and lie in row-major order, each from an element of its buffer on: the buffer
    /// that `make` gives, with the results, which have this dtype. `None`, with nothing done, where this is not the way.
    ///
    /// Fails as `make` does, and where an element is refused.
    #[inline]
    pub(crate) fn run_alike(
        &self,
        operands: &[(&Bytes, usize, DType)],
        make: impl FnOnce() -> Result<Bytes>,
        (shape, dtype): (&Shape, DType),
    ) -> Option<Result<Bytes>> {
        let numel = shape.numel();
        let is_few = (1..=MOST).contains(&numel);
        let takes_none = self.n_params == 0;
        let written = if is_few && takes_none { self.written(0, numel) } else { None };
        let is_this_way = (self.n_slots == 0 || written.is_some())
            && self.outputs.len() == 1
            && is_few
            && operands.len() == self.inputs.len()
            && operands.len() < FEW
            && Mem::of(dtype) == self.outputs[0];
        if !is_this_way {
            return None;
        }
        let mut regs = [std::ptr::null_mut::<u8>(); FEW];
        for ((&(bytes, start, dtype), &mem), reg) in
            operands.iter().zip(&self.inputs).zip(&mut regs)
        {
            let end = start.checked_add(numel)?;
            if Mem::of(dtype) != mem || end > bytes.len() / mem.size() {
                return None;
            }
            // SAFETY: all elements lie within the buffer, as was just seen.
            *reg = unsafe { bytes.as_ptr().add(start * mem.size()).cast_mut() };
        }
        let mut made = match make() {
            Ok(made) => made,
            Err(problem) => return Some(Err(problem)),
        };
        if made.len() < numel * self.outputs[0].size() {
            return None;
        }
        regs[operands.len()] = made.as_mut_ptr();
        if let Some(written) = written {
            // SAFETY: as below.
            unsafe { written.run(&regs, numel, &[]) }
            return Some(Ok(made));
        }
        // SAFETY: the registers are operands and the output, which hold all elements, and the operands are only read.
        let fault = unsafe { execute_all(self, &regs, numel) };
        Some(match fault {
            Some(fault) => Err(fault.into()),
            None => Ok(made),
        })
    }
}

/// Points the registers of inputs that have none to where one element for all is, or to the output that they are replaced by.
fn point(
    regs: &mut [*mut u8; FEW],
    sources: &[Source<'_>],
    (mems, numbers): (&[Mem], &Numbers),
    outputs: &[OutView<'_>],
) {
    let mut cells = numbers.cells();
    for (idx, (source, mem)) in sources.iter().zip(mems).enumerate() {
        let cell = if matches!(source, Source::Number(_)) { cells.next() } else { None };
        if regs[idx].is_null() {
            regs[idx] = match source {
                Source::View(view) => first_of(view, *mem),
                Source::Number(_) => {
                    cell.map_or(std::ptr::null(), std::ptr::from_ref).cast_mut().cast()
                }
                Source::Replaced(output) => outputs[*output].region().as_ptr(),
            };
        }
    }
}

/// The first element of what a view shows.
#[inline(always)]
fn first_of(view: &View<'_>, mem: Mem) -> *mut u8 {
    // SAFETY: a view's layout lies within its region, so its first element does.
    unsafe { view.region().as_ptr().add(view.layout().offset * mem.size()) }
}

/// Writes all elements of what is not read where it lies to a slot: one of this type that has been checked.
///
/// # Safety
/// The slot holds as many elements as the outputs do, and the geometry is that of the view in its row.
unsafe fn bring(
    slot: *mut u8,
    source: &Source<'_>,
    mem: Mem,
    gathers: Option<(&Geometry, usize)>,
    outputs: &[OutView<'_>],
) {
    let numel = outputs[0].shape().numel();
    // SAFETY: promised by the caller; the first element of a view is readable.
    unsafe {
        match (source, gathers) {
            (Source::View(view), Some((geometry, row))) => {
                gather(slot, first_of(view, mem), mem.width(), geometry, row, 0, numel);
            }
            (Source::View(view), None) => {
                let bits = read_bits(first_of(view, mem), mem.width());
                fill(slot, bits, mem.width(), numel);
            }
            (Source::Number(number), _) => fill(slot, mem.bits(*number), mem.width(), numel),
            (Source::Replaced(output), _) => {
                let held = outputs[*output].region().as_ptr();
                std::ptr::copy_nonoverlapping(held, slot, numel * mem.size());
            }
        }
    }
}

/// # Safety
/// The registers hold so many elements.
#[inline(always)]
unsafe fn execute_all(code: &Code, regs: &[*mut u8; FEW], numel: usize) -> Option<Fault> {
    let mut fault = None;
    for it in &code.instrs {
        // SAFETY: `Code::new` and `check` made sure that registers exist and hold elements of the kernel's types, and that the
        // destination is no operand.
        unsafe { execute(it.kern.run, it, regs, numel, &mut fault) }
    }
    fault
}

//! The operands of a run: whether they are those that the code was built for, and how each is read.

use smallvec::SmallVec;

use super::Mem;
use super::geometry::{Access, Geometry, simple_access};
use super::machine::{Code, Run, RunError, Source};
use crate::cpu::view::OutView;
use crate::dtype::Number;
use crate::{Layout, Shape};

/// An input, ready to be read.
#[derive(Clone, Copy)]
pub(super) struct Operand {
    /// The first element.
    pub(super) base: *const u8,
    pub(super) access: Access,
}

/// Where the numbers among the inputs of a run are kept while it lasts.
#[derive(Default)]
pub(super) struct Numbers(SmallVec<[u64; 8]>);

impl<'a> Run<'a> {
    /// A run on operands that have been checked; it reads its numbers from `numbers`.
    pub(super) fn new(
        code: &'a Code,
        sources: &[Source<'_>],
        outputs: &[OutView<'_>],
        params: &'a [Number],
        numbers: &'a mut Numbers,
    ) -> Result<Self, RunError> {
        let shape = outputs[0].shape();
        let numel = shape.numel();
        let mut res: SmallVec<[Operand; 6]> = SmallVec::new();
        let mut strided: SmallVec<[Layout; 2]> = SmallVec::new();
        let is_number = |it: &&Source<'_>| matches!(it, Source::Number(_));
        numbers.0.resize(sources.iter().filter(is_number).count(), 0);
        let mut cells = numbers.0.iter_mut();
        for (source, mem) in sources.iter().zip(&code.inputs) {
            let operand = match source {
                Source::Number(number) => {
                    let cell = cells.next().ok_or(RunError::Operands)?;
                    *cell = mem.bits(*number);
                    Operand { base: std::ptr::from_ref(cell).cast(), access: Access::Splat }
                }
                Source::Replaced => Operand {
                    base: outputs[0].region().as_ptr().cast_const(),
                    access: Access::Replaced,
                },
                Source::View(view) => {
                    let layout = view.layout();
                    let access = match simple_access(layout, shape, numel) {
                        Some(access) => access,
                        None => {
                            strided.push(layout.broadcast_to(shape).ok_or(RunError::Operands)?);
                            Access::Strided(strided.len() - 1)
                        }
                    };
                    let start = layout.offset * mem.size();
                    // SAFETY: a view's layout lies within its region, so its first element does.
                    let base = unsafe { view.region().as_ptr().add(start) };
                    Operand { base: base.cast_const(), access }
                }
            };
            res.push(operand);
        }
        let geometry = (!strided.is_empty()).then(|| Geometry::new(shape, &strided));
        let outputs = outputs.iter().map(|it| it.region().as_ptr()).collect();
        Ok(Self { code, params, operands: res, outputs, geometry, numel })
    }
}

/// The shape of the outputs; fails unless all operands are those that the code was built for.
pub(super) fn check<'a>(
    code: &Code,
    sources: &[Source<'_>],
    outputs: &[OutView<'a>],
    params: &[Number],
) -> Result<&'a Shape, RunError> {
    let shape = outputs.first().ok_or(RunError::Operands)?.shape();
    let same_inputs = sources.len() == code.inputs.len()
        && sources.iter().zip(&code.inputs).all(|(it, &mem)| match it {
            Source::View(view) => Mem::of(view.dtype()) == mem,
            Source::Number(number) => Mem::of(number.dtype()) == mem,
            Source::Replaced => code.outputs[0] == mem,
        });
    let same_outputs = outputs.len() == code.outputs.len()
        && outputs.iter().zip(&code.outputs).all(|(it, &mem)| {
            Mem::of(it.dtype()) == mem
                && it.shape() == shape
                && it.region().len() >= shape.numel() * mem.size()
        });
    let fits = same_inputs && same_outputs && params.len() >= code.n_params;
    if fits { Ok(shape) } else { Err(RunError::Operands) }
}

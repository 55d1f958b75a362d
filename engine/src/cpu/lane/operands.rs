//! The operands of a run: whether they are those that the code was built for, and how each is read.

use smallvec::SmallVec;

use super::Mem;
use super::geometry::{Access, Geometry, simple_access};
use super::in_place::InPlace;
use super::machine::{Code, Run, RunError, Source};
use crate::cpu::view::OutView;
use crate::dtype::Number;
use crate::{Layout, Shape};

/// Elements along the last dimension from which on it pays to end tiles where it ends.
pub(super) const LONG: usize = 128;

/// An input, ready to be read.
#[derive(Clone, Copy)]
pub(super) struct Operand {
    /// The first element.
    pub(super) base: *const u8,
    pub(super) access: Access,
}

/// The numbers among the inputs of a run, as bits of what the code takes.
pub(super) struct Numbers(SmallVec<[u64; 8]>);

impl Numbers {
    /// Those among inputs of these types.
    pub(super) fn of(mems: &[Mem], sources: &[Source<'_>]) -> Self {
        let bits = |(it, mem): (&Source<'_>, &Mem)| match it {
            Source::Number(number) => Some(mem.bits(*number)),
            Source::View(_) | Source::Replaced(_) => None,
        };
        Self(sources.iter().zip(mems).filter_map(bits).collect())
    }

    /// Each of them, in order.
    pub(super) fn cells(&self) -> impl Iterator<Item = &u64> {
        self.0.iter()
    }
}

/// What a run makes: elements of a shape, and where the first of each output lies.
pub(super) struct Made<'a> {
    pub(super) shape: &'a Shape,
    /// The dimensions of the shape in the order in which they are walked; `None` as they are.
    pub(super) order: Option<&'a [usize]>,
    pub(super) outputs: SmallVec<[*mut u8; 4]>,
}

impl<'a> Made<'a> {
    /// What goes to these outputs, which have one shape.
    pub(super) fn into(outputs: &[OutView<'a>]) -> Self {
        let starts = outputs.iter().map(|it| it.region().as_ptr()).collect();
        Self { shape: outputs[0].shape(), order: None, outputs: starts }
    }
}

impl<'a> Run<'a> {
    /// A run on operands that have been checked, whose numbers are `numbers`. Inlined, as it is large to move.
    #[inline(always)]
    pub(super) fn new(
        code: &'a Code,
        sources: &[Source<'_>],
        Made { shape, order, outputs }: Made<'_>,
        params: &'a [Number],
        numbers: &'a Numbers,
    ) -> Result<Self, RunError> {
        let numel = shape.numel();
        let mut res: SmallVec<[Operand; 6]> = SmallVec::new();
        let mut strided: SmallVec<[Layout; 2]> = SmallVec::new();
        let mut cells = numbers.0.iter();
        let in_place = InPlace::of(code, sources);
        for (source, mem) in sources.iter().zip(&code.inputs) {
            let operand = match source {
                Source::Number(_) => {
                    let cell = cells.next().ok_or(RunError::Operands)?;
                    Operand { base: std::ptr::from_ref(cell).cast(), access: Access::Splat }
                }
                Source::Replaced(output) => {
                    let is_read_there = in_place.inputs.contains(&res.len());
                    let access = if is_read_there { Access::Direct } else { Access::Replaced };
                    Operand { base: outputs[*output].cast_const(), access }
                }
                Source::View(view) => {
                    let layout = view.layout();
                    // An order of dimensions is another only to what has as many elements.
                    let access = simple_access(layout, shape, numel)
                        .filter(|it| order.is_none() || *it == Access::Splat);
                    let access = match access {
                        Some(access) => access,
                        None => {
                            let layout = layout.broadcast_to(shape).ok_or(RunError::Operands)?;
                            strided.push(
                                order.map_or_else(|| layout.clone(), |it| layout.permute(it)),
                            );
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
        let geometry = strided.first().map(|it| Geometry::new(&it.shape, &strided));
        if let Some(geometry) = geometry.as_ref().filter(|it| it.line() >= LONG) {
            for it in &mut res {
                match it.access {
                    Access::Strided(row) if geometry.is_same_along(row) => {
                        it.access = Access::Along(row)
                    }
                    _ => {}
                }
            }
        }
        let replaces = sources.iter().any(|it| matches!(it, Source::Replaced(_)));
        let onto = in_place.writers;
        let written = code.written(held(&res), numel).map(|it| (it, code.numbers(params)));
        if written.is_some() {
            // It reads all operands of an element before it writes any result.
            for it in res.iter_mut().filter(|it| it.access == Access::Replaced) {
                it.access = Access::Direct;
            }
        }
        Ok(Self { code, params, operands: res, outputs, geometry, numel, replaces, onto, written })
    }
}

/// A bit for each operand that is the same for all elements that are computed at once.
fn held(operands: &[Operand]) -> u64 {
    let is_held = |it: &Operand| matches!(it.access, Access::Splat | Access::Along(_));
    operands
        .iter()
        .enumerate()
        .filter(|it| is_held(it.1))
        .fold(0, |res, (at, _)| res | 1 << at.min(63))
}

/// The shape of the outputs; fails unless all operands are those that the code was built for.
#[inline(always)]
pub(super) fn check<'a>(
    code: &Code,
    sources: &[Source<'_>],
    outputs: &[OutView<'a>],
    params: &[Number],
) -> Result<&'a Shape, RunError> {
    let shape = outputs.first().ok_or(RunError::Operands)?.shape();
    let fits = takes(code, sources, params) && gives(&code.outputs, shape, outputs);
    if fits { Ok(shape) } else { Err(RunError::Operands) }
}

/// Whether these are the inputs that the code was built for.
#[inline(always)]
pub(super) fn takes(code: &Code, sources: &[Source<'_>], params: &[Number]) -> bool {
    let alike = |(it, &mem): (&Source<'_>, &Mem)| match it {
        Source::View(view) => Mem::of(view.dtype()) == mem,
        Source::Number(number) => Mem::of(number.dtype()) == mem,
        Source::Replaced(output) => code.outputs.get(*output) == Some(&mem),
    };
    sources.len() == code.inputs.len()
        && sources.iter().zip(&code.inputs).all(alike)
        && params.len() >= code.n_params
}

/// Whether these outputs have the shape and hold elements of these types.
#[inline(always)]
pub(super) fn gives(mems: &[Mem], shape: &Shape, outputs: &[OutView<'_>]) -> bool {
    let alike = |(it, &mem): (&OutView<'_>, &Mem)| {
        Mem::of(it.dtype()) == mem
            && it.shape() == shape
            && it.region().len() >= shape.numel() * mem.size()
    };
    outputs.len() == mems.len() && outputs.iter().zip(mems).all(alike)
}

//! Where index tensors and masks pick elements in a buffer: `x[i, :, j] = y`, written where they lie.

use super::{Index, Part, Span, broadcast, expand_ellipsis, resolve};
use crate::cpu::{interrupt, strided};
use crate::{DType, Error, Layout, Result, Shape, Tensor, functional};

/// What an index with tensors picks of what is seen under a layout.
pub(super) struct Picked {
    /// The elements at the first place, with a dimension for the places.
    pub(super) target: Layout,
    /// That dimension.
    pub(super) dim: usize,
    /// How far each place lies from where the target begins.
    pub(super) places: Vec<i64>,
    /// The shape that indexing gives.
    shape: Shape,
    /// Dimensions of the target whose elements are assigned in reverse order.
    reversed: Vec<i64>,
}

/// What the entries of an index say, one dimension after the other.
#[derive(Default)]
struct Entries {
    /// One per dimension: of those that are picked from, the first element.
    spans: Vec<Span>,
    picks: Vec<Pick>,
    /// The lengths of the slices.
    slices: Shape,
    /// The first dimension that is picked from, and how many slices stand before it.
    first: (usize, usize),
    /// Whether slices stand between dimensions that are picked from.
    apart: bool,
}

/// A mask, or a tensor of places along one dimension.
struct Pick {
    shape: Shape,
    places: Vec<i64>,
}

impl Picked {
    /// `None` for an index of another kind, and for one that is wrong.
    pub(super) fn new(seen: &Layout, index: &[Index]) -> Result<Option<Self>> {
        let Some(entries) = Entries::read(seen, index)? else { return Ok(None) };
        // Dimensions that are picked from side by side give way to the places; else these come first.
        let (dim, before) = if entries.apart { (0, 0) } else { entries.first };
        let Some((positions, places)) = together(entries.picks)? else { return Ok(None) };
        let reversed = |(at, span): (usize, &Span)| {
            (span.step < 0).then_some((at + usize::from(at >= dim)) as i64)
        };
        let reversed = entries.spans.iter().enumerate().filter_map(reversed).collect();
        let mut shape = entries.slices;
        shape.dims_mut().insert_many(before, positions.iter().copied());
        let mut target = Part::of(entries.spans, Shape::default()).within(seen);
        target.shape.dims_mut().insert(dim, places.len());
        target.strides.insert(dim, 0);
        Ok(Some(Self { target, dim, places, shape, reversed }))
    }

    /// What is assigned, with a size for each dimension of the target and in ascending order along each.
    pub(super) fn fitted(&self, value: &Tensor) -> Result<Tensor> {
        let value = functional::reshape(&broadcast(value, &self.shape)?, &self.target.shape)?;
        if self.reversed.is_empty() {
            return Ok(value);
        }
        functional::flip(&value, &self.reversed)
    }
}

impl Entries {
    fn read(seen: &Layout, index: &[Index]) -> Result<Option<Self>> {
        let mut read = Self::default();
        for entry in expand_ellipsis(&seen.shape, index)? {
            let dim = read.spans.len();
            let size = || seen.shape[dim];
            match entry {
                Index::Int(at) => {
                    let start = resolve(at, size(), dim)?;
                    read.spans.push(Span { start, ..Span::one(size()) });
                }
                Index::Slice { start, stop, step } => {
                    let span = Span::new(start, stop, step, size())?;
                    read.slices.dims_mut().push(span.len);
                    read.spans.push(span);
                }
                Index::Tensor(tensor) => {
                    let Some(pick) = Pick::new(seen, dim, &tensor)? else { return Ok(None) };
                    read.pick(seen, &tensor, pick);
                }
                Index::NewAxis | Index::Ellipsis => return Ok(None),
            }
        }
        Ok(Some(read))
    }

    fn pick(&mut self, seen: &Layout, tensor: &Tensor, pick: Pick) {
        let (dim, slices) = (self.spans.len(), self.slices.rank());
        match self.picks.is_empty() {
            true => self.first = (dim, slices),
            false => self.apart |= slices > self.first.1,
        }
        let covered = if tensor.dtype() == DType::Bool { tensor.rank() } else { 1 };
        self.spans.extend(seen.shape[dim..dim + covered].iter().map(|&it| Span::one(it)));
        self.picks.push(pick);
    }
}

impl Pick {
    /// What a tensor picks along the dimensions from `dim` on; `None` if it names places outside, or is of another kind or size.
    fn new(seen: &Layout, dim: usize, tensor: &Tensor) -> Result<Option<Self>> {
        if tensor.dtype() == DType::Bool {
            return Self::masked(seen, dim, tensor);
        }
        if !tensor.dtype().is_int() {
            return Ok(None);
        }
        let (size, stride) = (seen.shape[dim] as i64, seen.strides[dim] as i64);
        let mut places = functional::to(tensor, DType::I64)?.to_vec::<i64>()?;
        for at in &mut places {
            let from_start = if *at < 0 { at.saturating_add(size) } else { *at };
            if !(0..size).contains(&from_start) {
                return Ok(None);
            }
            *at = from_start * stride;
        }
        Ok(Some(Self { shape: tensor.shape().clone(), places }))
    }

    fn masked(seen: &Layout, dim: usize, mask: &Tensor) -> Result<Option<Self>> {
        let covered = dim..dim + mask.rank();
        if mask.rank() == 0 || **mask.shape() != seen.shape[covered.clone()] {
            return Ok(None);
        }
        let shape = mask.shape().clone();
        let lies = Layout { shape, strides: seen.strides[covered].into(), offset: 0 };
        let places = mask.with_view(|view| {
            let (keeps, mut places) = (view.buffer::<u8>(), Vec::new());
            strided::for_each_run([view.layout(), &lies], |[at, place], len, [step, apart]| {
                for it in 0..len as isize {
                    if keeps[at.wrapping_add_signed(it * step)] != 0 {
                        places.push(place as i64 + (it * apart) as i64);
                    }
                }
            });
            places
        })?;
        Ok(Some(Self { shape: Shape::from([places.len()]), places }))
    }
}

/// The places of picks that are broadcast together, and their shape; `None` if they cannot be.
fn together(mut picks: Vec<Pick>) -> Result<Option<(Shape, Vec<i64>)>> {
    if picks.len() == 1 {
        return Ok(picks.pop().map(|it| (it.shape, it.places)));
    }
    let mut positions = Shape::default();
    for pick in &picks {
        let Some(wider) = positions.broadcast(&pick.shape) else { return Ok(None) };
        positions = wider;
    }
    let whole = Layout::contiguous(positions.clone());
    let mut places = vec![0; positions.numel()];
    for pick in &picks {
        let Some(spread) = Layout::contiguous(pick.shape.clone()).broadcast_to(&positions) else {
            return Ok(None);
        };
        strided::for_each_run([&spread, &whole], |[from, to], len, [step, apart]| {
            for it in 0..len as isize {
                let place = pick.places[from.wrapping_add_signed(it * step)];
                places[to.wrapping_add_signed(it * apart)] += place;
            }
        });
    }
    if interrupt::take() { Err(Error::Interrupted) } else { Ok(Some((positions, places))) }
}

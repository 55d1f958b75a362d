//! What a convolution does to each element of its output once that is summed up.

use std::ops::Range;

use super::{ConvPass, ConvProblem};
use crate::cpu::element::Element;
use crate::cpu::lane::Part;
use crate::cpu::pool::Shared;

/// The bias of its channel is added to each element, then `part` goes on with it.
#[derive(Clone, Copy)]
pub struct Epilogue<'a, T> {
    /// A value for each channel of the output; of forward passes only.
    pub bias: Option<&'a [T]>,
    /// What follows on the output, which begins with the part.
    pub part: Part<'a>,
}

impl<T: Element> Epilogue<'_, T> {
    /// Nothing.
    pub const NONE: Self = Self { bias: None, part: Part::NONE };

    pub(super) fn fits(&self, p: &ConvProblem) -> bool {
        let is_forward = p.pass == ConvPass::Forward;
        self.bias.is_none_or(|it| is_forward && it.len() == p.out_channels)
    }

    /// These rows of these planes of the forward pass are summed up.
    ///
    /// # Safety
    /// They lie in `y`, are not written again, and no other thread uses them.
    pub(super) unsafe fn block(
        &self,
        p: &ConvProblem,
        y: Shared<T>,
        planes: Range<usize>,
        rows: Range<usize>,
    ) {
        let [height, width] = p.output();
        let of_plane = |plane: usize| {
            let first = plane * height * width;
            first + rows.start * width..first + rows.end * width
        };
        if let Some(bias) = self.bias {
            for plane in planes.clone() {
                let elements = of_plane(plane);
                // SAFETY: promised by the caller.
                let elements = unsafe {
                    let first = y.get().add(elements.start);
                    std::slice::from_raw_parts_mut(first, elements.len())
                };
                let shift = bias[plane % bias.len()];
                elements.iter_mut().for_each(|it| *it += shift);
            }
        }
        if self.part.is_empty() {
            return;
        }
        // SAFETY: promised by the caller.
        unsafe {
            if rows.len() == height {
                let area = height * width;
                return self.part.done(planes.start * area..planes.end * area);
            }
            planes.for_each(|plane| self.part.done(of_plane(plane)));
        }
    }

    /// All sums are there.
    pub(super) fn all(&self, p: &ConvProblem, out: &mut [T]) {
        if self.bias.is_none() {
            // SAFETY: all is written, and lent to us alone.
            return unsafe { self.part.all_done() };
        }
        let (y, planes) = (Shared(out.as_mut_ptr()), p.batch * p.out_channels);
        p.for_each(planes, &|plane| {
            // SAFETY: the output of a forward pass has these planes, each of which is done once.
            unsafe { self.block(p, y, plane..plane + 1, 0..p.output()[0]) };
        });
    }
}

//! The layout that lets a convolution read an image without making patches.
//!
//! An image is copied once into planes with its padding, one plane per phase of the stride. In a plane the pixels that
//! one tap meets, for all outputs from the first to the last, lie in one run: output (oy, ox) is at `oy * width + ox` from the
//! offset of the tap. The run also holds a few pixels per row that belong to no output.

use super::ConvProblem;
use crate::cpu::element::Element;
use crate::cpu::simd::{Halves, Panel};

/// Sizes of the layout for one problem.
pub(super) struct Spread {
    /// Height and width of a phase.
    height: usize,
    pub(super) width: usize,
    /// Elements per channel.
    pub(super) plane: usize,
    /// Length of the run of one tap.
    pub(super) run: usize,
}

impl Spread {
    pub(super) fn new(p: &ConvProblem) -> Spread {
        let size = |i: usize| {
            let padded = p.input[i].saturating_add(p.padding[i].saturating_mul(2));
            padded.div_ceil(p.stride[i])
        };
        let [out_height, out_width] = p.output();
        let (height, width) = (size(0), size(1));
        Spread {
            height,
            width,
            plane: height
                .saturating_mul(width)
                .saturating_mul(p.stride[0])
                .saturating_mul(p.stride[1]),
            run: out_height.saturating_sub(1).saturating_mul(width).saturating_add(out_width),
        }
    }

    /// Whether planes of all channels of a group have a size that can be had.
    pub(super) fn is_possible(&self, p: &ConvProblem) -> bool {
        let channels = p.group_in().max(p.group_out());
        self.plane.max(self.run).saturating_mul(channels) <= 1 << 30
    }

    /// Where the run of tap (`r`, `s`) begins in the plane of a channel.
    pub(super) fn offset(&self, p: &ConvProblem, r: usize, s: usize) -> usize {
        let (y, x) = (r * p.dilation[0], s * p.dilation[1]);
        let phase = y % p.stride[0] * p.stride[1] + x % p.stride[1];
        phase * self.height * self.width + y / p.stride[0] * self.width + x / p.stride[1]
    }

    /// Copies channels (`x` holds whole planes of them) into the layout.
    pub(super) fn copy<T: Element>(&self, p: &ConvProblem, x: &[T], out: &mut [T]) {
        for (x, out) in x.chunks_exact(p.in_area()).zip(out.chunks_exact_mut(self.plane)) {
            if p.stride == [1, 1] {
                self.copy_whole(p, x, out);
            } else {
                self.copy_phases(p, x, out);
            }
        }
    }

    fn copy_whole<T: Element>(&self, p: &ConvProblem, x: &[T], out: &mut [T]) {
        let ([above, left], [height, width]) = (p.padding, p.input);
        let first = above * self.width + left;
        let last = first + (height - 1) * self.width;
        out[..first].fill(T::ZERO);
        let rows = Panel {
            src: x.as_ptr(),
            lane_stride: 1,
            k_stride: width as isize,
            lanes: width,
            width: self.width,
            pitch: self.width,
            k: height - 1,
            dst: out[first..last].as_mut_ptr(),
        };
        // SAFETY: all rows but the last lie in `x`. Each fills as much of `out` as a row with its padding.
        unsafe { (T::kernels(p.isa).pack)(&rows) };
        out[last..last + width].copy_from_slice(&x[(height - 1) * width..]);
        out[last + width..].fill(T::ZERO);
    }

    fn copy_phases<T: Element>(&self, p: &ConvProblem, x: &[T], out: &mut [T]) {
        out.fill(T::ZERO);
        for (iy, x) in x.chunks_exact(p.input[1]).enumerate() {
            let y = iy + p.padding[0];
            let (row, phase) = (y / p.stride[0], y % p.stride[0] * p.stride[1]);
            let start = |phase_x: usize, column: usize| {
                ((phase + phase_x) * self.height + row) * self.width + column
            };
            if p.stride[1] == 2 {
                let at = |x: usize| start(x % 2, x / 2);
                let [even, odd] = [p.padding[1], p.padding[1] + 1].map(at);
                let out = out.as_mut_ptr();
                let (even, odd) = (out.wrapping_add(even), out.wrapping_add(odd));
                let halves = Halves { src: x.as_ptr(), len: x.len(), even, odd };
                // SAFETY: a row of a phase has room for the pixels of a row that fall on it.
                unsafe { (T::kernels(p.isa).halves)(&halves) };
                continue;
            }
            for phase_x in 0..p.stride[1] {
                // The first pixel of this phase, and where it goes.
                let shift = (phase_x + p.stride[1] - p.padding[1] % p.stride[1]) % p.stride[1];
                let column = (shift + p.padding[1]) / p.stride[1];
                let out = &mut out[start(phase_x, column)..];
                for (out, &x) in out.iter_mut().zip(x.iter().skip(shift).step_by(p.stride[1])) {
                    *out = x;
                }
            }
        }
    }
}

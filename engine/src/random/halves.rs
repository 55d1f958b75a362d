//! Halves: drawn in float32, and rounded.

use half::{bf16, f16};

use super::{BLOCK, State};
use crate::cpu::interrupt;

/// A float of 16 bits.
pub(crate) trait Half: Copy + PartialOrd {
    /// The one nearest to a number.
    fn nearest(x: f32) -> Self;
}

impl Half for f16 {
    fn nearest(x: f32) -> Self {
        Self::from_f32(x)
    }
}

impl Half for bf16 {
    fn nearest(x: f32) -> Self {
        Self::from_f32(x)
    }
}

/// Numbers that are drawn before they are rounded.
const MANY: usize = 16 * BLOCK;

impl State {
    /// As [`State::fill_uniform`]. What would be rounded up to `high` is `low`, as in PyTorch.
    pub(crate) fn fill_uniform_halves<T: Half>(&mut self, out: &mut [T], low: f64, high: f64) {
        let (first, end) = (T::nearest(low as f32), T::nearest(high as f32));
        self.fill_rounded(out, |state, wide| state.fill_uniform(wide, low, high));
        for piece in interrupt::pieces(out.len()) {
            out[piece].iter_mut().filter(|it| **it >= end).for_each(|it| *it = first);
        }
    }

    /// As [`State::fill_normal`], but for what a last block that is not full overlaps nothing is drawn before, as in PyTorch.
    pub(crate) fn fill_normal_halves<T: Half>(&mut self, out: &mut [T], mean: f64, std: f64) {
        let len = out.len();
        let whole = if len < BLOCK { len } else { len / BLOCK * BLOCK };
        self.fill_rounded(&mut out[..whole], |state, wide| state.fill_normal(wide, mean, std));
        if whole < len {
            self.fill_rounded(&mut out[len - BLOCK..], |state, wide| {
                state.fill_normal(wide, mean, std);
            });
        }
    }

    fn fill_rounded<T: Half>(&mut self, out: &mut [T], draw: impl Fn(&mut Self, &mut [f32])) {
        let mut drawn = [0.0; MANY];
        for piece in interrupt::pieces(out.len()) {
            for part in out[piece].chunks_mut(MANY) {
                let wide = &mut drawn[..part.len()];
                draw(self, wide);
                part.iter_mut().zip(wide).for_each(|(slot, it)| *slot = T::nearest(*it));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seed is that of `torch.manual_seed`.
    fn drawn<T: Half + Default>(
        seed: u64,
        len: usize,
        fill: impl Fn(&mut State, &mut [T]),
    ) -> Vec<T> {
        let mut out = vec![T::default(); len];
        fill(&mut State::new(seed), &mut out);
        out
    }

    #[test]
    fn uniform_numbers_stay_below_the_end() {
        // torch.manual_seed(3); x = torch.rand(1000000, dtype=torch.float16): x.max(), (x == 0).sum()
        let out = drawn::<f16>(3, 1_000_000, |it, out| it.fill_uniform_halves(out, 0.0, 1.0));
        let largest = out.iter().fold(f16::ZERO, |a, b| a.max(*b));
        let n_zero = out.iter().filter(|it| **it == f16::ZERO).count();
        assert_eq!((largest.to_f64(), n_zero), (0.99951171875, 242));
        let out = drawn::<bf16>(3, 1_000_000, |it, out| it.fill_uniform_halves(out, 0.0, 1.0));
        let largest = out.iter().fold(bf16::ZERO, |a, b| a.max(*b));
        let n_zero = out.iter().filter(|it| **it == bf16::ZERO).count();
        assert_eq!((largest.to_f64(), n_zero), (0.99609375, 1996));
    }

    #[test]
    fn normal_numbers_are_drawn_block_by_block() {
        // torch.manual_seed(0); torch.randn(17, dtype=torch.float16)[:4], and torch.rand(1) after it.
        let mut out = [f16::ZERO; 17];
        let mut state = State::new(0);
        state.fill_normal_halves(&mut out, 0.0, 1.0);
        let mut next = [0.0_f32];
        state.fill_uniform(&mut next, 0.0, 1.0);
        let first: Vec<f64> = out[..4].iter().map(|it| it.to_f64()).collect();
        assert_eq!(first, [-1.1259765625, -1.3525390625, -1.6962890625, 0.56689453125]);
        assert_eq!(next.map(f64::from), [0.17591017484664917]);
    }
}

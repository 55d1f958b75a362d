//! Seeded random numbers: Philox4x32-10 (Salmon et al., 2011), a function of a key and a counter.
//!
//! **Invariant:** the numbers depend on the seed and on how many were drawn before, on no machine and no thread count.

use std::cell::RefCell;

use crate::cpu::interrupt;

/// A stream of random numbers: where it stands. Equal states give equal numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// What the stream was started from.
    pub seed: u64,
    /// Blocks of four numbers drawn so far.
    pub counter: u64,
}

/// The default seed.
const DEFAULT_SEED: u64 = 0;

thread_local! {
    static CURRENT: RefCell<State> = const { RefCell::new(State::new(DEFAULT_SEED)) };
}

/// Starts this thread's generator anew from `seed`.
pub fn seed(seed: u64) {
    draw_what_is_owed();
    CURRENT.set(State::new(seed));
}

/// The seed that this thread's generator started from.
pub fn initial_seed() -> u64 {
    CURRENT.with_borrow(|it| it.seed)
}

/// The state of this thread's generator.
pub fn state() -> State {
    draw_what_is_owed();
    CURRENT.with_borrow(|it| *it)
}

/// Puts this thread's generator into a state from [`state`].
pub fn set_state(state: State) {
    draw_what_is_owed();
    CURRENT.set(state);
}

/// The next four random words of this thread's generator.
pub fn next_block() -> [u32; 4] {
    with(State::block)
}

/// Draws that come before this point of the program may have been put off.
fn draw_what_is_owed() {
    // A draw that fails is reported where its value is used.
    let _ = crate::pending::flush();
}

/// Draws from this thread's generator.
pub(crate) fn with<R>(body: impl FnOnce(&mut State) -> R) -> R {
    CURRENT.with_borrow_mut(body)
}

impl State {
    /// A generator at the start of the stream of `seed`.
    pub const fn new(seed: u64) -> Self {
        Self { seed, counter: 0 }
    }

    /// The next four random words.
    pub fn block(&mut self) -> [u32; 4] {
        let at = self.counter;
        self.counter = self.counter.wrapping_add(1);
        philox([at as u32, (at >> 32) as u32, 0, 0], [self.seed as u32, (self.seed >> 32) as u32])
    }

    /// Calls `each` with `n` uniform numbers from `[0, 1)`, of 24 random bits each.
    pub fn uniform_f32(&mut self, n: usize, mut each: impl FnMut(usize, f32)) {
        for piece in interrupt::pieces(n) {
            for start in piece.step_by(4) {
                for (idx, word) in self.block().into_iter().enumerate().take(n - start) {
                    each(start + idx, (word >> 8) as f32 * (1.0 / 16_777_216.0));
                }
            }
        }
    }

    /// Calls `each` with `n` uniform numbers from `[0, 1)`, of 53 random bits each.
    pub fn uniform_f64(&mut self, n: usize, mut each: impl FnMut(usize, f64)) {
        for piece in interrupt::pieces(n) {
            for start in piece.step_by(2) {
                for (idx, word) in self.pair().into_iter().enumerate().take(n - start) {
                    each(start + idx, (word >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0));
                }
            }
        }
    }

    /// Calls `each` with `n` normal numbers: two from two uniform ones (Box and Muller).
    pub fn normal(&mut self, n: usize, mut each: impl FnMut(usize, f64)) {
        for piece in interrupt::pieces(n) {
            for start in piece.step_by(2) {
                let pair = self.normal_pair();
                for (idx, value) in pair.into_iter().enumerate().take(n - start) {
                    each(start + idx, value);
                }
            }
        }
    }

    fn normal_pair(&mut self) -> [f64; 2] {
        let [a, b] = self.pair().map(|it| (it >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0));
        let radius = (-2.0 * (1.0 - a).ln()).sqrt();
        let (sin, cos) = (std::f64::consts::TAU * b).sin_cos();
        [radius * cos, radius * sin]
    }

    /// A whole number below `bound` (which is not 0), by multiplication; the bias is below 2^-64 * bound.
    pub fn below(&mut self, bound: u64) -> u64 {
        let [word, _] = self.pair();
        ((u128::from(word) * u128::from(bound)) >> 64) as u64
    }

    fn pair(&mut self) -> [u64; 2] {
        let [a, b, c, d] = self.block();
        [u64::from(a) | u64::from(b) << 32, u64::from(c) | u64::from(d) << 32]
    }
}

fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let a = u64::from(counter[0]) * 0xD251_1F53;
        let b = u64::from(counter[2]) * 0xCD9E_8D57;
        counter = [
            (b >> 32) as u32 ^ counter[1] ^ key[0],
            b as u32,
            (a >> 32) as u32 ^ counter[3] ^ key[1],
            a as u32,
        ];
        key = [key[0].wrapping_add(0x9E37_79B9), key[1].wrapping_add(0xBB67_AE85)];
    }
    counter
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known answers of the Random123 library (kat_vectors, philox4x32 10).
    #[test]
    fn gives_the_published_answers() {
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(
            philox([u32::MAX; 4], [u32::MAX; 2]),
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
        );
        assert_eq!(
            philox(
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0]
            ),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn a_restored_state_repeats() {
        let mut generator = State::new(7);
        generator.block();
        let mut restored = generator;
        assert_eq!(restored.block(), generator.block());
    }
}

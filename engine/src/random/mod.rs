//! Random numbers: the stream of PyTorch's generator on the CPU, so that a seed gives the numbers that it gives there.
//!
//! Each [`Stream`] stands for itself. Kernels of the processor draw from [`HOST`], of which every thread has one of its own: a session is a
//! thread.
//!
//! **Invariant:** the numbers depend on the seed and on how many were drawn before, on no machine and no thread count.

mod bytes;
mod cephes;
mod halves;
mod mersenne;

use std::cell::RefCell;

use crate::cpu::number::Float;
use crate::cpu::{interrupt, wide};
use crate::cuda;

pub use mersenne::Mersenne;

/// Where a stream of random numbers stands. Equal states give equal numbers.
#[derive(Clone, PartialEq)]
pub struct State {
    seed: u64,
    twister: Mersenne,
    /// Normal numbers are made in pairs: the one that nobody has asked for yet.
    normal: Option<f64>,
}

/// The default seed.
const DEFAULT_SEED: u64 = 0;

/// The stream of a device: its random ops draw from it, one after the other.
pub struct Stream(RefCell<State>);

impl Stream {
    /// The stream of `seed`, at its start.
    pub const fn new(seed: u64) -> Self {
        Self(RefCell::new(State::new(seed)))
    }

    /// Starts anew from `seed`.
    pub fn seed(&self, seed: u64) {
        self.set_state(State::new(seed));
    }

    /// The seed that it started from.
    pub fn initial_seed(&self) -> u64 {
        self.0.borrow().seed
    }

    /// Where it stands.
    pub fn state(&self) -> State {
        draw_what_is_owed();
        self.0.borrow().clone()
    }

    /// Goes on from a state that [`Stream::state`] gave.
    pub fn set_state(&self, state: State) {
        self.swap_state(state);
    }

    /// Goes on from another state, and gives the one that it was in.
    pub fn swap_state(&self, state: State) -> State {
        draw_what_is_owed();
        self.0.replace(state)
    }

    /// The next 64 random bits.
    pub fn word(&self) -> u64 {
        draw_what_is_owed();
        self.draw(State::word)
    }

    /// Draws for an op whose turn it is.
    pub(crate) fn draw<R>(&self, body: impl FnOnce(&mut State) -> R) -> R {
        body(&mut self.0.borrow_mut())
    }
}

/// Draws that come before this point of the program may have been put off.
fn draw_what_is_owed() {
    // A draw that fails is reported where its value is used.
    let _ = crate::pending::flush();
}

thread_local! {
    /// The stream of the device `cpu`.
    pub static HOST: Stream = const { Stream::new(DEFAULT_SEED) };
}

/// [`Stream::seed`] of the processor's.
pub fn seed(seed: u64) {
    HOST.with(|it| it.seed(seed));
}

/// [`Stream::initial_seed`] of the processor's.
pub fn initial_seed() -> u64 {
    HOST.with(Stream::initial_seed)
}

/// [`Stream::state`] of the processor's.
pub fn state() -> State {
    HOST.with(Stream::state)
}

/// [`Stream::set_state`] of the processor's.
pub fn set_state(state: State) {
    HOST.with(|it| it.set_state(state));
}

/// [`Stream::swap_state`] of the processor's.
pub fn swap_state(state: State) -> State {
    HOST.with(|it| it.swap_state(state))
}

/// Where the random numbers of all devices stand.
#[derive(Clone, PartialEq)]
pub struct Everywhere {
    host: State,
    gpus: cuda::Streams,
}

impl Everywhere {
    /// Where they stand now.
    pub fn now() -> Self {
        Self { host: state(), gpus: cuda::streams() }
    }

    /// Has them go on from here, and gives where they stood.
    pub fn resume(self) -> Self {
        let before = Self::now();
        set_state(self.host);
        cuda::set_streams(&self.gpus);
        before
    }
}

/// [`Stream::word`] of the processor's.
pub fn word() -> u64 {
    HOST.with(Stream::word)
}

/// A float type as the generator fills it.
pub(crate) trait Drawn: Float {
    /// Words of 32 random bits that one number is made of.
    const WORDS: usize;

    /// Uniform in `[0, 1)`, of as many random bits as the type holds.
    fn uniform(words: &[u32]) -> Self;
    /// `self * factor + term`, rounded once.
    fn scaled(self, factor: Self, term: Self) -> Self;
    /// The natural logarithm, and sine and cosine, as normal numbers are made with them.
    fn log(self) -> Self;
    fn sin_cos(self) -> (Self, Self);
}

impl Drawn for f32 {
    const WORDS: usize = 1;

    #[inline(always)]
    fn uniform(words: &[u32]) -> f32 {
        (words[0] & 0xff_ffff) as f32 * (1.0 / 16_777_216.0)
    }

    #[inline(always)]
    fn scaled(self, factor: f32, term: f32) -> f32 {
        self.mul_add(factor, term)
    }

    #[inline(always)]
    fn log(self) -> f32 {
        cephes::log(self)
    }

    #[inline(always)]
    fn sin_cos(self) -> (f32, f32) {
        cephes::sin_cos(self)
    }
}

impl Drawn for f64 {
    const WORDS: usize = 2;

    #[inline(always)]
    fn uniform(words: &[u32]) -> f64 {
        uniform(u64::from(words[0]) << 32 | u64::from(words[1]))
    }

    #[inline(always)]
    fn scaled(self, factor: f64, term: f64) -> f64 {
        self.mul_add(factor, term)
    }

    #[inline(always)]
    fn log(self) -> f64 {
        self.ln()
    }

    #[inline(always)]
    fn sin_cos(self) -> (f64, f64) {
        f64::sin_cos(self)
    }
}

/// Uniform in `[0, 1)`, of 53 of the bits.
#[inline(always)]
fn uniform(word: u64) -> f64 {
    (word & ((1 << 53) - 1)) as f64 * (1.0 / 9_007_199_254_740_992.0)
}

/// Uniform numbers from `[0, 1)`, to be `factor` times as wide and to begin at `term`.
struct Spread<'a, T> {
    out: &'a mut [T],
    factor: T,
    term: T,
}

impl<T: Drawn> wide::Loop for Spread<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { out, factor, term } = self;
        out.iter_mut().for_each(|it| *it = it.scaled(factor, term));
    }
}

/// Uniform numbers in blocks, to become normal ones (Box and Muller, 1958): the first half of a block are radii and cosines, the second
/// sines.
struct Normal<'a, T> {
    out: &'a mut [T],
    mean: T,
    std: T,
}

impl<T: Drawn> wide::Loop for Normal<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { out, mean, std } = self;
        for block in out.as_chunks_mut::<BLOCK>().0 {
            let (radii, angles) = block.split_at_mut(BLOCK / 2);
            for (first, second) in radii.iter_mut().zip(angles) {
                let radius = (T::from_f64(-2.0) * (T::ONE - *first).log()).sqrt();
                let (sin, cos) = (T::from_f64(std::f64::consts::TAU) * *second).sin_cos();
                *first = (radius * cos).scaled(std, mean);
                *second = (radius * sin).scaled(std, mean);
            }
        }
    }
}

/// Normal numbers are made in blocks of this length, of as many uniform ones.
const BLOCK: usize = 16;

impl State {
    /// A generator at the start of the stream of `seed`.
    pub const fn new(seed: u64) -> Self {
        Self { seed, twister: Mersenne::from_word(seed as u32), normal: None }
    }

    /// What the stream was started from.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// 64 random bits.
    pub fn word(&mut self) -> u64 {
        let high = u64::from(self.twister.word());
        high << 32 | u64::from(self.twister.word())
    }

    /// Uniform in `[0, 1)`, of 53 random bits.
    pub fn uniform(&mut self) -> f64 {
        uniform(self.word())
    }

    /// Exponentially distributed with rate 1.
    pub fn exponential(&mut self) -> f64 {
        -(-self.uniform()).ln_1p()
    }

    /// A whole number below `bound` (which is not 0); 32 bits are drawn for a small bound.
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound >= 1 << 28 { self.word() % bound } else { u64::from(self.twister.word()) % bound }
    }

    /// Fills `out` with uniform numbers from `[low, high)`.
    pub(crate) fn fill_uniform<T: Drawn>(&mut self, out: &mut [T], low: f64, high: f64) {
        let (low, high) = (T::from_f64(low), T::from_f64(high));
        for piece in interrupt::pieces(out.len()) {
            let piece = &mut out[piece];
            self.fill_unit(piece);
            wide::run(Spread { out: piece, factor: high - low, term: low });
        }
    }

    /// Calls `body` with each element of `out`, its place and a uniform number from `[0, 1)`, in turn.
    pub(crate) fn with_unit<T: Drawn, R>(
        &mut self,
        out: &mut [R],
        mut body: impl FnMut(&mut R, usize, T),
    ) {
        let mut drawn = [T::ZERO; 256];
        for piece in interrupt::pieces(out.len()) {
            let mut at = piece.start;
            for part in out[piece].chunks_mut(drawn.len()) {
                self.fill_unit(&mut drawn[..part.len()]);
                for (slot, &it) in part.iter_mut().zip(&drawn) {
                    body(slot, at, it);
                    at += 1;
                }
            }
        }
    }

    /// Fills `out` with uniform numbers from `[0, 1)`.
    fn fill_unit<T: Drawn>(&mut self, out: &mut [T]) {
        let mut words = [0; 512];
        for part in out.chunks_mut(words.len() / T::WORDS) {
            let words = &mut words[..part.len() * T::WORDS];
            self.twister.fill(words);
            let numbers = words.chunks_exact(T::WORDS).map(T::uniform);
            part.iter_mut().zip(numbers).for_each(|(slot, it)| *slot = it);
        }
    }

    /// Fills `out` with normal numbers. As in PyTorch, few are made in double precision, pair by pair, and many in blocks; where the last
    /// block is not full it ends with `out`, and overlaps the one before.
    pub(crate) fn fill_normal<T: Drawn>(&mut self, out: &mut [T], mean: f64, std: f64) {
        if out.len() < BLOCK {
            return out.fill_with(|| T::from_f64(self.normal() * std + mean));
        }
        let (mean, std) = (T::from_f64(mean), T::from_f64(std));
        let len = out.len();
        for piece in interrupt::pieces(len / BLOCK * BLOCK) {
            let out = &mut out[piece];
            self.fill_unit(out);
            wide::run(Normal { out, mean, std });
        }
        if !len.is_multiple_of(BLOCK) {
            let mut unused = [T::ZERO; BLOCK];
            self.fill_unit(&mut unused[..len % BLOCK]);
            let out = &mut out[len - BLOCK..];
            self.fill_unit(out);
            wide::run(Normal { out, mean, std });
        }
    }

    /// One normal number (Box and Muller, 1958); the other of its pair is kept for the next call.
    pub fn normal(&mut self) -> f64 {
        if let Some(kept) = self.normal.take() {
            return kept;
        }
        let (angle, drawn) = (self.uniform(), self.uniform());
        let radius = (-2.0 * (-drawn).ln_1p()).sqrt();
        let (sin, cos) = (std::f64::consts::TAU * angle).sin_cos();
        self.normal = Some(radius * sin);
        radius * cos
    }

    /// The whole numbers below `n` in some order (Fisher and Yates, 1938).
    pub(crate) fn permutation(&mut self, n: usize) -> Vec<i64> {
        let mut order: Vec<i64> = (0..n as i64).collect();
        let is_long = n >= u32::MAX as usize / 20;
        for at in interrupt::pieces(n.saturating_sub(1)).flatten() {
            let word = if is_long { self.word() } else { u64::from(self.twister.word()) };
            order.swap(at, at + (word % (n - at) as u64) as usize);
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restored_state_repeats() {
        let mut generator = State::new(7);
        generator.normal();
        let mut restored = generator.clone();
        assert_eq!([0; 3].map(|_| restored.normal()), [0; 3].map(|_| generator.normal()));
        assert!(restored == generator && restored != State::new(7));
    }

    #[test]
    fn streams_stand_apart() {
        let (one, other) = (Stream::new(7), Stream::new(7));
        let before = state();
        let drawn = [0; 3].map(|_| one.word());
        assert_eq!((other.word(), one.initial_seed()), (drawn[0], 7));
        assert!(state() == before && one.state() != other.state());
        one.seed(8);
        let left = one.swap_state(other.state());
        assert!(left == State::new(8) && one.word() == drawn[1] && other.word() == drawn[1]);
    }

    #[test]
    fn a_stopped_fill_leaves_the_rest() {
        use std::sync::Arc;
        use std::sync::atomic::AtomicBool;
        let _watching = interrupt::watch(Arc::new(AtomicBool::new(true)));
        let mut out = [2.0_f32; 64];
        State::new(1).fill_uniform(&mut out, 0.0, 1.0);
        assert!(out.iter().all(|it| *it == 2.0) && interrupt::take());
    }
}

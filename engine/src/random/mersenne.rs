//! The Mersenne Twister (MT19937; Matsumoto and Nishimura, 1998), seeded and read as PyTorch and as CPython do.

/// Words of the state.
pub(super) const N: usize = 624;
const M: usize = 397;

/// The generator's state.
#[derive(Clone, PartialEq, Eq)]
pub struct Mersenne {
    state: [u32; N],
    at: usize,
}

impl Mersenne {
    /// A generator seeded with one word, as PyTorch does.
    pub const fn from_word(seed: u32) -> Mersenne {
        let mut state = [0; N];
        state[0] = seed;
        let mut i = 1;
        while i < N {
            let before: u32 = state[i - 1];
            state[i] = (before ^ before >> 30).wrapping_mul(1_812_433_253).wrapping_add(i as u32);
            i += 1;
        }
        Mersenne { state, at: N }
    }

    /// A generator seeded with a key of 32-bit words, lowest first.
    pub fn from_key(key: &[u32]) -> Mersenne {
        let mut it = Mersenne::from_word(19_650_218);
        let key = if key.is_empty() { &[0][..] } else { key };
        let (mut i, mut j) = (1, 0);
        for _ in 0..N.max(key.len()) {
            let before = it.state[i - 1];
            it.state[i] = (it.state[i] ^ (before ^ before >> 30).wrapping_mul(1_664_525))
                .wrapping_add(key[j])
                .wrapping_add(j as u32);
            i = it.next_index(i);
            j = (j + 1) % key.len();
        }
        for _ in 0..N - 1 {
            let before = it.state[i - 1];
            it.state[i] = (it.state[i] ^ (before ^ before >> 30).wrapping_mul(1_566_083_941))
                .wrapping_sub(i as u32);
            i = it.next_index(i);
        }
        it.state[0] = 0x8000_0000;
        it
    }

    /// A generator seeded with an integer, of which the sign does not matter.
    pub fn from_int(seed: u64) -> Mersenne {
        let words = [seed as u32, (seed >> 32) as u32];
        Mersenne::from_key(if words[1] == 0 { &words[..1] } else { &words })
    }

    fn next_index(&mut self, i: usize) -> usize {
        if i + 1 < N {
            return i + 1;
        }
        self.state[0] = self.state[N - 1];
        1
    }

    /// 32 random bits.
    pub fn word(&mut self) -> u32 {
        if self.at >= N {
            self.refill();
        }
        let word = tempered(self.state[self.at]);
        self.at += 1;
        word
    }

    /// The next words, each as [`Mersenne::word`] gives it.
    pub(super) fn fill(&mut self, mut out: &mut [u32]) {
        while !out.is_empty() {
            if self.at >= N {
                self.refill();
            }
            let (part, rest) = out.split_at_mut(out.len().min(N - self.at));
            let state = &self.state[self.at..];
            part.iter_mut().zip(state).for_each(|(word, state)| *word = tempered(*state));
            self.at += part.len();
            out = rest;
        }
    }

    /// The next `N` words of the state. In two parts, so that no place is counted modulo `N`.
    fn refill(&mut self) {
        let state = &mut self.state;
        let next = |here: u32, behind: u32, far: u32| {
            let y = here & 0x8000_0000 | behind & 0x7fff_ffff;
            far ^ y >> 1 ^ (y & 1).wrapping_neg() & 0x9908_b0df
        };
        for i in 0..N - M {
            state[i] = next(state[i], state[i + 1], state[i + M]);
        }
        for i in N - M..N - 1 {
            state[i] = next(state[i], state[i + 1], state[i + M - N]);
        }
        state[N - 1] = next(state[N - 1], state[0], state[M - 1]);
        self.at = 0;
    }

    /// A float in `[0, 1)` with 53 random bits.
    pub fn float(&mut self) -> f64 {
        let (a, b) = (self.word() >> 5, self.word() >> 6);
        (f64::from(a) * 67_108_864.0 + f64::from(b)) / 9_007_199_254_740_992.0
    }

    /// An integer with `count` random bits, at most 64.
    pub fn bits(&mut self, count: u32) -> u64 {
        if count == 0 {
            return 0;
        }
        if count <= 32 {
            return u64::from(self.word() >> (32 - count));
        }
        let low = u64::from(self.word());
        low | u64::from(self.word() >> (64 - count.min(64))) << 32
    }

    /// An integer in `[0, n)`, for `n > 0`.
    pub fn below(&mut self, n: u64) -> u64 {
        let count = 64 - n.leading_zeros();
        loop {
            let candidate = self.bits(count);
            if candidate < n {
                return candidate;
            }
        }
    }

    /// A generator that goes on at a place in these words.
    pub(super) fn at(state: [u32; N], at: usize) -> Mersenne {
        Mersenne { state, at }
    }

    /// The words of the state, and the place of the next.
    pub(super) fn words(&self) -> (&[u32; N], usize) {
        (&self.state, self.at)
    }

    /// The words of the state and the position in them, as in `random.getstate`.
    pub fn state(&self) -> Vec<u32> {
        let mut words = self.state.to_vec();
        words.push(self.at as u32);
        words
    }

    /// Restores what `state` gave; `None` if it has the wrong form.
    pub fn from_state(words: &[u32]) -> Option<Mersenne> {
        let (at, state) = words.split_last()?;
        let state: [u32; N] = state.try_into().ok()?;
        (*at as usize <= N).then_some(Mersenne { state, at: *at as usize })
    }
}

/// A word of the state as it is given out.
fn tempered(mut y: u32) -> u32 {
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c_5680;
    y ^= y << 15 & 0xefc6_0000;
    y ^ y >> 18
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_words_are_those_that_come_one_by_one() {
        let (mut one, mut many) = (Mersenne::from_int(5), Mersenne::from_int(5));
        for len in [3, 700, 0, 1, 2000] {
            let mut words = vec![0; len];
            many.fill(&mut words);
            assert!(words.iter().all(|it| *it == one.word()) && one == many);
        }
    }

    #[test]
    fn agrees_with_cpython() {
        let mut it = Mersenne::from_int(42);
        assert_eq!([it.float(), it.float()], [0.6394267984578837, 0.025010755222666936]);
        assert_eq!(Mersenne::from_int(0).float(), 0.8444218515250481);
        assert_eq!(Mersenne::from_int(1 << 40).float(), 0.1036394562812375);
        assert_eq!(Mersenne::from_int(1).bits(40), 623_347_347_957);
    }
}

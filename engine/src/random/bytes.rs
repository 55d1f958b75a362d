//! The state of a generator as the bytes of `torch.get_rng_state()`, so that one goes on where the other stood.
//!
//! Little-endian: the seed (8 bytes), words left and whether it was seeded (4 each), the next word (8), the words (8 each), three floats of
//! which the second is the normal number that is kept (8 each), whether there is one (4), and 12 bytes of padding and of a float that is unused.

use super::State;
use super::mersenne::{Mersenne, N};

const WORDS: usize = 24;
const NORMAL: usize = WORDS + 8 * N + 8;
const HAS_NORMAL: usize = NORMAL + 16;
const LEN: usize = HAS_NORMAL + 16;

impl State {
    /// The state as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (words, at) = self.twister.words();
        let mut bytes = vec![0; LEN];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        let (left, next) = (N + 1 - at, at % N);
        put(0, &self.seed.to_le_bytes());
        put(8, &(left as u32).to_le_bytes());
        put(12, &1_u32.to_le_bytes());
        put(16, &(next as u64).to_le_bytes());
        for (idx, word) in words.iter().enumerate() {
            put(WORDS + 8 * idx, &u64::from(*word).to_le_bytes());
        }
        put(NORMAL, &self.normal.unwrap_or_default().to_le_bytes());
        put(HAS_NORMAL, &u32::from(self.normal.is_some()).to_le_bytes());
        bytes
    }

    /// The state that gives these bytes; `None` if they are none.
    pub fn from_bytes(bytes: &[u8]) -> Option<State> {
        let bytes: &[u8; LEN] = bytes.try_into().ok()?;
        let eight = |at: usize| -> [u8; 8] { std::array::from_fn(|idx| bytes[at + idx]) };
        let four = |at: usize| -> [u8; 4] { std::array::from_fn(|idx| bytes[at + idx]) };
        let words = std::array::from_fn(|idx| u64::from_le_bytes(eight(WORDS + 8 * idx)) as u32);
        let left = u32::from_le_bytes(four(8)) as usize;
        if !(1..=N).contains(&left) || u64::from_le_bytes(eight(16)) > N as u64 {
            return None;
        }
        let has_normal = u32::from_le_bytes(four(HAS_NORMAL)) != 0;
        Some(State {
            seed: u64::from_le_bytes(eight(0)),
            twister: Mersenne::at(words, N + 1 - left),
            normal: has_normal.then(|| f64::from_le_bytes(eight(NORMAL))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_bring_a_state_back() {
        let mut state = State::new(u64::MAX);
        for draws in [0, 1, 622, 1, 1, 5] {
            (0..draws).for_each(|_| drop(state.below(9)));
            let mut back = State::from_bytes(&state.to_bytes()).unwrap();
            assert!(back == state && back.word() == state.word());
            assert_eq!(back.normal(), state.normal());
        }
        assert!(State::from_bytes(&[0; LEN]).is_none() && State::from_bytes(&[]).is_none());
    }
}

//! Which elements are not zero, 64 at a time: a word of bits costs one branch for what may go either way, where each element would cost one.

use std::ops::BitAnd;

use super::interrupt;

/// Elements of a word.
const WORD: usize = 64;

/// For each element of up to 64 a bit, from the lowest on: whether it has some of the bits of `kept`.
#[inline(always)]
fn word<T: Copy + Default + PartialEq + BitAnd<Output = T>>(src: &[T], kept: T) -> u64 {
    /// Brings the lowest bits of eight bytes together in the highest byte.
    const TOGETHER: u64 = 0x0102_0408_1020_4080;
    let mut truths = [0_u8; WORD];
    for (truth, it) in truths.iter_mut().zip(src) {
        *truth = u8::from(*it & kept != T::default());
    }
    let (bytes, _) = truths.as_chunks::<8>();
    let bits = bytes.iter().map(|it| u64::from_le_bytes(*it).wrapping_mul(TOGETHER) >> 56);
    bits.rev().fold(0, |word, bits| word << 8 | bits)
}

/// How many elements have some of the bits of `kept`; fewer once the user has interrupted.
pub(crate) fn count<T: Copy + Default + PartialEq + BitAnd<Output = T>>(
    src: &[T],
    kept: T,
) -> usize {
    let in_piece = |piece: std::ops::Range<usize>| {
        src[piece].chunks(WORD).map(|it| word(it, kept).count_ones() as usize).sum::<usize>()
    };
    interrupt::pieces(src.len()).map(in_piece).sum()
}

/// Calls `hit(place)` for those elements in order, but for what is left when the user interrupts.
pub(crate) fn for_each<T: Copy + Default + PartialEq + BitAnd<Output = T>>(
    src: &[T],
    kept: T,
    mut hit: impl FnMut(usize),
) {
    for piece in interrupt::pieces(src.len()) {
        for (first, it) in piece.clone().step_by(WORD).zip(src[piece].chunks(WORD)) {
            let mut word = word(it, kept);
            while word != 0 {
                hit(first + word.trailing_zeros() as usize);
                word &= word - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_are_the_elements_that_are_not_zero() {
        for n in [0, 1, 63, 64, 65, 200, 70_000] {
            let src: Vec<u32> = (0..n).map(|it| it * 7919 % 5 * u32::from(it % 11 < 8)).collect();
            let want: Vec<usize> = (0..src.len()).filter(|it| src[*it] & 3 != 0).collect();
            let mut got = Vec::new();
            for_each(&src, 3, |at| got.push(at));
            assert_eq!(got, want);
            assert_eq!(count(&src, 3), want.len());
        }
    }
}

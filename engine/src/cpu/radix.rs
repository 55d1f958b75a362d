//! Sorting of keys digit by digit, from the lowest: each pass puts numbers behind each other by one byte of their keys, in the order in
//! which the pass before has left them. Bytes that all keys share need no pass.
//!
//! Places are sorted by nothing: they stand in order before, and no pass changes the order of equal keys.

use super::interrupt;
use super::order::Ranked;
use super::pool::{self, Shared};

/// Values of a digit.
const VALUES: usize = 256;
/// Elements for each pass from which on it is quicker than comparing.
const WORTH: usize = 64;
/// Elements at least of a run that a thread sorts on its own; runs are merged.
const RUN: usize = 1 << 15;

/// Sorts by key, then by place; places are in order before.
pub(super) fn sort<R: Ranked>(line: &mut Vec<R>) {
    let len = line.len();
    let run = len.div_ceil(pool::threads().max(1)).max(RUN);
    if len <= run {
        return sort_run(line);
    }
    let slots = Shared(line.as_mut_ptr());
    pool::for_each_chunk(len.div_ceil(run), &|chunk| {
        // SAFETY: each run is sorted by one chunk.
        sort_run(unsafe { slots.part(chunk * run..((chunk + 1) * run).min(len)) });
    });
    let mut spare = vec![R::default(); len];
    let mut width = run;
    while width < len {
        let slots = Shared(spare.as_mut_ptr());
        let from = &*line;
        pool::for_each_chunk(len.div_ceil(2 * width), &|chunk| {
            let start = chunk * 2 * width;
            let (middle, end) = ((start + width).min(len), (start + 2 * width).min(len));
            // SAFETY: each pair of runs is merged by one chunk.
            merge(&from[start..middle], &from[middle..end], unsafe { slots.part(start..end) });
        });
        std::mem::swap(line, &mut spare);
        width *= 2;
    }
}

/// Sorts on this thread.
fn sort_run<R: Ranked>(run: &mut [R]) {
    let Some(first) = run.first().map(|it| it.key()) else { return };
    let differs = run.iter().fold(0, |bits, it| bits | (it.key() ^ first));
    let differs_in = |byte: &usize| (differs >> (8 * byte)) as u8 != 0;
    let n_passes = (0..R::KEY_BYTES).filter(differs_in).count();
    if run.len() < WORTH * n_passes {
        return run.sort_unstable();
    }
    let mut spare = vec![R::default(); run.len()];
    let (mut from, mut to) = (&mut *run, &mut spare[..]);
    for byte in (0..R::KEY_BYTES).filter(differs_in) {
        pass(from, to, 8 * byte);
        std::mem::swap(&mut from, &mut to);
    }
    if n_passes % 2 == 1 {
        run.copy_from_slice(&spare);
    }
}

/// Copies what is in `from`, in the order of the byte of keys that begins at a bit.
fn pass<R: Ranked>(from: &[R], to: &mut [R], bit: usize) {
    let digit = |it: &R| usize::from((it.key() >> bit) as u8);
    let mut next = [0_usize; VALUES];
    for piece in interrupt::pieces(from.len()) {
        from[piece].iter().for_each(|it| next[digit(it)] += 1);
    }
    let mut start = 0;
    for slot in &mut next {
        start += std::mem::replace(slot, start);
    }
    for piece in interrupt::pieces(from.len()) {
        for it in &from[piece] {
            let slot = &mut next[digit(it)];
            to[*slot] = *it;
            *slot += 1;
        }
    }
}

fn merge<'a, R: Ranked>(mut a: &'a [R], mut b: &'a [R], out: &mut [R]) {
    for (at, slot) in out.iter_mut().enumerate() {
        if at % RUN == 0 && interrupt::ends_here() {
            return;
        }
        let from_a = match (a.first(), b.first()) {
            (Some(x), Some(y)) => x <= y,
            (first, _) => first.is_some(),
        };
        let side = if from_a { &mut a } else { &mut b };
        if let Some((first, rest)) = side.split_first() {
            (*slot, *side) = (*first, rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sorts by both kinds of ranks, and by comparing.
    fn check(line: &[f32]) {
        let short: Vec<u64> = (0..).zip(line).map(|(at, x)| Ranked::new(*x, at, false)).collect();
        let long: Vec<(u64, u64)> =
            (0..).zip(line).map(|(at, x)| Ranked::new(*x, at, false)).collect();
        let (mut sorted, mut want) = (short.clone(), short);
        want.sort_unstable();
        sort(&mut sorted);
        assert!(sorted == want);
        let (mut sorted, mut want) = (long.clone(), long);
        want.sort_unstable();
        sort(&mut sorted);
        assert!(sorted == want);
    }

    #[test]
    fn sorts_as_comparing_does() {
        for n in [0, 1, 2, 100, 300, 1000, 5000, 200_000] {
            let mixed: Vec<f32> =
                (0..n).map(|it| ((it * 7919 % 10_007) as f32 - 5000.0).sin()).collect();
            check(&mixed);
            let few: Vec<f32> = (0..n).map(|it| (it % 3) as f32).collect();
            check(&few);
            let odd = [f32::NAN, -0.0, 0.0, f32::INFINITY, f32::NEG_INFINITY, -f32::NAN];
            check(&(0..n).map(|it| odd[it * 7 % 6]).collect::<Vec<_>>());
        }
    }
}

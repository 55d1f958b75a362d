//! Sorting by keys: numbers whose order as unsigned integers is the order of the elements they stand for.
//!
//! NaN is the largest, and -0.0 equals 0.0. Equal elements keep their order, whatever the number of threads.

use super::interrupt;
use super::number::Num;
use super::pool::{self, Shared};

/// The key of an element.
pub fn key<T: Num>(x: T) -> u64 {
    const SIGN: u64 = 1 << 63;
    if T::IS_FLOAT {
        let x = x.to_f64();
        if x.is_nan() {
            return u64::MAX;
        }
        // -0.0 becomes 0.0. All bits turn of what is below 0, else the sign alone; without a branch, which would go either way.
        let bits = (x + 0.0).to_bits();
        return bits ^ ((bits as i64 >> 63) as u64 | SIGN);
    }
    x.to_i64() as u64 ^ SIGN
}

/// A key, and where its element stands.
pub type Ranked = (u64, u64);

/// The keys of a line with their places; turned around for a descending order.
pub fn ranked<T: Num>(line: impl ExactSizeIterator<Item = T>, descending: bool) -> Vec<Ranked> {
    let turn = if descending { u64::MAX } else { 0 };
    let mut res = Vec::with_capacity(line.len());
    let mut ranked = line.zip(0..).map(|(x, at)| (key(x) ^ turn, at));
    for piece in interrupt::pieces(res.capacity()) {
        res.extend(ranked.by_ref().take(piece.len()));
    }
    res
}

/// Which lines of a row-major block `[outer, n, inner]` are sorted, and how.
#[derive(Clone, Copy)]
pub struct Lines {
    pub n: usize,
    pub inner: usize,
    /// How many of the first elements are wanted.
    pub k: usize,
    pub descending: bool,
}

impl Lines {
    /// Where the first `k` elements of each sorted line come from, as a block `[outer, k, inner]`.
    pub fn places<T: Num>(self, x: &[T], places: &mut [i64]) {
        let Self { n, inner, k, descending } = self;
        if n * inner == 0 || k == 0 {
            return;
        }
        assert!(k <= n && places.len() >= x.len() / n * k, "fewer places than are found");
        let slots = Shared(places.as_mut_ptr());
        pool::for_each_range(x.len() / n, n, &|lines| {
            for line in lines {
                let (block, column) = (line / inner, line % inner);
                let start = block * n * inner + column;
                let elements = (0..n).map(|at| x[start + at * inner]);
                let line = match k {
                    _ if k <= FEW && k < n => few_first(elements, k, descending),
                    _ => {
                        let mut line = ranked(elements, descending);
                        if k < n {
                            first(&mut line, k)
                        } else {
                            sort(&mut line)
                        }
                        line
                    }
                };
                for at in interrupt::pieces(line.len()).flatten() {
                    let to = (block * k + at) * inner + column;
                    // SAFETY: each line is given once, and there are `k` places for each.
                    unsafe { slots.get().add(to).write(line[at].1 as i64) };
                }
            }
        });
    }

    /// The elements that [`Lines::places`] names.
    pub fn pick<T: Copy>(self, x: &[T], places: &[i64], out: &mut [T]) {
        let Self { n, inner, k, .. } = self;
        for at in interrupt::pieces(out.len()).flatten() {
            out[at] = x[(at / (k * inner) * n + places[at] as usize) * inner + at % inner];
        }
    }
}

/// Runs of this length are sorted on their own, then merged.
const RUN: usize = 1 << 14;

/// Sorts by key, then by place.
pub fn sort(line: &mut Vec<Ranked>) {
    if line.len() <= RUN {
        return line.sort_unstable();
    }
    let len = line.len();
    let slots = Shared(line.as_mut_ptr());
    pool::for_each_chunk(len.div_ceil(RUN), &|chunk| {
        // SAFETY: each run is sorted by one chunk.
        unsafe { slots.part(chunk * RUN..((chunk + 1) * RUN).min(len)) }.sort_unstable();
    });
    let mut spare = vec![(0, 0); len];
    let mut width = RUN;
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

fn merge<'a>(mut a: &'a [Ranked], mut b: &'a [Ranked], out: &mut [Ranked]) {
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

/// Sorts the first `k` by key, then by place; what follows them is dropped.
pub fn first(line: &mut Vec<Ranked>, k: usize) {
    if k > 0 && k < line.len() {
        line.select_nth_unstable(k - 1);
    }
    line.truncate(k);
    line.sort_unstable();
}

/// Up to so many first elements are kept in order while a line is walked.
const FEW: usize = 32;

/// As [`ranked`] and [`first`] of few: most elements are behind the last of those that were found, and nothing else is asked of them.
fn few_first<T: Num>(
    line: impl ExactSizeIterator<Item = T>,
    k: usize,
    descending: bool,
) -> Vec<Ranked> {
    let turn = if descending { u64::MAX } else { 0 };
    let mut found: Vec<Ranked> = Vec::with_capacity(k + 1);
    let mut worst = u64::MAX;
    let mut elements = line;
    for piece in interrupt::pieces(elements.len()) {
        for at in piece {
            let Some(x) = elements.next() else { break };
            let (key, at) = (key(x) ^ turn, at as u64);
            // The first `k` come in whatever they are.
            if key >= worst && found.len() == k {
                continue;
            }
            let place = found.partition_point(|it| it.0 <= key);
            found.insert(place, (key, at));
            found.truncate(k);
            worst = found[found.len() - 1].0;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_are_the_first_of_all() {
        let lines: [Vec<f64>; 4] = [
            (0..500).map(|it| f64::from(it * 7919 % 101)).collect(),
            (0..500).map(f64::from).collect(),
            vec![1.0; 90],
            (0..90).map(|it| if it % 7 == 0 { f64::NAN } else { -f64::from(it % 5) }).collect(),
        ];
        for line in &lines {
            for (k, descending) in [(1, false), (7, true), (32, false), (32, true)] {
                let mut want = ranked(line.iter().copied(), descending);
                first(&mut want, k);
                assert_eq!(few_first(line.iter().copied(), k, descending), want);
            }
        }
    }

    #[test]
    fn keys_keep_the_order_of_floats() {
        let ordered =
            [f64::NEG_INFINITY, -1.5, -f64::MIN_POSITIVE, 0.0, 1e-300, 2.0, f64::INFINITY];
        assert!(ordered.windows(2).all(|it| key(it[0]) < key(it[1])));
        assert_eq!(key(0.0_f32), key(-0.0_f32));
        assert!(key(f32::NAN) > key(f32::INFINITY) && key(f32::NAN) == key(-f32::NAN));
        assert!(
            key(-3_i32) < key(-2_i32) && key(i64::MIN) < key(i64::MAX) && key(0_u8) < key(255_u8)
        );
    }

    #[test]
    fn long_lines_are_sorted_and_stable() {
        let line: Vec<i64> = (0..100_000_i64).map(|it| it * 7919 % 1013).collect();
        let mut want: Vec<usize> = (0..line.len()).collect();
        want.sort_by_key(|&at| line[at]);
        let mut got = ranked(line.iter().copied(), false);
        sort(&mut got);
        assert!(got.iter().zip(&want).all(|(it, &at)| it.1 as usize == at));
    }
}

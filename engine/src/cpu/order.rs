//! Sorting by keys: numbers whose order as unsigned integers is the order of the elements they stand for.
//!
//! NaN is the largest, and -0.0 equals 0.0. Equal elements keep their order, whatever the number of threads.

use super::number::Num;
use super::pool::{self, Shared};
use super::{interrupt, radix, wide};

/// The key of an element.
#[inline]
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

/// The key of an element of up to 4 bytes, in as many.
#[inline]
fn short_key<T: Num>(x: T) -> u32 {
    const SIGN: u32 = 1 << 31;
    if T::IS_FLOAT {
        let x = x.to_f64() as f32;
        let bits = (x + 0.0).to_bits();
        let key = bits ^ ((bits as i32 >> 31) as u32 | SIGN);
        return if x.is_nan() { u32::MAX } else { key };
    }
    x.to_i64() as u32 ^ SIGN
}

/// A key, and where its element stands: in the order of keys, then of places.
pub trait Ranked: Copy + Ord + Default + Send + Sync {
    /// Bytes of a key.
    const KEY_BYTES: usize;

    /// The element at a place; with `turned`, in the order from the last key to the first.
    fn new<T: Num>(x: T, place: usize, turned: bool) -> Self;
    fn key(self) -> u64;
    fn place(self) -> usize;
}

/// Both in one number: places below 2^32 of elements of up to 4 bytes.
impl Ranked for u64 {
    const KEY_BYTES: usize = 4;

    #[inline]
    fn new<T: Num>(x: T, place: usize, turned: bool) -> Self {
        let turn = if turned { u32::MAX } else { 0 };
        Self::from(short_key(x) ^ turn) << 32 | place as Self
    }

    fn key(self) -> u64 {
        self >> 32
    }

    fn place(self) -> usize {
        self as u32 as usize
    }
}

impl Ranked for (u64, u64) {
    const KEY_BYTES: usize = 8;

    #[inline]
    fn new<T: Num>(x: T, place: usize, turned: bool) -> Self {
        (key(x) ^ if turned { u64::MAX } else { 0 }, place as u64)
    }

    fn key(self) -> u64 {
        self.0
    }

    fn place(self) -> usize {
        self.1 as usize
    }
}

/// Whether elements of this type, so many, fit into one number with their places.
fn is_short<T>(n: usize) -> bool {
    size_of::<T>() <= 4 && u32::try_from(n).is_ok()
}

/// The keys of a line with their places; turned around for a descending order.
fn ranked<T: Num, R: Ranked>(line: &[T], descending: bool) -> Vec<R> {
    let mut res = Vec::with_capacity(line.len());
    for piece in interrupt::pieces(line.len()) {
        let (line, first) = (&line[piece.clone()], piece.start);
        wide::run(Ranking { line, first, descending, res: &mut res });
    }
    res
}

/// Adds the keys of elements that begin at a place.
struct Ranking<'a, T, R> {
    line: &'a [T],
    first: usize,
    descending: bool,
    res: &'a mut Vec<R>,
}

impl<T: Num, R: Ranked> wide::Loop for Ranking<'_, T, R> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { line, first, descending, res } = self;
        let places = first..first + line.len();
        res.extend(line.iter().zip(places).map(|(&x, at)| R::new(x, at, descending)));
    }
}

/// Calls `each(number in the order, place)` for the first `k` elements of a line.
pub fn for_each_first<T: Num>(
    line: &[T],
    k: usize,
    descending: bool,
    mut each: impl FnMut(usize, usize),
) {
    fn found<T: Num, R: Ranked>(line: &[T], k: usize, descending: bool) -> Vec<R> {
        if (1..=FEW).contains(&k) && k < line.len() {
            return few_first(line, k, descending);
        }
        let mut line = ranked(line, descending);
        first(&mut line, k);
        line
    }
    if is_short::<T>(line.len()) {
        let line = found::<T, u64>(line, k, descending);
        (0..).zip(line).for_each(|(at, it)| each(at, it.place()));
    } else {
        let line = found::<T, (u64, u64)>(line, k, descending);
        (0..).zip(line).for_each(|(at, it)| each(at, it.place()));
    }
}

/// Calls `each(place, whether it is the first of its value)` for all elements in ascending order. No NaN equals another.
pub fn for_each_value<T: Num>(line: &[T], mut each: impl FnMut(usize, bool)) {
    fn walk<T: Num, R: Ranked>(line: &[T], each: &mut impl FnMut(usize, bool)) {
        let mut line: Vec<R> = ranked(line, false);
        radix::sort(&mut line);
        let nan = u64::MAX >> (64 - 8 * R::KEY_BYTES);
        let mut last = None;
        for it in line {
            let is_nan = T::IS_FLOAT && it.key() == nan;
            each(it.place(), is_nan || last != Some(it.key()));
            last = Some(it.key());
        }
    }
    if is_short::<T>(line.len()) {
        walk::<T, u64>(line, &mut each);
    } else {
        walk::<T, (u64, u64)>(line, &mut each);
    }
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
            let mut apart = Vec::new();
            for line in lines {
                let (block, column) = (line / inner, line % inner);
                let start = block * n * inner + column;
                let elements = match inner {
                    1 => &x[start..start + n],
                    _ => {
                        apart.clear();
                        apart.extend((0..n).map(|at| x[start + at * inner]));
                        &apart[..]
                    }
                };
                for_each_first(elements, k, descending, |at, place| {
                    let to = (block * k + at) * inner + column;
                    // SAFETY: each line is given once, and there are `k` places for each.
                    unsafe { slots.get().add(to).write(place as i64) };
                });
            }
        });
    }

    /// The elements that [`Lines::places`] names.
    pub fn pick<T: Copy>(self, x: &[T], places: &[i64], out: &mut [T]) {
        let Self { n, inner, k, .. } = self;
        if n * inner * k == 0 {
            return;
        }
        let block = k * inner;
        let blocks = out.chunks_exact_mut(block).zip(places.chunks_exact(block));
        for ((out, places), x) in blocks.zip(x.chunks_exact(n * inner)) {
            // Elements of a row come from as many lines.
            for rows in interrupt::pieces_of(k, inner) {
                let piece = rows.start * inner..rows.end * inner;
                let (out, places) = (&mut out[piece.clone()], &places[piece]);
                if inner == 1 {
                    out.iter_mut().zip(places).for_each(|(slot, &at)| *slot = x[at as usize]);
                    continue;
                }
                for (out, places) in out.chunks_exact_mut(inner).zip(places.chunks_exact(inner)) {
                    let columns = out.iter_mut().zip(places).enumerate();
                    columns.for_each(|(at, (slot, row))| *slot = x[*row as usize * inner + at]);
                }
            }
        }
    }
}

/// Sorts the first `k` by key, then by place; what follows them is dropped.
fn first<R: Ranked>(line: &mut Vec<R>, k: usize) {
    if k.saturating_mul(SHARE) >= line.len() {
        radix::sort(line);
        return line.truncate(k);
    }
    if k > 0 {
        line.select_nth_unstable(k - 1);
    }
    line.truncate(k);
    line.sort_unstable();
}

/// Where fewer than one of so many elements are wanted, they are selected before they are sorted.
const SHARE: usize = 4;

/// Up to so many first elements are looked for among those that the first of each block leaves.
const FEW: usize = 32;
/// Elements of a block, at most.
const BLOCK: usize = 64;

/// As [`ranked`] and [`first`] of few. As many blocks as elements are wanted begin with one that is not behind `limit`, so nothing behind that
/// is wanted.
fn few_first<T: Num, R: Ranked>(line: &[T], k: usize, descending: bool) -> Vec<R> {
    let line: Vec<R> = ranked(line, descending);
    let block = (line.len() / (4 * k)).clamp(1, BLOCK);
    let firsts = wide::run(Firsts { line: &line, block });
    if k >= firsts.len() {
        return of_few(line, k);
    }
    let limit = *firsts.clone().select_nth_unstable(k - 1).1;
    let blocks = line.chunks(block).zip(&firsts).filter(|it| *it.1 <= limit);
    let wanted = blocks.flat_map(|it| it.0).filter(|it| **it <= limit);
    of_few(wanted.copied().collect(), k)
}

/// [`first`] of what is not much longer.
fn of_few<R: Ranked>(mut line: Vec<R>, k: usize) -> Vec<R> {
    first(&mut line, k);
    line
}

/// The first of each block.
struct Firsts<'a, R> {
    line: &'a [R],
    block: usize,
}

impl<R: Ranked> wide::Loop for Firsts<'_, R> {
    type Output = Vec<R>;

    #[inline(always)]
    fn run(self) -> Vec<R> {
        let of_block = |it: &[R]| it.iter().copied().fold(it[0], R::min);
        self.line.chunks(self.block).map(of_block).collect()
    }
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
                let mut want: Vec<(u64, u64)> = ranked(line, descending);
                first(&mut want, k);
                assert_eq!(few_first::<_, (u64, u64)>(line, k, descending), want);
                let places: Vec<_> = want.iter().map(|it| it.place()).collect();
                let short: Vec<f32> = line.iter().map(|it| *it as f32).collect();
                let short: Vec<u64> = few_first(&short, k, descending);
                assert!(short.iter().map(|it| it.place()).eq(places));
            }
        }
    }

    #[test]
    fn keys_keep_the_order_of_floats() {
        let ordered =
            [f64::NEG_INFINITY, -1.5, -f64::MIN_POSITIVE, 0.0, 1e-300, 2.0, f64::INFINITY];
        assert!(ordered.windows(2).all(|it| key(it[0]) < key(it[1])));
        assert_eq!(key(0.0_f32), key(-0.0_f32));
        assert!(ordered.map(|it| short_key(it as f32)).is_sorted());
        assert_eq!(short_key(0.0_f32), short_key(-0.0_f32));
        assert!(short_key(f32::NAN) > short_key(f32::INFINITY));
        assert!(short_key(-3_i32) < short_key(-2_i32) && short_key(0_u8) < short_key(255_u8));
        assert!(key(f32::NAN) > key(f32::INFINITY) && key(f32::NAN) == key(-f32::NAN));
        assert!(
            key(-3_i32) < key(-2_i32) && key(i64::MIN) < key(i64::MAX) && key(0_u8) < key(255_u8)
        );
    }
}

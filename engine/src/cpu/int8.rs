//! Products of matrices of 8-bit whole numbers, whose sums are 32-bit ones and wrap.
//!
//! Both operands are widened to 16 bits and lie as pairs of steps then: one instruction multiplies two and adds them up. Each thread has a
//! block of the result, strip by strip of two vectors.

use std::ops::Range;

use super::alloc::{AllocError, Bytes};
use super::features::Isa;
use super::pool::{self, Shared};
use super::{interrupt, typed};

/// A matrix as it lies.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a> {
    pub elements: &'a [i8],
    /// Where the first element is.
    pub start: usize,
    /// Elements from one row to the next, and from one column to the next.
    pub steps: [isize; 2],
}

impl Matrix<'_> {
    fn at(&self, row: usize, column: usize) -> i16 {
        let [down, right] = self.steps;
        let at = self.start as isize + row as isize * down + column as isize * right;
        self.elements[at as usize].into()
    }
}

/// Rows of a tile of the result.
const ROWS: usize = 4;
/// The most columns of a strip.
const MOST: usize = 32;
/// Multiplications that are worth a second thread.
const PARALLEL: usize = 1 << 18;
/// Most multiplications of one chunk, which ends soon enough for who wants to stop it.
const CHUNK: usize = 200_000_000;

/// `out[m, n] = a[m, k] @ b[k, n]`, in row-major order; `sizes` are m, n and k.
///
/// # Panics
/// If the result or an operand has not that many elements.
pub fn multiply(
    isa: Isa,
    sizes: [usize; 3],
    [a, b]: [&Matrix<'_>; 2],
    out: &mut [i32],
) -> Result<(), AllocError> {
    let [m, n, k] = sizes;
    assert_eq!(out.len(), m * n, "elements of the result");
    if k == 0 || out.is_empty() {
        out.fill(0);
        return Ok(());
    }
    let (pairs, width) = (k.div_ceil(2), 2 * lanes(isa));
    let numbers = |count: usize| count.saturating_mul(2 * pairs).saturating_mul(size_of::<i16>());
    let mut left = Bytes::uninit(numbers(m))?;
    let mut right = Bytes::uninit(numbers(n.next_multiple_of(width)))?;
    pack_rows(a, [m, k], typed::slice_mut(&mut left));
    pack_strips(b, [k, n], width, typed::slice_mut(&mut right));
    let product =
        Product { isa, m, n, pairs, left: typed::slice(&left), right: typed::slice(&right) };
    product.run(out);
    Ok(())
}

/// Row after row, with a 0 behind an odd number of steps.
fn pack_rows(a: &Matrix<'_>, [m, k]: [usize; 2], to: &mut [i16]) {
    let len = k.next_multiple_of(2);
    let to = Shared(to.as_mut_ptr());
    pool::for_each_range(m, k, &|rows: Range<usize>| {
        for row in rows {
            // SAFETY: there are `m` such rows, and each is given once.
            let to = unsafe { to.part(row * len..(row + 1) * len) };
            to.iter_mut().take(k).enumerate().for_each(|(step, to)| *to = a.at(row, step));
            to[k..].fill(0);
        }
    });
}

/// Strips of columns: the two steps of a pair side by side, for each column. Columns and steps that are not there are 0.
fn pack_strips(b: &Matrix<'_>, [k, n]: [usize; 2], width: usize, to: &mut [i16]) {
    let len = k.next_multiple_of(2) * width;
    let to = Shared(to.as_mut_ptr());
    pool::for_each_range(n.div_ceil(width), k * width, &|strips: Range<usize>| {
        for strip in strips {
            // SAFETY: there are that many strips, and each is given once.
            let to = unsafe { to.part(strip * len..(strip + 1) * len) };
            let columns = strip * width..((strip + 1) * width).min(n);
            if columns.len() < width || k % 2 == 1 {
                to.fill(0);
            }
            // Neighbours in memory come one after the other.
            let place = |step: usize, lane: usize| step / 2 * 2 * width + 2 * lane + step % 2;
            if b.steps[0].abs() < b.steps[1].abs() {
                for (lane, column) in columns.enumerate() {
                    (0..k).for_each(|step| to[place(step, lane)] = b.at(step, column));
                }
            } else {
                for step in 0..k {
                    let columns = columns.clone().enumerate();
                    columns.for_each(|(lane, it)| to[place(step, lane)] = b.at(step, it));
                }
            }
        }
    });
}

/// Packed operands.
struct Product<'a> {
    isa: Isa,
    m: usize,
    n: usize,
    pairs: usize,
    left: &'a [i16],
    right: &'a [i16],
}

impl Product<'_> {
    fn run(&self, out: &mut [i32]) {
        let (width, out) = (2 * lanes(self.isa), Shared(out.as_mut_ptr()));
        let strips = self.n.div_ceil(width);
        let work = [self.m, self.n, 2 * self.pairs].into_iter().fold(1, usize::saturating_mul);
        let parallel = work > PARALLEL;
        let wanted = (work / CHUNK).max(if parallel { 4 * pool::threads() } else { 1 });
        // Rows are cut only as far as there are too few strips: each cut reads the strips once more.
        let across = strips.min(wanted);
        let down = (wanted / across).clamp(1, self.m.div_ceil(ROWS));
        pool::for_each_chunk_if(parallel, across * down, &|chunk| {
            let (i, j) = (chunk / across, chunk % across);
            let rows = self.m * i / down..self.m * (i + 1) / down;
            for strip in strips * j / across..strips * (j + 1) / across {
                if interrupt::ends_here() {
                    return;
                }
                self.strip(&rows, strip * width, out.get());
            }
        });
    }

    /// Computes some rows of a strip, which begins at a column.
    fn strip(&self, rows: &Range<usize>, column: usize, out: *mut i32) {
        let strip = Strip {
            pairs: self.pairs,
            rows: rows.len(),
            columns: (self.n - column).min(2 * lanes(self.isa)),
            a: self.left[rows.start * 2 * self.pairs..].as_ptr(),
            b: self.right[column * 2 * self.pairs..].as_ptr(),
            out: out.wrapping_add(rows.start * self.n + column),
            step: self.n,
        };
        // SAFETY: the CPU has the instruction set; the operands are packed for it, and nobody else writes these elements.
        unsafe {
            match self.isa {
                #[cfg(target_arch = "x86_64")]
                Isa::Avx512 => x86::with_avx512(&strip),
                #[cfg(target_arch = "x86_64")]
                Isa::Avx2 => x86::with_avx2(&strip),
                _ => products::<Portable>(&strip),
            }
        }
    }
}

/// Some rows of a strip of the result.
struct Strip {
    pairs: usize,
    rows: usize,
    columns: usize,
    /// Rows, one behind the other.
    a: *const i16,
    /// The strip.
    b: *const i16,
    out: *mut i32,
    /// Elements of the result from one row to the next.
    step: usize,
}

/// Vectors of sums of 32 bits, or of pairs of 16 bits.
///
/// Every method is `unsafe`: the CPU must have the instruction set, and addresses must be good for a vector.
trait Vector {
    type V: Copy;
    const LANES: usize;

    unsafe fn zero() -> Self::V;
    unsafe fn load(pairs: *const i16) -> Self::V;
    /// One pair in all lanes.
    unsafe fn splat(pair: *const i16) -> Self::V;
    /// Adds both products of each pair to the sum of its lane.
    unsafe fn add_products(sum: Self::V, x: Self::V, y: Self::V) -> Self::V;
    unsafe fn store(to: *mut i32, sums: Self::V);
}

/// Lanes of a vector.
fn lanes(isa: Isa) -> usize {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => x86::V16::LANES,
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => x86::V8::LANES,
        _ => Portable::LANES,
    }
}

/// # Safety
/// The CPU has the instruction set of `S`; the operands are good for the strip.
#[inline(always)]
unsafe fn products<S: Vector>(strip: &Strip) {
    let mut row = 0;
    // SAFETY: the rows lie in the strip.
    unsafe {
        while row + ROWS <= strip.rows {
            tile::<S, ROWS>(strip, row);
            row += ROWS;
        }
        while row < strip.rows {
            tile::<S, 1>(strip, row);
            row += 1;
        }
    }
}

/// # Safety
/// As [`products`], from `row` on.
#[inline(always)]
unsafe fn tile<S: Vector, const R: usize>(strip: &Strip, row: usize) {
    // SAFETY: pairs and rows lie in the operands, columns of the strip in the result.
    unsafe {
        let mut sums = [[S::zero(); 2]; R];
        for pair in 0..strip.pairs {
            let b = strip.b.add(pair * 4 * S::LANES);
            let ys = [S::load(b), S::load(b.add(2 * S::LANES))];
            for (i, sums) in sums.iter_mut().enumerate() {
                let x = S::splat(strip.a.add(2 * ((row + i) * strip.pairs + pair)));
                for (sum, y) in sums.iter_mut().zip(ys) {
                    *sum = S::add_products(*sum, x, y);
                }
            }
        }
        for (i, sums) in sums.iter().enumerate() {
            let mut line = [0; MOST];
            S::store(line.as_mut_ptr(), sums[0]);
            S::store(line.as_mut_ptr().add(S::LANES), sums[1]);
            let to = strip.out.add((row + i) * strip.step);
            std::ptr::copy_nonoverlapping(line.as_ptr(), to, strip.columns);
        }
    }
}

/// Plain Rust, vectors of 4.
struct Portable;

impl Vector for Portable {
    type V = [[i16; 2]; 4];
    const LANES: usize = 4;

    #[inline(always)]
    unsafe fn zero() -> Self::V {
        [[0; 2]; 4]
    }

    #[inline(always)]
    unsafe fn load(pairs: *const i16) -> Self::V {
        // SAFETY: the caller vouches for the address.
        unsafe { pairs.cast::<Self::V>().read() }
    }

    #[inline(always)]
    unsafe fn splat(pair: *const i16) -> Self::V {
        // SAFETY: the caller vouches for the address.
        [unsafe { pair.cast::<[i16; 2]>().read() }; 4]
    }

    #[inline(always)]
    unsafe fn add_products(sum: Self::V, x: Self::V, y: Self::V) -> Self::V {
        std::array::from_fn(|lane| {
            let product = |at: usize| i32::from(x[lane][at]) * i32::from(y[lane][at]);
            in_halves(whole(sum[lane]).wrapping_add(product(0)).wrapping_add(product(1)))
        })
    }

    #[inline(always)]
    unsafe fn store(to: *mut i32, sums: Self::V) {
        // SAFETY: the caller vouches for the address.
        unsafe { to.cast::<[i32; 4]>().write(sums.map(whole)) }
    }
}

/// The 32 bits of two times 16.
fn whole([low, high]: [i16; 2]) -> i32 {
    i32::from(high) << 16 | i32::from(low as u16)
}

fn in_halves(sum: i32) -> [i16; 2] {
    [sum as i16, (sum >> 16) as i16]
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Strip, Vector, products};

    /// # Safety
    /// As [`products`].
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn with_avx2(strip: &Strip) {
        // SAFETY: as promised by the caller.
        unsafe { products::<V8>(strip) }
    }

    /// # Safety
    /// As [`products`].
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) unsafe fn with_avx512(strip: &Strip) {
        // SAFETY: as promised by the caller.
        unsafe { products::<V16>(strip) }
    }

    macro_rules! vector {
        ($name:ident, $v:ty, $lanes:literal, $zero:ident, $load:ident, $splat:ident, $multiply:ident, $add:ident, $store:ident) => {
            pub(super) struct $name;

            impl Vector for $name {
                type V = $v;
                const LANES: usize = $lanes;

                #[inline(always)]
                unsafe fn zero() -> $v {
                    // SAFETY: the caller vouches for the instruction set.
                    unsafe { $zero() }
                }

                #[inline(always)]
                unsafe fn load(pairs: *const i16) -> $v {
                    // SAFETY: the caller vouches for the instruction set and the address.
                    unsafe { $load(pairs.cast()) }
                }

                #[inline(always)]
                unsafe fn splat(pair: *const i16) -> $v {
                    // SAFETY: as above.
                    unsafe { $splat(pair.cast::<i32>().read_unaligned()) }
                }

                #[inline(always)]
                unsafe fn add_products(sum: $v, x: $v, y: $v) -> $v {
                    // SAFETY: the caller vouches for the instruction set.
                    unsafe { $add(sum, $multiply(x, y)) }
                }

                #[inline(always)]
                unsafe fn store(to: *mut i32, sums: $v) {
                    // SAFETY: the caller vouches for the instruction set and the address.
                    unsafe { $store(to.cast(), sums) }
                }
            }
        };
    }

    vector!(
        V8,
        __m256i,
        8,
        _mm256_setzero_si256,
        _mm256_loadu_si256,
        _mm256_set1_epi32,
        _mm256_madd_epi16,
        _mm256_add_epi32,
        _mm256_storeu_si256
    );
    vector!(
        V16,
        __m512i,
        16,
        _mm512_setzero_si512,
        _mm512_loadu_si512,
        _mm512_set1_epi32,
        _mm512_madd_epi16,
        _mm512_add_epi32,
        _mm512_storeu_si512
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_draws::Draws;

    fn plain([m, n, k]: [usize; 3], [a, b]: [&Matrix<'_>; 2]) -> Vec<i32> {
        let one = |row: usize, column: usize| {
            (0..k).fold(0_i32, |sum, step| {
                let product = i32::from(a.at(row, step)) * i32::from(b.at(step, column));
                sum.wrapping_add(product)
            })
        };
        (0..m * n).map(|at| one(at / n, at % n)).collect()
    }

    fn check(sizes: [usize; 3], sides: [&Matrix<'_>; 2]) {
        for isa in Isa::available() {
            let mut out = vec![7; sizes[0] * sizes[1]];
            multiply(isa, sizes, sides, &mut out).unwrap();
            assert_eq!(out, plain(sizes, sides), "{sizes:?} {isa:?}");
        }
    }

    #[test]
    fn all_sizes_and_ways_to_lie() {
        let mut draws = Draws(5);
        for sizes in [[1, 1, 1], [4, 32, 2], [5, 33, 7], [9, 70, 31], [1, 100, 64], [64, 3, 128]] {
            let [m, n, k] = sizes;
            let mut side = |[rows, columns]: [usize; 2]| -> Vec<i8> {
                (0..rows * columns).map(|_| draws.below(256) as u8 as i8).collect()
            };
            let (a, b) = (side([m, k]), side([k, n]));
            let row_major = |elements, columns: usize| Matrix {
                elements,
                start: 0,
                steps: [columns as isize, 1],
            };
            let turned =
                |elements, rows: usize| Matrix { elements, start: 0, steps: [1, rows as isize] };
            check(sizes, [&row_major(&a, k), &row_major(&b, n)]);
            check(sizes, [&turned(&a, m), &turned(&b, k)]);
            let backwards =
                Matrix { start: k * n - 1, steps: [-(n as isize), -1], ..row_major(&b, n) };
            check(sizes, [&row_major(&a, k), &backwards]);
        }
    }

    #[test]
    fn sums_wrap() {
        let k = (1 << 17) + 1;
        let least = vec![-128; k];
        let side = |steps| Matrix { elements: &least, start: 0, steps };
        check([1, 1, k], [&side([0, 1]), &side([1, 0])]);
        let mut out = [0];
        multiply(Isa::Portable, [1, 1, k], [&side([0, 1]), &side([1, 0])], &mut out).unwrap();
        assert_eq!(out, [i32::MIN + (1 << 14)]);
    }
}

//! Matrix products: `C[m, n] (+)= A[m, k] B[k, n]`, with any strides of A and B.
//!
//! Each way to compute one is a [`GemmAlgo`] row; [`heuristic`] names the one that is expected to be fastest, and a
//! profiler may time all of [`ALL`]. Who multiplies more than once holds a [`Gemm`], which has chosen. A bias can be added while C is near,
//! and code that makes more of C runs on each panel once that is done ([`Epilogue`]).

mod batched;
mod block;
mod dots;
mod gemv;
mod naive;
mod no_copy;
mod packed;
mod ready;
#[cfg(test)]
mod tests;

pub use batched::Starts;
pub use naive::{Integer, gemm_wrapping};
pub use ready::{Gemm, Panels};

pub(crate) use block::{block, tiles};

use std::ops::Range;

use super::element::{Element, ElementKind};
use super::features::{Isa, isa};
use super::lane::Part;
use super::pool;

/// Every algorithm, by name.
pub static ALL: &[&GemmAlgo] =
    &[&dots::ALGO, &gemv::ALGO, &naive::ALGO, &no_copy::ALGO, &packed::ALGO, &packed::B_ONLY];

/// A matrix product: sizes, strides in elements, and how it may be computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GemmProblem {
    pub kind: ElementKind,
    pub m: usize,
    pub n: usize,
    pub k: usize,
    /// Row and column stride of A.
    pub rsa: usize,
    pub csa: usize,
    /// Row and column stride of B.
    pub rsb: usize,
    pub csb: usize,
    /// Row stride of C, whose rows are contiguous.
    pub rsc: usize,
    /// Adds to C instead of replacing it.
    pub accumulate: bool,
    /// Threads that may take part; 1 keeps to the calling thread.
    pub threads: usize,
    pub isa: Isa,
}

/// What happens to each element of C after the product: the biases are added, then `part` goes on with it.
#[derive(Clone, Copy)]
pub struct Epilogue<'a, T> {
    /// `n` values, one per column.
    pub col_bias: Option<&'a [T]>,
    /// `m` values, one per row.
    pub row_bias: Option<&'a [T]>,
    /// What follows on C, which begins with the part; its rows lie `rsc` elements apart.
    pub part: Part<'a>,
}

/// One way to compute a matrix product.
#[derive(Debug)]
pub struct GemmAlgo {
    pub name: &'static str,
    /// Plain loops, there for comparison.
    pub naive: bool,
    /// Same bits for the same problem on the same machine, whatever the number of threads.
    pub reproducible: bool,
    pub usable: fn(&GemmProblem) -> bool,
    /// Bytes of scratch memory.
    pub workspace: fn(&GemmProblem) -> usize,
    /// Whether it copies A, and B, into panels.
    pub packs: [bool; 2],
    pub(crate) f32: GemmRun<f32>,
    pub(crate) f64: GemmRun<f64>,
}

/// The function of a row. The operands must fit the problem.
pub type GemmRun<T> = unsafe fn(&GemmProblem, &Operands<'_, T>);

/// Addresses of the operands; null stands for no bias, and for an operand of which no panels are kept.
#[derive(Clone, Copy)]
pub struct Operands<'a, T> {
    pub(crate) a: *const T,
    pub(crate) b: *const T,
    pub(crate) c: *mut T,
    pub(crate) col_bias: *const T,
    pub(crate) row_bias: *const T,
    pub(crate) part: Part<'a>,
    /// Panels of all of A and of all of B, for algorithms that pack.
    pub(crate) kept: [*const T; 2],
}

// SAFETY: plain addresses; the kernels write disjoint parts of C.
unsafe impl<T: Send> Send for Operands<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Operands<'_, T> {}

impl<'a, T> Epilogue<'a, T> {
    /// Nothing.
    pub const NONE: Self = Epilogue { col_bias: None, row_bias: None, part: Part::NONE };

    /// What follows on C.
    pub(crate) fn part(part: Part<'a>) -> Self {
        Epilogue { part, ..Self::NONE }
    }

    /// Adds one value per column.
    pub fn bias(bias: &'a [T]) -> Self {
        Epilogue { col_bias: Some(bias), ..Self::NONE }
    }
}

impl GemmProblem {
    /// All operands contiguous, C replaced, all threads and the best instructions.
    pub fn contiguous<T: Element>(m: usize, n: usize, k: usize) -> Self {
        GemmProblem {
            kind: T::KIND,
            m,
            n,
            k,
            rsa: k,
            csa: 1,
            rsb: n,
            csb: 1,
            rsc: n,
            accumulate: false,
            threads: pool::threads(),
            isa: isa(),
        }
    }

    /// The same with the rows and columns of A exchanged in memory: A lies as `[k, m]`.
    #[must_use]
    pub fn with_a_transposed(self) -> Self {
        GemmProblem { rsa: 1, csa: self.m, ..self }
    }

    /// The same with the rows and columns of B exchanged in memory: B lies as `[n, k]`.
    #[must_use]
    pub fn with_b_transposed(self) -> Self {
        GemmProblem { rsb: 1, csb: self.k, ..self }
    }

    /// Multiplications and additions.
    pub fn flops(&self) -> usize {
        self.m.saturating_mul(self.n).saturating_mul(self.k).saturating_mul(2)
    }

    /// Whether the work is worth the cost of other threads.
    pub(crate) fn is_parallel(&self) -> bool {
        self.threads > 1 && self.flops() >= PARALLEL_FLOPS
    }

    /// # Panics
    /// If it is not about `T`, rows of C overlap, or the processor lacks the instructions.
    fn check<T: Element>(&self) {
        assert!(self.kind == T::KIND, "the problem is about another element type");
        assert!(self.isa.is_available(), "the processor lacks these instructions");
        assert!(self.m <= 1 || self.rsc >= self.n, "rows of C overlap");
    }

    fn extents(&self) -> [usize; 3] {
        let span = |rows: usize, rs: usize, cols: usize, cs: usize| {
            if rows == 0 || cols == 0 {
                return Some(0);
            }
            (rows - 1).checked_mul(rs)?.checked_add((cols - 1).checked_mul(cs)?)?.checked_add(1)
        };
        [
            span(self.m, self.rsa, self.k, self.csa).unwrap_or(usize::MAX),
            span(self.k, self.rsb, self.n, self.csb).unwrap_or(usize::MAX),
            span(self.m, self.rsc, self.n, 1).unwrap_or(usize::MAX),
        ]
    }
}

/// Work below this stays on the calling thread: waking another one costs more.
const PARALLEL_FLOPS: usize = 1_500_000;

impl<T> Operands<'_, T> {
    /// This block of C is done.
    ///
    /// # Safety
    /// It lies in C, it is not written again, and no other thread uses it.
    unsafe fn done(&self, p: &GemmProblem, rows: Range<usize>, cols: Range<usize>) {
        if self.part.is_empty() {
            return;
        }
        // SAFETY: promised by the caller; elements between the rows are in none of the ranges.
        unsafe {
            if cols.len() == p.rsc {
                return self.part.done(rows.start * p.rsc..rows.end * p.rsc);
            }
            for row in rows {
                self.part.done(row * p.rsc + cols.start..row * p.rsc + cols.end);
            }
        }
    }
}

/// Computes the product with the algorithm that [`heuristic`] names.
///
/// # Panics
/// If a slice is shorter than the problem says, rows of C overlap, or the processor lacks the instructions.
pub fn gemm<T: Element>(p: &GemmProblem, a: &[T], b: &[T], c: &mut [T], epilogue: Epilogue<'_, T>) {
    run(heuristic(p), p, a, b, c, epilogue);
}

/// Computes the product with `algo`, or with [`heuristic`] if `algo` is not usable.
///
/// # Panics
/// If a slice is shorter than the problem says, rows of C overlap, or the processor lacks the instructions.
pub fn run<T: Element>(
    algo: &'static GemmAlgo,
    p: &GemmProblem,
    a: &[T],
    b: &[T],
    c: &mut [T],
    epilogue: Epilogue<'_, T>,
) {
    let algo = if (algo.usable)(p) { algo } else { heuristic(p) };
    Choice { algo, kept: [std::ptr::null(); 2] }.run(p, a, b, c, epilogue);
}

/// An algorithm that takes the problem, and panels that are kept for it.
#[derive(Clone, Copy)]
struct Choice<T> {
    algo: &'static GemmAlgo,
    kept: [*const T; 2],
}

// SAFETY: plain addresses, which are only read.
unsafe impl<T: Send> Send for Choice<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Choice<T> {}

impl<T: Element> Choice<T> {
    fn run(&self, p: &GemmProblem, a: &[T], b: &[T], c: &mut [T], epilogue: Epilogue<'_, T>) {
        let [len_a, len_b, len_c] = p.extents();
        p.check::<T>();
        assert!(len_a <= a.len() && len_b <= b.len() && len_c <= c.len(), "operand too short");
        if p.m == 0 || p.n == 0 {
            return;
        }
        epilogue.check(p);
        // SAFETY: the slices are as long as the problem says.
        unsafe { self.run_raw(p, [a.as_ptr(), b.as_ptr()], c.as_mut_ptr(), epilogue) };
    }

    /// # Safety
    /// The operands must fit the problem, as must the panels.
    unsafe fn run_raw(
        &self,
        p: &GemmProblem,
        [a, b]: [*const T; 2],
        c: *mut T,
        Epilogue { col_bias, row_bias, part }: Epilogue<'_, T>,
    ) {
        let col_bias = col_bias.map_or(std::ptr::null(), <[T]>::as_ptr);
        let row_bias = row_bias.map_or(std::ptr::null(), <[T]>::as_ptr);
        let operands = Operands { a, b, c, col_bias, row_bias, part, kept: self.kept };
        // SAFETY: promised by the caller.
        unsafe { T::gemm_run(self.algo)(p, &operands) };
    }
}

impl<T> Epilogue<'_, T> {
    fn check(&self, p: &GemmProblem) {
        assert!(self.col_bias.is_none_or(|bias| bias.len() >= p.n), "column bias too short");
        assert!(self.row_bias.is_none_or(|bias| bias.len() >= p.m), "row bias too short");
    }
}

/// The panels of a left operand, for products with it of any number of columns.
///
/// # Safety
/// The operand fits the problem, and `panels` has as many elements.
pub(crate) unsafe fn pack_left<T: Element>(p: &GemmProblem, a: *const T, panels: *mut T) {
    // SAFETY: promised by the caller.
    unsafe { packed::pack_all(p, 0, a, panels) };
}

/// The product with the algorithm that [`heuristic`] names, which packs A no more if its panels are there.
///
/// # Safety
/// The operands must fit the problem, and the panels, where they are not null, A.
pub(crate) unsafe fn gemm_raw<T: Element>(
    p: &GemmProblem,
    (a, panels): (*const T, *const T),
    b: *const T,
    c: *mut T,
) {
    let choice = Choice { algo: heuristic(p), kept: [panels, std::ptr::null()] };
    // SAFETY: as promised by the caller.
    unsafe { choice.run_raw(p, [a, b], c, Epilogue::NONE) };
}

/// Up to this many rows of A, packing a transposed B costs more than it saves.
const DOT_ROWS: usize = 16;

#[cfg(test)]
thread_local! {
    /// How many blocks of an operand this thread has had packed.
    pub(crate) static PACKED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// The algorithm that is expected to be fastest.
pub fn heuristic(p: &GemmProblem) -> &'static GemmAlgo {
    if p.m == 0 || p.n == 0 {
        return &naive::ALGO;
    }
    if (gemv::ALGO.usable)(p) {
        return &gemv::ALGO;
    }
    let size = p.kind.size();
    let b_bytes = p.k * p.n * size;
    if p.csb == 1 {
        // Tiles read B once per tile of rows, a strip at a time: packing pays only if that is often and B is far apart.
        let b_is_near = p.rsb * size <= 4096 && b_bytes <= 512 << 10;
        if p.m <= 96 || p.n <= 32 || b_is_near {
            return &no_copy::ALGO;
        }
    }
    if p.m <= DOT_ROWS && (dots::ALGO.usable)(p) {
        return &dots::ALGO;
    }
    let a_is_near = p.csa == 1 && p.rsa * size < 2048;
    if a_is_near || p.m <= 128 || p.n <= 128 {
        return &packed::B_ONLY;
    }
    &packed::ALGO
}

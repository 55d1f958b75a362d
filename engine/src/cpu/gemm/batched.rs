//! Many products of the same shape.

use super::{Choice, Epilogue, GemmProblem};
use crate::cpu::element::Element;
use crate::cpu::pool::{self, Shared};

/// Where in A and in B the operands of each product begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Starts {
    /// So many, each this far behind the one before; a step of 0 shares an operand.
    Even { count: usize, steps: [usize; 2] },
    /// Each on its own.
    Each(Vec<[usize; 2]>),
}

impl Starts {
    /// A single product.
    pub const ONE: Self = Self::Even { count: 1, steps: [0, 0] };

    /// Number of products.
    pub fn len(&self) -> usize {
        match self {
            Self::Even { count, .. } => *count,
            Self::Each(all) => all.len(),
        }
    }

    /// Whether there is no product.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where product `at` begins.
    pub fn get(&self, at: usize) -> [usize; 2] {
        match self {
            Self::Even { steps, .. } => steps.map(|it| at * it),
            Self::Each(all) => all[at],
        }
    }

    /// Whether all products have the same operand (0 is A, 1 is B), from its first element on.
    pub fn is_shared(&self, side: usize) -> bool {
        match self {
            Self::Even { count, steps } => *count == 1 || steps[side] == 0,
            Self::Each(all) => all.iter().all(|it| it[side] == 0),
        }
    }

    /// The last start of an operand; `None` where there is none, or it cannot be.
    fn last(&self, side: usize) -> Option<usize> {
        match self {
            Self::Even { count, steps } => count.checked_sub(1)?.checked_mul(steps[side]),
            Self::Each(all) => all.iter().map(|it| it[side]).max(),
        }
    }
}

/// Computes all products; those in C lie one behind the other.
pub(super) fn run<T: Element>(
    choice: &Choice<T>,
    p: &GemmProblem,
    starts: &Starts,
    [a, b]: [&[T]; 2],
    c: &mut [T],
    epilogue: Epilogue<'_, T>,
) {
    let batch = starts.len();
    if batch == 0 || p.m == 0 || p.n == 0 {
        return;
    }
    p.check::<T>();
    epilogue.check(p);
    let extents = p.extents();
    let fits = |side: usize, len: usize| {
        let end = || starts.last(side)?.checked_add(extents[side]);
        extents[side] == 0 || end().is_some_and(|end| end <= len)
    };
    assert!(fits(0, a.len()) && fits(1, b.len()), "operand too short");
    assert!(p.rsc == p.n && p.m * p.n <= c.len() / batch, "operand too short");
    let (a, b) = (Shared(a.as_ptr().cast_mut()), Shared(b.as_ptr().cast_mut()));
    let c = Shared(c.as_mut_ptr());
    let one = |p: &GemmProblem, i: usize| {
        let ([a_start, b_start], at) = (starts.get(i), i * p.m * p.n);
        let a = a.get().wrapping_add(a_start).cast_const();
        let b = b.get().wrapping_add(b_start).cast_const();
        let epilogue = Epilogue { part: epilogue.part.skip(at), ..epilogue };
        // SAFETY: product `i` lies in the slices and shares no element of C with another.
        unsafe { choice.run_raw(p, [a, b], c.get().wrapping_add(at), epilogue) };
    };
    let whole = GemmProblem { m: p.m.saturating_mul(batch), ..*p };
    if !whole.is_parallel() || (p.is_parallel() && batch < 2 * p.threads) {
        return pool::for_each_chunk_if(false, batch, &|i| one(p, i));
    }
    let single = GemmProblem { threads: 1, ..*p };
    let chunks = batch.min(8 * p.threads);
    pool::for_each_chunk(chunks, &|chunk| {
        (batch * chunk / chunks..batch * (chunk + 1) / chunks).for_each(|i| one(&single, i));
    });
}

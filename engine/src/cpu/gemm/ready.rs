//! A product whose algorithm is chosen, and whose constant operands lie in the order in which that reads them.

use super::batched::{self, Starts};
use super::packed;
use super::{Choice, Epilogue, GemmAlgo, GemmProblem};
use crate::cpu::element::Element;
use crate::cpu::kept::{Kept, Shelf};
use crate::cpu::pool;

/// A product to be computed more than once.
pub struct Gemm {
    problem: GemmProblem,
    algo: &'static GemmAlgo,
    /// Panels of A and of B.
    kept: [Option<Kept>; 2],
}

impl Gemm {
    /// The product by this algorithm; `None` if that does not take it.
    pub fn new(problem: GemmProblem, algo: &'static GemmAlgo) -> Option<Self> {
        (algo.usable)(&problem).then_some(Self { problem, algo, kept: [None, None] })
    }

    /// The product.
    pub fn problem(&self) -> &GemmProblem {
        &self.problem
    }

    /// Keeps the panels of an operand (0 is A, 1 is B) that is `operand` in every run, if the algorithm packs it and the shelf has room.
    ///
    /// # Panics
    /// If the slice is shorter than the problem says, the problem is about other elements, or the processor lacks its instructions.
    pub fn keep<T: Element>(&mut self, shelf: &'static Shelf, side: usize, operand: &[T]) {
        let p = &self.problem;
        p.check::<T>();
        assert!(p.extents()[side] <= operand.len(), "operand too short");
        if !self.algo.packs[side] || p.m == 0 || p.n == 0 {
            return;
        }
        self.kept[side] = shelf.keep::<T>(packed::panel_lens::<T>(p)[side], |panels| {
            // SAFETY: the operand fits the problem, and the panels have their length.
            unsafe { packed::pack_all(p, side, operand.as_ptr(), panels.as_mut_ptr()) };
            true
        });
    }

    /// Bytes of scratch memory of a run.
    pub fn workspace(&self) -> usize {
        (self.algo.workspace)(&self.problem, self.kept.each_ref().map(Option::is_some))
    }

    /// Computes the product on the threads that there are now.
    ///
    /// # Panics
    /// As [`super::run`].
    pub fn run<T: Element>(&self, a: &[T], b: &[T], c: &mut [T], epilogue: Epilogue<'_, T>) {
        self.choice().run(&self.now(), a, b, c, epilogue);
    }

    /// Computes a product for each of `starts`, one behind the other in C.
    ///
    /// # Panics
    /// If a slice is shorter than the products, rows of C do not lie one behind the other, or the processor lacks the instructions.
    pub fn run_batch<T: Element>(
        &self,
        starts: &Starts,
        a: &[T],
        b: &[T],
        c: &mut [T],
        epilogue: Epilogue<'_, T>,
    ) {
        batched::run(&self.choice(), &self.now(), starts, [a, b], c, epilogue);
    }

    fn now(&self) -> GemmProblem {
        GemmProblem { threads: pool::threads(), ..self.problem }
    }

    fn choice<T: Element>(&self) -> Choice<T> {
        let panels = |it: &Option<Kept>| it.as_ref().map_or(std::ptr::null(), Kept::as_ptr::<T>);
        Choice { algo: self.algo, kept: self.kept.each_ref().map(panels) }
    }
}

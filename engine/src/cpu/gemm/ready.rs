//! A product whose algorithm is chosen, and the panels that it keeps of operands that stay.

use std::sync::Arc;

use super::batched::{self, Starts};
use super::packed;
use super::{Choice, Epilogue, GemmAlgo, GemmProblem};
use crate::cpu::element::Element;
use crate::cpu::packs::{Key, Packed, Packs};
use crate::cpu::pool;

/// A product to be computed more than once.
pub struct Gemm {
    problem: GemmProblem,
    algo: &'static GemmAlgo,
}

/// Panels of A and of B that are there already.
pub type Panels = [Option<Arc<Packed>>; 2];

/// Panels serve as many rows of the other operand; where it has more, packing is little beside the product.
const MOST_ROWS: usize = 512;

impl Gemm {
    /// The product by this algorithm; `None` if that does not take it.
    pub fn new(problem: GemmProblem, algo: &'static GemmAlgo) -> Option<Self> {
        (algo.usable)(&problem).then_some(Self { problem, algo })
    }

    /// So many rows of it, by the same algorithm.
    pub fn of_rows(&self, m: usize) -> Option<Self> {
        Self::new(GemmProblem { m, ..self.problem }, self.algo)
    }

    /// The product.
    pub fn problem(&self) -> &GemmProblem {
        &self.problem
    }

    /// The panels of an operand (0 is A, 1 is B) that are kept beside its buffer; `None` where the algorithm does not pack it, or that is
    /// little work.
    ///
    /// # Panics
    /// If the slice is shorter than the problem says, the problem is about other elements, or the processor lacks its instructions.
    pub fn panels<T: Element>(
        &self,
        packs: &Packs,
        side: usize,
        operand: &[T],
    ) -> Option<Arc<Packed>> {
        let p = &self.problem;
        let (lines, others, steps) = match side {
            0 => (p.m, p.n, [p.rsa, p.csa]),
            _ => (p.n, p.m, [p.rsb, p.csb]),
        };
        if !self.algo.packs[side] || lines == 0 || others == 0 || others > MOST_ROWS {
            return None;
        }
        p.check::<T>();
        assert!(p.extents()[side] <= operand.len(), "operand too short");
        let sizes = [side, lines, p.k, steps[0], steps[1], p.isa as usize, p.kind.size(), 0];
        let key = Key { form: "panels", at: operand.as_ptr().addr(), sizes };
        packs.get::<T>(key, packed::panel_lens::<T>(p)[side], |panels| {
            // SAFETY: the operand fits the problem, and the panels have their length.
            unsafe { packed::pack_all(p, side, operand.as_ptr(), panels.as_mut_ptr()) };
            true
        })
    }

    /// Bytes of scratch memory of a run without kept panels.
    pub fn workspace(&self) -> usize {
        (self.algo.workspace)(&self.problem)
    }

    /// Computes the product on the threads that there are now, with panels that [`Gemm::panels`] has given for these operands.
    ///
    /// # Panics
    /// As [`super::run`].
    pub fn run<T: Element>(
        &self,
        a: &[T],
        b: &[T],
        c: &mut [T],
        epilogue: Epilogue<'_, T>,
        panels: &Panels,
    ) {
        self.choice(panels).run(&self.now(), a, b, c, epilogue);
    }

    /// Computes a product for each of `starts`, one behind the other in C; panels are those of operands that all products share.
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
        panels: &Panels,
    ) {
        batched::run(&self.choice(panels), &self.now(), starts, [a, b], c, epilogue);
    }

    fn now(&self) -> GemmProblem {
        GemmProblem { threads: pool::threads(), ..self.problem }
    }

    fn choice<T: Element>(&self, panels: &Panels) -> Choice<T> {
        let address = |it: &Option<Arc<Packed>>| {
            it.as_ref().map_or(std::ptr::null(), |it| it.as_slice::<T>().as_ptr())
        };
        Choice { algo: self.algo, kept: panels.each_ref().map(address) }
    }
}

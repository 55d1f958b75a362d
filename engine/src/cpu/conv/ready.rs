//! A pass whose algorithm is chosen, and whose constant weights lie in the form in which that uses them.

use super::{ConvAlgo, ConvPass, ConvProblem, Epilogue, Rhs, run_with};
use crate::cpu::element::Element;
use crate::cpu::kept::{Kept, Shelf};
use crate::cpu::pool;

/// A pass to be computed more than once.
pub struct Conv {
    problem: ConvProblem,
    algo: &'static ConvAlgo,
    kept: Option<Kept>,
}

impl Conv {
    /// The pass by this algorithm; `None` if that does not take it.
    pub fn new(problem: ConvProblem, algo: &'static ConvAlgo) -> Option<Self> {
        (algo.usable)(&problem).then_some(Self { problem, algo, kept: None })
    }

    /// Keeps the form of weights that are `weights` in every run, if the algorithm has one of its own and the shelf has room.
    ///
    /// # Panics
    /// If the slice has another length, or the problem is about other elements, makes no sense, or is for another processor.
    pub fn keep<T: Element>(&mut self, shelf: &'static Shelf, weights: &[T]) {
        let p = &self.problem;
        p.check::<T>();
        if p.pass == ConvPass::WeightGrad || p.is_empty() {
            return;
        }
        assert!(weights.len() == p.lens()[1], "an operand has another length");
        self.kept = shelf.keep::<T>((self.algo.keeps)(p), |out| {
            // SAFETY: the slices have the lengths that the problem and the algorithm say.
            unsafe { (T::conv_code(self.algo).keep)(p, weights, out) }
        });
    }

    /// Bytes of scratch memory of a run, per thread.
    pub fn workspace(&self) -> usize {
        (self.algo.workspace)(&self.problem, self.kept.is_some())
    }

    /// Computes the pass on the threads that there are now; `out` is replaced.
    ///
    /// # Panics
    /// As [`super::run`].
    pub fn run<T: Element>(&self, lhs: &[T], rhs: &[T], out: &mut [T], epilogue: &Epilogue<'_, T>) {
        let problem = ConvProblem { threads: pool::threads(), ..self.problem };
        let rhs = Rhs { plain: rhs, kept: self.kept.as_ref().map(Kept::as_slice::<T>) };
        run_with(self.algo, &problem, lhs, &rhs, out, epilogue);
    }
}

//! A pass whose algorithm is chosen, and the form of weights that it keeps of those that stay.

use std::sync::Arc;

use super::{ConvAlgo, ConvPass, ConvProblem, Epilogue, Rhs, run_with};
use crate::cpu::element::Element;
use crate::cpu::packs::{Key, Packed, Packs};
use crate::cpu::pool;

/// A pass to be computed more than once.
pub struct Conv {
    problem: ConvProblem,
    algo: &'static ConvAlgo,
}

impl Conv {
    /// The pass by this algorithm; `None` if that does not take it.
    pub fn new(problem: ConvProblem, algo: &'static ConvAlgo) -> Option<Self> {
        (algo.usable)(&problem).then_some(Self { problem, algo })
    }

    /// The form of the weights that is kept beside their buffer; `None` where the algorithm has no form of its own.
    ///
    /// # Panics
    /// If the slice has another length, or the problem is about other elements, makes no sense, or is for another processor.
    pub fn form<T: Element>(&self, packs: &Packs, weights: &[T]) -> Option<Arc<Packed>> {
        let p = &self.problem;
        if p.pass == ConvPass::WeightGrad || p.is_empty() {
            return None;
        }
        p.check::<T>();
        assert!(weights.len() == p.lens()[1], "an operand has another length");
        let [rows, columns] = p.kernel;
        let channels = [p.in_channels, p.out_channels, p.groups];
        let [ins, outs, groups] = channels;
        let isa = p.isa as usize;
        let sizes = [p.pass as usize, ins, outs, groups, rows, columns, p.kind.size(), isa];
        let key = Key { form: self.algo.name, at: weights.as_ptr().addr(), sizes };
        packs.get::<T>(key, (self.algo.keeps)(p), |out| {
            // SAFETY: the slices have the lengths that the problem and the algorithm say.
            unsafe { (T::conv_code(self.algo).keep)(p, weights, out) }
        })
    }

    /// Bytes of scratch memory of a run without a kept form, per thread.
    pub fn workspace(&self) -> usize {
        (self.algo.workspace)(&self.problem)
    }

    /// Computes the pass on the threads that there are now, with what [`Conv::form`] has given for these weights; `out` is replaced.
    ///
    /// # Panics
    /// As [`super::run`].
    pub fn run<T: Element>(
        &self,
        lhs: &[T],
        rhs: &[T],
        out: &mut [T],
        epilogue: &Epilogue<'_, T>,
        form: Option<&Packed>,
    ) {
        let problem = ConvProblem { threads: pool::threads(), ..self.problem };
        let rhs = Rhs { plain: rhs, kept: form.map(Packed::as_slice::<T>) };
        run_with(self.algo, &problem, lhs, &rhs, out, epilogue);
    }
}

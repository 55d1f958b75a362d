//! A program as straight-line arithmetic: what code of its own and text for GPUs are written from.

use super::Mem;
use crate::math::Fault;
use crate::math::recorded::{Op, Type};

/// What a program does with one element.
#[derive(Debug)]
pub(crate) struct Expansion {
    /// `Given(n)` among them is input `n`, or number `n - inputs.len()` of the run.
    pub(crate) ops: Vec<Op>,
    pub(crate) inputs: Vec<Mem>,
    /// Types of the numbers of the run; `None` where a number is not used.
    pub(crate) params: Vec<Option<Type>>,
    /// The step of each output and how it lies in memory.
    pub(crate) outputs: Vec<(u32, Mem)>,
    /// What is refused, and the step with the number that may be.
    pub(crate) faults: Vec<(Fault, u32)>,
}

//! Running a program on views.

use smallvec::SmallVec;

use super::{Program, Source};
use crate::cpu::lane::machine::{self, RunError};
use crate::cpu::lane::{Finish, Part, Producer, straight};
use crate::cpu::view::OutView;
use crate::cpu::{interrupt, turned};
use crate::dtype::Number;
use crate::math::Fault;
use crate::{DType, Error, Meta, Result};

/// Runs a program. All outputs have one shape, to which the inputs broadcast; `params` are numbers for
/// `program.params()`. Allocates nothing in steady state.
///
/// Fails when the operands are not those that the program was built for, and when integers are divided by zero.
pub fn run(
    program: &Program,
    inputs: &[Source<'_>],
    outputs: &mut [OutView<'_>],
    params: &[Number],
) -> Result<()> {
    if let ([Source::View(input)], [output]) = (inputs, &mut *outputs)
        && program.is_copy()
        && (turned::copy(input, output) || straight::copy(input, output))
    {
        return if interrupt::take() { Err(Error::Interrupted) } else { Ok(()) };
    }
    machine::run(program.code(), inputs, outputs, params).map_err(|it| outcome(it, inputs))
}

/// Runs a program on many tensors: the first of `inputs` and `outputs` are those of one run, then come those of the next, each with a shape
/// of its own.
///
/// Fails as [`run`] does.
pub(crate) fn run_many(
    program: &Program,
    inputs: &[Source<'_>],
    outputs: &mut [OutView<'_>],
    params: &[Number],
) -> Result<()> {
    machine::run_many(program.code(), inputs, outputs, params).map_err(|it| outcome(it, inputs))
}

fn outcome(error: RunError, inputs: &[Source<'_>]) -> Error {
    match error {
        RunError::Operands => mismatch(inputs),
        error => error.into(),
    }
}

/// Runs a program behind a kernel, on each part of the kernel's first output once that is done. The kernel's are the first `n_own` of
/// `outputs`. Its first is also the first input of the program; with `replaces` the first result of the program takes its place. Other
/// results go to the other outputs.
///
/// Fails as [`run`] does, and as the kernel does.
pub(crate) fn run_behind<'a>(
    program: &Program,
    inputs: &[Source<'a>],
    outputs: &mut [OutView<'a>],
    params: &[Number],
    (n_own, replaces): (usize, bool),
    kernel: impl FnOnce(&mut [OutView<'a>], Part<'_>) -> Result<()>,
) -> Result<()> {
    Finish::with(program.code(), inputs, outputs, params, (n_own, replaces), kernel)
}

/// A program that stands for the operand of a kernel, which has this kind: it makes that in pieces. `outputs` are what others need: all
/// that it gives, or all but the first. What it refuses, [`Producer::outcome`] tells.
pub(crate) fn producer<'a>(
    program: &'a Program,
    inputs: &'a [Source<'a>],
    meta: &Meta,
    outputs: &'a mut [OutView<'_>],
    params: &'a [Number],
) -> Result<Producer<'a>> {
    Ok(Producer::new(program.code(), inputs, (&meta.shape, meta.dtype), outputs, params)?)
}

impl From<RunError> for Error {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Operands => mismatch(&[]),
            RunError::Interrupted => Self::Interrupted,
            RunError::Fault(fault) => fault.into(),
        }
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        let (op, name, problem) = match fault {
            Fault::DivisionByZero => {
                ("integer division", "other", "is zero; divide floats to get inf or nan")
            }
        };
        Self::Attr { op, name, problem: problem.into() }
    }
}

fn mismatch(inputs: &[Source<'_>]) -> Error {
    let dtypes: SmallVec<[DType; 4]> = inputs
        .iter()
        .filter_map(|it| match it {
            Source::View(view) => Some(view.dtype()),
            Source::Number(number) => Some(number.dtype()),
            Source::Replaced(_) => None,
        })
        .collect();
    Error::DTypes { op: "lane program", dtypes: dtypes.to_vec() }
}

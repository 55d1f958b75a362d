//! Running a program on views.

use smallvec::SmallVec;

use super::{Program, Source};
use crate::cpu::lane::machine::{self, RunError};
use crate::cpu::view::OutView;
use crate::dtype::Number;
use crate::math::Fault;
use crate::{DType, Error, Result};

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
    machine::run(program.code(), inputs, outputs, params).map_err(|error| match error {
        RunError::Operands => mismatch(inputs),
        RunError::Interrupted => Error::Interrupted,
        RunError::Fault(fault) => fault.into(),
    })
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        let (op, name, problem) = match fault {
            Fault::DivisionByZero => {
                ("integer division", "other", "is zero; divide floats to get inf or nan")
            }
            Fault::NegativeExponent => (
                "pow",
                "exponent",
                "is negative; integers have no negative powers, convert to float first",
            ),
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
            Source::Replaced => None,
        })
        .collect();
    Error::DTypes { op: "lane program", dtypes: dtypes.to_vec() }
}

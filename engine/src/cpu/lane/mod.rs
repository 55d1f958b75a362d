//! Loops over vector lanes: one kernel per scalar primitive, lane type and instruction set, and the machine that runs
//! a list of them tile by tile.
//!
//! **Invariant:** an element's result depends on its operands alone, not on its place in a tile, the tile's length, the
//! thread or the instruction set. All sets use the same formulas with fused multiply-add where a formula says
//! `mul_add` and nowhere else; where the processor has none, the library's exact emulation is called.

mod binary;
mod convert;
mod geometry;
mod halves;
mod loops;
pub(crate) mod machine;
mod math32;
pub mod math64;
mod unary;

pub(crate) use binary::{binary, select, select_compare};
pub(crate) use convert::{Mem, cast, cast_into, convert, truth, wrap};
pub(crate) use loops::Kern;
pub(crate) use unary::unary;

/// What a vector lane holds while a program runs. Bool and all integers are computed in `I64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Lane {
    F32,
    F64,
    I64,
}

/// What integer arithmetic ran into; each stops the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    DivisionByZero,
    NegativeExponent,
}

thread_local! {
    static FAULT: std::cell::Cell<Option<Fault>> = const { std::cell::Cell::new(None) };
}

/// Notes a fault of a kernel on this thread.
#[cold]
fn fault(fault: Fault) {
    FAULT.set(Some(fault));
}

/// The fault of kernels on this thread since the last call.
pub(crate) fn take_fault() -> Option<Fault> {
    FAULT.take()
}

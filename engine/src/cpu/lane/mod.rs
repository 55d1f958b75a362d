//! Loops over vector lanes: one kernel per scalar primitive, lane type and instruction set, and the machine that runs
//! a list of them tile by tile.
//!
//! **Invariant:** an element's result depends on its operands alone, not on its place in a tile, the tile's length, the
//! thread or the instruction set. All sets use the same formulas ([`crate::math`]); where the processor has no fused multiply-add, the
//! library's exact emulation is called.

mod binary;
mod convert;
mod expansion;
mod faults;
mod finish;
mod geometry;
mod in_place;
mod loops;
pub(crate) mod machine;
mod operands;
mod produce;
mod scratch;
mod slots;
mod small;
pub(crate) mod straight;
mod stream;
mod tiles;
mod unary;

pub(crate) use binary::{Joined, binary, joined, select, select_compare};
pub(crate) use convert::{Mem, cast, cast_into, convert, flag, truth, wrap};
pub(crate) use expansion::Expansion;
pub(crate) use finish::Finish;
pub use finish::Part;
pub(crate) use geometry::Block;
pub(crate) use loops::Kern;
pub use produce::{Input, Pieces, Producer, Scratch};
pub(crate) use unary::unary;

/// What a vector lane holds while a program runs. Bool and all integers are computed in `I64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Lane {
    F32,
    F64,
    I64,
}

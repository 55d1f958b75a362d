//! Lowering: from an optimised graph to a flat list of launches over planned memory.

pub mod compile;
mod control;
mod fuse;
mod gpu;
pub mod group;
mod in_place;
pub mod memory;
mod merge;
mod onto;
pub mod plan;
mod run;
mod shares;
mod show;
pub mod timing;

#[cfg(test)]
mod gpu_tests;
#[cfg(test)]
mod merge_tests;
#[cfg(test)]
mod onto_tests;
#[cfg(test)]
mod tests;

pub use compile::{compile, compile_onto};
pub use onto::{Onto, WORTH_WRITING_ONTO, write_onto_from};
pub(crate) use plan::own;
pub use plan::{Choice, Plan};
pub use run::Decide;

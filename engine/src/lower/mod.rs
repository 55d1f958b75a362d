//! Lowering: from an optimised graph to a flat list of launches over planned memory.

pub mod compile;
mod control;
mod fuse;
mod gpu;
pub mod group;
pub mod memory;
mod merge;
pub mod plan;
mod show;

#[cfg(test)]
mod gpu_tests;
#[cfg(test)]
mod tests;

pub use compile::compile;
pub use plan::{Choice, Plan};

//! The machine: one loop over bytecode, with frames on the heap.
//!
//! A call of a function defined in the language pushes a frame; it does not recurse in Rust. Only
//! natives that call back do, and their nesting is limited.

pub(crate) mod attribute;
pub(crate) mod blame;
pub(crate) mod call;
pub(crate) mod class;
mod cursor;
mod devices;
pub(crate) mod frame;
pub(crate) mod generator;
pub(crate) mod import;
pub(crate) mod items;
pub(crate) mod layer;
pub(crate) mod long;
pub(crate) mod matching;
pub(crate) mod no_module;
pub(crate) mod operands;
mod out;
mod part;
pub(crate) mod quick;
pub(crate) mod run;
pub(crate) mod stack;
pub(crate) mod step;
pub(crate) mod texts;
pub(crate) mod unpack;
pub(crate) mod unwind;

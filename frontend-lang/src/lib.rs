//! The language: parse, check and run cells.
//!
//! Reading order: [`value`] says what a program can hold, [`native`] how Rust adds to it, [`cx`] what
//! a running session offers, [`operate`] what operators do.

mod absent;
pub mod adapter;
mod annotated;
pub mod annotation;
pub mod array;
pub mod ast;
pub mod builtins;
pub mod bytecode;
pub mod check;
pub mod compile;

pub mod cx;
pub mod cycles;
pub mod diagnostic;
pub mod editor;
pub mod error;
pub mod explain;
pub mod host;
pub mod ink;
pub mod inspect;
pub mod memory;
pub mod native;
pub mod objects;
pub mod operate;
pub mod ops_binding;
pub mod params;
mod past;
mod patience;
pub mod profile;
pub mod python;
mod region;
pub mod repeat_cell;
pub mod resolve;
pub mod session;
pub mod shell;
pub mod shown;
pub mod site;
pub mod source;
pub mod suggest;
pub mod sym;
pub mod table;
pub mod tensor;
pub mod trace;
pub mod trace_cell;
pub(crate) mod traceback;
mod unmade;
pub mod value;
mod value_from;
pub mod vm;

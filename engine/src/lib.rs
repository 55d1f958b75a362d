//! The tensor engine: tensors, ops, autograd, graphs, the compiler and CPU kernels.
//!
//! A [`Tensor`] is an immutable value: a cheap handle on storage, layout and dtype. Every computation goes through
//! [`apply()`]: it infers shapes and dtypes, then runs a kernel, makes a view, or, when tracing, records or replays.
//! Ops are rows ([`OpDef`]) listed in [`ops::FAMILIES`]; everything that is derived from them walks that list.

pub mod admit;
pub mod apply;
pub mod atomic_file;
pub mod attr;
pub mod autograd;
pub mod buffer;
pub mod cpu;
pub mod cuda;
pub mod device;
pub mod dtype;
pub mod error;
pub mod estimate;
mod exchange;
pub mod expr;
pub mod fastrun;
pub mod functional;
pub mod graph;
pub mod index;
mod interpreter;
pub mod lane;
mod launch;
pub mod lower;
pub mod math;
pub mod meaning;
mod meter;
pub mod model;
pub mod onnx;
pub mod op;
pub mod ops;
#[cfg(any(test, feature = "oracle"))]
pub mod oracle;
pub mod passes;
mod pending;
pub mod random;
pub mod region;
pub mod rewrite;
pub mod rules;
pub mod scope;
pub mod shape;
pub mod site;
pub mod storage;
pub mod sync;
mod tape;
pub mod tensor;
#[cfg(test)]
mod test_draws;
#[cfg(test)]
mod test_ops;
pub mod trace;
pub mod words;

pub use apply::{
    apply, apply_in_place, apply_into, apply_one, apply_onto, apply_to_itself, apply_two,
};
pub use attr::{Attr, Attrs};
pub use buffer::Buffer;
pub use device::Device;
pub use dtype::{DType, Number};
pub use error::Error;
pub use op::OpDef;
pub use scope::Scope;
pub use shape::{Layout, Shape};
pub use site::Site;
pub use tensor::{Meta, Metas, Outputs, Tensor};

/// Result of every fallible engine call.
pub type Result<T> = std::result::Result<T, Error>;

//! ONNX below graphs: the messages of its files, tensors in them, and what op rows write themselves with.
//!
//! A row says how it is written ([`crate::op::Onnx`]); elementwise rows that ONNX has no operator for are written as their expression.

mod expression;
mod nodes;
pub mod proto;
pub mod tensors;

pub use expression::elementwise;
pub(crate) use nodes::Operand;
pub use nodes::{NodeCx, Sink, Wire, attr};
pub use tensors::{code_of, tensor_proto};

//! ONNX below graphs and op rows: the messages of its files, and tensors in them.

pub mod proto;
pub mod tensors;

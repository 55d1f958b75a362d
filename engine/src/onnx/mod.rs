//! ONNX below graphs and op rows: the messages of its files.

pub mod proto;

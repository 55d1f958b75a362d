//! ONNX below everything else: the messages of its files.

pub mod proto;

//! `triu`: matrices with zeros below a diagonal.

use super::triangle;
use crate::OpDef;
use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Kernel, Onnx, Saves, Surface, shapes};

pub static OP: OpDef = OpDef {
    name: "triu",
    doc: "Matrices with zeros below a diagonal.",
    meaning: Meaning::of(|cx| triangle::meaning(cx, |at, diagonal| at >= diagonal)),
    params: triangle::PARAMS,
    dtypes: DTypeRule::Any,
    infer: triangle::infer,
    body: Body::Kernels(&[Kernel::moving("triu.copy", |cx| triangle::run(cx, false))
        .on_cuda(|cx| super::cuda::triangle(cx, false))]),
    grad: Grad::Rule(triangle::grad, Saves::Shapes),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface { shapes: shapes::TRIANGLE, ..Surface::PLAIN },
    onnx: Onnx::written("Trilu", super::onnx::triu),
    aliases: &["oneflow.triu"],
    examples: &[
        ("triu(tensor([[1, 2], [3, 4]]))", "tensor([[1, 2],\n        [0, 4]])"),
        ("triu(tensor([[1.0, 2.0], [3.0, 4.0]]), 1)", "tensor([[0., 2.],\n        [0., 0.]])"),
        ("triu(ones(3, 2), -1)", "tensor([[1., 1.],\n        [1., 1.],\n        [0., 1.]])"),
    ],
};

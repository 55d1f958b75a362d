//! `tril`: matrices with zeros above a diagonal.

use super::triangle;
use crate::OpDef;
use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Kernel, Onnx, Saves, Surface, shapes};

pub static OP: OpDef = OpDef {
    name: "tril",
    doc: "Matrices with zeros above a diagonal.",
    meaning: Meaning::of(|cx| triangle::meaning(cx, |at, diagonal| at <= diagonal)),
    params: triangle::PARAMS,
    dtypes: DTypeRule::Any,
    infer: triangle::infer,
    body: Body::Kernels(&[Kernel::moving("tril.copy", |cx| triangle::run(cx, true))
        .on_cuda(|cx| super::cuda::triangle(cx, true))]),
    grad: Grad::Rule(triangle::grad, Saves::Shapes),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface { shapes: shapes::TRIANGLE, ..Surface::PLAIN },
    onnx: Onnx::written("Trilu", super::onnx::tril),
    aliases: &["oneflow.tril"],
    examples: &[
        ("tril(tensor([[1, 2], [3, 4]]))", "tensor([[1, 0],\n        [3, 4]])"),
        ("tril(tensor([[1.0, 2.0], [3.0, 4.0]]), 1)", "tensor([[1., 2.],\n        [3., 4.]])"),
        ("tril(ones(3, 2), -1)", "tensor([[0., 0.],\n        [1., 0.],\n        [1., 1.]])"),
    ],
};

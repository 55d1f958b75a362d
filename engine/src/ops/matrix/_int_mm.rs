//! `_int_mm`: the product of two matrices of 8-bit whole numbers.

use smallvec::smallvec;

use super::matmul;
use crate::cpu::int8::{self, Matrix};
use crate::cpu::isa;
use crate::cpu::view::View;
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{Body, DTypeRule, Grad, InferCx, Kernel, KernelCx, Onnx, Param, Surface};
use crate::{DType, Error, Meta, Metas, OpDef, Result};

/// The row of `_int_mm`.
pub static OP: OpDef = OpDef {
    name: "_int_mm",
    doc: "The product of two int8 matrices, with sums in int32, which wrap.",
    meaning: Meaning::of(meaning),
    params: &[Param::tensor("input"), Param::tensor("mat2")],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel {
        flops: |cx| 2 * cx.shape(0).numel() * cx.shape(1)[1],
        ..Kernel::new("int8.pairs", run).taking_narrow().on_cuda(super::cuda::int_mm)
    }]),
    grad: Grad::Stops("its operands are whole numbers"),
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface { shapes: "[N, K] @ [K, M] gives [N, M]", ..Surface::PLAIN },
    onnx: Onnx::named("MatMulInteger", 10, &[]),
    aliases: &[],
    examples: &[
        (
            "_int_mm(tensor([[1, 2], [3, -4]], dtype=torch.int8), tensor([[5], [6]], dtype=torch.int8))",
            "tensor([[17],\n        [-9]], dtype=torch.int32)",
        ),
        (
            "_int_mm(tensor([[-128, -128]], dtype=torch.int8), tensor([[-128], [-128]], dtype=torch.int8))",
            "tensor([[32768]], dtype=torch.int32)",
        ),
        (
            "_int_mm(zeros(1, 0, dtype=torch.int8), zeros(0, 2, dtype=torch.int8))",
            "tensor([[0, 0]], dtype=torch.int32)",
        ),
    ],
};

/// As of wide whole numbers, of whose sums the last 32 bits stay.
fn meaning(cx: &MeaningCx<'_>) -> Array {
    let Meaning::Of(product) = matmul::OP.meaning else { return Array::Int(Default::default()) };
    Array::Int(product(cx).ints().mapv(|it| i64::from(it as i32)))
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let ([m, k], [rows, n]) = (&cx.shape(0)[..], &cx.shape(1)[..]) else {
        return Err(cx.bad_shapes("two matrices are needed"));
    };
    if k != rows {
        return Err(cx.bad_shapes("columns of the left must equal rows of the right"));
    }
    match [cx.dtype(0), cx.dtype(1)].into_iter().find(|it| *it != DType::I8) {
        Some(dtype) => Err(Error::DType { op: cx.op.name, dtype, allowed: "int8" }),
        None => Ok(smallvec![Meta::new([*m, *n].into(), DType::I32)]),
    }
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let [a, b] = [0, 1].map(|at| matrix(&cx.inputs[at]));
    let ([m, k], n) = ([cx.inputs[0].shape()[0], cx.inputs[0].shape()[1]], cx.inputs[1].shape()[1]);
    Ok(int8::multiply(isa(), [m, n, k], [&a, &b], cx.outputs[0].as_mut_slice())?)
}

fn matrix<'a>(view: &View<'a>) -> Matrix<'a> {
    let layout = view.layout();
    let steps = [layout.strides[0], layout.strides[1]];
    Matrix { elements: view.buffer(), start: layout.offset, steps }
}

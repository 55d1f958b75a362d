//! `lu_permutation`: which row comes to each place by exchanges of rows.

use smallvec::smallvec;

use super::{cuda, exact};
use crate::cpu::linalg::permutations;
use crate::meaning::{Array, Meaning, MeaningCx, by_index};
use crate::op::{
    Body, DTypeRule, Grad, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind, Surface,
};
use crate::{DType, Error, Meta, Metas, OpDef, Result};

pub static OP: OpDef = OpDef {
    name: "lu_permutation",
    doc: "Which of `size` rows comes to each place by exchanging row i with row `pivots[i] - 1`, in order.",
    meaning: Meaning::of(meaning),
    params: &[Param::tensor("pivots"), Param::required("size", ParamKind::Int)],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::new("lu_permutation.swaps", run).on_cuda(cuda::permutation)]),
    grad: Grad::Stops("the result is whole numbers"),
    step: None,
    pure: true,
    method: false,
    internal: true,
    surface: Surface { shapes: "[..., k] gives [..., size]", ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("lu_permutation(tensor([3, 3, 3], dtype=torch.int32), 3)", "tensor([2, 0, 1])"),
        ("lu_permutation(tensor([2], dtype=torch.int32), 3)", "tensor([1, 0, 2])"),
        (
            "lu_permutation(tensor([[1, 2], [2, 2]], dtype=torch.int32), 2)",
            "tensor([[0, 1],\n        [1, 0]])",
        ),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let pivots = cx.input(0).ints();
    let (lead, size) = (pivots.ndim() - 1, cx.int(0) as usize);
    by_index(&[&pivots.shape()[..lead], &[size]].concat(), |at| {
        let one = |it: usize| pivots[&[&at[..lead], &[it]].concat()[..]];
        let all: Vec<i64> = (0..pivots.shape()[lead]).map(one).collect();
        exact::places(&all, size)[at[lead]] as i64
    })
    .into()
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    if cx.dtype(0) != DType::I32 {
        let (op, dtype) = (cx.op.name, cx.dtype(0));
        return Err(Error::DType { op, dtype, allowed: "int32, as pivots are" });
    }
    let mut shape = cx.shape(0).clone();
    match shape.dims_mut().last_mut() {
        Some(last) if cx.int(0) >= 0 => *last = cx.int(0) as usize,
        _ => return Err(cx.bad_shapes("pivots have a dimension, and rows a number")),
    }
    Ok(smallvec![Meta::new(shape, DType::I64)])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (pivots, size) = (cx.inputs[0].to_slice::<i32>(), cx.int(0) as usize);
    let each = cx.inputs[0].shape().last().copied().unwrap_or(0);
    permutations(&pivots, each, size, cx.outputs[0].as_mut_slice());
    Ok(())
}

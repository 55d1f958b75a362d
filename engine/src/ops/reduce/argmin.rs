//! `argmin`: where the smallest element is: along `dim`, or in the flattened tensor.

use smallvec::{SmallVec, smallvec};

use super::{Rows, n_reduced, one_dim, reduced_shape, rows};
use crate::op::{
    Body, DTypeRule, Default, Grad, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind,
};
use crate::{DType, Meta, Metas, OpDef, Result, Shape, with_dtype};

pub static OP: OpDef = OpDef {
    name: "argmin",
    doc: "Where the smallest element is: along `dim`, or in the flattened tensor. The first of equal ones; NaN counts as smallest.",
    params: &[
        Param::tensor("input"),
        Param::with("dim", ParamKind::OptInt, Default::None),
        Param::with("keepdim", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::new("reduce.argmin", run)]),
    grad: Grad::Stops("indices are whole numbers"),
    pure: true,
    method: true,
    onnx: &[Onnx {
        op_type: "ArgMin",
        since: 13,
        attrs: &[("dim", "axis"), ("keepdim", "keepdims")],
    }],
    aliases: &["megengine.functional.argmin", "oneflow.argmin"],
    examples: &[
        ("argmin(tensor([1.0, 5.0, -2.0]))", "tensor(2)"),
        ("argmin(tensor([[1, 2], [3, 0]]), 1)", "tensor([0, 1])"),
        ("argmin(tensor([[1, 2], [3, 0]]), 0, True)", "tensor([[0, 1]])"),
    ],
};

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let dims = dims_of(one_dim(cx.op.name, cx.attrs, 0, cx.shape(0).rank())?, cx.shape(0));
    if n_reduced(cx.shape(0), &dims) == 0 {
        return Err(cx.bad_shapes("nothing to choose from: a reduced dimension has size 0"));
    }
    Ok(smallvec![Meta::new(reduced_shape(cx.shape(0), &dims, cx.flag(1)), DType::I64)])
}

fn dims_of(dim: Option<usize>, shape: &Shape) -> SmallVec<[usize; 4]> {
    match dim {
        Some(dim) => (0..shape.rank()).filter(|&it| it == dim).collect(),
        None => (0..shape.rank()).collect(),
    }
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let shape = cx.inputs[0].shape();
    let dims = dims_of(one_dim(cx.op.name, cx.attrs, 0, shape.rank())?, shape);
    with_dtype!(cx.inputs[0].dtype(), T => {
        let Rows { data, n, inner } = rows::<T>(&cx.inputs[0], &dims);
        let indices = cx.outputs[0].as_mut_slice::<i64>();
        let mut values = vec![T::default(); indices.len()];
        crate::cpu::scan::best(&data, (n, inner), &mut values, indices, |x, best| x < best);
    });
    Ok(())
}

//! `scatter`: the input with `src` placed along a dimension: `out[index[i][j]][j] = src[i][j]` for `dim=0`; a number fills all places.

use smallvec::smallvec;

use super::{Spread, index_dtype};
use crate::functional::{gather, num};
use crate::op::{
    Body, DTypeRule, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind, Saves,
};
use crate::shape::resolve_dim;
use crate::{Error, Metas, OpDef, Result, Tensor, apply_one, with_dtype};

pub static OP: OpDef = OpDef {
    name: "scatter",
    doc: "The input with `src` placed along a dimension: `out[index[i][j]][j] = src[i][j]` for `dim=0`; a number fills all places.",
    params: &[
        Param::tensor("input"),
        Param::required("dim", ParamKind::Int),
        Param::tensor("index"),
        Param::tensor("src"),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::new("scatter.loop", run)]),
    grad: Grad::Rule(grad, Saves::Inputs),
    pure: true,
    method: true,
    onnx: &[Onnx { op_type: "ScatterElements", since: 16, attrs: &[("dim", "axis")] }],
    aliases: &["megengine.functional.scatter", "oneflow.scatter"],
    examples: &[
        ("scatter(zeros(3), 0, tensor([2, 0]), tensor([5.0, 6.0]))", "tensor([6., 0., 5.])"),
        (
            "scatter(zeros(2, 2), 1, tensor([[1], [0]]), 1.0)",
            "tensor([[0., 1.],\n        [1., 0.]])",
        ),
        ("scatter(tensor([1, 2, 3]), 0, tensor([-1 + 2]), tensor([9]))", "tensor([1, 9, 3])"),
    ],
};

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let (to, index, src) = (cx.shape(0), cx.shape(1), cx.shape(2));
    let dim = resolve_dim(cx.op.name, cx.int(0), to.rank())?;
    index_dtype(cx.op.name, &cx.inputs[1])?;
    let is_number = cx.inputs[2].as_number().is_some();
    if !is_number && cx.dtype(0) != cx.dtype(2) {
        return Err(Error::DTypes { op: cx.op.name, dtypes: vec![cx.dtype(0), cx.dtype(2)] });
    }
    let fits = to.rank() == index.rank()
        && (is_number || src.rank() == index.rank())
        && (0..index.rank())
            .all(|it| (it == dim || index[it] <= to[it]) && (is_number || index[it] <= src[it]));
    if !fits && index.numel() > 0 {
        return Err(cx.bad_shapes(format!(
            "the index must not be larger than the source, nor than the input except in dimension {dim}"
        )));
    }
    Ok(smallvec![cx.inputs[0].meta()])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let dim = resolve_dim(cx.op.name, cx.int(0), cx.inputs[0].shape().rank())?;
    let spread = Spread::new(cx.op.name, &cx.inputs[0], &cx.inputs[1], dim)?;
    let (input, index, src) = (cx.inputs[0], cx.inputs[1], cx.inputs[2]);
    with_dtype!(input.dtype(), T => {
        let out = cx.outputs[0].as_mut_slice::<T>();
        out.copy_from_slice(&input.to_slice::<T>());
        let src = super::source::<T>(&src, index.shape());
        spread.for_each(|from, to| out[to] = src[from])
    })
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let (dy, index) = (cx.output_grad()?, cx.input(1));
    let mut res = vec![None; 3];
    if cx.needs(0) {
        res[0] = Some(apply_one(&OP, &[dy.clone(), index.clone(), num(0.0)], cx.attrs)?);
    }
    if cx.needs(2) {
        let picked = gather(&dy, cx.int(0), index)?;
        res[2] = Some(super::outside_zero(&picked, cx.input(2).shape())?);
    }
    Ok(res)
}

//! `amax`: the largest element over dimensions, or of all elements; NaN when there is one.

use smallvec::smallvec;

use super::{dims_attr, fold_into, n_reduced, reduced_shape, spread};
use crate::cpu::reduce;
use crate::functional::{div, eq, mul, sum, to};
use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind,
    Saves,
};
use crate::{Meta, Metas, OpDef, Result, Tensor, with_dtype};

pub static OP: OpDef = OpDef {
    name: "amax",
    doc: "The largest element over dimensions, or of all elements; NaN when there is one. Equal largest elements share the gradient.",
    params: &[
        Param::tensor("input"),
        Param::with("dim", ParamKind::OptInts, Default::None),
        Param::with("keepdim", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::new("reduce.amax", run)]),
    grad: Grad::Rule(grad, Saves::Both),
    pure: true,
    method: true,
    onnx: &[Onnx {
        op_type: "ReduceMax",
        since: 13,
        attrs: &[("dim", "axes"), ("keepdim", "keepdims")],
    }],
    aliases: &["megengine.functional.max", "oneflow.amax"],
    examples: &[
        ("amax(tensor([1.0, 5.0, -2.0]))", "tensor(5.)"),
        ("amax(tensor([[1, 2], [3, 0]]), 0)", "tensor([3, 2])"),
        ("amax(tensor([1.0, float(\"nan\")]))", "tensor(nan)"),
    ],
};

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let dims = dims_attr(cx.op.name, cx.attrs, 0, cx.shape(0).rank())?;
    if n_reduced(cx.shape(0), &dims) == 0 {
        return Err(cx.bad_shapes("nothing to choose from: a reduced dimension has size 0"));
    }
    Ok(smallvec![Meta::new(reduced_shape(cx.shape(0), &dims, cx.flag(1)), cx.dtype(0))])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    with_dtype!(cx.inputs[0].dtype(), T => fold_into::<T, _, T>(cx, 0, reduce::Max, |x| x))
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let (x, y) = (cx.input(0), cx.output(0));
    let dims = dims_attr(cx.op.name, cx.attrs, 0, x.rank())?;
    let hit = to(&eq(x, &spread(y, x.shape(), &dims)?)?, x.dtype())?;
    let at: Vec<i64> = dims.iter().map(|&it| it as i64).collect();
    let share = match at.is_empty() {
        true => hit,
        false => div(&hit, &sum(&hit, &at, true)?)?,
    };
    Ok(vec![Some(mul(&spread(&cx.output_grad()?, x.shape(), &dims)?, &share)?)])
}

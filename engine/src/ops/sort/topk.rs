//! `topk`: the `k` largest (or smallest) elements along a dimension in order, and where they came from.

use smallvec::smallvec;

use super::{ascending, back_to_places, for_each_line};
use crate::cpu::number::Num;
use crate::cpu::strided;
use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind,
    Saves,
};
use crate::shape::resolve_dim;
use crate::{DType, Error, Meta, Metas, OpDef, Result, Tensor, with_dtype};

pub static OP: OpDef = OpDef {
    name: "topk",
    doc: "The `k` largest (or smallest) elements along a dimension in order, and where they came from.",
    params: &[
        Param::tensor("input"),
        Param::required("k", ParamKind::Int),
        Param::with("dim", ParamKind::Int, Default::Int(-1)),
        Param::with("largest", ParamKind::Bool, Default::Bool(true)),
        Param::with("sorted", ParamKind::Bool, Default::Bool(true)),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::new("topk.select", run)]),
    grad: Grad::Rule(grad, Saves::Outputs),
    pure: true,
    method: true,
    onnx: &[Onnx {
        op_type: "TopK",
        since: 11,
        attrs: &[("k", "k"), ("dim", "axis"), ("largest", "largest"), ("sorted", "sorted")],
    }],
    aliases: &["megengine.functional.topk", "oneflow.topk"],
    examples: &[
        ("topk(tensor([3.0, 1.0, 2.0]), 2)", "(tensor([3., 2.]), tensor([0, 2]))"),
        ("topk(tensor([[1, 3], [2, 0]]), 1, 0)", "(tensor([[2, 3]]), tensor([[1, 0]]))"),
        ("topk(tensor([3.0, 1.0, 2.0]), 1, largest=False)", "(tensor([1.]), tensor([1]))"),
    ],
};

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let mut shape = cx.shape(0).clone();
    let dim = resolve_dim(cx.op.name, cx.int(1), shape.rank())?;
    let size = shape.get(dim).copied().unwrap_or(1) as i64;
    if !(0..=size).contains(&cx.int(0)) {
        let problem = format!("must lie between 0 and the size {size}");
        return Err(Error::Attr { op: cx.op.name, name: "k", problem });
    }
    if let Some(size) = shape.dims_mut().get_mut(dim) {
        *size = cx.int(0) as usize;
    }
    Ok(smallvec![Meta::new(shape.clone(), cx.dtype(0)), Meta::new(shape, DType::I64)])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (input, k, descending) = (cx.inputs[0], cx.int(0) as usize, cx.flag(2));
    let dim = resolve_dim(cx.op.name, cx.int(1), input.shape().rank())?;
    let (_, _, inner) = strided::around(input.shape(), dim);
    let [values, indices] = cx.outputs else { return Ok(()) };
    with_dtype!(input.dtype(), T => {
        let (values, indices) = (values.as_mut_slice::<T>(), indices.as_mut_slice::<i64>());
        for_each_line::<T>(&input.to_slice(), input.shape(), dim, |line, block, column| {
            for (at, from) in first(line, k, descending).into_iter().enumerate() {
                let to = (block * k + at) * inner + column;
                (values[to], indices[to]) = (line[from], from as i64);
            }
        });
    });
    Ok(())
}

/// The first `k` positions in sorted order; selects before it sorts.
fn first<T: Num>(line: &[T], k: usize, descending: bool) -> Vec<usize> {
    let by = |a: &usize, b: &usize| {
        let order = ascending(&line[*a], &line[*b]);
        (if descending { order.reverse() } else { order }).then(a.cmp(b))
    };
    let mut order: Vec<usize> = (0..line.len()).collect();
    if k > 0 && k < order.len() {
        order.select_nth_unstable_by(k - 1, by);
    }
    order.truncate(k);
    order.sort_unstable_by(by);
    order
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    back_to_places(cx, cx.int(1))
}

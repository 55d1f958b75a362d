//! `searchsorted`: where each value would go in a sorted vector to keep it sorted: before equal elements, or after them with `right`.

use std::cmp::Ordering;

use smallvec::smallvec;

use super::ascending;
use crate::op::{Body, DTypeRule, Default, Grad, InferCx, Kernel, KernelCx, Param, ParamKind};
use crate::{DType, Error, Meta, Metas, OpDef, Result, with_dtype};

pub static OP: OpDef = OpDef {
    name: "searchsorted",
    doc: "Where each value would go in a sorted vector to keep it sorted: before equal elements, or after them with `right`.",
    params: &[
        Param::tensor("sorted_sequence"),
        Param::tensor("values"),
        Param::with("right", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::new("searchsorted.bisect", run)]),
    grad: Grad::Stops("indices are whole numbers"),
    step: None,
    pure: true,
    method: false,
    internal: false,
    onnx: &[],
    aliases: &[],
    examples: &[
        ("searchsorted(tensor([1, 3, 5]), tensor([3, 6]))", "tensor([1, 3])"),
        ("searchsorted(tensor([1, 3, 5]), tensor([3, 6]), right=True)", "tensor([2, 3])"),
        ("searchsorted(tensor([1.0, 2.0]), tensor([[0.5], [1.5]]))", "tensor([[0],\n        [1]])"),
    ],
};

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    if cx.shape(0).rank() != 1 {
        return Err(cx.bad_shapes("the sorted sequence must be a vector"));
    }
    if cx.dtype(0) != cx.dtype(1) {
        return Err(Error::DTypes { op: cx.op.name, dtypes: vec![cx.dtype(0), cx.dtype(1)] });
    }
    Ok(smallvec![Meta::new(cx.shape(1).clone(), DType::I64)])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (line, values, right) = (cx.inputs[0], cx.inputs[1], cx.flag(0));
    with_dtype!(line.dtype(), T => {
        let (line, values) = (line.to_slice::<T>(), values.to_slice::<T>());
        for (slot, x) in cx.outputs[0].as_mut_slice::<i64>().iter_mut().zip(values.iter()) {
            *slot = line.partition_point(|it| match ascending(it, x) {
                Ordering::Less => true,
                Ordering::Equal => right,
                Ordering::Greater => false,
            }) as i64;
        }
    });
    Ok(())
}

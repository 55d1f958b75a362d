//! `cumsum`: the running sum along a dimension.

use super::cuda::{accumulated, scan};
use super::running::{self, Running};
use crate::apply::complex::by_parts;
use crate::functional::{cumsum, flip};
use crate::meaning::{Array, Meaning, MeaningCx, Scalar, of_kind};
use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, Kernel, Onnx, Param, ParamKind, Saves, Surface, shapes,
};
use crate::{OpDef, Result, Tensor};

pub static OP: OpDef = OpDef {
    name: "cumsum",
    doc: "The running sum along a dimension. Integers and bools count in int64.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("input"),
        Param::required("dim", ParamKind::Int),
        Param::with("dtype", ParamKind::OptDType, Default::None),
    ],
    dtypes: DTypeRule::Any,
    infer: running::infer,
    body: Body::Kernels(&[Kernel::new("reduce.cumsum", |cx| running::run(cx, Running::Sum))
        .on_cuda(|cx| scan(cx, "ng_sum", accumulated(cx.outputs[0].dtype())))]),
    grad: Grad::Rule(grad, Saves::Shapes),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface { shapes: shapes::SAME, complex: Some(by_parts), ..Surface::PLAIN },
    onnx: Onnx::written("CumSum", super::onnx::cumsum),
    aliases: &["megengine.functional.cumsum", "oneflow.cumsum"],
    examples: &[
        ("cumsum(tensor([1.0, 2.0, 3.0]), 0)", "tensor([1., 3., 6.])"),
        ("cumsum(tensor([[1, 2], [3, 4]]), 0)", "tensor([[1, 2],\n        [4, 6]])"),
        ("cumsum(tensor([True, True]), 0)", "tensor([1, 2])"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    of_kind!(&cx.input(0).to(cx.dtypes[0]), x => running::meaning(cx, x, Scalar::added))
}

/// The running sum from the other end.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let dim = cx.int(0);
    if cx.input(0).rank() == 0 {
        return Ok(vec![Some(cx.output_grad()?)]);
    }
    let reversed = cumsum(&flip(&cx.output_grad()?, &[dim])?, dim)?;
    Ok(vec![Some(flip(&reversed, &[dim])?)])
}

//! `dropout_mask`: 0 with probability `p`, else 1 / (1 - p), of the shape and dtype of the input.

use crate::cpu::rows;
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, DTypeRule, Grad, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind, Surface, shapes,
};
use crate::{Metas, OpDef, Result, rules, with_float};

pub static OP: OpDef = OpDef {
    name: "dropout_mask",
    doc: "0 with probability `p`, else 1 / (1 - p), of the shape and dtype of the input.",
    meaning: Meaning::drawn(could_be),
    params: &[Param::tensor("input"), Param::required("p", ParamKind::Float)],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::new("dropout_mask.loop", run)
        .finishing()
        .on_cuda(|cx| super::cuda::dropout_mask(cx, cx.float(0)))]),
    grad: Grad::Stops("the result does not depend on other tensors"),
    step: None,
    pure: false,
    method: false,
    internal: false,
    surface: Surface { shapes: shapes::SAME, ..Surface::PLAIN },
    onnx: Onnx::written("RandomUniform", super::onnx::dropout_mask),
    aliases: &[],
    examples: &[
        ("dropout_mask(zeros(2), 0.0)", "tensor([1., 1.])"),
        ("dropout_mask(zeros(2), 1.0)", "tensor([0., 0.])"),
    ],
};

fn could_be(cx: &MeaningCx<'_>, drawn: &Array) -> bool {
    let p = cx.float(0);
    let is_one = |it: f64| (it * (1.0 - p) - 1.0).abs() < 0.01 && p < 1.0;
    drawn.shape() == cx.shape(0)
        && drawn.floats().iter().all(|it| *it == 0.0 && p > 0.0 || is_one(*it))
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    rules::same_as_input(cx)
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (p, stream, part) = (cx.float(0), cx.stream, cx.part);
    let kept = if p < 1.0 { 1.0 / (1.0 - p) } else { 0.0 };
    with_float!(cx.op.name, cx.outputs[0].dtype(), T => {
        let out = cx.outputs[0].as_mut_slice::<T>();
        stream.draw(|state| {
            rows::in_turn(out, part, |out| {
                state.with_unit(out, |slot, _, drawn: f64| {
                    *slot = if drawn < 1.0 - p { kept as T } else { 0.0 };
                });
            });
        });
        Ok(())
    })
}

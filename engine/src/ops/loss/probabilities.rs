//! `probabilities`: the input, all of whose elements must lie between 0 and 1.

use crate::cpu::interrupt;
use crate::meaning::Meaning;
use crate::op::AdmitCx;
use crate::op::{
    Body, DTypeRule, Default, Grad, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind, Saves,
    Surface, shapes,
};
use crate::{Error, Metas, OpDef, Result, rules, with_float};

pub static OP: OpDef = OpDef {
    name: "probabilities",
    doc: "The input, all of whose elements must lie between 0 and 1; `name` is what the error calls it.",
    meaning: Meaning::of(|cx| cx.input(0).clone()),
    params: &[Param::tensor("input"), Param::with("name", ParamKind::Str, Default::Str("input"))],
    dtypes: DTypeRule::FloatsToSame,
    infer,
    body: Body::Kernels(&[Kernel::new("probabilities.copy", run).admitting(admits).on_cuda(
        |cx| {
            let name = cx.word(0);
            super::cuda::probabilities(cx, Error::Elements { op: cx.op.name, name, rule: RULE })
        },
    )]),
    grad: Grad::Rule(|cx| Ok(vec![Some(cx.output_grad()?)]), Saves::Shapes),
    step: None,
    pure: true,
    method: false,
    internal: true,
    surface: Surface { shapes: shapes::SAME, ..Surface::PLAIN },
    onnx: Onnx::written("Identity", super::onnx::probabilities),
    aliases: &[],
    examples: &[
        ("probabilities(tensor([0.0, 0.25, 1.0]))", "tensor([0.0000, 0.2500, 1.0000])"),
        ("probabilities(tensor([-0.0]))", "tensor([-0.])"),
        ("probabilities(tensor([]))", "tensor([])"),
    ],
};

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    rules::same_as_input(cx)
}

const RULE: &str = "be between 0 and 1: binary_cross_entropy takes probabilities. For scores of any size use BCEWithLogitsLoss, or apply sigmoid first";

fn admits(cx: &AdmitCx<'_>) -> Result<()> {
    let op = cx.op.name;
    cx.elements(0, |input| {
        with_float!(op, input.dtype(), T => {
            if input.to_slice::<T>().iter().all(|it| (0.0..=1.0).contains(it)) {
                return Ok(());
            }
            Err(Error::Elements { op, name: cx.word(0), rule: RULE })
        })
    })
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    with_float!(cx.op.name, cx.inputs[0].dtype(), T => {
        interrupt::copy(cx.outputs[0].as_mut_slice::<T>(), &cx.inputs[0].to_slice::<T>());
        Ok(())
    })
}

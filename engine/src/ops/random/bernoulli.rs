//! `bernoulli`: 1 with the probability that each element of the input gives, else 0.

use crate::cpu::lane::cast;
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::AdmitCx;
use crate::op::{
    Body, DTypeRule, Form, Grad, Is, Kernel, KernelCx, Onnx, Param, Surface, When, shapes,
};
use crate::{Error, OpDef, Result, rules, with_float};

pub static OP: OpDef = OpDef {
    name: "bernoulli",
    doc: "1 with the probability that each element of the input gives, else 0.",
    meaning: Meaning::drawn(could_be),
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::FloatsToSame,
    infer: rules::same_as_input,
    body: Body::Kernels(&[Kernel::new("bernoulli.mersenne", run)
        .admitting(admits)
        .on_cuda(super::cuda::bernoulli)]),
    grad: Grad::Stops("the result does not depend on other tensors"),
    step: None,
    pure: false,
    method: true,
    internal: false,
    surface: Surface {
        form: Some(Form::new("bernoulli", When::At(1, "p", Is::Given))),
        shapes: shapes::SAME,
        ..Surface::PLAIN
    },
    onnx: Onnx::written("Bernoulli", super::onnx::bernoulli),
    aliases: &["oneflow.bernoulli"],
    examples: &[
        ("bernoulli(tensor([0.0, 1.0]))", "tensor([0., 1.])"),
        ("bernoulli(zeros(0))", "tensor([])"),
    ],
};

fn could_be(cx: &MeaningCx<'_>, drawn: &Array) -> bool {
    let mut outcomes = drawn.floats().into_iter().zip(cx.input(0).floats());
    drawn.shape() == cx.shape(0)
        && outcomes.all(|(it, p)| it == 1.0 && p > 0.0 || it == 0.0 && p < 1.0)
}

fn admits(cx: &AdmitCx<'_>) -> Result<()> {
    cx.elements(0, |p| {
        if cast::<f64>(p).iter().all(|it| (0.0..=1.0).contains(it)) {
            return Ok(());
        }
        let problem = "must lie between 0 and 1".into();
        Err(Error::Attr { op: cx.op.name, name: "input", problem })
    })
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let stream = cx.stream;
    with_float!(cx.op.name, cx.outputs[0].dtype(), T => {
        let p = cx.inputs[0].to_slice::<T>();
        let out = cx.outputs[0].as_mut_slice::<T>();
        stream.draw(|state| {
            state.with_unit(out, |slot, at, drawn: T| *slot = T::from(u8::from(drawn < p[at])));
        });
        Ok(())
    })
}

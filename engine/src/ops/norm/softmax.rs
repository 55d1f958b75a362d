//! `softmax`: exponentials along a dimension, scaled to add up to 1.

use smallvec::smallvec;

use super::default_dim;
use crate::cpu::softmax::Form as Kind;
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, DTypeRule, Default, Form, Grad, GradCx, Is, Kernel, Onnx, Param, ParamKind, Saves,
    Surface, When, shapes,
};
use crate::{Attr, OpDef, Result, Tensor, apply_one};

pub static OP: OpDef = OpDef {
    name: "softmax",
    doc: "Exponentials along a dimension, scaled to add up to 1. Safe from overflow.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("input"),
        Param::with("dim", ParamKind::OptInt, Default::None),
        Param::with("dtype", ParamKind::OptDType, Default::None),
    ],
    dtypes: DTypeRule::Any,
    infer: super::infer_softmax,
    body: Body::Kernels(&[Kernel::new("softmax.rows", |cx| super::run_softmax(cx, Kind::Plain))
        .finishing()
        .with_prologue(super::softmax_prologue)
        .on_cuda(|cx| super::cuda::softmax(cx, super::cuda::Form::Softmax))]),
    grad: Grad::Rule(grad, Saves::Outputs),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        form: Some(Form::new("softmax", When::At(2, "_stacklevel", Is::Number))),
        shapes: shapes::SAME,
        ..Surface::PLAIN
    },
    onnx: Onnx::written("Softmax", super::onnx::softmax),
    aliases: &[
        "torch.softmax",
        "megengine.functional.softmax",
        "oneflow.softmax",
        "oneflow.nn.functional.softmax",
    ],
    examples: &[
        ("softmax(tensor([1.0, 2.0, 3.0]), 0)", "tensor([0.0900, 0.2447, 0.6652])"),
        (
            "softmax(tensor([[1000.0, 1000.0], [0.0, 1.0]]), -1)",
            "tensor([[0.5000, 0.5000],\n        [0.2689, 0.7311]])",
        ),
        (
            "softmax(tensor([[1.0, 2.0], [3.0, 5.0]]), 0)",
            "tensor([[0.1192, 0.0474],\n        [0.8808, 0.9526]])",
        ),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    super::shares(cx, |x, log_sum| (x - log_sum).exp())
}

/// By `softmax_backward`.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let y = cx.output(0);
    let dim = default_dim(cx.op.name, cx.attrs, y.rank())? as i64;
    let inputs = [cx.output_grad()?, y.clone()];
    Ok(vec![Some(apply_one(&super::softmax_backward::OP, &inputs, &smallvec![Attr::Int(dim)])?)])
}

//! `log_softmax`: the logarithm of softmax, computed without taking the logarithm of a small number.

use smallvec::smallvec;

use super::default_dim;
use crate::cpu::softmax::Form as Kind;
use crate::functional::{exp, mul, num, sub, sum};
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, DTypeRule, Default, Form, Grad, GradCx, Is, Kernel, Onnx, Param, ParamKind, Saves,
    Surface, When, shapes,
};
use crate::{OpDef, Result, Tensor, apply_one};

pub static OP: OpDef = OpDef {
    name: "log_softmax",
    doc: "The logarithm of softmax, computed without taking the logarithm of a small number.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("input"),
        Param::with("dim", ParamKind::OptInt, Default::None),
        Param::with("dtype", ParamKind::OptDType, Default::None),
    ],
    dtypes: DTypeRule::Any,
    infer: super::infer_softmax,
    body: Body::Kernels(&[Kernel::new("log_softmax.rows", |cx| super::run_softmax(cx, Kind::Log))
        .finishing()
        .with_prologue(super::softmax_prologue)
        .on_cuda(|cx| super::cuda::softmax(cx, super::cuda::Form::LogSoftmax))]),
    grad: Grad::Rule(grad, Saves::Outputs),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        form: Some(Form::new("log_softmax", When::At(2, "_stacklevel", Is::Number))),
        shapes: shapes::SAME,
        ..Surface::PLAIN
    },
    onnx: Onnx::written("LogSoftmax", super::onnx::log_softmax),
    aliases: &[
        "torch.log_softmax",
        "megengine.functional.logsoftmax",
        "oneflow.log_softmax",
        "oneflow.nn.functional.log_softmax",
    ],
    examples: &[
        ("log_softmax(tensor([1.0, 2.0, 3.0]), 0)", "tensor([-2.4076, -1.4076, -0.4076])"),
        (
            "log_softmax(tensor([[1000.0, 1000.0], [0.0, 1.0]]), -1)",
            "tensor([[-0.6931, -0.6931],\n        [-1.3133, -0.3133]])",
        ),
        (
            "log_softmax(tensor([[1.0, 2.0], [3.0, 5.0]]), 0)",
            "tensor([[-2.1269, -3.0486],\n        [-0.1269, -0.0486]])",
        ),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    super::shares(cx, |x, log_sum| x - log_sum)
}

/// `dx = dy - exp(y) * sum(dy)`, of the last dimension by `log_softmax_backward`.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let (y, dy) = (cx.output(0), cx.output_grad()?);
    if y.rank() == 0 {
        return Ok(vec![Some(mul(&dy, &num(0.0))?)]);
    }
    let dim = default_dim(cx.op.name, cx.attrs, y.rank())?;
    if dim + 1 == y.rank() {
        let inputs = [dy, y.clone()];
        return Ok(vec![Some(apply_one(&super::log_softmax_backward::OP, &inputs, &smallvec![])?)]);
    }
    let dim = [dim as i64];
    Ok(vec![Some(sub(&dy, &mul(&exp(y)?, &sum(&dy, &dim, true)?)?)?)])
}

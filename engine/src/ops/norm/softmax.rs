//! `softmax`: exponentials along a dimension, scaled to add up to 1.

use smallvec::smallvec;

use super::default_dim;
use crate::cpu::{softmax, strided};
use crate::functional::{mul, num, sub, sum};
use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind,
    Saves,
};
use crate::{Attr, Error, Meta, Metas, OpDef, Result, Tensor, with_dtype, with_float};

pub static OP: OpDef = OpDef {
    name: "softmax",
    doc: "Exponentials along a dimension, scaled to add up to 1. Safe from overflow.",
    params: &[
        Param::tensor("input"),
        Param::with("dim", ParamKind::OptInt, Default::None),
        Param::with("dtype", ParamKind::OptDType, Default::None),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::new("softmax.rows", run)]),
    grad: Grad::Rule(grad, Saves::Outputs),
    pure: true,
    method: true,
    onnx: &[Onnx { op_type: "Softmax", since: 13, attrs: &[("dim", "axis")] }],
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

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    default_dim(cx.op.name, cx.attrs, cx.shape(0).rank())?;
    let dtype = match cx.attrs.get(1) {
        Some(Attr::DType(dtype)) => *dtype,
        _ => cx.dtype(0),
    };
    if !dtype.is_float() {
        return Err(Error::DType { op: cx.op.name, dtype, allowed: "float32 or float64" });
    }
    Ok(smallvec![Meta::new(cx.shape(0).clone(), dtype)])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let input = cx.inputs[0];
    let dim = default_dim(cx.op.name, cx.attrs, input.shape().rank())?;
    let (_, n, inner) = strided::around(input.shape(), dim);
    let dtype = cx.outputs[0].dtype();
    with_float!(cx.op.name, dtype, T => {
        let out = cx.outputs[0].as_mut_slice::<T>();
        if input.dtype() == dtype {
            softmax::softmax(softmax::Form::Plain, &input.to_slice::<T>(), (n, inner), out);
        } else {
            let data: Vec<T> = with_dtype!(input.dtype(), S => input.to_slice::<S>().iter().map(|&it| it as T).collect());
            softmax::softmax(softmax::Form::Plain, &data, (n, inner), out);
        }
        Ok(())
    })
}

/// `dx = y * (dy - sum(dy * y))`.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let (y, dy) = (cx.output(0), cx.output_grad()?);
    if y.rank() == 0 {
        return Ok(vec![Some(mul(&dy, &num(0.0))?)]);
    }
    let dim = [default_dim(cx.op.name, cx.attrs, y.rank())? as i64];
    let weighted = mul(&dy, y)?;
    Ok(vec![Some(sub(&weighted, &mul(y, &sum(&weighted, &dim, true)?)?)?)])
}

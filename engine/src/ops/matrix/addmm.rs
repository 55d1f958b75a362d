//! `addmm`: `beta * input + alpha * (mat1 @ mat2)`.

use smallvec::smallvec;

use crate::functional::{add, matmul, mul, num};
use crate::op::{Body, ComposedCx, DTypeRule, Default, Grad, Param, ParamKind};
use crate::{OpDef, Outputs, Result, Tensor, rules};

pub static OP: OpDef = OpDef {
    name: "addmm",
    doc: "`beta * input + alpha * (mat1 @ mat2)`.",
    params: &[
        Param::tensor("input"),
        Param::tensor("mat1"),
        Param::tensor("mat2"),
        Param::with("beta", ParamKind::Float, Default::Float(1.0)),
        Param::with("alpha", ParamKind::Float, Default::Float(1.0)),
    ],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "AddmmBackward0"),
    pure: true,
    method: true,
    internal: false,
    onnx: &[],
    aliases: &["oneflow.addmm", "torch.baddbmm", "torch.addmv", "Tensor.baddbmm", "Tensor.addmv"],
    examples: &[
        (
            "addmm(tensor([1.0, 2.0]), tensor([[1.0, 0.0], [0.0, 1.0]]), tensor([[5.0, 6.0], [7.0, 8.0]]))",
            "tensor([[ 6.,  8.],\n        [ 8., 10.]])",
        ),
        (
            "addmm(tensor([[1.0]]), tensor([[2.0]]), tensor([[3.0]]), beta=2.0, alpha=0.5)",
            "tensor([[5.]])",
        ),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let product = matmul(cx.input(1)?, cx.input(2)?)?;
    let scaled = |x: &Tensor, by: f64| if by == 1.0 { Ok(x.clone()) } else { mul(x, &num(by)) };
    Ok(smallvec![add(&scaled(cx.input(0)?, cx.float(0))?, &scaled(&product, cx.float(1))?)?])
}

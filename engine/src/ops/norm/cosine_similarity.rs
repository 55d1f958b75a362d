//! `cosine_similarity`: the cosine of the angle between vectors along a dimension.

use smallvec::smallvec;

use crate::functional::{add, div, expand, maximum, mul, num, sub, sum, to};
use crate::meaning::Meaning;
use crate::op::{Body, ComposedCx, DTypeRule, Default, Grad, Onnx, Param, ParamKind, Surface};
use crate::{Attr, Error, OpDef, Outputs, Result, Tensor, apply_one, rules};

pub static OP: OpDef = OpDef {
    name: "cosine_similarity",
    doc: "The cosine of the angle between vectors along a dimension.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("x1"),
        Param::tensor("x2"),
        Param::with("dim", ParamKind::Int, Default::Int(1)),
        Param::with("eps", ParamKind::Float, Default::Float(1e-08)),
    ],
    dtypes: DTypeRule::Promote,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface {
        shapes: "shapes are broadcast, then the dimension dim is left out",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &["torch.cosine_similarity", "oneflow.nn.functional.cosine_similarity"],
    examples: &[
        ("cosine_similarity(tensor([[1.0, 0.0]]), tensor([[1.0, 1.0]]))", "tensor([0.7071])"),
        ("cosine_similarity(tensor([1.0, 2.0]), tensor([2.0, 4.0]), 0)", "tensor(1.0000)"),
        (
            "cosine_similarity(tensor([[1.0], [2.0]]), tensor([[3.0, 4.0]]), 0)",
            "tensor([0.9487, 0.9487])",
        ),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let shape = rules::broadcast_shape(cx.op, &[cx.input(0)?, cx.input(1)?])?;
    let dtype = cx.input(0)?.dtype().promote(cx.input(1)?.dtype());
    if !dtype.is_float() {
        return Err(Error::DType {
            op: cx.op.name,
            dtype,
            allowed: "floats, at least one of both",
        });
    }
    let whole = |at| to(&expand(cx.input(at)?, &shape)?, dtype);
    let (a, b) = (&whole(0)?, &whole(1)?);
    let dim = [cx.int(0)];
    let unit = |it: &Tensor| {
        let attrs = smallvec![Attr::Float(2.0), Attr::ints(&dim), Attr::Bool(true)];
        let norm = apply_one(&crate::ops::reduce::norm::OP, std::slice::from_ref(it), &attrs)?;
        // The gradient goes on as if no norm had been raised.
        let seen = norm.detach();
        let raised = sub(&maximum(&seen, &num(cx.float(1)))?, &seen)?;
        div(it, &add(&norm, &raised)?)
    };
    Ok(smallvec![sum(&mul(&unit(a)?, &unit(b)?)?, &dim, false)?])
}

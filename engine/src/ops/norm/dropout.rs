//! `dropout`: in training each element is 0 with probability `p`, and the rest are scaled by 1 / (1 - p); otherwise the input.

use smallvec::smallvec;

use crate::functional::{mul, num, permute};
use crate::meaning::Meaning;
use crate::op::{
    Body, ComposedCx, DTypeRule, Default, Grad, Onnx, Param, ParamKind, Surface, shapes,
};
use crate::shape::order_back;
use crate::{Attr, Error, OpDef, Outputs, Result, Tensor, apply_one, rules};

pub static OP: OpDef = OpDef {
    name: "dropout",
    doc: "In training each element is 0 with probability `p`, and the rest are scaled by 1 / (1 - p); otherwise the input.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::with("p", ParamKind::Float, Default::Float(0.5)),
        Param::with("training", ParamKind::Bool, Default::Bool(true)),
    ],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: None,
    pure: false,
    method: false,
    internal: false,
    surface: Surface { by_element: true, shapes: shapes::SAME, ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &["torch.dropout", "megengine.functional.dropout", "oneflow.nn.functional.dropout"],
    examples: &[
        ("dropout(tensor([1.0, 2.0]), 0.5, False)", "tensor([1., 2.])"),
        ("dropout(tensor([1.0, 2.0]), 1.0)", "tensor([0., 0.])"),
        ("dropout(tensor([1.0, 2.0]), 0.0)", "tensor([1., 2.])"),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let (input, p) = (cx.input(0)?, cx.float(0));
    if !(0.0..=1.0).contains(&p) {
        return Err(Error::Attr {
            op: cx.op.name,
            name: "p",
            problem: "must lie between 0 and 1".into(),
        });
    }
    if !cx.flag(1) || p == 0.0 {
        return Ok(smallvec![input.clone()]);
    }
    if !input.dtype().is_float() {
        if p < 1.0 {
            return Err(Error::DType { op: cx.op.name, dtype: input.dtype(), allowed: "floats" });
        }
        return Ok(smallvec![mul(input, &Tensor::int_number(0))?]);
    }
    if p == 1.0 {
        return Ok(smallvec![mul(input, &num(0.0))?]);
    }
    Ok(smallvec![mul(input, &mask(&input.detach(), p)?)?])
}

/// The mask is drawn in the order in which the elements of the input lie, if without gaps, as in PyTorch.
fn mask(input: &Tensor, p: f64) -> Result<Tensor> {
    let draw = |x: &Tensor| {
        let attrs = smallvec![Attr::Float(p)];
        apply_one(&crate::ops::random::dropout_mask::OP, std::slice::from_ref(x), &attrs)
    };
    let order = if input.layout().is_contiguous() { None } else { input.layout().dense_order() };
    let Some(order) = order else { return draw(input) };
    let dims: Vec<i64> = order.iter().map(|&it| it as i64).collect();
    permute(&draw(&permute(input, &dims)?)?, &order_back(&order))
}

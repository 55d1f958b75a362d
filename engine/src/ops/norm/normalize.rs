//! `normalize`: divided by its `p`-norm along a dimension, or by `eps` where that is larger.

use smallvec::smallvec;

use crate::functional::{div, maximum, num};
use crate::meaning::Meaning;
use crate::op::{
    Body, ComposedCx, DTypeRule, Default, Grad, Onnx, Param, ParamKind, Surface, shapes,
};
use crate::{Attr, OpDef, Outputs, Result, apply_one, rules};

pub static OP: OpDef = OpDef {
    name: "normalize",
    doc: "Divided by its `p`-norm along a dimension, or by `eps` where that is larger.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::with("p", ParamKind::Float, Default::Float(2.0)),
        Param::with("dim", ParamKind::Int, Default::Int(1)),
        Param::with("eps", ParamKind::Float, Default::Float(1e-12)),
    ],
    dtypes: DTypeRule::FloatsToSame,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface { shapes: shapes::SAME, complex: Some(body), ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &["megengine.functional.normalize", "oneflow.nn.functional.normalize"],
    examples: &[
        ("normalize(tensor([[3.0, 4.0]]))", "tensor([[0.6000, 0.8000]])"),
        ("normalize(tensor([1.0, 3.0]), 1.0, 0)", "tensor([0.2500, 0.7500])"),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let input = cx.input(0)?;
    let attrs = smallvec![Attr::Float(cx.float(0)), Attr::ints(&[cx.int(1)]), Attr::Bool(true)];
    let norm = apply_one(&crate::ops::reduce::norm::OP, std::slice::from_ref(input), &attrs)?;
    Ok(smallvec![div(input, &maximum(&norm, &num(cx.float(2)))?)?])
}

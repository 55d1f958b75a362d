//! `repeat_interleave`: every element `repeats` times in a row along a dimension (of the flattened tensor without one).

use smallvec::smallvec;

use super::size_list;
use crate::functional::{expand, reshape, unsqueeze};
use crate::meaning::Meaning;
use crate::op::{
    Body, ComposedCx, DTypeRule, Default, Form, Grad, Is, Onnx, Param, ParamKind, Surface, When,
};
use crate::shape::resolve_dim;
use crate::{Attr, OpDef, Outputs, Result, Shape, rules};

pub static OP: OpDef = OpDef {
    name: "repeat_interleave",
    doc: "Every element `repeats` times in a row along a dimension (of the flattened tensor without one).",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::required("repeats", ParamKind::Int),
        Param::with("dim", ParamKind::OptInt, Default::None),
    ],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        form: Some(Form::new(
            "repeat_interleave",
            When::Any(&[When::Arg("repeats", Is::Absent), When::Arg("repeats", Is::Tensor)]),
        )),
        shapes: "the size along dim times repeats; without dim the input is made flat before",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &["megengine.functional.repeat"],
    examples: &[
        ("repeat_interleave(tensor([1, 2]), 2)", "tensor([1, 1, 2, 2])"),
        (
            "repeat_interleave(tensor([[1, 2], [3, 4]]), 2, 0)",
            "tensor([[1, 2],\n        [1, 2],\n        [3, 4],\n        [3, 4]])",
        ),
        ("repeat_interleave(tensor([[1, 2], [3, 4]]), 1)", "tensor([1, 2, 3, 4])"),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let input = cx.input(0)?;
    let times = size_list(cx.op.name, "repeats", &[cx.int(0)])?[0];
    let (input, dim) = match cx.attrs[1] {
        Attr::Int(dim) if input.rank() > 0 => {
            (input.clone(), resolve_dim(cx.op.name, dim, input.rank())?)
        }
        _ => (reshape(input, &Shape::from([input.numel()]))?, 0),
    };
    let mut wide = input.shape().clone();
    wide.dims_mut().insert(dim + 1, times);
    let mut joined = input.shape().clone();
    joined.dims_mut()[dim] = joined[dim].saturating_mul(times);
    wide.checked_numel(cx.op.name)?;
    Ok(smallvec![reshape(&expand(&unsqueeze(&input, dim as i64 + 1)?, &wide)?, &joined)?])
}

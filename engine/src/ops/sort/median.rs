//! `median`: the median of all elements, or along `dim` with where it is; of an even number the lower one.

use smallvec::smallvec;

use crate::functional::{reshape, select, unsqueeze};
use crate::op::{Body, ComposedCx, DTypeRule, Default, Grad, Param, ParamKind};
use crate::shape::resolve_dim;
use crate::{Attr, Error, OpDef, Outputs, Result, Shape, Tensor, apply, rules};

pub static OP: OpDef = OpDef {
    name: "median",
    doc: "The median of all elements, or along `dim` with where it is; of an even number the lower one.",
    params: &[
        Param::tensor("input"),
        Param::with("dim", ParamKind::OptInt, Default::None),
        Param::with("keepdim", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    onnx: &[],
    aliases: &["oneflow.median"],
    examples: &[
        ("median(tensor([3.0, 1.0, 2.0]))", "tensor(2.)"),
        ("median(tensor([4, 1, 3, 2]))", "tensor(2)"),
        (
            "median(tensor([[3.0, 1.0, 2.0], [9.0, 7.0, 8.0]]), 1)",
            "torch.return_types.median(\nvalues=tensor([2., 8.]),\nindices=tensor([2, 2]))",
        ),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let input = cx.input(0)?;
    let (line, dim) = match cx.attrs[0] {
        Attr::Int(dim) if input.rank() > 0 => {
            (input.clone(), resolve_dim(cx.op.name, dim, input.rank())?)
        }
        _ => (reshape(input, &Shape::from([input.numel()]))?, 0),
    };
    let size = line.shape()[dim];
    if size == 0 {
        let rule = "nothing has no median".into();
        return Err(Error::Shapes { op: cx.op.name, shapes: vec![input.shape().clone()], rule });
    }
    let attrs = smallvec![Attr::Int(dim as i64), Attr::Bool(false), Attr::Bool(true)];
    let sorted = apply(&super::sort::OP, &[line], &attrs)?;
    let keepdim = cx.flag(1) && matches!(cx.attrs[0], Attr::Int(_));
    let middle = |it: &Tensor| {
        let res = select(it, dim as i64, (size as i64 - 1) / 2)?;
        if keepdim { unsqueeze(&res, dim as i64) } else { Ok(res) }
    };
    let n_outputs = if matches!(cx.attrs[0], Attr::Int(_)) { 2 } else { 1 };
    sorted.iter().take(n_outputs).map(middle).collect()
}

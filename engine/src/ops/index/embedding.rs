//! `embedding`: rows of `weight` picked by whole numbers; the row `padding_idx` gets no gradient.

use smallvec::smallvec;

use crate::functional::{eq, reshape, select_where, unsqueeze};
use crate::meaning::Meaning;
use crate::op::{Body, ComposedCx, DTypeRule, Default, Grad, Onnx, Param, ParamKind, Surface};
use crate::shape::resolve_dim;
use crate::{Attr, Error, OpDef, Outputs, Result, Shape, Tensor, apply_one, rules};

pub static OP: OpDef = OpDef {
    name: "embedding",
    doc: "Rows of `weight` picked by whole numbers; the row `padding_idx` gets no gradient.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::tensor("weight"),
        Param::with("padding_idx", ParamKind::OptInt, Default::None),
    ],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "EmbeddingBackward0"),
    pure: true,
    method: false,
    internal: false,
    surface: Surface { shapes: "indices [...] and weight [V, D] give [..., D]", ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &["megengine.functional.embedding", "oneflow.nn.functional.embedding"],
    examples: &[
        (
            "embedding(tensor([1, 0]), tensor([[1.0, 2.0], [3.0, 4.0]]))",
            "tensor([[3., 4.],\n        [1., 2.]])",
        ),
        ("embedding(tensor([[1]]), tensor([[1.0], [3.0]]))", "tensor([[[3.]]])"),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let (index, weight) = (cx.input(0)?, cx.input(1)?);
    if weight.rank() != 2 {
        let rule = "the weight must be a matrix".into();
        return Err(Error::Shapes { op: cx.op.name, shapes: vec![weight.shape().clone()], rule });
    }
    let flat = reshape(index, &Shape::from([index.numel()]))?;
    let rows =
        apply_one(&super::index_select::OP, &[weight.clone(), flat], &smallvec![Attr::Int(0)]);
    let rows = rows.map_err(|it| match it {
        Error::IndexRange { index, size, .. } => Error::TableRow { row: index, n_rows: size },
        other => other,
    })?;
    let shape: Shape = index.shape().iter().copied().chain([weight.shape()[1]]).collect();
    let rows = reshape(&rows, &shape)?;
    let Attr::Int(padding) = cx.attrs[0] else { return Ok(smallvec![rows]) };
    let padding = resolve_dim(cx.op.name, padding, weight.shape()[0])? as i64;
    let hidden = unsqueeze(&eq(index, &Tensor::int_number(padding))?, -1)?;
    Ok(smallvec![select_where(&hidden, &rows.detach(), &rows)?])
}

//! `movedim`: a dimension moved to another place; the others keep their order.

use smallvec::smallvec;

use crate::functional::permute;
use crate::meaning::Meaning;
use crate::op::{Body, ComposedCx, DTypeRule, Grad, Onnx, Param, ParamKind, Returns, Surface};
use crate::shape::resolve_dim;
use crate::{Error, OpDef, Outputs, Result, rules};

pub static OP: OpDef = OpDef {
    name: "movedim",
    doc: "A dimension moved to another place; the others keep their order.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::required("source", ParamKind::Ints),
        Param::required("destination", ParamKind::Ints),
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
        returns: Returns::View,
        shapes: "the same sizes in another order",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &["torch.moveaxis", "oneflow.movedim"],
    examples: &[
        ("movedim(zeros(2, 3, 4), 0, -1).shape", "torch.Size([3, 4, 2])"),
        ("movedim(tensor([[1, 2], [3, 4]]), 1, 0)", "tensor([[1, 3],\n        [2, 4]])"),
        ("movedim(zeros(2, 3, 4), (0, 1), (1, 2)).shape", "torch.Size([4, 2, 3])"),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let input = cx.input(0)?;
    let resolve = |idx: usize| -> Result<Vec<usize>> {
        cx.ints(idx)
            .unwrap_or_default()
            .iter()
            .map(|&it| resolve_dim(cx.op.name, it, input.rank()))
            .collect()
    };
    let (from, to) = (resolve(0)?, resolve(1)?);
    let mut order = vec![None; input.rank()];
    for (&from, &to) in from.iter().zip(&to) {
        if let Some(slot) = order.get_mut(to) {
            *slot = Some(from as i64);
        }
    }
    let distinct = order.iter().flatten().count() == from.len() && from.len() == to.len();
    if !distinct {
        let problem = "must name as many different dimensions as source".into();
        return Err(Error::Attr { op: cx.op.name, name: "destination", problem });
    }
    let mut rest = (0..input.rank()).filter(|it| !from.contains(it)).map(|it| it as i64);
    let order: Vec<i64> = order.into_iter().filter_map(|it| it.or_else(|| rest.next())).collect();
    Ok(smallvec![permute(input, &order)?])
}

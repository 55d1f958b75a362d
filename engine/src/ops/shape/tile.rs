//! `tile`: copies side by side: `dims` per dimension, which may add dimensions in front; where there are fewer, they are for the last ones.

use smallvec::smallvec;

use super::size_list;
use crate::functional::{expand, reshape};
use crate::meaning::Meaning;
use crate::op::{Body, ComposedCx, DTypeRule, Grad, Onnx, Param, ParamKind, Surface};
use crate::{OpDef, Outputs, Result, Shape, rules};

pub static OP: OpDef = OpDef {
    name: "tile",
    doc: "Copies side by side: `dims` per dimension, which may add dimensions in front; where there are fewer, they are for the last ones.",
    meaning: Meaning::Composed,
    params: &[Param::tensor("input"), Param::required("dims", ParamKind::Ints)],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        shapes: "each size times its number, counted from the last; more numbers than dimensions add some in front",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &["megengine.functional.tile", "oneflow.tile"],
    examples: &[
        ("tile(tensor([1, 2]), (2,))", "tensor([1, 2, 1, 2])"),
        (
            "tile(tensor([1, 2]), (2, 1))",
            "tensor([[1, 2],
        [1, 2]])",
        ),
        (
            "tile(tensor([[1], [2]]), (2,))",
            "tensor([[1, 1],
        [2, 2]])",
        ),
    ],
};

/// One group of `[1, size]` per dimension, expanded to `[times, size]` and joined.
pub(super) fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let input = cx.input(0)?;
    let repeats = size_list(cx.op.name, cx.op.params[1].name, &cx.ints(0).unwrap_or_default())?;
    let rank = repeats.rank().max(input.rank());
    let size = |it: usize| it.checked_sub(rank - input.rank()).map_or(1, |it| input.shape()[it]);
    let times = |it: usize| it.checked_sub(rank - repeats.rank()).map_or(1, |it| repeats[it]);
    let split: Shape = (0..rank).flat_map(|it| [1, size(it)]).collect();
    let wide: Shape = (0..rank).flat_map(|it| [times(it), size(it)]).collect();
    let joined: Shape = (0..rank).map(|it| times(it).saturating_mul(size(it))).collect();
    wide.checked_numel(cx.op.name)?;
    Ok(smallvec![reshape(&expand(&reshape(input, &split)?, &wide)?, &joined)?])
}

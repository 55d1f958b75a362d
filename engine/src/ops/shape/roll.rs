//! `roll`: elements shifted along dimensions; what leaves at the end comes in at the start.

use smallvec::smallvec;

use crate::functional::{cat, reshape, slice};
use crate::meaning::Meaning;
use crate::op::{
    Body, ComposedCx, DTypeRule, Default, Grad, Onnx, Param, ParamKind, Surface, shapes,
};
use crate::shape::resolve_dim;
use crate::{Error, OpDef, Outputs, Result, Shape, Tensor, rules};

pub static OP: OpDef = OpDef {
    name: "roll",
    doc: "Elements shifted along dimensions; what leaves at the end comes in at the start. Without dims the flattened tensor is shifted.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::required("shifts", ParamKind::Ints),
        Param::with("dims", ParamKind::OptInts, Default::None),
    ],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "RollBackward0"),
    pure: true,
    method: true,
    internal: false,
    surface: Surface { shapes: shapes::SAME, ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &["megengine.functional.roll", "oneflow.roll"],
    examples: &[
        ("roll(tensor([1, 2, 3, 4]), 1)", "tensor([4, 1, 2, 3])"),
        ("roll(tensor([[1, 2], [3, 4]]), 1)", "tensor([[4, 1],\n        [2, 3]])"),
        (
            "roll(tensor([[1, 2, 3], [4, 5, 6]]), (1, -1), (0, 1))",
            "tensor([[5, 6, 4],\n        [2, 3, 1]])",
        ),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let input = cx.input(0)?;
    let shifts = cx.ints(0).unwrap_or_default();
    let Some(dims) = cx.ints(1).filter(|it| !it.is_empty()) else {
        let [shift] = shifts[..] else { return Err(mismatch(cx)) };
        let flat = reshape(input, &Shape::from([input.numel()]))?;
        return Ok(smallvec![reshape(&rolled(&flat, 0, shift)?, input.shape())?]);
    };
    if dims.len() != shifts.len() {
        return Err(mismatch(cx));
    }
    let mut res = input.clone();
    for (&dim, &shift) in dims.iter().zip(&shifts) {
        res = rolled(&res, resolve_dim(cx.op.name, dim, input.rank())?, shift)?;
    }
    Ok(smallvec![res])
}

fn mismatch(cx: &ComposedCx<'_>) -> Error {
    Error::Attr {
        op: cx.op.name,
        name: "shifts",
        problem: "needs one number per dimension in dims".into(),
    }
}

fn rolled(input: &Tensor, dim: usize, shift: i64) -> Result<Tensor> {
    let size = input.shape().get(dim).copied().unwrap_or(0) as i64;
    if size == 0 {
        return Ok(input.clone());
    }
    let cut = (size - shift.rem_euclid(size)) % size;
    let dim = dim as i64;
    cat(&[slice(input, dim, cut, size, 1)?, slice(input, dim, 0, cut, 1)?], dim)
}

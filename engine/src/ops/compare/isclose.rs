//! `isclose`: whether `|input - other| <= atol + rtol * |other|`.

use crate::dtype::result_type;
use crate::expr::Expr;
use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Default, Grad, Onnx, OpDef, Param, ParamKind, Surface};
use crate::{Attrs, DType, Error, Result, Tensor, rules};

/// The row of `isclose`.
pub static OP: OpDef = OpDef {
    name: "isclose",
    doc: "Whether `|input - other| <= atol + rtol * |other|`.",
    meaning: Meaning::Expression,
    params: &[
        Param::tensor("input"),
        Param::tensor("other"),
        Param::with("rtol", ParamKind::Float, Default::Float(1e-5)),
        Param::with("atol", ParamKind::Float, Default::Float(1e-8)),
        Param::with("equal_nan", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::Custom(dtypes),
    infer: rules::broadcast,
    body: Body::Scalar(|x, _| {
        let (a, b) = (x[0].clone(), x[1].clone());
        let near =
            (a.clone() - b.clone()).abs().le(b.clone().abs() * Expr::param(0) + Expr::param(1));
        let both_nan = a.clone().isnan().and(b.clone().isnan()).and(Expr::param(2));
        a.clone().eq(b.clone()).or(near.and(a.isfinite()).and(b.isfinite())).or(both_nan)
    }),
    grad: Grad::Stops("the result is bool"),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("isclose(tensor([1.0, 2.0]), tensor([1.000001, 2.1]))", "tensor([ True, False])"),
        ("isclose(tensor([inf, nan]), tensor([inf, nan]))", "tensor([ True, False])"),
        (
            "isclose(tensor([nan, 1.0]), tensor([nan, 1.2]), rtol=0.5, equal_nan=True)",
            "tensor([True, True])",
        ),
    ],
};

/// Both have one dtype, but for numbers.
fn dtypes(inputs: &[Tensor], _: &Attrs) -> Result<(DType, DType)> {
    let tensors = inputs.iter().filter(|it| it.as_number().is_none());
    let found: Vec<DType> = tensors.map(Tensor::dtype).collect();
    if found.windows(2).any(|it| it[0] != it[1]) {
        return Err(Error::DTypes { op: OP.name, dtypes: found });
    }
    let computed = result_type(inputs.iter().map(|it| (it.dtype(), it.strength())));
    Ok((computed.promote(DType::F32), DType::Bool))
}

//! `clamp`: x limited to `min..max`; either may be absent.

use smallvec::SmallVec;

use crate::dtype::Strength;
use crate::expr::Expr;
use crate::meaning::Meaning;
use crate::op::{
    Body, DTypeRule, Default, Form, Grad, InferCx, Is, Onnx, OpDef, Param, ParamKind, Surface, When,
};
use crate::{Attr, Attrs, DType, Error, Number, Result, Tensor, rules};

/// The row of `clamp`.
pub static OP: OpDef = OpDef {
    name: "clamp",
    doc: "x limited to `min..max`; either may be absent.",
    meaning: Meaning::Expression,
    params: &[
        Param::tensor("input"),
        Param::with("min", ParamKind::OptFloat, Default::None),
        Param::with("max", ParamKind::OptFloat, Default::None),
    ],
    dtypes: DTypeRule::Custom(limits),
    infer: rules::broadcast,
    body: Body::Scalar(|x, attrs| body(&x[0], attrs)),
    grad: Grad::Derived,
    step: Some(|_| "ClampBackward1"),
    pure: true,
    method: true,
    internal: false,
    surface: Surface { form: Some(OTHER_LIMITS), refuses: Some(no_limits), ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &["megengine.functional.clip", "oneflow.clamp", "oneflow.clip", "torch.clip"],
    examples: &[
        (
            "clamp(tensor([-2.0, 0.5, 3.0]), min=-1.0, max=1.0)",
            "tensor([-1.0000,  0.5000,  1.0000])",
        ),
        ("clamp(tensor([-2.0, nan, inf]), max=1.0)", "tensor([-2., nan,  1.])"),
        ("clamp(tensor([1, 5, 9]), 3, 6)", "tensor([3, 5, 6])"),
        ("clamp(tensor([-0.0, 0.0]), min=0.0)", "tensor([-0., 0.])"),
    ],
};

/// Limits that are tensors; without any limit, the same function says what is missing.
const OTHER_LIMITS: Form = Form {
    in_place: true,
    ..Form::new(
        "clamp",
        When::Any(&[
            When::Arg("min", Is::Tensor),
            When::Arg("max", Is::Tensor),
            When::All(&[NO_MIN, NO_MAX]),
        ]),
    )
};
const NO_MIN: When = When::Any(&[When::Arg("min", Is::Absent), When::Arg("min", Is::None)]);
const NO_MAX: When = When::Any(&[When::Arg("max", Is::Absent), When::Arg("max", Is::None)]);

/// The lower bound first: where the bounds cross, `max` wins. At the bounds themselves gradients stop, and a zero keeps its sign.
fn body(x: &Expr, attrs: &Attrs) -> Expr {
    let given = |idx: usize| attrs.get(idx).is_some_and(|it| !matches!(it, Attr::None));
    let low = if given(0) { Expr::param(0).max(x.clone()) } else { x.clone() };
    if given(1) { Expr::param(1).min(low) } else { low }
}

/// Refuses a lower bound above all that the dtype holds, and an upper one below.
fn no_limits(cx: &InferCx<'_>) -> Result<()> {
    let dtype = limits(cx.inputs, cx.attrs)?.1;
    let Some((least, most)) = dtype.int_range() else { return Ok(()) };
    let refuse =
        |name, it: &i64| Err(Error::Range { op: OP.name, name, number: Number::Int(*it), dtype });
    match cx.attrs.as_slice() {
        [Attr::Int(low), ..] if *low > most => refuse("min", low),
        [_, Attr::Int(high)] if *high < least => refuse("max", high),
        _ => Ok(()),
    }
}

/// A float bound lifts integers to float32, as a float number does in arithmetic.
fn limits(inputs: &[Tensor], attrs: &Attrs) -> Result<(DType, DType)> {
    let own = inputs.iter().map(|it| (it.dtype(), it.strength()));
    let bounds = attrs.iter().filter_map(|it| match it {
        Attr::Float(_) => Some((DType::F64, Strength::Number)),
        Attr::Int(_) => Some((DType::I64, Strength::Number)),
        _ => None,
    });
    let dtype =
        crate::dtype::result_type(own.chain(bounds).collect::<SmallVec<[_; 3]>>().into_iter());
    Ok((dtype, dtype))
}

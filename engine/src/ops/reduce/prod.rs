//! `prod`: the product over dimensions, or of all elements.

use smallvec::smallvec;

use super::{accumulate, dims_attr, spread};
use crate::cpu::reduce;
use crate::functional::{div, eq, mul, num, select_where, sub, sum, to};
use crate::meaning::{Array, Meaning, MeaningCx, Scalar, of_kind, over};
use crate::op::{
    Autocast, Body, DTypeRule, Default, Grad, GradCx, Kernel, KernelCx, Onnx, Param, ParamKind,
    Saves, Surface, shapes,
};
use crate::{Attr, DType, OpDef, Result, Tensor, apply_one, functional};

pub static OP: OpDef = OpDef {
    name: "prod",
    doc: "The product over dimensions, or of all elements. Integers and bools multiply in int64.",
    meaning: Meaning::Of(meaning),
    params: &[
        Param::tensor("input"),
        Param::with("dim", ParamKind::OptInts, Default::None),
        Param::with("keepdim", ParamKind::Bool, Default::Bool(false)),
        Param::with("dtype", ParamKind::OptDType, Default::None),
    ],
    dtypes: DTypeRule::Any,
    infer: super::infer_accumulated,
    body: Body::Kernels(&[Kernel::new("reduce.prod", run)]),
    grad: Grad::Rule(grad, Saves::Inputs),
    step: Some(|cx| if cx.has(0) { "ProdBackward1" } else { "ProdBackward0" }),
    pure: true,
    method: true,
    internal: false,
    surface: Surface { autocast: Autocast::Float32, shapes: shapes::REDUCED, ..Surface::PLAIN },
    onnx: &[Onnx {
        op_type: "ReduceProd",
        since: 13,
        attrs: &[("dim", "axes"), ("keepdim", "keepdims")],
    }],
    aliases: &["megengine.functional.prod", "oneflow.prod"],
    examples: &[
        ("prod(tensor([2.0, 3.0]))", "tensor(6.)"),
        ("prod(tensor([[1, 2], [3, 4]]), 1)", "tensor([ 2, 12])"),
        ("prod(zeros(0))", "tensor(1.)"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (x, dims) = (cx.input(0).to(cx.dtypes[0]), cx.dims(0, cx.input(0).rank()));
    of_kind!(&x, x => over(x, &dims, cx.flag(1), |all| {
        all.iter().fold(Scalar::ONE, |product, x| Scalar::multiplied(product, *x))
    }))
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    accumulate(cx, reduce::Product)
}

/// The product of the others: with no zero it is `y / x`; with one zero only that element has it; with more it is 0.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let x = cx.input(0);
    let dims = dims_attr(cx.op.name, cx.attrs, 0, x.rank())?;
    let at: Vec<i64> = dims.iter().map(|&it| it as i64).collect();
    let (zero, one) = (
        functional::full(x.shape(), 0.0, x.dtype())?,
        functional::full(x.shape(), 1.0, x.dtype())?,
    );
    let is_zero = eq(x, &num(0.0))?;
    let filled = select_where(&is_zero, &one, x)?;
    let others = apply_one(
        &OP,
        std::slice::from_ref(&filled),
        &smallvec![Attr::ints(&at), Attr::Bool(true), Attr::None],
    )?;
    let n_zeros = sum(&is_zero, &at, true)?;
    let zeros_beside = sub(&n_zeros, &to(&is_zero, DType::I64)?)?;
    let others =
        select_where(&eq(&zeros_beside, &Tensor::int_number(0))?, &div(&others, &filled)?, &zero)?;
    Ok(vec![Some(mul(&spread(&cx.output_grad()?, x.shape(), &dims)?, &others)?)])
}

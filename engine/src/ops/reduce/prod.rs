//! `prod`: the product over dimensions, or of all elements.

use smallvec::smallvec;

use super::cumprod::shifted;
use super::{accumulate, dims_attr, n_reduced, reduced_shape, spread};
use crate::cpu::reduce;
use crate::functional::{
    cat, div, eq, flip, full, gt, mul, num, permute, reshape, select_where, slice, sub, sum, to,
};
use crate::meaning::{Array, Meaning, MeaningCx, Scalar, of_kind, over};
use crate::op::{
    Autocast, Body, ComposedCx, DTypeRule, Default, Grad, GradCx, Kernel, KernelCx, Onnx, Param,
    ParamKind, Saves, Surface, shapes,
};
use crate::shape::order_back;
use crate::{Attr, DType, OpDef, Outputs, Result, Tensor, apply_one, functional, tape};

pub static OP: OpDef = OpDef {
    name: "prod",
    doc: "The product over dimensions, or of all elements. Integers and bools multiply in int64.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("input"),
        Param::with("dim", ParamKind::OptInts, Default::None),
        Param::with("keepdim", ParamKind::Bool, Default::Bool(false)),
        Param::with("dtype", ParamKind::OptDType, Default::None),
    ],
    dtypes: DTypeRule::Any,
    infer: super::infer_accumulated,
    body: Body::Kernels(&[Kernel::new("reduce.prod", run)
        .finishing()
        .with_prologue(super::accumulated)
        .on_cuda(|cx| super::cuda::accumulate(cx, "ng_product"))]),
    grad: Grad::Rule(grad, Saves::Inputs),
    step: Some(|cx| if cx.has(0) { "ProdBackward1" } else { "ProdBackward0" }),
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        autocast: Autocast::Float32,
        shapes: shapes::REDUCED,
        complex: Some(of_complex),
        ..Surface::PLAIN
    },
    onnx: Onnx::written("ReduceProd", super::onnx::prod),
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

/// Halves of the numbers multiplied by each other, until one is left.
fn of_complex(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let x = match cx.attrs.get(2) {
        Some(Attr::DType(dtype)) => to(cx.input(0)?, *dtype)?,
        _ => cx.input(0)?.clone(),
    };
    let dims = dims_attr(cx.op.name, cx.attrs, 0, x.rank())?;
    let mut n = n_reduced(x.shape(), &dims);
    let order = order(x.rank(), &dims);
    let mut res = lines(&permuted(&x, &order)?, n, dims.len())?;
    while n > 1 {
        let (half, odd) = ((n / 2) as i64, n % 2);
        let [low, high] = [0, half].map(|it| slice(&res, -1, it, it + half, 1));
        let products = mul(&low?, &high?)?;
        res = match odd {
            0 => products,
            _ => cat(&[products, slice(&res, -1, 2 * half, n as i64, 1)?], -1)?,
        };
        n = n / 2 + odd;
    }
    let shape = reduced_shape(x.shape(), &dims, cx.flag(1));
    Ok(smallvec![if n == 0 { full(&shape, 1.0, x.dtype())? } else { reshape(&res, &shape)? }])
}

/// The dimensions that stay, then those that are reduced.
fn order(rank: usize, dims: &[usize]) -> Vec<usize> {
    let kept = (0..rank).filter(|it| !dims.contains(it));
    kept.chain(dims.iter().copied()).collect()
}

fn permuted(x: &Tensor, order: &[usize]) -> Result<Tensor> {
    permute(x, &order.iter().map(|&it| it as i64).collect::<Vec<_>>())
}

/// The last `n_dims` dimensions as one, of `n` elements.
fn lines(x: &Tensor, n: usize, n_dims: usize) -> Result<Tensor> {
    let kept = &x.shape()[..x.rank() - n_dims];
    reshape(x, &kept.iter().copied().chain([n]).collect())
}

/// For each element the product of the others: of those before it, times that of those behind it.
fn others_by_products(x: &Tensor, dims: &[usize]) -> Result<Tensor> {
    let order = order(x.rank(), dims);
    let turned = permuted(x, &order)?;
    let lines = lines(&turned, n_reduced(x.shape(), dims), dims.len())?;
    let dim = lines.rank() as i64 - 1;
    let before = |lines: &Tensor| {
        let attrs = smallvec![Attr::Int(dim), Attr::None];
        apply_one(&super::cumprod::OP, &[shifted(lines, dim, 1.0)?], &attrs)
    };
    let behind = flip(&before(&flip(&lines, &[dim])?)?, &[dim])?;
    let others = reshape(&mul(&before(&lines)?, &behind)?, turned.shape())?;
    permute(&others, &order_back(&order))
}

/// The product of the others: with no zero it is `y / x`; with one zero only that element has it; with more it is 0. What that is where
/// there are zeros has no derivative; where one is wanted, the others of such lines are multiplied.
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
    let by_quotient = div(&others, &filled)?;
    let others = if tape::enabled() && !dims.is_empty() && x.numel() > 0 {
        // Lines without zeros are lines of ones there: what is not taken is no NaN that its gradient would pass on.
        let has_zeros = gt(&n_zeros, &Tensor::int_number(0))?;
        let lines = select_where(&has_zeros, x, &one)?;
        select_where(&has_zeros, &others_by_products(&lines, &dims)?, &by_quotient)?
    } else {
        let zeros_beside = sub(&n_zeros, &to(&is_zero, DType::I64)?)?;
        select_where(&eq(&zeros_beside, &Tensor::int_number(0))?, &by_quotient, &zero)?
    };
    let dy = spread(&cx.output_grad()?, x.shape(), &dims)?;
    Ok(vec![Some(mul(&dy, &others)?)])
}

//! `logsumexp`: the logarithm of the sum of exponentials, safe from overflow.

use smallvec::smallvec;

use super::cuda::{Fold, over_dims};
use super::{Rows, around, dims_attr, lines_near, reduced_shape, rows, spread, together};
use crate::apply::default_dtype;
use crate::cpu::softmax;
use crate::cuda::source::computed;
use crate::functional::{
    abs, add, exp, log, lt, mul, num, part, reshape, select_where, sub, sum, to,
};
use crate::meaning::{Array, Meaning, MeaningCx, log_sum_exp, over};
use crate::op::{
    Body, ComposedCx, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param,
    ParamKind, Saves, Surface, shapes,
};
use crate::{
    Attr, DType, Meta, Metas, OpDef, Outputs, Result, Tensor, apply, apply_one, with_float,
};

pub static OP: OpDef = OpDef {
    name: "logsumexp",
    doc: "The logarithm of the sum of exponentials, safe from overflow.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("input"),
        Param::with("dim", ParamKind::OptInts, Default::None),
        Param::with("keepdim", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::FloatsToSame,
    infer,
    body: Body::Kernels(&[Kernel::new("reduce.logsumexp", run)
        .finishing()
        .with_prologue(prologue)
        .on_cuda(|cx| {
            let fold = Fold { size: 16, ..Fold::of("ng_exponentials", computed(cx.dtype(0))) };
            over_dims(cx, 0, &fold)
        })]),
    grad: Grad::Rule(grad, Saves::Both),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        shapes: shapes::REDUCED,
        complex: Some(of_complex),
        whole: Some(|cx| apply(cx.op, &[to(cx.input(0)?, default_dtype::get())?], cx.attrs)),
        ..Surface::PLAIN
    },
    onnx: Onnx::written("ReduceLogSumExp", super::onnx::logsumexp),
    aliases: &["megengine.functional.logsumexp", "oneflow.logsumexp"],
    examples: &[
        ("logsumexp(tensor([1.0, 2.0, 3.0]), 0)", "tensor(3.4076)"),
        ("logsumexp(tensor([1000.0, 1000.0]), 0)", "tensor(1000.6932)"),
        ("logsumexp(tensor([1, 0, 1]), 0)", "tensor(1.8620)"),
        ("logsumexp(tensor([[0.0, 0.0], [1.0, 3.0]]), 1)", "tensor([0.6931, 3.1269])"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (x, dims) = (cx.input(0).floats(), cx.dims(0, cx.input(0).rank()));
    over(&x, &dims, cx.flag(1), log_sum_exp).into()
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let dims = dims_attr(cx.op.name, cx.attrs, 0, cx.shape(0).rank())?;
    Ok(smallvec![Meta::new(reduced_shape(cx.shape(0), &dims, cx.flag(1)), cx.dtype(0))])
}

/// Whole lines are read more than once: a prologue makes them where they stay near.
fn prologue(cx: &InferCx<'_>) -> Option<DType> {
    let dims = dims_attr(cx.op.name, cx.attrs, 0, cx.shape(0).rank()).ok()?;
    let (n, inner) = around(cx.shape(0), &dims);
    lines_near(n, if together(&dims) { inner } else { 1 }).then(|| cx.dtype(0).computed())
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let dims = dims_attr(cx.op.name, cx.attrs, 0, cx.inputs[0].shape().rank())?;
    with_float!(cx.op.name, cx.inputs[0].dtype(), T => {
        let Rows { data, n, inner } = rows::<T>(&cx.operand(), &dims);
        softmax::log_sums(&data, (n, inner), cx.outputs[0].as_mut_slice(), cx.part);
        Ok(())
    })
}

/// `m + log(sum(exp(x - m)))`, where `m` is the largest real part, if that is finite.
fn of_complex(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let (x, keepdim) = (cx.input(0)?, cx.flag(1));
    let dims = dims_attr(cx.op.name, cx.attrs, 0, x.rank())?;
    let at: Vec<i64> = dims.iter().map(|&it| it as i64).collect();
    if dims.iter().any(|&it| x.shape()[it] == 0) {
        return Ok(smallvec![log(&sum(x, &at, keepdim)?)?]);
    }
    let most = smallvec![Attr::ints(&at), Attr::Bool(true)];
    let most = apply_one(&super::amax::OP, &[part(x, 0)?.detach()], &most)?;
    let is_finite = lt(&abs(&most)?, &num(f64::INFINITY))?;
    let most = select_where(&is_finite, &most, &num(0.0))?;
    let total = sum(&exp(&sub(x, &most)?)?, &at, keepdim)?;
    let most = reshape(&most, &reduced_shape(x.shape(), &dims, keepdim))?;
    Ok(smallvec![add(&log(&total)?, &most)?])
}

/// `dx = dy * exp(x - y)`.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let x = cx.input(0);
    let dims = dims_attr(cx.op.name, cx.attrs, 0, x.rank())?;
    let share = exp(&sub(x, &spread(cx.output(0), x.shape(), &dims)?)?)?;
    Ok(vec![Some(mul(&spread(&cx.output_grad()?, x.shape(), &dims)?, &share)?)])
}

//! `max`: the largest element, or with `dim` the largest along it and where it is.

use smallvec::{SmallVec, smallvec};

use super::{Rows, kept_shape, n_reduced, one_dim, reduced_shape, rows};
use crate::cpu::reduce;
use crate::functional::{div, eq, mul, reshape, scatter_add, sum, to};
use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Param, ParamKind, Saves,
};
use crate::{
    Attr, DType, Meta, Metas, OpDef, Result, Shape, Tensor, apply_one, functional, with_dtype,
};

pub static OP: OpDef = OpDef {
    name: "max",
    doc: "The largest element, or with `dim` the largest along it and where it is.",
    params: &[
        Param::tensor("input"),
        Param::with("dim", ParamKind::OptInt, Default::None),
        Param::with("keepdim", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::new("reduce.max", run)]),
    grad: Grad::Rule(grad, Saves::Both),
    pure: true,
    method: true,
    onnx: &[],
    aliases: &["oneflow.max"],
    examples: &[
        ("max(tensor([1.0, 5.0, -2.0]))", "tensor(5.)"),
        ("max(tensor([[1, 2], [3, 0]]), 1)", "(tensor([2, 3]), tensor([1, 0]))"),
        ("max(tensor([1.0, float(\"nan\")]), 0)", "(tensor(nan), tensor(1))"),
    ],
};

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let dim = one_dim(cx.op.name, cx.attrs, 0, cx.shape(0).rank())?;
    let dims = dims_of(dim, cx.shape(0));
    if n_reduced(cx.shape(0), &dims) == 0 {
        return Err(cx.bad_shapes("nothing to choose from: a reduced dimension has size 0"));
    }
    let shape = reduced_shape(cx.shape(0), &dims, dim.is_some() && cx.flag(1));
    let mut metas: Metas = smallvec![Meta::new(shape.clone(), cx.dtype(0))];
    metas.extend(dim.map(|_| Meta::new(shape, DType::I64)));
    Ok(metas)
}

fn dims_of(dim: Option<usize>, shape: &Shape) -> SmallVec<[usize; 4]> {
    match dim {
        Some(dim) => (0..shape.rank()).filter(|&it| it == dim).collect(),
        None => (0..shape.rank()).collect(),
    }
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let shape = cx.inputs[0].shape();
    let dims = dims_of(one_dim(cx.op.name, cx.attrs, 0, shape.rank())?, shape);
    with_dtype!(cx.inputs[0].dtype(), T => {
        let Rows { data, n, inner } = rows::<T>(&cx.inputs[0], &dims);
        match cx.outputs {
            [values, indices] => {
                let (values, indices) = (values.as_mut_slice::<T>(), indices.as_mut_slice::<i64>());
                crate::cpu::scan::best(&data, (n, inner), values, indices, |x, best| x > best);
            }
            [values, ..] => reduce::fold(reduce::Max, &data, (n, inner), values.as_mut_slice::<T>(), |x| x),
            [] => {}
        }
    });
    Ok(())
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let (x, dy) = (cx.input(0), cx.output_grad()?);
    let Some(dim) = one_dim(cx.op.name, cx.attrs, 0, x.rank())? else {
        let attrs = smallvec![Attr::None, Attr::Bool(false)];
        let hit = to(&eq(x, &apply_one(&super::amax::OP, &[x.detach()], &attrs)?)?, x.dtype())?;
        return Ok(vec![Some(mul(&dy, &div(&hit, &sum(&hit, &[], false)?)?)?)]);
    };
    let kept = kept_shape(x.shape(), &dims_of(Some(dim), x.shape()));
    let zeros = functional::full(x.shape(), 0.0, dy.dtype())?;
    let index = reshape(cx.output(1), &kept)?;
    Ok(vec![Some(scatter_add(&zeros, dim as i64, &index, &reshape(&dy, &kept)?)?)])
}

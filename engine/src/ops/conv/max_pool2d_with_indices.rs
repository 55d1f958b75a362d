//! `max_pool2d_with_indices`: the largest element of each window, and where it lies in its plane (`row * width + column`).

use smallvec::smallvec;

use super::{pair, whole, window};
use crate::cpu::{max_pool, pool2d};
use crate::functional::{locally_constant, reshape, scatter_add};
use crate::meaning::{Array, Meaning, MeaningCx, Windows};
use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind,
    Saves, Surface,
};
use crate::{Attrs, DType, Meta, Metas, OpDef, Result, Shape, Tensor, functional, with_float};

pub static OP: OpDef = OpDef {
    name: "max_pool2d_with_indices",
    doc: "The largest element of each window, and where it lies in its plane (`row * width + column`).",
    meaning: Meaning::each(meaning),
    params: &[
        Param::tensor("input"),
        Param::required("kernel_size", ParamKind::Ints),
        Param::with("stride", ParamKind::OptInts, Default::None),
        Param::with("padding", ParamKind::Ints, Default::Ints(&[0])),
        Param::with("dilation", ParamKind::Ints, Default::Ints(&[1])),
        Param::with("ceil_mode", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::FloatsToSame,
    infer,
    body: Body::Kernels(&[Kernel::new("max_pool2d.planes", run)
        .on_cuda(|cx| super::cuda::largest(cx, problem(cx.op.name, cx.shape(0), cx.attrs)?))]),
    grad: Grad::Rule(grad, Saves::Outputs),
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface {
        shapes: "values and indices, each as of max_pool2d",
        whole: Some(whole::pooled),
        ..Surface::PLAIN
    },
    onnx: Onnx::written("MaxPool", super::onnx::max_pool),
    aliases: &[],
    examples: &[
        (
            "max_pool2d_with_indices(tensor([[[1.0, 2.0], [3.0, 4.0]]]), 2)",
            "(tensor([[[4.]]]), tensor([[[3]]]))",
        ),
        (
            "max_pool2d_with_indices(tensor([[[5.0, 2.0]]]), 1)",
            "(tensor([[[5., 2.]]]), tensor([[[0, 1]]]))",
        ),
    ],
};

/// The first of equal ones, the last NaN.
fn meaning(cx: &MeaningCx<'_>) -> Vec<Array> {
    let windows = Windows::strided(cx, cx.shape(0), cx.pair(3, [1, 1]), 4);
    let (x, width) = (cx.input(0).floats(), cx.shape(0)[cx.input(0).rank() - 1]);
    let best = windows.each(|window| {
        let best = window.places().into_iter().reduce(|best, at| {
            let (x, most) = (x[&at[..]], x[&best[..]]);
            if x > most || x.is_nan() { at } else { best }
        });
        best.unwrap_or_default()
    });
    let index = best.mapv(|at| (at[at.len() - 2] * width + at[at.len() - 1]) as i64);
    vec![best.mapv(|at| x[&at[..]]).into(), index.into()]
}

fn problem(op: &'static str, shape: &Shape, attrs: &Attrs) -> Result<pool2d::PoolProblem> {
    let dilation = pair(op, "dilation", attrs, 3, 1, [1, 1])?;
    let ceil_mode = crate::op::flag(attrs, 4);
    Ok(pool2d::PoolProblem { dilation, ceil_mode, ..window(op, shape, attrs, 0)? })
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let shape =
        super::pooled(cx.op.name, cx.shape(0), &problem(cx.op.name, cx.shape(0), cx.attrs)?)?;
    Ok(smallvec![Meta::new(shape.clone(), cx.dtype(0)), Meta::new(shape, DType::I64)])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let problem = problem(cx.op.name, cx.inputs[0].shape(), cx.attrs)?;
    let [y, indices] = cx.outputs else { return Ok(()) };
    with_float!(cx.op.name, y.dtype(), T => {
        let x = cx.inputs[0].to_slice::<T>();
        max_pool::max_pool(&problem, &x, y.as_mut_slice::<T>(), indices.as_mut_slice::<i64>());
        Ok(())
    })
}

/// Each gradient goes to the element that was the largest.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let (x, dy) = (cx.input(0), cx.output_grad()?);
    let rank = x.rank();
    let flat = |it: &Tensor| {
        let shape = it.shape();
        let planes: usize = shape[..rank - 2].iter().product();
        reshape(it, &Shape::from([planes, shape[rank - 2] * shape[rank - 1]]))
    };
    let planes: usize = x.shape()[..rank - 2].iter().product();
    let area = x.shape()[rank - 2] * x.shape()[rank - 1];
    let zeros = functional::full(&Shape::from([planes, area]), 0.0, dy.dtype())?;
    let dx = scatter_add(&zeros, 1, &flat(cx.output(1))?, &flat(&dy)?)?;
    let dx = reshape(&dx, x.shape())?;
    Ok(vec![Some(locally_constant(dx, x)?)])
}

//! `avg_pool2d`: the mean of each window; padding counts as zeros unless `count_include_pad` is False. With `divisor_override` the sum divided by that number.

use smallvec::smallvec;

use super::{whole, window};
use crate::cpu::pool2d::{self, Divisor};
use crate::functional::locally_constant;
use crate::meaning::{Array, Meaning, MeaningCx, Windows};
use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind,
    Saves, Surface, shapes,
};
use crate::{Attr, Attrs, Error, Meta, Metas, OpDef, Result, Shape, Tensor, apply_one, with_float};

pub static OP: OpDef = OpDef {
    name: "avg_pool2d",
    doc: "The mean of each window; padding counts as zeros unless `count_include_pad` is False. With `divisor_override` the sum divided by that number.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("input"),
        Param::required("kernel_size", ParamKind::Ints),
        Param::with("stride", ParamKind::OptInts, Default::None),
        Param::with("padding", ParamKind::Ints, Default::Ints(&[0])),
        Param::with("ceil_mode", ParamKind::Bool, Default::Bool(false)),
        Param::with("count_include_pad", ParamKind::Bool, Default::Bool(true)),
        Param::with("divisor_override", ParamKind::OptInt, Default::None),
    ],
    dtypes: DTypeRule::FloatsToSame,
    infer,
    body: Body::Kernels(&[Kernel::new("avg_pool2d.planes", run).on_cuda(|cx| {
        let problem = problem(cx.op.name, cx.shape(0), cx.attrs)?;
        super::cuda::average(cx, "average", problem, &divisor(cx.op.name, cx.attrs)?)
    })]),
    grad: Grad::Rule(grad, Saves::Shapes),
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface { shapes: shapes::WINDOWS, whole: Some(whole::averaged), ..Surface::PLAIN },
    onnx: Onnx::written("AveragePool", super::onnx::avg_pool),
    aliases: &[
        "torch.avg_pool2d",
        "megengine.functional.avg_pool2d",
        "oneflow.nn.functional.avg_pool2d",
    ],
    examples: &[
        ("avg_pool2d(tensor([[[1.0, 2.0], [3.0, 4.0]]]), 2)", "tensor([[[2.5000]]])"),
        (
            "avg_pool2d(tensor([[[1.0, 2.0], [3.0, 4.0]]]), 2, 2, 1)",
            "tensor([[[0.2500, 0.5000],\n         [0.7500, 1.0000]]])",
        ),
        (
            "avg_pool2d(tensor([[[1.0, 2.0], [3.0, 4.0]]]), 2, 2, 1, count_include_pad=False)",
            "tensor([[[1., 2.],\n         [3., 4.]]])",
        ),
        (
            "avg_pool2d(tensor([[[1.0, 2.0], [3.0, 4.0]]]), 2, divisor_override=5)",
            "tensor([[[2.]]])",
        ),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let windows = Windows::strided(cx, cx.shape(0), [1, 1], 3);
    windows.sums(cx.input(0), |window| window.divisor(cx))
}

pub(crate) fn problem(
    op: &'static str,
    shape: &Shape,
    attrs: &Attrs,
) -> Result<pool2d::PoolProblem> {
    if shape.rank() < 3 {
        // PyTorch asks for the size of a dimension that is not there.
        return Err(Error::DimRange { op, dim: -3, rank: shape.rank() });
    }
    Ok(pool2d::PoolProblem { ceil_mode: crate::op::flag(attrs, 3), ..window(op, shape, attrs, 0)? })
}

/// What sums are divided by: attributes 4 and 5.
pub(crate) fn divisor(op: &'static str, attrs: &Attrs) -> Result<Divisor> {
    match attrs.get(5) {
        Some(Attr::Int(0)) => Err(Error::Attr {
            op,
            name: "divisor_override",
            problem: "must not be 0: it is what the sum of each window is divided by".into(),
        }),
        Some(Attr::Int(number)) => Ok(Divisor::Fixed(*number as f64)),
        _ if crate::op::flag(attrs, 4) => Ok(Divisor::Covered),
        _ => Ok(Divisor::Elements),
    }
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    divisor(cx.op.name, cx.attrs)?;
    let shape =
        super::pooled(cx.op.name, cx.shape(0), &problem(cx.op.name, cx.shape(0), cx.attrs)?)?;
    Ok(smallvec![Meta::new(shape, cx.dtype(0))])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let problem = problem(cx.op.name, cx.inputs[0].shape(), cx.attrs)?;
    let divisor = divisor(cx.op.name, cx.attrs)?;
    with_float!(cx.op.name, cx.inputs[0].dtype(), T => {
        let x = cx.inputs[0].to_slice::<T>();
        pool2d::avg_pool(&problem, &x, cx.outputs[0].as_mut_slice::<T>(), divisor);
        Ok(())
    })
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let size = Attr::sizes(cx.input(0).shape());
    let own = (0..6).map(|idx| cx.attrs.get(idx).cloned().unwrap_or(Attr::None));
    let attrs = own.chain([size]).collect();
    let dx = apply_one(&super::avg_pool2d_backward::OP, &[cx.output_grad()?], &attrs)?;
    Ok(vec![Some(locally_constant(dx, cx.input(0))?)])
}

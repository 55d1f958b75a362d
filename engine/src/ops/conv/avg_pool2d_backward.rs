//! `avg_pool2d_backward`: each element spread evenly over its window of images of `shape`: the gradient of avg_pool2d.

use smallvec::smallvec;

use super::avg_pool2d::{divisor, problem};
use crate::cpu::pool2d;
use crate::meaning::{Array, Meaning, MeaningCx, Windows};
use crate::op::{
    Body, DTypeRule, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind, Saves,
    Surface, shapes,
};
use crate::ops::shape::size_list;
use crate::{Attrs, Meta, Metas, OpDef, Result, Shape, Tensor, apply_one, with_float};

pub static OP: OpDef = OpDef {
    name: "avg_pool2d_backward",
    doc: "Each element spread evenly over its window of images of `shape`: the gradient of avg_pool2d.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("grad"),
        Param::required("kernel_size", ParamKind::Ints),
        Param::required("stride", ParamKind::OptInts),
        Param::required("padding", ParamKind::Ints),
        Param::required("ceil_mode", ParamKind::Bool),
        Param::required("count_include_pad", ParamKind::Bool),
        Param::required("divisor_override", ParamKind::OptInt),
        Param::required("shape", ParamKind::Ints),
    ],
    dtypes: DTypeRule::FloatsToSame,
    infer,
    body: Body::Kernels(&[Kernel::new("avg_pool2d_backward.planes", run).on_cuda(|cx| {
        let problem = problem(cx.op.name, &whole(cx.op.name, cx.attrs)?, cx.attrs)?;
        super::cuda::average(cx, "average_backward", problem, &divisor(cx.op.name, cx.attrs)?)
    })]),
    grad: Grad::Rule(grad, Saves::Shapes),
    step: None,
    pure: true,
    method: false,
    internal: true,
    surface: Surface { shapes: shapes::WINDOWS_GRADIENT, ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        (
            "avg_pool2d_backward(tensor([[[8.0]]]), 2, None, 0, False, True, None, (1, 2, 2))",
            "tensor([[[2., 2.],\n         [2., 2.]]])",
        ),
        (
            "avg_pool2d_backward(tensor([[[4.0, 8.0]]]), 1, None, 0, False, True, None, (1, 1, 2))",
            "tensor([[[4., 8.]]])",
        ),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let windows = Windows::strided(cx, &cx.sizes(6), [1, 1], 3);
    windows.spread(cx.input(0), |window| window.divisor(cx))
}

fn whole(cx_op: &'static str, attrs: &Attrs) -> Result<Shape> {
    size_list(cx_op, "shape", &crate::op::ints(attrs, 6).unwrap_or_default())
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let shape = whole(cx.op.name, cx.attrs)?;
    let problem = problem(cx.op.name, &shape, cx.attrs)?;
    if &super::pooled(cx.op.name, &shape, &problem)? != cx.shape(0) {
        return Err(cx.bad_shapes(format!("it does not fit images of shape {shape}")));
    }
    Ok(smallvec![Meta::new(shape, cx.dtype(0))])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let problem = problem(cx.op.name, &whole(cx.op.name, cx.attrs)?, cx.attrs)?;
    let divisor = divisor(cx.op.name, cx.attrs)?;
    with_float!(cx.op.name, cx.inputs[0].dtype(), T => {
        let dy = cx.inputs[0].to_slice::<T>();
        pool2d::avg_pool_backward(&problem, &dy, cx.outputs[0].as_mut_slice::<T>(), divisor);
        Ok(())
    })
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let attrs = cx.attrs[..6].iter().cloned().collect();
    Ok(vec![Some(apply_one(&super::avg_pool2d::OP, &[cx.output_grad()?], &attrs)?)])
}

//! `adaptive_avg_pool2d_backward`: each element spread evenly over its window of images of `shape`: the gradient of adaptive_avg_pool2d.

use smallvec::smallvec;

use crate::cpu::pool2d;
use crate::meaning::{Array, Meaning, MeaningCx, Windows};
use crate::op::{
    Body, DTypeRule, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind, Saves,
    Surface, shapes,
};
use crate::ops::shape::size_list;
use crate::{Meta, Metas, OpDef, Result, Shape, Tensor, apply_one, with_float};

pub static OP: OpDef = OpDef {
    name: "adaptive_avg_pool2d_backward",
    doc: "Each element spread evenly over its window of images of `shape`: the gradient of adaptive_avg_pool2d.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("grad"),
        Param::required("output_size", ParamKind::Ints),
        Param::required("shape", ParamKind::Ints),
    ],
    dtypes: DTypeRule::FloatsToSame,
    infer,
    body: Body::Kernels(&[Kernel::new("adaptive_avg_pool2d_backward.planes", run).on_cuda(|cx| {
        let (_, input, output) = super::adaptive(cx.op.name, cx.outputs[0].shape(), cx.attrs, 0)?;
        super::cuda::adaptive(cx, "average_backward", input, output)
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
            "adaptive_avg_pool2d_backward(tensor([[[8.0]]]), 1, (1, 2, 2))",
            "tensor([[[2., 2.],\n         [2., 2.]]])",
        ),
        (
            "adaptive_avg_pool2d_backward(tensor([[[6.0]]]), 1, (1, 1, 3))",
            "tensor([[[2., 2., 2.]]])",
        ),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    Windows::adaptive(&cx.sizes(1), cx.pair(0, [1, 1])).spread(cx.input(0), |it| it.n_inside())
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let shape = size_list(cx.op.name, "shape", &cx.ints(1).unwrap_or_default())?;
    let (_, _, [height, width]) = super::adaptive(cx.op.name, &shape, cx.attrs, 0)?;
    let pooled: Shape = shape[..shape.rank() - 2].iter().copied().chain([height, width]).collect();
    if &pooled != cx.shape(0) {
        return Err(cx.bad_shapes(format!("it does not fit images of shape {shape}")));
    }
    Ok(smallvec![Meta::new(shape, cx.dtype(0))])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (planes, input, output) = super::adaptive(cx.op.name, cx.outputs[0].shape(), cx.attrs, 0)?;
    with_float!(cx.op.name, cx.inputs[0].dtype(), T => {
        let dy = cx.inputs[0].to_slice::<T>();
        pool2d::adaptive_avg_pool_backward(planes, input, output, &dy, cx.outputs[0].as_mut_slice::<T>());
        Ok(())
    })
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let attrs = smallvec![cx.attrs[0].clone()];
    Ok(vec![Some(apply_one(&super::adaptive_avg_pool2d::OP, &[cx.output_grad()?], &attrs)?)])
}

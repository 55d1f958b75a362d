//! `conv2d_weight_grad`: the gradient of conv2d for kernels of height and width `size`.

use smallvec::smallvec;

use super::{Steps, conv_kernels, pair};
use crate::cpu::conv;
use crate::meaning::{Array, Meaning, MeaningCx, Meeting, by_index};
use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, Onnx, Param, ParamKind, Saves, Surface,
};
use crate::{Attr, Attrs, Meta, Metas, OpDef, Result, Shape, Tensor, apply_one};

pub static OP: OpDef = OpDef {
    name: "conv2d_weight_grad",
    doc: "The gradient of conv2d for kernels of height and width `size`.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("input"),
        Param::tensor("grad"),
        Param::required("size", ParamKind::Ints),
        Param::with("stride", ParamKind::Ints, Default::Ints(&[1])),
        Param::with("padding", ParamKind::Ints, Default::Ints(&[0])),
        Param::with("dilation", ParamKind::Ints, Default::Ints(&[1])),
        Param::with("groups", ParamKind::Int, Default::Int(1)),
    ],
    dtypes: DTypeRule::SameFloats,
    infer,
    body: Body::Kernels(KERNELS),
    grad: Grad::Rule(grad, Saves::Inputs),
    step: None,
    pure: true,
    method: false,
    internal: true,
    surface: Surface {
        shapes: "the gradient has the shape of the weight of the convolution",
        complex: Some(super::of_parts),
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        (
            "conv2d_weight_grad(ones(1, 1, 2, 2), ones(1, 1, 1, 1), (2, 2))",
            "tensor([[[[1., 1.],\n          [1., 1.]]]])",
        ),
        (
            "conv2d_weight_grad(zeros(1, 3, 2, 2), zeros(1, 2, 2, 2), (1, 1)).shape",
            "torch.Size([2, 3, 1, 1])",
        ),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (meeting, x, dy) = (Meeting::new(cx, 1), cx.input(0).floats(), cx.input(1).floats());
    let [height, width] = cx.pair(0, [1, 1]);
    let shape = [cx.shape(1)[1], cx.shape(0)[1] / cx.int(4) as usize, height, width];
    let mut dw = by_index(&shape, |_| 0.0);
    meeting.each([x.shape(), &shape, dy.shape()], |image, tap, output| {
        dw[tap] += x[image] * dy[output];
    });
    dw.into()
}

static KERNELS: &[Kernel] = conv_kernels!(problem, super::cuda::weight_grad);

fn problem(cx: &InferCx<'_>) -> Option<conv::ConvProblem> {
    let steps = Steps::from_attrs(cx.op.name, cx.attrs, 1).ok()?;
    let [rows, columns] = pair(cx.op.name, "size", cx.attrs, 0, 1, [1, 1]).ok()?;
    let ([_, c, _, _], [_, k, _, _]) = (&cx.shape(0)[..], &cx.shape(1)[..]) else {
        return None;
    };
    let w = [*k, c / steps.groups, rows, columns];
    steps.problem(cx.shape(0), &w, cx.dtype(0), conv::ConvPass::WeightGrad)
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let steps = Steps::from_attrs(cx.op.name, cx.attrs, 1)?;
    let fits = |it: &conv::ConvProblem| {
        let [height, width] = it.output();
        cx.shape(1)[..] == [it.batch, it.out_channels, height, width]
    };
    let problem = problem(cx).filter(fits);
    let problem = problem
        .ok_or_else(|| cx.bad_shapes("the gradient does not fit the images and the size"))?;
    let [rows, columns] = problem.kernel;
    let shape =
        Shape::from([problem.out_channels, problem.in_channels / steps.groups, rows, columns]);
    Ok(smallvec![Meta::new(shape, cx.dtype(0))])
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let (x, g, dw) = (cx.input(0), cx.input(1), cx.output_grad()?);
    let steps: Attrs = cx.attrs[1..].iter().cloned().collect();
    let mut res = vec![None; 2];
    if cx.needs(0) {
        let attrs = [Attr::sizes(&x.shape()[2..])].into_iter().chain(steps.clone()).collect();
        res[0] = Some(apply_one(&super::conv2d_input_grad::OP, &[g.clone(), dw.clone()], &attrs)?);
    }
    if cx.needs(1) {
        res[1] = Some(apply_one(&super::convolution::OP, &[x.clone(), dw], &steps)?);
    }
    Ok(res)
}

//! `conv2d_input_grad`: the gradient of conv2d for images of height and width `size`; also a transposed convolution.

use smallvec::smallvec;

use super::{Steps, conv_kernels, pair};
use crate::cpu::conv;
use crate::meaning::{Array, Meaning, MeaningCx, Meeting, by_index};
use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, Onnx, Param, ParamKind, Saves, Surface,
};
use crate::{Attr, Attrs, Meta, Metas, OpDef, Result, Shape, Tensor, apply_one};

pub static OP: OpDef = OpDef {
    name: "conv2d_input_grad",
    doc: "The gradient of conv2d for images of height and width `size`; also a transposed convolution.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("grad"),
        Param::tensor("weight"),
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
        shapes: "the gradient has the shape of the input of the convolution",
        complex: Some(super::of_parts),
        ..Surface::PLAIN
    },
    onnx: Onnx::written("ConvTranspose", super::onnx::transposed),
    aliases: &[],
    examples: &[
        (
            "conv2d_input_grad(ones(1, 1, 1, 1), ones(1, 1, 2, 2), (2, 2))",
            "tensor([[[[1., 1.],\n          [1., 1.]]]])",
        ),
        (
            "conv2d_input_grad(zeros(1, 2, 1, 1), ones(2, 3, 1, 1), (1, 1)).shape",
            "torch.Size([1, 3, 1, 1])",
        ),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (meeting, dy, w) = (Meeting::new(cx, 1), cx.input(0).floats(), cx.input(1).floats());
    let [height, width] = cx.pair(0, [0, 0]);
    let shape = [cx.shape(0)[0], cx.shape(1)[1] * cx.int(4) as usize, height, width];
    let mut dx = by_index(&shape, |_| 0.0);
    meeting.each([&shape, w.shape(), dy.shape()], |image, tap, output| {
        dx[image] += dy[output] * w[tap];
    });
    dx.into()
}

static KERNELS: &[Kernel] = conv_kernels!(problem, super::cuda::input_grad);

fn problem(cx: &InferCx<'_>) -> Option<conv::ConvProblem> {
    let steps = Steps::from_attrs(cx.op.name, cx.attrs, 1).ok()?;
    let [height, width] = pair(cx.op.name, "size", cx.attrs, 0, 0, [0, 0]).ok()?;
    let ([n, _, _, _], [_, c, _, _]) = (&cx.shape(0)[..], &cx.shape(1)[..]) else {
        return None;
    };
    let x = [*n, c.checked_mul(steps.groups)?, height, width];
    steps.problem(&x, cx.shape(1), cx.dtype(0), conv::ConvPass::InputGrad)
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    Steps::from_attrs(cx.op.name, cx.attrs, 1)?;
    let fits = |it: &conv::ConvProblem| {
        let [height, width] = it.output();
        cx.shape(0)[..] == [it.batch, it.out_channels, height, width]
    };
    let problem = problem(cx).filter(fits);
    let problem = problem
        .ok_or_else(|| cx.bad_shapes("the gradient does not fit the kernels and the size"))?;
    let [height, width] = problem.input;
    Ok(smallvec![Meta::new(
        Shape::from([problem.batch, problem.in_channels, height, width]),
        cx.dtype(0)
    )])
}

/// It is linear in both: the gradient of `grad` is the convolution itself.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let (g, w, dx) = (cx.input(0), cx.input(1), cx.output_grad()?);
    let steps: Attrs = cx.attrs[1..].iter().cloned().collect();
    let mut res = vec![None; 2];
    if cx.needs(0) {
        res[0] = Some(apply_one(&super::convolution::OP, &[dx.clone(), w.clone()], &steps)?);
    }
    if cx.needs(1) {
        let attrs = [Attr::sizes(&w.shape()[2..])].into_iter().chain(steps).collect();
        res[1] = Some(apply_one(&super::conv2d_weight_grad::OP, &[dx, g.clone()], &attrs)?);
    }
    Ok(res)
}

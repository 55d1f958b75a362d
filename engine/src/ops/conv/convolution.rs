//! `convolution`: the batched convolution behind conv2d, with its bias.

use smallvec::smallvec;

use super::{Steps, conv_kernels};
use crate::cpu::conv;
use crate::functional::sum;
use crate::meaning::{Array, Meaning, MeaningCx, Meeting, by_index};
use crate::op::{
    Autocast, Body, DTypeRule, Grad, GradCx, InferCx, Kernel, Onnx, Saves, Surface, shapes,
};
use crate::{Attr, Attrs, Meta, Metas, OpDef, Result, Shape, Tensor, apply_one};

pub static OP: OpDef = OpDef {
    name: "convolution",
    doc: "The batched convolution behind conv2d, with its bias.",
    meaning: Meaning::of(meaning),
    params: super::PARAMS,
    dtypes: DTypeRule::SameFloats,
    infer,
    body: Body::Kernels(KERNELS),
    grad: Grad::Rule(grad, Saves::Inputs),
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface {
        autocast: Autocast::Half,
        shapes: shapes::CONVOLVED,
        complex: Some(super::of_parts),
        ..Surface::PLAIN
    },
    onnx: Onnx::written("Conv", super::onnx::convolution),
    aliases: &[],
    examples: &[
        ("convolution(ones(1, 1, 2, 2), ones(1, 1, 2, 2))", "tensor([[[[4.]]]])"),
        (
            "convolution(ones(1, 1, 1, 1), ones(1, 1, 1, 1), tensor([0.5]))",
            "tensor([[[[1.5000]]]])",
        ),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (meeting, x, w) = (Meeting::new(cx, 0), cx.input(0).floats(), cx.input(1).floats());
    let (image, kernel) = (x.shape(), w.shape());
    let [height, width] = meeting.output([image[2], image[3]], [kernel[2], kernel[3]]);
    let bias = cx.inputs.get(2).map(Array::floats);
    let mut y = by_index(&[image[0], kernel[0], height, width], |at| {
        bias.as_ref().map_or(0.0, |it| it[&at[1..2]])
    });
    let shape = y.shape().to_vec();
    meeting.each([image, kernel, &shape], |image, tap, output| y[output] += x[image] * w[tap]);
    y.into()
}

static KERNELS: &[Kernel] = conv_kernels!(problem, super::cuda::forward);

fn problem(cx: &InferCx<'_>) -> Option<conv::ConvProblem> {
    let steps = Steps::from_attrs(cx.op.name, cx.attrs, 0).ok()?;
    steps.problem(cx.shape(0), cx.shape(1), cx.dtype(0), conv::ConvPass::Forward)
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let steps = Steps::from_attrs(cx.op.name, cx.attrs, 0)?;
    let (x, w) = (cx.shape(0), cx.shape(1));
    let problem = steps.problem(x, w, cx.dtype(0), conv::ConvPass::Forward).ok_or_else(|| {
        let taken = w.get(1).map_or(0, |it| it * steps.groups);
        cx.bad_shapes(match (x.rank(), w.rank()) {
            (4, 4) if x[1] != taken => {
                let plural = if taken == 1 { "" } else { "s" };
                format!("the kernels take {taken} channel{plural}, and the images have {}", x[1])
            }
            _ => format!(
                "images [n, c, h, w] and kernels [k, c / groups, r, s] are needed; groups is {}",
                steps.groups
            ),
        })
    })?;
    if cx.inputs.get(2).is_some_and(|it| it.shape()[..] != [w[0]]) {
        return Err(cx.bad_shapes(format!("the bias must have shape [{}]", w[0])));
    }
    let [height, width] = problem.output();
    if height == 0 || width == 0 {
        return Err(cx.bad_shapes("the kernel is larger than the padded image"));
    }
    Ok(smallvec![Meta::new(Shape::from([x[0], w[0], height, width]), cx.dtype(0))])
}

/// Both gradients are convolutions themselves; that of the bias is a sum.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let (x, w, dy) = (cx.input(0), cx.input(1), cx.output_grad()?);
    let with_size = |of: &Tensor| {
        let size = Attr::sizes(&of.shape()[2..]);
        [size].into_iter().chain(cx.attrs.iter().cloned()).collect::<Attrs>()
    };
    let mut res = vec![None; cx.n_inputs()];
    if cx.needs(0) {
        res[0] = Some(apply_one(
            &super::conv2d_input_grad::OP,
            &[dy.clone(), w.clone()],
            &with_size(x),
        )?);
    }
    if cx.needs(1) {
        res[1] = Some(apply_one(
            &super::conv2d_weight_grad::OP,
            &[x.clone(), dy.clone()],
            &with_size(w),
        )?);
    }
    if cx.n_inputs() > 2 && cx.needs(2) {
        res[2] = Some(sum(&dy, &[0, 2, 3], false)?);
    }
    Ok(res)
}

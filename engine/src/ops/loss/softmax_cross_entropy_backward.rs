//! `softmax_cross_entropy_backward`: `(softmax(input) - one_hot(target)) * scale`, 0 in rows whose target is `ignore_index`: the gradient of softmax_cross_entropy.

use smallvec::smallvec;

use super::softmax_cross_entropy::{admit_classes, checked_rows};
use crate::cpu::softmax;
use crate::functional::unbroadcast;
use crate::functional::{expand, mul, ne, sub, sum, to, unsqueeze};
use crate::meaning::{Array, Meaning, MeaningCx, by_index, log_sum_exp, over};
use crate::op::indices;
use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind,
    Saves, Surface,
};
use crate::{
    Attr, Error, Metas, OpDef, Result, Shape, Tensor, apply_one, functional, rules, with_float,
};

pub static OP: OpDef = OpDef {
    name: "softmax_cross_entropy_backward",
    doc: "`(softmax(input) - one_hot(target)) * scale`, 0 in rows whose target is `ignore_index`: the gradient of softmax_cross_entropy. The scale is one number or one per row.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("input"),
        Param::tensor("target"),
        Param::tensor("scale"),
        Param::with("ignore_index", ParamKind::Int, Default::Int(-100)),
    ],
    dtypes: DTypeRule::FloatFirst,
    infer,
    body: Body::Kernels(&[Kernel::new("softmax_cross_entropy_backward.rows", run)
        .admitting(admit_classes)
        .on_cuda(super::cuda::cross_entropy_backward)]),
    grad: Grad::Rule(grad, Saves::Inputs),
    step: None,
    pure: true,
    method: false,
    internal: true,
    surface: Surface {
        shapes: "the gradient has the shape of the scores, [N, C]",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        (
            "softmax_cross_entropy_backward(tensor([[0.0, 0.0]]), tensor([1]), tensor(1.0))",
            "tensor([[ 0.5000, -0.5000]])",
        ),
        (
            "softmax_cross_entropy_backward(tensor([[0.0, 0.0]]), tensor([-100]), tensor(1.0))",
            "tensor([[0., 0.]])",
        ),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (x, target, ignored) = (cx.input(0).floats(), cx.input(1).ints(), cx.int(0));
    let log_sums = over(&x, &[1], true, log_sum_exp);
    let scales = cx.input(2).expanded(target.shape()).floats();
    let slope = |at: &[usize]| {
        let (row, class) = (&at[..1], target[&at[..1]]);
        if class == ignored {
            return 0.0;
        }
        let share = (x[at] - log_sums[[at[0], 0].as_slice()]).exp();
        (share - f64::from(u8::from(class == at[1] as i64))) * scales[row]
    };
    by_index(x.shape(), slope).into()
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let n_rows = checked_rows(cx)?;
    if cx.dtype(2) != cx.dtype(0) {
        let allowed = "a scale of the dtype of the scores";
        return Err(Error::DType { op: cx.op.name, dtype: cx.dtype(2), allowed });
    }
    if !matches!(cx.shape(2)[..], [] | [1]) && cx.shape(2)[..] != [n_rows] {
        return Err(cx.bad_shapes("the scale must be one number, or one per row of scores"));
    }
    rules::same_as_input(cx)
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (ignored, n_classes) = (cx.int(0), cx.inputs[0].shape()[1]);
    let target = indices(cx.op.name, &cx.inputs[1])?;
    with_float!(cx.op.name, cx.inputs[0].dtype(), T => {
        let (scores, scale) = (cx.inputs[0].to_slice::<T>(), cx.inputs[2].to_slice::<T>());
        let out = cx.outputs[0].as_mut_slice::<T>();
        softmax::cross_entropy_slopes(&scores, n_classes, (&target, ignored), &scale, out);
        Ok(())
    })
}

/// With `p = softmax(x)` and `h = dy * scale`: `dx = p * (h - sum(h * p))`; `dscale = sum(dy * (p - one_hot))`.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let (x, target, scale, dy) = (cx.input(0), cx.input(1), cx.input(2), cx.output_grad()?);
    let n_rows = x.shape()[0];
    let column = |it: &Tensor| {
        let rows = expand(it, &Shape::from([n_rows]))?;
        unsqueeze(&rows, 1)
    };
    let mut res = vec![None; 3];
    if cx.needs(0) {
        let kept = to(&ne(target, &Tensor::int_number(cx.int(0)))?, x.dtype())?;
        let weighted = mul(&dy, &mul(&column(scale)?, &unsqueeze(&kept, 1)?)?)?;
        let attrs = smallvec![Attr::Int(1), Attr::None];
        let p = apply_one(&crate::ops::norm::softmax::OP, std::slice::from_ref(x), &attrs)?;
        let inner = mul(&weighted, &p)?;
        res[0] = Some(sub(&inner, &mul(&p, &sum(&inner, &[1], true)?)?)?);
    }
    if cx.needs(2) {
        let one = functional::full(&Shape::default(), 1.0, x.dtype())?;
        let slope = apply_one(&OP, &[x.clone(), target.clone(), one], cx.attrs)?;
        res[2] = Some(unbroadcast(&sum(&mul(&dy, &slope)?, &[1], false)?, scale.shape())?);
    }
    Ok(res)
}

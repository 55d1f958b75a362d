//! `softmax_cross_entropy`: the cross entropy of rows of scores `[n, classes]` and target classes `[n]`: `log(sum(exp(x))) - x[target]`, 0 for rows whose target is `ignore_index`; also what a mean divides by (1 for sum and none).

use smallvec::smallvec;

use super::{Reduction, reduction};
use crate::cpu::softmax;
use crate::functional::div;
use crate::meaning::{Array, Meaning, MeaningCx, by_index, log_sum_exp, over};
use crate::op::AdmitCx;
use crate::op::indices;
use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind,
    Saves, Surface,
};
use crate::{Attr, Error, Meta, Metas, OpDef, Result, Shape, Tensor, apply_one, with_float};

pub static OP: OpDef = OpDef {
    name: "softmax_cross_entropy",
    doc: "The cross entropy of rows of scores `[n, classes]` and target classes `[n]`: `log(sum(exp(x))) - x[target]`, 0 for rows whose target is `ignore_index`; also what a mean divides by (1 for sum and none).",
    meaning: Meaning::each(meaning),
    params: &[
        Param::tensor("input"),
        Param::tensor("target"),
        Param::with("ignore_index", ParamKind::Int, Default::Int(-100)),
        Param::with("reduction", ParamKind::Str, Default::Str("mean")),
    ],
    dtypes: DTypeRule::FloatFirst,
    infer,
    body: Body::Kernels(&[Kernel::new("softmax_cross_entropy.rows", run)
        .admitting(admit_classes)
        .on_cuda(super::cuda::cross_entropy)]),
    grad: Grad::Rule(grad, Saves::Both),
    step: Some(|_| "NllLossBackward0"),
    pure: true,
    method: false,
    internal: false,
    surface: Surface {
        shapes: "scores [N, C] and classes [N]: a loss per row and what the gradient needs",
        ..Surface::PLAIN
    },
    onnx: Onnx::written("SoftmaxCrossEntropyLoss", super::onnx::cross_entropy),
    aliases: &["oneflow.sparse_softmax_cross_entropy"],
    examples: &[
        (
            "softmax_cross_entropy(tensor([[0.0, 0.0]]), tensor([1]))",
            "(tensor(0.6931), tensor(1.))",
        ),
        (
            "softmax_cross_entropy(tensor([[0.0, 0.0], [1000.0, 0.0]]), tensor([-100, 0]), reduction=\"sum\")",
            "(tensor(0.), tensor(1.))",
        ),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Vec<Array> {
    let (x, target, ignored) = (cx.input(0).floats(), cx.input(1).ints(), cx.int(0));
    let log_sums = over(&x, &[1], false, log_sum_exp);
    let losses = by_index(target.shape(), |at| match target[at] {
        class if class == ignored => 0.0,
        class => log_sums[at] - x[[at[0], class as usize].as_slice()],
    });
    let n_counted = target.iter().filter(|it| **it != ignored).count() as f64;
    let (loss, divisor) = match cx.word(1) {
        "none" => (losses, 1.0),
        "sum" => (by_index(&[], |_| losses.sum()), 1.0),
        _ => (by_index(&[], |_| losses.sum() / n_counted), n_counted),
    };
    [loss, by_index(&[], |_| divisor)].map(Array::from).into()
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let (n_rows, dtype) = (checked_rows(cx)?, cx.dtype(0));
    let loss = match reduction(cx.op.name, cx.attrs, 1)? {
        Reduction::None => Shape::from([n_rows]),
        _ => Shape::default(),
    };
    Ok(smallvec![Meta::new(loss, dtype), Meta::new(Shape::default(), dtype)])
}

/// The number of rows of scores `[n, classes]`, if there is a target for each.
pub(super) fn checked_rows(cx: &InferCx<'_>) -> Result<usize> {
    let dtype = cx.dtype(0);
    if !dtype.is_float() {
        return Err(Error::DType { op: cx.op.name, dtype, allowed: "floats as scores" });
    }
    if !cx.dtype(1).is_int() {
        return Err(Error::DType { op: cx.op.name, dtype: cx.dtype(1), allowed: "int64 classes" });
    }
    let [n_rows, _] = cx.shape(0)[..] else {
        return Err(cx.bad_shapes("scores must be [n, classes]"));
    };
    if cx.shape(1)[..] != [n_rows] {
        return Err(cx.bad_shapes("there must be one target per row of scores"));
    }
    Ok(n_rows)
}

/// Classes count from 0 only.
pub(super) fn admit_classes(cx: &AdmitCx<'_>) -> Result<()> {
    let (op, ignored, n_classes) = (cx.op.name, cx.int(0), cx.shape(0)[1]);
    let fits = |class: i64| class == ignored || (class as u64) < n_classes as u64;
    cx.each_int(1, fits, |class| Error::Class { op, class, n_classes })
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let how = reduction(cx.op.name, cx.attrs, 1)?;
    let (ignored, n_classes) = (cx.int(0), cx.inputs[0].shape()[1]);
    let target = indices(cx.op.name, &cx.inputs[1])?;
    with_float!(cx.op.name, cx.inputs[0].dtype(), T => {
        let scores = cx.inputs[0].to_slice::<T>();
        let mut losses = vec![0.0; target.len()];
        softmax::cross_entropies(&scores, n_classes, (&target, ignored), &mut losses);
        let counted = || target.iter().filter(|it| **it != ignored).count() as f64;
        let divisor = if how == Reduction::Mean { counted() } else { 1.0 };
        let out = cx.outputs[0].as_mut_slice::<T>();
        match how {
            Reduction::None => out.iter_mut().zip(losses).for_each(|(slot, it)| *slot = it as T),
            _ => out.fill((losses.iter().sum::<f64>() / divisor) as T),
        }
        cx.outputs[1].as_mut_slice::<T>().fill(divisor as T);
        Ok(())
    })
}

/// `dx = (softmax(x) - one_hot(target)) * dy / divisor`, 0 in ignored rows. The divisor depends on no score.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let Some(dy) = cx.output_grad_of(0)? else { return Ok(vec![None, None]) };
    let scale = div(&dy, cx.output(1))?;
    let inputs = [cx.input(0).clone(), cx.input(1).clone(), scale];
    let attrs = smallvec![Attr::Int(cx.int(0))];
    Ok(vec![Some(apply_one(&super::softmax_cross_entropy_backward::OP, &inputs, &attrs)?), None])
}

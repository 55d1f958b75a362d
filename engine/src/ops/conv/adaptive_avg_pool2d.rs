//! `adaptive_avg_pool2d`: means over windows that divide the images evenly into `output_size`.

use smallvec::smallvec;

use crate::cpu::pool2d;
use crate::functional::locally_constant;
use crate::meaning::{Array, Meaning, MeaningCx, Windows};
use crate::op::{
    Body, DTypeRule, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind, Saves,
    Surface,
};
use crate::{Attr, Meta, Metas, OpDef, Result, Tensor, apply_one, with_float};

pub static OP: OpDef = OpDef {
    name: "adaptive_avg_pool2d",
    doc: "Means over windows that divide the images evenly into `output_size`.",
    meaning: Meaning::of(meaning),
    params: &[Param::tensor("input"), Param::required("output_size", ParamKind::Ints)],
    dtypes: DTypeRule::FloatsToSame,
    infer,
    body: Body::Kernels(&[Kernel::new("adaptive_avg_pool2d.planes", run).on_cuda(|cx| {
        let (_, input, output) = super::adaptive(cx.op.name, cx.shape(0), cx.attrs, 0)?;
        super::cuda::adaptive(cx, "average", input, output)
    })]),
    grad: Grad::Rule(grad, Saves::Shapes),
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface {
        shapes: "[N, C, H, W] gives [N, C, output_size...]; N may be absent",
        ..Surface::PLAIN
    },
    onnx: Onnx::written("AveragePool", super::onnx::adaptive_avg_pool),
    aliases: &[
        "megengine.functional.adaptive_avg_pool2d",
        "oneflow.nn.functional.adaptive_avg_pool2d",
    ],
    examples: &[
        ("adaptive_avg_pool2d(tensor([[[1.0, 2.0], [3.0, 4.0]]]), 1)", "tensor([[[2.5000]]])"),
        (
            "adaptive_avg_pool2d(tensor([[[1.0, 2.0, 3.0]]]), (1, 2))",
            "tensor([[[1.5000, 2.5000]]])",
        ),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    Windows::adaptive(cx.shape(0), cx.pair(0, [1, 1])).sums(cx.input(0), |it| it.n_inside())
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let (_, _, output) = super::adaptive(cx.op.name, cx.shape(0), cx.attrs, 0)?;
    let lead = cx.shape(0)[..cx.shape(0).rank() - 2].iter().copied();
    Ok(smallvec![Meta::new(lead.chain(output).collect(), cx.dtype(0))])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (planes, input, output) = super::adaptive(cx.op.name, cx.inputs[0].shape(), cx.attrs, 0)?;
    with_float!(cx.op.name, cx.inputs[0].dtype(), T => {
        let x = cx.inputs[0].to_slice::<T>();
        pool2d::adaptive_avg_pool(planes, input, output, &x, cx.outputs[0].as_mut_slice::<T>());
        Ok(())
    })
}

/// The mean of whole images is `mean`, of which PyTorch has no second derivative.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let attrs = smallvec![cx.attrs[0].clone(), Attr::sizes(cx.input(0).shape())];
    let dx = apply_one(&super::adaptive_avg_pool2d_backward::OP, &[cx.output_grad()?], &attrs)?;
    let is_mean = cx.ints(0).unwrap_or_default().iter().all(|it| *it == 1);
    Ok(vec![Some(if is_mean { dx } else { locally_constant(dx, cx.input(0))? })])
}

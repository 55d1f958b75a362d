//! `permute`: dimensions in another order.

use smallvec::smallvec;

use crate::functional::permute;
use crate::meaning::{Array, Meaning, MeaningCx, from_end};
use crate::op::{
    Body, DTypeRule, Grad, GradCx, InferCx, Onnx, Param, ParamKind, Returns, Saves, Surface,
};
use crate::shape::{order_back, resolve_dim};
use crate::{Attrs, Layout, Meta, Metas, OpDef, Result, Shape, Tensor};

pub static OP: OpDef = OpDef {
    name: "permute",
    doc: "Dimensions in another order.",
    meaning: Meaning::of(meaning),
    params: &[Param::tensor("input"), Param::required("dims", ParamKind::Ints)],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::View(view),
    grad: Grad::Rule(grad, Saves::Shapes),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface { returns: Returns::View, ..Surface::PLAIN },
    onnx: Onnx::written("Transpose", super::onnx::permute),
    aliases: &["megengine.functional.transpose", "oneflow.permute"],
    examples: &[
        (
            "permute(tensor([[1, 2, 3], [4, 5, 6]]), (1, 0))",
            "tensor([[1, 4],\n        [2, 5],\n        [3, 6]])",
        ),
        ("permute(zeros(2, 3, 4), (2, 0, 1)).shape", "torch.Size([4, 2, 3])"),
        ("permute(tensor([[1.5]]), (-1, 0))", "tensor([[1.5000]])"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let x = cx.input(0);
    let order: Vec<usize> =
        cx.ints(0).unwrap_or_default().iter().map(|it| from_end(*it, x.rank())).collect();
    let shape: Vec<usize> = order.iter().map(|it| x.shape()[*it]).collect();
    x.moved(&shape, |at| {
        let mut from = vec![0; order.len()];
        order.iter().zip(at).for_each(|(&dim, &at)| from[dim] = at);
        from
    })
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let rank = cx.shape(0).rank();
    let dims = cx.ints(0).unwrap_or_default();
    let mut seen = vec![false; rank];
    for &dim in &dims {
        let at = resolve_dim(cx.op.name, dim, rank)?;
        match seen.get_mut(at) {
            Some(slot) if !*slot => *slot = true,
            _ => {
                return Err(cx.bad_shapes(format!(
                    "{:?} is not an order of its dimensions",
                    dims.as_slice()
                )));
            }
        }
    }
    if dims.len() != rank {
        return Err(cx.bad_shapes(format!("{} dimensions given for rank {rank}", dims.len())));
    }
    let shape = order(&dims, rank).iter().map(|&it| cx.shape(0)[it]).collect();
    Ok(smallvec![Meta::new(shape, cx.dtype(0))])
}

fn order(dims: &[i64], rank: usize) -> Vec<usize> {
    dims.iter().map(|&it| it.rem_euclid(rank.max(1) as i64) as usize).collect()
}

fn view(layout: &Layout, attrs: &Attrs, _: &Shape) -> Option<Layout> {
    Some(layout.permute(&order(&crate::op::ints(attrs, 0)?, layout.shape.rank())))
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let dims = order(&cx.ints(0).unwrap_or_default(), cx.input(0).rank());
    Ok(vec![Some(permute(&cx.output_grad()?, &order_back(&dims))?)])
}

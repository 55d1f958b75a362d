//! `reshape`: the same elements in the same order under another shape.

use smallvec::smallvec;

use crate::functional::reshape;
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, DTypeRule, Form, Grad, GradCx, InferCx, Is, Onnx, Param, ParamKind, Returns, Saves,
    Surface, When,
};
use crate::{Meta, Metas, OpDef, Result, Tensor};

pub static OP: OpDef = OpDef {
    name: "reshape",
    doc: "The same elements in the same order under another shape. One size may be -1: it follows from the others.",
    meaning: Meaning::of(meaning),
    params: &[Param::tensor("input"), Param::required("shape", ParamKind::Ints)],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::View(|layout, _, shape| layout.reshape(shape)),
    grad: Grad::Rule(grad, Saves::Shapes),
    step: Some(|_| "ViewBackward0"),
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        returns: Returns::View,
        never_copies_as: &["view"],
        form: Some(Form::new(
            "bits_seen",
            When::Any(&[When::Arg("shape", Is::DType), When::Arg("dtype", Is::DType)]),
        )),
        ..Surface::PLAIN
    },
    onnx: Onnx::written("Reshape", super::onnx::reshaped),
    aliases: &["Tensor.view", "megengine.functional.reshape", "oneflow.reshape", "oneflow.view"],
    examples: &[
        ("reshape(tensor([1, 2, 3, 4]), (2, 2))", "tensor([[1, 2],\n        [3, 4]])"),
        ("reshape(tensor([[1, 2], [3, 4], [5, 6]]), (-1,))", "tensor([1, 2, 3, 4, 5, 6])"),
        ("reshape(tensor(3), (1, 1))", "tensor([[3]])"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (sizes, numel) = (cx.ints(0).unwrap_or_default(), cx.shape(0).iter().product::<usize>());
    let known: usize = sizes.iter().filter(|it| **it >= 0).map(|it| *it as usize).product();
    let size = |it: &i64| usize::try_from(*it).unwrap_or(numel / known.max(1));
    cx.input(0).reshaped(&sizes.iter().map(size).collect::<Vec<_>>())
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let sizes = cx.ints(0).unwrap_or_default();
    let numel = cx.shape(0).numel();
    let refuse =
        || cx.bad_shapes(format!("{numel} elements cannot take the shape {:?}", sizes.as_slice()));
    if sizes.iter().filter(|&&it| it == -1).count() > 1 {
        return Err(cx.bad_shapes(
            "only one dimension can be inferred: one size may be -1, write the others as numbers",
        ));
    }
    if sizes.iter().any(|&it| it < -1) {
        return Err(refuse());
    }
    let known = sizes
        .iter()
        .filter(|&&it| it >= 0)
        .try_fold(1_usize, |acc, &it| acc.checked_mul(it as usize));
    let known = known.ok_or_else(refuse)?;
    let open = sizes.contains(&-1);
    let fits = if open { known > 0 && numel.is_multiple_of(known) } else { known == numel };
    if !fits {
        return Err(refuse());
    }
    let shape = sizes.iter().map(|&it| if it < 0 { numel / known } else { it as usize }).collect();
    Ok(smallvec![Meta::new(shape, cx.dtype(0))])
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    Ok(vec![Some(reshape(&cx.output_grad()?, cx.input(0).shape())?)])
}

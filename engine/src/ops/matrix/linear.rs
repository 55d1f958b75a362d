//! `linear`: `input @ weight.T + bias`; the weight is `[out, in]`.

use smallvec::smallvec;

use super::{Products, gemm_kernels};
use crate::dtype::Number;
use crate::functional::{matmul, matrix_transpose, reshape, sum};
use crate::meaning::{Array, Meaning, MeaningCx, Scalar, by_index, of_kind};
use crate::op::{
    Autocast, Body, DTypeRule, Default, Form, Grad, GradCx, InferCx, Is, Kernel, Onnx, Param,
    ParamKind, Saves, Surface, When,
};
use crate::{Meta, Metas, OpDef, Result, Shape, Tensor};

pub static OP: OpDef = OpDef {
    name: "linear",
    doc: "`input @ weight.T + bias`; the weight is `[out, in]`.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("input"),
        Param::tensor("weight"),
        Param::with("bias", ParamKind::OptTensor, Default::None),
    ],
    dtypes: DTypeRule::SameNumbers,
    infer,
    body: Body::Kernels(KERNELS),
    grad: Grad::Rule(grad, Saves::Inputs),
    step: Some(|cx| match (cx.rank_of(0).or(cx.rank()), cx.n_inputs()) {
        (Some(2), 3) => "AddmmBackward0",
        (Some(2), _) => "MmBackward0",
        _ => "UnsafeViewBackward0",
    }),
    pure: true,
    method: false,
    internal: false,
    surface: Surface {
        autocast: Autocast::Half,
        form: Some(Form::new("linear", OTHER_BIAS)),
        shapes: "input [..., in], weight [out, in], bias [out] give [..., out]",
        complex: Some(super::linear_of_parts),
        ..Surface::PLAIN
    },
    onnx: Onnx::written("Gemm", super::onnx::linear),
    aliases: &["megengine.functional.linear", "oneflow.nn.functional.linear"],
    examples: &[
        ("linear(tensor([1.0, 2.0]), tensor([[1.0, 0.0], [0.0, 3.0]]))", "tensor([1., 6.])"),
        ("linear(tensor([[1.0, 2.0]]), tensor([[1.0, 1.0]]), tensor([10.0]))", "tensor([[13.]])"),
        ("linear(zeros(0, 2), ones(3, 2)).shape", "torch.Size([0, 3])"),
    ],
};

/// A bias that is no vector, or one number for all that comes out.
const OTHER_BIAS: When =
    When::Any(&[When::Arg("bias", Is::NoVector), When::OneForRows("bias", "weight")]);

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (k, lead) = (cx.shape(1)[1], &cx.shape(0)[..cx.input(0).rank() - 1]);
    let zeros = Array::from_fn(&[cx.shape(1)[0]], cx.dtypes[0], |_| Number::Int(0));
    let bias = cx.inputs.get(2).unwrap_or(&zeros);
    let shape = [lead, bias.shape()].concat();
    let products = of_kind!(cx.input(0), cx.input(1), (x, weight) => by_index(&shape, |at| {
        let (column, row) = (at[lead.len()], &at[..lead.len()]);
        (0..k).fold(Scalar::ZERO, |sum, it| {
            Scalar::added(sum, Scalar::multiplied(x[&[row, &[it]].concat()[..]], weight[&[column, it][..]]))
        })
    }));
    products.placed(&bias.expanded(&shape), true, |at| Some(at.to_vec()))
}

static KERNELS: &[Kernel] = gemm_kernels!(Products::of_rows, super::cuda::linear);

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let (x, weight) = (cx.shape(0), cx.shape(1));
    let (Some((k, rows)), [n, k_of_weight]) = (x.split_last(), &weight[..]) else {
        return Err(cx.bad_shapes(
            "the weight must be a matrix [out, in] and the input must end in size `in`",
        ));
    };
    if k != k_of_weight {
        return Err(cx.bad_shapes(format!(
            "the input ends in size {k}, but the weight takes {k_of_weight}"
        )));
    }
    if cx.inputs.get(2).is_some_and(|it| it.shape()[..] != [*n]) {
        return Err(cx.bad_shapes(format!("the bias must have shape [{n}]")));
    }
    Ok(smallvec![Meta::new(rows.iter().copied().chain([*n]).collect(), cx.dtype(0))])
}

/// `dx = dy @ w`, `dw = dy^T @ x`, `db = sum(dy)`, with all rows in one matrix.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let (x, weight, dy) = (cx.input(0), cx.input(1), cx.output_grad()?);
    let n_rows = x.shape()[..x.rank() - 1].iter().product();
    let dy_rows = reshape(&dy, &Shape::from([n_rows, weight.shape()[0]]))?;
    let mut res = vec![None; cx.n_inputs()];
    if cx.needs(0) {
        res[0] = Some(reshape(&matmul(&dy_rows, weight)?, x.shape())?);
    }
    if cx.needs(1) {
        let rows = reshape(x, &Shape::from([n_rows, weight.shape()[1]]))?;
        res[1] = Some(matmul(&matrix_transpose(&dy_rows)?, &rows)?);
    }
    if cx.n_inputs() > 2 && cx.needs(2) {
        res[2] = Some(sum(&dy_rows, &[0], false)?);
    }
    Ok(res)
}

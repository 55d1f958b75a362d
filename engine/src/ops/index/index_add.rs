//! `index_add`: the input with slices of `source` added along a dimension at a vector of indices.

use smallvec::smallvec;

use super::{add_row, admit_along, index_dtype};
use crate::apply::complex::in_pairs;
use crate::cpu::{elements, strided};
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::indices;
use crate::op::{
    Body, DTypeRule, Form, Grad, GradCx, InferCx, Is, Kernel, KernelCx, Onnx, Param, ParamKind,
    Saves, Surface, When,
};
use crate::shape::resolve_dim;
use crate::{Attr, Error, Metas, OpDef, Result, Tensor, apply_one, with_dtype};

pub static OP: OpDef = OpDef {
    name: "index_add",
    doc: "The input with slices of `source` added along a dimension at a vector of indices.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("input"),
        Param::required("dim", ParamKind::Int),
        Param::tensor("index"),
        Param::tensor("source"),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::new("index_add.rows", run)
        .updating()
        .admitting(admit_along)
        .on_cuda(|cx| super::cuda::scatter(cx, true, super::cuda::ADD))]),
    grad: Grad::Rule(grad, Saves::Inputs),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        form: Some(Form::also_in_place("index_add", When::Arg("alpha", Is::Given))),
        in_place: true,
        shapes: "the shape of the input; source has the length of index along dim",
        complex: Some(|cx| in_pairs(cx, 0)),
        ..Surface::PLAIN
    },
    onnx: Onnx::written("ScatterElements", super::onnx::index_add),
    aliases: &["oneflow.index_add"],
    examples: &[
        (
            "index_add(zeros(3), 0, tensor([2, 0, 2]), tensor([1.0, 2.0, 3.0]))",
            "tensor([2., 0., 4.])",
        ),
        (
            "index_add(ones(2, 2), 1, tensor([0]), tensor([[5.0], [6.0]]))",
            "tensor([[6., 1.],\n        [7., 1.]])",
        ),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (x, index) = (cx.input(0).raised(), cx.input(1).raised().ints());
    let dim = cx.dim(0, x.rank());
    let sum = x.placed(&cx.input(2).raised(), true, |at| {
        let mut to = at.to_vec();
        to[dim] = index[[at[dim]].as_slice()] as usize;
        Some(to)
    });
    sum.reshaped(cx.shape(0))
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let mut part = cx.shape(0).clone();
    let dim = resolve_dim(cx.op.name, cx.int(0), part.rank())?;
    index_dtype(cx.op.name, &cx.inputs[1])?;
    if let Some(size) = part.dims_mut().get_mut(dim) {
        *size = cx.shape(1).numel();
    }
    if &part != cx.shape(2) || cx.shape(1).rank() > 1 {
        return Err(
            cx.bad_shapes(format!("the index must be a vector and the source of shape {part}"))
        );
    }
    if cx.dtype(0) != cx.dtype(2) {
        return Err(Error::DTypes { op: cx.op.name, dtypes: vec![cx.dtype(0), cx.dtype(2)] });
    }
    Ok(smallvec![cx.inputs[0].meta()])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (shape, dtype) = (cx.outputs[0].shape(), cx.outputs[0].dtype());
    let dim = resolve_dim(cx.op.name, cx.int(0), shape.rank())?;
    let (outer, size, inner) = strided::around(shape, dim);
    let index = indices(cx.op.name, &cx.inputs[0])?;
    with_dtype!(dtype, T => {
        let src = cx.inputs[1].to_slice::<T>();
        elements::all_made()?;
        let out = cx.outputs[0].as_mut_slice::<T>();
        let mut rows = src.chunks_exact(inner.max(1));
        for block in 0..outer {
            for &at in index.iter() {
                let start = (block * size + at as usize) * inner;
                let row = rows.next().unwrap_or(&[]);
                add_row(&mut out[start..start + inner], row, dtype);
            }
        }
    });
    Ok(())
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let dy = cx.output_grad()?;
    let dsource = match cx.needs(2) {
        true => {
            let attrs = smallvec![Attr::Int(cx.int(0))];
            Some(apply_one(&super::index_select::OP, &[dy.clone(), cx.input(1).clone()], &attrs)?)
        }
        false => None,
    };
    Ok(vec![Some(dy), None, dsource])
}

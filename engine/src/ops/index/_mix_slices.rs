//! `_mix_slices`: sums of slices along a dimension, each picked by an index and weighed: `out[i] = sum(weights[i, k] * input[index[i, k]])` for `dim=0`.

use smallvec::smallvec;

use super::{admit_along, index_dtype};
use crate::cpu::lane::cast;
use crate::cpu::mix::Picks;
use crate::cpu::strided;
use crate::functional::{full, index_add, mul, reshape, select, to};
use crate::meaning::{Array, Meaning, MeaningCx, by_index};
use crate::op::{
    Body, ComposedCx, DTypeRule, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind,
    Saves, Surface, indices,
};
use crate::shape::resolve_dim;
use crate::{
    Attr, DType, Error, Meta, Metas, OpDef, Outputs, Result, Shape, Tensor, apply_one, functional,
    with_float,
};

pub static OP: OpDef = OpDef {
    name: "_mix_slices",
    doc: "Sums of slices along a dimension, each picked by an index and weighed: `out[i] = sum(weights[i, k] * input[index[i, k]])` for `dim=0`. The weights have no gradient.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("input"),
        Param::required("dim", ParamKind::Int),
        Param::tensor("index"),
        Param::tensor("weights"),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::new("_mix_slices.rows", run)
        .admitting(admit_along)
        .composed_on_cuda(composed)]),
    grad: Grad::Rule(grad, Saves::Inputs),
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface {
        shapes: "the shape of the input, with the length of index along dim; index and weights [n, terms]",
        ..Surface::PLAIN
    },
    onnx: Onnx::written("Gather", super::onnx::mix_slices),
    aliases: &[],
    examples: &[
        (
            "_mix_slices(tensor([1.0, 2.0, 4.0]), 0, tensor([[0, 1], [2, 2]]), tensor([[0.5, 0.5], [2.0, -1.0]]))",
            "tensor([1.5000, 4.0000])",
        ),
        (
            "_mix_slices(tensor([[1.0, 2.0], [3.0, 4.0]]), 0, tensor([[1], [0], [1]]), tensor([[2.0], [1.0], [0.0]]))",
            "tensor([[6., 8.],\n        [1., 2.],\n        [0., 0.]])",
        ),
        (
            "_mix_slices(tensor([[nan, 2.0]]), 1, tensor([[1, 1]]), tensor([[1.0, 1.0]]))",
            "tensor([[4.]])",
        ),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (x, index, weights) = (cx.input(0).floats(), cx.input(1).ints(), cx.input(2).floats());
    let (mut shape, dim) = (x.shape().to_vec(), cx.dim(0, x.ndim()));
    let (n, terms) = (index.shape()[0], index.shape()[1]);
    shape[dim] = n;
    let sums = by_index(&shape, |at| {
        let term = |term: usize| {
            let (mut from, pick) = (at.to_vec(), [at[dim], term]);
            from[dim] = index[&pick[..]] as usize;
            x[&from[..]] * weights[&pick[..]]
        };
        (0..terms).map(term).sum::<f64>()
    });
    sums.into()
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let mut shape = cx.shape(0).clone();
    index_dtype(cx.op.name, &cx.inputs[1])?;
    let dim = resolve_dim(cx.op.name, cx.int(0), shape.rank())?;
    let (picks, weights) = (cx.shape(1), cx.shape(2));
    if shape.rank() == 0 || picks.rank() != 2 || picks[1] == 0 || picks != weights {
        return Err(cx.bad_shapes(
            "the input needs a dimension, and index and weights one shape [n, terms] with at least one term",
        ));
    }
    if !cx.dtype(0).is_float() || cx.dtype(0) != cx.dtype(2) {
        return Err(Error::DTypes { op: cx.op.name, dtypes: vec![cx.dtype(0), cx.dtype(2)] });
    }
    shape.dims_mut()[dim] = picks[0];
    Ok(smallvec![Meta::new(shape, cx.dtype(0))])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let input = cx.inputs[0];
    let dim = resolve_dim(cx.op.name, cx.int(0), input.shape().rank())?;
    let (outer, _, inner) = strided::around(input.shape(), dim);
    let places = indices(cx.op.name, &cx.inputs[1])?;
    let per_slice = cx.inputs[1].shape()[1];
    with_float!(cx.op.name, input.dtype(), T => {
        let (x, weights) = (input.to_slice::<T>(), cast::<T>(&cx.inputs[2]));
        let picks = Picks { places: &places, weights: &weights, per_slice };
        picks.mix(&x, outer, inner, cx.outputs[0].as_mut_slice::<T>());
        Ok(())
    })
}

/// For each term the places of the slices that it is of, and its weights as they broadcast to what is made.
fn terms(dim: i64, rank: usize, index: &Tensor, weights: &Tensor) -> Result<Vec<[Tensor; 2]>> {
    let mut sizes = vec![1; rank];
    sizes[resolve_dim(OP.name, dim, rank)?] = index.shape()[0];
    let term = |it: usize| {
        let weights = reshape(&select(weights, 1, it as i64)?, &Shape::new(&sizes))?;
        Ok([select(index, 1, it as i64)?, weights])
    };
    (0..index.shape()[1]).map(term).collect()
}

/// Sums are rounded once.
fn composed(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let (own, dim) = (cx.input(0)?.dtype(), cx.int(0));
    let wide = if own.is_half() { DType::F32 } else { own };
    let (x, weights) = (to(cx.input(0)?, wide)?, to(cx.input(2)?, wide)?);
    let mut sum: Option<Tensor> = None;
    for [places, weights] in terms(dim, x.rank(), cx.input(1)?, &weights)? {
        let attrs = smallvec![Attr::Int(dim)];
        let picked = apply_one(&super::index_select::OP, &[x.clone(), places], &attrs)?;
        let term = mul(&picked, &weights)?;
        sum = Some(sum.map_or_else(|| Ok(term.clone()), |it| functional::add(&it, &term))?);
    }
    sum.iter().map(|it| to(it, own)).collect()
}

/// Each gradient goes back to the slices that were picked, weighed as they were.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let (dy, dim) = (cx.output_grad()?, cx.int(0));
    let mut dx = full(cx.input(0).shape(), 0.0, dy.dtype())?;
    for [places, weights] in terms(dim, dy.rank(), cx.input(1), cx.input(2))? {
        dx = index_add(&dx, dim, &places, &mul(&dy, &to(&weights, dy.dtype())?)?)?;
    }
    Ok(vec![Some(dx), None, None])
}

//! `cat`: tensors joined along a dimension; dtypes promote.

use smallvec::smallvec;

use super::dim_attr;
use crate::apply::complex::in_pairs;
use crate::cpu::alloc::Bytes;
use crate::cpu::lane::cast_into;
use crate::cpu::view::{OutView, View};
use crate::cpu::{interrupt, strided};
use crate::dtype::Number;
use crate::functional::{full, slice, to};
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Autocast, Body, ComposedCx, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx,
    Param, ParamKind, Saves, Surface,
};
use crate::{Layout, Meta, Metas, OpDef, Outputs, Result, Shape, Tensor, with_size};

pub static OP: OpDef = OpDef {
    name: "cat",
    doc: "Tensors joined along a dimension; dtypes promote. Tensors of shape (0,) are left out.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::required("tensors", ParamKind::Tensors),
        Param::with("dim", ParamKind::Int, Default::Int(0)),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[COPY]),
    grad: Grad::Rule(grad, Saves::Shapes),
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface {
        autocast: Autocast::Widest,
        shapes: "sizes agree but along dim, where they are added",
        complex: Some(of_complex),
        ..Surface::PLAIN
    },
    onnx: Onnx::written("Concat", super::onnx::cat),
    aliases: &[
        "torch.concat",
        "torch.concatenate",
        "megengine.functional.concat",
        "oneflow.cat",
        "oneflow.concat",
    ],
    examples: &[
        ("cat([tensor([1, 2]), tensor([3])])", "tensor([1, 2, 3])"),
        (
            "cat([tensor([[1.0], [2.0]]), tensor([[3.0], [4.0]])], 1)",
            "tensor([[1., 3.],\n        [2., 4.]])",
        ),
        ("cat([tensor([1]), tensor([0.5])])", "tensor([1.0000, 0.5000])"),
    ],
};

/// All in the complex dtype that they have together, before their parts are joined.
fn of_complex(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let operands = || cx.inputs.iter().flatten();
    let dtype = crate::dtype::result_type(operands().map(|it| (it.dtype(), it.strength())));
    let inputs = operands().map(|it| to(it, dtype).map(Some)).collect::<Result<Vec<_>>>()?;
    in_pairs(&ComposedCx { inputs: &inputs, ..*cx }, 0)
}

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let joined: Vec<Array> =
        cx.inputs.iter().filter(|it| it.shape() != [0]).map(|it| it.to(cx.dtypes[0])).collect();
    let Some(first) = joined.first() else { return cx.input(0).to(cx.dtypes[0]) };
    let (mut shape, dim) = (first.shape().to_vec(), cx.dim(0, first.rank()));
    shape[dim] = joined.iter().map(|it| it.shape()[dim]).sum();
    let mut start = 0;
    joined.iter().fold(Array::from_fn(&shape, cx.dtypes[0], |_| Number::Int(0)), |whole, part| {
        let whole = whole.placed(part, false, |at| {
            let mut to = at.to_vec();
            to[dim] += start;
            Some(to)
        });
        start += part.shape()[dim];
        whole
    })
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let dtype = crate::dtype::result_type(cx.inputs.iter().map(|it| (it.dtype(), it.strength())));
    let Some(first) = cx.inputs.iter().find(|it| !skipped(it.shape())) else {
        return Ok(smallvec![Meta::new(Shape::from([0]), dtype)]);
    };
    let mut shape = first.shape().clone();
    if shape.rank() == 0 {
        return Err(cx.bad_shapes("scalars cannot be joined; use stack"));
    }
    let dim = dim_attr(cx.op.name, cx.attrs, 0, shape.rank())?;
    shape.dims_mut()[dim] = 0;
    for input in cx.inputs.iter().filter(|it| !skipped(it.shape())) {
        let here = input.shape();
        let fits = here.rank() == shape.rank()
            && (0..here.rank()).all(|it| it == dim || here[it] == shape[it]);
        if !fits {
            return Err(cx.bad_shapes(format!("sizes must agree except in dimension {dim}")));
        }
        shape.dims_mut()[dim] = shape[dim].saturating_add(here[dim]);
    }
    Ok(smallvec![Meta::new(shape, dtype)])
}

/// Copies elements of any dtype; of one tensor all of them.
pub(crate) const COPY: Kernel = Kernel::moving("cat.copy", run).on_cuda(super::cuda::cat);

pub(super) fn skipped(shape: &Shape) -> bool {
    shape.rank() == 1 && shape[0] == 0
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let whole = Layout::contiguous(cx.outputs[0].shape().clone());
    if whole.shape.rank() == 0 {
        place(&cx.inputs[0], &mut cx.outputs[0], &whole);
        return Ok(());
    }
    let dim = dim_attr(cx.op.name, cx.attrs, 0, whole.shape.rank())?;
    let mut start = 0;
    for input in cx.inputs.iter().filter(|it| !skipped(it.shape())) {
        if interrupt::ends_here() {
            break;
        }
        let len = input.shape()[dim];
        let part = whole.slice(dim, start, len, 1);
        start += len;
        if input.dtype() == cx.outputs[0].dtype() {
            place(input, &mut cx.outputs[0], &part);
        } else {
            place_converted(input, &mut cx.outputs[0], &part)?;
        }
    }
    Ok(())
}

fn place(input: &View<'_>, output: &mut OutView<'_>, part: &Layout) {
    with_size!(input.dtype(), T => {
        strided::copy(input.buffer::<T>(), input.layout(), output.as_mut_slice::<T>(), part);
    });
}

fn place_converted(input: &View<'_>, output: &mut OutView<'_>, part: &Layout) -> Result<()> {
    let (shape, dtype) = (input.shape(), output.dtype());
    let mut bytes = Bytes::uninit(shape.numel() * dtype.size())?;
    if let Some(mut converted) = OutView::new(&mut bytes, shape, dtype) {
        cast_into(input, &mut converted);
    }
    let dense = Layout::contiguous(shape.clone());
    if let Some(converted) = View::new(&bytes, &dense, dtype) {
        place(&converted, output, part);
    }
    Ok(())
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let dy = cx.output_grad()?;
    let dim = dim_attr(cx.op.name, cx.attrs, 0, dy.rank())?;
    let mut start = 0_i64;
    let mut res = Vec::with_capacity(cx.n_inputs());
    for idx in 0..cx.n_inputs() {
        let shape = cx.input(idx).shape();
        if skipped(shape) {
            let none = || full(shape, 0.0, dy.dtype());
            res.push(cx.needs(idx).then(none).transpose()?);
            continue;
        }
        let stop = start + shape[dim] as i64;
        res.push(match cx.needs(idx) {
            true => Some(slice(&dy, dim as i64, start, stop, 1)?),
            false => None,
        });
        start = stop;
    }
    Ok(res)
}

//! `index_put`: places values by index tensors on the leading dimensions: `x[i, j] = values`, or adds them.

use smallvec::smallvec;

use super::cuda::{ADD, Placing, put_rows};
use super::{add_row, admit_leading, index_dtype, leading, row_starts};
use crate::apply::complex::by_parts;
use crate::cpu::view::View;
use crate::cpu::{elements, interrupt, strided};
use crate::functional::unbroadcast;
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, CudaCx, DTypeRule, Default, Form, Grad, GradCx, InferCx, Is, Kernel, KernelCx, Onnx,
    Param, ParamKind, Saves, Surface, When,
};
use crate::{
    Attrs, Error, Layout, Metas, OpDef, Result, Shape, Tensor, apply_one, functional, with_dtype,
};

pub static OP: OpDef = OpDef {
    name: "index_put",
    doc: "Places values by index tensors on the leading dimensions: `x[i, j] = values`, or adds them. The tensors are what is changed, the values, then the indices.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::required("tensors", ParamKind::Tensors),
        Param::with("accumulate", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::new("index_put.rows", run)
        .updating()
        .admitting(|cx| admit_leading(cx, 2))
        .on_cuda(on_cuda)]),
    grad: Grad::Rule(grad, Saves::Inputs),
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface {
        mixes_devices: true,
        form: Some(Form::new("index_put", When::At(0, "input", Is::Tensor))),
        shapes: "the shape of the input; values are broadcast to what is indexed",
        complex: Some(by_parts),
        ..Surface::PLAIN
    },
    onnx: Onnx::written("ScatterND", super::onnx::index_put),
    aliases: &["oneflow.tensor_scatter_nd_update"],
    examples: &[
        ("index_put([zeros(3), tensor([5.0]), tensor([1])])", "tensor([0., 5., 0.])"),
        ("index_put([zeros(2), ones(3), tensor([0, 0, 1])], True)", "tensor([2., 1.])"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (shape, places) = super::leading_places(cx, 2);
    let values = cx.input(1).expanded(&shape);
    cx.input(0).placed(&values, cx.flag(0), |at| Some(places(at)))
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    if cx.inputs.len() < 2 {
        return Err(Error::Arity { op: cx.op.name, expected: 2, got: cx.inputs.len() });
    }
    cx.inputs[2..].iter().try_for_each(|it| index_dtype(cx.op.name, it))?;
    let target = target(
        cx.op.name,
        cx.shape(0),
        &cx.inputs[2..].iter().map(Tensor::shape).collect::<Vec<_>>(),
    )?;
    if Layout::contiguous(cx.shape(1).clone()).broadcast_to(&target).is_none() {
        return Err(cx.bad_shapes(format!("the values must broadcast to {target}")));
    }
    if cx.dtype(0) != cx.dtype(1) {
        return Err(Error::DTypes { op: cx.op.name, dtypes: vec![cx.dtype(0), cx.dtype(1)] });
    }
    Ok(smallvec![cx.inputs[0].meta()])
}

/// The shape of what the indices pick.
fn target(op: &'static str, shape: &Shape, index: &[&Shape]) -> Result<Shape> {
    let lead = leading(op, shape, index)?;
    Ok(lead.positions.iter().chain(&shape[index.len()..]).copied().collect())
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (values, index) = (cx.inputs[0], &cx.inputs[1..]);
    let (shape, dtype) = (cx.outputs[0].shape(), cx.outputs[0].dtype());
    let shapes: Vec<&Shape> = index.iter().map(View::shape).collect();
    let lead = leading(cx.op.name, shape, &shapes)?;
    let target = target(cx.op.name, shape, &shapes)?;
    let starts = row_starts(cx.op.name, shape, index, &lead)?;
    let add = cx.flag(0);
    let spread = values.layout().broadcast_to(&target).unwrap_or_else(|| values.layout().clone());
    with_dtype!(dtype, T => {
        let values = strided::gather(values.buffer::<T>(), &spread);
        elements::all_made()?;
        let out = cx.outputs[0].as_mut_slice::<T>();
        for at in interrupt::pieces_of(starts.len(), lead.row).flatten() {
            let row = &mut out[starts[at]..][..lead.row];
            let placed = &values[at * lead.row..][..lead.row];
            if add { add_row(row, placed, dtype) } else { row.copy_from_slice(placed) }
        }
    });
    Ok(())
}

fn on_cuda(cx: &CudaCx<'_>) -> Result<()> {
    put_rows(cx, if cx.flag(0) { ADD } else { Placing::Put })
}

/// Placed values hide what was there; added ones do not.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let dy = cx.output_grad()?;
    let index = || (2..cx.n_inputs()).map(|it| cx.input(it).clone());
    let mut res = vec![None; cx.n_inputs()];
    if cx.needs(0) {
        let zero = functional::full(&Shape::default(), 0.0, dy.dtype())?;
        let inputs: Vec<Tensor> = [dy.clone(), zero].into_iter().chain(index()).collect();
        res[0] = Some(if cx.flag(0) { dy.clone() } else { apply_one(&OP, &inputs, cx.attrs)? });
    }
    if cx.needs(1) {
        let inputs: Vec<Tensor> = [dy].into_iter().chain(index()).collect();
        let picked = apply_one(&super::index::OP, &inputs, &Attrs::new())?;
        res[1] = Some(unbroadcast(&picked, cx.input(1).shape())?);
    }
    Ok(res)
}

//! `as_strided_scatter`: the input with elements that lie at a start and at steps from there replaced by those of `src`.

use smallvec::smallvec;

use super::_as_strided::{self, lies};
use crate::cpu::strided;
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind,
    Saves, Surface,
};
use crate::{Error, Metas, OpDef, Result, Tensor, with_size};

pub static OP: OpDef = OpDef {
    name: "as_strided_scatter",
    doc: "The input with elements replaced by those of `src`: the ones that lie at a start and at steps from there, counted in row-major order.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("input"),
        Param::tensor("src"),
        Param::required("size", ParamKind::Ints),
        Param::required("stride", ParamKind::Ints),
        Param::with("storage_offset", ParamKind::Int, Default::Int(0)),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::moving("as_strided_scatter.copy", run)
        .updating()
        .on_cuda(super::cuda::as_strided_scatter)]),
    grad: Grad::Rule(grad, Saves::Shapes),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        shapes: "the shape of the input; src has the shape `size`, and no element is meant twice",
        ..Surface::PLAIN
    },
    onnx: Onnx::written("ScatterElements", super::onnx::as_strided_scatter),
    aliases: &[],
    examples: &[
        (
            "as_strided_scatter(zeros(2, 3), ones(2), (2,), (4,))",
            "tensor([[1., 0., 0.],\n        [0., 1., 0.]])",
        ),
        (
            "as_strided_scatter(tensor([1, 2, 3, 4]), tensor([[8], [9]]), (2, 1), (1, 1), 2)",
            "tensor([1, 2, 8, 9])",
        ),
        ("as_strided_scatter(tensor([1, 2]), zeros(0).long(), (0,), (1,))", "tensor([1, 2])"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (steps, start) = (cx.ints(1).unwrap_or_default(), cx.int(2));
    let flat = cx.input(0).reshaped(&[cx.shape(0).iter().product()]);
    let placed = flat.placed(cx.input(1), false, |at| {
        let place = at.iter().zip(&steps).fold(start, |sum, (&at, step)| sum + at as i64 * step);
        Some(vec![place as usize])
    });
    placed.reshaped(cx.shape(0))
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let part = _as_strided::seen(cx)?;
    if &part.shape != cx.shape(1) {
        return Err(cx.bad_shapes(format!("src must have the shape {}", part.shape)));
    }
    if part.may_overlap() {
        return Err(cx.bad_shapes("some elements would be written several times"));
    }
    if cx.dtype(0) != cx.dtype(1) {
        return Err(Error::DTypes { op: cx.op.name, dtypes: vec![cx.dtype(0), cx.dtype(1)] });
    }
    Ok(smallvec![cx.inputs[0].meta()])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let src = cx.inputs[0];
    let part = lies(cx.attrs, src.shape());
    with_size!(src.dtype(), T => {
        let out = cx.outputs[0].as_mut_slice::<T>();
        strided::copy(src.buffer::<T>(), src.layout(), out, &part);
    });
    Ok(())
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    super::grad_of_placed(cx, &_as_strided::OP)
}

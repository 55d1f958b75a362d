//! `complex`: complex numbers from their parts.

use smallvec::smallvec;

use crate::cpu::strided;
use crate::cpu::typed::{self, Plain};
use crate::dtype::result_type;
use crate::functional::{part, unbroadcast};
use crate::meaning::{Array, Meaning, MeaningCx, broadcast};
use crate::op::{
    Body, DTypeRule, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, Saves, Surface, shapes,
};
use crate::{
    DType, Error, Layout, Meta, Metas, OpDef, Result, Shape, Tensor, rules, storage, with_float,
};

/// The row of `complex`.
pub static OP: OpDef = OpDef {
    name: "complex",
    doc: "Complex numbers from their real and imaginary parts.",
    meaning: Meaning::of(meaning),
    params: &[Param::tensor("real"), Param::tensor("imag")],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[
        Kernel::moving("complex.pairs", run).on_cuda(crate::ops::shape::cuda::pairs)
    ]),
    grad: Grad::Rule(grad, Saves::Shapes),
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface { shapes: shapes::BROADCAST, ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[(
        "complex(tensor([1.0, 2.0]), tensor([0.5, -1.0]))",
        "tensor([1.+0.5000j, 2.-1.0000j])",
    )],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let shape = broadcast([cx.shape(0), cx.shape(1)]);
    let [real, imag] = [0, 1].map(|it| cx.input(it).expanded(&shape).floats());
    Array::Complex(real, imag)
}

/// Both parts are of one dtype, but for numbers of the program.
fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let dtype = result_type(cx.inputs.iter().map(|it| (it.dtype(), it.strength())));
    let given = || cx.inputs.iter().filter(|it| it.as_number().is_none()).map(Tensor::dtype);
    if !dtype.is_full_float() {
        return Err(Error::DType { op: cx.op.name, dtype, allowed: "float32 or float64" });
    }
    if given().any(|it| it != dtype) {
        return Err(Error::DTypes { op: cx.op.name, dtypes: given().collect() });
    }
    Ok(smallvec![Meta::new(rules::broadcast_shape(cx.op, cx.inputs)?, dtype.complex())])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let dtype = cx.outputs[0].dtype().part();
    with_float!(cx.op.name, dtype, T => pairs::<T>(cx, dtype))
}

/// Each part to every second place. A number of the program may have another dtype.
fn pairs<T: Plain>(cx: &mut KernelCx<'_, '_>, dtype: DType) -> Result<()> {
    let shape = cx.outputs[0].shape().clone();
    let out = cx.outputs[0].parts_mut::<T>();
    for (which, input) in cx.inputs.iter().enumerate() {
        let to = every_second(&shape, which);
        let from = input.layout().broadcast_to(&shape).ok_or_else(Error::outside_storage)?;
        let number = input.first().filter(|_| input.dtype() != dtype);
        match number.map(|it| storage::from_number(it, dtype)).transpose()? {
            Some(bytes) => strided::copy(typed::slice::<T>(&bytes), &from, out, &to),
            None => strided::copy(input.buffer::<T>(), &from, out, &to),
        }
    }
    Ok(())
}

fn every_second(shape: &Shape, which: usize) -> Layout {
    let plain = Layout::contiguous(shape.clone());
    let strides = plain.strides.iter().map(|it| 2 * it).collect();
    Layout { strides, offset: which, ..plain }
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let dy = cx.output_grad()?;
    let of = |which: usize| match cx.needs(which) {
        true => unbroadcast(&part(&dy, which)?, cx.input(which).shape()).map(Some),
        false => Ok(None),
    };
    Ok(vec![of(0)?, of(1)?])
}

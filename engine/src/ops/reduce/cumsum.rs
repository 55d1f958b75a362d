//! `cumsum`: the running sum along a dimension.

use smallvec::smallvec;

use crate::cpu::number::Num;
use crate::cpu::{scan, strided};
use crate::functional::{cumsum, flip};
use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind,
    Saves,
};
use crate::shape::resolve_dim;
use crate::{Attr, DType, Meta, Metas, OpDef, Result, Tensor, with_dtype};

pub static OP: OpDef = OpDef {
    name: "cumsum",
    doc: "The running sum along a dimension. Integers and bools count in int64.",
    params: &[
        Param::tensor("input"),
        Param::required("dim", ParamKind::Int),
        Param::with("dtype", ParamKind::OptDType, Default::None),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::new("reduce.cumsum", run)]),
    grad: Grad::Rule(grad, Saves::Shapes),
    pure: true,
    method: true,
    onnx: &[Onnx { op_type: "CumSum", since: 11, attrs: &[("dim", "axis")] }],
    aliases: &["megengine.functional.cumsum", "oneflow.cumsum"],
    examples: &[
        ("cumsum(tensor([1.0, 2.0, 3.0]), 0)", "tensor([1., 3., 6.])"),
        ("cumsum(tensor([[1, 2], [3, 4]]), 0)", "tensor([[1, 2],\n        [4, 6]])"),
        ("cumsum(tensor([True, True]), 0)", "tensor([1, 2])"),
    ],
};

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    resolve_dim(cx.op.name, cx.int(0), cx.shape(0).rank())?;
    let dtype = match cx.attrs.get(1) {
        Some(Attr::DType(dtype)) => *dtype,
        _ if cx.dtype(0).is_float() => cx.dtype(0),
        _ => DType::I64,
    };
    Ok(smallvec![Meta::new(cx.shape(0).clone(), dtype)])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let input = cx.inputs[0];
    let dim = resolve_dim(cx.op.name, cx.int(0), input.shape().rank())?;
    let (_, n, inner) = strided::around(input.shape(), dim);
    let dtype = cx.outputs[0].dtype();
    with_dtype!(input.dtype(), S => with_dtype!(dtype, T => {
        let data: Vec<T> = input.to_slice::<S>().iter().map(|&it| it as T).collect();
        let out = cx.outputs[0].as_mut_slice::<T>();
        if dtype.is_float() {
            scan::float_sums(&data, (n, inner), out);
            return Ok(());
        }
        scan::scan(&data, (n, inner), out, Num::plus);
    }));
    Ok(())
}

/// The running sum from the other end.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let dim = cx.int(0);
    if cx.input(0).rank() == 0 {
        return Ok(vec![Some(cx.output_grad()?)]);
    }
    let reversed = cumsum(&flip(&cx.output_grad()?, &[dim])?, dim)?;
    Ok(vec![Some(flip(&reversed, &[dim])?)])
}

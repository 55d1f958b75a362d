//! `eye`: ones on the diagonal.

use smallvec::smallvec;

use super::{dtype_or, fill_with};
use crate::dtype::Number;
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, DTypeRule, Default, Grad, InferCx, Kernel, KernelCx, Onnx, OpDef, Param, ParamKind,
    Surface,
};
use crate::tensor::Metas;
use crate::{Attr, DType, Error, Meta, Result, Shape};

/// The row of `eye`.
pub static OP: OpDef = OpDef {
    name: "eye",
    doc: "A matrix of `n` rows and `m` (else `n`) columns with 1 on the diagonal and 0 elsewhere.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::required("n", ParamKind::Int),
        Param::with("m", ParamKind::OptInt, Default::None),
        Param::with("dtype", ParamKind::OptDType, Default::None),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::moving("eye.plain", run).on_cuda(super::cuda::diagonal)]),
    grad: Grad::Stops("it has no tensor inputs"),
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface { shapes: "[n, n], or [n, m]", ..Surface::PLAIN },
    onnx: Onnx::written("Constant", super::onnx::elements),
    aliases: &["megengine.functional.eye", "oneflow.eye", "numpy.eye"],
    examples: &[
        ("eye(2)", "tensor([[1., 0.],\n        [0., 1.]])"),
        ("eye(2, 3, dtype=int64)", "tensor([[1, 0, 0],\n        [0, 1, 0]])"),
        ("eye(1)", "tensor([[1.]])"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (n, m) = (cx.int(0), cx.opt_int(1).unwrap_or(cx.int(0)));
    Array::from_fn(&[n as usize, m as usize], cx.dtypes[0], |at| Number::Bool(at[0] == at[1]))
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let rows = cx.int(0);
    let columns = if matches!(cx.attrs.get(1), None | Some(Attr::None)) { rows } else { cx.int(1) };
    let size = |it: i64, name| {
        let problem = "must not be negative".into();
        usize::try_from(it).map_err(|_| Error::Attr { op: "eye", name, problem })
    };
    let shape = Shape::from([size(rows, "n")?, size(columns, "m")?]);
    Ok(smallvec![Meta::new(shape, dtype_or(cx.attrs, 2, DType::F32))])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let columns = cx.outputs[0].shape()[1].max(1);
    fill_with(&mut cx.outputs[0], |idx| Number::Bool(idx / columns == idx % columns));
    Ok(())
}

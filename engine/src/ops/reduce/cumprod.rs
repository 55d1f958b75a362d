//! `cumprod`: the running product along a dimension.

use smallvec::smallvec;

use super::cuda::{accumulated, scan};
use super::running::{self, Running};
use crate::functional::{cat, flip, mul, slice, to};
use crate::meaning::{Array, Meaning, MeaningCx, Scalar, of_kind};
use crate::op::{
    Body, ComposedCx, DTypeRule, Default, Grad, GradCx, Kernel, Onnx, Param, ParamKind, Saves,
    Surface, shapes,
};
use crate::shape::resolve_dim;
use crate::{Attr, OpDef, Outputs, Result, Tensor, apply_one};

pub static OP: OpDef = OpDef {
    name: "cumprod",
    doc: "The running product along a dimension. Integers and bools count in int64.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("input"),
        Param::required("dim", ParamKind::Int),
        Param::with("dtype", ParamKind::OptDType, Default::None),
    ],
    dtypes: DTypeRule::Any,
    infer: running::infer,
    body: Body::Kernels(&[Kernel::new("reduce.cumprod", |cx| running::run(cx, Running::Product))
        .on_cuda(|cx| scan(cx, "ng_product", accumulated(cx.outputs[0].dtype())))]),
    grad: Grad::Rule(grad, Saves::Both),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface { shapes: shapes::SAME, complex: Some(of_complex), ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &["oneflow.cumprod"],
    examples: &[
        ("cumprod(tensor([1.0, 2.0, 3.0]), 0)", "tensor([1., 2., 6.])"),
        ("cumprod(tensor([[1, 2], [3, 4]]), 0)", "tensor([[1, 2],\n        [3, 8]])"),
        ("cumprod(tensor([True, True]), 0)", "tensor([1, 1])"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    of_kind!(&cx.input(0).to(cx.dtypes[0]), x => running::meaning(cx, x, Scalar::multiplied))
}

/// Products of one, two, four and so on elements, up to all that come before.
fn of_complex(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let mut res = match cx.attrs.get(1) {
        Some(Attr::DType(dtype)) => to(cx.input(0)?, *dtype)?,
        _ => cx.input(0)?.clone(),
    };
    if res.rank() == 0 {
        return Ok(smallvec![res]);
    }
    let dim = resolve_dim(cx.op.name, cx.int(0), res.rank())?;
    let (size, dim) = (res.shape()[dim] as i64, dim as i64);
    let mut reach = 1;
    while reach < size {
        let before = slice(&res, dim, 0, size - reach, 1)?;
        let products = mul(&slice(&res, dim, reach, size, 1)?, &before)?;
        res = cat(&[slice(&res, dim, 0, reach, 1)?, products], dim)?;
        reach *= 2;
    }
    Ok(smallvec![res])
}

/// `dx[k] = before[k] * from[k]`, where `before` is the product of what stands before `k`, and
/// `from[k] = dy[k] + x[k + 1] * from[k + 1]`. Nothing is divided, so it holds where `x` is 0.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let (x, y, dy) = (cx.input(0), cx.output(0), cx.output_grad()?);
    if x.rank() == 0 || x.numel() == 0 {
        return Ok(vec![Some(dy)]);
    }
    let dim = resolve_dim(cx.op.name, cx.int(0), x.rank())? as i64;
    let before = shifted(y, dim, 1.0)?;
    let factors = shifted(&flip(x, &[dim])?, dim, 0.0)?;
    let inputs = [factors, flip(&dy, &[dim])?];
    let from = apply_one(&super::linear_scan::OP, &inputs, &smallvec![Attr::Int(dim)])?;
    Ok(vec![Some(mul(&before, &flip(&from, &[dim])?)?)])
}

/// One step along `dim` towards its end; `first` comes in.
pub(super) fn shifted(x: &Tensor, dim: i64, first: f64) -> Result<Tensor> {
    let size = x.shape()[dim as usize] as i64;
    entered(&slice(x, dim, 0, size - 1, 1)?, dim, first)
}

/// `first` before what there is along `dim`.
pub(super) fn entered(x: &Tensor, dim: i64, first: f64) -> Result<Tensor> {
    let mut pads = smallvec![0; 2 * (x.rank() - dim as usize)];
    pads[2 * (x.rank() - 1 - dim as usize)] = 1;
    let attrs = smallvec![Attr::Ints(pads), Attr::Str("constant"), Attr::Float(first)];
    apply_one(&crate::ops::shape::pad::OP, std::slice::from_ref(x), &attrs)
}

//! `linear_scan`: a running sum in which what has come so far is scaled at each step: `y[k] = b[k] + a[k] * y[k - 1]`.

use ndarray::Dimension;
use smallvec::smallvec;

use super::cumprod::shifted;
use crate::cpu::{scan, strided};
use crate::cuda::source::computed;
use crate::functional::{flip, mul};
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, DTypeRule, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind, Saves,
    Surface, shapes,
};
use crate::shape::resolve_dim;
use crate::{Error, Metas, OpDef, Result, Tensor, apply_one, with_float};

pub static OP: OpDef = OpDef {
    name: "linear_scan",
    doc: "A running sum along a dimension that is scaled at each step: `y[k] = b[k] + a[k] * y[k - 1]`, from `y[0] = b[0]`.",
    meaning: Meaning::of(meaning),
    params: &[Param::tensor("a"), Param::tensor("b"), Param::required("dim", ParamKind::Int)],
    dtypes: DTypeRule::FloatsToSame,
    infer,
    body: Body::Kernels(&[Kernel::new("linear_scan.loop", run)
        .on_cuda(|cx| super::cuda::scan(cx, "ng_linear", computed(cx.dtype(0))))]),
    grad: Grad::Rule(grad, Saves::Both),
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface { shapes: shapes::SAME, ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        (
            "linear_scan(tensor([9.0, 2.0, 3.0]), tensor([1.0, 1.0, 1.0]), 0)",
            "tensor([ 1.,  3., 10.])",
        ),
        (
            "linear_scan(tensor([[0.5], [0.5]]), tensor([[4.0], [1.0]]), 0)",
            "tensor([[4.],\n        [3.]])",
        ),
        ("linear_scan(zeros(3), tensor([1.0, 2.0, 3.0]), 0)", "tensor([1., 2., 3.])"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (a, b, dim) = (cx.input(0).floats(), cx.input(1).floats(), cx.dim(0, cx.input(1).rank()));
    let mut y = b.clone();
    for at in ndarray::indices(b.raw_dim()).into_iter().filter(|at| at.ndim() > 0 && at[dim] > 0) {
        let mut before = at.clone();
        before[dim] -= 1;
        y[&at] += a[&at] * y[&before];
    }
    y.into()
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    resolve_dim(cx.op.name, cx.int(0), cx.shape(1).rank())?;
    if cx.shape(0) != cx.shape(1) {
        return Err(cx.bad_shapes("both must have one shape"));
    }
    if cx.dtype(0) != cx.dtype(1) {
        return Err(Error::DTypes { op: cx.op.name, dtypes: vec![cx.dtype(0), cx.dtype(1)] });
    }
    Ok(smallvec![cx.inputs[1].meta()])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (a, b) = (cx.inputs[0], cx.inputs[1]);
    let dim = resolve_dim(cx.op.name, cx.int(0), b.shape().rank())?;
    let (_, n, inner) = strided::around(b.shape(), dim);
    with_float!(cx.op.name, b.dtype(), T => {
        let (a, b) = (a.to_slice::<T>(), b.to_slice::<T>());
        scan::linear(&a, &b, (n, inner), cx.outputs[0].as_mut_slice());
        Ok(())
    })
}

/// `db[k] = dy[k] + a[k + 1] * db[k + 1]`, which is a scan from the other end, and `da[k] = db[k] * y[k - 1]`.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let (a, y, dy) = (cx.input(0), cx.output(0), cx.output_grad()?);
    if y.rank() == 0 || y.numel() == 0 {
        return Ok(vec![Some(mul(&dy, &crate::functional::num(0.0))?), Some(dy)]);
    }
    let dim = resolve_dim(cx.op.name, cx.int(0), y.rank())? as i64;
    let factors = shifted(&flip(a, &[dim])?, dim, 0.0)?;
    let back = apply_one(&OP, &[factors, flip(&dy, &[dim])?], cx.attrs)?;
    let db = flip(&back, &[dim])?;
    Ok(vec![Some(mul(&db, &shifted(y, dim, 0.0)?)?), Some(db)])
}

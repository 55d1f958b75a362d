//! `norm`: the `p`-norm over dimensions, or of all elements: (sum of |x|^p)^(1/p); for p = inf the largest |x|, for p = 0 the number of elements that are not zero.

use smallvec::smallvec;

use super::cuda::{Fold, over_dims};
use super::{Rows, dims_attr, fold_into, reduced_shape, rows, spread};
use crate::apply::complex::absolute;
use crate::cpu::lane::Scratch;
use crate::cpu::number::Float;
use crate::cpu::reduce;
use crate::cuda::source::computed;
use crate::functional::{abs, div, eq, mul, num, pow, select_where, sign, sum, to};
use crate::meaning::{Array, Meaning, MeaningCx, Scalar, over};
use crate::op::{
    Body, CudaCx, DTypeRule, Default, Form, Grad, GradCx, InferCx, Is, Kernel, KernelCx, Onnx,
    Param, ParamKind, Saves, Surface, When, shapes,
};
use crate::{DType, Meta, Metas, OpDef, Result, Tensor, functional, with_float};

pub static OP: OpDef = OpDef {
    name: "norm",
    doc: "The `p`-norm over dimensions, or of all elements: (sum of |x|^p)^(1/p); for p = inf the largest |x|, for p = 0 the number of elements that are not zero.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("input"),
        Param::with("p", ParamKind::Float, Default::Float(2.0)),
        Param::with("dim", ParamKind::OptInts, Default::None),
        Param::with("keepdim", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::FloatsToSame,
    infer,
    body: Body::Kernels(&[Kernel::new("reduce.norm", run)
        .finishing()
        .with_prologue(prologue)
        .on_cuda(on_cuda)]),
    grad: Grad::Rule(grad, Saves::Both),
    step: Some(|_| "LinalgVectorNormBackward0"),
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        form: Some(Form::new(
            "norm",
            When::Any(&[
                When::Arg("p", Is::Str),
                When::Arg("p", Is::None),
                When::Arg("dtype", Is::Given),
            ]),
        )),
        shapes: shapes::REDUCED,
        complex: Some(absolute),
        ..Surface::PLAIN
    },
    onnx: Onnx::written("ReduceL2", super::onnx::norm),
    aliases: &[
        "torch.linalg.vector_norm",
        "megengine.functional.norm",
        "oneflow.linalg.vector_norm",
    ],
    examples: &[
        ("norm(tensor([3.0, 4.0]))", "tensor(5.)"),
        ("norm(tensor([[3.0, -4.0], [1.0, 0.0]]), 1, 1)", "tensor([7., 1.])"),
        ("norm(tensor([1.0, -7.0]), float(\"inf\"))", "tensor(7.)"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (x, p) = (cx.input(0).floats(), cx.float(0));
    let norm = |all: &[f64]| match p {
        _ if all.iter().any(|x| x.is_nan()) && p != 0.0 => f64::NAN,
        0.0 => all.iter().filter(|x| **x != 0.0).count() as f64,
        f64::INFINITY => all.iter().fold(0.0, |most, x| x.abs().max(most)),
        f64::NEG_INFINITY => all.iter().fold(f64::INFINITY, |least, x| x.abs().min(least)),
        _ => {
            let powers: Vec<f64> = all.iter().map(|x| x.abs().powf(p)).collect();
            f64::total(&powers).powf(1.0 / p)
        }
    };
    over(&x, &cx.dims(1, x.ndim()), cx.flag(2), norm).into()
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let dims = dims_attr(cx.op.name, cx.attrs, 1, cx.shape(0).rank())?;
    Ok(smallvec![Meta::new(reduced_shape(cx.shape(0), &dims, cx.flag(2)), cx.dtype(0))])
}

/// Sums read each element once; the extremes of sizes are found among copies.
fn prologue(cx: &InferCx<'_>) -> Option<DType> {
    super::streamed(cx).filter(|_| cx.float(0).is_finite())
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let p = cx.float(0);
    with_float!(cx.op.name, cx.inputs[0].dtype(), T => {
        if p.is_infinite() {
            return largest::<T>(cx, p > 0.0);
        }
        if p == 2.0 {
            return fold_into::<T, _, T>(cx, 1, reduce::SumOf(|x| x * x), |sum| sum.sqrt() as T);
        }
        let power = move |x: f64| if p == 0.0 { f64::from(u8::from(x != 0.0)) } else { x.abs().powf(p) };
        let root = if p == 0.0 { 1.0 } else { 1.0 / p };
        fold_into::<T, _, T>(cx, 1, reduce::SumOf(power), move |sum| sum.powf(root) as T)
    })
}

fn on_cuda(cx: &CudaCx<'_>) -> Result<()> {
    let (p, compute) = (cx.float(0), computed(cx.dtype(0)));
    let fold = match p {
        0.0 => Fold::of("ng_norm_zero", compute),
        1.0 => Fold::of("ng_norm_one", compute),
        2.0 => Fold::of("ng_norm_two", compute),
        f64::INFINITY => Fold::best("ng_norm_largest", cx.dtype(0)),
        f64::NEG_INFINITY => Fold::best("ng_norm_smallest", cx.dtype(0)),
        _ => Fold::of("ng_norm_any", compute),
    };
    over_dims(cx, 1, &Fold { number: p, ..fold })
}

fn largest<T: Float>(cx: &mut KernelCx<'_, '_>, max: bool) -> Result<()> {
    let dims = dims_attr(cx.op.name, cx.attrs, 1, cx.inputs[0].shape().rank())?;
    let Rows { mut data, n, inner } = rows::<T>(&cx.operand(), &dims);
    let mut scratch = Scratch::default();
    let sizes: Vec<T> =
        data.all(&mut scratch).iter().map(|&x| if x < T::ZERO { -x } else { x }).collect();
    let out = cx.outputs[0].as_mut_slice::<T>();
    match max {
        true => reduce::fold(
            reduce::Max,
            &(&*sizes).into(),
            (n, inner),
            out,
            |x| {
                if x < T::ZERO { T::ZERO } else { x }
            },
            cx.part,
        ),
        false => reduce::fold(reduce::Min, &(&*sizes).into(), (n, inner), out, |x| x, cx.part),
    }
    Ok(())
}

/// `dx = dy * sign(x) * (|x| / y)^(p - 1)`, 0 where `x` or `y` is 0; for infinite `p` the extremes share `dy`.
///
/// What is divided by is never 0, so that the derivatives of this are 0 there as well.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let (x, p) = (cx.input(0), cx.float(0));
    let dims = dims_attr(cx.op.name, cx.attrs, 1, x.rank())?;
    let filled = |value: f64| functional::full(x.shape(), value, x.dtype());
    let zeros = filled(0.0)?;
    if p == 0.0 {
        return Ok(vec![Some(zeros)]);
    }
    let y = spread(cx.output(0), x.shape(), &dims)?;
    let dy = spread(&cx.output_grad()?, x.shape(), &dims)?;
    let flat = eq(&y, &num(0.0))?;
    let size = || select_where(&flat, &filled(1.0)?, &y);
    let slope = if p == 2.0 {
        div(x, &size()?)?
    } else if p == 1.0 {
        sign(x)?
    } else if p.is_infinite() {
        let hit = to(&eq(&abs(x)?, &y)?, x.dtype())?;
        let at: Vec<i64> = dims.iter().map(|&it| it as i64).collect();
        let share = if at.is_empty() { hit } else { div(&hit, &sum(&hit, &at, true)?)? };
        mul(&sign(x)?, &share)?
    } else {
        let none = eq(x, &num(0.0))?;
        let ratio = select_where(&none, &filled(1.0)?, &div(&abs(x)?, &size()?)?)?;
        mul(&sign(x)?, &pow(&ratio, &num(p - 1.0))?)?
    };
    Ok(vec![Some(mul(&dy, &select_where(&flat, &zeros, &slope)?)?)])
}

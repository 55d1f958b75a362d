//! `standardize_backward`: the gradient of `standardize` over the last dimensions, given that of its result.

use smallvec::smallvec;

use crate::cpu::layer_norm;
use crate::functional::{add, div, mean, mul, neg, num, sqrt, sub, sum};
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, ComposedCx, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param,
    ParamKind, Saves, Surface,
};
use crate::ops::norm::native_layer_norm::mean_of;
use crate::ops::reduce::{dims_attr, kept_shape};
use crate::{Error, Metas, OpDef, Outputs, Result, Tensor, apply_one, with_float};

pub static OP: OpDef = OpDef {
    name: "standardize_backward",
    doc: "The gradient of standardize over the last dimensions, given that of its result, the result itself and the variance.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("grad"),
        Param::tensor("output"),
        Param::tensor("variance"),
        Param::required("dim", ParamKind::Ints),
        Param::with("eps", ParamKind::Float, Default::Float(1e-05)),
    ],
    dtypes: DTypeRule::FloatsToSame,
    infer,
    body: Body::Kernels(
        &[Kernel::new("standardize_backward.rows", run).composed_on_cuda(composed)],
    ),
    grad: Grad::Rule(grad, Saves::Both),
    step: None,
    pure: true,
    method: false,
    internal: true,
    surface: Surface {
        shapes: "grad and output of one shape, which is that of the result; the variance has size 1 in dim",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        (
            "standardize_backward(tensor([1.0, 0.0]), tensor([-1.0, 1.0]), tensor([4.0]), (0,), 0.0)",
            "tensor([0., 0.])",
        ),
        (
            "standardize_backward(tensor([[3.0, 0.0, 0.0]]), tensor([[0.0, 1.0, -1.0]]), tensor([[0.25]]), (1,), 0.0)",
            "tensor([[ 4., -2., -2.]])",
        ),
    ],
};

/// With `r = 1 / sqrt(variance + eps)`: `r * (dy - mean(dy) - y * mean(dy * y))`.
fn meaning(cx: &MeaningCx<'_>) -> Array {
    let [dy, y, variance] = [0, 1, 2].map(|it| cx.input(it).floats());
    let (dims, eps) = (cx.dims(0, y.ndim()), cx.float(1));
    let along = &y * &mean_of(&(&dy * &y), &dims);
    let centred = &dy - &mean_of(&dy, &dims) - along;
    (centred / &variance.mapv(|it| (it + eps).sqrt())).into()
}

/// Whether these are the last of `rank` dimensions.
pub(super) fn are_last(dims: &[usize], rank: usize) -> bool {
    (rank - dims.len()..rank).all(|it| dims.contains(&it))
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let dims = dims_attr(cx.op.name, cx.attrs, 0, cx.shape(0).rank())?;
    let fits = are_last(&dims, cx.shape(0).rank())
        && cx.shape(0) == cx.shape(1)
        && *cx.shape(2) == kept_shape(cx.shape(0), &dims);
    if !fits {
        return Err(cx.bad_shapes(
            "grad and output have one shape, and the variance size 1 in dim, the last dimensions",
        ));
    }
    if (1..3).any(|it| cx.dtype(it) != cx.dtype(0)) {
        let dtypes = cx.inputs.iter().map(Tensor::dtype).collect();
        return Err(Error::DTypes { op: cx.op.name, dtypes });
    }
    Ok(smallvec![cx.inputs[0].meta()])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (eps, shape) = (cx.float(1), cx.inputs[0].shape());
    let dims = dims_attr(cx.op.name, cx.attrs, 0, shape.rank())?;
    let n = dims.iter().map(|&it| shape[it]).product();
    with_float!(cx.op.name, cx.inputs[0].dtype(), T => {
        let [dy, y, variance] = [0, 1, 2].map(|it| cx.inputs[it].to_slice::<T>());
        layer_norm::of_standard(&dy, &y, n, (&variance, eps), cx.outputs[0].as_mut_slice());
        Ok(())
    })
}

/// What the formula is made of.
struct Terms {
    dims: Vec<i64>,
    /// `sqrt(variance + eps)`.
    deviation: Tensor,
}

impl Terms {
    fn of(op: &'static str, variance: &Tensor, attrs: &crate::Attrs) -> Result<Self> {
        let dims = dims_attr(op, attrs, 0, variance.rank())?;
        let eps = num(crate::op::float(attrs, 1));
        let dims = dims.iter().map(|&it| it as i64).collect();
        Ok(Self { dims, deviation: sqrt(&add(variance, &eps)?)? })
    }

    fn mean(&self, x: &Tensor) -> Result<Tensor> {
        mean(x, &self.dims, true)
    }
}

fn composed(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let (dy, y) = (cx.input(0)?, cx.input(1)?);
    let terms = Terms::of(cx.op.name, cx.input(2)?, cx.attrs)?;
    Ok(smallvec![projected(&terms, dy, y)?])
}

fn projected(terms: &Terms, dy: &Tensor, y: &Tensor) -> Result<Tensor> {
    let along = mul(y, &terms.mean(&mul(dy, y)?)?)?;
    div(&sub(&sub(dy, &terms.mean(dy)?)?, &along)?, &terms.deviation)
}

/// The same by other ops, for dimensions that are not the last.
pub(super) fn by_ops(
    dy: &Tensor,
    y: &Tensor,
    variance: &Tensor,
    attrs: &crate::Attrs,
) -> Result<Tensor> {
    projected(&Terms::of(OP.name, variance, attrs)?, dy, y)
}

/// For the gradient h of dx: `ddy` is the same of h, `dy = -r (h mean(dy y) + dy mean(h y))`, `dvariance = -r^2 sum(h dx) / 2`.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let h = cx.output_grad()?;
    let (dy, y, variance) = (cx.input(0), cx.input(1), cx.input(2));
    let terms = Terms::of(cx.op.name, variance, cx.attrs)?;
    let of_grad = || apply_one(&OP, &[h.clone(), y.clone(), variance.clone()], cx.attrs);
    let of_output = || {
        let along = mul(&h, &terms.mean(&mul(dy, y)?)?)?;
        let across = mul(dy, &terms.mean(&mul(&h, y)?)?)?;
        neg(&div(&add(&along, &across)?, &terms.deviation)?)
    };
    let of_variance = || {
        let product = sum(&mul(&h, cx.output(0))?, &terms.dims, true)?;
        let squared = mul(&terms.deviation, &terms.deviation)?;
        mul(&div(&product, &squared)?, &num(-0.5))
    };
    Ok(vec![
        cx.needs(0).then(of_grad).transpose()?,
        cx.needs(1).then(of_output).transpose()?,
        cx.needs(2).then(of_variance).transpose()?,
    ])
}

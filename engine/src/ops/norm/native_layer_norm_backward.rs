//! `native_layer_norm_backward`: the gradient of `native_layer_norm`; also those of weight and bias, where they are wanted.

use smallvec::smallvec;

use super::native_layer_norm::{check_sizes, mean_of, row_of, standard};
use super::total;
use crate::cpu::layer_norm::Backward;
use crate::functional::{add, div, mean, mul, num, sqrt, sub, sum, to};
use crate::meaning::{Array, Meaning, MeaningCx, over};
use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind,
    Saves, Surface,
};
use crate::{
    Attr, Attrs, DType, Error, Meta, Metas, OpDef, Result, Tensor, apply_one, functional,
    with_float,
};

pub static OP: OpDef = OpDef {
    name: "native_layer_norm_backward",
    doc: "The gradient of native_layer_norm, given that of its result: of the input; also of weight and bias where `parameters` says so.",
    meaning: Meaning::each(meaning),
    params: &[
        Param::tensor("grad"),
        Param::tensor("input"),
        Param::with("weight", ParamKind::OptTensor, Default::None),
        Param::required("normalized_shape", ParamKind::Ints),
        Param::with("eps", ParamKind::Float, Default::Float(1e-05)),
        Param::with("parameters", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::FloatFirst,
    infer,
    body: Body::Kernels(&[Kernel::new("native_layer_norm_backward.rows", run)
        .on_cuda(super::cuda::layer_norm_backward)]),
    grad: Grad::Rule(grad, Saves::Inputs),
    step: None,
    pure: true,
    method: false,
    internal: true,
    surface: Surface {
        shapes: "grad and input [..., normalized_shape...], weight of normalized_shape: a gradient for each",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        (
            "native_layer_norm_backward(tensor([1.0, 0.0, 0.0]), tensor([0.0, 1.0, 2.0]), normalized_shape=(3,), eps=0.0)",
            "tensor([ 0.2041, -0.4082,  0.2041])",
        ),
        (
            "native_layer_norm_backward(tensor([[1.0, 3.0]]), tensor([[1.0, 3.0]]), tensor([2.0, 2.0]), normalized_shape=(2,), eps=0.0, parameters=True)[1:]",
            "(tensor([-1.,  3.]), tensor([1., 3.]))",
        ),
    ],
};

/// With `g = dy * weight` and `r = 1 / sqrt(var + eps)`: `r * (g - mean(g) - y * mean(g * y))`, `sum(dy * y)` and `sum(dy)`.
fn meaning(cx: &MeaningCx<'_>) -> Vec<Array> {
    let (dy, x) = (cx.input(0).floats(), cx.input(1).floats());
    let lead = x.ndim() - cx.sizes(0).len();
    let dims: Vec<usize> = (lead..x.ndim()).collect();
    let [y, scale] = standard(&x, &dims, cx.float(1));
    let g = cx.inputs.get(2).map_or_else(|| dy.clone(), |it| &dy * &it.floats());
    let along = &y * &mean_of(&(&g * &y), &dims);
    let dx = (&g - &mean_of(&g, &dims) - along) * scale;
    if !cx.flag(2) {
        return vec![dx.into()];
    }
    let lead: Vec<usize> = (0..lead).collect();
    let total = |it| over(it, &lead, false, |all: &[f64]| all.iter().sum::<f64>());
    [dx, total(&(&dy * &y)), total(&dy)].map(Array::from).into()
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let (dtype, x) = (cx.dtype(0), cx.inputs[1].meta());
    let weight = cx.inputs.get(2).map_or(x.dtype, Tensor::dtype);
    let fits = x.dtype == dtype && (weight == dtype || weight == DType::F32 && dtype.is_half());
    if !fits {
        let dtypes = cx.inputs.iter().map(Tensor::dtype).collect();
        return Err(Error::DTypes { op: cx.op.name, dtypes });
    }
    check_sizes(cx, 1, 2)?;
    if *cx.shape(0) != x.shape {
        return Err(cx.bad_shapes("the gradient has the shape of the input"));
    }
    let sizes = cx.ints(0).unwrap_or_default().iter().map(|&it| it as usize).collect();
    let parameter = Meta::new(sizes, weight);
    Ok(match cx.flag(2) {
        true => smallvec![x, parameter.clone(), parameter],
        false => smallvec![x],
    })
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (eps, n) = (cx.float(1), row_of(cx.attrs));
    with_float!(cx.op.name, cx.inputs[0].dtype(), T => {
        let (dy, x) = (cx.inputs[0].to_slice::<T>(), cx.inputs[1].to_slice::<T>());
        let weight = cx.inputs.get(2).map(|it| it.to_slice::<T>());
        let rows = Backward { dy: &dy, x: &x, weight: weight.as_deref(), n, eps };
        match cx.outputs {
            [dx, weight, bias] => {
                let parameters = [weight.as_mut_slice(), bias.as_mut_slice()];
                rows.run(dx.as_mut_slice(), Some(parameters));
            }
            [dx, ..] => rows.run(dx.as_mut_slice(), None),
            [] => {}
        }
        Ok(())
    })
}

/// What the gradient of the gradient is made of, in the dtype that is computed in.
struct Terms {
    dy: Tensor,
    x: Tensor,
    weight: Option<Tensor>,
    attrs: Attrs,
    dims: Vec<i64>,
    lead: Vec<i64>,
}

impl Terms {
    fn of(cx: &GradCx<'_>) -> Result<Self> {
        let dtype = cx.input(1).dtype().computed();
        let rank = cx.input(1).rank() as i64;
        let lead = rank - cx.ints(0).unwrap_or_default().len() as i64;
        let weight = (cx.n_inputs() > 2).then(|| to(cx.input(2), dtype)).transpose()?;
        Ok(Self {
            dy: to(cx.input(0), dtype)?,
            x: to(cx.input(1), dtype)?,
            weight,
            attrs: smallvec![cx.attrs[0].clone(), Attr::Float(cx.float(1)), Attr::Bool(false)],
            dims: (lead..rank).collect(),
            lead: (0..lead).collect(),
        })
    }

    fn mean(&self, x: &Tensor) -> Result<Tensor> {
        mean(x, &self.dims, true)
    }

    /// The sum over all rows.
    fn total(&self, x: &Tensor) -> Result<Tensor> {
        if self.lead.is_empty() { Ok(x.clone()) } else { sum(x, &self.lead, false) }
    }

    /// `P(t) = r * (t - mean(t) - y * mean(t * y))`, where y is the standardised input; its own transpose.
    fn projected(&self, t: &Tensor) -> Result<Tensor> {
        apply_one(&OP, &[t.clone(), self.x.clone()], &self.attrs)
    }

    fn standard(&self) -> Result<Tensor> {
        apply_one(
            &super::native_layer_norm::OP,
            std::slice::from_ref(&self.x),
            &Attrs::from(&self.attrs[..2]),
        )
    }

    /// `r^2`, which is `1 / (variance + eps)`.
    fn squared_scale(&self) -> Result<Tensor> {
        let centred = sub(&self.x, &self.mean(&self.x)?)?;
        let Attr::Float(eps) = self.attrs[1] else { return Ok(num(1.0)) };
        div(&num(1.0), &add(&self.mean(&mul(&centred, &centred)?)?, &num(eps))?)
    }

    fn weighed(&self, x: Tensor) -> Result<Tensor> {
        self.weight.as_ref().map_or_else(|| Ok(x.clone()), |weight| mul(&x, weight))
    }
}

/// For gradients h of dx, u of dweight and v of dbias, with `g = dy * weight` and `q = mean(h * g) - mean(h) mean(g) - mean(h * y) mean(g * y)`:
/// `ddy = P(h) * weight + u * y + v`, `dx = P(u * dy - r (mean(g * y) h + mean(h * y) g)) - r^2 y q`, `dweight = sum(dy * P(h))`.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let terms = Terms::of(cx)?;
    let dtype = terms.x.dtype();
    let given = |at: usize| cx.output_grad_of(at)?.map(|it| to(&it, dtype)).transpose();
    let (h, u, v) = (given(0)?, given(1)?, given(2)?);
    let y = terms.standard()?;
    let projected = h.as_ref().map(|h| terms.projected(h)).transpose()?;
    let mut res = vec![None; cx.n_inputs()];
    if cx.needs(0) {
        let along = u.as_ref().map(|u| mul(u, &y)).transpose()?;
        let straight = projected.clone().map(|it| terms.weighed(it)).transpose()?;
        res[0] = total([straight, along, v])?;
    }
    if cx.needs(1) {
        res[1] = grad_of_input(&terms, &y, h.as_ref(), u.as_ref())?;
    }
    if cx.n_inputs() > 2 && cx.needs(2) {
        let sums = |it: &Tensor| terms.total(&mul(&terms.dy, it)?);
        res[2] = projected.as_ref().map(sums).transpose()?;
    }
    let rounded = |(at, it): (usize, Option<Tensor>)| {
        let shaped = it.map(|it| functional::expand(&it, cx.input(at).shape()));
        shaped.transpose()?.map(|it| to(&it, cx.input(at).dtype())).transpose()
    };
    res.into_iter().enumerate().map(rounded).collect()
}

fn grad_of_input(
    terms: &Terms,
    y: &Tensor,
    h: Option<&Tensor>,
    u: Option<&Tensor>,
) -> Result<Option<Tensor>> {
    let of_sums = u.map(|u| terms.projected(&mul(u, &terms.dy)?)).transpose()?;
    let Some(h) = h else { return Ok(of_sums) };
    let g = terms.weighed(terms.dy.clone())?;
    let (h_along, g_along) = (terms.mean(&mul(h, y)?)?, terms.mean(&mul(&g, y)?)?);
    let squared = terms.squared_scale()?;
    let mixed = mul(&sqrt(&squared)?, &add(&mul(&g_along, h)?, &mul(&h_along, &g)?)?)?;
    let turned = functional::neg(&terms.projected(&mixed)?)?;
    let products = sub(&terms.mean(&mul(h, &g)?)?, &mul(&terms.mean(h)?, &terms.mean(&g)?)?)?;
    let inner = sub(&products, &mul(&h_along, &g_along)?)?;
    let shrunk = functional::neg(&mul(&mul(&squared, y)?, &inner)?)?;
    total([of_sums, Some(turned), Some(shrunk)])
}

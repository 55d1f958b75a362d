//! Ops as plain Rust functions. Gradient rules, composed ops and Rust programs are written with them.
//!
//! Only what those need is here; every op can be applied through its row.

use smallvec::smallvec;

use crate::ops::{self, create, index, matrix, reduce, shape as shapes};
use crate::sync::OnceLock;
use crate::{Attr, Attrs, DType, Error, OpDef, Result, Shape, Tensor, apply, apply_one, tape};

/// Functions that apply the row of the same name, found once.
macro_rules! elementwise_ops {
    ($($name:ident($($arg:ident),+);)*) => {$(
        #[doc = concat!("The op `", stringify!($name), "`.")]
        pub fn $name($($arg: &Tensor),+) -> Result<Tensor> {
            static ROW: OnceLock<Option<&'static OpDef>> = OnceLock::new();
            let row = ROW.get_or_init(|| ops::find(stringify!($name)));
            let inputs = [$($arg.clone()),+];
            apply_one(known(*row, stringify!($name))?, &inputs, &Attrs::new())
        }
    )*};
}

elementwise_ops! {
    abs(x);
    add(a, b);
    asinh(x);
    atan2(a, b);
    complex(real, imag);
    cos(x);
    cosh(x);
    div(a, b);
    eq(a, b);
    exp(x);
    expm1(x);
    floor_divide(a, b);
    ge(a, b);
    gt(a, b);
    hypot(a, b);
    le(a, b);
    log(x);
    log1p(x);
    log_sigmoid(x);
    logical_and(a, b);
    logical_not(x);
    logical_or(a, b);
    lt(a, b);
    maximum(a, b);
    minimum(a, b);
    mul(a, b);
    ne(a, b);
    neg(x);
    pow(a, b);
    sign(x);
    sin(x);
    sinh(x);
    sqrt(x);
    sub(a, b);
    tan(x);
    tanh(x);
    view_as_complex(x);
    view_as_real(x);
}

fn known(row: Option<&'static OpDef>, name: &'static str) -> Result<&'static OpDef> {
    row.ok_or(Error::Attr { op: name, name: "op", problem: "is not in the op list".into() })
}

/// The same elements in a buffer of their own, laid out as `clone` does.
pub fn copy(x: &Tensor) -> Result<Tensor> {
    apply_one(&ops::unary::clone::OP, std::slice::from_ref(x), &Attrs::new())
}

/// The real (0) or imaginary (1) parts of complex numbers, where they lie.
pub fn part(x: &Tensor, which: usize) -> Result<Tensor> {
    apply_one(&ops::complex::part::OP, std::slice::from_ref(x), &smallvec![Attr::Int(which as i64)])
}

/// `a` where `condition`, `b` elsewhere.
pub fn select_where(condition: &Tensor, a: &Tensor, b: &Tensor) -> Result<Tensor> {
    static ROW: OnceLock<Option<&'static OpDef>> = OnceLock::new();
    let row = known(*ROW.get_or_init(|| ops::find("where")), "where")?;
    apply_one(row, &[condition.clone(), a.clone(), b.clone()], &Attrs::new())
}

/// The gradient `dx` of an op that is linear near `x`, as something that depends on `x` with derivative 0: so a second backward finds
/// zeros, and not nothing. Of `x` only the shape and its place on the tape are looked at.
pub(crate) fn locally_constant(dx: Tensor, x: &Tensor) -> Result<Tensor> {
    if !(tape::enabled() && x.requires_grad()) {
        return Ok(dx);
    }
    let always = full(&Shape::default(), 1.0, DType::Bool)?;
    let beside = full(x.shape(), 0.0, dx.dtype())?.into_edge(x.edge().cloned());
    select_where(&always, &dx, &beside)
}

/// Elements converted to `dtype`; the same value when they have it.
pub fn to(x: &Tensor, dtype: DType) -> Result<Tensor> {
    if x.dtype() == dtype && x.as_number().is_none() {
        return Ok(x.clone());
    }
    static ROW: OnceLock<Option<&'static OpDef>> = OnceLock::new();
    let row = known(*ROW.get_or_init(|| ops::find("to")), "to")?;
    apply_one(row, std::slice::from_ref(x), &smallvec![Attr::DType(dtype)])
}

/// A number for use beside tensors: weak in promotion.
pub fn num(value: f64) -> Tensor {
    Tensor::number(value)
}

/// A tensor in which every element is one value; only one element is stored.
pub fn full(shape: &Shape, value: f64, dtype: DType) -> Result<Tensor> {
    // Whole numbers may be below 0 where the dtype has no sign: they wrap.
    let is_whole =
        !dtype.is_differentiable() && value.fract() == 0.0 && value.abs() < 2_f64.powi(53);
    let value = if is_whole { Attr::Int(value as i64) } else { Attr::Float(value) };
    let attrs = smallvec![Attr::ints(&[]), value, Attr::DType(dtype)];
    let scalar = apply_one(&create::full::OP, &[], &attrs)?;
    if shape.rank() == 0 { Ok(scalar) } else { expand(&scalar, shape) }
}

/// The same elements under another shape.
pub fn reshape(x: &Tensor, shape: &Shape) -> Result<Tensor> {
    if x.shape() == shape {
        return Ok(x.clone());
    }
    apply_one(&shapes::reshape::OP, std::slice::from_ref(x), &smallvec![Attr::sizes(shape)])
}

/// Broadcast to a larger shape, without copying.
pub fn expand(x: &Tensor, shape: &Shape) -> Result<Tensor> {
    if x.shape() == shape {
        return Ok(x.clone());
    }
    apply_one(&shapes::expand::OP, std::slice::from_ref(x), &smallvec![Attr::sizes(shape)])
}

/// Dimensions in another order.
pub fn permute(x: &Tensor, dims: &[i64]) -> Result<Tensor> {
    apply_one(&shapes::permute::OP, std::slice::from_ref(x), &smallvec![Attr::ints(dims)])
}

/// Two dimensions exchanged.
pub fn transpose(x: &Tensor, a: i64, b: i64) -> Result<Tensor> {
    apply_one(
        &shapes::transpose::OP,
        std::slice::from_ref(x),
        &smallvec![Attr::Int(a), Attr::Int(b)],
    )
}

/// The last two dimensions exchanged.
pub fn matrix_transpose(x: &Tensor) -> Result<Tensor> {
    transpose(x, -2, -1)
}

/// A dimension of size 1 put in at `dim`.
pub fn unsqueeze(x: &Tensor, dim: i64) -> Result<Tensor> {
    apply_one(&shapes::unsqueeze::OP, std::slice::from_ref(x), &smallvec![Attr::Int(dim)])
}

/// A dimension of size 1 taken out.
pub fn squeeze(x: &Tensor, dim: i64) -> Result<Tensor> {
    apply_one(&shapes::squeeze::OP, std::slice::from_ref(x), &smallvec![Attr::ints(&[dim])])
}

/// Elements `start, start + step, ..` before `stop` along `dim`.
pub fn slice(x: &Tensor, dim: i64, start: i64, stop: i64, step: i64) -> Result<Tensor> {
    let attrs = smallvec![Attr::Int(dim), Attr::Int(start), Attr::Int(stop), Attr::Int(step)];
    apply_one(&shapes::slice::OP, std::slice::from_ref(x), &attrs)
}

/// Element `index` along `dim`, which goes away.
pub fn select(x: &Tensor, dim: i64, index: i64) -> Result<Tensor> {
    apply_one(
        &shapes::select::OP,
        std::slice::from_ref(x),
        &smallvec![Attr::Int(dim), Attr::Int(index)],
    )
}

/// Order reversed along `dims`.
pub fn flip(x: &Tensor, dims: &[i64]) -> Result<Tensor> {
    apply_one(&shapes::flip::OP, std::slice::from_ref(x), &smallvec![Attr::ints(dims)])
}

/// Joined along `dim`.
pub fn cat(tensors: &[Tensor], dim: i64) -> Result<Tensor> {
    apply_one(&shapes::cat::OP, tensors, &smallvec![Attr::Int(dim)])
}

/// Sum over `dims` (all when empty).
pub fn sum(x: &Tensor, dims: &[i64], keepdim: bool) -> Result<Tensor> {
    let attrs = smallvec![Attr::ints(dims), Attr::Bool(keepdim), Attr::None];
    apply_one(&reduce::sum::OP, std::slice::from_ref(x), &attrs)
}

/// The logarithm of the sum of exponentials along a dimension.
pub fn logsumexp(x: &Tensor, dim: i64) -> Result<Tensor> {
    let attrs = smallvec![Attr::ints(&[dim]), Attr::Bool(false)];
    apply_one(&reduce::logsumexp::OP, std::slice::from_ref(x), &attrs)
}

/// Mean over `dims` (all when empty).
pub fn mean(x: &Tensor, dims: &[i64], keepdim: bool) -> Result<Tensor> {
    let attrs = smallvec![Attr::ints(dims), Attr::Bool(keepdim), Attr::None];
    apply_one(&reduce::mean::OP, std::slice::from_ref(x), &attrs)
}

/// Where each element along a dimension stands in their order.
pub fn argsort(x: &Tensor, dim: i64, descending: bool) -> Result<Tensor> {
    let attrs = smallvec![Attr::Int(dim), Attr::Bool(descending), Attr::Bool(true)];
    let mut sorted = apply(&ops::sort::sort::OP, std::slice::from_ref(x), &attrs)?;
    Ok(sorted.remove(1))
}

/// Where the `k` largest elements of each line along the last dimension are, the largest first.
pub fn largest_places(x: &Tensor, k: i64) -> Result<Tensor> {
    let attrs = smallvec![Attr::Int(k), Attr::Int(-1), Attr::Bool(true), Attr::Bool(true)];
    let mut found = apply(&ops::sort::topk::OP, std::slice::from_ref(x), &attrs)?;
    Ok(found.remove(1))
}

/// Running sum along `dim`.
pub fn cumsum(x: &Tensor, dim: i64) -> Result<Tensor> {
    apply_one(&reduce::cumsum::OP, std::slice::from_ref(x), &smallvec![Attr::Int(dim), Attr::None])
}

/// Matrix product, batched and broadcast.
pub fn matmul(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    apply_one(&matrix::matmul::OP, &[a.clone(), b.clone()], &Attrs::new())
}

/// `x @ weight.T + bias`.
pub fn linear(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
    let mut inputs = vec![x.clone(), weight.clone()];
    inputs.extend(bias.cloned());
    apply_one(&matrix::linear::OP, &inputs, &Attrs::new())
}

/// `out[..][i][..] = x[..][index[..][i][..]][..]` along `dim`.
pub fn gather(x: &Tensor, dim: i64, index: &Tensor) -> Result<Tensor> {
    apply_one(&index::gather::OP, &[x.clone(), index.clone()], &smallvec![Attr::Int(dim)])
}

/// `x` with the elements of `src` added at `index` along `dim`.
pub fn scatter_add(x: &Tensor, dim: i64, index: &Tensor, src: &Tensor) -> Result<Tensor> {
    let inputs = [x.clone(), index.clone(), src.clone()];
    apply_one(&index::scatter_add::OP, &inputs, &smallvec![Attr::Int(dim)])
}

/// `x` with the slices of `src` added at `index` along `dim`.
pub fn index_add(x: &Tensor, dim: i64, index: &Tensor, src: &Tensor) -> Result<Tensor> {
    let inputs = [x.clone(), index.clone(), src.clone()];
    apply_one(&index::index_add::OP, &inputs, &smallvec![Attr::Int(dim)])
}

/// Sums `grad` over the dimensions along which a tensor of `shape` was broadcast.
pub fn unbroadcast(grad: &Tensor, shape: &Shape) -> Result<Tensor> {
    if grad.shape() == shape {
        return Ok(grad.clone());
    }
    let lead = grad.rank() - shape.rank();
    let stretched =
        |dim: &usize| *dim < lead || (shape[*dim - lead] == 1 && grad.shape()[*dim] != 1);
    let dims: Vec<i64> = (0..grad.rank()).filter(stretched).map(|it| it as i64).collect();
    let summed = if dims.is_empty() { grad.clone() } else { sum(grad, &dims, true)? };
    reshape(&summed, shape)
}

//! `linalg_svd`: singular values and vectors.

use smallvec::smallvec;

use super::exact::{self, Matrix};
use super::in_ops::{columns, diag_embed, mt, or_zeros, ratio_or_zero, rows};
use super::{Sizes, cuda, flops, operand};
use crate::cpu::linalg::{Svd, svd};
use crate::functional::{add, matmul, mul, sub, unsqueeze};
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind,
    Saves, Surface,
};
use crate::{Metas, OpDef, Result, Tensor, with_float};

pub static OP: OpDef = OpDef {
    name: "linalg_svd",
    doc: "U, descending S and Vh with U @ diag(S) @ Vh = A: U has orthonormal columns, each with a largest element that is positive, and Vh orthonormal rows. With `full_matrices` both are square. Then 1 where they were not found, else 0.",
    meaning: Meaning::defined(meaning, distance),
    params: &[
        Param::tensor("A"),
        Param::with("full_matrices", ParamKind::Bool, Default::Bool(true)),
    ],
    dtypes: DTypeRule::SameFloats,
    infer,
    body: Body::Kernels(&[Kernel {
        flops: |cx| flops(cx, 16),
        ..Kernel::new("linalg_svd.bidiagonal", run).on_cuda(cuda::svd)
    }]),
    grad: Grad::Rule(grad, Saves::Outputs),
    step: Some(|_| "LinalgSvdBackward0"),
    pure: true,
    method: false,
    internal: true,
    surface: Surface {
        shapes: "matrices [..., m, n]: [..., m, k], [..., min(m, n)], [..., k, n] and a number for each",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        (
            "linalg_svd(tensor([[0.0, 2.0], [3.0, 0.0]]))",
            "(tensor([[0., 1.],\n        [1., 0.]]), tensor([3., 2.]), tensor([[1., 0.],\n        [0., 1.]]), tensor(0, dtype=torch.int32))",
        ),
        (
            "linalg_svd(tensor([[3.0], [4.0]]), full_matrices=False)[:3]",
            "(tensor([[0.6000],\n        [0.8000]]), tensor([5.]), tensor([[1.]]))",
        ),
        ("linalg_svd(tensor([[-2.0]]))[:3]", "(tensor([[1.]]), tensor([2.]), tensor([[-1.]]))"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Vec<Array> {
    let [.., m, n] = cx.shape(0)[..] else { return Vec::new() };
    let k = m.min(n);
    let [left, right] = if cx.flag(0) { [m, n] } else { [k, k] };
    let all: Vec<_> = exact::matrices(cx.input(0)).iter().map(exact::svd).collect();
    let u: Vec<Matrix> =
        all.iter().map(|it| it.0.slice(ndarray::s![.., ..left]).to_owned()).collect();
    let s: Vec<Matrix> = all.iter().map(|it| exact::column(&it.1)).collect();
    let vh: Vec<Matrix> =
        all.iter().map(|it| it.2.slice(ndarray::s![..right, ..]).to_owned()).collect();
    vec![
        exact::stacked(cx, &u, [m, left], 2),
        exact::stacked(cx, &s, [k, 1], 1),
        exact::stacked(cx, &vh, [right, n], 2),
        exact::counts(cx, &vec![0; all.len()]),
    ]
}

/// How far vectors are from being at right angles and the product from the operand; values descend and are not below 0.
fn distance(cx: &MeaningCx<'_>, got: &[Array]) -> f64 {
    let parts = exact::matrices(&got[0]).into_iter().zip(exact::matrices(&got[2]));
    let all = exact::matrices(cx.input(0)).into_iter().zip(exact::vectors(&got[1])).zip(parts);
    let one = |((a, s), (u, vh)): ((Matrix, Matrix), (Matrix, Matrix))| {
        let k = s.nrows();
        let scaled = &u.slice(ndarray::s![.., ..k]) * &s.t();
        let product = scaled.dot(&vh.slice(ndarray::s![..k, ..]));
        let below = s.iter().fold(0.0_f64, |most, it| most.max(-it));
        exact::unordered(&s, -1.0)
            .max(below)
            .max(exact::askew(&u))
            .max(exact::askew(&vh.t().to_owned()))
            .max(exact::far(&product, &a, exact::size(&a)))
    };
    exact::any_failed(&got[3]).max(all.map(one).fold(0.0, f64::max))
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let a = Sizes::of(cx, 0)?;
    let k = a.least();
    let [left, right] = if cx.flag(0) { [a.rows, a.columns] } else { [k, k] };
    Ok(smallvec![a.each(&[a.rows, left]), a.each(&[k]), a.each(&[right, a.columns]), a.info()])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let full = cx.flag(0);
    with_float!(cx.op.name, cx.inputs[0].dtype(), T => {
        let a = operand::<T>(cx, 0);
        let [u, s, vh, info] = cx.outputs else { return Ok(()) };
        let vectors = Svd { full, u: u.as_mut_slice(), vh: vh.as_mut_slice() };
        Ok(svd(&a, s.as_mut_slice(), Some(vectors), info.as_mut_slice())?)
    })
}

/// Vectors that belong to no value get none.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let (u, s, vh) = (cx.output(0), cx.output(1), cx.output(2));
    let k = s.shape()[s.rank() - 1];
    let left = |it: &Tensor| columns(it, 0, k);
    let right = |it: &Tensor| rows(it, 0, k);
    let du = cx.output_grad_of(0)?.map(|it| left(&it)).transpose()?;
    let dvh = cx.output_grad_of(2)?.map(|it| right(&it)).transpose()?;
    gradient(&left(u)?, s, &right(vh)?, [du, cx.output_grad_of(1)?, dvh]).map(|it| vec![it])
}

/// `U ((skew(U^T dU) / E) S + S (skew(V^T dV) / E) + diag(dS)) V^T` with `E_ij = S_j^2 - S_i^2`; and of a matrix with more rows than columns
/// `(1 - U U^T) dU S^-1 V^T`, with more columns the same on the other side (Townsend 2016, "Differentiating the singular value
/// decomposition"; PyTorch, `svd_backward`). 0 divided by 0 is 0 in it.
pub(super) fn gradient(
    u: &Tensor,
    s: &Tensor,
    vh: &Tensor,
    [du, ds, dvh]: [Option<Tensor>; 3],
) -> Result<Option<Tensor>> {
    let (m, n) = (u.shape()[u.rank() - 2], vh.shape()[vh.rank() - 1]);
    let ds = diag_embed(&or_zeros(ds, s)?)?;
    if du.is_none() && dvh.is_none() {
        return matmul(&matmul(u, &ds)?, vh).map(Some);
    }
    let (du, dvh) = (or_zeros(du, u)?, or_zeros(dvh, vh)?);
    let (left, right) = (matmul(&mt(u)?, &du)?, matmul(vh, &mt(&dvh)?)?);
    let squares = mul(s, s)?;
    let gaps = sub(&unsqueeze(&squares, -2)?, &unsqueeze(&squares, -1)?)?;
    let skew = |it: &Tensor| ratio_or_zero(&sub(it, &mt(it)?)?, &gaps);
    let (across, down) = (unsqueeze(s, -2)?, unsqueeze(s, -1)?);
    let inner = add(&mul(&skew(&left)?, &across)?, &mul(&down, &skew(&right)?)?)?;
    let mut found = matmul(&matmul(u, &add(&inner, &ds)?)?, vh)?;
    if m > n {
        let off = sub(&du, &matmul(u, &left)?)?;
        found = add(&found, &matmul(&ratio_or_zero(&off, &across)?, vh)?)?;
    }
    if n > m {
        let off = sub(&dvh, &matmul(&mt(&right)?, vh)?)?;
        found = add(&found, &matmul(u, &ratio_or_zero(&off, &down)?)?)?;
    }
    Ok(Some(found))
}

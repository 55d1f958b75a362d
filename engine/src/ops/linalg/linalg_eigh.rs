//! `linalg_eigh`: eigenvalues and eigenvectors of symmetric matrices.

use smallvec::smallvec;

use super::exact::{self, Matrix};
use super::in_ops::{added, diag_embed, mt, ratio_or_zero};
use super::{Sizes, cuda, flops, operand};
use crate::cpu::linalg::symmetric;
use crate::functional::{matmul, mul, num, sub, unsqueeze};
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind,
    Saves, Surface,
};
use crate::{Attr, Attrs, Error, Metas, OpDef, Result, Tensor, with_float};

pub static OP: OpDef = OpDef {
    name: "linalg_eigh",
    doc: "Ascending eigenvalues of symmetric matrices, of which one triangle is read, and their vectors as columns, each with a largest element that is positive; then 1 where they were not found, else 0.",
    meaning: Meaning::defined(meaning, distance),
    params: &[Param::tensor("A"), Param::with("UPLO", ParamKind::Str, Default::Str("L"))],
    dtypes: DTypeRule::SameFloats,
    infer,
    body: Body::Kernels(&[Kernel {
        flops: |cx| flops(cx, 9),
        ..Kernel::new("linalg_eigh.tridiagonal", run).on_cuda(cuda::eigh)
    }]),
    grad: Grad::Rule(grad, Saves::Outputs),
    step: Some(|_| "LinalgEighBackward0"),
    pure: true,
    method: false,
    internal: true,
    surface: Surface {
        shapes: "square matrices [..., n, n]: [..., n], [..., n, n] and a number for each",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        (
            "linalg_eigh(tensor([[2.0, 0.0], [0.0, 1.0]]))",
            "(tensor([1., 2.]), tensor([[0., 1.],\n        [1., 0.]]), tensor(0, dtype=torch.int32))",
        ),
        ("linalg_eigh(tensor([[2.0, 9.0], [1.0, 2.0]]))[0]", "tensor([1., 3.])"),
        ("linalg_eigh(tensor([[2.0, 1.0], [9.0, 2.0]]), UPLO=\"U\")[0]", "tensor([1., 3.])"),
    ],
};

/// The symmetric matrices that are read.
pub(super) fn read(cx: &MeaningCx<'_>) -> Vec<Matrix> {
    let upper = cx.word(0).eq_ignore_ascii_case("U");
    exact::matrices(cx.input(0)).iter().map(|it| exact::symmetric(it, upper)).collect()
}

fn meaning(cx: &MeaningCx<'_>) -> Vec<Array> {
    let n = cx.shape(0)[cx.shape(0).len() - 1];
    let all: Vec<(Vec<f64>, Matrix)> = read(cx).iter().map(exact::eigh).collect();
    let values: Vec<Matrix> = all.iter().map(|it| exact::column(&it.0)).collect();
    let vectors: Vec<Matrix> = all.into_iter().map(|it| it.1).collect();
    let found = exact::counts(cx, &vec![0; vectors.len()]);
    vec![exact::stacked(cx, &values, [n, 1], 1), exact::stacked(cx, &vectors, [n, n], 2), found]
}

/// How far vectors are from being at right angles and `A V` from `V L`; values ascend.
fn distance(cx: &MeaningCx<'_>, got: &[Array]) -> f64 {
    let all = read(cx).into_iter().zip(exact::vectors(&got[0])).zip(exact::matrices(&got[1]));
    let one = |((a, values), v): ((Matrix, Matrix), Matrix)| {
        let scaled = &v * &values.t();
        exact::unordered(&values, 1.0).max(exact::askew(&v)).max(exact::far(
            &a.dot(&v),
            &scaled,
            exact::size(&a),
        ))
    };
    exact::any_failed(&got[2]).max(all.map(one).fold(0.0, f64::max))
}

/// Whether the upper triangle is read.
pub(super) fn is_upper(op: &'static str, attrs: &Attrs) -> Result<bool> {
    match attrs.first() {
        Some(Attr::Str("L" | "l")) => Ok(false),
        Some(Attr::Str("U" | "u")) => Ok(true),
        _ => Err(Error::Attr { op, name: "UPLO", problem: "is 'L' or 'U'".into() }),
    }
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    is_upper(cx.op.name, cx.attrs)?;
    let a = Sizes::square(cx, 0)?;
    Ok(smallvec![a.each(&[a.rows]), a.each(&[a.rows, a.rows]), a.info()])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let upper = is_upper(cx.op.name, cx.attrs)?;
    with_float!(cx.op.name, cx.inputs[0].dtype(), T => {
        let a = operand::<T>(cx, 0);
        let [values, vectors, info] = cx.outputs else { return Ok(()) };
        let (values, vectors) = (values.as_mut_slice(), vectors.as_mut_slice());
        Ok(symmetric(&a, upper, values, Some(vectors), info.as_mut_slice())?)
    })
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let found = gradient(cx.output(0), cx.output(1), cx.output_grad_of(0)?, cx.output_grad_of(1)?)?;
    Ok(vec![found])
}

/// `V (diag(dL) + skew(V^T dV) / E) V^T` with `E_ij = L_j - L_i` (Giles 2008, "An extended collection of matrix derivative
/// results"; PyTorch, `linalg_eig_backward`). Both triangles get it, though one is read. 0 divided by 0 is 0 in it.
pub(super) fn gradient(
    values: &Tensor,
    v: &Tensor,
    dl: Option<Tensor>,
    dv: Option<Tensor>,
) -> Result<Option<Tensor>> {
    let by_values = dl.map(|it| diag_embed(&it)).transpose()?;
    let by_vectors = dv.map(|dv| {
        let inner = matmul(&mt(v)?, &dv)?;
        let gaps = sub(&unsqueeze(values, -2)?, &unsqueeze(values, -1)?)?;
        let skew = mul(&sub(&inner, &mt(&inner)?)?, &num(0.5))?;
        ratio_or_zero(&skew, &gaps)
    });
    let Some(inner) = added(by_values, by_vectors.transpose()?)? else { return Ok(None) };
    matmul(&matmul(v, &inner)?, &mt(v)?).map(Some)
}

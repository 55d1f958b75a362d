//! `multinomial`: indices drawn with probabilities proportional to the last dimension of the input.

use smallvec::smallvec;

use crate::cpu::lane::cast;
use crate::op::{Body, DTypeRule, Default, Grad, InferCx, Kernel, KernelCx, Param, ParamKind};
use crate::{DType, Error, Meta, Metas, OpDef, Result, random};

pub static OP: OpDef = OpDef {
    name: "multinomial",
    doc: "Indices drawn with probabilities proportional to the last dimension of the input.",
    params: &[
        Param::tensor("input"),
        Param::required("num_samples", ParamKind::Int),
        Param::with("replacement", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::new("multinomial.philox", run)]),
    grad: Grad::Stops("the result does not depend on other tensors"),
    pure: false,
    method: true,
    onnx: &[],
    aliases: &["oneflow.multinomial", "megengine.random.multinomial"],
    examples: &[
        ("multinomial(tensor([0.0, 1.0]), 1)", "tensor([1])"),
        ("multinomial(tensor([0.0, 1.0]), 3, True)", "tensor([1, 1, 1])"),
    ],
};

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let (shape, n) = (cx.shape(0), cx.int(0));
    if !(1..=2).contains(&shape.rank()) || !cx.dtype(0).is_float() {
        return Err(cx.bad_shapes("a vector or matrix of float weights is needed"));
    }
    let n_classes = shape[shape.rank() - 1];
    if n < 1 || (!cx.flag(1) && n as usize > n_classes) {
        let problem = format!("must lie between 1 and {n_classes} without replacement");
        return Err(Error::Attr { op: cx.op.name, name: "num_samples", problem });
    }
    let shape = shape[..shape.rank() - 1].iter().copied().chain([n as usize]).collect();
    Ok(smallvec![Meta::new(shape, DType::I64)])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (n, again) = (cx.int(0) as usize, cx.flag(1));
    let input = cx.inputs[0];
    let n_classes = input.shape().last().copied().unwrap_or(1).max(1);
    let weights = cast::<f64>(&input);
    let out = cx.outputs[0].as_mut_slice::<i64>();
    for (weights, slots) in weights.chunks_exact(n_classes).zip(out.chunks_exact_mut(n)) {
        let mut weights = weights.to_vec();
        for slot in slots {
            let total: f64 = weights.iter().sum();
            if !(total > 0.0 && total.is_finite()) || weights.iter().any(|&it| it < 0.0) {
                let problem =
                    "must have weights that are not negative, enough of them positive".into();
                return Err(Error::Attr { op: cx.op.name, name: "input", problem });
            }
            let mut left = 0.0;
            random::with(|it| it.uniform_f64(1, |_, x| left = x * total));
            let found = weights.iter().position(|&it| {
                left -= it;
                left < 0.0
            });
            let last = weights.iter().rposition(|&it| it > 0.0);
            let at = found.or(last).unwrap_or(0);
            *slot = at as i64;
            if !again {
                weights[at] = 0.0;
            }
        }
    }
    Ok(())
}

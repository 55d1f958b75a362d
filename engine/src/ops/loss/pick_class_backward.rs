//! `pick_class_backward`: rows `[n, classes]` that hold a number each at their target class, and 0 elsewhere: the gradient of pick_class.

use smallvec::smallvec;

use crate::meaning::{Array, Meaning, MeaningCx, by_index};
use crate::op::indices;
use crate::op::{
    AdmitCx, Body, DTypeRule, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind,
    Saves, Surface,
};
use crate::{Attr, Error, Meta, Metas, OpDef, Result, Shape, Tensor, apply_one, with_float};

pub static OP: OpDef = OpDef {
    name: "pick_class_backward",
    doc: "Rows `[n, classes]` that hold a number each at their target class, and 0 elsewhere; 0 alone where the target is `ignore_index`: the gradient of pick_class.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("grad"),
        Param::tensor("target"),
        Param::required("classes", ParamKind::Int),
        Param::required("ignore_index", ParamKind::Int),
    ],
    dtypes: DTypeRule::FloatFirst,
    infer,
    body: Body::Kernels(&[Kernel::new("pick_class_backward.rows", run)
        .admitting(admit)
        .on_cuda(super::cuda::pick_class_backward)]),
    grad: Grad::Rule(grad, Saves::Inputs),
    step: None,
    pure: true,
    method: false,
    internal: true,
    surface: Surface {
        shapes: "numbers [N] and classes [N]: the gradient of scores, [N, C]",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        (
            "pick_class_backward(tensor([2.0, 3.0]), tensor([1, 0]), 2, -100)",
            "tensor([[0., 2.],\n        [3., 0.]])",
        ),
        ("pick_class_backward(tensor([2.0]), tensor([-100]), 2, -100)", "tensor([[0., 0.]])"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (dy, target) = (cx.input(0).floats(), cx.input(1).ints());
    let (n_classes, ignored) = (cx.int(0) as usize, cx.int(1));
    let slope = |at: &[usize]| {
        let class = target[&at[..1]];
        if class != ignored && class == at[1] as i64 { dy[&at[..1]] } else { 0.0 }
    };
    by_index(&[target.shape()[0], n_classes], slope).into()
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    if !cx.dtype(1).is_int() {
        return Err(Error::DType { op: cx.op.name, dtype: cx.dtype(1), allowed: "int64 classes" });
    }
    let [n_rows] = cx.shape(1)[..] else {
        return Err(cx.bad_shapes("there must be one target per row"));
    };
    if cx.shape(0)[..] != [n_rows] {
        return Err(cx.bad_shapes("there must be one number per target"));
    }
    let n_classes = usize::try_from(cx.int(0)).map_err(|_| Error::Attr {
        op: cx.op.name,
        name: "classes",
        problem: "must not be negative".into(),
    })?;
    Ok(smallvec![Meta::new(Shape::from([n_rows, n_classes]), cx.dtype(0))])
}

fn admit(cx: &AdmitCx<'_>) -> Result<()> {
    let (op, n_classes, ignored) = (cx.op.name, cx.int(0) as usize, cx.int(1));
    let fits = |class: i64| class == ignored || (class as u64) < n_classes as u64;
    cx.each_int(1, fits, |class| Error::Class { op, class, n_classes })
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (n_classes, ignored) = (cx.int(0) as usize, cx.int(1));
    let target = indices(cx.op.name, &cx.inputs[1])?;
    with_float!(cx.op.name, cx.inputs[0].dtype(), T => {
        let (dy, out) = (cx.inputs[0].to_slice::<T>(), cx.outputs[0].as_mut_slice::<T>());
        out.fill(0.0);
        for (row, (&dy, &class)) in dy.iter().zip(target.iter()).enumerate() {
            if class != ignored {
                out[row * n_classes + class as usize] = dy;
            }
        }
        Ok(())
    })
}

/// What was put there, of another gradient.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let inputs = [cx.output_grad()?, cx.input(1).clone()];
    let attrs = smallvec![Attr::Int(cx.int(1))];
    Ok(vec![Some(apply_one(&super::pick_class::OP, &inputs, &attrs)?), None])
}

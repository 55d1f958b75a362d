//! `triu`: matrices with zeros below a diagonal.

use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind,
    Saves, Surface, shapes,
};
use crate::{Metas, OpDef, Result, Tensor, apply_one, rules, with_size};

pub static OP: OpDef = OpDef {
    name: "triu",
    doc: "Matrices with zeros below a diagonal.",
    params: &[Param::tensor("input"), Param::with("diagonal", ParamKind::Int, Default::Int(0))],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::new("triu.copy", run)]),
    grad: Grad::Rule(grad, Saves::Shapes),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface { shapes: shapes::TRIANGLE, ..Surface::PLAIN },
    onnx: &[Onnx { op_type: "Trilu", since: 14, attrs: &[("diagonal", "k")] }],
    aliases: &["oneflow.triu"],
    examples: &[
        ("triu(tensor([[1, 2], [3, 4]]))", "tensor([[1, 2],\n        [0, 4]])"),
        ("triu(tensor([[1.0, 2.0], [3.0, 4.0]]), 1)", "tensor([[0., 2.],\n        [0., 0.]])"),
        ("triu(ones(3, 2), -1)", "tensor([[1., 1.],\n        [1., 1.],\n        [0., 1.]])"),
    ],
};

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    if cx.shape(0).rank() < 2 {
        return Err(cx.bad_shapes("a matrix or a batch of matrices is needed"));
    }
    rules::same_as_input(cx)
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (input, diagonal) = (cx.inputs[0], cx.int(0));
    let rank = input.shape().rank();
    let (n_rows, n_columns) = (input.shape()[rank - 2], input.shape()[rank - 1]);
    with_size!(input.dtype(), T => {
        let src = input.to_slice::<T>();
        for (idx, (&x, slot)) in src.iter().zip(cx.outputs[0].as_mut_slice::<T>()).enumerate() {
            let (row, column) = (idx / n_columns % n_rows, idx % n_columns);
            let kept = column as i64 - row as i64 >= diagonal;
            *slot = if kept { x } else { T::default() };
        }
    });
    Ok(())
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    Ok(vec![Some(apply_one(&OP, &[cx.output_grad()?], cx.attrs)?)])
}

//! `searchsorted`: where each value would go in a sorted vector, or in that of its row, to keep it sorted: before equal elements, or
//! after them with `right`.

use smallvec::smallvec;

use crate::cpu::search;
use crate::meaning::{Array, Meaning, MeaningCx, by_index, is_before, lines_of};
use crate::op::{
    Body, DTypeRule, Default, Form, Grad, InferCx, Is, Kernel, KernelCx, Onnx, Param, ParamKind,
    Surface, When,
};
use crate::{DType, Error, Meta, Metas, OpDef, Result, with_dtype};

pub static OP: OpDef = OpDef {
    name: "searchsorted",
    doc: "Where each value would go in a sorted vector, or in that of its row, to keep it sorted: before equal elements, or after them with `right`.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("sorted_sequence"),
        Param::tensor("input"),
        Param::with("right", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[
        Kernel::new("searchsorted.bisect", run).on_cuda(super::cuda::searchsorted)
    ]),
    grad: Grad::Stops("indices are whole numbers"),
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface {
        form: Some(Form::new(
            "searchsorted",
            When::Any(&[
                When::Arg("side", Is::Given),
                When::Arg("out_int32", Is::Given),
                When::Arg("sorter", Is::Given),
                When::Arg("input", Is::Number),
                When::Unlike("sorted_sequence", "input"),
            ]),
        )),
        shapes: "the shape of the values that are looked for",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("searchsorted(tensor([1, 3, 5]), tensor([3, 6]))", "tensor([1, 3])"),
        ("searchsorted(tensor([1, 3, 5]), tensor([3, 6]), right=True)", "tensor([2, 3])"),
        ("searchsorted(tensor([1.0, 2.0]), tensor([[0.5], [1.5]]))", "tensor([[0],\n        [1]])"),
        (
            "searchsorted(tensor([[1, 3, 5], [2, 4, 6]]), tensor([[3], [6]]))",
            "tensor([[1],\n        [2]])",
        ),
    ],
};

/// How many of its line stand before each value.
fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (lines, values, right) = (cx.input(0).floats(), cx.input(1).floats(), cx.flag(0));
    let lines = lines_of(&lines, lines.ndim() - 1);
    let before = |at: &[usize]| {
        let line = match lines.ndim() {
            1 => &lines[[0].as_slice()],
            _ => &lines[[&at[..at.len() - 1], &[0]].concat().as_slice()],
        };
        line.iter().filter(|it| is_before(**it, values[at], right)).count() as i64
    };
    by_index(cx.shape(1), before).into()
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let (lines, values) = (cx.shape(0), cx.shape(1));
    let rows = lines.split_last().map(|it| it.1);
    match rows {
        None => return Err(cx.bad_shapes("the sorted sequence must have a dimension")),
        Some([]) => {}
        Some(rows) if values.split_last().is_some_and(|it| it.1 == rows) => {}
        Some(_) => {
            let rule = "the sorted sequence is a vector, or has the same sizes as the values in all dimensions but the last";
            return Err(cx.bad_shapes(rule));
        }
    }
    if cx.dtype(0) != cx.dtype(1) {
        return Err(Error::DTypes { op: cx.op.name, dtypes: vec![cx.dtype(0), cx.dtype(1)] });
    }
    Ok(smallvec![Meta::new(values.clone(), DType::I64)])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (lines, values, right) = (cx.inputs[0], cx.inputs[1], cx.flag(0));
    let n = lines.shape().last().copied().unwrap_or(0);
    // How many values belong to a line: all, where there is one.
    let each = match lines.shape().rank() {
        1 => usize::MAX,
        _ => values.shape().last().copied().unwrap_or(0),
    };
    with_dtype!(lines.dtype(), T => {
        let (lines, values) = (lines.to_slice::<T>(), values.to_slice::<T>());
        search::positions(&lines, &values, (n, each), right, cx.outputs[0].as_mut_slice());
    });
    Ok(())
}

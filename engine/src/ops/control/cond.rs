//! `cond`: one graph or another, as a condition says.

use smallvec::SmallVec;

use super::{check_condition, check_operands, holds, is_differentiable, means_true};
use crate::meaning::{Array, Meaning, MeaningCx, RunRegion};
use crate::op::{
    Body, ControlCx, DTypeRule, Grad, GradCx, InferCx, Onnx, Param, ParamKind, Saves, Surface,
};
use crate::tensor::Metas;
use crate::{Attr, Attrs, Error, OpDef, Outputs, Result, Tensor, apply};

/// The row of `cond`.
pub static OP: OpDef = OpDef {
    name: "cond",
    doc: "What `then` gives where the first operand is true, else what `orelse` gives; both take the other operands.",
    meaning: Meaning::control(meaning),
    params: &[
        Param { name: "operands", kind: ParamKind::Tensors, default: None },
        Param::required("then", ParamKind::Region),
        Param::required("orelse", ParamKind::Region),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Control(run),
    grad: Grad::Onto(grad, Saves::Inputs),
    step: None,
    pure: true,
    method: false,
    internal: true,
    surface: Surface {
        shapes: "a condition of one element and what the graphs take -> what both graphs give",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        (
            "cond([tensor(True), tensor([1.0, 2.0])], 'graph(%0: f32[2]) { %1 = neg(%0) : f32[2] return %1 }', 'graph(%0: f32[2]) { return %0 }')",
            "tensor([-1., -2.])",
        ),
        (
            "cond([tensor(0), tensor([1.0, 2.0])], 'graph(%0: f32[2]) { %1 = neg(%0) : f32[2] return %1 }', 'graph(%0: f32[2]) { return %0 }')",
            "tensor([1., 2.])",
        ),
    ],
};

const NAMES: [&str; 2] = ["then", "orelse"];

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let (condition, operands) =
        cx.inputs.split_first().ok_or_else(|| cx.bad_shapes("no condition"))?;
    check_condition(cx.op, &condition.meta())?;
    let blocks = [cx.block(0)?, cx.block(1)?];
    for (name, block) in NAMES.into_iter().zip(blocks) {
        check_operands(cx.op, name, block, operands)?;
    }
    let [then, orelse] = blocks.map(|it| it.outputs());
    if then.len() != orelse.len() {
        let problem = format!("gives {} values, `then` gives {}", orelse.len(), then.len());
        return Err(Error::Attr { op: cx.op.name, name: "orelse", problem });
    }
    match then.iter().zip(orelse).position(|(a, b)| a != b) {
        None => Ok(then.iter().cloned().collect()),
        Some(at) => {
            let problem = format!(
                "gives {} as its output {at}, `then` gives {}; bring both to one shape and dtype",
                orelse[at], then[at]
            );
            Err(Error::Attr { op: cx.op.name, name: "orelse", problem })
        }
    }
}

fn run(cx: &ControlCx<'_>) -> Result<Outputs> {
    let taken = cx.block(usize::from(!holds(&cx.inputs[0])?))?;
    Ok(taken.run(cx.device, &cx.inputs[1..])?.into_iter().collect())
}

fn meaning(cx: &MeaningCx<'_>, run: RunRegion<'_>) -> Result<Vec<Array>> {
    run(usize::from(!means_true(cx.inputs.first())), &cx.inputs[1..])
}

/// The gradient of a branch is the gradient of the graph that was taken.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    super::needs_no_draws(cx.op, cx.attrs)?;
    let n = cx.n_inputs();
    let blocks = [cx.block(0)?, cx.block(1)?];
    let wanted: Vec<bool> =
        (1..n).map(|idx| cx.needs(idx) && is_differentiable(&cx.input(idx).meta())).collect();
    let mut operands: SmallVec<[Tensor; 8]> = (0..n).map(|idx| cx.input(idx).clone()).collect();
    let mut given = Vec::new();
    for idx in 0..blocks[0].outputs().len() {
        let grad = cx.output_grad_of(idx)?;
        given.push(grad.is_some());
        operands.extend(grad);
    }
    let sums: Vec<Option<&Tensor>> = (1..n).map(|idx| cx.sum(idx)).collect();
    let summed: Vec<bool> = sums.iter().map(Option::is_some).collect();
    operands.extend(sums.into_iter().flatten().cloned());
    let gradient = |idx: usize| blocks[idx].gradient(&wanted, &given, &summed).map(Attr::Region);
    let attrs: Attrs = [gradient(0)?, gradient(1)?].into_iter().collect();
    let mut grads = apply::apply(&OP, &operands, &attrs)?.into_iter();
    let of_operand = |wanted: bool| if wanted { grads.next() } else { None };
    Ok(std::iter::once(false).chain(wanted).map(of_operand).collect())
}

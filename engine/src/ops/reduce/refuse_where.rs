//! `refuse_where`: an error where a condition holds anywhere; it is there for that, and gives nothing.
//!
//! What is made of several ops says by it what it refuses in elements: of operands, or of what a factorisation tells. So it is
//! refused in every mode, as what kernels refuse.

use smallvec::smallvec;

use crate::cpu::lane::cast;
use crate::cuda::driver::Grid;
use crate::cuda::parameters::Parameters;
use crate::cuda::source::type_of;
use crate::dtype::Number;
use crate::meaning::{Array, Meaning};
use crate::op::{
    AdmitCx, Body, CudaCx, DTypeRule, Grad, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind,
    Surface,
};
use crate::{DType, Error, Meta, Metas, OpDef, Result, Shape};

pub static OP: OpDef = OpDef {
    name: "refuse_where",
    doc: "0; or where `wrong` is not 0 or False anywhere, an error of the class `error` with the text `text`, in which `{told}` is the element of `told` at the first such place, and `{place}` names that place.",
    meaning: Meaning::of(|cx| Array::from_fn(&[], cx.dtypes[0], |_| Number::Int(0))),
    params: &[
        Param::tensor("wrong"),
        Param::tensor("told"),
        Param::required("error", ParamKind::Str),
        Param::required("text", ParamKind::Str),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::new("refuse_where.look", run)
        .admitting(admits)
        .only_checking()
        .on_cuda(on_cuda)]),
    grad: Grad::Stops("the result is 0 whatever the operands are"),
    step: None,
    pure: true,
    method: false,
    internal: true,
    surface: Surface { shapes: "two of one shape give a number", ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("refuse_where(tensor([False]), tensor([7]), 'ValueError', 'not {told}')", "tensor(0)"),
        ("refuse_where(tensor([0, 0]), tensor([0, 0]), 'ValueError', 'never')", "tensor(0)"),
        (
            "refuse_where(zeros(0, dtype=torch.int64), zeros(0, dtype=torch.int64), 'ValueError', '')",
            "tensor(0)",
        ),
    ],
};

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    for dtype in [cx.dtype(0), cx.dtype(1)] {
        if !dtype.is_int() && dtype != DType::Bool {
            let allowed = "whole numbers or truth values";
            return Err(Error::DType { op: cx.op.name, dtype, allowed });
        }
    }
    if cx.shape(0) != cx.shape(1) {
        return Err(cx.bad_shapes("each place has something that is told about it"));
    }
    Ok(smallvec![Meta::new(Shape::from([]), DType::I64)])
}

/// What is refused at `place` in row-major order, of operands of `rank` dimensions.
fn refusal(error: &'static str, text: &str, rank: usize, place: usize, told: i64) -> Error {
    let place = if rank == 0 { String::new() } else { format!("(Batch element {place}): ") };
    let text = text.replace("{place}", &place).replace("{told}", &told.to_string());
    Error::Told { error, text }
}

fn admits(cx: &AdmitCx<'_>) -> Result<()> {
    let mut first = None;
    cx.elements(0, |wrong| {
        first = cast::<i64>(wrong).iter().position(|it| *it != 0);
        Ok(())
    })?;
    let Some(place) = first else { return Ok(()) };
    let rank = cx.shape(0).rank();
    cx.elements(1, |told| {
        let told = cast::<i64>(told)[place];
        Err(refusal(cx.word(0), cx.word(1), rank, place, told))
    })
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    cx.outputs[0].as_mut_slice::<i64>().fill(0);
    Ok(())
}

/// One block looks for the first place, so that it is the same in each run.
fn on_cuda(cx: &CudaCx<'_>) -> Result<()> {
    let (error, text, rank) = (cx.word(0), cx.word(1), cx.shape(0).rank());
    let [wrong, told] = [cx.plain(0)?, cx.plain(1)?];
    let fault = cx.faults(move |place, told| refusal(error, text, rank, place as usize - 1, told));
    let n = cx.shape(0).numel();
    let at = |it: &crate::Tensor| if n == 0 { Ok(0) } else { it.address() };
    let parameters = Parameters::default()
        .long(n)
        .addresses([at(&wrong)?, at(&told)?, cx.output(0)?])
        .address(fault?);
    let defines =
        [("WRONG", type_of(wrong.dtype()).into()), ("TOLD", type_of(told.dtype()).into())];
    cx.run("refuse_where", REFUSE, &defines, Grid::blocks(1, 256), &parameters)
}

const REFUSE: &str = include_str!("refuse_where.cu");

#[cfg(test)]
mod tests {
    use crate::graph::op_by_op;
    use crate::graph::parse::parse;
    use crate::{Error, Shape, Tensor};

    #[test]
    fn it_runs_where_nobody_uses_it_and_its_words_are_read_back() {
        let text = "graph(%0: i64[2]) {\n  %1 = refuse_where(%0, %0; error='ValueError', \
                    text='{place}it\\'s {told}, a \\\\') : i64[]\n  return %0\n}\n";
        let graph = parse(text, &[]).unwrap();
        assert_eq!(graph.to_string(), text);
        let plan = crate::lower::compile(&graph, true).unwrap();
        let with = |it: [i64; 2]| [Tensor::from_vec(&it, Shape::from([2])).unwrap()];
        let text = "(Batch element 1): it's 3, a \\".to_owned();
        let refused = Error::Told { error: "ValueError", text };
        assert!(plan.run(&with([0, 0])).is_ok() && op_by_op::run(&graph, &with([0, 0])).is_ok());
        assert_eq!(plan.run(&with([0, 3])).unwrap_err().apart().0, refused);
        assert_eq!(op_by_op::run(&graph, &with([0, 3])).unwrap_err().apart().0, refused);
    }
}

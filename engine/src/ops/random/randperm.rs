//! `randperm`: the whole numbers below n in random order.

use smallvec::smallvec;

use super::store_ints;
use crate::meaning::{Array, Meaning, MeaningCx, in_order};
use crate::op::{
    Body, DTypeRule, Default, Grad, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind, Surface,
};
use crate::ops::shape::size_list;
use crate::{Attr, DType, Meta, Metas, OpDef, Result};

pub static OP: OpDef = OpDef {
    name: "randperm",
    doc: "The whole numbers below n in random order.",
    meaning: Meaning::drawn(could_be),
    params: &[
        Param::required("n", ParamKind::Int),
        Param::with("dtype", ParamKind::OptDType, Default::None),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::new("randperm.mersenne", run).on_cuda(super::cuda::permutation)]),
    grad: Grad::Stops("the result does not depend on other tensors"),
    step: None,
    pure: false,
    method: false,
    internal: false,
    surface: Surface { shapes: "[n]", ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &["oneflow.randperm", "megengine.random.permutation"],
    examples: &[("randperm(1)", "tensor([0])"), ("sort(randperm(4))[0]", "tensor([0, 1, 2, 3])")],
};

fn could_be(cx: &MeaningCx<'_>, drawn: &Array) -> bool {
    let line: Vec<i64> = drawn.ints().into_iter().collect();
    let places = in_order(&line, false);
    line.len() as i64 == cx.int(0) && (0..).zip(places).all(|(n, at)| line[at] == n)
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let dtype = match cx.attrs.get(1) {
        Some(Attr::DType(it)) => *it,
        _ => DType::I64,
    };
    super::check_drawn(cx.op, "n - 1", cx.int(0).saturating_sub(1).max(0), dtype)?;
    Ok(smallvec![Meta::new(size_list(cx.op.name, "n", &[cx.int(0)])?, dtype)])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let order = cx.stream.draw(|it| it.permutation(cx.int(0) as usize));
    store_ints(&mut cx.outputs[0], &order);
    Ok(())
}

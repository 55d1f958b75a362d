//! `randint`: random whole numbers from low to high, high left out.

use smallvec::smallvec;

use super::store_ints;
use crate::cpu::interrupt;
use crate::meaning::{Array, Meaning, MeaningCx, lies_in};
use crate::op::{
    Body, DTypeRule, Default, Grad, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind, Surface,
    shapes,
};
use crate::ops::shape::size_list;
use crate::{Attr, DType, Error, Meta, Metas, OpDef, Result};

pub static OP: OpDef = OpDef {
    name: "randint",
    doc: "Random whole numbers from low to high, high left out.",
    meaning: Meaning::drawn(could_be),
    params: &[
        Param::required("low", ParamKind::Int),
        Param::required("high", ParamKind::Int),
        Param::required("size", ParamKind::Ints),
        Param::with("dtype", ParamKind::OptDType, Default::None),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::new("randint.mersenne", run)
        .on_cuda(|cx| super::cuda::whole(cx, cx.int(0), cx.int(1)))]),
    grad: Grad::Stops("the result does not depend on other tensors"),
    step: None,
    pure: false,
    method: false,
    internal: false,
    surface: Surface { shapes: shapes::SIZE, ..Surface::PLAIN },
    onnx: Onnx::written("RandomUniform", super::onnx::randint),
    aliases: &["oneflow.randint"],
    examples: &[
        ("randint(3, 4, (2,))", "tensor([3, 3])"),
        ("randint(0, 10, (2, 2)).shape", "torch.Size([2, 2])"),
    ],
};

fn could_be(cx: &MeaningCx<'_>, drawn: &Array) -> bool {
    lies_in(drawn, &cx.sizes(2), cx.int(0) as f64..=(cx.int(1) - 1) as f64)
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let (low, high) = (cx.int(0), cx.int(1));
    if low >= high {
        return Err(Error::Attr {
            op: cx.op.name,
            name: "high",
            problem: format!("must be above low, which is {low}"),
        });
    }
    let dtype = match cx.attrs.get(3) {
        Some(Attr::DType(it)) => *it,
        _ => DType::I64,
    };
    super::check_drawn(cx.op, "low", low, dtype)?;
    super::check_drawn(cx.op, "high - 1", high - 1, dtype)?;
    Ok(smallvec![Meta::new(size_list(cx.op.name, "size", &cx.ints(2).unwrap_or_default())?, dtype)])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (low, high) = (cx.int(0), cx.int(1));
    let span = high.wrapping_sub(low) as u64;
    let numel = cx.outputs[0].shape().numel();
    let mut drawn = Vec::with_capacity(numel);
    cx.stream.draw(|it| {
        for piece in interrupt::pieces_of(numel, 4) {
            drawn.extend(piece.map(|_| low.wrapping_add(it.below(span) as i64)));
        }
    });
    store_ints(&mut cx.outputs[0], &drawn);
    Ok(())
}

//! `histc`: how many elements lie in each of a number of equal intervals.

use smallvec::smallvec;

use crate::cpu::lane::cast;
use crate::meaning::Meaning;
use crate::op::{Body, ComposedCx, DTypeRule, Default, Grad, Onnx, Param, ParamKind, Surface};
use crate::{Error, OpDef, Outputs, Result, Shape, Tensor, functional, rules};

pub static OP: OpDef = OpDef {
    name: "histc",
    doc: "How many elements lie in each of `bins` equal intervals between `min` and `max`, the last of them closed; between the extremes where both are 0.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::with("bins", ParamKind::Int, Default::Int(100)),
        Param::with("min", ParamKind::Float, Default::Float(0.0)),
        Param::with("max", ParamKind::Float, Default::Float(0.0)),
    ],
    dtypes: DTypeRule::FloatsToSame,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Stops("counts change in jumps"),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface { shapes: "[bins]", ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("histc(tensor([1.0, 2.0, 1.0, 3.0]), 4, 0.0, 3.0)", "tensor([0., 2., 1., 1.])"),
        ("histc(tensor([1.0, 2.0, 9.0]), 2, 0.0, 4.0)", "tensor([1., 1.])"),
        ("histc(tensor([5.0]), 3)", "tensor([0., 1., 0.])"),
    ],
};

/// Reads the elements, where there are any.
fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let bins = usize::try_from(cx.int(0)).ok().filter(|&it| it > 0).ok_or_else(|| Error::Attr {
        op: cx.op.name,
        name: "bins",
        problem: "must be positive".into(),
    })?;
    let input = cx.input(0)?;
    if input.is_meta() {
        return Ok(smallvec![functional::full(&Shape::from([bins]), 0.0, input.dtype())?]);
    }
    let x = input.with_view(|view| cast::<f64>(&view).into_owned())?;
    let (mut low, mut high) = (cx.float(1), cx.float(2));
    if low == high {
        low = x.iter().copied().fold(f64::INFINITY, f64::min).min(f64::MAX);
        high = x.iter().copied().fold(f64::NEG_INFINITY, f64::max).max(low);
    }
    if low == high {
        (low, high) = (low - 1.0, high + 1.0);
    }
    let mut counts = vec![0.0_f64; bins];
    for &x in x.iter().filter(|&&it| (low..=high).contains(&it)) {
        let at = ((x - low) / (high - low) * bins as f64) as usize;
        counts[at.min(bins - 1)] += 1.0;
    }
    let counts = Tensor::from_vec(&counts, Shape::from([bins]))?;
    Ok(smallvec![functional::to(&counts, input.dtype())?])
}

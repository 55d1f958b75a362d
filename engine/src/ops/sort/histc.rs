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
    let refuse =
        |name, problem: &str| Error::Attr { op: cx.op.name, name, problem: problem.into() };
    let bins = usize::try_from(cx.int(0)).ok().filter(|&it| it > 0);
    let bins = bins.ok_or_else(|| refuse("bins", "must be positive"))?;
    let input = cx.input(0)?;
    if input.is_meta() {
        return Ok(smallvec![functional::full(&Shape::from([bins]), 0.0, input.dtype())?]);
    }
    let x = input.with_view(|view| cast::<f64>(&view).into_owned())?;
    let (mut low, mut high) = (cx.float(1), cx.float(2));
    if low == high {
        let end = |of: fn(f64, f64) -> f64| x.iter().copied().reduce(of).unwrap_or(low);
        let nan = x.iter().copied().find(|it| it.is_nan());
        (low, high) = nan.map_or_else(|| (end(f64::min), end(f64::max)), |it| (it, it));
    }
    if !low.is_finite() || !high.is_finite() {
        return Err(refuse(
            "min",
            &format!(
                "and max must be finite, but the range is [{low}, {high}]; nan_to_num or a mask before leaves out inf and nan"
            ),
        ));
    }
    if low > high {
        return Err(refuse("max", "must be larger than min"));
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

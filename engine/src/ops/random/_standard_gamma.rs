//! `_standard_gamma`: for each shape the time until so many events have happened where one happens on average in a unit of time.

use crate::cpu::interrupt;
use crate::cpu::lane::cast;
use crate::dtype::Format;
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{Body, DTypeRule, Grad, Kernel, KernelCx, Onnx, Param, Surface, shapes};
use crate::random::State;
use crate::{DType, OpDef, Result, rules, with_float};

pub static OP: OpDef = OpDef {
    name: "_standard_gamma",
    doc: "For each shape a draw of the gamma distribution of rate 1, at least the least normal number; NaN where the shape is NaN or below 0.",
    meaning: Meaning::drawn(could_be),
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::FloatsToSame,
    infer: rules::same_as_input,
    body: Body::Kernels(&[
        Kernel::new("standard_gamma.mersenne", run).on_cuda(super::cuda::standard_gamma)
    ]),
    grad: Grad::Stops("draws are differentiated by torch.distributions.Gamma"),
    step: None,
    pure: false,
    method: false,
    internal: false,
    surface: Surface { shapes: shapes::SAME, ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("_standard_gamma(tensor([0.0, -0.0]))", "tensor([1.1755e-38, 1.1755e-38])"),
        ("_standard_gamma(tensor([nan, -1.0]))", "tensor([nan, nan])"),
        ("_standard_gamma(zeros(0))", "tensor([])"),
    ],
};

fn could_be(cx: &MeaningCx<'_>, drawn: &Array) -> bool {
    let mut draws = drawn.floats().into_iter().zip(cx.input(0).floats());
    drawn.shape() == cx.shape(0)
        && draws.all(|(it, shape)| it > 0.0 || shape.is_nan() || shape < 0.0)
}

/// The least normal number of a dtype.
pub(super) fn least(dtype: DType) -> f64 {
    match dtype.format() {
        Some(Format::F64) => f64::MIN_POSITIVE,
        Some(Format::F16) => half::f16::MIN_POSITIVE.to_f64(),
        // bfloat16 has the exponents of float32.
        Some(Format::F32 | Format::BF16) | None => f32::MIN_POSITIVE.into(),
    }
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let stream = cx.stream;
    let dtype = cx.outputs[0].dtype();
    let is_wide = dtype == DType::F64;
    let least = least(dtype);
    with_float!(cx.op.name, dtype, T => {
        let shapes = cast::<f64>(&cx.inputs[0]);
        let out = cx.outputs[0].as_mut_slice::<T>();
        stream.draw(|state| {
            for at in interrupt::pieces_of(out.len(), 16).flatten() {
                let draw = drawn(shapes[at], is_wide, state);
                out[at] = (if draw < least { least } else { draw }) as T;
            }
        });
        Ok(())
    })
}

/// A draw for a shape (Marsaglia and Tsang, A Simple Method for Generating Gamma Variables, 2000), by PyTorch's choice of numbers, so that a
/// seed gives its draws: what it computes of the shape alone has the width of that.
fn drawn(shape: f64, is_wide: bool, state: &mut State) -> f64 {
    const THIRD: f32 = 1.0 / 3.0;
    const SQUEEZE: f32 = 0.0331;
    let own = |it: f64| if is_wide { it } else { f64::from(it as f32) };
    if shape.is_nan() || shape <= 0.0 {
        return if shape == 0.0 { 0.0 } else { f64::NAN };
    }
    let is_small = shape < 1.0;
    let scale = if is_small { (1.0 - state.uniform()).powf(own(1.0 / shape)) } else { 1.0 };
    let d = own(own(if is_small { shape + 1.0 } else { shape }) - f64::from(THIRD));
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let (x, y) = loop {
            let x = state.normal();
            let y = 1.0 + c * x;
            if y > 0.0 {
                break (x, y);
            }
        };
        let (v, u, xx) = (y * y * y, 1.0 - state.uniform(), x * x);
        let is_inside = u < 1.0 - f64::from(SQUEEZE) * xx * xx;
        if is_inside || u.ln() < 0.5 * xx + d * (1.0 - v + v.ln()) {
            return scale * d * v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and variance are the shape.
    #[test]
    fn draws_are_spread_as_they_should() {
        let mut state = crate::random::Stream::new(7).state();
        for shape in [0.3, 1.0, 2.5, 40.0] {
            let all: Vec<f64> = (0..20_000).map(|_| drawn(shape, true, &mut state)).collect();
            let mean = all.iter().sum::<f64>() / all.len() as f64;
            let variance = all.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / all.len() as f64;
            assert!((mean / shape - 1.0).abs() < 0.05, "{shape}: {mean}");
            assert!((variance / shape - 1.0).abs() < 0.1, "{shape}: {variance}");
        }
    }
}

//! Random tensors. Rows are not pure: they draw from the generator of the thread.

use half::{bf16, f16};
use smallvec::smallvec;

use crate::OpDef;
use crate::cpu::interrupt;
use crate::cpu::view::OutView;
use crate::dtype::Format;
use crate::functional::view_as_complex;
use crate::op::{ComposedCx, InferCx, KernelCx};
use crate::ops::shape::size_list;
use crate::{
    Attr, Attrs, DType, Error, Meta, Metas, Number, Outputs, Result, apply, apply_one, rules,
    with_dtype,
};

pub mod _binomial;
pub mod _poisson;
pub mod _standard_gamma;
pub mod bernoulli;
mod cuda;
pub mod dropout_mask;
pub mod multinomial;
pub mod normal;
mod onnx;
pub mod rand;
pub mod rand_like;
pub mod randint;
pub mod randn;
pub mod randn_like;
pub mod randperm;
pub mod uniform;

/// The rows of this family.
pub static ALL: &[&OpDef] = &[
    &_binomial::OP,
    &_poisson::OP,
    &_standard_gamma::OP,
    &bernoulli::OP,
    &dropout_mask::OP,
    &multinomial::OP,
    &normal::OP,
    &rand::OP,
    &rand_like::OP,
    &randint::OP,
    &randn::OP,
    &randn_like::OP,
    &randperm::OP,
    &uniform::OP,
];

/// Shape from attribute `size`, dtype from attribute `dtype` (float32 when absent).
pub(crate) fn size_infer(cx: &InferCx<'_>, size: usize, dtype: usize) -> Result<Metas> {
    let shape = size_list(cx.op.name, "size", &cx.ints(size).unwrap_or_default())?;
    let dtype = match cx.attrs.get(dtype) {
        Some(Attr::DType(it)) => *it,
        _ => DType::F32,
    };
    if !dtype.is_float() {
        return Err(Error::DType { op: cx.op.name, dtype, allowed: "floats" });
    }
    Ok(smallvec![Meta::new(shape, dtype)])
}

/// Complex numbers whose parts are drawn one after the other by an op with attributes `before` its size and dtype.
pub(crate) fn complex_draw(
    cx: &ComposedCx<'_>,
    drawn: &'static OpDef,
    before: &[f64],
) -> Result<Outputs> {
    let size = cx.ints(0).unwrap_or_default();
    let dtype = dtype_of_attr(cx.attrs, 1, DType::C64);
    let size: Vec<i64> = size.into_iter().chain([2]).collect();
    let before = before.iter().map(|&it| Attr::Float(it));
    let attrs = before.chain([Attr::ints(&size), Attr::DType(dtype.part())]).collect();
    Ok(smallvec![view_as_complex(&apply_one(drawn, &[], &attrs)?)?])
}

/// Checks that whole numbers which can be drawn are elements of the dtype.
fn check_drawn(op: &OpDef, name: &'static str, number: i64, dtype: DType) -> Result<()> {
    match dtype.int_range() {
        Some((least, most)) if (least..=most).contains(&number) => Ok(()),
        Some(_) => Err(Error::Range { op: op.name, name, number: Number::Int(number), dtype }),
        None => rules::check_fits(op.name, name, Number::Int(number), dtype),
    }
}

/// What the op draws in the shape of input 0, and in its dtype unless attribute 0 is another.
pub(crate) fn complex_draw_like(cx: &ComposedCx<'_>, drawn: &'static OpDef) -> Result<Outputs> {
    let input = cx.input(0)?;
    let dtype = dtype_of_attr(cx.attrs, 0, input.dtype());
    apply(drawn, &[], &smallvec![Attr::sizes(input.shape()), Attr::DType(dtype)])
}

fn dtype_of_attr(attrs: &Attrs, idx: usize, default: DType) -> DType {
    match attrs.get(idx) {
        Some(Attr::DType(it)) => *it,
        _ => default,
    }
}

/// The format of floats; other dtypes are refused.
fn format(op: &OpDef, dtype: DType) -> Result<Format> {
    dtype.format().ok_or(Error::DType { op: op.name, dtype, allowed: "floats" })
}

/// Output 0 filled with uniform numbers from `[low, high)`.
pub(crate) fn fill_uniform(cx: &mut KernelCx<'_, '_>, low: f64, high: f64) -> Result<()> {
    let (stream, output) = (cx.stream, &mut cx.outputs[0]);
    let format = format(cx.op, output.dtype())?;
    stream.draw(|it| match format {
        Format::F16 => it.fill_uniform_halves::<f16>(output.as_mut_slice(), low, high),
        Format::BF16 => it.fill_uniform_halves::<bf16>(output.as_mut_slice(), low, high),
        Format::F32 => it.fill_uniform(output.as_mut_slice::<f32>(), low, high),
        Format::F64 => it.fill_uniform(output.as_mut_slice::<f64>(), low, high),
    });
    Ok(())
}

/// Writes whole numbers, converted to the dtype.
pub(crate) fn store_ints(output: &mut OutView<'_>, values: &[i64]) {
    if output.dtype() == DType::Bool {
        return store(output.as_mut_slice::<u8>(), values, |it| u8::from(it != 0));
    }
    with_dtype!(output.dtype(), T => store(output.as_mut_slice::<T>(), values, |it| it as T));
}

fn store<T>(out: &mut [T], values: &[i64], convert: impl Fn(i64) -> T) {
    for piece in interrupt::pieces(values.len()) {
        let slots = out[piece.clone()].iter_mut().zip(&values[piece]);
        slots.for_each(|(slot, &it)| *slot = convert(it));
    }
}

/// Output 0 filled with normal numbers.
pub(crate) fn fill_normal(cx: &mut KernelCx<'_, '_>, mean: f64, std: f64) -> Result<()> {
    let (stream, output) = (cx.stream, &mut cx.outputs[0]);
    let format = format(cx.op, output.dtype())?;
    stream.draw(|it| match format {
        Format::F16 => it.fill_normal_halves::<f16>(output.as_mut_slice(), mean, std),
        Format::BF16 => it.fill_normal_halves::<bf16>(output.as_mut_slice(), mean, std),
        Format::F32 => it.fill_normal(output.as_mut_slice::<f32>(), mean, std),
        Format::F64 => it.fill_normal(output.as_mut_slice::<f64>(), mean, std),
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use crate::apply::infer;
    use crate::cpu::interrupt;
    use crate::launch::run_kernel;
    use crate::meaning::Meaning;
    use crate::op::{Body, Case};
    use crate::random::{self, Stream};
    use crate::{Attr, Error, OpDef, Shape, Tensor, apply, ops};

    /// Each device has a stream: a kernel draws from the one that it is given, and moves no other.
    #[test]
    fn kernels_draw_from_the_stream_that_they_are_given() {
        let p = || Tensor::from_vec(&[0.5_f32; 40], Shape::from([40])).unwrap();
        let counts = || Tensor::from_vec(&[30.0_f32; 40], Shape::from([40])).unwrap();
        let cases: [(&str, Vec<Tensor>, &[Attr]); 15] = [
            ("_binomial", vec![counts(), p()], &[]),
            ("_standard_gamma", vec![p()], &[]),
            ("_poisson", vec![p()], &[]),
            ("dropout_mask", vec![p()], &[Attr::Float(0.5)]),
            ("rand_like", vec![p()], &[]),
            ("randint", vec![], &[Attr::Int(0), Attr::Int(9), Attr::ints(&[40])]),
            ("randn_like", vec![p()], &[]),
            ("randn", vec![], &[Attr::ints(&[40])]),
            ("rand", vec![], &[Attr::ints(&[40])]),
            ("uniform", vec![], &[]),
            ("normal", vec![], &[]),
            ("randperm", vec![], &[Attr::Int(40)]),
            ("bernoulli", vec![p()], &[]),
            ("multinomial", vec![p()], &[Attr::Int(5)]),
            ("multinomial", vec![p()], &[Attr::Int(5), Attr::Bool(true)]),
        ];
        let draws = |it: &&'static OpDef| {
            matches!((it.meaning, it.body), (Meaning::Drawn(_), Body::Kernels(_)))
        };
        for op in ops::all().filter(draws) {
            assert!(cases.iter().any(|it| it.0 == op.name), "{} is not tried", op.name);
        }
        for (name, inputs, given) in cases {
            let op = ops::find(name).unwrap();
            let Body::Kernels([kernel, ..]) = op.body else { panic!("{name} has no kernel") };
            let mut attrs = op.default_attrs();
            given.iter().enumerate().for_each(|(idx, it)| attrs[idx] = it.clone());
            let prepared = kernel.prepare(&Case::new(op, &inputs, &attrs)).unwrap();
            let from = |stream: &Stream| {
                let metas = infer(op, &inputs, &attrs).unwrap();
                let drawn = run_kernel(op, &prepared, &inputs, &attrs, metas, stream).unwrap();
                drawn[0].to_f64_vec().unwrap()
            };
            random::seed(3);
            let before = random::state();
            let (own, other) = (Stream::new(3), Stream::new(4));
            let drawn = from(&own);
            assert_ne!(drawn, from(&other), "{name}");
            assert!(own.state() != before && random::state() == before, "{name}");
            let eager = apply(op, &inputs, &attrs).unwrap()[0].to_f64_vec().unwrap();
            assert_eq!(drawn, eager, "{name}");
            assert!(random::state() == own.state(), "{name}");
        }
    }

    #[test]
    fn long_sequential_work_ends_when_the_user_interrupts() {
        let p = || Tensor::from_vec(&[0.5_f32; 12], Shape::from([12])).unwrap();
        let row = |name| -> &'static OpDef { ops::find(name).unwrap() };
        let cases: [(&str, Vec<Tensor>, &[Attr]); 9] = [
            ("_binomial", vec![p(), p()], &[]),
            ("_standard_gamma", vec![p()], &[]),
            ("_poisson", vec![p()], &[]),
            ("randn", vec![], &[Attr::ints(&[99])]),
            ("rand", vec![], &[Attr::ints(&[9])]),
            ("randperm", vec![], &[Attr::Int(9)]),
            ("bernoulli", vec![p()], &[]),
            ("multinomial", vec![p()], &[Attr::Int(3)]),
            ("cumsum", vec![p()], &[Attr::Int(0)]),
        ];
        for (name, inputs, given) in cases {
            let op = row(name);
            let mut attrs = op.default_attrs();
            given.iter().enumerate().for_each(|(idx, it)| attrs[idx] = it.clone());
            let _watching = interrupt::watch(Arc::new(AtomicBool::new(true)));
            let stopped = apply(op, &inputs, &attrs);
            assert!(matches!(stopped, Err(Error::Interrupted)), "{name}: {stopped:?}");
            assert!(apply(op, &inputs, &attrs).is_ok(), "{name}");
        }
    }
}

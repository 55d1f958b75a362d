//! Kernels that hand over the parts of their output: what a program makes of them is what it makes of the output as a whole.

use super::tests::{cases, strided};
use crate::attr::Attrs;
use crate::cpu::alloc::Bytes;
use crate::cpu::lane::machine::Source;
use crate::cpu::view::{OutView, View};
use crate::lane::{self, Ref, Step};
use crate::launch::{run_kernel, view_of};
use crate::op::{Body, Case, KernelCx, Prepared};
use crate::{Attr, DType, Layout, Meta, OpDef, Result, Shape, Tensor, apply, functional, ops};

fn sample(shape: &[usize], dtype: DType, seed: usize) -> Tensor {
    let value = |at: usize| ((at * 2_654_435_761 + seed * 97) % 1000) as f32 / 331.0 - 1.5;
    let values: Vec<f32> = (0..shape.iter().product()).map(value).collect();
    let wide: Vec<f64> = values.iter().map(|&it| it.into()).collect();
    match dtype {
        DType::F64 => Tensor::from_vec(&wide, Shape::new(shape)).unwrap(),
        _ => Tensor::from_vec(&values, Shape::new(shape)).unwrap(),
    }
}

fn bits(it: &Tensor) -> Vec<u64> {
    it.to_f64_vec().unwrap().iter().map(|it| it.to_bits()).collect()
}

/// The output of the kernel and `shift - output`, made part by part: the latter in the place of the former if `replaces`.
fn in_parts(
    (op, kernel): (&'static OpDef, &Prepared),
    inputs: &[Tensor],
    attrs: &Attrs,
    shift: &Tensor,
    meta: &Meta,
    replaces: bool,
) -> Result<Vec<Tensor>> {
    let sub = ops::find("sub").unwrap();
    let stand_in = Tensor::abstract_of(meta.clone());
    let step =
        Step::new(sub, &Attrs::new(), &[Ref::Input(1), Ref::Input(0)], &[shift.clone(), stand_in])?;
    let program = lane::build(&[meta.dtype, meta.dtype], &[step], &[Ref::Step(0)])?;
    let n_outputs = if replaces { 1 } else { 2 };
    let buffer = |_| Ok(Bytes::of(&meta.shape, meta.dtype)?);
    let mut buffers = (0..n_outputs).map(buffer).collect::<Result<Vec<_>>>()?;
    let storages = inputs.iter().map(Tensor::storage).collect::<Result<Vec<_>>>()?;
    let views = inputs.iter().zip(&storages).map(|(it, buffer)| view_of(it, buffer));
    let views = views.collect::<Result<Vec<View<'_>>>>()?;
    let shift_buffer = shift.storage()?;
    let sources = [Source::View(view_of(shift, &shift_buffer)?)];
    let mut outputs: Vec<OutView<'_>> = buffers
        .iter_mut()
        .map(|bytes| OutView::new(bytes, &meta.shape, meta.dtype).unwrap())
        .collect();
    let params = program.param_values();
    lane::run_behind(&program, &sources, &mut outputs, &params, replaces, |outputs, part| {
        kernel.compute(&mut KernelCx { op, attrs, inputs: &views, outputs, part })
    })?;
    drop(outputs);
    let layout = || Layout::contiguous(meta.shape.clone());
    Ok(buffers.into_iter().map(|it| Tensor::stored(it, layout(), meta.dtype)).collect())
}

/// Runs every kernel that hands over parts; counts the runs.
fn check(op: &'static OpDef, inputs: &[Tensor], attrs: &Attrs, n_runs: &mut usize) {
    let Body::Kernels(kernels) = op.body else { return };
    let Ok(metas) = apply::infer(op, inputs, attrs) else { return };
    let computes = inputs.iter().all(|it| it.dtype().is_arithmetic());
    let (meta, case) = (&metas[0], Case::new(op, inputs, attrs));
    let finishing = kernels.iter().filter(|it| computes && it.finishes);
    for prepared in finishing.filter_map(|it| it.prepare(&case)) {
        let kernel = prepared.kernel;
        let whole = run_kernel(op, &prepared, inputs, attrs, metas.clone()).unwrap().remove(0);
        let row = meta.shape.last().map_or_else(Vec::new, |&it| vec![it]);
        for (shape, replaces) in [(&meta.shape[..], true), (&row, true), (&row, false)] {
            let shift = sample(shape, meta.dtype, 3);
            let want = functional::sub(&shift, &whole).unwrap();
            let got = in_parts((op, &prepared), inputs, attrs, &shift, meta, replaces).unwrap();
            let kinds: Vec<_> = inputs.iter().map(|it| it.meta().to_string()).collect();
            assert_eq!(bits(got.last().unwrap()), bits(&want), "{} {kinds:?}", kernel.name);
            assert!(replaces || bits(&got[0]) == bits(&whole), "{} {kinds:?}", kernel.name);
            *n_runs += 1;
        }
    }
}

#[test]
fn programs_run_on_every_part() {
    let mut n_runs = 0;
    for case in cases() {
        let inputs: Vec<Tensor> = case.inputs.iter().flatten().cloned().collect();
        check(case.op, &inputs, &case.attrs, &mut n_runs);
        let inputs: Vec<Tensor> = inputs.iter().map(strided).collect();
        check(case.op, &inputs, &case.attrs, &mut n_runs);
    }
    assert!(n_runs > 300, "{n_runs} runs");
}

#[test]
fn programs_run_on_every_part_of_large_products() {
    let mut n_runs = 0;
    for (op, a, b) in [
        ("linear", &[300, 200][..], &[130, 200][..]),
        ("linear", &[8, 128], &[128, 128]),
        ("linear", &[5, 3, 1200], &[70, 1200]),
        ("matmul", &[150, 700], &[700, 130]),
        ("matmul", &[170, 1100], &[1100, 2100]),
        ("matmul", &[1, 700], &[700, 300]),
        ("matmul", &[300, 700], &[700, 1]),
        ("matmul", &[9, 64, 64], &[9, 64, 64]),
        ("matmul", &[40, 5, 6], &[6, 7]),
        ("matmul", &[3, 1, 20, 30], &[4, 30, 17]),
    ] {
        for dtype in [DType::F32, DType::F64] {
            let inputs = [sample(a, dtype, 1), sample(b, dtype, 2)];
            check(ops::find(op).unwrap(), &inputs, &Attrs::new(), &mut n_runs);
        }
    }
    assert!(n_runs > 150, "{n_runs} runs");
}

#[test]
fn programs_run_on_every_part_of_large_convolutions() {
    let mut n_runs = 0;
    let op = ops::find("convolution").unwrap();
    for (x, w, stride, padding, groups) in [
        ([8, 32, 14, 14], [32, 32, 3, 3], 1, 1, 1),
        ([2, 3, 60, 50], [16, 3, 5, 5], 2, 2, 1),
        ([1, 16, 40, 40], [24, 8, 3, 3], 1, 0, 2),
        ([4, 48, 20, 20], [40, 48, 1, 1], 1, 0, 1),
    ] {
        let pair = |it: i64| Attr::Ints(vec![it, it].into());
        let attrs: Attrs =
            [pair(stride), pair(padding), pair(1), Attr::Int(groups)].into_iter().collect();
        let bias = sample(&w[..1], DType::F32, 5);
        let inputs = [sample(&x, DType::F32, 1), sample(&w, DType::F32, 2), bias];
        check(op, &inputs, &attrs, &mut n_runs);
        check(op, &inputs[..2], &attrs, &mut n_runs);
    }
    assert!(n_runs > 40, "{n_runs} runs");
}

//! Kernels that hand over the parts of their output: what a program makes of them is what it makes of the output as a whole.

use super::tests::{cases, strided};
use crate::attr::Attrs;
use crate::cpu::alloc::Bytes;
use crate::cpu::lane::machine::Source;
use crate::cpu::view::{OutView, View};
use crate::lane::{self, Ref, Step};
use crate::launch::{run_kernel, view_of};
use crate::op::{Body, Case, KernelCx, Prepared};
use crate::random::Stream;
use crate::test_ops::{bits, sample};
use crate::{Attr, DType, Layout, Meta, OpDef, Result, Tensor, apply, functional, ops};

/// The outputs of the kernel and `shift - output` of the first, made part by part: in the place of the first if `replaces`, else last.
fn in_parts(
    (op, kernel): (&'static OpDef, &Prepared),
    inputs: &[Tensor],
    attrs: &Attrs,
    shift: &Tensor,
    metas: &[Meta],
    replaces: bool,
) -> Result<Vec<Tensor>> {
    let sub = ops::find("sub").unwrap();
    let meta = &metas[0];
    let stand_in = Tensor::abstract_of(meta.clone());
    let step =
        Step::new(sub, &Attrs::new(), &[Ref::Input(1), Ref::Input(0)], &[shift.clone(), stand_in])?;
    let program = lane::build(&[meta.dtype, meta.dtype], &[step], &[Ref::Step(0)])?;
    let made = if replaces { &[] } else { &metas[..1] };
    let all = || metas.iter().chain(made);
    let buffer = |it: &Meta| Ok(Bytes::of(&it.shape, it.dtype)?);
    let mut buffers = all().map(buffer).collect::<Result<Vec<_>>>()?;
    let storages = inputs.iter().map(Tensor::storage).collect::<Result<Vec<_>>>()?;
    let views = inputs.iter().zip(&storages).map(|(it, buffer)| view_of(it, buffer));
    let views = views.collect::<Result<Vec<View<'_>>>>()?;
    let shift_buffer = shift.storage()?;
    let sources = [Source::View(view_of(shift, &shift_buffer)?)];
    let mut outputs: Vec<OutView<'_>> = buffers
        .iter_mut()
        .zip(all())
        .map(|(bytes, it)| OutView::new(bytes, &it.shape, it.dtype).unwrap())
        .collect();
    let params = program.param_values();
    let form = (metas.len(), replaces);
    lane::run_behind(&program, &sources, &mut outputs, &params, form, |outputs, part| {
        let (inputs, producer, stream) = (&views, None, &Stream::new(0));
        kernel.compute(&mut KernelCx { op, attrs, inputs, producer, outputs, part, stream })
    })?;
    drop(outputs);
    let tensor = |(it, meta): (Bytes, &Meta)| {
        Tensor::stored(it, Layout::contiguous(meta.shape.clone()), meta.dtype)
    };
    Ok(buffers.into_iter().zip(all()).map(tensor).collect())
}

/// Runs every kernel that hands over parts; counts the runs.
fn check(op: &'static OpDef, inputs: &[Tensor], attrs: &Attrs, n_runs: &mut usize) {
    let Body::Kernels(kernels) = op.body else { return };
    let Ok(metas) = apply::infer(op, inputs, attrs) else { return };
    let kinds = inputs.iter().map(Tensor::dtype).chain(metas.iter().map(|it| it.dtype));
    let computes = kinds.clone().all(DType::is_arithmetic) && metas[0].dtype != DType::Bool;
    let (meta, case) = (&metas[0], Case::new(op, inputs, attrs));
    let finishing = kernels.iter().filter(|it| computes && it.finishes);
    for prepared in finishing.filter_map(|it| it.prepare(&case)) {
        let kernel = prepared.kernel;
        let whole =
            run_kernel(op, &prepared, inputs, attrs, metas.clone(), &Stream::new(0)).unwrap();
        let row = meta.shape.last().map_or_else(Vec::new, |&it| vec![it]);
        for (shape, replaces) in [(&meta.shape[..], true), (&row, true), (&row, false)] {
            let shift = sample(shape, meta.dtype, 3);
            let want = functional::sub(&shift, &whole[0]).unwrap();
            let got = in_parts((op, &prepared), inputs, attrs, &shift, &metas, replaces).unwrap();
            let kinds: Vec<_> = inputs.iter().map(|it| it.meta().to_string()).collect();
            let finished = if replaces { 0 } else { metas.len() };
            assert_eq!(bits(&got[finished]), bits(&want), "{} {kinds:?}", kernel.name);
            for (at, whole) in whole.iter().enumerate().skip(usize::from(replaces)) {
                assert_eq!(bits(&got[at]), bits(whole), "{} {kinds:?}", kernel.name);
            }
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

#[test]
fn programs_run_on_every_part_of_large_reductions() {
    let mut n_runs = 0;
    let ints = |it: &[i64]| Attr::Ints(it.into());
    for shape in [&[3, 40_000][..], &[70_000, 5], &[600, 700], &[9, 30, 700], &[2, 3, 40, 50]] {
        for dtype in [DType::F32, DType::F64, DType::I64] {
            let x = [sample(shape, dtype, 1)];
            for op in ["sum", "amax", "argmax", "var", "logsumexp", "count_nonzero"] {
                let op = ops::find(op).unwrap();
                let dims = |it: i64| match op.name {
                    "argmax" => Attr::Int(it),
                    _ => ints(&[it]),
                };
                for dim in 0..shape.len() as i64 {
                    check(op, &x, &[dims(dim)].into_iter().collect(), &mut n_runs);
                }
                check(op, &x, &Attrs::new(), &mut n_runs);
            }
            for op in ["softmax", "log_softmax", "max", "min"] {
                for dim in 0..shape.len() as i64 {
                    let attrs = [Attr::Int(dim)].into_iter().collect();
                    check(ops::find(op).unwrap(), &x, &attrs, &mut n_runs);
                }
            }
            for dims in [&[0][..], &[shape.len() as i64 - 1]] {
                let attrs = [ints(dims), Attr::Float(1e-5)].into_iter().collect();
                check(ops::find("standardize").unwrap(), &x, &attrs, &mut n_runs);
            }
        }
    }
    assert!(n_runs > 600, "{n_runs} runs");
}

//! Kernels that take their operand in pieces: what they give is what they give for the operand as a whole.

use super::tests::{cases, strided};
use crate::attr::Attr;
use crate::cpu::alloc::Bytes;
use crate::cpu::lane::Part;
use crate::cpu::lane::machine::Source;
use crate::cpu::pool;
use crate::cpu::view::{OutView, View};
use crate::functional::add;
use crate::lane::{self, Ref, Step};
use crate::launch::{run_kernel, view_of};
use crate::op::{Body, Case, Kernel, KernelCx, Prepared};
use crate::random::Stream;
use crate::test_ops::{bits, sample};
use crate::{Attrs, DType, Layout, Meta, OpDef, Result, Shape, Tensor, apply, ops};

/// A kernel that takes operands of a kind in pieces, and the dtype in which it reads them.
fn taken(
    kernel: &'static Kernel,
    op: &'static OpDef,
    meta: &Meta,
    attrs: &Attrs,
) -> Option<(Prepared, DType)> {
    let own = [Tensor::abstract_of(meta.clone())];
    let dtype = (kernel.prologue)(&Case::new(op, &own, attrs).seen())?;
    let read = [Tensor::abstract_of(Meta::new(meta.shape.clone(), dtype))];
    Some((kernel.prepare(&Case::new(op, &read, attrs))?, dtype))
}

/// The outputs of the kernel on `x + shift`, which is made in pieces, and last that sum if it is `kept`.
fn in_pieces(
    (op, kernel, dtype): (&'static OpDef, &Prepared, DType),
    operands: &[Tensor; 2],
    attrs: &Attrs,
    metas: &[Meta],
    sum: &Meta,
    kept: bool,
) -> Result<Vec<Tensor>> {
    let plus = ops::find("add").unwrap();
    let mut steps =
        vec![Step::new(plus, &Attrs::new(), &[Ref::Input(0), Ref::Input(1)], operands)?];
    if dtype != sum.dtype {
        let attrs = [Attr::DType(dtype)].into_iter().collect();
        let stand_in = [Tensor::abstract_of(sum.clone())];
        steps.push(Step::new(&ops::unary::to::OP, &attrs, &[Ref::Step(0)], &stand_in)?);
    }
    let mut outputs = vec![Ref::Step(steps.len() - 1)];
    // Where it is read as it is kept, it is read where it is kept.
    outputs.extend((kept && steps.len() > 1).then_some(Ref::Step(0)));
    let dtypes = operands.each_ref().map(Tensor::dtype);
    let program = lane::build(&dtypes, &steps, &outputs)?;
    let all: Vec<&Meta> = metas.iter().chain(kept.then_some(sum)).collect();
    let buffer = |it: &&Meta| Ok(Bytes::of(&it.shape, it.dtype)?);
    let mut buffers = all.iter().map(buffer).collect::<Result<Vec<_>>>()?;
    let storages = operands.each_ref().map(|it| it.storage().unwrap());
    let views = operands.iter().zip(&storages).map(|(it, buffer)| view_of(it, buffer));
    let sources = views.map(|it| Ok(Source::View(it?))).collect::<Result<Vec<_>>>()?;
    let mut outputs: Vec<OutView<'_>> = buffers
        .iter_mut()
        .zip(&all)
        .map(|(bytes, it)| OutView::new(bytes, &it.shape, it.dtype).unwrap())
        .collect();
    let params = program.param_values();
    let read = Meta::new(sum.shape.clone(), dtype);
    let (outputs, others) = outputs.split_at_mut(metas.len());
    let producer = lane::producer(&program, &sources, &read, others, &params)?;
    let inputs: &[View<'_>] = &[producer.stand_in()];
    let (part, stream, mut outputs) = (
        Part::NONE,
        &Stream::new(0),
        outputs.iter_mut().map(OutView::reborrow).collect::<Vec<_>>(),
    );
    let outputs = &mut outputs[..];
    let made = Some(&producer);
    kernel.compute(&mut KernelCx { op, attrs, inputs, producer: made, outputs, part, stream })?;
    producer.outcome::<crate::Error>()?;
    let tensor = |(it, meta): (Bytes, &&Meta)| {
        Tensor::stored(it, Layout::contiguous(meta.shape.clone()), meta.dtype)
    };
    Ok(buffers.into_iter().zip(&all).map(tensor).collect())
}

/// Runs every kernel that takes `x` in pieces on sums of it, broadcast operands included; counts the runs.
fn check(op: &'static OpDef, x: &Tensor, attrs: &Attrs, n_runs: &mut usize) {
    let Body::Kernels(kernels) = op.body else { return };
    let row = x.shape().last().map_or_else(Vec::new, |&it| vec![it]);
    for (idx, shape) in [&x.shape()[..], &row, &[]].into_iter().enumerate() {
        let operands = [x.clone(), sample(shape, x.dtype(), 3)];
        let Ok(sum) = add(&operands[0], &operands[1]) else { return };
        let inputs = [sum.clone()];
        let Ok(metas) = apply::infer(op, &inputs, attrs) else { return };
        for kernel in kernels {
            let Some((prepared, dtype)) = taken(kernel, op, &sum.meta(), attrs) else { continue };
            let whole = kernel.prepare(&Case::new(op, &inputs, attrs)).unwrap();
            let mut want =
                run_kernel(op, &whole, &inputs, attrs, metas.clone(), &Stream::new(0)).unwrap();
            want.push(sum.clone());
            let takes = (op, &prepared, dtype);
            for kept in [false, true] {
                let got = in_pieces(takes, &operands, attrs, &metas, &sum.meta(), kept).unwrap();
                for (at, (got, want)) in got.iter().zip(&want).enumerate() {
                    let what = format!("{} of {} [{idx}], {attrs:?}", kernel.name, x.meta());
                    assert_eq!(got.meta(), want.meta(), "{what}");
                    assert!(bits(got) == bits(want), "output {at}, kept {kept}: {what}");
                }
                *n_runs += 1;
            }
        }
    }
}

#[test]
fn operands_of_every_case_come_in_pieces() {
    let (mut n_runs, mut seen) = (0, std::collections::BTreeSet::new());
    for case in cases() {
        let [Some(x)] = &case.inputs[..] else { continue };
        let before = n_runs;
        check(case.op, x, &case.attrs, &mut n_runs);
        check(case.op, &strided(x), &case.attrs, &mut n_runs);
        seen.extend((n_runs > before).then_some(case.op.name));
    }
    assert!(n_runs > 1000 && seen.len() >= 15, "{n_runs} runs of {seen:?}");
}

fn ints(it: &[i64]) -> Attr {
    Attr::Ints(it.into())
}

/// The attributes with which a row reduces these dimensions.
fn over(op: &OpDef, dims: &[i64]) -> Attrs {
    match op.name {
        "norm" => [Attr::Float(2.0), ints(dims)].into_iter().collect(),
        "standardize" => [ints(dims), Attr::Float(1e-5)].into_iter().collect(),
        "softmax" | "log_softmax" | "max" | "min" | "argmax" | "argmin" => {
            dims.iter().take(1).map(|&it| Attr::Int(it)).collect()
        }
        "native_batch_norm" => [Attr::Float(1e-5)].into_iter().collect(),
        _ => [ints(dims)].into_iter().collect(),
    }
}

fn rows() -> impl Iterator<Item = &'static OpDef> {
    let takes = |op: &&'static OpDef| {
        let op: &'static OpDef = op;
        let Body::Kernels(kernels) = op.body else { return false };
        let meta = Meta::new(Shape::from([2, 3]), DType::F32);
        let attrs = over(op, &[1]);
        // Weight and bias may be left out.
        let is_alone = op.n_tensors() == 1 || op.name == "native_batch_norm";
        is_alone && kernels.iter().any(|it| taken(it, op, &meta, &attrs).is_some())
    };
    ops::all().filter(takes)
}

#[test]
fn operands_of_all_sizes_come_in_pieces() {
    let mut n_runs = 0;
    for shape in [
        &[][..],
        &[0],
        &[3, 0, 2],
        &[1],
        &[5000],
        &[3, 4097],
        &[700, 9],
        &[9, 700],
        &[3, 1025],
        &[2, 3, 40, 5],
        &[4, 130, 17],
    ] {
        for dtype in [DType::F32, DType::F64, DType::I64, DType::F16, DType::BF16, DType::I8] {
            let x = sample(shape, dtype, 1);
            for op in rows() {
                let rank = shape.len() as i64;
                for dim in 0..rank {
                    check(op, &x, &over(op, &[dim]), &mut n_runs);
                }
                if rank > 2 {
                    check(op, &x, &over(op, &[0, rank - 1]), &mut n_runs);
                }
                check(op, &x, &over(op, &[]), &mut n_runs);
            }
        }
    }
    assert!(n_runs > 5000, "{n_runs} runs");
}

/// Large enough for several threads, pieces of a reduced axis, and strips of columns; for any number of threads.
#[test]
fn large_operands_come_in_pieces() {
    let mut n_runs = 0;
    for shape in [&[3, 40_000][..], &[70_000, 5], &[600, 1100], &[200_000], &[9, 30, 700]] {
        for (dtype, n_threads) in [(DType::F32, 3), (DType::F64, 1), (DType::BF16, 2)] {
            let x = strided(&sample(shape, dtype, 1));
            pool::set_threads(n_threads);
            for op in rows() {
                for dim in 0..shape.len() as i64 {
                    check(op, &x, &over(op, &[dim]), &mut n_runs);
                }
                check(op, &x, &over(op, &[]), &mut n_runs);
            }
            pool::set_threads(0);
        }
    }
    assert!(n_runs > 800, "{n_runs} runs");
}

/// Operands whose lines are long, lie side by side or are parted.
const COMES_IN_PIECES: &[(&str, &[usize], &[i64])] = &[
    ("argmax", &[2, 300_000], &[1]),
    ("argmax", &[2100, 100], &[0]),
    ("argmax", &[100_000, 3], &[0]),
    ("argmax", &[3, 500, 70], &[1]),
    ("argmin", &[400, 500], &[]),
    ("log_softmax", &[2, 600, 130], &[1]),
    ("logsumexp", &[1100, 90], &[0]),
    ("max", &[2, 300_000], &[1]),
    ("min", &[2100, 100], &[0]),
    ("native_batch_norm", &[9, 5, 30, 30], &[]),
    ("native_batch_norm", &[40, 30, 12, 12], &[]),
    ("native_batch_norm", &[2100, 70], &[]),
    ("softmax", &[1100, 300], &[0]),
    ("softmax", &[2, 600, 130], &[1]),
    ("standardize", &[9, 5, 30, 30], &[0, 2, 3]),
    ("standardize", &[2100, 70], &[0]),
    ("std", &[2, 300_000], &[1]),
    ("std", &[300_000], &[]),
    ("var", &[50, 3, 2000], &[0, 2]),
    ("var", &[2100, 700], &[0]),
    ("var", &[100_000, 3], &[0]),
];

#[test]
fn lines_that_are_long_or_apart_come_in_pieces() {
    for &(name, shape, dims) in COMES_IN_PIECES {
        let (op, mut n_runs) = (ops::find(name).unwrap(), 0);
        let attrs = over(op, dims);
        for (dtype, n_threads) in [(DType::F32, 3), (DType::F64, 1), (DType::F16, 2)] {
            pool::set_threads(n_threads);
            check(op, &strided(&sample(shape, dtype, 1)), &attrs, &mut n_runs);
            pool::set_threads(0);
        }
        assert!(n_runs >= 18, "{n_runs} runs of {name} of {shape:?} along {dims:?}");
    }
}

/// Sums in other dtypes than their operands: what is converted first comes converted.
#[test]
fn pieces_come_in_the_dtype_that_is_read() {
    let mut n_runs = 0;
    for from in [DType::Bool, DType::U8, DType::I16, DType::I32, DType::I64, DType::F16, DType::F32]
    {
        for into in [DType::Bool, DType::I8, DType::I32, DType::I64, DType::F16, DType::F64] {
            let x = sample(&[6, 70], from, 1);
            for op in ["sum", "prod", "mean"] {
                let attrs = [ints(&[1]), Attr::Bool(false), Attr::DType(into)];
                check(ops::find(op).unwrap(), &x, &attrs.into_iter().collect(), &mut n_runs);
            }
            let attrs = [Attr::Int(1), Attr::DType(into)].into_iter().collect();
            check(ops::find("softmax").unwrap(), &x, &attrs, &mut n_runs);
        }
    }
    assert!(n_runs > 500, "{n_runs} runs");
}

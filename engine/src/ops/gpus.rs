//! Every op on a GPU against what its row means, and its gradients against those of the processor. Without a GPU it is one that runs the same
//! kernels on the processor (`cuda/emulator.rs`); `NOTEGRAD_EMULATED_GPU=0` takes the real one.

use std::collections::BTreeSet;

use ndarray::ArrayD;

use super::meanings::{DIFFERENCES, differs, in_dtype, sizes, strays};
use super::tests::{Case, cases, gradients, leaves, name, report, sent};
use super::walk::{Spread, resized};
use crate::apply::{self, place};
use crate::fastrun::{self, Strategy};
use crate::test_ops::sample;
use crate::{
    Attr, DType, Device, Error, Outputs, Result, Shape, Tensor, cuda, functional, ops, oracle,
    random,
};

pub(super) const GPU: Device = Device::Cuda(0);

/// What a GPU gives, brought back.
fn on_gpu(case: &Case, inputs: &[Tensor]) -> Result<Outputs> {
    let outputs = place::making_on(GPU, || apply::apply(case.op, inputs, &case.attrs))?;
    outputs.iter().map(|it| it.moved_to(Device::Cpu)).collect()
}

/// Where the op on a GPU is not what it means.
pub(super) fn problem(case: &Case, dtype: DType, spread: Option<Spread>) -> Option<String> {
    let inputs = in_dtype(case, dtype);
    let wants = match oracle::results(case.op, &inputs, &case.attrs) {
        Ok(wants) => wants,
        Err(refused) => {
            let got = on_gpu(case, &inputs.iter().map(sent).collect::<Vec<_>>());
            let kind = |it: &Error| std::mem::discriminant(&it.clone().apart().0);
            return match got {
                Err(error) if kind(&error) == kind(&refused) => None,
                other => {
                    Some(format!("{}: {:?}, but it means {refused}", name(case), other.map(|_| ())))
                }
            };
        }
    };
    let sizes = match DIFFERENCES.contains(&case.op.name) || case.op.name == "layer_norm" {
        // What is added up is as large as the largest result, or 1.
        true => Some(wants.iter().map(|it| alike(&it.floats()).into()).collect()),
        false => sizes(case, &inputs),
    };
    let lies = |it: &Tensor| match spread {
        Some(spread) if it.numel() > 0 => spread.view(it),
        _ => it.clone(),
    };
    let operands: Vec<Tensor> = inputs.iter().map(lies).map(|it| sent(&it)).collect();
    let got = match on_gpu(case, &operands) {
        Ok(got) => got,
        Err(error) => return Some(format!("{} {dtype}: {error}", name(case))),
    };
    if let Some(problem) = strays(case, &inputs, &got, &wants) {
        return problem.map(|it| format!("{} {dtype} {spread:?}{it}", name(case)));
    }
    got.iter().zip(&wants).enumerate().find_map(|(idx, (got, want))| {
        let size = sizes.as_ref().and_then(|it| it.get(idx));
        let problem = differs(got, want, size)?;
        if biased_apart(case, &inputs).is_some_and(|it| super::tests::differs(got, &it).is_none()) {
            return None;
        }
        Some(format!("{} {dtype} {spread:?} result {idx}{problem}", name(case)))
    })
}

/// A convolution of halves that is rounded before its bias is added, and after: so do the libraries of GPUs.
fn biased_apart(case: &Case, inputs: &[Tensor]) -> Option<Tensor> {
    let [x, w, bias] = inputs else { return None };
    if !x.dtype().is_half() || !["conv1d", "conv2d", "convolution"].contains(&case.op.name) {
        return None;
    }
    let y = apply::apply_one(case.op, &[x.clone(), w.clone()], &case.attrs).ok()?;
    let dims = w.rank() - 2;
    let shape = std::iter::once(bias.numel()).chain(std::iter::repeat_n(1, dims)).collect();
    functional::add(&y, &functional::reshape(bias, &shape).ok()?).ok()
}

/// The largest size among numbers, or 1, for each of them.
fn alike(all: &ArrayD<f64>) -> ArrayD<f64> {
    let sizes = all.iter().map(|it| it.abs()).filter(|it| it.is_finite());
    let most = sizes.fold(1.0, f64::max);
    all.mapv(|_| most)
}

fn structured() -> Vec<Case> {
    cases().into_iter().filter(|it| !it.op.body.is_elementwise()).collect()
}

#[test]
fn ops_give_what_the_row_means() {
    let mut problems = Vec::new();
    let mut rows = BTreeSet::new();
    for case in structured() {
        rows.insert(case.op.name);
        for dtype in [DType::F32, DType::F64, DType::BF16, DType::I64, DType::U8] {
            problems.extend(problem(&case, dtype, None));
        }
        problems.extend(problem(&case, DType::F32, Some(Spread::Turned)));
        problems.extend(problem(&case, DType::F32, Some(Spread::Stepped)));
    }
    println!("{} rows", rows.len());
    report(problems);
}

#[test]
fn other_sizes_give_what_the_row_means() {
    let all = structured();
    let sized = all.iter().flat_map(|it| (1..=3).filter_map(|seed| resized(it, seed)));
    report(sized.filter_map(|it| problem(&it, DType::F32, None)).collect());
}

/// Plain loops in the place of the vendor's library see that it is handed the right sizes and places.
#[test]
fn convolutions_by_a_library_give_what_the_row_means() {
    use crate::cuda::plain_convolutions::{COMPUTED, IS_THERE};
    IS_THERE.set(true);
    let rows = ["convolution", "conv2d_input_grad", "conv2d_weight_grad"];
    let all: Vec<Case> = structured().into_iter().filter(|it| rows.contains(&it.op.name)).collect();
    let mut problems = Vec::new();
    for case in &all {
        let spreads = [None, Some(Spread::Turned), Some(Spread::Stepped)];
        problems.extend(spreads.into_iter().filter_map(|it| problem(case, DType::F32, it)));
        let sized = (1..=3).filter_map(|seed| resized(case, seed));
        problems.extend(sized.filter_map(|it| problem(&it, DType::F32, None)));
    }
    IS_THERE.set(false);
    let is_emulated = cuda::devices()[0].name == "emulated GPU";
    assert!(COMPUTED.get() >= 3 * all.len() || !is_emulated, "{} passes", COMPUTED.get());
    report(problems);
}

#[test]
fn gradients_are_those_of_the_processor() {
    let check = |case: &Case| {
        random::seed(7);
        let want = gradients(case, &leaves(case), false).ok()?;
        let inputs = case.inputs.iter().map(|it| it.as_ref().map(|it| it.moved_to(GPU).unwrap()));
        let moved = Case {
            inputs: inputs.collect(),
            attrs: case.attrs.clone(),
            needs: case.needs.clone(),
            outputs: Vec::new(),
            grads: None,
            ..*case
        };
        let got = place::making_on(GPU, || gradients(&moved, &leaves(&moved), false));
        match got {
            Err(error) => Some(format!("{}: {error}", name(case))),
            Ok(got) => got.iter().zip(&want).find_map(|(got, want)| {
                super::tests::differs(&got.moved_to(Device::Cpu).unwrap(), want)
                    .map(|it| format!("{}{it}", name(case)))
            }),
        }
    };
    report(cases().iter().filter(|it| it.grads.is_some()).filter_map(check).collect());
}

#[test]
fn all_rows_have_a_kernel() {
    let lacks = |op: &&'static crate::OpDef| match op.body {
        crate::op::Body::Kernels(kernels) => kernels.first().is_none_or(|it| it.cuda.is_none()),
        _ => false,
    };
    let found: Vec<&str> = ops::all().filter(lacks).map(|it| it.name).collect();
    assert!(found.is_empty(), "{found:?}");
}

/// Rows that a warp holds, a block, or none; more rows than a grid has blocks.
#[test]
fn rows_of_all_lengths_give_what_the_processor_gives() {
    let attrs = |all: &[Attr]| all.iter().cloned().collect::<crate::Attrs>();
    let check = |(rows, n): (usize, usize), dtype: DType| {
        let [x, dy] = [1, 2].map(|seed| sample(&[rows, n], dtype, seed));
        let [gains, shifts] = [3, 4].map(|seed| sample(&[n], dtype, seed));
        let norm = [Attr::ints(&[n as i64]), Attr::Float(0.01)];
        let backward = [&norm[..], &[Attr::Bool(true)]].concat();
        let line = [Attr::Int(1), Attr::None];
        let all: [(&str, Vec<&Tensor>, &[Attr]); 6] = [
            ("softmax", vec![&x], &line),
            ("log_softmax", vec![&x], &line),
            ("softmax_backward", vec![&dy, &x], &line[..1]),
            ("log_softmax_backward", vec![&dy, &x], &[]),
            ("native_layer_norm", vec![&x, &gains, &shifts], &norm),
            ("native_layer_norm_backward", vec![&dy, &x, &gains], &backward),
        ];
        let problem = |(op, inputs, given): &(&str, Vec<&Tensor>, &[Attr])| {
            let inputs: Vec<Tensor> = inputs.iter().map(|&it| it.clone()).collect();
            let (op, attrs) = (ops::find(op).unwrap(), attrs(given));
            let want = apply::apply(op, &inputs, &attrs).unwrap();
            let sent: Vec<Tensor> = inputs.iter().map(sent).collect();
            let got = place::making_on(GPU, || apply::apply(op, &sent, &attrs)).unwrap();
            let pairs = got.iter().map(|it| it.moved_to(Device::Cpu).unwrap()).zip(&want);
            let found = pairs.enumerate().find_map(|(at, (got, want))| {
                Some(format!("{at}{}", super::tests::differs(&got, want)?))
            })?;
            Some(format!("{} {rows} x {n} {dtype} {found}", op.name))
        };
        all.iter().filter_map(problem).collect::<Vec<_>>()
    };
    let sizes = [(3, 9000), (700, 24), (40, 512), (9, 1024), (5, 1500)];
    let dtypes = [DType::F32, DType::F16];
    report(
        sizes
            .iter()
            .flat_map(|&it| dtypes.iter().flat_map(move |&dtype| check(it, dtype)))
            .collect(),
    );
}

/// Long copies go in chunks, others from page-locked memory; all arrive whole.
#[test]
fn long_copies_arrive() {
    let numbers: Vec<i32> = (0..3_000_001).collect();
    let plain = Tensor::from_vec(&numbers, Shape::from([numbers.len()])).unwrap();
    let pinned = plain.pinned().unwrap();
    let there = [pinned, plain].map(|it| it.moved_to(GPU).unwrap());
    for it in there {
        assert!(it.moved_to(Device::Cpu).unwrap().to_vec::<i32>().unwrap() == numbers);
    }
}

/// The library is there on a real GPU alone.
#[test]
fn products_by_a_measured_algorithm_are_the_same_on_every_run() {
    let before = fastrun::set_strategy(Strategy::PROFILE);
    let op = ops::find("matmul").unwrap();
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        let [a, b] = [1, 2].map(|seed| sample(&[96, 96], dtype, seed).moved_to(GPU).unwrap());
        let product = || {
            let product = apply::apply_one(op, &[a.clone(), b.clone()], &crate::Attrs::new());
            product.and_then(|it| it.moved_to(Device::Cpu)).unwrap().to_f64_vec().unwrap()
        };
        let first = product();
        for _ in 0..20 {
            assert!(product() == first, "{dtype}");
        }
    }
    fastrun::set_strategy(before);
}

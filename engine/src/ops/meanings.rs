//! Kernels, views and composed ops against what their rows mean: every algorithm, in every dtype, on elements that lie in every way.
//! The elementwise rows are held to theirs in `oracle`.

use std::collections::BTreeSet;

use smallvec::smallvec;

use super::tests::{Case, cases, gradients, leaves, name, report};
use super::walk::{Spread, resized, size_seeds, small};
use crate::dtype::Format;
use crate::launch::run_kernel;
use crate::meaning::{Array, Meaning};
use crate::op::{self, Body};
use crate::random::{self, Stream};
use crate::{Attr, DType, Error, Outputs, Result, Tensor, apply, functional, ops, oracle};

/// How far a result may lie from what is meant, as a share of what went into it: some units in the last place of what kernels
/// compute in, and for halves one rounding.
fn limit(dtype: DType) -> f64 {
    match dtype.format() {
        Some(Format::BF16) => 1.0 / 250.0,
        Some(Format::F16) => 1.0 / 2000.0,
        Some(Format::F32) => 2e-6,
        Some(Format::F64) | None => 2e-14,
    }
}

/// Rows whose results come from differences of numbers that may be nearly equal: these, at most 1 or so, are what went into them.
pub(super) const DIFFERENCES: &[&str] = &[
    "fft_half",
    "fft_pairs",
    "fft_whole",
    "log_softmax",
    "native_attention",
    "native_attention_backward",
    "native_batch_norm",
    "native_batch_norm_backward",
    "native_layer_norm",
    "native_layer_norm_backward",
    "scaled_dot_product_attention",
    "softmax_backward",
    "standardize",
    "standardize_backward",
    "std",
    "var",
];

/// The first element that is not what is meant. `sizes` say what went into each.
pub(super) fn differs(got: &Tensor, want: &Array, sizes: Option<&Array>) -> Option<String> {
    let dtype = got.dtype();
    if got.shape()[..] != *want.shape() {
        return Some(format!(": shape {} instead of {:?}", got.shape(), want.shape()));
    }
    let got = oracle::array_of(got).unwrap();
    if !dtype.is_float() {
        let want = want.to(dtype);
        return (got != want).then(|| format!(": {got:?} instead of {want:?}"));
    }
    let (got, want) = (got.floats(), want.floats());
    let sizes = sizes.map_or_else(|| want.clone(), Array::floats);
    let all = got.iter().zip(&want).zip(&sizes);
    let far = |((got, want), size): &((&f64, &f64), &f64)| {
        let size = if size.is_finite() { size.abs().max(want.abs()) } else { want.abs() };
        let is_same = dtype.nearest(**want) == **got || want.is_nan() && got.is_nan();
        let is_near = (*got - *want).abs() <= limit(dtype) * size + f64::MIN_POSITIVE;
        !is_same && !is_near
    };
    let found = all.enumerate().find(|(_, it)| far(it));
    found.map(|(at, ((got, want), _))| format!("[{at}]: {got} instead of {want}"))
}

/// Where results of an op are not what defines them; `None` also where a meaning gives the results themselves.
pub(super) fn strays(
    case: &Case,
    inputs: &[Tensor],
    got: &[Tensor],
    wants: &[Array],
) -> Option<Option<String>> {
    let found = oracle::distance(case.op, inputs, &case.attrs, got);
    let share = match found {
        Ok(share) => share?,
        Err(error) => return Some(Some(format!(": {error}"))),
    };
    let shapes = got.iter().map(|it| it.shape().to_vec());
    if !shapes.eq(wants.iter().map(|it| it.shape().to_vec())) {
        return Some(Some(": shapes".into()));
    }
    // Some rounding for each row that goes into an element.
    let limit = 16.0 * limit(got[0].dtype());
    Some((share > limit || share.is_nan()).then(|| format!(": off by {share:e} of its size")))
}

/// What each way to compute an op gives, with its name: every algorithm of a row that takes the case.
fn ways(case: &Case, inputs: &[Tensor]) -> Result<Vec<(&'static str, Outputs)>> {
    random::seed(7);
    let Body::Kernels(kernels) = case.op.body else {
        return Ok(vec![("", apply::apply(case.op, inputs, &case.attrs)?)]);
    };
    let metas = apply::infer(case.op, inputs, &case.attrs)?;
    let asked = op::Case::new(case.op, inputs, &case.attrs);
    let taking = kernels.iter().filter_map(|it| it.prepare(&asked));
    let run = |it: op::Prepared| {
        let outputs =
            run_kernel(case.op, &it, inputs, &case.attrs, metas.clone(), &Stream::new(7))?;
        Ok((it.kernel.name, outputs))
    };
    taking.map(run).collect()
}

/// Where the op is not what it means on these operands, which lie in some ways; counts the ways.
fn problem(
    case: &Case,
    inputs: &[Tensor],
    laid_out: &[Vec<Tensor>],
    n_ways: &mut usize,
) -> Option<String> {
    if apply::complex::is_composed(case.op, inputs, &case.attrs) {
        // What it is composed of is held to what that means.
        return None;
    }
    let wants = match oracle::results(case.op, inputs, &case.attrs) {
        Ok(wants) => wants,
        Err(error) => return refusal_problem(case, inputs, &error),
    };
    let sizes = match DIFFERENCES.contains(&case.op.name) {
        true => Some(wants.iter().map(|it| it.floats().mapv(|_| 1.0).into()).collect()),
        false => sizes(case, inputs),
    };
    for inputs in laid_out {
        let ways = match ways(case, inputs) {
            Ok(ways) => ways,
            Err(error) => return Some(format!("{}: {error}", name(case))),
        };
        for (way, got) in ways {
            *n_ways += 1;
            if let Some(problem) = strays(case, inputs, &got, &wants) {
                match problem {
                    Some(problem) => return Some(format!("{} {way}{problem}", name(case))),
                    None => continue,
                }
            }
            for (idx, (got, want)) in got.iter().zip(&wants).enumerate() {
                let size = sizes.as_ref().and_then(|it| it.get(idx));
                if let Some(problem) = differs(got, want, size) {
                    let kinds: Vec<String> =
                        inputs.iter().map(|it| it.meta().to_string()).collect();
                    return Some(format!("{} {way} {kinds:?} result {idx}{problem}", name(case)));
                }
            }
        }
    }
    None
}

/// What the meaning refuses, the op refuses.
fn refusal_problem(case: &Case, inputs: &[Tensor], refused: &Error) -> Option<String> {
    match apply::apply(case.op, inputs, &case.attrs) {
        Err(error) if error == *refused => None,
        other => Some(format!("{}: {:?}, but it means {refused}", name(case), other.map(|_| ()))),
    }
}

/// What goes into each result: the meaning for the absolute values of the operands, where that is a sum of them.
pub(super) fn sizes(case: &Case, inputs: &[Tensor]) -> Option<Vec<Array>> {
    let absolute = |it: &Tensor| match it.dtype().is_float() {
        true => oracle::tensor_of(&oracle::array_of(it)?.abs(), it.dtype()),
        false => Ok(it.clone()),
    };
    let inputs = inputs.iter().map(absolute).collect::<Result<Vec<_>>>().ok()?;
    random::seed(7);
    oracle::results(case.op, &inputs, &case.attrs).ok()
}

/// The operands of a case that are doubles in another dtype: whole numbers as integers, floats as they are.
pub(super) fn in_dtype(case: &Case, dtype: DType) -> Vec<Tensor> {
    let one = |(idx, it): (usize, &Tensor)| {
        if it.dtype() != DType::F64 {
            return it.clone();
        }
        let own = if dtype.is_float() { it.clone() } else { small(case.op, it, dtype) };
        let own = functional::to(&own, dtype).unwrap();
        // Only of a sorted sequence it is defined where values go.
        match case.op.name == "searchsorted" && idx == 0 {
            true => {
                apply::apply(&ops::sort::sort::OP, &[own], &ops::sort::sort::OP.default_attrs())
                    .unwrap()[0]
                    .clone()
            }
            false => own,
        }
    };
    case.inputs.iter().flatten().enumerate().map(one).collect()
}

/// The operands as they are and under each layout; where that changes the elements, separately.
pub(super) fn check(case: &Case, dtype: DType, n_ways: &mut usize) -> Vec<String> {
    let inputs = in_dtype(case, dtype);
    let view = |spread: Spread| -> Vec<Tensor> {
        inputs.iter().map(|it| if it.numel() > 0 { spread.view(it) } else { it.clone() }).collect()
    };
    let same = [inputs.clone(), view(Spread::Turned), view(Spread::Stepped)];
    let expanded = view(Spread::Expanded);
    let groups: [(&[Tensor], &[Vec<Tensor>]); 2] =
        [(&inputs, &same), (&expanded, std::slice::from_ref(&expanded))];
    groups.into_iter().filter_map(|(inputs, all)| problem(case, inputs, all, n_ways)).collect()
}

/// The operands as they are alone.
pub(super) fn check_plain(case: &Case, dtype: DType, n_ways: &mut usize) -> Option<String> {
    let inputs = in_dtype(case, dtype);
    problem(case, &inputs, std::slice::from_ref(&inputs), n_ways)
}

#[test]
fn every_algorithm_gives_what_the_row_means_in_every_dtype() {
    let (mut n_ways, mut problems) = (0, Vec::new());
    let mut rows: BTreeSet<&str> = BTreeSet::new();
    for case in cases().iter().filter(|it| !it.op.body.is_elementwise()) {
        rows.insert(case.op.name);
        for dtype in DType::REAL {
            problems.extend(check(case, dtype, &mut n_ways));
        }
    }
    println!("{n_ways} runs of {} rows", rows.len());
    report(problems);
}

#[test]
fn other_sizes_give_what_the_row_means() {
    let (mut n_ways, mut problems) = (0, Vec::new());
    for case in cases().iter().filter(|it| !it.op.body.is_elementwise()) {
        for case in size_seeds().filter_map(|seed| resized(case, seed)) {
            for dtype in [DType::F64, DType::F32] {
                problems.extend(check(&case, dtype, &mut n_ways));
            }
        }
    }
    println!("{n_ways} runs");
    report(problems);
}

#[test]
fn gradients_are_what_their_ops_mean() {
    let problem = |case: &Case| {
        let found = |case: &Case| {
            random::seed(7);
            gradients(case, &leaves(case), false)
        };
        let (got, want) = (found(case), oracle::interpreted(|| found(case)));
        match (got, want) {
            (Ok(got), Ok(want)) => got.iter().zip(&want).find_map(|(got, want)| {
                super::tests::differs(got, want).map(|it| format!("{}{it}", name(case)))
            }),
            (got, want) => Some(format!("{}: {:?} {:?}", name(case), got.err(), want.err())),
        }
    };
    report(cases().iter().filter(|it| it.grads.is_some()).filter_map(problem).collect());
}

/// (row, its operands, its attributes): what random rows draw from.
fn drawing() -> Vec<(&'static crate::OpDef, Vec<Tensor>, crate::Attrs)> {
    let weights = Tensor::from_vec(&[0.0, 1.0, 0.25, 0.5], crate::Shape::from([4])).unwrap();
    let (size, low, high) = (Attr::ints(&[3, 50]), Attr::Float(-2.0), Attr::Float(3.0));
    let bounds = [low, high];
    let given = |op: &crate::OpDef| -> (Vec<Tensor>, crate::Attrs) {
        match op.name {
            "_binomial" => (vec![weights.clone(), weights.clone()], op.default_attrs()),
            "_poisson" | "_standard_gamma" | "bernoulli" | "rand_like" | "randn_like" => {
                (vec![weights.clone()], op.default_attrs())
            }
            "dropout_mask" => (vec![weights.clone()], smallvec![Attr::Float(0.25)]),
            "multinomial" => (vec![weights.clone()], smallvec![Attr::Int(3), Attr::Bool(false)]),
            "rand" | "randn" => (vec![], smallvec![size.clone(), Attr::None]),
            "randint" => (vec![], smallvec![Attr::Int(-3), Attr::Int(4), size.clone(), Attr::None]),
            "randperm" => (vec![], smallvec![Attr::Int(30), Attr::None]),
            _ => (vec![], bounds.iter().cloned().chain([size.clone(), Attr::None]).collect()),
        }
    };
    ops::random::ALL.iter().map(|&op| (op, given(op).0, given(op).1)).collect()
}

#[test]
fn what_is_drawn_could_be() {
    let check = |(op, inputs, attrs): (&'static crate::OpDef, Vec<Tensor>, crate::Attrs)| {
        oracle::results(op, &inputs, &attrs).err().map(|it| it.to_string())
    };
    report(drawing().into_iter().filter_map(check).collect());
}

/// Elementwise rows mean their expression, composed ones what they consist of, and nothing else does.
#[test]
fn meanings_fit_their_bodies() {
    let fits = |op: &crate::OpDef| match op.meaning {
        Meaning::Expression => op.body.is_elementwise(),
        Meaning::Composed => matches!(op.body, Body::Composed(_)),
        Meaning::Of(_) | Meaning::Each(_) | Meaning::Defined(..) => {
            op.pure && matches!(op.body, Body::Kernels(_) | Body::View(_))
        }
        Meaning::Control(_) => matches!(op.body, Body::Control(_)),
        Meaning::Drawn(_) => !op.pure && matches!(op.body, Body::Kernels(_)),
        Meaning::Forgotten => false,
    };
    report(ops::all().filter(|it| !fits(it)).map(|it| it.name.to_owned()).collect());
}

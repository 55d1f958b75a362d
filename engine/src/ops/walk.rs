//! A walk over all rows: gradients of first and second order against finite differences, every dtype that a row takes
//! and views of every kind against contiguous copies. Inputs are those of `testdata/ops.json`, and
//! others with sizes drawn at random. The elementwise rows have theirs in `lane`.

use std::collections::{BTreeMap, BTreeSet};

use super::tests::{Case, cases, differs, gradients, leaves, name, report};
use crate::apply::apply_optional;
use crate::op::{Body, Grad};
use crate::{DType, Error, Layout, Meta, OpDef, Result, Shape, Tensor, functional, ops, random};

/// The rows that are not one scalar expression.
fn structured() -> impl Iterator<Item = &'static OpDef> {
    // What is done with complex numbers is compared with PyTorch by `tests/torch/complex.py`, branches and loops by `region`.
    let of_others = |op: &OpDef| {
        ops::complex::ALL.contains(&op)
            || ops::control::ALL.contains(&op)
            || ops::fourier::ON_COMPLEX.contains(&op)
    };
    ops::all().filter(move |it| !it.body.is_elementwise() && !of_others(it))
}

fn has_gradient(op: &OpDef) -> bool {
    !matches!(op.grad, Grad::Stops(_))
}

/// `sum(output * cos(position))` over the float outputs: what `gradients` differentiates.
fn weighed(case: &Case, inputs: &[Option<Tensor>]) -> f64 {
    random::seed(7);
    let outputs = apply_optional(case.op, &as_leaves(case, inputs), &case.attrs).unwrap();
    outputs.iter().filter(|it| it.requires_grad()).fold(0.0, |sum, it| {
        let it = it.to_f64_vec().unwrap();
        sum + it.iter().enumerate().map(|(at, x)| x * (at as f64).cos()).sum::<f64>()
    })
}

fn as_leaves(case: &Case, inputs: &[Option<Tensor>]) -> Vec<Option<Tensor>> {
    let leaf = |(it, &needed): (&Option<Tensor>, &bool)| {
        it.as_ref().map(|it| if needed { it.leaf() } else { it.clone() })
    };
    inputs.iter().zip(&case.needs).map(leaf).collect()
}

/// Rows whose gradient is by intent not what differences say, and why.
const BY_INTENT: &[(&str, &str)] = &[
    ("embedding", "the row at `padding_idx` gets no gradient"),
    ("index_put", "of values placed at one index all get the gradient, though one remains"),
    ("linalg_cholesky_ex", "both triangles of a symmetric matrix get it, though one is read"),
    ("linalg_eig", "that vectors are turned so that an element is real is not part of it"),
    ("linalg_eigh", "both triangles of a symmetric matrix get it, though one is read"),
    ("linalg_eigvalsh", "both triangles of a symmetric matrix get it, though one is read"),
    ("scatter", "of values placed at one index all get the gradient, though one remains"),
];

fn nudged(case: &Case, input: usize, at: usize, by: f64) -> Vec<Option<Tensor>> {
    let mut inputs = case.inputs.clone();
    if let Some(x) = &case.inputs[input] {
        let mut values = x.to_f64_vec().unwrap();
        values[at] += by;
        inputs[input] = Some(Tensor::from_vec(&values, x.shape().clone()).unwrap());
    }
    inputs
}

/// Where a gradient is not what differences say. At a kink the slopes to both sides differ; there is nothing to say then.
fn first_order_problem(case: &Case) -> Option<String> {
    let step = 1e-6;
    random::seed(7);
    let found = match gradients(case, &leaves(case), false) {
        Ok(found) => found,
        Err(error) => return Some(format!("{}: {error}", name(case))),
    };
    let here = weighed(case, &case.inputs);
    let wanted = (0..case.inputs.len()).filter(|&it| case.needs[it]);
    for (input, grad) in wanted.zip(&found) {
        for (at, got) in grad.to_f64_vec().unwrap().into_iter().enumerate() {
            let above = (weighed(case, &nudged(case, input, at, step)) - here) / step;
            let below = (here - weighed(case, &nudged(case, input, at, -step))) / step;
            let want = (above + below) / 2.0;
            let smooth = (above - below).abs() <= 1e-3 * (1.0 + want.abs());
            if smooth && (got - want).abs() > 1e-5 * (1.0 + want.abs()) {
                return Some(format!("{} d{input}[{at}]: {got} instead of {want}", name(case)));
            }
        }
    }
    None
}

#[test]
fn gradients_agree_with_differences() {
    let all = cases();
    let mut checked: BTreeSet<&str> = BTreeSet::new();
    let mut problems = Vec::new();
    let structured_op = |it: &&Case| !it.op.body.is_elementwise() && has_gradient(it.op);
    for case in all.iter().filter(structured_op).filter(|it| it.grads.is_some()) {
        checked.insert(case.op.name);
        // Some cases hold what the row does by intent, the others are checked.
        let problem = first_order_problem(case);
        problems.extend(problem.filter(|_| !BY_INTENT.iter().any(|it| it.0 == case.op.name)));
    }
    let rows: Vec<_> = structured().filter(|it| has_gradient(it)).collect();
    let missed = rows.iter().filter(|it| !checked.contains(it.name));
    problems.extend(missed.map(|it| format!("{} has a gradient and no case", it.name)));
    println!("gradients of {} of {} rows agree with differences", checked.len(), rows.len());
    report(problems);
}

/// Rows whose second gradient is left out of the check, and why.
const NOT_TWICE: &[(&str, &str)] = &[
    ("linalg_cholesky_ex", "both triangles of a symmetric matrix get it, though one is read"),
    ("linalg_eigh", "both triangles of a symmetric matrix get it, though one is read"),
    ("linalg_eigvalsh", "both triangles of a symmetric matrix get it, though one is read"),
];

/// The sum of the squared first gradients, weighted, on the tape.
fn total(grads: &[Tensor]) -> Result<Tensor> {
    let mut res = Tensor::number(0.0);
    for (weight, grad) in (1..).zip(grads) {
        let part = functional::sum(&functional::mul(grad, grad)?, &[], false)?;
        res = functional::add(&res, &functional::mul(&part, &Tensor::number(f64::from(weight)))?)?;
    }
    Ok(res)
}

fn total_at(case: &Case, inputs: &[Option<Tensor>]) -> f64 {
    let inputs = as_leaves(case, inputs);
    random::seed(7);
    total(&gradients(case, &inputs, false).unwrap()).unwrap().to_f64_vec().unwrap()[0]
}

fn second_order_problem(case: &Case) -> Option<String> {
    let step = 1e-5;
    let inputs = leaves(case);
    random::seed(7);
    let first = gradients(case, &inputs, true).and_then(|it| total(&it));
    let targets: Vec<Tensor> =
        inputs.iter().flatten().filter(|it| it.requires_grad()).cloned().collect();
    // The gradient of a linear op is constant.
    let walk = |it: Tensor| match it.requires_grad() {
        true => crate::autograd::grad(&[(it, None)], &targets, false, false),
        false => Ok(vec![None; targets.len()]),
    };
    let second = match first.and_then(walk) {
        Ok(second) => second,
        Err(error) => return Some(format!("{}: {error}", name(case))),
    };
    let here = total_at(case, &case.inputs);
    let wanted = (0..case.inputs.len()).filter(|&it| case.needs[it]);
    for (input, grad) in wanted.zip(second) {
        let Some(x) = &case.inputs[input] else { continue };
        let values = grad.map_or_else(|| vec![0.0; x.numel()], |it| it.to_f64_vec().unwrap());
        for (at, &got) in values.iter().enumerate().take(6) {
            let above = (total_at(case, &nudged(case, input, at, step)) - here) / step;
            let below = (here - total_at(case, &nudged(case, input, at, -step))) / step;
            let want = (above + below) / 2.0;
            let smooth = (above - below).abs() <= 1e-2 * (1.0 + want.abs());
            if smooth && (got - want).abs() > 1e-4 * (1.0 + want.abs()) {
                return Some(format!("{} second d{input}[{at}]: {got} not {want}", name(case)));
            }
        }
    }
    None
}

#[test]
fn second_gradients_agree_with_differences() {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut problems = Vec::new();
    for case in cases().iter().filter(|it| it.grads.is_some() && has_gradient(it.op)) {
        let count = seen.entry(case.op.name).or_default();
        *count += 1;
        if *count <= 3 && !NOT_TWICE.iter().any(|it| it.0 == case.op.name) {
            problems.extend(second_order_problem(case));
        }
    }
    println!("second gradients of {} rows checked, {} left out", seen.len(), NOT_TWICE.len());
    report(problems);
}

/// Small whole numbers, which every dtype but bool holds; 0 and 1 for bool and where probabilities are meant.
pub(super) fn small(op: &OpDef, x: &Tensor, dtype: DType) -> Tensor {
    let probabilities = matches!(op.name, "binary_cross_entropy" | "probabilities");
    let limit = if dtype == DType::Bool || probabilities { 2.0 } else { 4.0 };
    let values = x.to_f64_vec().unwrap().into_iter().enumerate();
    let whole = |at: usize, it: f64| ((it * 8.0).abs() + at as f64).floor() % limit;
    let values = values.map(|(at, it)| if it.is_finite() { whole(at, it) } else { 0.0 });
    let values: Vec<f64> = values.collect();
    Tensor::from_vec(&values, x.shape().clone()).unwrap()
}

/// Ways to lay out the same elements.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spread {
    /// Dimensions in reverse order, the first of them backwards.
    Turned,
    /// Every second element of a larger buffer, from an offset on.
    Stepped,
    /// One row for all: stride 0 along the first dimension. Changes the elements.
    Expanded,
}

impl Spread {
    pub(super) const ALL: [Self; 3] = [Self::Turned, Self::Stepped, Self::Expanded];

    /// A view that is not contiguous, where the shape allows it.
    pub(super) fn view(self, x: &Tensor) -> Tensor {
        if x.rank() == 0 {
            return x.clone();
        }
        match self {
            Self::Turned => super::tests::strided(x),
            Self::Stepped => stepped(x),
            Self::Expanded => {
                let row = functional::slice(x, 0, 0, 1, 1).unwrap();
                functional::expand(&row, x.shape()).unwrap()
            }
        }
    }
}

fn stepped(x: &Tensor) -> Tensor {
    let last = x.rank() - 1;
    let mut wide = x.shape().clone();
    wide.dims_mut()[last] = 2 * wide[last] + 3;
    let zeros = functional::full(&wide, 0.0, x.dtype()).unwrap();
    let layout = Layout::contiguous(wide).slice(last, 2, x.shape()[last], 2);
    let attrs = smallvec::smallvec![
        crate::Attr::Int(last as i64),
        crate::Attr::Int(2),
        crate::Attr::Int(2 + 2 * x.shape()[last] as i64),
        crate::Attr::Int(2),
    ];
    let inputs = [zeros, x.detach()];
    let whole = crate::apply_one(&ops::shape::slice_scatter::OP, &inputs, &attrs).unwrap();
    whole.with_layout(layout)
}

/// The op on views against the op on copies of them, gradients too.
fn view_problem(case: &Case, spread: Spread) -> Option<String> {
    let views: Vec<_> = case
        .inputs
        .iter()
        .map(|it| it.as_ref().map(|it| if it.numel() > 0 { spread.view(it) } else { it.clone() }))
        .collect();
    let copy = |it: &Tensor| crate::launch::contiguous(&it.detach()).unwrap();
    let copies: Vec<_> = views.iter().map(|it| it.as_ref().map(copy)).collect();
    let run = |inputs: &[Option<Tensor>]| -> Result<Vec<Tensor>> {
        random::seed(7);
        let mut res = apply_optional(case.op, inputs, &case.attrs)?.to_vec();
        if case.grads.is_some() && has_gradient(case.op) {
            random::seed(7);
            res.extend(gradients(case, &as_leaves(case, inputs), false)?);
        }
        Ok(res)
    };
    match (run(&views), run(&copies)) {
        (Ok(got), Ok(want)) => got.iter().zip(&want).enumerate().find_map(|(at, (got, want))| {
            differs(got, want).map(|it| format!("{} {spread:?} result {at}{it}", name(case)))
        }),
        (Err(got), Err(want)) if got == want => None,
        (got, want) => {
            Some(format!("{} {spread:?}: {:?} instead of {:?}", name(case), got.err(), want.err()))
        }
    }
}

#[test]
fn views_give_what_copies_give() {
    let all = cases();
    let mut problems = Vec::new();
    for case in &all {
        problems.extend(Spread::ALL.iter().filter_map(|&it| view_problem(case, it)));
    }
    println!("{} cases under {} layouts", all.len(), Spread::ALL.len());
    report(problems);
}

/// The case with other sizes: equal sizes stay equal. Whole numbers become 0, which is an index wherever there is one.
pub(super) fn resized(case: &Case, seed: u64) -> Option<Case> {
    let size = |it: usize| {
        [1, 2, 3, 5, 7, 9][(it as u64 * 31 + seed * 17 + seed * it as u64 * 7) as usize % 6]
    };
    let draw = |at: usize, input: usize| {
        ((at * 37 + input * 11 + seed as usize * 5 + 3) as f64 * 0.618_033_988).fract() * 2.0 - 0.9
    };
    let other = |(input, it): (usize, &Option<Tensor>)| {
        it.as_ref().map(|it| {
            let shape: Shape =
                it.shape().iter().map(|&it| if it == 0 { 0 } else { size(it) }).collect();
            if it.dtype() != DType::F64 {
                return functional::full(&shape, 0.0, it.dtype()).unwrap();
            }
            let values: Vec<f64> = (0..shape.numel()).map(|at| draw(at, input)).collect();
            Tensor::from_vec(&values, shape).unwrap()
        })
    };
    let inputs: Vec<_> = case.inputs.iter().enumerate().map(other).collect();
    random::seed(7);
    let outputs = apply_optional(case.op, &inputs, &case.attrs).ok()?.to_vec();
    let (needs, attrs) = (case.needs.clone(), case.attrs.clone());
    Some(Case {
        op: case.op,
        inputs,
        needs,
        attrs,
        outputs,
        grads: case.grads.as_ref().map(|_| Vec::new()),
    })
}

/// The numbers by which cases get other sizes: four, or as many as are asked for.
pub(super) fn size_seeds() -> std::ops::RangeInclusive<u64> {
    1..=std::env::var("NOTEGRAD_SIZES").ok().and_then(|it| it.parse().ok()).unwrap_or(4)
}

#[test]
fn other_sizes_give_the_same_on_views_and_right_gradients() {
    let (mut n_cases, mut problems) = (0, Vec::new());
    let mut rows: BTreeSet<&str> = BTreeSet::new();
    for case in cases().iter().filter(|it| !it.op.body.is_elementwise()) {
        for seed in size_seeds() {
            let Some(mut case) = resized(case, seed) else { continue };
            n_cases += 1;
            rows.insert(case.op.name);
            if ops::linalg::ALL.contains(&case.op) {
                // Matrices of such numbers are nearly singular, and gradients of their factors are rounding.
                case.grads = None;
            }
            problems.extend(Spread::ALL.iter().filter_map(|&it| view_problem(&case, it)));
            let by_intent = BY_INTENT.iter().any(|it| it.0 == case.op.name);
            if case.grads.is_some() && has_gradient(case.op) && !by_intent {
                problems.extend(first_order_problem(&case));
            }
        }
    }
    println!("{n_cases} cases of {} rows with other sizes", rows.len());
    report(problems);
}

/// Every row that is not random, and not one scalar expression, has a case.
#[test]
fn every_structured_row_has_a_case() {
    let all = cases();
    let known: BTreeSet<&str> = all.iter().map(|it| it.op.name).collect();
    let missing: Vec<String> = structured()
        .filter(|it| it.pure && !known.contains(it.name))
        .filter(|it| !matches!(it.body, Body::Composed(_)) || has_gradient(it))
        .map(|it| it.name.to_owned())
        .collect();
    report(missing);
}

/// What inference says of shapes and dtypes holds for every dtype: without elements.
#[test]
fn inference_agrees_for_every_dtype() {
    let mut problems = Vec::new();
    for case in cases().iter().filter(|it| !it.op.body.is_elementwise()) {
        for dtype in DType::ALL {
            let to = |it: &Tensor| match it.dtype() == DType::F64 {
                true => functional::to(&small(case.op, it, dtype), dtype).unwrap(),
                false => it.clone(),
            };
            let inputs: Vec<_> = case.inputs.iter().map(|it| it.as_ref().map(to)).collect();
            let abstracted: Vec<_> = inputs
                .iter()
                .map(|it| it.as_ref().map(|it| Tensor::abstract_of(it.meta())))
                .collect();
            let metas = |it: &[Option<Tensor>]| -> Result<Vec<Meta>> {
                random::seed(7);
                Ok(apply_optional(case.op, it, &case.attrs)?.iter().map(Tensor::meta).collect())
            };
            match (metas(&inputs), metas(&abstracted)) {
                (_, Err(Error::Abstract)) => {}
                (Ok(got), Ok(want)) if got == want => {}
                (Err(got), Err(want)) if got == want => {}
                (got, want) => {
                    problems.push(format!("{} in {dtype}: {got:?}, inferred {want:?}", name(case)))
                }
            }
        }
    }
    report(problems);
}

//! Checks that hold for every row, and values and gradients from PyTorch (`testdata/ops.json`).

use std::collections::BTreeMap;

use serde_json::Value;

use crate::apply::apply_optional;
use crate::autograd;
use crate::op::{Body, Grad};
use crate::{Attr, Attrs, DType, Layout, Meta, OpDef, Shape, Tensor, ops};

struct Case {
    op: &'static OpDef,
    inputs: Vec<Option<Tensor>>,
    needs: Vec<bool>,
    attrs: Attrs,
    outputs: Vec<Tensor>,
    grads: Option<Vec<Tensor>>,
}

fn cases() -> Vec<Case> {
    let text = include_str!("../../testdata/ops.json");
    let all: Vec<Value> = serde_json::from_str(text).unwrap();
    let tensors = |it: &Value| it.as_array().unwrap().iter().map(tensor).collect::<Vec<_>>();
    let case = |it: &Value| Case {
        op: ops::find(it["op"].as_str().unwrap()).unwrap_or_else(|| panic!("no op {}", it["op"])),
        inputs: it["inputs"].as_array().unwrap().iter().map(optional).collect(),
        needs: it["needs"].as_array().unwrap().iter().map(|it| it.as_bool().unwrap()).collect(),
        attrs: it["attrs"].as_array().unwrap().iter().map(attr).collect(),
        outputs: tensors(&it["outputs"]),
        grads: (!it["grads"].is_null()).then(|| tensors(&it["grads"])),
    };
    all.iter().map(case).collect()
}

fn optional(value: &Value) -> Option<Tensor> {
    (!value.is_null()).then(|| tensor(value))
}

fn number(value: &Value) -> f64 {
    match value {
        Value::Bool(it) => f64::from(u8::from(*it)),
        Value::String(it) => it.parse().unwrap(),
        it => it.as_f64().unwrap(),
    }
}

fn tensor(value: &Value) -> Tensor {
    let data: Vec<f64> = value["data"].as_array().unwrap().iter().map(number).collect();
    let sizes = value["shape"].as_array().unwrap().iter().map(|it| it.as_u64().unwrap() as usize);
    let shape: Shape = sizes.collect();
    let dtype = DType::parse(value["dtype"].as_str().unwrap()).unwrap();
    if dtype == DType::Bool {
        return Tensor::from_bools(&data.iter().map(|&it| it != 0.0).collect::<Vec<_>>(), shape)
            .unwrap();
    }
    crate::with_dtype!(dtype, T => {
        Tensor::from_vec(&data.iter().map(|&it| it as T).collect::<Vec<_>>(), shape).unwrap()
    })
}

fn attr(value: &Value) -> Attr {
    match value {
        Value::Null => Attr::None,
        Value::Bool(it) => Attr::Bool(*it),
        Value::Number(it) => Attr::Int(it.as_i64().unwrap()),
        Value::String(it) => Attr::Str(it.clone().leak()),
        Value::Array(it) => Attr::Ints(it.iter().map(|it| it.as_i64().unwrap()).collect()),
        Value::Object(it) if it.contains_key("float") => Attr::Float(number(&it["float"])),
        Value::Object(it) => Attr::DType(DType::parse(it["dtype"].as_str().unwrap()).unwrap()),
    }
}

/// The first element that is further from `want` than the dtype's rounding explains.
fn differs(got: &Tensor, want: &Tensor) -> Option<String> {
    if got.meta() != want.meta() {
        return Some(format!("{} instead of {}", got.meta(), want.meta()));
    }
    let limit = if want.dtype() == DType::F32 { 2e-5 } else { 1e-8 };
    let pairs = got.to_f64_vec().unwrap().into_iter().zip(want.to_f64_vec().unwrap());
    let far = |(a, b): &(f64, f64)| {
        !(a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= limit * (1.0 + b.abs()))
    };
    pairs
        .enumerate()
        .find(|(_, it)| far(it))
        .map(|(at, (a, b))| format!("[{at}]: {a} instead of {b}"))
}

/// The same elements under strides that are neither contiguous nor positive.
fn strided(x: &Tensor) -> Tensor {
    if x.rank() == 0 {
        return x.clone();
    }
    let dims: Vec<usize> = (0..x.rank()).rev().collect();
    let mut wide = Layout::contiguous(x.shape().clone()).permute(&dims);
    wide = Layout::contiguous(wide.shape).permute(&dims);
    crate::with_dtype!(x.dtype(), T => {
        let flat = x.to_vec_any::<T>();
        let mut spread = vec![T::default(); flat.len()];
        let flipped = wide.slice(0, x.shape()[0].saturating_sub(1), x.shape()[0], -1);
        crate::cpu::strided::copy(&flat, &Layout::contiguous(x.shape().clone()), &mut spread, &flipped);
        let bytes = crate::storage::from_slice(&spread).unwrap();
        Tensor::stored(std::sync::Arc::new(bytes), flipped, x.dtype())
    })
}

impl Tensor {
    fn to_vec_any<T: crate::cpu::typed::Plain>(&self) -> Vec<T> {
        self.with_view(|view| view.to_slice::<T>().into_owned()).unwrap()
    }
}

fn report(problems: Vec<String>) {
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

fn name(case: &Case) -> String {
    let shapes: Vec<String> =
        case.inputs.iter().flatten().map(|it| it.meta().to_string()).collect();
    format!("{}({}; {:?})", case.op.name, shapes.join(", "), case.attrs)
}

fn values_problem(case: &Case, inputs: &[Option<Tensor>]) -> Option<String> {
    match apply_optional(case.op, inputs, &case.attrs) {
        Err(error) => Some(format!("{}: {error}", name(case))),
        Ok(got) if got.len() != case.outputs.len() => {
            Some(format!("{}: {} outputs", name(case), got.len()))
        }
        Ok(got) => got
            .iter()
            .zip(&case.outputs)
            .find_map(|(got, want)| differs(got, want))
            .map(|it| format!("{}{it}", name(case))),
    }
}

#[test]
fn agrees_with_pytorch() {
    report(cases().iter().filter_map(|it| values_problem(it, &it.inputs)).collect());
}

#[test]
fn strided_inputs_give_the_same() {
    let check = |it: &Case| {
        let inputs: Vec<_> = it.inputs.iter().map(|it| it.as_ref().map(strided)).collect();
        values_problem(it, &inputs)
    };
    report(cases().iter().filter_map(check).collect());
}

/// Gradients of `sum(output * cos(position))` for the float64 inputs.
fn gradients(
    case: &Case,
    inputs: &[Option<Tensor>],
    create_graph: bool,
) -> crate::Result<Vec<Tensor>> {
    let outputs = apply_optional(case.op, inputs, &case.attrs)?;
    let weights = |it: &Tensor| {
        let values: Vec<f64> = (0..it.numel()).map(|it| (it as f64).cos()).collect();
        Tensor::from_vec(&values, it.shape().clone())
    };
    let roots = outputs.into_iter().filter(Tensor::requires_grad);
    let roots =
        roots.map(|it| Ok((it.clone(), Some(weights(&it)?)))).collect::<crate::Result<Vec<_>>>()?;
    let leaves: Vec<Tensor> =
        inputs.iter().flatten().filter(|it| it.requires_grad()).cloned().collect();
    let zeros = |it: &Tensor| crate::functional::full(it.shape(), 0.0, it.dtype());
    let found = autograd::grad(&roots, &leaves, false, create_graph)?;
    found
        .into_iter()
        .zip(&leaves)
        .map(|(grad, leaf)| grad.map_or_else(|| zeros(leaf), Ok))
        .collect()
}

/// The inputs, those that need gradients as leaves.
fn leaves(case: &Case) -> Vec<Option<Tensor>> {
    let pairs = case.inputs.iter().zip(&case.needs);
    pairs
        .map(|(it, needed)| it.as_ref().map(|it| if *needed { it.leaf() } else { it.clone() }))
        .collect()
}

#[test]
fn gradients_agree_with_pytorch() {
    let check = |case: &Case| {
        let want = case.grads.as_ref()?;
        match gradients(case, &leaves(case), false) {
            Err(error) => Some(format!("{}: {error}", name(case))),
            Ok(got) => got.iter().zip(want).enumerate().find_map(|(at, (got, want))| {
                differs(got, want).map(|it| format!("{} d{at}{it}", name(case)))
            }),
        }
    };
    report(cases().iter().filter_map(check).collect());
}

/// Central differences of the first gradient are the second: a handful of ops, all their inputs.
#[test]
fn second_gradients_agree_with_differences() {
    let handful = [
        "matmul",
        "conv2d",
        "softmax",
        "log_softmax",
        "cross_entropy",
        "layer_norm",
        "logsumexp",
        "var",
        "norm",
        "linear",
        "mse_loss",
        "gather",
        "avg_pool2d",
    ];
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut problems = Vec::new();
    for case in cases().iter().filter(|it| it.grads.is_some() && handful.contains(&it.op.name)) {
        let count = seen.entry(case.op.name).or_default();
        *count += 1;
        if *count <= 2 {
            problems.extend(second_problem(case).map(|it| format!("{}: {it}", name(case))));
        }
    }
    report(problems);
}

fn second_problem(case: &Case) -> Option<String> {
    let (position, base) = case.inputs.iter().enumerate().find_map(|(at, it)| {
        it.as_ref()
            .filter(|it| it.dtype() == DType::F64 && it.numel() > 0)
            .map(|it| (at, it.clone()))
    })?;
    let total = |grads: &[Tensor]| -> crate::Result<Tensor> {
        let mut res = Tensor::number(0.0);
        for (weight, grad) in (1..).zip(grads) {
            let squared = crate::functional::mul(grad, grad)?;
            let part = crate::functional::sum(&squared, &[], false)?;
            res = crate::functional::add(
                &res,
                &crate::functional::mul(&part, &Tensor::number(f64::from(weight)))?,
            )?;
        }
        Ok(res)
    };
    let inputs = leaves(case);
    let first = gradients(case, &inputs, true).and_then(|it| total(&it));
    let target = inputs[position].clone()?;
    // The gradient of a linear op is constant.
    let walk = |it: Tensor| match it.requires_grad() {
        true => autograd::grad(&[(it, None)], &[target], false, false),
        false => Ok(vec![None]),
    };
    let second = first.and_then(walk);
    let second = match second {
        Ok(found) => {
            found[0].as_ref().map_or_else(|| vec![0.0; base.numel()], |it| it.to_f64_vec().unwrap())
        }
        Err(error) => return Some(error.to_string()),
    };
    let values = base.to_f64_vec().unwrap();
    for at in 0..values.len().min(6) {
        let nudged = |by: f64| {
            let mut values = values.clone();
            values[at] += by;
            let mut inputs = leaves(case);
            inputs[position] =
                Some(Tensor::from_vec(&values, base.shape().clone()).unwrap().leaf());
            total(&gradients(case, &inputs, false).unwrap()).unwrap().to_f64_vec().unwrap()[0]
        };
        let want = (nudged(1e-5) - nudged(-1e-5)) / 2e-5;
        if (second[at] - want).abs() > 1e-4 * (1.0 + want.abs()) {
            return Some(format!("second gradient [{at}] is {} instead of {want}", second[at]));
        }
    }
    None
}

#[test]
fn inference_agrees_with_kernels() {
    let mut problems = Vec::new();
    for case in cases() {
        let abstracted = |it: &Tensor| Tensor::abstract_of(it.meta());
        let inputs: Vec<_> = case.inputs.iter().map(|it| it.as_ref().map(abstracted)).collect();
        let metas: Vec<Meta> = match apply_optional(case.op, &inputs, &case.attrs) {
            Ok(outputs) => outputs.iter().map(Tensor::meta).collect(),
            Err(crate::Error::Abstract) => continue,
            Err(error) => {
                problems.push(format!("{}: {error}", name(&case)));
                continue;
            }
        };
        let want: Vec<Meta> = case.outputs.iter().map(Tensor::meta).collect();
        if metas != want {
            problems.push(format!("{}: {metas:?} instead of {want:?}", name(&case)));
        }
    }
    report(problems);
}

#[test]
fn every_row_is_complete_and_sorted() {
    let mut names = std::collections::HashSet::new();
    for family in ops::FAMILIES {
        let listed: Vec<&str> = family.iter().map(|it| it.name).collect();
        let mut sorted = listed.clone();
        sorted.sort_unstable();
        assert_eq!(listed, sorted);
        for op in *family {
            assert!(names.insert(op.name), "{} is listed twice", op.name);
            assert!(
                !op.doc.is_empty() && op.doc.ends_with('.'),
                "{}: the doc is a sentence",
                op.name
            );
            assert!(!op.examples.is_empty(), "{} needs examples", op.name);
            if let Body::Kernels(kernels) = op.body {
                let mut seen = std::collections::HashSet::new();
                assert!(
                    kernels.iter().all(|it| seen.insert(it.name)),
                    "{}: kernels share a name",
                    op.name
                );
            }
            if let Grad::Stops(reason) = op.grad {
                assert!(!reason.is_empty(), "{} must say why it has no gradient", op.name);
            }
        }
    }
}

/// Each file of a family folder belongs to a row.
#[test]
fn every_file_is_listed() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ops");
    let shared = ["mod.rs", "tests.rs", "class_rows.rs"];
    for family in
        std::fs::read_dir(root).unwrap().map(Result::unwrap).filter(|it| it.path().is_dir())
    {
        for file in std::fs::read_dir(family.path()).unwrap().map(Result::unwrap) {
            let file = file.file_name().into_string().unwrap();
            let known = ops::find(file.trim_end_matches(".rs").trim_end_matches('_')).is_some();
            assert!(known || shared.contains(&file.as_str()), "{file} has no row");
        }
    }
}

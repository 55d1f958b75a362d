//! Checks that hold for every row, and values and gradients from PyTorch (`testdata/ops.json`).

use serde_json::Value;

use crate::apply::apply_optional;
use crate::autograd;
use crate::dtype::Format;
use crate::op::{Body, Grad, Kernel};
use crate::{
    Attr, Attrs, DType, Layout, Meta, OpDef, Shape, Tensor, apply_in_place, apply_one, functional,
    ops,
};

pub(crate) struct Case {
    pub(crate) op: &'static OpDef,
    pub(crate) inputs: Vec<Option<Tensor>>,
    pub(crate) needs: Vec<bool>,
    pub(crate) attrs: Attrs,
    pub(crate) outputs: Vec<Tensor>,
    pub(crate) grads: Option<Vec<Tensor>>,
}

pub(crate) fn cases() -> Vec<Case> {
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

/// The tensor on the GPU, in a buffer like its own and under the same layout.
pub(crate) fn sent(x: &Tensor) -> Tensor {
    if x.as_number().is_some() {
        return x.clone();
    }
    let buffer = x.storage().unwrap();
    let bytes = crate::cpu::typed::slice::<u8>(buffer.host().unwrap());
    let block = crate::cuda::gpu(0).unwrap().upload(bytes, (x.dtype(), x.shape())).unwrap();
    Tensor::stored(block, x.layout().clone(), x.dtype())
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
    functional::to(&Tensor::from_vec(&data, shape).unwrap(), dtype).unwrap()
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
pub(crate) fn differs(got: &Tensor, want: &Tensor) -> Option<String> {
    if got.meta() != want.meta() {
        return Some(format!("{} instead of {}", got.meta(), want.meta()));
    }
    let limit = match want.dtype().format() {
        Some(Format::BF16) => 2e-2,
        Some(Format::F16) => 2e-3,
        Some(Format::F32) => 2e-5,
        Some(Format::F64) | None => 1e-8,
    };
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
pub(super) fn strided(x: &Tensor) -> Tensor {
    if x.rank() == 0 {
        return x.clone();
    }
    let dims: Vec<usize> = (0..x.rank()).rev().collect();
    let mut wide = Layout::contiguous(x.shape().clone()).permute(&dims);
    wide = Layout::contiguous(wide.shape).permute(&dims);
    crate::with_size!(x.dtype(), T => {
        let flat = x.to_vec_any::<T>();
        let mut spread = vec![T::default(); flat.len()];
        let flipped = wide.slice(0, x.shape()[0].saturating_sub(1), x.shape()[0], -1);
        crate::cpu::strided::copy(&flat, &Layout::contiguous(x.shape().clone()), &mut spread, &flipped);
        let bytes = crate::storage::from_slice(&spread).unwrap();
        Tensor::stored(bytes, flipped, x.dtype())
    })
}

impl Tensor {
    fn to_vec_any<T: crate::cpu::typed::Plain>(&self) -> Vec<T> {
        self.with_view(|view| view.to_slice::<T>().into_owned()).unwrap()
    }
}

pub(super) fn report(problems: Vec<String>) {
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

pub(crate) fn name(case: &Case) -> String {
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
pub(super) fn gradients(
    case: &Case,
    inputs: &[Option<Tensor>],
    create_graph: bool,
) -> crate::Result<Vec<Tensor>> {
    let outputs = apply_optional(case.op, inputs, &case.attrs)?;
    let weights = |it: &Tensor| {
        let values: Vec<f64> = (0..it.numel()).map(|it| (it as f64).cos()).collect();
        Tensor::from_vec(&values, it.shape().clone())?.moved_to(it.device())
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
pub(super) fn leaves(case: &Case) -> Vec<Option<Tensor>> {
    let pairs = case.inputs.iter().zip(&case.needs);
    pairs
        .map(|(it, needed)| it.as_ref().map(|it| if *needed { it.leaf() } else { it.clone() }))
        .collect()
}

/// Where nobody else sees its first operand, a kernel that updates writes there what the op gives: also halves, which it computes in
/// float32.
#[test]
fn updates_in_place_what_the_op_gives() {
    let updates = |it: &Case| matches!(it.op.body, Body::Kernels([Kernel { updates: true, .. }]));
    let cases: Vec<Case> = cases().into_iter().filter(updates).collect();
    for op in ops::all() {
        let listed = cases.iter().any(|it| it.op == op);
        let Body::Kernels(kernels) = op.body else { continue };
        assert!(listed || kernels.iter().all(|it| !it.updates), "{} has no case", op.name);
    }
    for case in &cases {
        for dtype in [DType::F32, DType::F16] {
            let of_dtype = |it: &Tensor| match it.dtype().is_float() {
                true => functional::to(it, dtype).unwrap(),
                false => it.clone(),
            };
            let inputs: Vec<Tensor> = case.inputs.iter().flatten().map(of_dtype).collect();
            let expected = apply_one(case.op, &inputs, &case.attrs).unwrap();
            let mut own = apply_one(&ops::unary::clone::OP, &inputs[..1], &Attrs::new()).unwrap();
            let at = std::sync::Arc::as_ptr(&own.storage().unwrap());
            assert!(apply_in_place(case.op, &mut own, None, &inputs[1..], &case.attrs).unwrap());
            assert_eq!(std::sync::Arc::as_ptr(&own.storage().unwrap()), at, "{}", name(case));
            assert_eq!(differs(&own, &expected), None, "{}", name(case));
        }
    }
}

/// The same of elementwise ops, of so many elements that vectors compute them, and with numbers that are far away or none.
#[test]
fn elementwise_ops_in_place_give_the_same_bits() {
    let numbers = [0.5, -2.25, 0.0, -0.0, 3.0, 1e30, f64::INFINITY, f64::NAN, -7.5, 0.125, 1e-30];
    let elements = |skip: usize| (0..1000).map(move |it| numbers[(it * 7 + skip) % numbers.len()]);
    let mut n_done = 0;
    for op in ops::all().filter(|it| it.body.is_elementwise()) {
        for dtype in [DType::F32, DType::F64, DType::I64, DType::U8] {
            let operand = |at: usize| {
                let whole = |it: f64| if it.is_nan() { 0.0 } else { it.clamp(-9.0, 9.0) };
                let of_dtype = |it: f64| if dtype.is_float() { it } else { whole(it) };
                let elements: Vec<f64> = elements(at).map(of_dtype).collect();
                let tensor = Tensor::from_vec(&elements, Shape::from([1000])).unwrap();
                functional::to(&tensor, dtype).unwrap()
            };
            let inputs: Vec<Tensor> = (0..op.n_tensors()).map(operand).collect();
            let Ok(expected) = apply_one(op, &inputs, &op.default_attrs()) else { continue };
            let mut own = operand(0);
            if apply_in_place(op, &mut own, None, &inputs[1..], &op.default_attrs())
                .unwrap_or(false)
            {
                n_done += 1;
                // Which of two NaNs a product is, is left to the processor.
                let bits = |it: &Tensor| -> Vec<Option<u64>> {
                    let elements = it.to_f64_vec().unwrap().into_iter();
                    elements.map(|it| (!it.is_nan()).then_some(it.to_bits())).collect()
                };
                assert_eq!(own.dtype(), expected.dtype(), "{}", op.name);
                assert_eq!(bits(&own), bits(&expected), "{} of {dtype}", op.name);
            }
        }
    }
    assert!(n_done > 100, "only {n_done} ran in place");
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

/// Each file of a family folder belongs to a row, or is a private module that rows share; texts of kernels belong to its CUDA side.
#[test]
fn every_file_is_listed() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ops");
    for family in
        std::fs::read_dir(root).unwrap().map(Result::unwrap).filter(|it| it.path().is_dir())
    {
        let list = std::fs::read_to_string(family.path().join("mod.rs")).unwrap();
        for file in std::fs::read_dir(family.path()).unwrap().map(Result::unwrap) {
            let file = file.file_name().into_string().unwrap();
            let has_cuda = list.lines().any(|it| it.ends_with("mod cuda;"));
            if has_cuda && (file.ends_with(".cu") || file == "cuda.rs") {
                continue;
            }
            let name = file.trim_end_matches(".rs");
            let is_row = ops::find(name.trim_end_matches('_')).is_some();
            let is_shared = list.lines().any(|it| it == format!("mod {name};"));
            assert!(is_row || is_shared || name == "mod", "{file} has no row");
        }
    }
}

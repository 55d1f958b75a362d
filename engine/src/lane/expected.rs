//! Elementwise ops against what PyTorch gives (`testdata/elementwise.json`).

use serde_json::Value;

use crate::cpu::alloc::Bytes;
use crate::cpu::features::Isa;
use crate::cpu::view::{OutView, View};
use crate::dtype::Format;
use crate::{Attr, Attrs, DType, Layout, Shape, Tensor, apply_one, functional, ops, with_size};

use super::program::build_for;
use super::{Ref, Source, Step, run};

/// Ops whose result no rounding step before the last can change.
const EXACT: &[&str] = &[
    "abs",
    "neg",
    "sign",
    "square",
    "relu",
    "floor",
    "ceil",
    "trunc",
    "round",
    "clone",
    "to",
    "clamp",
    "add",
    "sub",
    "mul",
    "div",
    "sqrt",
    "floor_divide",
    "remainder",
    "fmod",
    "maximum",
    "minimum",
    "where",
    "relu6",
    "hardtanh",
    "reciprocal",
];
/// Functions on their own, held to 4 units in the last place in float32.
const TIGHT: &[&str] = &[
    "exp", "expm1", "exp2", "log", "log1p", "log2", "log10", "rsqrt", "sin", "cos", "tan", "asin",
    "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "sigmoid", "erf", "pow",
    "atan2",
];

pub(crate) struct Case {
    pub(crate) op: String,
    pub(crate) attrs: Attrs,
    pub(crate) inputs: Vec<Tensor>,
    pub(crate) dtype: DType,
    pub(crate) shape: Shape,
    pub(crate) expected: Vec<f64>,
}

fn tensor(value: &Value) -> Tensor {
    fn parse<T: std::str::FromStr>(text: &str) -> Vec<T> {
        text.split_whitespace().map(|it| it.parse().ok().expect(it)).collect()
    }
    let dtype = DType::parse(value["dtype"].as_str().unwrap()).unwrap();
    let sizes = value["shape"].as_array().unwrap();
    let shape: Shape = sizes.iter().map(|it| it.as_u64().unwrap() as usize).collect();
    let data = value["data"].as_str().unwrap();
    let exact = match dtype.is_float() {
        true => Tensor::from_vec(&parse::<f64>(data), shape),
        false => Tensor::from_vec(&parse::<i64>(data), shape),
    };
    functional::to(&exact.unwrap(), dtype).unwrap()
}

fn attr(value: &Value) -> Attr {
    match value {
        Value::Null => Attr::None,
        Value::Bool(it) => Attr::Bool(*it),
        Value::Number(it) => {
            it.as_i64().map_or_else(|| Attr::Float(it.as_f64().unwrap()), Attr::Int)
        }
        Value::String(it) => match DType::parse(it) {
            Some(dtype) => Attr::DType(dtype),
            None => Attr::Str(if it == "tanh" { "tanh" } else { "none" }),
        },
        other => panic!("{other} is no attribute"),
    }
}

pub(crate) fn cases() -> Vec<Case> {
    let text = include_str!("../../testdata/elementwise.json");
    let all: Vec<Value> = serde_json::from_str(text).unwrap();
    all.iter()
        .map(|it| {
            let op = it["op"].as_str().unwrap().to_owned();
            let row = ops::find(&op).unwrap_or_else(|| panic!("no op {op}"));
            let mut attrs: Attrs = it["attrs"].as_array().unwrap().iter().map(attr).collect();
            attrs.extend(row.default_attrs().into_iter().skip(attrs.len()));
            Case {
                op,
                attrs,
                inputs: it["inputs"].as_array().unwrap().iter().map(tensor).collect(),
                dtype: DType::parse(it["output"]["dtype"].as_str().unwrap()).unwrap(),
                shape: tensor(&it["output"]).shape().clone(),
                expected: tensor(&it["output"]).to_f64_vec().unwrap(),
            }
        })
        .collect()
}

/// Distance in units of the last place of a float dtype; 0 for two NaNs.
pub(super) fn ulps(dtype: DType, a: f64, b: f64) -> f64 {
    if a == b || a.is_nan() && b.is_nan() {
        return 0.0;
    }
    if !a.is_finite() || !b.is_finite() {
        return f64::INFINITY;
    }
    let format = dtype.format().unwrap_or(Format::F64);
    let (digits, least) = (format.digits(), format.least());
    let exponent = b.abs().max(f64::MIN_POSITIVE).log2().floor() as i32;
    (a - b).abs() / 2.0_f64.powi((exponent - digits).max(least))
}

fn close(case: &Case, got: f64, expected: f64) -> bool {
    let op = case.op.as_str();
    if !case.dtype.is_float() || EXACT.contains(&op) {
        return got == expected || got.is_nan() && expected.is_nan();
    }
    let distance = ulps(case.dtype, got, expected);
    if case.dtype.is_half() {
        return distance <= 1.0 || (got - expected).abs() <= 1e-6;
    }
    if TIGHT.contains(&op) {
        return distance <= 4.0;
    }
    let (relative, absolute) = if case.dtype == DType::F32 { (1e-5, 1e-6) } else { (1e-13, 1e-14) };
    distance <= 4.0 || (got - expected).abs() <= absolute + relative * expected.abs()
}

#[test]
fn every_op_agrees_with_pytorch() {
    let mut problems = Vec::new();
    for case in cases() {
        let row = ops::find(&case.op).unwrap();
        let res = match apply_one(row, &case.inputs, &case.attrs) {
            Ok(res) => res,
            Err(error) => {
                problems.push(format!("{}: {error}", case.op));
                continue;
            }
        };
        if res.dtype() != case.dtype {
            let dtypes: Vec<DType> = case.inputs.iter().map(Tensor::dtype).collect();
            problems.push(format!("{} of {dtypes:?} gave {}", case.op, res.dtype()));
            continue;
        }
        let got = res.to_f64_vec().unwrap();
        let inputs: Vec<Vec<f64>> = case.inputs.iter().map(|it| it.to_f64_vec().unwrap()).collect();
        for (idx, (&a, &b)) in got.iter().zip(&case.expected).enumerate() {
            if !close(&case, a, b) {
                let at: Vec<f64> = inputs.iter().map(|it| it[idx]).collect();
                problems.push(format!(
                    "{}{:?} {}: {at:?} -> {a:e}, not {b:e} ({:.1} ulp)",
                    case.op,
                    case.attrs,
                    case.dtype,
                    ulps(case.dtype, a, b)
                ));
            }
        }
    }
    let n_problems = problems.len();
    problems.truncate(60);
    assert!(problems.is_empty(), "{n_problems} differences:\n{}", problems.join("\n"));
}

#[test]
fn every_listed_op_has_expected_values() {
    let cases = cases();
    let families = [ops::unary::ALL, ops::binary::ALL, ops::compare::ALL];
    for op in families.iter().flat_map(|it| it.iter()) {
        assert!(cases.iter().any(|it| it.op == op.name), "{} has no case", op.name);
        assert!(op.examples.len() >= 3, "{} has too few examples", op.name);
    }
}

/// The bytes of the result on an instruction set; every NaN as the same one.
fn bytes_on(isa: Isa, case: &Case) -> Vec<u64> {
    let row = ops::find(&case.op).unwrap();
    let refs: Vec<Ref> = (0..case.inputs.len()).map(Ref::Input).collect();
    let step = Step::new(row, &case.attrs, &refs, &case.inputs).unwrap();
    let dtypes: Vec<DType> = case.inputs.iter().map(Tensor::dtype).collect();
    let program = build_for(isa, &dtypes, &[step], &[Ref::Step(0)]).unwrap();
    let storages: Vec<_> = case.inputs.iter().map(|it| it.storage().unwrap()).collect();
    let views = case.inputs.iter().zip(&storages);
    let sources: Vec<Source<'_>> = views
        .map(|(it, bytes)| {
            Source::View(View::new(bytes.host().unwrap(), it.layout(), it.dtype()).unwrap())
        })
        .collect();
    let mut bytes = Bytes::uninit(case.expected.len() * case.dtype.size()).unwrap();
    let mut out = [OutView::new(&mut bytes, &case.shape, case.dtype).unwrap()];
    run(&program, &sources, &mut out, &program.param_values()).unwrap();
    match case.dtype.is_float() {
        true => {
            let layout = Layout::contiguous(case.shape.clone());
            let tensor = Tensor::stored(bytes, layout, case.dtype);
            tensor.to_f64_vec().unwrap().into_iter().map(float_bits).collect()
        }
        false => bytes_of(&mut out[0]),
    }
}

fn float_bits(value: f64) -> u64 {
    if value.is_nan() { u64::MAX } else { value.to_bits() }
}

fn bytes_of(out: &mut OutView<'_>) -> Vec<u64> {
    with_size!(out.dtype(), T => out.as_mut_slice::<T>().iter().map(|&it| it as u64).collect())
}

#[test]
fn instruction_sets_give_the_same_bits() {
    let elementwise = |it: &Case| ops::find(&it.op).is_some_and(|it| it.body.is_elementwise());
    for case in cases().into_iter().filter(elementwise) {
        let portable = bytes_on(Isa::Portable, &case);
        for isa in Isa::available() {
            assert_eq!(bytes_on(isa, &case), portable, "{} {} {isa:?}", case.op, case.dtype);
        }
    }
}

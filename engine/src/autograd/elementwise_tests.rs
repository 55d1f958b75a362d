//! Derived gradients against finite differences in float64.

use crate::lane::{ElementwiseGrad, grad_op};
use crate::op::Grad;
use crate::{Attrs, OpDef, Shape, Tensor, apply_one, ops};

use super::elementwise::elementwise_grad;

/// Where the inputs of an op are drawn from; away from kinks and poles.
fn domain(op: &str) -> (f64, f64) {
    match op {
        "lgamma" | "digamma" | "_trigamma" => (0.3, 2.4),
        "xlogy" | "log" | "log2" | "log10" | "sqrt" | "rsqrt" | "pow" | "hypot" => (0.3, 2.0),
        "acosh" => (1.2, 3.0),
        "asin" | "acos" | "atanh" | "erfinv" => (-0.9, 0.9),
        "hardsigmoid" | "hardswish" => (-2.9, 2.9),
        "relu6" => (0.3, 5.0),
        "log1p" => (-0.5, 2.0),
        "tan" => (-1.2, 1.2),
        _ => (-2.45, 2.4),
    }
}

/// Numbers that look random; seeds give different ones.
fn inputs(op: &'static OpDef, n: usize) -> Vec<Tensor> {
    let name = op.name.split('.').next().unwrap();
    let (low, high) = domain(name);
    let draw = |seed: usize, low: f64, high: f64| {
        let at = |idx: usize| ((idx * 37 + seed * 11 + 5) as f64 * 0.618_033_988_749).fract();
        let values: Vec<f64> = (0..13).map(|it| low + (high - low) * at(it)).collect();
        Tensor::from_vec(&values, Shape::from([13])).unwrap()
    };
    let from_dy = name != op.name;
    (0..n)
        .map(|it| if from_dy && it == 0 { draw(9, -1.0, 1.0) } else { draw(it, low, high) })
        .collect()
}

fn shifted(x: &Tensor, by: f64) -> Tensor {
    let values: Vec<f64> = x.to_f64_vec().unwrap().iter().map(|it| it + by).collect();
    Tensor::from_vec(&values, x.shape().clone()).unwrap()
}

fn check(op: &'static OpDef, attrs: &Attrs) {
    let inputs = inputs(op, op.n_tensors());
    for input in 0..inputs.len() {
        let dy = shifted(&inputs[0], 0.5);
        let result = apply_one(op, &inputs, attrs).unwrap();
        let dx = elementwise_grad(op, (&inputs, &result), attrs, &dy, input);
        let dx = dx.unwrap().to_f64_vec().unwrap();
        let at = |by: f64| {
            let mut moved = inputs.clone();
            moved[input] = shifted(&inputs[input], by);
            apply_one(op, &moved, attrs).unwrap().to_f64_vec().unwrap()
        };
        let step = 1e-5;
        let (above, below) = (at(step), at(-step));
        let dy = dy.to_f64_vec().unwrap();
        for idx in 0..dx.len() {
            let expected = dy[idx] * (above[idx] - below[idx]) / (2.0 * step);
            let distance = (dx[idx] - expected).abs();
            let x: Vec<f64> = inputs.iter().map(|it| it.to_f64_vec().unwrap()[idx]).collect();
            assert!(
                distance <= 1e-6 * (1.0 + expected.abs()),
                "{} for input {input} at {x:?}: {} not {expected}",
                op.name,
                dx[idx]
            );
        }
    }
}

fn differentiable() -> impl Iterator<Item = &'static OpDef> {
    let smooth = |it: &&OpDef| matches!(it.grad, Grad::Derived) && it.body.is_elementwise();
    // Rounding, and what chooses, has no derivative for some input that differences could see.
    let odd = ["to", "where", "masked_fill", "floor_divide"];
    ops::all().filter(smooth).filter(move |it| !odd.contains(&it.name))
}

#[test]
fn first_derivatives_match_differences() {
    differentiable().for_each(|op| check(op, &op.default_attrs()));
}

#[test]
fn second_derivatives_match_differences() {
    for op in differentiable() {
        for input in 0..op.n_tensors() {
            let name = format!("{}.grad{input}", op.name);
            let row = ops::find(&name).unwrap_or_else(|| panic!("no op {name}"));
            assert_eq!(row.name, name);
            check(row, &op.default_attrs());
            let in_use = grad_op(op, &op.default_attrs(), input).unwrap();
            if let ElementwiseGrad::Op { op: in_use, .. } = in_use {
                assert!(std::ptr::eq(ops::find(in_use.name).unwrap(), in_use));
                check(in_use, &op.default_attrs());
            }
        }
    }
}

/// What PyTorch chooses where there is no derivative.
#[test]
fn kinks_follow_pytorch() {
    let at = |op: &str, values: &[f64], others: &[f64], input: usize| -> Vec<f64> {
        let op = ops::find(op).unwrap();
        let tensor = |it: &[f64]| Tensor::from_vec(it, Shape::from([it.len()])).unwrap();
        let mut inputs = vec![tensor(values)];
        if op.n_tensors() > 1 {
            inputs.push(tensor(others));
        }
        let dy = tensor(&vec![1.0; values.len()]);
        let result = apply_one(op, &inputs, &op.default_attrs()).unwrap();
        elementwise_grad(op, (&inputs, &result), &op.default_attrs(), &dy, input)
            .unwrap()
            .to_f64_vec()
            .unwrap()
    };
    assert_eq!(at("relu", &[0.0, -1.0, 1.0], &[], 0), [0.0, 0.0, 1.0]);
    assert_eq!(at("abs", &[0.0, -2.0], &[], 0), [0.0, -1.0]);
    assert_eq!(at("sqrt", &[0.0], &[], 0), [f64::INFINITY]);
    assert_eq!(at("maximum", &[1.0, 2.0, 3.0], &[1.0, 3.0, 2.0], 0), [0.5, 0.0, 1.0]);
    assert_eq!(at("minimum", &[1.0, 2.0, 3.0], &[1.0, 3.0, 2.0], 1), [0.5, 0.0, 1.0]);
    assert_eq!(at("pow", &[0.0, 0.0, 2.0], &[0.0, 2.0, 3.0], 0), [0.0, 0.0, 12.0]);
    assert_eq!(at("pow", &[0.0, 0.0], &[0.0, 2.0], 1), [0.0, 0.0]);
    assert_eq!(at("relu6", &[0.0, 6.0, 3.0], &[], 0), [0.0, 0.0, 1.0]);
    assert_eq!(at("hardsigmoid", &[-3.0, 3.0], &[], 0), [0.0, 0.0]);
    assert_eq!(at("floor", &[0.5, 1.0], &[], 0), [0.0, 0.0]);
    assert_eq!(at("atan2", &[0.0], &[0.0], 0), [0.0]);
    assert_eq!(at("xlogy", &[0.0, 0.0], &[2.0, 1.0], 0), [std::f64::consts::LN_2, 0.0]);
}

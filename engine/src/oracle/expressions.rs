//! Lane programs against the expressions that they come from: every elementwise row and its gradients, in every dtype, on numbers at
//! the ends of what it holds.

use super::scalar::{Reading, readings};
use crate::attr::Attr;
use crate::lane::{self, ElementwiseGrad, expr_of};
use crate::meaning::Array;
use crate::op::{Body, InferCx, ParamKind};
use crate::{Attrs, DType, Error, OpDef, Shape, Tensor, apply_one, ops, rules};

/// Numbers at which kernels go wrong.
fn awkward(dtype: DType) -> Vec<Tensor> {
    let tensor = |all: Vec<f64>| {
        let shape = Shape::from([all.len()]);
        Tensor::from_converted(&all, shape, dtype).unwrap()
    };
    let Some((least, most)) = dtype.int_range() else {
        let tiny = dtype.nearest(if dtype == DType::F64 { 5e-324 } else { 6e-8 });
        let (most, inf) = (dtype.largest(), f64::INFINITY);
        let mut all = vec![0.0, tiny, 1e-5, 0.3, 0.5, 1.0, 1.5, 2.5, 7.3, 88.8, 1e4, most, inf];
        all.extend(all.clone().iter().map(|it| -it));
        all.push(f64::NAN);
        return vec![tensor(all)];
    };
    let ints = |all: Vec<i64>| {
        let all: Vec<i64> = all.into_iter().filter(|it| (least..=most).contains(it)).collect();
        Tensor::from_converted(&all, Shape::from([all.len()]), dtype).unwrap()
    };
    let all = vec![0, 1, 2, 3, 7, 31, 63, 100, most - 1, most, -1, -2, -7, least + 1, least];
    let divisors = all.iter().copied().filter(|it| *it != 0).collect();
    let positive = all.iter().copied().filter(|it| *it > 0).collect();
    vec![ints(all), ints(divisors), ints(positive)]
}

/// Each input along a dimension of its own, so that all combinations meet. Ops that refuse some second operands get others.
fn operands(op: &'static OpDef, dtypes: &[DType], attrs: &Attrs) -> Option<Vec<Tensor>> {
    (0..3).find_map(|kind| {
        let one = |(idx, dtype): (usize, &DType)| {
            let mut all = awkward(*dtype);
            let x = all.swap_remove(if idx == 0 { 0 } else { kind.min(all.len() - 1) });
            let shape: Shape =
                (0..dtypes.len()).map(|it| if it == idx { x.numel() } else { 1 }).collect();
            crate::functional::reshape(&x, &shape).unwrap()
        };
        let inputs: Vec<Tensor> = dtypes.iter().enumerate().map(one).collect();
        apply_one(op, &inputs, attrs).is_ok().then_some(inputs)
    })
}

/// Attributes that a row has no default for.
fn attrs_of(op: &OpDef) -> Attrs {
    let own = |(param, attr): (&crate::op::Param, Attr)| match (attr, param.kind) {
        (Attr::None, ParamKind::Float | ParamKind::OptFloat) => Attr::Float(0.75),
        (Attr::None, ParamKind::Int | ParamKind::OptInt) => Attr::Int(2),
        (Attr::None, ParamKind::DType) => Attr::DType(DType::F16),
        (attr, _) => attr,
    };
    op.attr_params().zip(op.default_attrs()).map(own).collect()
}

/// The first element that is not what the expression gives.
fn problem(op: &'static OpDef, inputs: &[Tensor], attrs: &Attrs) -> Option<String> {
    let kinds: Vec<String> = inputs.iter().map(|it| it.meta().to_string()).collect();
    let title = || format!("{}({})", op.name, kinds.join(", "));
    let got = match apply_one(op, inputs, attrs) {
        Ok(got) => got,
        Err(Error::DType { .. } | Error::DTypes { .. }) => return None,
        Err(error) => return Some(format!("{}: {error}", title())),
    };
    let want = super::results(op, inputs, attrs).unwrap().remove(0);
    let (compute, out) = rules::elementwise_dtypes(&InferCx { op, inputs, attrs }).unwrap();
    let found = super::array_of(&got).unwrap();
    if !compute.is_float() || !out.is_float() {
        // What a float outside becomes as an integer is nobody's business.
        let is_defined = !compute.is_float() || out == DType::Bool;
        let want = want.rounded(out);
        return (is_defined && found != want)
            .then(|| format!("{}: {found:?} instead of {want:?}", title()));
    }
    let arrays: Vec<Array> =
        inputs.iter().map(|it| super::array_of(it).unwrap().expanded(found.shape())).collect();
    let wants = readings(&expr_of(op, attrs)?, inputs, &arrays, attrs, [compute, out]);
    let found = found.floats();
    let far = |(got, want): &(&f64, &Reading)| !want.admits(**got, out);
    let at = found.iter().zip(&wants).position(|it| far(&it))?;
    let (got, want) = (found.iter().nth(at)?, wants.iter().nth(at)?);
    let operands: Vec<f64> =
        arrays.iter().filter_map(|it| it.floats().iter().nth(at).copied()).collect();
    Some(format!("{}{operands:?}: {got:e} instead of {want:?}", title()))
}

/// The row and its gradients for each input, by what it was applied to and as a tape has it.
fn with_gradients(op: &'static OpDef) -> impl Iterator<Item = &'static OpDef> {
    let grad = move |it| ops::find(&format!("{}.grad{it}", op.name));
    let in_use = move |it| match lane::grad_op(op, &op.default_attrs(), it) {
        Ok(ElementwiseGrad::Op { op, .. }) => Some(op),
        _ => None,
    };
    let inputs = 0..op.n_tensors();
    std::iter::once(op).chain(inputs.flat_map(move |it| grad(it).into_iter().chain(in_use(it))))
}

#[test]
fn lane_programs_give_what_expressions_mean() {
    let (mut n_checked, mut problems) = (0, Vec::new());
    let rows = ops::all().filter(|it| it.body.is_elementwise());
    for op in rows.flat_map(with_gradients) {
        let attrs = attrs_of(op);
        let is_gradient = matches!(op.body, Body::GradOf(_));
        let dtypes = DType::REAL.into_iter().enumerate();
        for (idx, dtype) in dtypes.filter(|it| it.1.is_float() || !is_gradient) {
            for step in [0, 4] {
                let other = DType::REAL[(idx + step) % DType::REAL.len()];
                let dtypes: Vec<DType> =
                    (0..op.n_tensors()).map(|it| if it == 1 { other } else { dtype }).collect();
                if let Some(inputs) = operands(op, &dtypes, &attrs) {
                    n_checked += 1;
                    problems.extend(problem(op, &inputs, &attrs));
                }
            }
            for number in [Tensor::number(0.1), Tensor::int_number(3)] {
                if let Some(mut inputs) = operands(op, &vec![dtype; op.n_tensors()], &attrs)
                    && inputs.len() == 2
                {
                    inputs[1] = number;
                    n_checked += 1;
                    problems.extend(problem(op, &inputs, &attrs));
                }
            }
        }
    }
    println!("{n_checked} programs");
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

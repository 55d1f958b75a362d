//! Ops by name, and numbers out of tensors: what the operators of ONNX are written with.

use crate::{
    Attr, Attrs, DType, Error, Outputs, Result, Shape, Tensor, apply, apply_one, functional, ops,
};

/// The op of this name on tensors, with its first attributes; the others keep their defaults.
pub(super) fn call(name: &'static str, inputs: &[&Tensor], attrs: &[Attr]) -> Result<Tensor> {
    let inputs: Vec<Tensor> = inputs.iter().map(|&it| it.clone()).collect();
    let (op, attrs) = row(name, attrs)?;
    apply_one(op, &inputs, &attrs)
}

/// As [`call`], all outputs.
pub(super) fn call_all(name: &'static str, inputs: &[&Tensor], attrs: &[Attr]) -> Result<Outputs> {
    let inputs: Vec<Tensor> = inputs.iter().map(|&it| it.clone()).collect();
    let (op, attrs) = row(name, attrs)?;
    apply(op, &inputs, &attrs)
}

fn row(name: &'static str, attrs: &[Attr]) -> Result<(&'static crate::OpDef, Attrs)> {
    let op = ops::find(name).ok_or(Error::Attr {
        op: name,
        name: "op",
        problem: "is not in the op list".into(),
    })?;
    let mut all = op.default_attrs();
    for (slot, attr) in all.iter_mut().zip(attrs) {
        slot.clone_from(attr);
    }
    Ok((op, all))
}

/// The elements as whole numbers.
pub(super) fn whole_numbers(x: &Tensor) -> Result<Vec<i64>> {
    if x.dtype() == DType::I64 { x.to_vec() } else { functional::to(x, DType::I64)?.to_vec() }
}

/// Whole numbers as a tensor of one dimension.
pub(super) fn of_ints(values: &[i64]) -> Result<Tensor> {
    Tensor::from_vec(values, Shape::from([values.len()]))
}

/// A whole number as a tensor without dimensions.
pub(super) fn scalar(value: i64) -> Result<Tensor> {
    Tensor::from_vec(&[value], Shape::default())
}

/// A tensor of these sizes, all elements one value.
pub(super) fn full(sizes: &[usize], value: f64, dtype: DType) -> Result<Tensor> {
    functional::full(&Shape::new(sizes), value, dtype)
}

pub(super) fn reshape(x: &Tensor, sizes: &[usize]) -> Result<Tensor> {
    functional::reshape(x, &Shape::new(sizes))
}

pub(super) fn expand(x: &Tensor, sizes: &[usize]) -> Result<Tensor> {
    functional::expand(x, &Shape::new(sizes))
}

/// 0, 1 .. below `n`, as whole numbers.
pub(super) fn count(n: usize) -> Result<Tensor> {
    let attrs = [Attr::Float(n as f64), Attr::None, Attr::Int(1), Attr::DType(DType::I64)];
    call("arange", &[], &attrs)
}

/// Places along a dimension of `size`, those counted from the end made to count from the front.
pub(super) fn from_front(index: &Tensor, size: usize) -> Result<Tensor> {
    let index = functional::to(index, DType::I64)?;
    let (zero, size) = (scalar(0)?, scalar(size as i64)?);
    let negative = functional::lt(&index, &zero)?;
    functional::select_where(&negative, &functional::add(&index, &size)?, &index)
}

/// Sizes as whole numbers.
pub(super) fn sizes(values: &[usize]) -> Vec<i64> {
    values.iter().map(|&it| it as i64).collect()
}

//! `a[...]` and `a[...] = b` of arrays: as tensors, with NumPy's numbers where all dimensions are given, and NumPy's errors.

use engine::index::Index;
use engine::{DType, Error, Tensor};

use super::{make, scalar, view_of};
use crate::check::unknown::kind_of;
use crate::native::*;
use crate::objects::tensor::{TensorObj, View};
use crate::tensor::convert::{self, variable};
use crate::tensor::index::{self, each_row};
use crate::tensor::{arith, journal};

const KEYS: &str = "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid indices";

/// `this[key]`: a view where the key has only ints and slices, a number where no dimension is left, else a copy.
pub fn get(cx: &mut Cx, this: &Value, key: &Value) -> Res {
    let object = variable(this)?;
    let value = object.get();
    if let Some(element) = element(&value, key)? {
        return Ok(element);
    }
    let index = read(cx, key)?;
    check_masks(&value, &index)?;
    let found = engine::index::get(&value, &index).map_err(|it| said(it, &value))?;
    let whole = found.rank() == 0 && !index.iter().any(|it| matches!(it, Index::Ellipsis));
    if whole {
        return scalar::of(&found);
    }
    if index.iter().any(|it| matches!(it, Index::Tensor(_))) {
        return Ok(super::array(found));
    }
    Ok(view_of(object, View::Index(index), found))
}

/// One element, for a whole number per dimension: no view is made.
fn element(value: &Tensor, key: &Value) -> Res2 {
    let at = |key: &Value, dim: usize| -> Result<Option<isize>, Raised> {
        let Value::Int(at) = key else { return Ok(None) };
        let size = value.shape()[dim];
        match crate::operate::container::place(*at, size) {
            Some(place) => Ok(Some(place as isize * value.layout().strides[dim])),
            None => Err(out_of_bounds(*at, dim, size)),
        }
    };
    let step = match key {
        Value::Int(_) if value.rank() == 1 => at(key, 0)?,
        Value::Tuple(keys) if keys.len() == value.rank() && value.rank() == 2 => {
            if !matches!(&keys[..], [Value::Int(_), Value::Int(_)]) {
                return Ok(None);
            }
            match (at(&keys[0], 0)?, at(&keys[1], 1)?) {
                (Some(a), Some(b)) => Some(a + b),
                _ => None,
            }
        }
        _ => None,
    };
    match step {
        Some(_) if value.is_abstract() => Ok(Some(scalar::of(&abstract_number(value.dtype()))?)),
        Some(step) => read_one(value, step).map(Some),
        None => Ok(None),
    }
}

type Res2 = Result<Option<Value>, Raised>;

fn abstract_number(dtype: DType) -> Tensor {
    Tensor::abstract_of(engine::Meta::new(engine::Shape::default(), dtype))
}

fn read_one(value: &Tensor, step: isize) -> Res {
    let at = value.layout().offset.wrapping_add_signed(step);
    let number = value.with_view(|view| view.number_at(at))?;
    let number = number.ok_or_else(|| index_error("index is out of bounds"))?;
    Ok(scalar::make(value.dtype(), number))
}

/// `this[key] = value`: broadcast, and converted to the dtype of the array.
pub fn set(cx: &mut Cx, this: &Value, key: &Value, value: &Value) -> Result<(), Raised> {
    let object = variable(this)?;
    let index = read(cx, key)?;
    check_masks(&object.get(), &index)?;
    let mut value = match convert::operand(value) {
        Some(value) => value,
        None => make::tensor(cx, value, None)?,
    };
    if object.refuses_in_place().is_none() {
        journal::value_changes(object);
        // What is wrong is said below, in NumPy's words.
        if matches!(object.set_in_place(&index, &value), Ok(true)) {
            return Ok(());
        }
        if let Some(copy) = object.apart(&value)? {
            value = copy;
            if matches!(object.set_in_place(&index, &value), Ok(true)) {
                return Ok(());
            }
        }
    }
    let before = object.get();
    let res = engine::index::set(&before, &index, &value).map_err(|it| match it {
        Error::Shapes { .. } => could_not_broadcast(&before, &index, &value, it),
        other => said(other, &before),
    })?;
    arith::assign(this, res)
}

fn could_not_broadcast(before: &Tensor, index: &[Index], value: &Tensor, error: Error) -> Raised {
    let Ok(target) = engine::index::get(before, index) else { return super::error(error) };
    if let ([Index::Tensor(mask)], [size]) = (index, &value.shape()[..])
        && mask.dtype() == DType::Bool
    {
        return value_error(format!(
            "NumPy boolean array indexing assignment cannot assign {size} input values to the {} output values where the mask is true",
            target.shape().first().copied().unwrap_or(0)
        ));
    }
    let (from, to) = (super::shape_text(value.shape()), super::shape_text(target.shape()));
    value_error(format!("could not broadcast input array from shape {from} into shape {to}"))
}

/// The rows of an array, one after the other; of one dimension, its numbers.
pub fn rows(cx: &mut Cx, this: &Value) -> Res {
    each_row(cx, this, |object, at| {
        let value = object.get();
        if let Some(number) = element(&value, &Value::Int(at as i64))? {
            return Ok(number);
        }
        let index = vec![Index::Int(at as i64)];
        let row = engine::index::get(&value, &index)?;
        Ok(view_of(object, View::Index(index), row))
    })
}

/// Whether `item` is one of the elements.
pub fn contains(cx: &mut Cx, object: &TensorObj, item: &Value) -> Result<bool, Raised> {
    let item = match item {
        Value::List(_) | Value::Tuple(_) => Value::tensor(make::tensor(cx, item, None)?),
        other => other.clone(),
    };
    arith::contains(&object.get(), &item)
}

fn read(cx: &mut Cx, key: &Value) -> Result<Vec<Index>, Raised> {
    match key {
        Value::Tuple(items) => items.iter().map(|it| one(cx, it)).collect(),
        other => Ok(vec![one(cx, other)?]),
    }
}

fn one(cx: &mut Cx, key: &Value) -> Result<Index, Raised> {
    let key = if scalar::dtype_of(key).is_some() { key.core() } else { key };
    match key {
        Value::Float(_) | Value::Str(_) | Value::Dict(_) | Value::Set(_) => Err(index_error(KEYS)),
        Value::Tensor(it) if it.get().dtype().is_float() => {
            Err(index_error("arrays used as indices must be of integer (or boolean) type"))
        }
        Value::Tensor(it) if it.get().dtype() == DType::U8 => {
            Ok(Index::Tensor(convert::cast(&it.get(), Some(DType::I64))?))
        }
        Value::Tuple(_) => {
            let list = cx.collect(key)?;
            index::one(cx, &Value::list(list))
        }
        _ => index::one(cx, key).map_err(|raised| match kind_of(key) {
            None if raised.is(&INDEX_ERROR) => index_error(KEYS),
            _ => raised,
        }),
    }
}

/// Masks have the sizes of the dimensions that they stand for.
fn check_masks(value: &Tensor, index: &[Index]) -> Result<(), Raised> {
    let mut dim = 0;
    for entry in index {
        match entry {
            Index::NewAxis => {}
            Index::Ellipsis => return Ok(()),
            Index::Tensor(mask) if mask.dtype() == DType::Bool => {
                for &size in mask.shape().iter() {
                    let have = value.shape().get(dim).copied().unwrap_or(0);
                    if size != have && dim < value.rank() {
                        return Err(index_error(format!(
                            "boolean index did not match indexed array along axis {dim}; size of axis is {have} but size of \
                             corresponding boolean axis is {size}"
                        )));
                    }
                    dim += 1;
                }
            }
            _ => dim += 1,
        }
    }
    Ok(())
}

fn out_of_bounds(index: i64, dim: usize, size: usize) -> Raised {
    index_error(format!("index {index} is out of bounds for axis {dim} with size {size}"))
}

/// The error of an index in NumPy's words.
fn said(error: Error, value: &Tensor) -> Raised {
    match error {
        Error::IndexRange { index, size, dim, .. } => {
            // The engine drops dimensions as it goes.
            let dim = (dim..value.rank()).find(|it| value.shape()[*it] == size).unwrap_or(dim);
            out_of_bounds(index, dim, size)
        }
        Error::Shapes { rule, .. } if rule.starts_with("too many indices") => {
            let count: String = rule.chars().filter(char::is_ascii_digit).take(1).collect();
            index_error(format!(
                "too many indices for array: array is {}-dimensional, but {count} were indexed",
                value.rank()
            ))
        }
        Error::Shapes { .. } => index_error(error.to_string()),
        other => super::error(other),
    }
}

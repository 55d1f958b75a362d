//! `x[...]` and `x[...] = y`.

use std::rc::Rc;

use engine::index::Index;
use engine::{DType, Tensor};

use super::convert::{self, operand, variable};
use super::journal;
use crate::check::unknown::{Kind, kind_of};
use crate::cx::Mode;
use crate::native::*;
use crate::objects::iterator::{Iter, Step};
use crate::objects::tensor::{TensorObj, View};

/// `this[key]`; a view of `this` when the key has no tensors.
pub fn get(cx: &mut Cx, this: &Value, key: &Value) -> Res {
    let object = variable(this)?;
    let index = read(cx, key)?;
    forwards(object, &index)?;
    let value = engine::index::get(&object.get(), &index)?;
    if index.iter().any(|it| matches!(it, Index::Tensor(_))) {
        return Ok(Value::tensor(value));
    }
    Ok(Value::Tensor(TensorObj::view_of(object, View::Index(index), value)))
}

/// `this[key] = value`.
pub fn set(cx: &mut Cx, this: &Value, key: &Value, value: &Value) -> Result<(), Raised> {
    let object = variable(this)?;
    if matches!(key, Value::Bool(false)) {
        return Ok(());
    }
    let index = read(cx, key)?;
    forwards(object, &index)?;
    let mut value = match operand(value) {
        Some(value) => {
            of_one_dtype(object, &index, &value)?;
            value
        }
        None => convert::from_data(cx, value, None)?,
    };
    let dtype = object.seen().dtype();
    super::lost_part::casting(cx, &value, dtype)?;
    if object.refuses_in_place().is_none() {
        journal::value_changes(object);
        match object.write_in_place(&index, value)? {
            Some(left) => value = left,
            None => return Ok(()),
        }
        if object.set_below(&index, &value)? {
            return Ok(());
        }
    }
    let res = engine::index::set(&object.get(), &index, &value)?;
    super::arith::assign(this, res)
}

/// Refuses a tensor that is placed by tensors of indices and has another dtype, as PyTorch does. Slices and single indices convert it, and so do
/// masks one element.
fn of_one_dtype(object: &TensorObj, index: &[Index], value: &Tensor) -> Result<(), Raised> {
    let dtype = object.seen().dtype();
    let places = |it: &Index| match it {
        Index::Tensor(it) if it.dtype() == DType::Bool => value.numel() != 1,
        Index::Tensor(it) => it.rank() > 0,
        _ => false,
    };
    let is_number = value.as_number().is_some() || value.dtype() == dtype;
    if is_number || object.is_array() || !index.iter().any(places) {
        return Ok(());
    }
    let problem = format!(
        "Index put requires the source and destination dtypes match, got {dtype} for the destination and {} for the source.",
        value.dtype()
    );
    let help = format!("convert the values: `.to(torch.{dtype})`");
    Err(Raised::new(&RUNTIME_ERROR, problem).with_help(Some(help)))
}

/// Slices of tensors go forwards, other than those of arrays.
fn forwards(object: &TensorObj, index: &[Index]) -> Result<(), Raised> {
    let is_back = |it: &Index| matches!(it, Index::Slice { step: Some(step), .. } if *step <= 0);
    if object.is_array() || !index.iter().any(is_back) {
        return Ok(());
    }
    Err(value_error("step must be greater than zero")
        .with_help(Some("`x.flip(0)` has the rows of `x` in reverse order".into())))
}

/// The rows of a tensor, one after the other.
pub fn rows(cx: &mut Cx, this: &Value) -> Res {
    each_row(cx, this, |object, at| {
        let index = vec![Index::Int(at as i64)];
        let row = engine::index::get(&object.get(), &index)?;
        Ok(Value::Tensor(TensorObj::view_of(object, View::Index(index), row)))
    })
}

/// What `row` makes of a tensor, or an array, and each place along its first dimension.
pub(crate) fn each_row(cx: &mut Cx, this: &Value, row: RowOf) -> Res {
    let object = variable(this)?.clone();
    let Some(&size) = object.get().shape().first() else {
        let kind = if object.is_array() { "array" } else { "tensor" };
        return Err(type_error(format!("iteration over a 0-d {kind}")));
    };
    let rows = Rows { object, row, next: 0, size };
    if cx.mode != Mode::Shadow {
        return Ok(Value::iter(Iter::custom(rows)));
    }
    // A check looks at the last one early.
    let rows = (0..cx.rows_to_look_at(size)).map(|at| row(&rows.object, at));
    Ok(Value::iter(Iter::items(rows.collect::<Result<_, _>>()?)))
}

type RowOf = fn(&Rc<TensorObj>, usize) -> Res;

struct Rows {
    object: Rc<TensorObj>,
    row: RowOf,
    next: usize,
    size: usize,
}

impl Step for Rows {
    fn step(&mut self, _cx: &mut Cx) -> Result<Option<Value>, Raised> {
        if self.next == self.size {
            return Ok(None);
        }
        self.next += 1;
        (self.row)(&self.object, self.next - 1).map(Some)
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Value)) {
        visit(&Value::Tensor(self.object.clone()));
    }
}

fn read(cx: &mut Cx, key: &Value) -> Result<Vec<Index>, Raised> {
    match key {
        Value::Tuple(items) => items.iter().map(|it| one(cx, it)).collect(),
        Value::List(list) if is_several(&list.items.borrow()) => {
            let items = list.items.borrow().clone();
            items.iter().map(|it| one(cx, it)).collect()
        }
        other => Ok(vec![one(cx, other)?]),
    }
}

/// Whether the items of a list are an index each, as in a tuple: PyTorch reads so a short list in which one is no number.
fn is_several(items: &[Value]) -> bool {
    let is_index = |it: &Value| {
        matches!(
            it,
            Value::Tensor(_)
                | Value::List(_)
                | Value::Tuple(_)
                | Value::Range(_)
                | Value::Slice(_)
                | Value::Ellipsis
                | Value::None
        )
    };
    items.len() < 32 && items.iter().any(is_index)
}

pub(crate) fn one(cx: &mut Cx, key: &Value) -> Result<Index, Raised> {
    if let Some(array) = convert::array_of(cx, key)? {
        return one(cx, &array);
    }
    Ok(match key {
        Value::Int(at) => Index::Int(*at),
        Value::Bool(it) => Index::Tensor(Tensor::from_bools(&[*it], engine::Shape::default())?),
        Value::None => Index::NewAxis,
        Value::Ellipsis => Index::Ellipsis,
        Value::Slice(it) => Index::Slice {
            start: bound(&it.start)?,
            stop: bound(&it.stop)?,
            step: bound(&it.step)?,
        },
        Value::Tensor(it) => tensor(it)?,
        Value::List(_) | Value::Range(_) => Index::Tensor(list(cx, key)?),
        Value::Tuple(items) => Index::Tensor(list(cx, &Value::list(items.to_vec()))?),
        other => match other.as_int() {
            Some(at) => Index::Int(at),
            // Any row has the shape of the first.
            None if kind_of(other) == Some(Kind::Int) => Index::Int(0),
            None if other.as_str().is_some() => {
                return Err(type_error(
                    "tensors are indexed with ints, slices, None, ..., tensors and lists, not with str",
                ));
            }
            None => {
                return Err(index_error(format!(
                    "tensors are indexed with ints, slices, None, ..., tensors and lists, not with {}",
                    type_name(other)
                )));
            }
        },
    })
}

/// A whole number of rank 0 counts as an int; uint8 elements say which ones are meant, as bools do.
fn tensor(object: &Rc<TensorObj>) -> Result<Index, Raised> {
    let value = object.get();
    if value.rank() == 0 && value.dtype().is_int() && !value.is_abstract() {
        return Ok(Index::Int(value.item()?.as_i64()));
    }
    if value.dtype() == DType::U8 && value.rank() > 0 {
        return Ok(Index::Tensor(convert::cast(&value, Some(DType::Bool))?));
    }
    Ok(Index::Tensor(value))
}

fn list(cx: &mut Cx, key: &Value) -> Result<Tensor, Raised> {
    let value = convert::from_data(cx, key, None)?;
    if value.numel() == 0 {
        return convert::cast(&value, Some(DType::I64));
    }
    Ok(value)
}

fn bound(value: &Value) -> Result<Option<i64>, Raised> {
    match value {
        Value::None => Ok(None),
        other => other
            .as_int()
            .or_else(|| other.as_native().and_then(|it| it.as_index()))
            .map(Some)
            .ok_or_else(|| {
                type_error(format!("slice bounds must be integers, not {}", type_name(other)))
            }),
    }
}

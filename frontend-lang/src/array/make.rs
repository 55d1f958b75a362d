//! Arrays from what programs write: numbers, nested lists, arrays, tensors.

use std::rc::Rc;

use engine::{DType, Tensor};

use super::{dtype, readable, scalar, seen_as};
use crate::check::unknown::kind_of;
use crate::native::*;
use crate::objects::tensor::{Look, TensorObj};
use crate::tensor::convert;

/// How deep in tuples and lists tensors are looked for.
const MOST_NESTED: usize = 4;

/// The elements that a value holds, with NumPy's dtypes: floats are float64, whole numbers int64.
pub fn tensor(cx: &mut Cx, value: &Value, wanted: Option<DType>) -> Result<Tensor, Raised> {
    if let Value::Tensor(it) = value {
        readable(cx, it)?;
        return convert::cast(&it.get().detach(), wanted);
    }
    if let Some(array) = convert::array_of(cx, value)? {
        return tensor(cx, &array, wanted);
    }
    if let Some(dtype) = scalar::dtype_of(value) {
        let dtype = wanted.unwrap_or(dtype);
        return convert::from_data(cx, value.core(), Some(dtype));
    }
    items_readable(cx, value, MOST_NESTED)?;
    if let Some(about) = refused(value) {
        return Err(type_error(about));
    }
    convert::from_data_as(cx, value, wanted, DType::F64).map_err(|raised| {
        if !raised.is(&VALUE_ERROR) {
            return raised;
        }
        let shape = common_shape(value);
        let sizes: Vec<String> = shape.iter().map(ToString::to_string).collect();
        let comma = if shape.len() == 1 { "," } else { "" };
        value_error(format!(
            "setting an array element with a sequence. The requested array has an inhomogeneous shape after {} dimensions. \
             The detected shape was ({}{comma}) + inhomogeneous part.",
            shape.len(),
            sizes.join(", ")
        ))
    })
}

/// That NumPy may see the tensors among the items of lists.
fn items_readable(cx: &Cx, value: &Value, depth: usize) -> Result<(), Raised> {
    let check = |it: &Value| match it {
        Value::Tensor(it) => readable(cx, it),
        Value::List(_) | Value::Tuple(_) if depth > 0 => items_readable(cx, it, depth - 1),
        _ => Ok(()),
    };
    match value {
        Value::List(it) => it.items.borrow().iter().try_for_each(check),
        Value::Tuple(it) => it.iter().try_for_each(check),
        _ => Ok(()),
    }
}

/// The sizes that lists in lists have in common, outermost first.
fn common_shape(value: &Value) -> Vec<usize> {
    let parts = |value: &Value| match value {
        Value::List(it) => Some(it.items.borrow().clone()),
        Value::Tuple(it) => Some(it.to_vec()),
        _ => None,
    };
    let (mut level, mut shape) = (vec![value.clone()], Vec::new());
    loop {
        let Some(lists) = level.iter().map(parts).collect::<Option<Vec<_>>>() else { break };
        let Some(size) = lists.first().map(Vec::len) else { break };
        if shape.len() == 32 || lists.iter().any(|it| it.len() != size) {
            break;
        }
        shape.push(size);
        level = lists.into_iter().flatten().collect();
    }
    shape
}

/// What holds no numbers, and what to do with it.
fn refused(value: &Value) -> Option<String> {
    let what = match value {
        Value::Str(_) => "text",
        Value::Dict(_) => "a dict",
        Value::Set(_) => "a set",
        Value::None => "None",
        Value::List(it) if it.items.borrow().iter().any(|it| matches!(it, Value::Str(_))) => {
            "texts"
        }
        _ => return None,
    };
    Some(format!("arrays hold numbers here, not {what}; keep {what} in a list or a dict"))
}

/// `np.array(object, dtype, copy, ndmin)`: always a new array, unless `copy` is False.
pub(crate) fn array(cx: &mut Cx, args: Args<'_>) -> Res {
    let wanted = dtype::optional(&args[1])?;
    if matches!(args[2], Value::Bool(false) | Value::None) {
        return asarray(cx, &args[0], wanted);
    }
    let mut made = tensor(cx, &args[0], wanted)?;
    super::holdable(&made)?;
    if !made.layout().is_contiguous() {
        made = crate::tensor::methods::in_order(&made)?;
    }
    while (made.rank() as i64) < args.int(5)? {
        made = engine::functional::unsqueeze(&made, 0)?;
    }
    Ok(super::array(made))
}

/// `np.asarray(a)`: the array itself if it is one of this dtype, a tensor's elements seen as an array, else a new one.
pub fn asarray(cx: &mut Cx, value: &Value, wanted: Option<DType>) -> Res {
    if kind_of(value).is_some() {
        return Ok(value.clone());
    }
    match value {
        Value::Tensor(it) if wanted.is_none_or(|wanted| wanted == it.get().dtype()) => {
            readable(cx, it)?;
            Ok(if it.look() == Look::Array { value.clone() } else { seen_as(it, Look::Array) })
        }
        _ => {
            let made = tensor(cx, value, wanted)?;
            super::holdable(&made)?;
            Ok(super::array(made))
        }
    }
}

/// What functions made of tensors give, as arrays: alone, or in tuples and
/// lists of at most four levels. Tensors that nobody else holds are shown otherwise,
/// no matter what they look at.
pub fn made(value: &Value) -> Res {
    made_within(value, MOST_NESTED)
}

fn made_within(value: &Value, depth: usize) -> Res {
    match value.core() {
        _ if depth == 0 => Ok(value.clone()),
        Value::Tensor(it) if it.get().rank() == 0 => scalar::of(&it.get()),
        Value::Tensor(it) => Ok(relooked(it)),
        Value::Tuple(items) => {
            let items: Result<Vec<Value>, Raised> =
                items.iter().map(|it| made_within(it, depth - 1)).collect();
            Ok(Value::tuple(items?))
        }
        Value::List(items) => {
            let items = items.items.borrow().clone();
            let items: Result<Vec<Value>, Raised> =
                items.iter().map(|it| made_within(it, depth - 1)).collect();
            Ok(Value::list(items?))
        }
        _ => match convert::as_number(value) {
            Some(number) if scalar::dtype_of(value).is_none() => {
                let dtype = match number {
                    engine::Number::Bool(_) => DType::Bool,
                    engine::Number::Int(_) => DType::I64,
                    engine::Number::Float(_) => DType::F64,
                    engine::Number::Complex(..) => return Ok(value.clone()),
                };
                Ok(scalar::make(dtype, number))
            }
            _ => Ok(value.clone()),
        },
    }
}

fn relooked(object: &Rc<TensorObj>) -> Value {
    let value = object.get();
    if object.look() != Look::Array {
        if value.requires_grad() {
            return seen_as(object, Look::Array);
        }
        object.show_as(Look::Array);
    }
    Value::Tensor(object.clone())
}

//! Between values of the language and tensors.

use engine::apply::default_dtype;
use engine::dtype::Kind;
use engine::{DType, Number, Shape, Tensor};

use super::lost_part;
use crate::array::scalar;
use crate::builtins::modules::deque;
use crate::memory::{self, SLOT};
use crate::native::*;
use crate::objects::complex::Complex;
use crate::objects::number::new_nan;
use crate::objects::tensor::TensorObj;
use crate::patience::{self, Pace, tick};

/// A number as a value.
pub fn number(number: Number) -> Value {
    match number {
        Number::Bool(it) => Value::Bool(it),
        Number::Int(it) => Value::Int(it),
        Number::Float(it) => float(it),
        Number::Complex(real, imag) => Complex { real, imag }.into(),
    }
}

/// An element; each NaN is one of its own.
fn float(element: f64) -> Value {
    Value::Float(if element.is_nan() { new_nan().copysign(element) } else { element })
}

/// A number of the language as an operand: weak in promotion.
pub fn as_number(value: &Value) -> Option<Number> {
    Some(match value.core() {
        Value::Bool(it) => Number::Bool(*it),
        Value::Int(it) => Number::Int(*it),
        Value::Float(it) if it.is_nan() => Number::Float(f64::NAN.copysign(*it)),
        Value::Float(it) => Number::Float(*it),
        other => {
            let Complex { real, imag } = *other.downcast::<Complex>()?;
            Number::Complex(real, imag)
        }
    })
}

/// The tensor in a value, or a number as a weak tensor.
pub fn operand(value: &Value) -> Option<Tensor> {
    match value {
        Value::Tensor(it) => Some(it.get()),
        other => match as_number(other) {
            Some(number) => Some(Tensor::from_number(number)),
            None => crate::check::unknown::operand(other),
        },
    }
}

/// Sizes as a `torch.Size`.
pub fn sizes(shape: &[usize]) -> Value {
    super::named::size(shape.iter().map(|&it| Value::from(it)).collect())
}

/// A list of integers from an int, list, tuple or range.
pub fn ints(cx: &mut Cx, value: &Value) -> Result<Vec<i64>, Raised> {
    let int = |it: &Value| {
        it.as_int()
            .or_else(|| it.as_native().and_then(|it| it.as_index()))
            .ok_or_else(|| type_error(format!("expected whole numbers, got {}", type_name(it))))
    };
    match value.core() {
        Value::Tensor(tensor) if tensor.get().rank() == 1 => {
            Ok(tensor.get().to_f64_vec()?.into_iter().map(|it| it as i64).collect())
        }
        Value::List(_) | Value::Tuple(_) | Value::Range(_) | Value::Iter(_) => {
            cx.collect(value)?.iter().map(int).collect()
        }
        other => Ok(vec![int(other)?]),
    }
}

/// Numbers of nested lists, flattened, with the shape they have.
#[derive(Default)]
struct Nested {
    ints: Vec<i64>,
    floats: Vec<f64>,
    imags: Vec<f64>,
    shape: Vec<usize>,
    dtype: Option<DType>,
    /// Tensors inside lists keep their dtype; numbers get the default of their kind.
    from_tensor: bool,
    pace: Pace,
}

/// A tensor from a number, nested lists of numbers, or lists of tensors: `torch.tensor(data, dtype)`.
///
/// Without a dtype: bool, int64 or the default dtype by what the lists hold; ragged lists are an error.
pub fn from_data(cx: &mut Cx, data: &Value, dtype: Option<DType>) -> Result<Tensor, Raised> {
    from_data_as(cx, data, dtype, default_dtype::get())
}

/// As [`from_data`], with `floats` as the dtype of floats.
pub fn from_data_as(
    cx: &mut Cx,
    data: &Value,
    dtype: Option<DType>,
    floats: DType,
) -> Result<Tensor, Raised> {
    if let Value::Tensor(it) = data {
        return lost_part::cast(cx, &it.get().detach(), dtype);
    }
    if let Some(array) = array_of(cx, data)? {
        return from_data_as(cx, &array, dtype, floats);
    }
    let mut nested = Nested::default();
    nested.read(cx, data, 0)?;
    let found = nested.dtype.unwrap_or(floats);
    // Numbers of the language take the width of the floats that are the default.
    let dtype = match (dtype, found.kind()) {
        (Some(dtype), Kind::Bool | Kind::Int | Kind::Float | Kind::Complex) => dtype,
        (None, Kind::Bool | Kind::Int) => found,
        (None, Kind::Float | Kind::Complex) if nested.from_tensor => found,
        (None, Kind::Float) => {
            if found == DType::F64 {
                floats
            } else {
                found
            }
        }
        (None, Kind::Complex) if floats.is_half() => default_dtype::complex("tensor")?,
        (None, Kind::Complex) => floats.complex(),
    };
    let shape = Shape::new(&nested.shape);
    nested.build(shape, dtype)
}

/// What is wrong with a value that is no number; of a list the first may be.
fn no_number(value: &Value, is_first: bool) -> Raised {
    let rest = format!(
        "a tensor is made from numbers and lists of numbers, not from {}",
        type_name(value)
    );
    match value.as_str() {
        Some(_) if is_first => value_error(format!("too many dimensions 'str': {rest}")),
        Some(_) => type_error(format!("new(): invalid data type 'str': {rest}")),
        None => runtime_error(format!("Could not infer dtype of {}: {rest}", type_name(value))),
    }
}

/// The array that stands for an object where numbers are wanted, if it has one.
pub(crate) fn array_of(cx: &mut Cx, value: &Value) -> Result<Option<Value>, Raised> {
    match value {
        Value::Object(it) => it.array(cx),
        _ => Ok(None),
    }
}

/// `tensor.to(dtype)`.
pub fn cast(tensor: &Tensor, dtype: Option<DType>) -> Result<Tensor, Raised> {
    match dtype {
        Some(dtype) if dtype != tensor.dtype() => Ok(engine::functional::to(tensor, dtype)?),
        Some(_) | None => Ok(tensor.clone()),
    }
}

impl Nested {
    fn read(&mut self, cx: &mut Cx, data: &Value, depth: usize) -> Result<(), Raised> {
        if depth > 32 {
            return Err(value_error("lists are nested more than 32 deep"));
        }
        if let (Some(dtype), Some(number)) = (scalar::dtype_of(data), as_number(data)) {
            self.push(number, depth)?;
            self.from_tensor = true;
            self.dtype = self.dtype.map(|it| if it == number.dtype() { dtype } else { it });
            return Ok(());
        }
        match data.core() {
            Value::List(list) => {
                let len = list.items.borrow().len();
                self.enter(depth, len)?;
                (0..len).try_for_each(|at| {
                    self.pace.step(cx)?;
                    // Reading an item may run code of the program, which may change the list.
                    let item = list.items.borrow().get(at).cloned();
                    let changed = || value_error("the list became shorter while it was read");
                    self.read(cx, &item.ok_or_else(changed)?, depth + 1)
                })
            }
            Value::Tuple(_) | Value::Range(_) | Value::Iter(_) => {
                let items = cx.collect(data)?;
                self.read_all(cx, &items, depth)
            }
            Value::Tensor(it) => self.read_tensor(&it.get(), depth),
            other => match as_number(other) {
                Some(number) => self.push(number, depth),
                None if let Some(array) = array_of(cx, other)? => self.read(cx, &array, depth),
                None if let Some(items) = deque::items_of(other) => {
                    self.read_all(cx, &items, depth)
                }
                None => Err(no_number(other, depth > 0 && self.floats.is_empty())),
            },
        }
    }

    fn read_all(&mut self, cx: &mut Cx, items: &[Value], depth: usize) -> Result<(), Raised> {
        self.enter(depth, items.len())?;
        items.iter().try_for_each(|it| {
            self.pace.step(cx)?;
            self.read(cx, it, depth + 1)
        })
    }

    /// Notes the size of a list at `depth`; every list there must have the same.
    fn enter(&mut self, depth: usize, size: usize) -> Result<(), Raised> {
        if depth == self.shape.len() && self.floats.is_empty() {
            self.shape.push(size);
            return Ok(());
        }
        match self.shape.get(depth) {
            Some(&expected) if expected == size => Ok(()),
            Some(&expected) => Err(value_error(format!(
                "expected sequence of length {expected} at dim {depth} (got {size})"
            ))),
            None => {
                Err(value_error(format!("a list stands at dim {depth} where a number is expected")))
            }
        }
    }

    fn push(&mut self, number: Number, depth: usize) -> Result<(), Raised> {
        if depth != self.shape.len() {
            return Err(value_error(format!(
                "a number stands at dim {depth} where a list is expected"
            )));
        }
        self.ints.push(number.as_i64());
        self.floats.push(number.as_f64());
        self.imags.push(number.imag());
        let dtype = number.dtype();
        self.dtype = Some(self.dtype.map_or(dtype, |it| it.promote(dtype)));
        Ok(())
    }

    fn read_tensor(&mut self, tensor: &Tensor, depth: usize) -> Result<(), Raised> {
        for (at, &size) in tensor.shape().iter().enumerate() {
            self.enter(depth + at, size)?;
        }
        let before = self.dtype;
        let dtype = tensor.dtype();
        let [reals, imags] = tensor.detach().to_parts()?;
        for (value, imag) in reals.into_iter().zip(imags) {
            let number = match dtype.kind() {
                Kind::Complex => Number::Complex(value, imag),
                Kind::Float => Number::Float(value),
                Kind::Int | Kind::Bool => Number::Int(value as i64),
            };
            self.push(number, depth + tensor.rank())?;
        }
        self.dtype = Some(before.map_or(dtype, |it| it.promote(dtype)));
        self.from_tensor = true;
        Ok(())
    }

    fn build(&self, shape: Shape, dtype: DType) -> Result<Tensor, Raised> {
        let whole = self.dtype.is_some_and(|it| !it.is_differentiable());
        let strange = self.ints.iter().find(|&&it| whole && !Number::Int(it).fits(dtype));
        if let Some(number) = strange {
            return Err(runtime_error(format!(
                "{number} does not fit into {dtype}: take a wider dtype"
            )));
        }
        let broken = |it: &&f64| !Number::Float(**it).fits(dtype);
        if let (false, true, Some(&number)) =
            (whole, dtype.is_int(), self.floats.iter().find(broken))
        {
            return Err(runtime_error(format!(
                "{number} does not fit into {dtype}: take a dtype of floats, or a wider one"
            )));
        }
        let is_complex = self.dtype.is_some_and(DType::is_complex);
        if is_complex && !dtype.is_complex() {
            return Err(type_error(format!(
                "complex numbers do not fit into {dtype}; take dtype=torch.complex64, or their real parts"
            )));
        }
        Ok(match dtype.kind() {
            Kind::Complex => {
                let pairs: Vec<_> =
                    self.floats.iter().copied().zip(self.imags.iter().copied()).collect();
                Tensor::from_pairs(&pairs, shape, dtype)?
            }
            Kind::Int => Tensor::from_converted(&self.ints, shape, dtype)?,
            Kind::Float | Kind::Bool => Tensor::from_converted(&self.floats, shape, dtype)?,
        })
    }
}

/// Bytes that a list takes beside its items, about.
const LIST: usize = 64;

/// Nested lists of the elements; a number for rank 0. An error if there is no room for them.
pub fn to_list(cx: &mut Cx, tensor: &Tensor) -> Res {
    let (items, lists) = (tensor.numel(), lists_in(tensor.shape()));
    memory::room(items.saturating_mul(SLOT).saturating_add(lists.saturating_mul(LIST)))?;
    patience::stoppable_if_long(cx, items.saturating_add(lists), || nested(tensor))?
}

/// How many lists an array of some shape is, inside each other.
fn lists_in(shape: &[usize]) -> usize {
    let levels = (1..shape.len()).map(|rank| {
        let outer = shape[..rank].iter();
        outer.fold(1, |lists: usize, size| lists.saturating_mul(*size))
    });
    levels.fold(1, usize::saturating_add)
}

fn nested(tensor: &Tensor) -> Res {
    if tensor.rank() == 0 {
        return Ok(number(tensor.item()?));
    }
    let flat: Vec<Value> = match tensor.dtype().kind() {
        Kind::Float => tensor.to_f64_vec()?.into_iter().inspect(|_| tick()).map(float).collect(),
        Kind::Int => tensor.to_i64_vec()?.into_iter().inspect(|_| tick()).map(Value::Int).collect(),
        Kind::Complex => {
            let [reals, imags] = tensor.to_parts()?;
            let pairs = reals.into_iter().zip(imags).inspect(|_| tick());
            pairs.map(|(real, imag)| Complex { real, imag }.into()).collect()
        }
        Kind::Bool => tensor.to_vec::<u8>()?.into_iter().map(|it| Value::Bool(it != 0)).collect(),
    };
    let mut items = flat;
    for dim in (1..tensor.rank()).rev() {
        let (outer, size) = (&tensor.shape()[..dim], tensor.shape()[dim]);
        let mut rest = items.into_iter();
        let list = |_| {
            tick();
            Value::list(rest.by_ref().take(size).collect())
        };
        items = (0..outer.iter().product()).map(list).collect();
    }
    Ok(Value::list(items))
}

/// The variable in an argument, or a `TypeError` naming what came.
pub fn variable(value: &Value) -> Result<&std::rc::Rc<TensorObj>, Raised> {
    value
        .as_tensor()
        .ok_or_else(|| type_error(format!("expected a tensor, got {}", type_name(value))))
}

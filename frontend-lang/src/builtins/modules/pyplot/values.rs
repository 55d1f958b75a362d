//! What programs hand to plots, as plain numbers.

use crate::array;
use crate::memory;
use crate::native::*;
use crate::objects::tensor::TensorObj;

/// One number: of the language, of NumPy, or a tensor of one element. `None` counts as a gap.
pub(super) fn number(value: &Value) -> Option<f64> {
    if value.is_none() {
        return Some(f64::NAN);
    }
    if let Some(it) = value.as_tensor() {
        let tensor = it.get();
        return (tensor.numel() == 1).then(|| tensor.to_f64_vec().ok()?.first().copied()).flatten();
    }
    value.as_float().or_else(|| value.as_native().and_then(|it| it.as_float()))
}

/// The elements of a tensor in row-major order, if there is room for them and NumPy may see them.
pub(super) fn elements(cx: &Cx, object: &TensorObj) -> Result<Vec<f64>, Raised> {
    array::readable(cx, object)?;
    let tensor = object.get();
    memory::room(8 * tensor.numel())?;
    Ok(tensor.to_f64_vec()?)
}

/// The numbers of a tensor, an array, a sequence, or one number.
pub(super) fn numbers(cx: &mut Cx, value: &Value) -> Result<Vec<f64>, Raised> {
    if let Some(it) = value.as_tensor() {
        return elements(cx, it);
    }
    if let Some(one) = number(value).filter(|_| !value.is_none()) {
        return Ok(vec![one]);
    }
    let wrong = |it: &Value| format!("plots take numbers, not {}", type_name(it));
    if value.as_str().is_some() || value.is_none() {
        return Err(type_error(wrong(value)));
    }
    let items = cx.collect(value).map_err(|it| it.or_type_error(wrong(value)))?;
    items.iter().filter_map(Value::as_tensor).try_for_each(|it| array::readable(cx, it))?;
    items.iter().map(|it| number(it).ok_or_else(|| type_error(wrong(it)))).collect()
}

/// One number for all, or as they are.
pub(super) fn spread(values: Vec<f64>, count: usize) -> Vec<f64> {
    if values.len() == 1 { vec![values[0]; count] } else { values }
}

/// What is written somewhere; `None` is no text.
pub(super) fn text(cx: &mut Cx, value: &Value) -> Result<String, Raised> {
    if value.is_none() { Ok(String::new()) } else { cx.str(value) }
}

/// The items of a sequence as texts; one string is one of them.
pub(super) fn texts(cx: &mut Cx, value: &Value) -> Result<Vec<String>, Raised> {
    if let Some(text) = value.as_str() {
        return Ok(vec![text.to_owned()]);
    }
    cx.collect(value)?.iter().map(|it| cx.str(it)).collect()
}

/// A place as two numbers.
pub(super) fn place_of(values: &[f64]) -> Result<(f64, f64), Raised> {
    match values {
        [x, y] => Ok((*x, *y)),
        _ => Err(value_error("a place is two numbers: (x, y)")),
    }
}

/// The columns of a matrix; one for anything flat.
pub(super) fn columns(cx: &mut Cx, value: &Value) -> Result<Vec<Vec<f64>>, Raised> {
    match grid(cx, value)? {
        Some(grid) => {
            Ok((0..grid.width).map(|x| (0..grid.height).map(|y| grid.at(x, y)).collect()).collect())
        }
        None => Ok(vec![numbers(cx, value)?]),
    }
}

/// A matrix of numbers, row after row.
pub(super) struct Grid {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) values: Vec<f64>,
}

impl Grid {
    pub(super) fn at(&self, x: usize, y: usize) -> f64 {
        self.values[y * self.width + x]
    }
}

/// A matrix: a tensor of two dimensions, or a sequence of sequences; `None` for anything else.
pub(super) fn grid(cx: &mut Cx, value: &Value) -> Result<Option<Grid>, Raised> {
    if let Some(it) = value.as_tensor() {
        let tensor = it.get();
        return Ok(match **tensor.shape() {
            [height, width] => Some(Grid { width, height, values: elements(cx, it)? }),
            _ => None,
        });
    }
    let rows = match value {
        Value::List(_) | Value::Tuple(_) => cx.collect(value)?,
        _ => return Ok(None),
    };
    if rows.is_empty() || rows.iter().any(|it| it.as_str().is_some() || number(it).is_some()) {
        return Ok(None);
    }
    let (mut values, mut width) = (Vec::new(), None);
    for row in &rows {
        cx.poll()?;
        let row = numbers(cx, row)?;
        if *width.get_or_insert(row.len()) != row.len() {
            return Err(value_error("the rows of a matrix are equally long; these are not"));
        }
        values.extend(row);
    }
    Ok(Some(Grid { width: width.unwrap_or(0), height: rows.len(), values }))
}

/// Raises where two sequences that belong together differ in length.
pub(super) fn same_length(
    (name, one): (&str, usize),
    (other_name, other): (&str, usize),
) -> Result<(), Raised> {
    if one == other {
        return Ok(());
    }
    Err(value_error(format!(
        "{name} and {other_name} must have the same length, but have {one} and {other} values"
    )))
}

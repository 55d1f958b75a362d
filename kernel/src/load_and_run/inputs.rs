//! `--input`: from text and files to tensors of the kinds that the model takes.
//!
//! A shape is compared with the model's before elements are made; where the model takes any size, with the memory that there is.

mod image;
mod inline;
mod json;
mod npy;

#[cfg(test)]
mod tests;

use std::fs;
use std::path::Path;

use frontend_lang::suggest;

use engine::cpu::memory::HOST;
use engine::model::Port;
use engine::{Meta, Shape, Tensor};

use super::report::kind;

/// Data as it was given, not yet converted.
#[derive(Clone, Debug, PartialEq)]
struct Data {
    shape: Vec<usize>,
    /// The name of its dtype.
    dtype: String,
    values: Values,
}

/// Elements in row-major order.
#[derive(Clone, Debug, PartialEq)]
enum Values {
    Ints(Vec<i64>),
    Floats(Vec<f64>),
    /// As many ones as the shape says.
    Ones,
}

/// One part of an `--input`.
struct Given {
    /// The input it is for; may be left out if the model has one input.
    name: Option<String>,
    data: Data,
    /// The file it comes from.
    file: Option<String>,
}

/// The tensors that the texts of `--input` describe, in the order of `ports`; what is worth saying goes to `notes`.
pub(super) fn read(
    texts: &[String],
    ports: &[Port],
    notes: &mut Vec<String>,
) -> Result<Vec<Tensor>, String> {
    let mut slots: Vec<Option<Tensor>> = vec![None; ports.len()];
    for text in texts {
        for part in text.split(';').map(str::trim).filter(|it| !it.is_empty()) {
            for given in parse(part)? {
                let at = find(given.name.as_deref(), ports)?;
                let port = &ports[at];
                if slots[at].is_some() {
                    return Err(format!("input `{}` is given twice", port.name));
                }
                slots[at] = Some(fit(given, port, notes)?);
            }
        }
    }
    let tensors =
        slots.into_iter().zip(ports).map(|(slot, port)| slot.ok_or_else(|| missing(port)));
    tensors.collect()
}

/// Ones of the kind that an input takes.
pub(super) fn ones(port: &Port) -> Result<Tensor, String> {
    ones_of(port, port.meta.shape.clone())
}

fn ones_of(port: &Port, shape: Shape) -> Result<Tensor, String> {
    let (name, meta) = (&port.name, &Meta::new(shape, port.meta.dtype));
    let budget = HOST.budget();
    if meta.shape.checked_numel("input").is_err() || meta.bytes() > budget / 2 {
        let kind = kind(meta);
        return Err(format!("input `{name}`: {kind} does not fit into {budget} bytes of memory"));
    }
    tensor(&Values::Ones, port, &meta.shape)
}

fn missing(port: &Port) -> String {
    let Port { name, meta, .. } = port;
    let sizes: Vec<String> = meta.shape.iter().map(ToString::to_string).collect();
    let sizes = sizes.join(",");
    format!("input `{name}` ({}) has no data; `{name}:{{{sizes}}}` gives it ones", kind(meta))
}

/// One part of a text: `NAME:DATA` or `DATA`. A JSON file may hold several inputs.
fn parse(part: &str) -> Result<Vec<Given>, String> {
    let (name, data) = match part.split_once(':') {
        Some((name, data)) => (Some(name.trim()), data.trim()),
        None => (None, part),
    };
    let subject = name.map_or_else(|| "--input".to_owned(), |it| format!("input `{it}`"));
    let extension = Path::new(data).extension().and_then(|it| it.to_str()).unwrap_or_default();
    let decode: fn(&[u8]) -> Result<Data, String> = match extension.to_ascii_lowercase().as_str() {
        "json" => {
            let inputs = contents(data, &subject).and_then(|bytes| json::decode(&bytes));
            let inputs = inputs.map_err(|error| format!("{data}: {error}"))?;
            let given = |(name, data_of)| Given {
                name: Some(name),
                data: data_of,
                file: Some(data.to_owned()),
            };
            return Ok(inputs.into_iter().map(given).collect());
        }
        "npy" => npy::decode,
        "ppm" | "pgm" => image::decode,
        _ => {
            let parsed = inline::parse(data).map_err(|error| format!("{subject}: {error}"))?;
            return Ok(vec![Given { name: name.map(str::to_owned), data: parsed, file: None }]);
        }
    };
    let decoded = decode(&contents(data, &subject)?);
    let decoded = decoded.map_err(|error| format!("{subject}: {data}: {error}"))?;
    Ok(vec![Given { name: name.map(str::to_owned), data: decoded, file: Some(data.to_owned()) }])
}

fn contents(path: &str, subject: &str) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("{subject}: failed to open {path}: {error}"))
}

fn find(name: Option<&str>, ports: &[Port]) -> Result<usize, String> {
    let names = || ports.iter().map(|it| it.name.as_str());
    let list = names().collect::<Vec<_>>().join(", ");
    let Some(name) = name else {
        if ports.len() == 1 {
            return Ok(0);
        }
        return Err(format!("--input needs NAME:DATA; the model's inputs are: {list}"));
    };
    names().position(|it| it == name).ok_or_else(|| {
        let near = suggest::nearest(name, names());
        let hint = near.map(|it| format!("did you mean `{it}`? ")).unwrap_or_default();
        format!("the model has no input `{name}`; {hint}its inputs are: {list}")
    })
}

/// The data as the kind of tensor that the input takes.
fn fit(given: Given, port: &Port, notes: &mut Vec<String>) -> Result<Tensor, String> {
    let Given { data, file, .. } = given;
    let Port { name, meta, .. } = port;
    let wanted: &[usize] = &meta.shape;
    let source = file.as_ref().map(|it| format!(" from {it}")).unwrap_or_default();
    let is_bare_number = data.shape.is_empty() && file.is_none();
    let mut shape = meta.shape.clone();
    let values = if port.takes_sizes(&data.shape) {
        shape = Shape::new(&data.shape);
        data.values
    } else if is_bare_number && meta.shape.numel() == 1 {
        data.values
    } else if let Some(values) = channels_first(&data, wanted) {
        notes.push(format!("input `{name}`{source}: channels are put first"));
        values
    } else {
        let got = Shape::new(&data.shape);
        let expected = if port.free.is_empty() { kind(meta) } else { port.to_string() };
        return Err(format!(
            "input `{name}`: expected {expected}, got {} {got}{source}",
            data.dtype
        ));
    };
    if file.is_some() && data.dtype != meta.dtype.name() {
        notes
            .push(format!("input `{name}`{source}: {} is converted to {}", data.dtype, meta.dtype));
    }
    match values {
        Values::Ones => ones_of(port, shape),
        values => tensor(&values, port, &shape),
    }
}

/// The elements of an image `[1, h, w, c]` for an input that takes `[1, c, h, w]`.
fn channels_first(data: &Data, wanted: &[usize]) -> Option<Values> {
    let (&[1, h, w, c], Values::Ints(values)) = (&*data.shape, &data.values) else { return None };
    let is_image = data.dtype == "uint8 image";
    (is_image && wanted == [1, c, h, w])
        .then(|| Values::Ints(permuted(values, &[h, w, c], &[2, 0, 1])))
}

/// Elements of a row-major array of sizes `dims`, in row-major order after its dimensions are put into another order.
fn permuted<T: Copy>(values: &[T], dims: &[usize], order: &[usize]) -> Vec<T> {
    let mut strides = vec![1; dims.len()];
    for at in (1..dims.len()).rev() {
        strides[at - 1] = strides[at] * dims[at];
    }
    let mut index = vec![0; order.len()];
    let mut res = Vec::with_capacity(values.len());
    for _ in 0..values.len() {
        let at: usize = index.iter().zip(order).map(|(&it, &dim)| it * strides[dim]).sum();
        res.push(values[at]);
        for (it, &dim) in index.iter_mut().zip(order).rev() {
            *it += 1;
            if *it < dims[dim] {
                break;
            }
            *it = 0;
        }
    }
    res
}

fn tensor(values: &Values, port: &Port, shape: &Shape) -> Result<Tensor, String> {
    let Port { name, meta, .. } = port;
    let shape = shape.clone();
    let n = shape.numel();
    let dtype = meta.dtype;
    let tensor = match dtype.is_float() {
        true => Tensor::from_converted(&floats(values, n), shape, dtype),
        false => Tensor::from_converted(&ints(values, n, port)?, shape, dtype),
    };
    tensor.map_err(|error| format!("input `{name}`: {error}"))
}

fn floats(values: &Values, n: usize) -> Vec<f64> {
    match values {
        Values::Floats(values) => values.clone(),
        Values::Ints(values) => values.iter().map(|&it| it as f64).collect(),
        Values::Ones => vec![1.0; n],
    }
}

/// Whole numbers that the port's dtype holds.
fn ints(values: &Values, n: usize, port: &Port) -> Result<Vec<i64>, String> {
    let dtype = port.meta.dtype;
    let refuse = |value: &dyn std::fmt::Display| match dtype.is_bool() {
        true => format!("input `{}` takes bool, which {value} is not", port.name),
        false => format!("input `{}` takes {dtype}, which cannot hold {value}", port.name),
    };
    let (least, most) = dtype.int_range().unwrap_or((i64::MIN, i64::MAX));
    let one = |it: i64| if (least..=most).contains(&it) { Ok(it) } else { Err(refuse(&it)) };
    match values {
        Values::Ints(values) => values.iter().map(|&it| one(it)).collect(),
        Values::Floats(values) => {
            let whole = |it: f64| whole(it).ok_or_else(|| refuse(&it));
            values.iter().map(|&it| one(whole(it)?)).collect()
        }
        Values::Ones => Ok(vec![1; n]),
    }
}

/// The integer that a float is, if it is one.
fn whole(value: f64) -> Option<i64> {
    let is_inside = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&value);
    (is_inside && value.fract() == 0.0).then_some(value as i64)
}

/// Number of elements of a shape in a file; `None` when no array can have it.
fn numel(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1_usize, |acc, &size| acc.checked_mul(size))
}

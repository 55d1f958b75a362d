//! JSON files of inputs: `{name: {"shape": [...], "type": "float32", "raw": [...]}}`. Values of a whole type are rounded.

use serde_json::{Map, Value};

use super::{Data, Values, numel, whole};

/// The inputs in the content of a file.
pub(super) fn decode(bytes: &[u8]) -> Result<Vec<(String, Data)>, String> {
    let root: Map<String, Value> =
        serde_json::from_slice(bytes).map_err(|error| format!("not an object in JSON: {error}"))?;
    let one = |(name, value): (&String, &Value)| match input(value) {
        Ok(data) => Ok((name.clone(), data)),
        Err(error) => Err(format!("input `{name}`: {error}")),
    };
    root.iter().map(one).collect()
}

fn input(value: &Value) -> Result<Data, String> {
    let list = |name: &str| {
        let list = value.get(name).and_then(Value::as_array);
        list.ok_or_else(|| format!("`{name}` must be a list"))
    };
    let size = |it: &Value| it.as_u64().and_then(|it| usize::try_from(it).ok());
    let shape: Option<Vec<usize>> = list("shape")?.iter().map(size).collect();
    let shape = shape.ok_or("`shape` must hold whole numbers")?;
    let raw = list("raw")?;
    if numel(&shape) != Some(raw.len()) {
        return Err(format!("the shape {shape:?} does not fit {} values in `raw`", raw.len()));
    }
    let dtype = value.get("type").and_then(Value::as_str).ok_or("`type` must be a text")?;
    let (dtype, values) = match dtype {
        "float32" | "float" => ("float32", floats(raw, |it| f64::from(it as f32))?),
        "float64" | "double" => ("float64", floats(raw, |it| it)?),
        "int32" | "int" => ("int32", ints(raw, i64::from(i32::MIN), i64::from(i32::MAX))?),
        "int64" => ("int64", ints(raw, i64::MIN, i64::MAX)?),
        "int8" => ("int8", ints(raw, i64::from(i8::MIN), i64::from(i8::MAX))?),
        "uint8" => ("uint8", ints(raw, 0, i64::from(u8::MAX))?),
        "bool" => ("bool", ints(raw, 0, 1)?),
        other => return Err(format!("unknown json data type for --input: `{other}`")),
    };
    Ok(Data { shape, dtype: dtype.to_owned(), values })
}

fn floats(raw: &[Value], of: fn(f64) -> f64) -> Result<Values, String> {
    let one = |it: &Value| it.as_f64().map(of).ok_or_else(|| format!("{it} is not a number"));
    raw.iter().map(one).collect::<Result<_, _>>().map(Values::Floats)
}

fn ints(raw: &[Value], least: i64, most: i64) -> Result<Values, String> {
    let one = |it: &Value| {
        let rounded = || it.as_f64().and_then(|it| whole(it.round()));
        let value = it.as_i64().or_else(|| it.as_bool().map(i64::from)).or_else(rounded);
        let value = value.ok_or_else(|| format!("{it} is not a whole number"))?;
        if (least..=most).contains(&value) {
            return Ok(value);
        }
        Err(format!("{value} is not between {least} and {most}"))
    };
    raw.iter().map(one).collect::<Result<_, _>>().map(Values::Ints)
}

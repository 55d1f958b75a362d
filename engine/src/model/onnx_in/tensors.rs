//! Tensors in ONNX files: their dtypes, and their elements, which stand in the message, in a typed field, or in another file.
//!
//! Nothing in a message is trusted: every size is held against the bytes that are there before anything is made of it.

use std::collections::HashMap;
use std::path::{Component, Path};
use std::rc::Rc;

use crate::onnx::proto::{SparseTensorProto, TensorProto};
use crate::{Attr, DType, Error, Result, Shape, Tensor, apply_one, functional, ops};

/// The data type that stands for text, which is no dtype here.
pub const STRING: i32 = 8;

/// ONNX's names of data types, in the order of their numbers.
const NAMES: [&str; 27] = [
    "undefined",
    "float",
    "uint8",
    "int8",
    "uint16",
    "int16",
    "int32",
    "int64",
    "string",
    "bool",
    "float16",
    "double",
    "uint32",
    "uint64",
    "complex64",
    "complex128",
    "bfloat16",
    "float8e4m3fn",
    "float8e4m3fnuz",
    "float8e5m2",
    "float8e5m2fnuz",
    "uint4",
    "int4",
    "float4e2m1",
    "float8e8m0",
    "uint2",
    "int2",
];

/// Reads a file beside the model, by its path below the model's folder.
pub type ReadFile<'a> = &'a mut dyn FnMut(&str) -> Result<Vec<u8>>;

/// The files in which a model keeps elements of tensors; each is read once.
pub struct Files<'a> {
    read: ReadFile<'a>,
    known: HashMap<String, Rc<Vec<u8>>>,
}

impl<'a> Files<'a> {
    /// Files that `read` gives.
    pub fn new(read: ReadFile<'a>) -> Self {
        Self { read, known: HashMap::new() }
    }

    fn content(&mut self, location: &str) -> Result<Rc<Vec<u8>>> {
        if let Some(known) = self.known.get(location) {
            return Ok(known.clone());
        }
        let content = Rc::new((self.read)(location)?);
        self.known.insert(location.to_owned(), content.clone());
        Ok(content)
    }
}

/// What ONNX calls a data type.
pub fn type_name(data_type: i32) -> String {
    let known = usize::try_from(data_type).ok().and_then(|it| NAMES.get(it));
    known.map_or_else(|| format!("data type {data_type}"), |it| (*it).to_owned())
}

/// The dtype of a data type; those that there is no dtype for are an error.
pub fn dtype_of(data_type: i32) -> Result<DType> {
    DType::of_onnx(data_type).ok_or_else(|| {
        problem(format!(
            "there is no dtype {} here; convert the model to one that is known, such as int64 or float32",
            type_name(data_type)
        ))
    })
}

/// The tensor of a message.
pub fn read(proto: &TensorProto, files: &mut Files<'_>) -> Result<Tensor> {
    let of_it = |error: Error| problem(format!("the tensor '{}': {error}", proto.name));
    let dtype = dtype_of(proto.data_type).map_err(of_it)?;
    let shape = shape_of(&proto.dims).map_err(of_it)?;
    let bytes = match proto.data_location {
        1 => outside(proto, files),
        _ if !proto.raw_data.is_empty() => {
            return Tensor::from_le_bytes(&proto.raw_data, shape, dtype).map_err(of_it);
        }
        _ => typed(proto, dtype, shape.numel()),
    };
    bytes.and_then(|it| Tensor::from_le_bytes(&it, shape, dtype)).map_err(of_it)
}

/// The texts of a message, and their shape.
pub fn read_texts(proto: &TensorProto) -> Result<(Vec<String>, Shape)> {
    let shape = shape_of(&proto.dims)?;
    if proto.string_data.len() != shape.numel() {
        let given = proto.string_data.len();
        return Err(problem(format!("'{}' has {given} texts for shape {shape}", proto.name)));
    }
    let texts = proto.string_data.iter().map(|it| String::from_utf8_lossy(it).into_owned());
    Ok((texts.collect(), shape))
}

/// A sparse tensor with its zeros.
pub fn read_sparse(proto: &SparseTensorProto, files: &mut Files<'_>) -> Result<Tensor> {
    let missing = || problem("a sparse tensor lacks its values or indices".into());
    let values = read(proto.values.as_ref().ok_or_else(missing)?, files)?;
    let indices = read(proto.indices.as_ref().ok_or_else(missing)?, files)?;
    let shape = shape_of(&proto.dims)?;
    let places = places(&indices, &shape, values.numel())?;
    let zeros = functional::full(&Shape::from([shape.numel()]), 0.0, values.dtype())?;
    let scatter = ops::find("scatter").ok_or_else(missing)?;
    let inputs = [zeros, places, functional::reshape(&values, &Shape::from([values.numel()]))?];
    functional::reshape(
        &apply_one(scatter, &inputs, &[Attr::Int(0)].into_iter().collect())?,
        &shape,
    )
}

/// Where the values of a sparse tensor stand among all of its elements.
fn places(indices: &Tensor, shape: &Shape, n_values: usize) -> Result<Tensor> {
    let given = indices.to_vec::<i64>()?;
    let per_value = if indices.rank() == 2 { shape.rank() } else { 1 };
    if given.len() != n_values * per_value {
        return Err(problem("a sparse tensor has other numbers of values and indices".into()));
    }
    let place = |at: &[i64]| match at {
        [one] => *one,
        _ => at
            .iter()
            .zip(shape.iter())
            .fold(0, |sum: i64, (at, &size)| sum.saturating_mul(size as i64).saturating_add(*at)),
    };
    let flat: Vec<i64> = given.chunks(per_value.max(1)).map(place).collect();
    Tensor::from_vec(&flat, Shape::from([flat.len()]))
}

/// The shape that a file gives.
pub fn shape_of(dims: &[i64]) -> Result<Shape> {
    let size = |&it: &i64| {
        usize::try_from(it)
            .map_err(|_| problem(format!("the size {it} of a dimension is negative")))
    };
    let shape: Shape = dims.iter().map(size).collect::<Result<Vec<usize>>>()?.into_iter().collect();
    shape.checked_numel("tensor")?;
    Ok(shape)
}

/// The elements of a typed field, little endian.
fn typed(proto: &TensorProto, dtype: DType, numel: usize) -> Result<Vec<u8>> {
    let narrow = |it: &i32| it.to_le_bytes()[..dtype.size()].to_vec();
    let bytes: Vec<u8> = match dtype {
        DType::F32 | DType::C64 => {
            proto.float_data.iter().flat_map(|it| it.to_le_bytes()).collect()
        }
        DType::F64 | DType::C128 => {
            proto.double_data.iter().flat_map(|it| it.to_le_bytes()).collect()
        }
        DType::I64 => proto.int64_data.iter().flat_map(|it| it.to_le_bytes()).collect(),
        DType::Bool | DType::U8 | DType::I8 | DType::I16 | DType::U16 | DType::I32 => {
            proto.int32_data.iter().flat_map(narrow).collect()
        }
        DType::F16 | DType::BF16 => proto.int32_data.iter().flat_map(narrow).collect(),
    };
    let given = bytes.len() / dtype.size();
    if given != numel {
        return Err(problem(format!("{given} elements are given, its shape has {numel}")));
    }
    Ok(bytes)
}

/// The elements that stand in another file, below the folder of the model.
fn outside(proto: &TensorProto, files: &mut Files<'_>) -> Result<Vec<u8>> {
    let entry =
        |key: &str| proto.external_data.iter().find(|it| it.key == key).map(|it| it.value.as_str());
    let number = |key: &str| match entry(key) {
        None => Ok(None),
        Some(text) => text.parse::<usize>().map(Some).map_err(|_| {
            problem(format!("the {key} of its external data, '{text}', is no number"))
        }),
    };
    let location = entry("location").ok_or_else(|| {
        problem("its elements are in another file, which it does not name".into())
    })?;
    let below = |it: Component<'_>| matches!(it, Component::Normal(_) | Component::CurDir);
    let fits = !location.is_empty() && !location.contains(['\\', ':', '\0']);
    if !fits || !Path::new(location).components().all(below) {
        return Err(problem(format!(
            "'{location}' does not lie below the folder of the model, as external data must"
        )));
    }
    let content = files.content(location)?;
    let start = number("offset")?.unwrap_or(0);
    let rest = content.len().checked_sub(start);
    let len = number("length")?.or(rest);
    let range = rest.zip(len).filter(|(rest, len)| len <= rest);
    let Some((_, len)) = range else {
        return Err(problem(format!(
            "its elements reach outside of '{location}', which has {} bytes",
            content.len()
        )));
    };
    Ok(content[start..start + len].to_vec())
}

fn problem(problem: String) -> Error {
    Error::File { problem }
}

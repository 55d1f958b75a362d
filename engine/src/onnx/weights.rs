//! Tensors as ONNX files hold them.

use super::proto::TensorProto;
use crate::{DType, Error, Result, Tensor};

/// The number of a dtype in ONNX files.
pub fn code_of(dtype: DType) -> i32 {
    match dtype {
        DType::F32 => 1,
        DType::U8 => 2,
        DType::I8 => 3,
        DType::U16 => 4,
        DType::I16 => 5,
        DType::I32 => 6,
        DType::I64 => 7,
        DType::Bool => 9,
        DType::F16 => 10,
        DType::F64 => 11,
        DType::C64 => 14,
        DType::C128 => 15,
        DType::BF16 => 16,
    }
}

/// A tensor with its elements, under a name.
pub fn tensor_proto(name: &str, tensor: &Tensor) -> Result<TensorProto> {
    let size = |&it: &usize| {
        i64::try_from(it).map_err(|_| Error::File { problem: format!("{name} is too large") })
    };
    let mut raw_data = Vec::new();
    tensor.append_le_bytes(&mut raw_data)?;
    Ok(TensorProto {
        dims: tensor.shape().iter().map(size).collect::<Result<_>>()?,
        data_type: code_of(tensor.dtype()),
        name: name.into(),
        raw_data,
        ..TensorProto::default()
    })
}

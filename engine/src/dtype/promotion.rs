//! Promotion of tensors. Written by `tests/expected/generate_promotion.py`.

use super::DType::{self, *};

/// The dtype in which values of both are computed, by row and column in the order of [`DType`]: `torch.promote_types`.
#[rustfmt::skip]
pub(super) static PROMOTED: [[DType; DType::ALL.len()]; DType::ALL.len()] = [
    [Bool, U8, I8, I16, U16, I32, I64, F16, BF16, F32, F64, C64, C128],
    [U8, U8, I16, I16, U16, I32, I64, F16, BF16, F32, F64, C64, C128],
    [I8, I16, I8, I16, I32, I32, I64, F16, BF16, F32, F64, C64, C128],
    [I16, I16, I16, I16, I32, I32, I64, F16, BF16, F32, F64, C64, C128],
    [U16, U16, I32, I32, U16, I32, I64, F16, BF16, F32, F64, C64, C128],
    [I32, I32, I32, I32, I32, I32, I64, F16, BF16, F32, F64, C64, C128],
    [I64, I64, I64, I64, I64, I64, I64, F16, BF16, F32, F64, C64, C128],
    [F16, F16, F16, F16, F16, F16, F16, F16, F32, F32, F64, C64, C128],
    [BF16, BF16, BF16, BF16, BF16, BF16, BF16, F32, BF16, F32, F64, C64, C128],
    [F32, F32, F32, F32, F32, F32, F32, F32, F32, F32, F64, C64, C128],
    [F64, F64, F64, F64, F64, F64, F64, F64, F64, F64, F64, C128, C128],
    [C64, C64, C64, C64, C64, C64, C64, C64, C64, C64, C128, C64, C128],
    [C128, C128, C128, C128, C128, C128, C128, C128, C128, C128, C128, C128, C128],
];

"""Writes the promotion tables: PyTorch's for tensors, NumPy's for arrays. Needs `torch` and `numpy`.

Where PyTorch refuses a pair (`uint16` beside other integers), NumPy's answer stands; where NumPy has no such dtype
(`bfloat16`), PyTorch's.
"""

import pathlib

import numpy as np
import torch

ROOT = pathlib.Path(__file__).parents[2]
# Name in PyTorch and NumPy, and in the table, in the order of `DType`.
DTYPES = {
    "bool": "Bool",
    "uint8": "U8",
    "int8": "I8",
    "int16": "I16",
    "uint16": "U16",
    "int32": "I32",
    "int64": "I64",
    "float16": "F16",
    "bfloat16": "BF16",
    "float32": "F32",
    "float64": "F64",
    "complex64": "C64",
    "complex128": "C128",
}


def of_torch(a: str, b: str) -> str | None:
    try:
        return str(torch.promote_types(getattr(torch, a), getattr(torch, b))).split(".")[1]
    except RuntimeError:
        return None


def of_numpy(a: str, b: str) -> str | None:
    try:
        return np.promote_types(a, b).name
    except TypeError:
        return None


def write(path: str, whose: str, header: str, imports: str, rules: list) -> None:
    rows = []
    for a in DTYPES:
        pairs = [next(filter(None, (rule(a, b) for rule in rules))) for b in DTYPES]
        rows.append("    [" + ", ".join(DTYPES[it] for it in pairs) + "],")
    text = f"""//! {header} Written by `tests/expected/generate_promotion.py`.

use {imports};

/// The dtype in which values of both are computed, by row and column in the order of [`DType`]: {whose}.
#[rustfmt::skip]
pub(super) static PROMOTED: [[DType; DType::ALL.len()]; DType::ALL.len()] = [
""" + "\n".join(rows) + "\n];\n"
    (ROOT / path).write_text(text)


write(
    "engine/src/dtype/promotion.rs",
    "`torch.promote_types`",
    "Promotion of tensors.",
    "super::DType::{self, *}",
    [of_torch, of_numpy],
)
write(
    "frontend-lang/src/array/promotion.rs",
    "`np.promote_types`",
    "Promotion of arrays.",
    "engine::DType::{self, *}",
    [of_numpy, of_torch],
)

//! Texts of kernels in CUDA C.

use std::borrow::Cow;
use std::fmt::Write;

use crate::DType;
use crate::dtype::{Arithmetic, Width};

/// What all kernels may use: types of elements, loads and stores, indices of strided operands, faults.
pub(crate) const PRELUDE: &str = include_str!("prelude.cu");

/// Kernels as text. It needs no header.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// A name for files and messages: that of the kernel that is asked for first.
    pub(crate) name: &'static str,
    /// All of it, the prelude included.
    pub(crate) text: String,
}

impl Source {
    /// The kernels of a template, in which the names are defined.
    pub(crate) fn of(
        name: &'static str,
        template: &'static str,
        defines: &[(&'static str, Cow<'static, str>)],
    ) -> Self {
        let mut text = String::with_capacity(PRELUDE.len() + template.len() + 256);
        text.push_str(PRELUDE);
        for (name, value) in defines {
            let _ = writeln!(text, "#define {name} {value}");
        }
        text.push_str(template);
        Self { name, text }
    }

    /// The text, in which each kernel waits for the ones before it: it may be launched while they run (programmatic dependent launch).
    pub(super) fn begun(&self) -> String {
        let mut res = String::with_capacity(self.text.len() + 64);
        let mut rest = &self.text[..];
        while let Some(at) = rest.find("__global__") {
            let body = rest[at..].find('{').map_or(rest.len(), |it| at + it + 1);
            res.push_str(&rest[..body]);
            res.push_str(" ng_await();");
            rest = &rest[body..];
        }
        res.push_str(rest);
        res
    }
}

/// The type of elements in memory, as the prelude names it.
pub(crate) fn type_of(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "ng_bool",
        DType::U8 => "ng_u8",
        DType::I8 => "ng_i8",
        DType::I16 => "ng_i16",
        DType::U16 => "ng_u16",
        DType::I32 => "ng_i32",
        DType::I64 => "ng_i64",
        DType::F16 => "ng_f16",
        DType::BF16 => "ng_bf16",
        DType::F32 => "float",
        DType::F64 => "double",
        DType::C64 => "ng_b8",
        DType::C128 => "ng_b16",
    }
}

/// The type of elements that are only moved.
pub(crate) fn bits_of(dtype: DType) -> &'static str {
    match dtype.width() {
        Width::W1 => "ng_b1",
        Width::W2 => "ng_b2",
        Width::W4 => "ng_b4",
        Width::W8 => "ng_b8",
        Width::W16 => "ng_b16",
    }
}

/// The type in which kernels compute with elements of a dtype.
pub(crate) fn computed(dtype: DType) -> &'static str {
    match dtype.arithmetic() {
        Arithmetic::F64 => "double",
        Arithmetic::F32 => "float",
        Arithmetic::I64 => "ng_i64",
        Arithmetic::U8 | Arithmetic::I32 => "int",
    }
}

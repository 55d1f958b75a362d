//! What nodes of an ONNX model take and give, and what a model says of its inputs and outputs.

use std::fmt;
use std::rc::Rc;

use crate::model::onnx_in::tensors::{dtype_of, type_name};
use crate::onnx::proto::{DimensionValue, TensorType, TypeProto, TypeValue};
use crate::{Meta, Shape, Tensor};

/// What a name in a model stands for.
#[derive(Clone, Debug)]
pub enum Value {
    Tensor(Tensor),
    Texts(Texts),
    Sequence(Vec<Value>),
    /// An optional without a value.
    Nothing,
}

/// A tensor of texts.
#[derive(Clone, Debug, PartialEq)]
pub struct Texts {
    pub shape: Shape,
    pub texts: Rc<[String]>,
}

impl Value {
    /// What it is, in words.
    pub fn words(&self) -> String {
        match self {
            Self::Tensor(it) => it.meta().to_string(),
            Self::Texts(it) => format!("string{}", it.shape),
            Self::Sequence(it) => format!("a sequence of {}", it.len()),
            Self::Nothing => "nothing".into(),
        }
    }
}

impl From<Tensor> for Value {
    fn from(tensor: Tensor) -> Self {
        Self::Tensor(tensor)
    }
}

/// An input or output of a model: its name and what it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    pub name: String,
    pub kind: Kind,
}

/// What a model says of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A tensor of this data type; `None` for any shape.
    Tensor {
        data_type: i32,
        dims: Option<Vec<Dim>>,
    },
    Sequence(Box<Kind>),
    Optional(Box<Kind>),
    /// Nothing is said.
    Unknown,
}

/// A dimension.
#[derive(Clone, Debug, PartialEq)]
pub enum Dim {
    Size(usize),
    /// Any size; the name may be empty.
    Named(String),
}

impl Kind {
    /// What a message says.
    pub(super) fn of(proto: Option<&TypeProto>) -> Self {
        match proto.and_then(|it| it.value.as_ref()) {
            Some(TypeValue::Tensor(it) | TypeValue::SparseTensor(it)) => Self::of_tensor(it),
            Some(TypeValue::Sequence(it)) => {
                Self::Sequence(Box::new(Self::of(it.elem_type.as_deref())))
            }
            Some(TypeValue::Optional(it)) => {
                Self::Optional(Box::new(Self::of(it.elem_type.as_deref())))
            }
            Some(TypeValue::Map(_)) | None => Self::Unknown,
        }
    }

    fn of_tensor(proto: &TensorType) -> Self {
        let dims = proto.shape.as_ref().map(|it| {
            let dim = |value: Option<&DimensionValue>| match value {
                Some(DimensionValue::Size(size)) => {
                    usize::try_from(*size).map_or_else(|_| Dim::Named(String::new()), Dim::Size)
                }
                Some(DimensionValue::Name(name)) => Dim::Named(name.clone()),
                None => Dim::Named(String::new()),
            };
            it.dim.iter().map(|it| dim(it.value.as_ref())).collect()
        });
        Self::Tensor { data_type: proto.elem_type, dims }
    }

    /// Whether a tensor of this kind may stand there.
    pub fn takes(&self, meta: &Meta) -> bool {
        match self {
            Self::Tensor { data_type, dims } => {
                let fits = |dims: &Vec<Dim>| {
                    let one = |(dim, &size): (&Dim, &usize)| match dim {
                        Dim::Size(it) => *it == size,
                        Dim::Named(_) => true,
                    };
                    dims.len() == meta.shape.rank() && dims.iter().zip(&*meta.shape).all(one)
                };
                dtype_of(*data_type).is_ok_and(|it| it == meta.dtype)
                    && dims.as_ref().is_none_or(fits)
            }
            Self::Optional(it) => it.takes(meta),
            Self::Sequence(_) => false,
            Self::Unknown => true,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tensor { data_type, dims } => {
                match dtype_of(*data_type) {
                    Ok(it) => f.write_str(it.short())?,
                    Err(_) => f.write_str(&type_name(*data_type))?,
                }
                let Some(dims) = dims else { return f.write_str("[...]") };
                let words: Vec<String> = dims.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", words.join(", "))
            }
            Self::Sequence(it) => write!(f, "a sequence of {it}"),
            Self::Optional(it) => write!(f, "{it} or None"),
            Self::Unknown => f.write_str("anything"),
        }
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size(it) => it.fmt(f),
            Self::Named(it) if it.is_empty() => f.write_str("?"),
            Self::Named(it) => f.write_str(it),
        }
    }
}

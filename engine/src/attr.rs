//! Attributes of an op application: everything that is not a tensor.

use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use smallvec::SmallVec;

use crate::{DType, Number};

/// One attribute value.
#[derive(Clone, Debug)]
pub enum Attr {
    /// Absent: the op's documented behaviour for "not given".
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// A real and an imaginary part.
    Complex(f64, f64),
    Ints(SmallVec<[i64; 4]>),
    DType(DType),
    Str(&'static str),
    /// A graph that the op runs: a branch, the body of a loop.
    Region(Region),
}

/// A graph as an attribute, seen from below: its text, by which it is known, and what those keep with it who know graphs.
#[derive(Clone)]
pub struct Region(Arc<Known>);

struct Known {
    text: String,
    pure: bool,
    block: Box<dyn Any + Send + Sync>,
}

impl Region {
    /// A region of this text, in which draws are no part if it is `pure`, with what runs it.
    pub(crate) fn new(text: String, pure: bool, block: Box<dyn Any + Send + Sync>) -> Self {
        Self(Arc::new(Known { text, pure, block }))
    }

    /// The listing of its graph.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Whether equal inputs give equal outputs.
    pub fn is_pure(&self) -> bool {
        self.0.pure
    }

    /// What is kept with it.
    pub(crate) fn block(&self) -> &(dyn Any + Send + Sync) {
        &*self.0.block
    }
}

impl fmt::Debug for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// Attribute values in the order of the op row's non-tensor parameters.
pub type Attrs = SmallVec<[Attr; 2]>;

impl Attr {
    /// A list of integers.
    pub fn ints(values: &[i64]) -> Self {
        Self::Ints(SmallVec::from_slice(values))
    }

    /// A list of sizes.
    pub fn sizes(values: &[usize]) -> Self {
        Self::Ints(values.iter().map(|&it| it as i64).collect())
    }
}

/// Floats compare and hash by bits, so that equal attributes mean equal behaviour (NaN equals itself, 0.0 is not -0.0).
impl PartialEq for Attr {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::None, Self::None) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a.to_bits() == b.to_bits(),
            (Self::Complex(a, b), Self::Complex(c, d)) => {
                [a, b].map(|it| it.to_bits()) == [c, d].map(|it| it.to_bits())
            }
            (Self::Ints(a), Self::Ints(b)) => a == b,
            (Self::DType(a), Self::DType(b)) => a == b,
            (Self::Str(a), Self::Str(b)) => a == b,
            (Self::Region(a), Self::Region(b)) => Arc::ptr_eq(&a.0, &b.0) || a.text() == b.text(),
            _ => false,
        }
    }
}

impl Eq for Attr {}

impl Hash for Attr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Self::None => {}
            Self::Bool(it) => it.hash(state),
            Self::Int(it) => it.hash(state),
            Self::Float(it) => it.to_bits().hash(state),
            Self::Complex(real, imag) => [real, imag].map(|it| it.to_bits()).hash(state),
            Self::Ints(it) => it.hash(state),
            Self::DType(it) => it.hash(state),
            Self::Str(it) => it.hash(state),
            Self::Region(it) => it.text().hash(state),
        }
    }
}

/// Integer attribute `idx` (0 when absent).
pub fn int(attrs: &Attrs, idx: usize) -> i64 {
    match attrs.get(idx) {
        Some(Attr::Int(it)) => *it,
        Some(Attr::Bool(it)) => i64::from(*it),
        Some(Attr::Float(it)) => *it as i64,
        Some(Attr::Ints(it)) => it.first().copied().unwrap_or(0),
        _ => 0,
    }
}

/// Float attribute `idx` (0 when absent; integers convert).
pub fn float(attrs: &Attrs, idx: usize) -> f64 {
    match attrs.get(idx) {
        Some(Attr::Float(it)) => *it,
        _ => int(attrs, idx) as f64,
    }
}

/// Bool attribute `idx` (false when absent).
pub fn flag(attrs: &Attrs, idx: usize) -> bool {
    int(attrs, idx) != 0
}

/// Integer list attribute `idx` (an int is a list of one; `None` when absent).
pub fn ints(attrs: &Attrs, idx: usize) -> Option<SmallVec<[i64; 4]>> {
    match attrs.get(idx) {
        Some(Attr::Ints(it)) => Some(it.clone()),
        Some(Attr::Int(it)) => Some(smallvec::smallvec![*it]),
        _ => None,
    }
}

/// Readers of the attributes of a context.
macro_rules! attr_readers {
    ($cx:ty) => {
        impl $cx {
            /// Integer attribute `idx` (0 when absent).
            pub fn int(&self, idx: usize) -> i64 {
                $crate::attr::int(self.attrs, idx)
            }

            /// Float attribute `idx` (0 when absent; integers convert).
            pub fn float(&self, idx: usize) -> f64 {
                $crate::attr::float(self.attrs, idx)
            }

            /// Bool attribute `idx` (false when absent).
            pub fn flag(&self, idx: usize) -> bool {
                $crate::attr::flag(self.attrs, idx)
            }

            /// Integer list attribute `idx` (an int is a list of one; `None` when absent).
            pub fn ints(&self, idx: usize) -> Option<smallvec::SmallVec<[i64; 4]>> {
                $crate::attr::ints(self.attrs, idx)
            }
        }
    };
}
pub(crate) use attr_readers;

/// An attribute as text that parses back to it.
pub(crate) struct AttrText<'a>(pub(crate) &'a Attr);

impl fmt::Display for AttrText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Attr::None => f.write_str("none"),
            Attr::Bool(it) => write!(f, "{it}"),
            Attr::Int(it) => write!(f, "{it}"),
            Attr::Float(it) => write!(f, "{}", NumberText(Number::Float(*it))),
            Attr::Complex(real, imag) => {
                write!(f, "{}", NumberText(Number::Complex(*real, *imag)))
            }
            Attr::Ints(it) => write!(f, "{:?}", it.as_slice()),
            Attr::DType(it) => f.write_str(it.short()),
            Attr::Str(it) => {
                write!(f, "'{}'", it.replace('\\', "\\\\").replace('\'', "\\'"))
            }
            Attr::Region(it) => f.write_str(it.text().trim_end()),
        }
    }
}

/// An attribute in a few words: of a region the number of its ops.
pub(crate) struct AttrBrief<'a>(pub(crate) &'a Attr);

impl fmt::Display for AttrBrief<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Attr::Region(it) => match it.text().matches(" = ").count() {
                1 => f.write_str("1 op"),
                n => write!(f, "{n} ops"),
            },
            it => write!(f, "{}", AttrText(it)),
        }
    }
}

/// A number as text that parses back to it: floats always have a point, an exponent or a name.
pub(crate) struct NumberText(pub(crate) Number);

impl fmt::Display for NumberText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Number::Bool(it) => write!(f, "{it}"),
            Number::Int(it) => write!(f, "{it}"),
            Number::Float(it) if it.is_nan() => f.write_str("nan"),
            Number::Float(it) => write!(f, "{it:?}"),
            Number::Complex(real, imag) => {
                write!(
                    f,
                    "complex({}, {})",
                    NumberText(Number::Float(real)),
                    NumberText(Number::Float(imag))
                )
            }
        }
    }
}

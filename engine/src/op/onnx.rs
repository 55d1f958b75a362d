//! How a row is written in ONNX.

use super::NodeCx;
use crate::Result;

/// How an op is written in ONNX.
#[derive(Clone, Copy)]
pub enum Onnx {
    /// There is no operator for it: an elementwise op is written as its expression, others are refused by name.
    Absent,
    /// As one operator of the same operands. Its other attributes must have their defaults.
    Named {
        op_type: &'static str,
        /// First opset with this meaning.
        since: i64,
        /// (our attribute, theirs).
        attrs: &'static [(&'static str, &'static str)],
    },
    /// By a function, as one operator or several, of which `op_type` is the main one.
    Written { op_type: &'static str, write: fn(&mut NodeCx<'_>) -> Result<()> },
}

impl Onnx {
    /// One operator of the same operands.
    pub const fn named(
        op_type: &'static str,
        since: i64,
        attrs: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self::Named { op_type, since, attrs }
    }

    /// What a function writes.
    pub const fn written(op_type: &'static str, write: fn(&mut NodeCx<'_>) -> Result<()>) -> Self {
        Self::Written { op_type, write }
    }

    /// The operator, where there is one.
    pub const fn op_type(&self) -> Option<&'static str> {
        match self {
            Self::Absent => None,
            Self::Named { op_type, .. } | Self::Written { op_type, .. } => Some(op_type),
        }
    }
}

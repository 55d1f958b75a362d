//! What can be wrong with a notebook, and where.

use std::fmt;

/// A notebook that cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The file as the caller named it.
    pub file: String,
    /// The cell, from 1; `None`: the notebook as a whole.
    pub cell: Option<usize>,
    /// What is wrong.
    pub reason: String,
}

impl Error {
    /// An error about the notebook as a whole.
    pub fn whole(file: &str, reason: impl fmt::Display) -> Self {
        Self { file: file.into(), cell: None, reason: reason.to_string() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cell {
            Some(cell) => write!(f, "{}: cell {cell}: {}", self.file, self.reason),
            None => write!(f, "{}: {}", self.file, self.reason),
        }
    }
}

impl std::error::Error for Error {}

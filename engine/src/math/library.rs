//! Functions of the C library.

/// A function that is called, where none of ours is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Library {
    Exp,
    Exp2,
    Log,
    Log2,
    Log10,
    Log1p,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
}

/// As [`Library`], of two arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Library2 {
    Pow,
    Atan2,
    Hypot,
    Fmod,
}

impl Library {
    /// Its name in C, for numbers of 64 bits.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Exp => "exp",
            Self::Exp2 => "exp2",
            Self::Log => "log",
            Self::Log2 => "log2",
            Self::Log10 => "log10",
            Self::Log1p => "log1p",
            Self::Sin => "sin",
            Self::Cos => "cos",
            Self::Tan => "tan",
            Self::Asin => "asin",
            Self::Acos => "acos",
            Self::Atan => "atan",
            Self::Sinh => "sinh",
            Self::Cosh => "cosh",
        }
    }
}

impl Library2 {
    /// Its name in C, for numbers of 64 bits.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pow => "pow",
            Self::Atan2 => "atan2",
            Self::Hypot => "hypot",
            Self::Fmod => "fmod",
        }
    }
}

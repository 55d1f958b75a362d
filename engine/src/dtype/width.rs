//! How wide elements are, for what moves them without looking at them.

/// How wide an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 1 byte.
    W1,
    /// 2 bytes.
    W2,
    /// 4 bytes.
    W4,
    /// 8 bytes.
    W8,
    /// 16 bytes.
    W16,
}

impl Width {
    /// That of elements of so many bytes, which is a power of two up to 16.
    pub(crate) fn of_bytes(bytes: usize) -> Width {
        match bytes {
            1 => Width::W1,
            2 => Width::W2,
            4 => Width::W4,
            8 => Width::W8,
            _ => Width::W16,
        }
    }
}

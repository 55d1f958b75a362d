//! Elements in row-major order, for kernels that want no strides: a part of a buffer, or a copy that the budget counts.
//!
//! A copy for which there is no memory is noted, and zeros stand in for it that take none; whoever ran the kernel asks
//! [`take_refusal`] before anyone reads what it made of them.

use std::cell::Cell;
use std::ops::Deref;

use super::alloc::{AllocError, Bytes};
use super::interrupt;
use super::typed::{self, Plain};

/// Elements, lent or copied; `Deref` gives the slice.
pub enum Elements<'a, T: Plain> {
    /// In place.
    Lent(&'a [T]),
    /// A copy in a buffer.
    Counted(Bytes),
    /// A copy that no budget counts: a few elements, or zeros that nobody has written.
    Loose(Vec<T>),
}

thread_local! {
    static REFUSED: Cell<Option<AllocError>> = const { Cell::new(None) };
}

/// Why a copy was refused on this thread since the last call.
pub fn take_refusal() -> Option<AllocError> {
    REFUSED.take()
}

/// An error if a copy was refused on this thread: for who writes into elements that are in use, before the first.
pub fn all_made() -> Result<(), AllocError> {
    take_refusal().map_or(Ok(()), Err)
}

impl<T: Plain> Elements<'_, T> {
    /// `len` elements that `fill` writes; what it leaves out holds any values.
    pub fn written(len: usize, fill: impl FnOnce(&mut [T])) -> Self {
        match Bytes::uninit(len.saturating_mul(size_of::<T>())) {
            Ok(mut bytes) => {
                fill(typed::slice_mut(&mut bytes));
                Self::Counted(bytes)
            }
            Err(error) => {
                REFUSED.set(Some(error));
                // Zeros come from the system, which writes none.
                Self::Loose(vec![T::default(); len])
            }
        }
    }

    /// The elements on their own, copied where they are lent.
    pub fn owned(self) -> Elements<'static, T> {
        match self {
            Self::Lent(it) => Elements::written(it.len(), |out| interrupt::copy(out, it)),
            Self::Counted(it) => Elements::Counted(it),
            Self::Loose(it) => Elements::Loose(it),
        }
    }

    /// The elements in a vector.
    pub fn into_owned(self) -> Vec<T> {
        match self {
            Self::Loose(it) => it,
            it => it.to_vec(),
        }
    }
}

impl<T: Plain> Deref for Elements<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            Self::Lent(it) => it,
            Self::Counted(it) => typed::slice(it),
            Self::Loose(it) => it,
        }
    }
}

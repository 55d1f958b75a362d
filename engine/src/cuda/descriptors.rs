//! Descriptors of cuDNN's graphs: attributes are set first, then a descriptor is finalized, and then it can be used and read.
//!
//! A descriptor keeps what it needs of those that it was made of; they may go before it.

#![expect(unsafe_code, reason = "calls of the library")]

use std::ptr;

use super::cudnn::{Attribute, Functions, Kind, Name, Raw};
use super::driver::Answer;

/// A descriptor, which goes with this value.
pub(super) struct Descriptor {
    functions: &'static Functions,
    raw: Raw,
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: the descriptor was made, and nobody else has it. A failure leaves it as it is.
        let _ = unsafe { (self.functions.destroy)(self.raw) };
    }
}

impl Descriptor {
    /// A descriptor without attributes.
    pub(super) fn new(functions: &'static Functions, kind: Kind) -> Answer<Self> {
        let mut raw = Raw(ptr::null_mut());
        // SAFETY: the pointer is to a descriptor of ours.
        functions.check(unsafe { (functions.create)(kind, &raw mut raw) })?;
        Ok(Self { functions, raw })
    }

    /// With these values of an attribute.
    pub(super) fn with<T: Attribute>(self, name: Name, values: &[T]) -> Answer<Self> {
        let (n, values) = (values.len() as i64, values.as_ptr().cast());
        // SAFETY: the descriptor was made, and there are so many values of this type, which the library copies. It refuses names and types
        // that the kind does not have.
        self.functions
            .check(unsafe { (self.functions.set)(self.raw, name, T::TYPE, n, values) })?;
        Ok(self)
    }

    /// With another descriptor, which is finalized, as an attribute.
    pub(super) fn with_part(self, name: Name, part: &Self) -> Answer<Self> {
        self.with(name, &[part.raw])
    }

    /// As it can be used; an error where the library does not take what it says.
    pub(super) fn finalized(self) -> Answer<Self> {
        // SAFETY: the descriptor was made.
        self.functions.check(unsafe { (self.functions.finalize)(self.raw) })?;
        Ok(self)
    }

    /// Values of an attribute: as many as there are, and as fit where `to` is.
    pub(super) fn read<'a, T: Attribute>(
        &self,
        name: Name,
        to: &'a mut [T],
    ) -> Answer<&'a mut [T]> {
        let count = self.fill(name, to)?.min(to.len());
        Ok(&mut to[..count])
    }

    /// How many descriptors an attribute has.
    pub(super) fn count(&self, name: Name) -> Answer<usize> {
        self.fill::<Raw>(name, &mut [])
    }

    /// The first descriptors of an attribute, at most so many, which are of that kind.
    pub(super) fn parts(&self, name: Name, kind: Kind, most: usize) -> Answer<Vec<Self>> {
        let new = |_| Self::new(self.functions, kind);
        let mut parts = (0..most).map(new).collect::<Answer<Vec<_>>>()?;
        // The library fills the descriptors that it is handed.
        let mut raw: Vec<Raw> = parts.iter().map(|it| it.raw).collect();
        let count = self.fill(name, &mut raw)?;
        parts.truncate(count);
        Ok(parts)
    }

    /// Writes values of an attribute; how many there are, which may be more.
    fn fill<T: Attribute>(&self, name: Name, to: &mut [T]) -> Answer<usize> {
        let mut count = 0;
        let room = to.len() as i64;
        let values = if to.is_empty() { ptr::null_mut() } else { to.as_mut_ptr().cast() };
        let get = self.functions.get;
        // SAFETY: the descriptor was made; there is room for so many values of this type, and the library writes no more.
        let status = unsafe { get(self.raw, name, T::TYPE, room, &raw mut count, values) };
        self.functions.check(status)?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    /// As the library's functions take it, while this value lives.
    pub(super) fn raw(&self) -> Raw {
        self.raw
    }
}

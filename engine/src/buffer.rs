//! Storage: memory of a device that holds the elements of tensors.
//!
//! Kernels of the processor come by their views through [`Buffer::host`] alone, which says what to do where a device has no memory that
//! the processor can read.

use std::sync::Arc;

use crate::cpu::alloc::Bytes;
use crate::cpu::memory::{HOST, Memory};
use crate::{Device, Result};

/// A block of memory of a device.
#[derive(Debug)]
pub struct Buffer(Block);

#[derive(Debug)]
enum Block {
    /// Main memory.
    Host(Bytes),
    /// Stands for memory that the processor cannot read.
    #[cfg(test)]
    Apart { device: Device, len: usize },
}

impl Buffer {
    /// The device whose memory it is.
    pub fn device(&self) -> Device {
        match &self.0 {
            Block::Host(_) => Device::Cpu,
            #[cfg(test)]
            Block::Apart { device, .. } => *device,
        }
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        match &self.0 {
            Block::Host(bytes) => bytes.len(),
            #[cfg(test)]
            Block::Apart { len, .. } => *len,
        }
    }

    /// True for a buffer of no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes, for the processor; an error if it cannot read them.
    #[inline]
    pub fn host(&self) -> Result<&Bytes> {
        match &self.0 {
            Block::Host(bytes) => Ok(bytes),
            #[cfg(test)]
            Block::Apart { device, .. } => Err(crate::Error::NotOnHost { device: *device }),
        }
    }

    /// As [`Buffer::host`], for writing.
    #[inline]
    pub fn host_mut(&mut self) -> Result<&mut Bytes> {
        match &mut self.0 {
            Block::Host(bytes) => Ok(bytes),
            #[cfg(test)]
            Block::Apart { device, .. } => Err(crate::Error::NotOnHost { device: *device }),
        }
    }
}

impl From<Bytes> for Buffer {
    fn from(bytes: Bytes) -> Self {
        Self(Block::Host(bytes))
    }
}

impl From<Bytes> for Arc<Buffer> {
    fn from(bytes: Bytes) -> Self {
        Arc::new(bytes.into())
    }
}

/// The memory of a device, if it has some: its counters and its budget.
pub fn memory(device: Device) -> Option<&'static Memory> {
    match device {
        Device::Cpu => Some(&HOST),
        Device::Meta => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DType, Error, Layout, Shape, Tensor, functional};

    #[test]
    fn what_the_processor_cannot_read_is_an_error_that_names_the_device() {
        let apart = Buffer(Block::Apart { device: Device::Meta, len: 16 });
        let layout = Layout::contiguous(Shape::from([4]));
        let x = Tensor::stored(Arc::new(apart), layout, DType::F32);
        let problem = Error::NotOnHost { device: Device::Meta };
        assert_eq!((x.device(), x.to_f64_vec()), (Device::Meta, Err(problem.clone())));
        let computed = functional::add(&x, &Tensor::number(1.0));
        assert_eq!(computed.err(), Some(problem.clone()));
        assert_eq!(functional::sum(&x, &[], false).err(), Some(problem.clone()));
        assert_eq!(functional::reshape(&x, &Shape::from([2, 2])).unwrap().device(), Device::Meta);
        assert!(
            problem.to_string().contains("memory of meta")
                && problem.to_string().contains(".cpu()")
        );
    }
}

//! Storage: memory of a device that holds the elements of tensors.
//!
//! Kernels of the processor come by their views through [`Buffer::host`] alone, which says what to do where a device has no memory that
//! the processor can read.

use std::sync::Arc;

use crate::cpu::alloc::Bytes;
use crate::cpu::memory::{HOST, Memory};
use crate::cpu::packs::Packs;
use crate::cuda::pinned::PINNED;
use crate::{Device, Error, Result, Site, cuda};

/// A block of memory of a device, and what kernels keep beside it.
#[derive(Debug)]
pub struct Buffer {
    block: Block,
    packs: Packs,
    site: Site,
}

#[derive(Debug)]
enum Block {
    /// Main memory.
    Host(Bytes),
    /// Memory of a GPU.
    Gpu(Box<cuda::Block>),
}

impl Buffer {
    /// The device whose memory it is.
    pub fn device(&self) -> Device {
        match &self.block {
            Block::Host(_) => Device::Cpu,
            Block::Gpu(block) => Device::Cuda(block.gpu().index()),
        }
    }

    /// Where in the program it was made.
    pub fn site(&self) -> Site {
        self.site
    }

    /// From now on what it holds was made here, if it is the processor's.
    pub(crate) fn made_here(&mut self) {
        self.site = Site::here();
        if let Block::Host(bytes) = &mut self.block {
            bytes.made_here();
        }
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        match &self.block {
            Block::Host(bytes) => bytes.len(),
            Block::Gpu(block) => block.len(),
        }
    }

    /// True for a buffer of no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes, for the processor; an error if it cannot read them.
    #[inline]
    pub fn host(&self) -> Result<&Bytes> {
        match &self.block {
            Block::Host(bytes) => Ok(bytes),
            Block::Gpu(_) => Err(Error::NotOnHost { device: self.device() }),
        }
    }

    /// Whether it is page-locked main memory, from which GPUs copy by themselves.
    pub(crate) fn is_pinned(&self) -> bool {
        matches!(&self.block, Block::Host(bytes) if bytes.is_of(&PINNED))
    }

    /// The block, if it is a GPU's.
    #[inline]
    pub(crate) fn gpu(&self) -> Option<&cuda::Block> {
        match &self.block {
            Block::Host(_) => None,
            Block::Gpu(block) => Some(block),
        }
    }

    /// Copies of its elements that kernels keep.
    #[inline]
    pub fn packs(&self) -> &Packs {
        &self.packs
    }

    /// As [`Buffer::host`], for writing.
    #[inline]
    pub fn host_mut(&mut self) -> Result<&mut Bytes> {
        let device = self.device();
        self.packs.clear();
        match &mut self.block {
            Block::Host(bytes) => Ok(bytes),
            Block::Gpu(_) => Err(Error::NotOnHost { device }),
        }
    }
}

impl From<Bytes> for Buffer {
    fn from(bytes: Bytes) -> Self {
        Self { block: Block::Host(bytes), packs: Packs::default(), site: Site::here() }
    }
}

impl From<cuda::Block> for Buffer {
    fn from(block: cuda::Block) -> Self {
        Self { block: Block::Gpu(Box::new(block)), packs: Packs::default(), site: Site::here() }
    }
}

impl From<cuda::Block> for Arc<Buffer> {
    fn from(block: cuda::Block) -> Self {
        Arc::new(block.into())
    }
}

impl From<Bytes> for Arc<Buffer> {
    fn from(bytes: Bytes) -> Self {
        Arc::new(bytes.into())
    }
}

/// The memory of a device that the processor counts in, if it has some: its counters and its budget.
pub fn memory(device: Device) -> Option<&'static Memory> {
    match device {
        Device::Cpu => Some(&HOST),
        Device::Meta | Device::Cuda(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DType, Layout, Shape, Tensor};

    #[test]
    fn what_the_processor_cannot_read_is_an_error_that_names_the_device() {
        let block = cuda::gpu(0).unwrap().block(16).unwrap();
        let layout = Layout::contiguous(Shape::from([4]));
        let x = Tensor::stored(block, layout, DType::F32);
        let problem = Error::NotOnHost { device: Device::Cuda(0) };
        assert_eq!(x.device(), Device::Cuda(0));
        assert_eq!(x.storage().unwrap().host().err(), Some(problem.clone()));
        let text = problem.to_string();
        assert!(text.contains("memory of cuda:0") && text.contains(".cpu()"));
    }
}

//! Tensors in the memory of a GPU: how elements get there, back, and into row-major order.

use std::borrow::Cow;

use super::{Data, Tensor};
use crate::cpu::alloc::Bytes;
use crate::cpu::typed;
use crate::cuda::driver::{Address, Grid};
use crate::cuda::parameters::{Dims, Parameters};
use crate::cuda::pinned::PINNED;
use crate::cuda::{self, Block, Gpu, source};
use crate::{Device, Error, Layout, Result, storage, with_size};

const COPY: &str = include_str!("copy.cu");

impl Tensor {
    /// The same elements in the memory of another device, off the tape.
    pub fn moved_to(&self, device: Device) -> Result<Self> {
        match (self.device(), device) {
            (from, to) if from == to => Ok(self.detach()),
            (_, Device::Meta) => Ok(self.to_meta()),
            (Device::Meta, _) => Err(Error::NoData),
            _ if self.is_abstract() => Ok(Self::abstract_on(device, self.meta())),
            (Device::Cpu, Device::Cuda(index)) => self.sent(cuda::gpu(index)?),
            (Device::Cuda(_), Device::Cpu) => self.fetched(),
            // Between two GPUs by way of main memory.
            _ => self.fetched()?.moved_to(device),
        }
    }

    /// A copy in the memory of a GPU.
    pub(crate) fn sent(&self, gpu: &'static Gpu) -> Result<Self> {
        let (shape, dtype) = (self.shape(), self.dtype());
        if let Some(block) = self.sent_from_pinned(gpu)? {
            return Ok(Self::stored(block, Layout::contiguous(shape.clone()), dtype));
        }
        let block = self.look(|view| {
            with_size!(dtype, T => {
                gpu.upload(typed::bytes_of(&view.to_slice::<T>()), (dtype, shape))
            })
        })??;
        Ok(Self::stored(block, Layout::contiguous(shape.clone()), dtype))
    }

    /// As [`Tensor::sent`], of elements that lie in row-major order in page-locked memory. The program goes on; who writes to the tensor
    /// before they have arrived writes elsewhere.
    fn sent_from_pinned(&self, gpu: &'static Gpu) -> Result<Option<Block>> {
        let buffer = self.storage()?;
        if !buffer.is_pinned() || !self.layout().is_contiguous() {
            return Ok(None);
        }
        let size = self.dtype().size();
        let start = self.layout().offset * size;
        let bytes = typed::slice(buffer.host()?).get(start..start + self.numel() * size);
        let bytes = bytes.ok_or_else(Error::outside_storage)?;
        gpu.send(bytes, buffer.clone(), (self.dtype(), self.shape())).map(Some)
    }

    /// Whether the elements lie in page-locked memory.
    pub fn is_pinned(&self) -> bool {
        matches!(self.data(), Data::Stored(buffer) if buffer.is_pinned())
    }

    /// The same elements in page-locked memory, in row-major order, off the tape. There is none without a GPU.
    pub fn pinned(&self) -> Result<Self> {
        cuda::gpu(0)?;
        let bytes = PINNED.of(self.shape(), self.dtype())?;
        let bytes = self.look(
            |view| with_size!(self.dtype(), T => storage::filled(bytes, &view.to_slice::<T>())),
        )??;
        Ok(Self::stored(bytes, Layout::contiguous(self.shape().clone()), self.dtype()))
    }

    /// A copy in main memory, in row-major order. Waits for the GPU.
    pub(crate) fn fetched(&self) -> Result<Self> {
        let plain = self.gathered()?;
        let buffer = plain.storage()?;
        let Some(block) = buffer.gpu() else { return Ok(plain) };
        let mut bytes = Bytes::of(self.shape(), self.dtype())?;
        let first = plain.layout().offset * self.dtype().size();
        block.gpu().download(
            block,
            first,
            &mut typed::slice_mut(&mut bytes)[..self.numel() * self.dtype().size()],
        )?;
        Ok(Self::stored(bytes, Layout::contiguous(self.shape().clone()), self.dtype()))
    }

    /// The same elements of a GPU in row-major order without gaps.
    pub(crate) fn gathered(&self) -> Result<Self> {
        if self.layout().is_contiguous() {
            return Ok(self.detach());
        }
        self.copied()
    }

    /// A copy in the memory of the same GPU, in row-major order.
    pub(crate) fn copied(&self) -> Result<Self> {
        let out = self.gpu()?.block_of(self.shape(), self.dtype())?;
        let shape = Layout::contiguous(self.shape().clone());
        copy(self, out.address(), &shape)?;
        Ok(Self::stored(out, shape, self.dtype()))
    }

    /// The GPU whose memory it is in.
    pub(crate) fn gpu(&self) -> Result<&'static Gpu> {
        Ok(self.storage()?.gpu().ok_or(Error::Abstract)?.gpu())
    }

    /// Where its first element is in the memory of a GPU.
    pub(crate) fn address(&self) -> Result<Address> {
        let pending;
        let buffer = match self.data() {
            Data::Stored(buffer) => buffer,
            _ => {
                pending = self.storage()?;
                &pending
            }
        };
        let block = buffer.gpu().ok_or(Error::Abstract)?;
        address_in(block, self.layout(), self.dtype().size())
    }
}

/// Where the first element of a layout is in a block; an error if it does not lie inside.
fn address_in(block: &Block, layout: &Layout, size: usize) -> Result<Address> {
    let reach = layout.reach().and_then(|it| it.checked_mul(size));
    match reach.is_some_and(|it| it <= block.len()) {
        true => Ok(block.address() + (layout.offset * size) as Address),
        false => Err(Error::outside_storage()),
    }
}

/// Copies the elements of a tensor to where `target` says, from an address on.
pub(crate) fn copy(from: &Tensor, to: Address, target: &Layout) -> Result<()> {
    let (gpu, dtype, n) = (from.gpu()?, from.dtype(), from.numel());
    if n == 0 {
        return Ok(());
    }
    let strides = [&from.layout().strides[..], &target.strides[..]];
    let [source, target_dims] = Dims::together("copy", from.shape(), strides)?;
    let start = from.address()?;
    let to = to + (target.offset * dtype.size()) as Address;
    if source.is_flat() && target_dims.is_flat() {
        return gpu.copy(start, to, n * dtype.size());
    }
    let defines = [("T", Cow::Borrowed(source::bits_of(dtype)))];
    if let Some(turned) = Turned::of(&source, &target_dims) {
        let function = gpu.function("turn", COPY, &defines)?;
        return gpu.launch(function, turned.grid(), &turned.parameters(start, to));
    }
    let function = gpu.function("copy", COPY, &defines)?;
    let parameters =
        Parameters::default().long(n).address(start).dims(&source).address(to).dims(&target_dims);
    gpu.launch(function, Grid::each(n), &parameters)
}

/// A copy of matrices that lie by columns and are written by rows.
struct Turned {
    source: Dims,
    target: Dims,
    rows: usize,
    columns: usize,
    /// Elements from column to column of the source, and from row to row of the target.
    across: i64,
    down: i64,
}

impl Turned {
    /// The matrices that these dimensions step through, if they are such and large enough.
    fn of(source: &Dims, target: &Dims) -> Option<Self> {
        let last = source.sizes.len().checked_sub(1)?;
        let row = source.strides.iter().position(|it| *it == 1).filter(|it| *it != last)?;
        let (rows, columns) = (source.sizes[row] as usize, source.sizes[last] as usize);
        if target.strides[last] != 1 || rows < 16 || columns < 16 {
            return None;
        }
        let without = |dims: &Dims| {
            let kept = |list: &[i64]| {
                let others = list.iter().enumerate().filter(|(at, _)| *at != row && *at != last);
                others.map(|it| *it.1).collect()
            };
            Dims { sizes: kept(&dims.sizes), strides: kept(&dims.strides) }
        };
        let (across, down) = (source.strides[last], target.strides[row]);
        Some(Self { source: without(source), target: without(target), rows, columns, across, down })
    }

    fn outer(&self) -> usize {
        self.source.sizes.iter().product::<i64>() as usize
    }

    fn grid(&self) -> Grid {
        let tiles = self.outer() * self.rows.div_ceil(32) * self.columns.div_ceil(32);
        Grid::blocks(tiles.min(1 << 20), 256)
    }

    fn parameters(&self, from: Address, to: Address) -> Parameters {
        Parameters::default()
            .long(self.outer())
            .long(self.rows)
            .long(self.columns)
            .address(from)
            .dims(&self.source)
            .signed(self.across)
            .address(to)
            .dims(&self.target)
            .signed(self.down)
    }
}

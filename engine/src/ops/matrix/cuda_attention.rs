//! Attention on a GPU without a matrix of scores, and its gradients: float32 on CUDA cores, halves on tensor cores. What the kernels do not
//! take, float64 and rows of more than 128 elements above all, goes by other ops.

use std::borrow::Cow;

use crate::cuda::Properties;
use crate::cuda::driver::{Address, Grid};
use crate::cuda::parameters::{Dims, Parameters};
use crate::cuda::source::type_of;
use crate::op::{CudaCx, InferCx};
use crate::{DType, Result, Tensor};

use super::attention::sizes;
use crate::cpu::attention::Sizes;

macro_rules! kernels {
    ($products:literal, $kernel:literal) => {
        concat!(
            include_str!("../../cuda/tensor_cores.cu"),
            include_str!($products),
            include_str!("attention_tiles.cu"),
            include_str!($kernel)
        )
    };
}

/// Of float32 and of halves.
const FORWARD: [&str; 2] = [
    kernels!("attention_floats.cu", "attention.cu"),
    kernels!("attention_halves.cu", "attention.cu"),
];
const BACKWARD: [&str; 2] = [
    kernels!("attention_floats.cu", "attention_backward.cu"),
    kernels!("attention_halves.cu", "attention_backward.cu"),
];

/// Rows that are a block's own, `OWN` of the kernels, and its threads.
const OWN: usize = 64;
const THREADS: u32 = 128;

/// Elements of the widest rows that blocks hold.
const MOST_WIDTH: usize = 128;

/// Bytes of keys and values that stay in the cache while all tiles that need them come.
const CACHED: usize = 16 << 20;

/// Which kernel: that of the results, of the gradient of queries, or of those of keys and values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Forward,
    OfQueries,
    OfKeys,
}

/// How a block holds its tiles.
#[derive(Clone, Copy)]
struct Tiles {
    dtype: DType,
    /// Elements of rows of queries and values, filled up to what the products take.
    width: usize,
    values: usize,
    /// Rows of a tile of the other side, and tiles of it that are held at once.
    stream: usize,
    stages: usize,
    /// Blocks that a multiprocessor is to hold: it bounds the registers of a thread.
    blocks: usize,
    part: Part,
}

impl Tiles {
    fn of(sizes: &Sizes, dtype: DType, part: Part) -> Self {
        let step = if dtype.is_half() { 16 } else { 32 };
        let [width, values] = [sizes.width, sizes.values].map(|it| it.next_multiple_of(step));
        let is_narrow = width.max(values) <= 64;
        let (stream, blocks) = match (part, dtype.is_half(), is_narrow) {
            (Part::Forward, _, true) => (64, 4),
            (Part::Forward, true, false) => (64, 2),
            (Part::OfQueries, true, true) => (64, 3),
            (_, _, true) => (64, 2),
            (_, _, false) => (32, 2),
        };
        let stages = if dtype.is_half() { 2 } else { 1 };
        Self { dtype, width, values, stream, stages, blocks, part }
    }

    /// Elements that are loaded together.
    fn pack(&self) -> usize {
        16 / self.dtype.size()
    }

    /// Bytes of shared memory of a block, as the kernels lay it out.
    fn shared(&self) -> usize {
        let row = |width: usize| width + self.pack();
        let shares = if self.dtype.is_half() { 0 } else { OWN * (self.stream + 8) };
        let [first, second] = [self.width, self.values].map(|it| self.stream * row(it));
        let notes = 2 * self.stages * self.stream * size_of::<f32>();
        let (own, stage, room, notes) = match self.part {
            Part::Forward => (OWN * row(self.width), first.max(shares) + second, 0, 0),
            _ => (OWN * (row(self.width) + row(self.values)), first + second, shares, notes),
        };
        (own + self.stages * stage + room) * self.dtype.size() + notes
    }

    fn defines(&self, is_packed: bool, causal: bool, is_masked: bool) -> Vec<Define> {
        let number = |it: usize| Cow::Owned(it.to_string());
        let flag = |it: bool| Cow::Borrowed(if it { "1" } else { "0" });
        vec![
            ("T", type_of(self.dtype).into()),
            ("WIDTH", number(self.width)),
            ("VALUES", number(self.values)),
            ("STREAM", number(self.stream)),
            ("STAGES", number(self.stages)),
            // A mask takes registers.
            ("BLOCKS", number(if is_masked { self.blocks.min(3) } else { self.blocks })),
            ("PACKED", flag(is_packed)),
            ("CAUSAL", flag(causal)),
            ("MASKED", flag(is_masked)),
            ("BY_KEYS", flag(self.part == Part::OfKeys)),
        ]
    }
}

type Define = (&'static str, Cow<'static, str>);

/// Whether the kernels take a case, whose queries, keys and values are operands from `first` on.
pub(super) fn takes(cx: &InferCx<'_>, gpu: &Properties, first: usize) -> bool {
    let dtype = cx.dtype(first);
    let [q, k, v] = [0, 1, 2].map(|it| cx.shape(first + it));
    let sizes = sizes([q, k, v], cx.float(0), cx.flag(1));
    let parts = if first == 0 { &[Part::Forward][..] } else { &[Part::OfQueries, Part::OfKeys] };
    let fits = |it: &Part| Tiles::of(&sizes, dtype, *it).shared() <= gpu.shared_per_block as usize;
    let rows = sizes.queries.max(sizes.keys);
    let blocks = sizes.batch.saturating_mul(rows.div_ceil(OWN));
    (dtype.is_half() || dtype == DType::F32)
        && gpu.capability >= (8, 0)
        && [q, k, v].iter().all(|it| it.numel() > 0)
        && sizes.width.max(sizes.values) <= MOST_WIDTH
        && rows < 1 << 30
        && blocks < 1 << 31
        && parts.iter().all(fits)
}

/// Matrices of a batch as the kernels see them, `ng_matrices`.
struct Matrices {
    tensor: Tensor,
    step: i64,
    batch: Dims,
}

impl Matrices {
    /// Operand `idx`, whose rows lie in a row; else a copy.
    fn of(cx: &CudaCx<'_>, idx: usize) -> Result<Self> {
        let rank = cx.shape(idx).rank();
        let lies_so = cx.shape(idx)[rank - 1] == 1 || cx.layout(idx).strides[rank - 1] == 1;
        let tensor = if lies_so { cx.inputs[idx].clone() } else { cx.plain(idx)? };
        Self::under(cx.op.name, tensor)
    }

    fn under(op: &'static str, tensor: Tensor) -> Result<Self> {
        let layout = tensor.layout();
        let lead = layout.shape.rank() - 2;
        let step = layout.strides[lead] as i64;
        let [batch] = Dims::together(op, &layout.shape[..lead], [&layout.strides[..lead]])?;
        Ok(Self { step, batch, tensor })
    }

    /// Whether each row can be loaded `pack` elements at a time.
    fn is_packed(&self, pack: usize) -> Result<bool> {
        let width = self.tensor.shape()[self.tensor.shape().rank() - 1];
        let even = |it: &i64| it % pack as i64 == 0;
        Ok(width.is_multiple_of(pack)
            && even(&self.step)
            && self.batch.strides.iter().all(even)
            && self.tensor.address()?.is_multiple_of(16))
    }

    fn add(&self, parameters: Parameters) -> Result<Parameters> {
        let address = self.tensor.address()?;
        Ok(parameters.structure(|it| it.address(address).signed(self.step).dims(&self.batch)))
    }
}

/// A mask, if there is one, and the elements from one key to the next.
fn mask_of(cx: &CudaCx<'_>, idx: usize) -> Result<(Option<Matrices>, i32)> {
    if cx.inputs.len() <= idx {
        return Ok((None, 0));
    }
    let step = |it: &Tensor| it.layout().strides.last().copied().unwrap_or(1);
    let own = i32::try_from(step(&cx.inputs[idx]));
    let tensor = if own.is_ok() { cx.inputs[idx].clone() } else { cx.plain(idx)? };
    Ok((Some(Matrices::under(cx.op.name, tensor)?), own.unwrap_or(1)))
}

/// One application: its sizes, its matrices in the order of the kernel's parameters, and its mask.
struct Attention<'a, 'b> {
    cx: &'a CudaCx<'b>,
    sizes: Sizes,
    matrices: Vec<Matrices>,
    mask: Option<Matrices>,
    mask_step: i32,
}

impl<'a, 'b> Attention<'a, 'b> {
    /// With queries, keys and values from operand `first` on, and a mask at `mask`.
    fn of(cx: &'a CudaCx<'b>, first: usize, all: &[usize], mask: usize) -> Result<Self> {
        let [q, k, v] = [0, 1, 2].map(|it| cx.shape(first + it));
        let sizes = sizes([q, k, v], cx.float(0), cx.flag(1));
        let matrices = all.iter().map(|it| Matrices::of(cx, *it)).collect::<Result<_>>()?;
        let (mask, mask_step) = mask_of(cx, mask)?;
        Ok(Self { cx, sizes, matrices, mask, mask_step })
    }

    fn run(
        &self,
        name: &'static str,
        texts: [&'static str; 2],
        part: Part,
        rest: &[Address],
    ) -> Result<()> {
        let dtype = self.cx.dtype(0);
        let tiles = Tiles::of(&self.sizes, dtype, part);
        let mut is_packed = true;
        for it in &self.matrices {
            is_packed &= it.is_packed(tiles.pack())?;
        }
        let defines = tiles.defines(is_packed, self.sizes.causal, self.mask.is_some());
        let mut parameters = self.sizes_of(dtype);
        for it in self.matrices.iter().chain([self.mask.as_ref().unwrap_or(&self.matrices[0])]) {
            parameters = it.add(parameters)?;
        }
        let rows = if part == Part::OfKeys { self.sizes.keys } else { self.sizes.queries };
        let blocks = rows.div_ceil(OWN) * self.sizes.batch;
        let grid = Grid { shared: tiles.shared() as u32, ..Grid::blocks(blocks, THREADS) };
        let text = texts[usize::from(dtype.is_half())];
        let parameters = parameters.addresses(rest.iter().copied());
        self.cx.run(name, text, &defines, grid, &parameters)
    }

    /// `ng_sizes`
    fn sizes_of(&self, dtype: DType) -> Parameters {
        let Sizes { batch, queries, keys, width, values, scale, .. } = self.sizes;
        let bytes = queries.max(keys).saturating_mul((width + values) * dtype.size());
        let together = (CACHED / bytes).clamp(1, batch);
        let numbers = [batch, queries, keys, width, values, together];
        Parameters::default().structure(|it| {
            let it = numbers.iter().fold(it, |it, number| it.int(*number as i32));
            it.float(scale as f32).int(self.mask_step)
        })
    }
}

/// Attention, and the logarithms of its sums.
pub(super) fn forward(cx: &CudaCx<'_>) -> Result<()> {
    let attention = Attention::of(cx, 0, &[0, 1, 2], 3)?;
    let results = [cx.output(0)?, cx.output(1)?];
    attention.run("attention", FORWARD, Part::Forward, &results)
}

/// The gradients of queries, keys and values, from operands that begin with the gradient of the results.
pub(super) fn backward(cx: &CudaCx<'_>) -> Result<()> {
    let attention = Attention::of(cx, 1, &[0, 1, 2, 3, 4], 6)?;
    let (log_sums, count) = (cx.plain(5)?, attention.sizes.batch * attention.sizes.queries);
    let means = cx.scratch(count * size_of::<f32>())?;
    let kept = [log_sums.address()?, means.address()];
    let run = |part, results: [Address; 2]| {
        attention.run("attention_backward", BACKWARD, part, &[kept, results].concat())
    };
    run(Part::OfQueries, [cx.output(0)?, 0])?;
    run(Part::OfKeys, [cx.output(1)?, cx.output(2)?])
}

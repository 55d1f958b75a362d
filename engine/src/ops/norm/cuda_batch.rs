//! Batch norm on a GPU: parts of each channel are folded by blocks of their own; what makes the results joins what they have left.

use std::borrow::Cow;

use smallvec::{SmallVec, smallvec};

use crate::cuda::Block;
use crate::cuda::driver::{Address, Grid};
use crate::cuda::parameters::Parameters;
use crate::cuda::source::{computed, type_of};
use crate::op::CudaCx;
use crate::{DType, Result, Tensor};

use super::native_batch_norm::kept;

const BATCH_NORM: &str = include_str!("batch_norm.cu");

/// With what lane programs need besides.
const FINISHED: &str =
    concat!(include_str!("../../lane/prelude.cu"), include_str!("batch_norm.cu"));

/// Numbers that a part leaves of a channel, at most.
const MOST_LEFT: usize = 3;

/// Blocks that a multiprocessor has at once.
const BLOCKS: usize = 8;

/// One input, and how the threads of blocks share it.
struct Batch<'a, 'b> {
    cx: &'a CudaCx<'b>,
    dtype: DType,
    /// Images, channels, elements of a plane.
    sizes: [usize; 3],
    /// Channels of a block.
    columns: usize,
    /// Elements that are loaded at once.
    pack: usize,
    /// Blocks of a channel.
    parts: usize,
}

impl<'a, 'b> Batch<'a, 'b> {
    /// For an input like operand `idx`, whose elements and those of what is made of it are at these addresses.
    fn of(cx: &'a CudaCx<'b>, idx: usize, at: &[Address]) -> Result<Self> {
        let (kept, dtype) = (kept(cx.shape(idx)), cx.dtype(idx));
        let [images, channels, area] = [kept.before, kept.kept, kept.after];
        let beside = cx.finish.map_or(Ok(SmallVec::new()), |it| it.places())?;
        let fits = |pack: &usize| {
            let bytes = pack * dtype.size();
            let even = |it: &Address| it.is_multiple_of(bytes as u64);
            bytes <= 16
                && area.is_multiple_of(*pack)
                && at.iter().all(even)
                && beside.iter().all(|(at, size)| at.is_multiple_of((pack * size) as u64))
        };
        let pack = [8, 4, 2].into_iter().find(fits).unwrap_or(1);
        let columns = if area == 1 { channels.next_power_of_two().min(32) } else { 1 };
        let rounds = (images * area / pack).div_ceil(256 / columns);
        let blocks = cx.gpu.properties().multiprocessors as usize * BLOCKS;
        let parts = blocks.div_ceil(channels.div_ceil(columns)).min(rounds / 4).clamp(1, 1024);
        Ok(Self { cx, dtype, sizes: [images, channels, area], columns, pack, parts })
    }

    /// Room for what the parts leave.
    fn room(&self) -> Result<Block> {
        let each = MOST_LEFT * self.dtype.computed().size();
        self.cx.scratch(self.parts * self.sizes[1] * each)
    }

    fn run(
        &self,
        name: &'static str,
        parameters: &[Tensor],
        put: impl FnOnce(Parameters) -> Result<Parameters>,
    ) -> Result<()> {
        let number = |it: usize| Cow::Owned(it.to_string());
        let mut defines: SmallVec<[(&'static str, Cow<'static, str>); 8]> = smallvec![
            ("T", Cow::Borrowed(type_of(self.dtype))),
            ("C", computed(self.dtype).into()),
            ("W", type_of(parameters.first().map_or(self.dtype, Tensor::dtype)).into()),
            ("AFFINE", number(parameters.len())),
            ("COLUMNS", number(self.columns)),
            ("PACK", number(self.pack)),
        ];
        if let Some(finish) = self.cx.finish {
            defines.push(("NG_FINISH", finish.text().to_owned().into()));
        }
        let template = if self.cx.finish.is_some() { FINISHED } else { BATCH_NORM };
        let blocks = self.sizes[1].div_ceil(self.columns).min(1 << 20);
        let grid = Grid { blocks: [blocks as u32, self.parts as u32, 1], threads: 256, shared: 0 };
        let [images, channels, area] = self.sizes;
        let sizes = Parameters::default().structure(|it| it.long(images).long(channels).long(area));
        self.cx.run(name, template, &defines, grid, &put(sizes)?)
    }

    /// The parameters, then those of what follows.
    fn finished(&self, parameters: Parameters) -> Result<Parameters> {
        match self.cx.finish {
            Some(finish) => finish.put(parameters),
            None => Ok(parameters),
        }
    }
}

/// Addresses of weight and bias, 0 for what is not there.
fn places(parameters: &[Tensor]) -> Result<[Address; 2]> {
    let at = |it: usize| parameters.get(it).map_or(Ok(0), Tensor::address);
    Ok([at(0)?, at(1)?])
}

/// Channels less their mean, divided by their deviation, times weight, plus bias; means and variances.
pub(super) fn forward(cx: &CudaCx<'_>) -> Result<()> {
    if cx.outputs[1].numel() == 0 {
        return Ok(());
    }
    let x = cx.plain(0)?;
    let parameters = (1..cx.inputs.len()).map(|it| cx.plain(it)).collect::<Result<Vec<_>>>()?;
    let [from, y] = [if x.numel() == 0 { 0 } else { x.address()? }, cx.output(0)?];
    let batch = Batch::of(cx, 0, &[from, y])?;
    let parts = batch.room()?;
    batch.run("batch_norm_moments", &parameters, |it| Ok(it.addresses([from, parts.address()])))?;
    let ([weight, bias], means, variances) = (places(&parameters)?, cx.output(1)?, cx.output(2)?);
    batch.run("batch_norm", &parameters, |it| {
        let it = it.addresses([from, parts.address()]).int(batch.parts as i32);
        let it = it.addresses([weight, bias, y, means, variances]).double(cx.float(0));
        batch.finished(it)
    })
}

/// The gradient of a batch norm; if there are three results, also those of weight and bias.
pub(super) fn backward(cx: &CudaCx<'_>) -> Result<()> {
    if cx.shape(2).numel() == 0 {
        return Ok(());
    }
    let [dy, x, means, variances] = [cx.plain(0)?, cx.plain(1)?, cx.plain(2)?, cx.plain(3)?];
    let weight = cx.inputs.get(4).map(|_| cx.plain(4)).transpose()?;
    let at = |it: &Tensor| if it.numel() == 0 { Ok(0) } else { it.address() };
    let [dy, x, means, variances] = [at(&dy)?, at(&x)?, at(&means)?, at(&variances)?];
    let dx = if cx.outputs[0].numel() == 0 { 0 } else { cx.output(0)? };
    let batch = Batch::of(cx, 1, &[dy, x, dx])?;
    let parts = batch.room()?;
    let products = [dy, x, means, parts.address()];
    batch.run("batch_norm_products", weight.as_slice(), |it| Ok(it.addresses(products)))?;
    let of_parameters = match cx.outputs.len() {
        3 => [cx.output(1)?, cx.output(2)?],
        _ => [0, 0],
    };
    let [own, _] = places(weight.as_slice())?;
    batch.run("batch_norm_backward", weight.as_slice(), |it| {
        let it = it.addresses([dy, x, means, variances, parts.address()]);
        let it = it.int(batch.parts as i32).addresses([own, dx]).addresses(of_parameters);
        Ok(it.double(cx.float(0)))
    })
}

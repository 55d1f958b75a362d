//! Convolution and pooling on a GPU. A convolution is the vendor's library's; where that does not take it, it is a product of matrices over
//! the columns of its images, some images at a time.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::library;
use crate::cpu::conv::{ConvPass, ConvProblem};
use crate::cpu::pool2d::{Divisor, PoolProblem};
use crate::cuda::driver::{Address, Grid};
use crate::cuda::parameters::{Dims, Parameters};
use crate::cuda::source::{computed, type_of};
use crate::cuda::{Block, settings};
use crate::op::CudaCx;
use crate::ops::matrix::cuda::{Request, Side, multiply};
use crate::tensor::on_gpu::copy;
use crate::{DType, Layout, Result, Shape, Tensor};

const COLUMNS: &str = include_str!("columns.cu");
const POOL: &str = include_str!("pool.cu");

/// Bytes of columns that are made at once, about.
const AT_ONCE: usize = 256 << 20;

/// Lines of columns that are few: those of the first convolution of a network.
const FEW_LINES: usize = 160;

/// One convolution: sizes as the kernels see them.
struct Pass<'a> {
    cx: &'a CudaCx<'a>,
    dtype: DType,
    images: usize,
    groups: usize,
    /// Channels of a group, in and out.
    channels: [usize; 2],
    /// Elements of a plane, in and out.
    area: [usize; 2],
    taps: usize,
    steps: [i32; 13],
    /// Whether the columns are the images themselves.
    is_pointwise: bool,
}

impl<'a> Pass<'a> {
    fn new(cx: &'a CudaCx<'a>, problem: &ConvProblem) -> Self {
        let [out_height, out_width] = problem.output();
        let channels =
            [problem.in_channels / problem.groups, problem.out_channels / problem.groups];
        let (input, kernel) = (problem.input, problem.kernel);
        let pairs = [
            input,
            kernel,
            [out_height, out_width],
            problem.stride,
            problem.padding,
            problem.dilation,
        ];
        let mut steps = [channels[0] as i32; 13];
        let flat = pairs.iter().flatten();
        steps[1..].iter_mut().zip(flat).for_each(|(slot, it)| *slot = *it as i32);
        Self {
            cx,
            dtype: cx.dtype(0),
            images: problem.batch,
            groups: problem.groups,
            channels,
            area: [input[0] * input[1], out_height * out_width],
            taps: kernel[0] * kernel[1],
            steps,
            is_pointwise: kernel == [1, 1] && problem.stride == [1, 1] && problem.padding == [0, 0],
        }
    }

    fn defines(&self) -> [(&'static str, Cow<'static, str>); 2] {
        [("T", type_of(self.dtype).into()), ("C", computed(self.dtype).into())]
    }

    fn steps(&self, parameters: Parameters) -> Parameters {
        let bytes: SmallVec<[u8; 64]> = self.steps.iter().flat_map(|it| it.to_ne_bytes()).collect();
        parameters.bytes(&bytes)
    }

    /// Lines of columns: channels of a group with their taps.
    fn lines(&self) -> usize {
        self.channels[0] * self.taps
    }

    /// Images whose columns are made at once.
    fn at_once(&self) -> usize {
        let of_one = self.groups * self.lines() * self.area[1] * self.dtype.size();
        (AT_ONCE / of_one.max(1)).clamp(1, self.images.max(1))
    }

    /// Elements of one image of each kind.
    fn image(&self) -> [usize; 2] {
        [0, 1].map(|it| self.groups * self.channels[it] * self.area[it])
    }

    fn at(&self, start: Address, elements: usize) -> Address {
        start + (elements * self.dtype.size()) as Address
    }

    /// Columns of `n` images from an address on, with these steps from image to image, line to line and group to group.
    fn columns(&self, x: Address, n: usize, to: Address, steps: [usize; 3]) -> Result<()> {
        let lines = n * self.groups * self.lines();
        let parameters = self.steps(Parameters::default().long(lines).addresses([x, to]));
        let parameters =
            steps.into_iter().fold(parameters, Parameters::long).int(self.groups as i32);
        let threads = if self.area[1] <= 64 { 64 } else { 256 };
        let grid = Grid::blocks(lines.min(1 << 20), threads);
        self.cx.run("to_columns", COLUMNS, &self.defines(), grid, &parameters)
    }

    /// A matrix in each of (images, groups), or in each of the groups alone.
    fn side(&self, address: Address, steps: [usize; 2], batch: &[(usize, usize)]) -> Result<Side> {
        let sizes: SmallVec<[usize; 2]> = batch.iter().map(|it| it.0).collect();
        let strides: SmallVec<[isize; 2]> = batch.iter().map(|it| it.1 as isize).collect();
        let [batch] = Dims::together(self.cx.op.name, &sizes, [&strides[..]])?;
        Ok(Side { address, steps: steps.map(|it| it as i64), batch })
    }

    /// Products whose results have this dtype.
    fn product(
        &self,
        (batch, sizes): (usize, [usize; 3]),
        a: Side,
        b: Side,
        (out, out_dtype): (Address, DType),
    ) -> Result<()> {
        let request = Request { dtype: self.dtype, out_dtype, batch, sizes, a, b, out, bias: None };
        multiply(self.cx.gpu, &request)
    }

    /// Whether the vendor's library comes first. Products of matrices are quicker than what it has for numbers that keep all their digits and
    /// give the same sums on every run, where kernels see one position, or few of an image's channels.
    fn asks_library(&self, problem: &ConvProblem) -> bool {
        let is_coarse = self.dtype.is_half()
            || self.dtype == DType::F32 && settings::COARSE_CONVOLUTIONS.is_on();
        let by_products = match problem.pass {
            ConvPass::Forward => self.is_pointwise,
            ConvPass::InputGrad => self.taps == 1,
            ConvPass::WeightGrad => self.taps == 1 || self.lines() <= FEW_LINES,
        };
        is_coarse || self.groups > 1 || !by_products
    }

    /// Elements of a group of an image, in and out together.
    fn image_area(&self) -> usize {
        (self.channels[0] + self.channels[1]) * self.area[1]
    }

    /// Adds up `n` parts of so many elements, and rounds the sums.
    fn sum_parts(&self, n: usize, parts: &Block, (all, to): (usize, Address)) -> Result<()> {
        let parameters = Parameters::default().long(all).long(n).addresses([parts.address(), to]);
        self.cx.run("sum_parts", COLUMNS, &self.defines(), Grid::each(all), &parameters)
    }

    fn scratch(&self, elements: usize, dtype: DType) -> Result<Block> {
        self.cx.scratch(elements * dtype.size())
    }

    /// The dtype in which parts are added up.
    fn wide(&self) -> DType {
        self.dtype.computed()
    }
}

/// The convolution of images (operand 0) with kernels (operand 1) and a bias.
pub(super) fn forward(cx: &CudaCx<'_>, problem: &ConvProblem) -> Result<()> {
    let pass = Pass::new(cx, problem);
    let (x, w, y) = (cx.plain(0)?, cx.plain(1)?, cx.output(0)?);
    let all = cx.outputs[0].numel();
    if all == 0 {
        return Ok(());
    }
    let asks = x.numel() > 0 && pass.asks_library(problem);
    if !(asks && library::convolve(cx, problem, [x.address()?, w.address()?, y])?) {
        forward_by_columns(&pass, &x, &w, y)?;
    }
    if cx.inputs.len() > 2 {
        let bias = cx.plain(2)?;
        let channels = pass.groups * pass.channels[1];
        let parameters = Parameters::default()
            .long(all)
            .addresses([y, bias.address()?])
            .long(channels)
            .long(pass.area[1]);
        cx.run("add_bias", COLUMNS, &pass.defines(), Grid::each(all), &parameters)?;
    }
    Ok(())
}

/// The convolution, without a bias, as products of matrices.
fn forward_by_columns(pass: &Pass<'_>, x: &Tensor, w: &Tensor, y: Address) -> Result<()> {
    let ([c, k], lines, [area_in, area]) = (pass.channels, pass.lines(), pass.area);
    let groups = pass.groups;
    let at_once = if pass.is_pointwise { pass.images } else { pass.at_once() };
    let scratch = match pass.is_pointwise {
        true => None,
        false => Some(pass.scratch(at_once * groups * lines * area, pass.dtype)?),
    };
    for first in (0..pass.images).step_by(at_once) {
        let n = at_once.min(pass.images - first);
        let images = pass.at(x.address()?, first * pass.image()[0]);
        let columns = match &scratch {
            None => images,
            Some(block) => {
                pass.columns(
                    images,
                    n,
                    block.address(),
                    [groups * lines * area, area, lines * area],
                )?;
                block.address()
            }
        };
        let line = if pass.is_pointwise { c * area_in } else { lines * area };
        let kernels = pass.side(w.address()?, [lines, 1], &[(n, 0), (groups, k * lines)])?;
        let columns = pass.side(columns, [area, 1], &[(n, groups * line), (groups, line)])?;
        let out = pass.at(y, first * pass.image()[1]);
        pass.product((n * groups, [k, area, lines]), kernels, columns, (out, pass.dtype))?;
    }
    Ok(())
}

/// The gradient of the images, from that of the result (operand 0) and the kernels (operand 1).
pub(super) fn input_grad(cx: &CudaCx<'_>, problem: &ConvProblem) -> Result<()> {
    let pass = Pass::new(cx, problem);
    let (dy, w, dx) = (cx.plain(0)?, cx.plain(1)?, cx.output(0)?);
    if cx.outputs[0].numel() == 0 {
        return Ok(());
    }
    if dy.numel() == 0 {
        return cx.gpu.clear(dx, cx.outputs[0].numel() * pass.dtype.size());
    }
    if pass.asks_library(problem)
        && library::convolve(cx, problem, [dx, w.address()?, dy.address()?])?
    {
        return Ok(());
    }
    let ([_, k], lines, area, groups) = (pass.channels, pass.lines(), pass.area[1], pass.groups);
    let at_once = if pass.is_pointwise { pass.images } else { pass.at_once() };
    let scratch = match pass.is_pointwise {
        true => None,
        false => Some(pass.scratch(at_once * groups * lines * area, pass.wide())?),
    };
    for first in (0..pass.images).step_by(at_once) {
        let n = at_once.min(pass.images - first);
        let grads = pass.at(dy.address()?, first * pass.image()[1]);
        let images = pass.at(dx, first * pass.image()[0]);
        let columns = scratch.as_ref().map_or(images, |it| it.address());
        let kernels = pass.side(w.address()?, [1, lines], &[(n, 0), (groups, k * lines)])?;
        let grads = pass.side(grads, [area, 1], &[(n, groups * k * area), (groups, k * area)])?;
        let dtype = if scratch.is_some() { pass.wide() } else { pass.dtype };
        pass.product((n * groups, [lines, area, k]), kernels, grads, (columns, dtype))?;
        if scratch.is_some() {
            let all = n * pass.image()[0];
            let parameters =
                pass.steps(Parameters::default().long(all).addresses([columns, images]));
            cx.run("from_columns", COLUMNS, &pass.defines(), Grid::each(all), &parameters)?;
        }
    }
    Ok(())
}

/// The gradient of the kernels, from the images (operand 0) and the gradient of the result (operand 1): one product for each group, over
/// all positions of all images.
pub(super) fn weight_grad(cx: &CudaCx<'_>, problem: &ConvProblem) -> Result<()> {
    let pass = Pass::new(cx, problem);
    let (x, dy, dw) = (cx.plain(0)?, cx.plain(1)?, cx.output(0)?);
    let all = cx.outputs[0].numel();
    if all == 0 {
        return Ok(());
    }
    if x.numel() == 0 || dy.numel() == 0 {
        return cx.gpu.clear(dw, all * pass.dtype.size());
    }
    if pass.asks_library(problem)
        && library::convolve(cx, problem, [x.address()?, dw, dy.address()?])?
    {
        return Ok(());
    }
    let parts = all.saturating_mul(pass.images * pass.wide().size());
    let is_small = pass.channels[0] * pass.channels[1] <= pass.image_area() && parts <= AT_ONCE;
    if pass.is_pointwise && is_small {
        return weight_grad_by_images(&pass, &x, &dy, dw);
    }
    let ([_, k], lines, area, groups) = (pass.channels, pass.lines(), pass.area[1], pass.groups);
    let at_once = pass.at_once();
    let columns = pass.scratch(at_once * groups * lines * area, pass.dtype)?;
    let turned = pass.scratch(at_once * groups * k * area, pass.dtype)?;
    // Some images at a time: their parts are added up before they are rounded.
    let in_parts = at_once < pass.images;
    let parts = match in_parts {
        true => Some([pass.scratch(all, pass.wide())?, pass.scratch(all, pass.wide())?]),
        false => None,
    };
    for first in (0..pass.images).step_by(at_once) {
        let n = at_once.min(pass.images - first);
        let images = pass.at(x.address()?, first * pass.image()[0]);
        // All positions of all images lie in a row.
        pass.columns(images, n, columns.address(), [area, n * area, lines * n * area])?;
        let rows = Layout {
            shape: Shape::from([groups * k, n, area]),
            strides: SmallVec::from_slice(&[area as isize, (groups * k * area) as isize, 1]),
            offset: dy.layout().offset + first * pass.image()[1],
        };
        let target = Layout::contiguous(rows.shape.clone());
        copy(&dy.with_layout(rows), turned.address(), &target)?;
        let depth = n * area;
        let grads = pass.side(turned.address(), [depth, 1], &[(groups, k * depth)])?;
        let seen = pass.side(columns.address(), [1, depth], &[(groups, lines * depth)])?;
        let out = match &parts {
            Some(parts) => (parts[usize::from(first > 0)].address(), pass.wide()),
            None => (dw, pass.dtype),
        };
        pass.product((groups, [k, lines, depth]), grads, seen, out)?;
        if let (Some([sum, part]), true) = (&parts, first > 0) {
            let parameters =
                Parameters::default().long(all).addresses([sum.address(), part.address()]);
            cx.run("add_to", COLUMNS, &pass.defines(), Grid::each(all), &parameters)?;
        }
    }
    match &parts {
        Some([sum, _]) => pass.sum_parts(1, sum, (all, dw)),
        None => Ok(()),
    }
}

/// The gradient of kernels that see one position each: a product for each image, and the sum of these.
fn weight_grad_by_images(pass: &Pass<'_>, x: &Tensor, dy: &Tensor, dw: Address) -> Result<()> {
    let ([c, k], area, groups, n) = (pass.channels, pass.area[1], pass.groups, pass.images);
    let all = groups * k * c;
    let parts = pass.scratch(n * all, pass.wide())?;
    let batch = |channels: usize| [(n, groups * channels * area), (groups, channels * area)];
    let grads = pass.side(dy.address()?, [area, 1], &batch(k))?;
    let seen = pass.side(x.address()?, [1, area], &batch(c))?;
    let out = (parts.address(), pass.wide());
    pass.product((n * groups, [k, c, area]), grads, seen, out)?;
    pass.sum_parts(n, &parts, (all, dw))
}

/// Windows as `pool.cu` takes them.
struct Windows {
    input: [usize; 2],
    output: [usize; 2],
    problem: Option<PoolProblem>,
}

impl Windows {
    fn put(&self, parameters: Parameters) -> Parameters {
        let pairs = match &self.problem {
            Some(it) => [it.kernel, it.stride, it.padding, it.dilation],
            None => [[1, 1]; 4],
        };
        let pairs = [self.input, self.output].into_iter().chain(pairs);
        let bytes: SmallVec<[u8; 64]> =
            pairs.flatten().flat_map(|it| (it as i32).to_ne_bytes()).collect();
        parameters.bytes(&bytes)
    }

    fn run(&self, cx: &CudaCx<'_>, name: &'static str, divisor: &Divisor) -> Result<()> {
        let (n, input) = (cx.outputs[0].numel(), cx.plain(0)?);
        if n == 0 {
            return Ok(());
        }
        let (how, number) = match divisor {
            Divisor::Elements => ("0", 0.0),
            Divisor::Covered => ("1", 0.0),
            Divisor::Fixed(number) => ("2", *number),
        };
        let defines = [
            ("T", Cow::Borrowed(type_of(cx.dtype(0)))),
            ("C", computed(cx.dtype(0)).into()),
            ("ADAPTIVE", if self.problem.is_none() { "1" } else { "0" }.into()),
            ("DIVISOR", how.into()),
        ];
        let from = if input.numel() == 0 { 0 } else { input.address()? };
        let parameters = Parameters::default().long(n).addresses([from, cx.output(0)?]);
        let parameters = match name {
            "largest" => self.put(parameters.address(cx.output(1)?)),
            _ => self.put(parameters).double(number),
        };
        cx.run(name, POOL, &defines, Grid::each(n), &parameters)
    }
}

/// Averages of windows, or each spread over its window: `average`, `average_backward`.
pub(super) fn average(
    cx: &CudaCx<'_>,
    name: &'static str,
    problem: PoolProblem,
    divisor: &Divisor,
) -> Result<()> {
    let (input, output) = (problem.input, problem.output());
    Windows { input, output, problem: Some(problem) }.run(cx, name, divisor)
}

/// As [`average`], over windows that divide the planes evenly.
pub(super) fn adaptive(
    cx: &CudaCx<'_>,
    name: &'static str,
    input: [usize; 2],
    output: [usize; 2],
) -> Result<()> {
    Windows { input, output, problem: None }.run(cx, name, &Divisor::Elements)
}

/// The largest element of each window, and where it is.
pub(super) fn largest(cx: &CudaCx<'_>, problem: PoolProblem) -> Result<()> {
    let (input, output) = (problem.input, problem.output());
    Windows { input, output, problem: Some(problem) }.run(cx, "largest", &Divisor::Elements)
}

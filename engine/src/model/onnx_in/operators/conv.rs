//! Convolutions over any number of dimensions.

use super::super::args::Cx;
use super::super::calls::{call, full, reshape, sizes};
use super::slice::{padded, parts};
use super::{Operator, one};
use crate::functional::{add, cat, flip, slice, transpose};
use crate::{Attr, Result, Tensor, functional};

pub(super) static ALL: &[Operator] =
    &[one("Col2Im", col2im), one("Conv", conv), one("ConvTranspose", conv_transpose)];

/// How a window moves over an image; one entry per dimension of the image.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    pub(super) kernel: Vec<usize>,
    pub(super) stride: Vec<usize>,
    pub(super) dilation: Vec<usize>,
    /// (before, after)
    pub(super) pads: Vec<[i64; 2]>,
}

impl Steps {
    /// As the attributes say, for a window of this size over an image of these sizes.
    pub(super) fn of(cx: &Cx<'_>, image: &[usize], kernel: Vec<usize>) -> Result<Self> {
        let stride = positive(cx, "strides", image.len())?;
        let dilation = positive(cx, "dilations", image.len())?;
        if kernel.len() != image.len() || kernel.contains(&0) {
            return Err(
                cx.bad(format!("a window of {kernel:?} does not fit {} dimensions", image.len()))
            );
        }
        let mut steps = Self { kernel, stride, dilation, pads: vec![[0, 0]; image.len()] };
        match cx.text("auto_pad", "NOTSET") {
            "NOTSET" => {
                if let Some(given) = cx.ints("pads") {
                    if given.len() != 2 * image.len() {
                        return Err(cx.bad(format!("{} pads are given", given.len())));
                    }
                    let (before, after) = given.split_at(image.len());
                    steps.pads = before.iter().zip(after).map(|it| [*it.0, *it.1]).collect();
                }
            }
            "VALID" => {}
            how @ ("SAME_UPPER" | "SAME_LOWER") => {
                for (dim, &size) in image.iter().enumerate() {
                    let out = size.div_ceil(steps.stride[dim]);
                    let needed = out.saturating_sub(1) * steps.stride[dim] + steps.reach(dim);
                    let pad = needed.saturating_sub(size) as i64;
                    let less = pad / 2;
                    steps.pads[dim] =
                        if how == "SAME_UPPER" { [less, pad - less] } else { [pad - less, less] };
                }
            }
            other => return Err(cx.bad(format!("its auto_pad '{other}' is not known"))),
        }
        Ok(steps)
    }

    /// How many elements of a dimension a window goes over.
    pub(super) fn reach(&self, dim: usize) -> usize {
        (self.kernel[dim] - 1) * self.dilation[dim] + 1
    }

    /// The padding, if it is the same at both ends and not negative.
    pub(super) fn even_pads(&self) -> Option<Vec<i64>> {
        self.pads.iter().map(|it| (it[0] == it[1] && it[0] >= 0).then_some(it[0])).collect()
    }
}

/// An attribute with a positive number per dimension; all 1 if it is not there.
pub(super) fn positive(cx: &Cx<'_>, name: &str, rank: usize) -> Result<Vec<usize>> {
    let Some(given) = cx.ints(name) else { return Ok(vec![1; rank]) };
    if given.len() != rank || given.iter().any(|it| !(1..=i64::from(u32::MAX)).contains(it)) {
        return Err(cx.bad(format!("its {name} {given:?} should be {rank} positive numbers")));
    }
    Ok(given.iter().map(|&it| it as usize).collect())
}

pub(super) fn groups(cx: &Cx<'_>) -> Result<i64> {
    let groups = cx.int("group", 1);
    if groups > 0 { Ok(groups) } else { Err(cx.bad(format!("{groups} groups make no sense"))) }
}

pub(super) fn image_of<'a>(cx: &Cx<'_>, x: &'a Tensor) -> Result<&'a [usize]> {
    x.shape()
        .get(2..)
        .filter(|it| !it.is_empty())
        .ok_or_else(|| cx.bad(format!("{} has no dimensions after batch and channels", x.shape())))
}

fn conv(cx: &Cx<'_>) -> Result<Tensor> {
    let (x, weight) = (cx.input(0)?, cx.input(1)?);
    let kernel = image_of(cx, weight)?.to_vec();
    let steps = Steps::of(cx, image_of(cx, x)?, kernel)?;
    convolved(x, weight, cx.opt_input(2), &steps, groups(cx)?)
}

/// A convolution of images `[n, c, ..]`.
pub(super) fn convolved(
    x: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    steps: &Steps,
    groups: i64,
) -> Result<Tensor> {
    let n = steps.kernel.len();
    let (x, pads) = match steps.even_pads() {
        Some(pads) => (x.clone(), pads),
        None => {
            let pairs: Vec<[i64; 2]> =
                [[0, 0]; 2].into_iter().chain(steps.pads.iter().copied()).collect();
            (padded(x, &pairs, "constant", 0.0)?, vec![0; n])
        }
    };
    if n > 2 {
        return deep(
            &x,
            weight,
            bias,
            &Steps { pads: pads.iter().map(|&it| [it, it]).collect(), ..steps.clone() },
            groups,
        );
    }
    let name = if n == 1 { "conv1d" } else { "conv2d" };
    let attrs = [
        Attr::ints(&sizes(&steps.stride)),
        Attr::ints(&pads),
        Attr::ints(&sizes(&steps.dilation)),
        Attr::Int(groups),
    ];
    let inputs: Vec<&Tensor> = [&x, weight].into_iter().chain(bias).collect();
    call(name, &inputs, &attrs)
}

/// A convolution over more than two dimensions: the sum over the first of those over the others.
fn deep(
    x: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    steps: &Steps,
    groups: i64,
) -> Result<Tensor> {
    let mut pairs = vec![[0, 0]; x.rank()];
    pairs[2] = steps.pads[0];
    let x = padded(x, &pairs, "constant", 0.0)?;
    let (stride, reach) = (steps.stride[0], steps.reach(0));
    let too_small = || crate::Error::Shapes {
        op: "Conv",
        shapes: vec![x.shape().clone(), weight.shape().clone()],
        rule: "the window is larger than the padded image".into(),
    };
    let depth = x.shape()[2].checked_sub(reach).ok_or_else(too_small)? / stride + 1;
    let inner = Steps {
        kernel: steps.kernel[1..].to_vec(),
        stride: steps.stride[1..].to_vec(),
        dilation: steps.dilation[1..].to_vec(),
        pads: steps.pads[1..].to_vec(),
    };
    let batch = x.shape()[0];
    let mut total: Option<Tensor> = None;
    for at in 0..steps.kernel[0] {
        let start = at * steps.dilation[0];
        let stop = start + (depth - 1) * stride + 1;
        let seen = slice(&x, 2, start as i64, stop as i64, stride as i64)?;
        let seen = transpose(&seen, 1, 2)?;
        let mut flat = vec![batch * depth];
        flat.extend_from_slice(&seen.shape()[2..]);
        let tap = functional::select(weight, 2, at as i64)?;
        let part = convolved(&reshape(&seen, &flat)?, &tap, None, &inner, groups)?;
        total = Some(total.map_or(Ok(part.clone()), |it| add(&it, &part))?);
    }
    let total = total.ok_or_else(too_small)?;
    let mut apart = vec![batch, depth];
    apart.extend_from_slice(&total.shape()[1..]);
    let res = transpose(&reshape(&total, &apart)?, 1, 2)?;
    bias.map_or(Ok(res.clone()), |it| add(&res, &per_channel(it, res.rank())?))
}

/// A vector along the channels of a tensor of `rank` dimensions.
pub(super) fn per_channel(x: &Tensor, rank: usize) -> Result<Tensor> {
    let mut sizes = vec![1; rank];
    sizes[1] = x.numel();
    reshape(x, &sizes)
}

/// The gradient of a convolution: the image with zeros between its elements, under the kernel turned round.
fn conv_transpose(cx: &Cx<'_>) -> Result<Tensor> {
    let (x, weight) = (cx.input(0)?, cx.input(1)?);
    let (image, groups) = (image_of(cx, x)?.to_vec(), groups(cx)?);
    let n = image.len();
    let kernel = image_of(cx, weight)?.to_vec();
    let (stride, dilation) = (positive(cx, "strides", n)?, positive(cx, "dilations", n)?);
    let given = cx.ints("output_padding").map_or_else(|| vec![0; n], <[i64]>::to_vec);
    if kernel.len() != n || kernel.contains(&0) || given.len() != n {
        return Err(cx.bad(format!("a window of {kernel:?} does not fit {n} dimensions")));
    }
    let steps = Steps { kernel, stride, dilation, pads: vec![[0, 0]; n] };
    let full_size = |dim: usize| {
        (image[dim] as i64 - 1) * steps.stride[dim] as i64 + steps.reach(dim) as i64 + given[dim]
    };
    let auto = cx.text("auto_pad", "NOTSET");
    let mut pads = vec![[0, 0]; n];
    if let Some(wanted) = cx.ints("output_shape") {
        let wanted = &wanted[wanted.len().saturating_sub(n)..];
        for (dim, &size) in wanted.iter().enumerate() {
            let total = full_size(dim).saturating_sub(size);
            let less = total.div_euclid(2);
            pads[dim] =
                if auto == "SAME_UPPER" { [less, total - less] } else { [total - less, less] };
        }
    } else if auto.starts_with("SAME") {
        for (dim, pad) in pads.iter_mut().enumerate() {
            let total = full_size(dim) - (image[dim] * steps.stride[dim]) as i64;
            let less = total.div_euclid(2);
            *pad = if auto == "SAME_UPPER" { [less, total - less] } else { [total - less, less] };
        }
    } else if let Some(given) = cx.ints("pads") {
        if given.len() != 2 * n {
            return Err(cx.bad(format!("{} pads are given", given.len())));
        }
        (0..n).for_each(|dim| pads[dim] = [given[dim], given[n + dim]]);
    }
    let even = pads.iter().all(|it| it[0] == it[1] && it[0] >= 0);
    if n == 2 && even && given.iter().zip(&steps.stride).all(|it| *it.0 < *it.1 as i64) {
        let ints = |values: Vec<i64>| Attr::ints(&values);
        let attrs = [
            ints(sizes(&steps.stride)),
            ints(pads.iter().map(|it| it[0]).collect()),
            ints(given),
            Attr::Int(groups),
            ints(sizes(&steps.dilation)),
        ];
        let inputs: Vec<&Tensor> = [x, weight].into_iter().chain(cx.opt_input(2)).collect();
        return call("conv_transpose2d", &inputs, &attrs);
    }
    let mut spread = x.clone();
    for dim in 0..n {
        spread = with_gaps(&spread, dim + 2, steps.stride[dim])?;
    }
    let around: Vec<[i64; 2]> = (0..n)
        .map(|dim| {
            let reach = steps.reach(dim) as i64 - 1;
            [reach - pads[dim][0], reach - pads[dim][1] + given[dim]]
        })
        .collect();
    let dims: Vec<i64> = (2..2 + n as i64).collect();
    let turned = flip(weight, &dims)?;
    // [c, k / groups, ..] to [k, c / groups, ..], group by group.
    let channels = weight.shape()[0];
    if channels % groups as usize != 0 {
        return Err(cx.bad(format!("{channels} channels are no multiple of {groups} groups")));
    }
    let each = vec![channels as i64 / groups; groups as usize];
    let of_group: Vec<Tensor> = parts(cx, &turned, 0, &each)?
        .iter()
        .map(|it| transpose(it, 0, 1))
        .collect::<Result<_>>()?;
    let kernels = cat(&of_group, 0)?;
    let steps = Steps { stride: vec![1; n], pads: around, ..steps };
    convolved(&spread, &kernels, cx.opt_input(2), &steps, groups)
}

/// Zeros between the elements of a dimension, `stride - 1` of them each time.
fn with_gaps(x: &Tensor, dim: usize, stride: usize) -> Result<Tensor> {
    let n = x.shape()[dim];
    if stride == 1 || n == 0 {
        return Ok(x.clone());
    }
    let apart = functional::unsqueeze(x, dim as i64 + 1)?;
    let mut zeros = apart.shape().to_vec();
    zeros[dim + 1] = stride - 1;
    let joined = cat(&[apart, full(&zeros, 0.0, x.dtype())?], dim as i64 + 1)?;
    let mut shape = x.shape().to_vec();
    shape[dim] = n * stride;
    slice(&reshape(&joined, &shape)?, dim as i64, 0, ((n - 1) * stride + 1) as i64, 1)
}

/// Windows `[n, c * window, places]` added up to the image that they come from.
fn col2im(cx: &Cx<'_>) -> Result<Tensor> {
    let x = cx.input(0)?;
    let sizes_at = |idx: usize| -> Result<Vec<usize>> {
        let given =
            cx.ints_at(idx)?.ok_or_else(|| cx.bad(format!("its input {idx} is missing")))?;
        Ok(given.iter().map(|&it| usize::try_from(it).unwrap_or(0)).collect())
    };
    let (image, block) = (sizes_at(1)?, sizes_at(2)?);
    if image.iter().chain(&block).any(|it| *it > u32::MAX as usize) {
        return Err(cx.bad(format!("its sizes {image:?} and {block:?} are too large")));
    }
    let steps = Steps::of(cx, &image, block)?;
    let mut wide = Vec::with_capacity(image.len());
    let mut counts = Vec::with_capacity(image.len());
    for (dim, &size) in image.iter().enumerate() {
        let [before, after] = steps.pads[dim];
        let whole = (size as i64).saturating_add(before).saturating_add(after);
        let whole = usize::try_from(whole).unwrap_or(0);
        let room = whole.checked_sub(steps.reach(dim));
        let room = room.ok_or_else(|| cx.bad("the window is larger than the padded image"))?;
        counts.push(room / steps.stride[dim] + 1);
        wide.push(whole);
    }
    let product = |of: &[usize]| of.iter().try_fold(1_usize, |all, it| all.checked_mul(*it));
    let (n_places, n_block) = (product(&counts), product(&steps.kernel));
    let (Some(n_block), true) = (n_block, x.rank() == 3 && n_places == Some(x.shape()[2])) else {
        return Err(cx.bad(format!("{} are not the windows of {image:?}", x.shape())));
    };
    if !x.shape()[1].is_multiple_of(n_block) {
        return Err(cx.bad(format!("{} are not windows of {n_block} elements", x.shape())));
    }
    let (mut places, mut blocks) = (vec![0_i64], vec![0_i64]);
    for (dim, &whole) in wide.iter().enumerate() {
        let grown = |all: &[i64], n: usize, step: usize| -> Vec<i64> {
            let of = |it: i64| (0..n).map(move |at| it * whole as i64 + (at * step) as i64);
            all.iter().copied().flat_map(of).collect()
        };
        places = grown(&places, counts[dim], steps.stride[dim]);
        blocks = grown(&blocks, steps.kernel[dim], steps.dilation[dim]);
    }
    let (batch, channels) = (x.shape()[0], x.shape()[1] / n_block);
    let index: Vec<i64> =
        blocks.iter().flat_map(|block| places.iter().map(move |it| it + block)).collect();
    let zeros = full(&[batch, channels, wide.iter().product()], 0.0, x.dtype())?;
    let flat = reshape(x, &[batch, channels, index.len()])?;
    let sums = functional::index_add(&zeros, 2, &super::super::calls::of_ints(&index)?, &flat)?;
    let mut y = reshape(&sums, &[&[batch, channels], &wide[..]].concat())?;
    for (dim, &size) in image.iter().enumerate() {
        let before = steps.pads[dim][0];
        y = slice(&y, dim as i64 + 2, before, before + size as i64, 1)?;
    }
    Ok(y)
}

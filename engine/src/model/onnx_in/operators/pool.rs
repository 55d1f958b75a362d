//! Pooling over any number of dimensions.

use super::super::args::Cx;
use super::super::calls::{call, call_all, count, full, reshape, scalar, sizes};
use super::super::value::Value;
use super::conv::Steps;
use super::logic::yes;
use super::slice::padded;
use super::sort::numbered;
use super::{Operator, many, one, values};
use crate::functional::{abs, add, div, mul, num, pow, slice, to};
use crate::{Attr, DType, Result, Tensor};

pub(super) static ALL: &[Operator] = &[
    one("AveragePool", average_pool),
    one("GlobalAveragePool", |cx| global(cx, "mean")),
    one("GlobalLpPool", global_lp_pool),
    one("GlobalMaxPool", |cx| global(cx, "amax")),
    one("LpPool", lp_pool),
    many("MaxPool", max_pool),
    one("MaxUnpool", max_unpool),
];

/// Windows over an image, and how many of them there are in each dimension.
struct Windows {
    steps: Steps,
    output: Vec<usize>,
}

impl Windows {
    fn of(cx: &Cx<'_>, image: &[usize]) -> Result<Self> {
        let kernel =
            cx.ints("kernel_shape").ok_or_else(|| cx.bad("its kernel_shape is missing"))?;
        let kernel = kernel.iter().map(|&it| usize::try_from(it).unwrap_or(0)).collect();
        let steps = Steps::of(cx, image, kernel)?;
        let mut output = Vec::with_capacity(image.len());
        for (dim, &size) in image.iter().enumerate() {
            let [before, after] = steps.pads[dim];
            let padded = size as i64 + before + after;
            let stride = steps.stride[dim] as i64;
            let room = padded - steps.reach(dim) as i64;
            if room < 0 && !cx.flag("ceil_mode") {
                return Err(cx.bad("the window is larger than the padded image"));
            }
            let mut n = room.div_euclid(stride) + 1;
            // A last window that is only partly inside, if it does not start in the padding.
            if cx.flag("ceil_mode") && room % stride != 0 && n * stride < size as i64 + before {
                n += 1;
            }
            output.push(
                usize::try_from(n)
                    .ok()
                    .filter(|it| *it > 0)
                    .ok_or_else(|| cx.bad("the window is larger than the padded image"))?,
            );
        }
        Ok(Self { steps, output })
    }

    /// The image with `value` around it, as far as windows reach.
    fn padded(&self, x: &Tensor, value: f64) -> Result<Tensor> {
        let mut pairs = vec![[0, 0]; 2];
        for (dim, &n) in self.output.iter().enumerate() {
            let before = self.steps.pads[dim][0];
            let end = ((n - 1) * self.steps.stride[dim] + self.steps.reach(dim)) as i64;
            pairs.push([before, end - before - x.shape()[dim + 2] as i64]);
        }
        padded(x, &pairs, "constant", value)
    }

    /// The elements of the windows `[n, c, output.., window]`, of an image that is padded.
    fn elements(&self, padded: &Tensor) -> Result<Tensor> {
        let mut x = padded.clone();
        let n = self.output.len();
        for dim in 0..n {
            let attrs = [
                Attr::Int(dim as i64 + 2),
                Attr::Int(self.steps.reach(dim) as i64),
                Attr::Int(self.steps.stride[dim] as i64),
            ];
            x = call("sliding_windows", &[&x], &attrs)?;
            let (last, step) = (x.rank() as i64 - 1, self.steps.dilation[dim] as i64);
            x = slice(&x, last, 0, self.steps.reach(dim) as i64, step)?;
        }
        let mut shape = x.shape()[..n + 2].to_vec();
        shape.push(self.steps.kernel.iter().product());
        reshape(&x, &shape)
    }

    /// Whether a kernel of images does it: the same padding at both ends, of half the window at most.
    fn plain(&self, cx: &Cx<'_>) -> Option<[Attr; 3]> {
        let pads = self.steps.even_pads()?;
        let small = pads.iter().zip(&self.steps.kernel).all(|it| *it.0 * 2 <= *it.1 as i64);
        (self.output.len() == 2 && small && !cx.flag("ceil_mode")).then(|| {
            let [kernel, stride] =
                [&self.steps.kernel, &self.steps.stride].map(|it| Attr::ints(&sizes(it)));
            [kernel, stride, Attr::ints(&pads)]
        })
    }
}

fn image_of<'a>(cx: &Cx<'_>, x: &'a Tensor) -> Result<&'a [usize]> {
    x.shape()
        .get(2..)
        .filter(|it| !it.is_empty() && x.numel() > 0)
        .ok_or_else(|| cx.bad(format!("{} has no dimensions after batch and channels", x.shape())))
}

fn average_pool(cx: &Cx<'_>) -> Result<Tensor> {
    let x = cx.input(0)?;
    let windows = Windows::of(cx, image_of(cx, x)?)?;
    let with_pads = cx.flag("count_include_pad");
    let undilated = windows.steps.dilation.iter().all(|it| *it == 1);
    if let Some([kernel, stride, pads]) = windows.plain(cx).filter(|_| undilated) {
        return call("avg_pool2d", &[x], &[kernel, stride, pads, yes(false), yes(with_pads)]);
    }
    let total = |x: &Tensor| call("sum", &[x], &[Attr::ints(&[-1])]);
    let sums = total(&windows.elements(&windows.padded(x, 0.0)?)?)?;
    // Padding counts where that is asked for, but not what a last window lacks.
    let mut ones = full(&[&[1, 1], image_of(cx, x)?].concat(), 1.0, x.dtype())?;
    if with_pads {
        let around = [[0, 0]; 2].into_iter().chain(windows.steps.pads.iter().copied());
        ones = padded(&ones, &around.collect::<Vec<_>>(), "constant", 1.0)?;
        let mut rest = Windows { steps: windows.steps.clone(), output: windows.output.clone() };
        rest.steps.pads.iter_mut().for_each(|it| *it = [0, 0]);
        return div(&sums, &total(&rest.elements(&rest.padded(&ones, 0.0)?)?)?);
    }
    div(&sums, &total(&windows.elements(&windows.padded(&ones, 0.0)?)?)?)
}

fn global(cx: &Cx<'_>, name: &'static str) -> Result<Tensor> {
    let x = cx.input(0)?;
    let dims: Vec<i64> = (2..x.rank() as i64).collect();
    if dims.is_empty() { Ok(x.clone()) } else { call(name, &[x], &[Attr::ints(&dims), yes(true)]) }
}

fn power_of(cx: &Cx<'_>) -> Result<f64> {
    let p = cx.opt_float("p").unwrap_or(cx.int("p", 2) as f64);
    if p > 0.0 { Ok(p) } else { Err(cx.bad(format!("the norm of order {p} makes no sense"))) }
}

fn global_lp_pool(cx: &Cx<'_>) -> Result<Tensor> {
    let (x, p) = (cx.input(0)?, power_of(cx)?);
    let dims: Vec<i64> = (2..x.rank() as i64).collect();
    let powers = pow(&abs(x)?, &num(p))?;
    pow(&call("sum", &[&powers], &[Attr::ints(&dims), yes(true)])?, &num(1.0 / p))
}

fn lp_pool(cx: &Cx<'_>) -> Result<Tensor> {
    let (x, p) = (cx.input(0)?, power_of(cx)?);
    let windows = Windows::of(cx, image_of(cx, x)?)?;
    let powers = pow(&abs(&windows.elements(&windows.padded(x, 0.0)?)?)?, &num(p))?;
    pow(&call("sum", &[&powers], &[Attr::ints(&[-1])])?, &num(1.0 / p))
}

fn max_pool(cx: &Cx<'_>) -> Result<Vec<Value>> {
    let x = cx.input(0)?;
    let image = image_of(cx, x)?;
    let windows = Windows::of(cx, image)?;
    if let Some([kernel, stride, pads]) =
        windows.plain(cx).filter(|_| !cx.wants(1) && x.dtype().is_float())
    {
        let dilation = Attr::ints(&sizes(&windows.steps.dilation));
        return Ok(values([call("max_pool2d", &[x], &[kernel, stride, pads, dilation])?]));
    }
    let lowest = x.dtype().int_range().map_or(f64::NEG_INFINITY, |it| it.0 as f64);
    let elements = windows.elements(&windows.padded(x, lowest)?)?;
    let mut found = call_all("max", &[&elements], &[Attr::Int(-1), yes(false)])?;
    if !cx.wants(1) {
        return Ok(values([found.remove(0)]));
    }
    // Places in the whole tensor, of which images are counted row by row or, with a storage order of 1, column by column.
    let rank = x.rank();
    let mut places = scalar(0)?;
    let mut stride = 1;
    let columns = cx.int("storage_order", 0) == 1;
    let mut order: Vec<usize> = (0..image.len()).rev().collect();
    if columns {
        order.reverse();
    }
    for dim in order {
        let along = mul(&numbered(image[dim], dim + 2, rank, DType::I64)?, &scalar(stride)?)?;
        places = add(&places, &along)?;
        stride *= image[dim] as i64;
    }
    let planes = x.shape()[0] * x.shape()[1];
    let plane = mul(
        &reshape(&count(planes)?, &[&x.shape()[..2], &vec![1; image.len()][..]].concat())?,
        &scalar(stride)?,
    )?;
    let places = windows.elements(&windows.padded(&add(&plane, &places)?, -1.0)?)?;
    let at = crate::functional::unsqueeze(&found[1], -1)?;
    let places = crate::functional::gather(&places, -1, &to(&at, DType::I64)?)?;
    Ok(values([found[0].clone(), crate::functional::squeeze(&places, -1)?]))
}

/// Each value goes where it came from in a tensor that has been pooled.
fn max_unpool(cx: &Cx<'_>) -> Result<Tensor> {
    let (x, places) = (cx.input(0)?, cx.input(1)?);
    let image = image_of(cx, x)?;
    let kernel = cx.ints("kernel_shape").ok_or_else(|| cx.bad("its kernel_shape is missing"))?;
    let kernel = kernel.iter().map(|&it| usize::try_from(it).unwrap_or(0)).collect();
    let steps = Steps::of(cx, image, kernel)?;
    let mut natural = x.shape()[..2].to_vec();
    for (dim, &size) in image.iter().enumerate() {
        let [before, after] = steps.pads[dim];
        let size = (size as i64 - 1) * steps.stride[dim] as i64 + steps.kernel[dim] as i64;
        natural.push(usize::try_from(size - before - after).unwrap_or(0));
    }
    let numel: usize = natural.iter().product();
    let zeros = full(&[numel], 0.0, x.dtype())?;
    let flat = |it: &Tensor| reshape(it, &[it.numel()]);
    let res = call("scatter", &[&zeros, &flat(places)?, &flat(x)?], &[Attr::Int(0)])?;
    let res = reshape(&res, &natural)?;
    let Some(wanted) = cx.ints_at(2)? else { return Ok(res) };
    let pairs: Vec<[i64; 2]> =
        natural.iter().zip(&wanted).map(|(&is, &wanted)| [0, wanted - is as i64]).collect();
    padded(&res, &pairs, "constant", 0.0)
}

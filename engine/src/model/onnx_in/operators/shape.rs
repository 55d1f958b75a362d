//! Shapes, and tensors that are made of nothing.

use super::super::args::Cx;
use super::super::build::Attribute;
use super::super::calls::{call, count, expand, full, of_ints, reshape, scalar, sizes};
use super::super::value::{Texts, Value};
use super::logic::through_bytes;
use super::sort::numbered;
use super::{Operator, many, one};
use crate::functional::{add, eq, mul, permute, select_where, to};
use crate::model::onnx_in::tensors::dtype_of;
use crate::{Attr, DType, Result, Shape, Tensor};

pub(super) static ALL: &[Operator] = &[
    many("Constant", constant),
    one("ConstantOfShape", constant_of_shape),
    one("DepthToSpace", depth_to_space),
    one("Expand", expanded),
    one("EyeLike", eye_like),
    one("Flatten", flatten),
    many("Identity", |cx| {
        Ok(vec![cx.value(0).cloned().ok_or_else(|| cx.bad("its input is missing"))?])
    }),
    one("OneHot", one_hot),
    one("Range", range),
    one("Reshape", reshaped),
    many("Shape", shape_of),
    many("Size", |cx| Ok(vec![scalar(shape(cx)?.numel() as i64)?.into()])),
    one("SpaceToDepth", space_to_depth),
    one("Squeeze", squeeze),
    one("Tile", tile),
    one("Transpose", transpose),
    one("Trilu", trilu),
    one("Unsqueeze", unsqueeze),
];

fn constant(cx: &Cx<'_>) -> Result<Vec<Value>> {
    let [(_, value)] = &cx.node.attributes[..] else {
        return Err(cx.bad("a constant has exactly one attribute"));
    };
    let tensor = match value {
        Attribute::Tensor(it) => it.clone(),
        Attribute::Int(it) => scalar(*it)?,
        Attribute::Ints(it) => of_ints(it)?,
        Attribute::Float(it) => Tensor::from_vec(&[*it], Shape::default())?,
        Attribute::Floats(it) => Tensor::from_vec(it, Shape::from([it.len()]))?,
        Attribute::TextTensor(it) => return Ok(vec![Value::Texts(it.clone())]),
        Attribute::Text(it) => {
            let texts = Texts { shape: Shape::default(), texts: [it.clone()].into() };
            return Ok(vec![Value::Texts(texts)]);
        }
        Attribute::Texts(it) => {
            let texts = Texts { shape: Shape::from([it.len()]), texts: it.as_slice().into() };
            return Ok(vec![Value::Texts(texts)]);
        }
        Attribute::Graph(_) | Attribute::Type => return Err(cx.bad("its value is no tensor")),
    };
    Ok(vec![tensor.into()])
}

/// Sizes that an input holds.
pub(super) fn sizes_at(cx: &Cx<'_>, idx: usize) -> Result<Vec<usize>> {
    let given = cx.ints_at(idx)?.ok_or_else(|| cx.bad(format!("its input {idx} is missing")))?;
    let size =
        |&it: &i64| usize::try_from(it).map_err(|_| cx.bad(format!("the size {it} is negative")));
    given.iter().map(size).collect()
}

fn constant_of_shape(cx: &Cx<'_>) -> Result<Tensor> {
    let value = match cx.attribute("value") {
        Some(Attribute::Tensor(it)) => reshape(it, &[])?,
        _ => full(&[], 0.0, DType::F32)?,
    };
    expand(&value, &sizes_at(cx, 0)?)
}

/// Blocks of channels become blocks of an image.
fn depth_to_space(cx: &Cx<'_>) -> Result<Tensor> {
    let (x, block) = (cx.input(0)?, cx.int("blocksize", 1) as usize);
    let &[n, c, h, w] = &x.shape()[..] else {
        return Err(cx.bad("images [n, c, h, w] are needed"));
    };
    if block == 0 || block > c || c % (block * block) != 0 {
        return Err(cx.bad(format!("{c} channels are no multiple of the square of {block}")));
    }
    let depth = c / (block * block);
    let turned = match cx.text("mode", "DCR") {
        "CRD" => permute(&reshape(x, &[n, depth, block, block, h, w])?, &[0, 1, 4, 2, 5, 3])?,
        _ => permute(&reshape(x, &[n, block, block, depth, h, w])?, &[0, 3, 4, 1, 5, 2])?,
    };
    reshape(&turned, &[n, depth, h * block, w * block])
}

fn space_to_depth(cx: &Cx<'_>) -> Result<Tensor> {
    let (x, block) = (cx.input(0)?, cx.int("blocksize", 1) as usize);
    let &[n, c, h, w] = &x.shape()[..] else {
        return Err(cx.bad("images [n, c, h, w] are needed"));
    };
    if block == 0 || h % block != 0 || w % block != 0 {
        return Err(cx.bad(format!("the image is no multiple of {block}")));
    }
    let parts = reshape(x, &[n, c, h / block, block, w / block, block])?;
    let order =
        if cx.text("mode", "DCR") == "CRD" { [0, 1, 3, 5, 2, 4] } else { [0, 3, 5, 1, 2, 4] };
    reshape(&permute(&parts, &order)?, &[n, c * block * block, h / block, w / block])
}

fn expanded(cx: &Cx<'_>) -> Result<Tensor> {
    let (x, wanted) = (cx.input(0)?, Shape::new(&sizes_at(cx, 1)?));
    let shape = x
        .shape()
        .broadcast(&wanted)
        .ok_or_else(|| cx.bad(format!("{} and {wanted} do not broadcast", x.shape())))?;
    crate::functional::expand(x, &shape)
}

fn eye_like(cx: &Cx<'_>) -> Result<Tensor> {
    let x = cx.input(0)?;
    let &[n, m] = &x.shape()[..] else { return Err(cx.bad("a matrix is needed")) };
    let dtype = cx.opt_int("dtype").map_or(Ok(x.dtype()), |it| dtype_of(it as i32))?;
    let rows = add(&numbered(n, 0, 2, DType::I64)?, &scalar(cx.int("k", 0))?)?;
    to(&eq(&rows, &numbered(m, 1, 2, DType::I64)?)?, dtype)
}

fn flatten(cx: &Cx<'_>) -> Result<Tensor> {
    let x = cx.input(0)?;
    let axis = cx.int("axis", 1);
    let axis = if axis == x.rank() as i64 { x.rank() } else { cx.dim(axis, x.rank().max(1))? };
    let (before, after) = x.shape().split_at(axis.min(x.rank()));
    reshape(x, &[before.iter().product(), after.iter().product()])
}

fn one_hot(cx: &Cx<'_>) -> Result<Tensor> {
    let (index, values) = (cx.input(0)?, cx.input(2)?);
    let depth = cx.float_at(1)?.unwrap_or(0.0);
    if !(0.0..=1e15).contains(&depth) {
        return Err(cx.bad(format!("the depth {depth} makes no sense")));
    }
    let rank = index.rank() + 1;
    let axis = cx.axis("axis", -1, rank)?;
    let index = to(index, DType::I64)?;
    let index = super::super::calls::from_front(&index, depth as usize)?;
    let index = crate::functional::unsqueeze(&index, axis as i64)?;
    let hot = eq(&index, &numbered(depth as usize, axis, rank, DType::I64)?)?;
    let value = |at| crate::functional::select(values, 0, at);
    select_where(&hot, &value(1)?, &value(0)?)
}

fn range(cx: &Cx<'_>) -> Result<Tensor> {
    let dtype = cx.input(0)?.dtype();
    let number = |idx| cx.float_at(idx).map(|it| it.unwrap_or(0.0));
    let (start, limit, delta) = (number(0)?, number(1)?, number(2)?);
    if delta == 0.0 || !(start.is_finite() && limit.is_finite()) {
        return Err(cx.bad("a range needs finite ends and steps other than 0"));
    }
    let n = ((limit - start) / delta).ceil().max(0.0);
    if n > 1e15 {
        return Err(cx.bad(format!("a range of {n} elements is too long")));
    }
    let wide = if dtype.is_float() { DType::F64 } else { DType::I64 };
    let [start, delta] =
        [0, 2].map(|idx| cx.input(idx).and_then(|it| to(&reshape(it, &[])?, wide)));
    to(&add(&mul(&to(&count(n as usize)?, wide)?, &delta?)?, &start?)?, dtype)
}

fn reshaped(cx: &Cx<'_>) -> Result<Tensor> {
    let x = cx.input(0)?;
    let wanted = cx.ints_of("shape", 1)?.ok_or_else(|| cx.bad("its shape is missing"))?;
    let keeps_zero = cx.flag("allowzero");
    let mut shape = Vec::with_capacity(wanted.len());
    for (dim, &size) in wanted.iter().enumerate() {
        shape.push(match size {
            0 if !keeps_zero => {
                let size = x.shape().get(dim);
                *size.ok_or_else(|| {
                    cx.bad(format!("it keeps dimension {dim}, which is not there"))
                })? as i64
            }
            size => size,
        });
    }
    call("reshape", &[x], &[Attr::ints(&shape)])
}

fn shape(cx: &Cx<'_>) -> Result<Shape> {
    match cx.value(0) {
        Some(Value::Texts(it)) => Ok(it.shape.clone()),
        _ => Ok(cx.input(0)?.shape().clone()),
    }
}

fn shape_of(cx: &Cx<'_>) -> Result<Vec<Value>> {
    let shape = shape(cx)?;
    let n = shape.rank() as i64;
    let clamp = |it: i64| (if it < 0 { it.saturating_add(n) } else { it }).clamp(0, n) as usize;
    let (start, end) = (clamp(cx.int("start", 0)), clamp(cx.int("end", n)));
    Ok(vec![of_ints(&sizes(&shape[start..end.max(start)]))?.into()])
}

fn squeeze(cx: &Cx<'_>) -> Result<Tensor> {
    let x = cx.input(0)?;
    let dims = match cx.ints_of("axes", 1)? {
        None => {
            return reshape(
                x,
                &x.shape().iter().copied().filter(|it| *it != 1).collect::<Vec<_>>(),
            );
        }
        Some(axes) => axes.iter().map(|&it| cx.dim(it, x.rank())).collect::<Result<Vec<_>>>()?,
    };
    if let Some(dim) = dims.iter().find(|it| x.shape()[**it] != 1) {
        return Err(cx.bad(format!("dimension {dim} of {} is not of size 1", x.shape())));
    }
    let left = x.shape().iter().enumerate().filter(|it| !dims.contains(&it.0)).map(|it| *it.1);
    reshape(x, &left.collect::<Vec<_>>())
}

fn unsqueeze(cx: &Cx<'_>) -> Result<Tensor> {
    let x = cx.input(0)?;
    let axes = cx.ints_of("axes", 1)?.ok_or_else(|| cx.bad("its axes are missing"))?;
    let rank = x.rank() + axes.len();
    let new = axes.iter().map(|&it| cx.dim(it, rank)).collect::<Result<Vec<_>>>()?;
    let mut old = x.shape().iter();
    let shape = (0..rank).map(|dim| match new.contains(&dim) {
        true => Ok(1),
        false => old.next().copied().ok_or_else(|| cx.bad("its axes repeat themselves")),
    });
    reshape(x, &shape.collect::<Result<Vec<_>>>()?)
}

fn tile(cx: &Cx<'_>) -> Result<Tensor> {
    let x = cx.input(0)?;
    let repeats = sizes(&sizes_at(cx, 1)?);
    call("repeat", &[x], &[Attr::ints(&repeats)])
}

fn transpose(cx: &Cx<'_>) -> Result<Tensor> {
    let x = cx.input(0)?;
    let reversed = || (0..x.rank() as i64).rev().collect();
    permute(x, &cx.ints("perm").map_or_else(reversed, <[i64]>::to_vec))
}

fn trilu(cx: &Cx<'_>) -> Result<Tensor> {
    let x = cx.input(0)?;
    let k = cx.int_at(1)?.unwrap_or(0);
    let name = if cx.int("upper", 1) != 0 { "triu" } else { "tril" };
    through_bytes(x, |x| call(name, &[x], &[Attr::Int(k)]))
}

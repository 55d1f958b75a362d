//! Attention, and positions put into what it compares.

use super::super::args::Cx;
use super::super::calls::{call, count, full, reshape, scalar};
use super::super::value::Value;
use super::logic::yes;
use super::slice::padded;
use super::{Operator, many, one, values};
use crate::functional::{
    add, cat, div, eq, ge, le, lt, matmul, matrix_transpose, mul, num, permute, select_where,
    slice, sub, tanh, to, transpose, unsqueeze,
};
use crate::model::onnx_in::tensors::dtype_of;
use crate::{Attr, DType, Result, Tensor};

pub(super) static ALL: &[Operator] =
    &[many("Attention", attention), one("RotaryEmbedding", rotary_embedding)];

/// `[batch, places, heads * size]` as `[batch, heads, places, size]`; what has four dimensions stays.
fn by_head(cx: &Cx<'_>, x: &Tensor, heads: &str) -> Result<Tensor> {
    match (x.rank(), cx.int(heads, 0)) {
        (4, _) => Ok(x.clone()),
        (3, n) if n > 0 && x.shape()[2].is_multiple_of(n as usize) => {
            let n = n as usize;
            let apart = [x.shape()[0], x.shape()[1], n, x.shape()[2] / n];
            transpose(&reshape(x, &apart)?, 1, 2)
        }
        (3, n) => Err(cx.bad(format!("{} is not for {n} heads: its {heads}", x.shape()))),
        (rank, _) => Err(cx.bad(format!("it has an input of {rank} dimensions, not of 3 or 4"))),
    }
}

/// `Y = softmax(Q K^T * scale + mask) V`
fn attention(cx: &Cx<'_>) -> Result<Vec<Value>> {
    let q = by_head(cx, cx.input(0)?, "q_num_heads")?;
    let mut k = by_head(cx, cx.input(1)?, "kv_num_heads")?;
    let mut v = by_head(cx, cx.input(2)?, "kv_num_heads")?;
    match (cx.opt_input(4), cx.opt_input(5)) {
        (Some(past_k), Some(past_v)) => {
            k = cat(&[past_k.clone(), k], 2)?;
            v = cat(&[past_v.clone(), v], 2)?;
        }
        (None, None) => {}
        _ => return Err(cx.bad("one of past_key and past_value is missing")),
    }
    let (present_k, present_v) = (k.clone(), v.clone());
    let (heads, kv_heads) = (q.shape()[1], k.shape()[1]);
    if kv_heads == 0 || !heads.is_multiple_of(kv_heads) || v.shape()[1] != kv_heads {
        return Err(cx.bad(format!("{heads} heads are no multiple of {kv_heads}")));
    }
    if heads != kv_heads {
        let each = [Attr::Int((heads / kv_heads) as i64), Attr::Int(1)];
        k = call("repeat_interleave", &[&k], &each)?;
        v = call("repeat_interleave", &[&v], &each)?;
    }
    let scale = cx.opt_float("scale").unwrap_or(1.0 / (q.shape()[3] as f64).sqrt()).sqrt();
    let scaled = |x: &Tensor| mul(x, &full(&[], scale, x.dtype())?);
    let products = matmul(&scaled(&q)?, &matrix_transpose(&scaled(&k)?)?)?;
    let cap = cx.float("softcap", 0.0);
    let capped = match cap > 0.0 {
        true => mul(&tanh(&div(&products, &num(cap))?)?, &num(cap))?,
        false => products.clone(),
    };
    let bias = bias(cx, &q, &k)?;
    let biased = bias.as_ref().map_or_else(|| Ok(capped.clone()), |it| add(&capped, it))?;
    let precision = match cx.opt_int("softmax_precision") {
        Some(it) if it != 0 => dtype_of(it as i32)?,
        _ => q.dtype(),
    };
    let softmax = call("softmax", &[&to(&biased, precision)?], &[Attr::Int(-1)])?;
    let mut shares = to(&softmax, q.dtype())?;
    // A place that may look nowhere gets zeros.
    if let Some(bias) = &bias {
        let lowest = full(&[], f64::NEG_INFINITY, bias.dtype())?;
        let highest = call("amax", &[bias], &[Attr::ints(&[-1]), yes(true)])?;
        let nowhere = eq(&highest, &lowest)?;
        shares = select_where(&nowhere, &full(&[], 0.0, q.dtype())?, &shares)?;
    }
    let mut y = matmul(&shares, &v)?;
    if cx.input(0)?.rank() == 3 {
        let together = [y.shape()[0], y.shape()[2], y.shape()[1] * y.shape()[3]];
        y = reshape(&transpose(&y, 1, 2)?, &together)?;
    }
    let shown = match cx.int("qk_matmul_output_mode", 0) {
        0 => products,
        1 => capped,
        2 => biased,
        3 => shares,
        other => return Err(cx.bad(format!("its qk_matmul_output_mode {other} is not known"))),
    };
    Ok(values([y, present_k, present_v, shown]))
}

/// What is added to the products: minus infinity where a place may not look; `None` if it may look everywhere.
fn bias(cx: &Cx<'_>, q: &Tensor, k: &Tensor) -> Result<Option<Tensor>> {
    let (n_q, n_k) = (q.shape()[2], k.shape()[2]);
    let (open, closed) = (full(&[], 0.0, q.dtype())?, full(&[], f64::NEG_INFINITY, q.dtype())?);
    let mut bias = None;
    if let Some(mask) = cx.opt_input(3) {
        let given = mask.shape().last().copied().unwrap_or(0);
        let of_bools = mask.dtype() == DType::Bool;
        let mask = if of_bools { select_where(mask, &open, &closed)? } else { mask.clone() };
        let mut pairs = vec![[0, 0]; mask.rank()];
        if let Some(last) = pairs.last_mut() {
            last[1] = (n_k as i64 - given as i64).max(0);
        }
        bias = Some(padded(&mask, &pairs, "constant", f64::NEG_INFINITY)?);
    }
    let mut also = |allowed: &Tensor| -> Result<()> {
        let more = select_where(allowed, &open, &closed)?;
        bias = Some(bias.as_ref().map_or_else(|| Ok(more.clone()), |it| add(it, &more))?);
        Ok(())
    };
    let lens = cx.opt_input(6).map(|it| to(it, DType::I64)).transpose()?;
    let lens = lens.map(|it| reshape(&it, &[it.numel(), 1, 1, 1])).transpose()?;
    // Where the first of the queries stands among the keys.
    let start = match (&lens, cx.opt_input(4)) {
        (_, Some(past)) => scalar(past.shape()[2] as i64)?,
        (Some(lens), None) => sub(lens, &scalar(n_q as i64)?)?,
        (None, None) => scalar(0)?,
    };
    let row = add(&reshape(&count(n_q)?, &[n_q, 1])?, &start)?;
    let column = reshape(&count(n_k)?, &[1, n_k])?;
    if cx.flag("is_causal") {
        also(&le(&column, &row)?)?;
    }
    let (left, right) = (cx.int("left_window_size", -1), cx.int("right_window_size", -1));
    if left >= 0 {
        also(&ge(&column, &sub(&row, &scalar(left)?)?)?)?;
    }
    if right >= 0 {
        also(&le(&column, &add(&row, &scalar(right)?)?)?)?;
    }
    if let Some(lens) = &lens {
        also(&lt(&column, lens)?)?;
    }
    Ok(bias)
}

/// Pairs of elements turned by angles of their place.
fn rotary_embedding(cx: &Cx<'_>) -> Result<Tensor> {
    let given = cx.input(0)?;
    let x = match given.rank() {
        4 => transpose(given, 1, 2)?,
        _ => transpose(&by_head(cx, given, "num_heads")?, 1, 2)?,
    };
    let size = x.shape()[3] as i64;
    let turned = match cx.int("rotary_embedding_dim", 0) {
        0 => size,
        it => it,
    };
    if !(0..=size).contains(&turned) || turned % 2 != 0 {
        return Err(cx.bad(format!("{turned} of {size} elements cannot be turned in pairs")));
    }
    let angles = |idx: usize| -> Result<Tensor> {
        let cache = cx.input(idx)?;
        let rows = match cx.opt_input(3) {
            Some(places) => {
                let flat = reshape(&to(places, DType::I64)?, &[places.numel()])?;
                let picked = call("index_select", &[cache, &flat], &[Attr::Int(0)])?;
                let apart = [&places.shape()[..], &picked.shape()[1..]].concat();
                reshape(&picked, &apart)?
            }
            None => cache.clone(),
        };
        match rows.shape().last() {
            Some(&it) if it as i64 * 2 == turned => unsqueeze(&rows, 2),
            _ => Err(cx.bad(format!("{} is not for {turned} turned elements", cache.shape()))),
        }
    };
    let (cos, sin) = (angles(1)?, angles(2)?);
    let interleaved = cx.flag("interleaved");
    let half = turned / 2;
    let (a, b) = match interleaved {
        true => (slice(&x, 3, 0, turned, 2)?, slice(&x, 3, 1, turned, 2)?),
        false => (slice(&x, 3, 0, half, 1)?, slice(&x, 3, half, turned, 1)?),
    };
    let real = sub(&mul(&cos, &a)?, &mul(&sin, &b)?)?;
    let imag = add(&mul(&sin, &a)?, &mul(&cos, &b)?)?;
    let pairs = match interleaved {
        true => {
            let mut shape = x.shape().to_vec();
            shape[3] = turned as usize;
            reshape(&cat(&[unsqueeze(&real, -1)?, unsqueeze(&imag, -1)?], -1)?, &shape)?
        }
        false => cat(&[real, imag], 3)?,
    };
    let y = cat(&[pairs, slice(&x, 3, turned, size, 1)?], 3)?;
    match given.rank() {
        4 => permute(&y, &[0, 2, 1, 3]),
        _ => reshape(&y, given.shape()),
    }
}

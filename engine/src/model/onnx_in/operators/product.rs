//! Products of matrices, and sums over indices.

use super::super::args::Cx;
use super::super::calls::{call, call_all, reshape};
use super::{Operator, one};
use crate::functional::{add, matmul, mul, num, permute, sum, to, transpose, unsqueeze};
use crate::{Attr, DType, Result, Tensor};

pub(super) static ALL: &[Operator] = &[
    one("Det", |cx| Ok(call_all("linalg_det", &[cx.input(0)?], &[])?.remove(0))),
    one("Einsum", einsum),
    one("Gemm", gemm),
    one("MatMul", |cx| matmul(cx.input(0)?, cx.input(1)?)),
];

fn gemm(cx: &Cx<'_>) -> Result<Tensor> {
    let turned = |idx, flag| match cx.flag(flag) {
        true => transpose(cx.input(idx)?, 0, 1),
        false => Ok(cx.input(idx)?.clone()),
    };
    let scaled = |x: Tensor, by: f64| match by {
        1.0 => Ok(x),
        _ => mul(&x, &num(by)).and_then(|it| to(&it, x.dtype())),
    };
    let product = matmul(&turned(0, "transA")?, &turned(1, "transB")?)?;
    let product = scaled(product, cx.float("alpha", 1.0))?;
    match cx.opt_input(2) {
        Some(more) => add(&product, &scaled(more.clone(), cx.float("beta", 1.0))?),
        None => Ok(product),
    }
}

/// One operand of a sum over indices, with the letter of each dimension.
struct Term {
    x: Tensor,
    letters: Vec<char>,
}

/// Letters for the dimensions that `...` stands for.
const DOTS: std::ops::Range<u32> = 0xE000..0xE100;

fn letters_of(cx: &Cx<'_>, text: &str, n_dots: usize) -> Result<Vec<char>> {
    let text: String = text.chars().filter(|it| !it.is_whitespace()).collect();
    let dots: String = DOTS.skip(0x100 - n_dots.min(0x100)).filter_map(char::from_u32).collect();
    let text = text.replacen("...", &dots, 1);
    let known = |it: &char| it.is_ascii_alphabetic() || DOTS.contains(&u32::from(*it));
    match text.chars().find(|it| !known(it)) {
        Some(it) => Err(cx.bad(format!("its equation has the sign '{it}', which has no meaning"))),
        None => Ok(text.chars().collect()),
    }
}

fn einsum(cx: &Cx<'_>) -> Result<Tensor> {
    let equation = cx.text("equation", "");
    let (left, right) = equation.split_once("->").map_or((equation, None), |it| (it.0, Some(it.1)));
    let parts: Vec<&str> = left.split(',').collect();
    if parts.len() != cx.n_inputs() {
        return Err(cx.bad(format!("'{equation}' is for {} operands", parts.len())));
    }
    let mut terms = Vec::new();
    let mut most_dots = 0;
    for (idx, part) in parts.iter().enumerate() {
        let x = cx.input(idx)?;
        let named = part.chars().filter(char::is_ascii_alphabetic).count();
        let n_dots = if part.contains("...") { x.rank().saturating_sub(named) } else { 0 };
        most_dots = most_dots.max(n_dots);
        let letters = letters_of(cx, part, n_dots)?;
        if letters.len() != x.rank() {
            return Err(cx.bad(format!("'{part}' does not name the dimensions of {}", x.shape())));
        }
        terms.push(diagonal(Term { x: x.clone(), letters })?);
    }
    let output = match right {
        Some(text) => letters_of(cx, text, most_dots)?,
        None => {
            let all: Vec<char> = terms.iter().flat_map(|it| it.letters.clone()).collect();
            let once = |it: &char| all.iter().filter(|other| *other == it).count() == 1;
            let dots = DOTS.skip(0x100 - most_dots.min(0x100)).filter_map(char::from_u32);
            let mut letters: Vec<char> =
                all.iter().copied().filter(|it| it.is_ascii_alphabetic() && once(it)).collect();
            letters.sort_unstable();
            dots.chain(letters).collect()
        }
    };
    let mut all = output.clone();
    for letter in terms.iter().flat_map(|it| &it.letters) {
        if !all.contains(letter) {
            all.push(*letter);
        }
    }
    if let [a, b] = &terms[..]
        && let Some(res) = as_product(a, b, &output)?
    {
        return Ok(res);
    }
    let dtype = terms[0].x.dtype();
    let mut product: Option<Tensor> = None;
    for term in &terms {
        let x = spread(term, &all)?;
        product = Some(product.map_or(Ok(x.clone()), |it| mul(&it, &x))?);
    }
    let product = product.ok_or_else(|| cx.bad("it has no operands"))?;
    let summed: Vec<i64> = (output.len() as i64..all.len() as i64).collect();
    let res = if summed.is_empty() { product } else { sum(&product, &summed, false)? };
    if output.iter().any(|it| !terms.iter().any(|term| term.letters.contains(it))) {
        return Err(cx.bad(format!("the output of '{equation}' has a letter of no operand")));
    }
    to(&res, dtype)
}

/// The diagonal where a letter stands twice.
fn diagonal(mut term: Term) -> Result<Term> {
    while let Some((a, b)) = (0..term.letters.len()).find_map(|a| {
        (a + 1..term.letters.len()).find(|&b| term.letters[a] == term.letters[b]).map(|b| (a, b))
    }) {
        let attrs = [Attr::Int(0), Attr::Int(a as i64), Attr::Int(b as i64)];
        term.x = call("diagonal", &[&term.x], &attrs)?;
        let letter = term.letters.remove(b);
        term.letters.remove(a);
        term.letters.push(letter);
    }
    Ok(term)
}

/// A term with a dimension for each of these letters, of size 1 where it has none.
fn spread(term: &Term, all: &[char]) -> Result<Tensor> {
    let order: Vec<i64> = all
        .iter()
        .filter_map(|it| term.letters.iter().position(|own| own == it))
        .map(|it| it as i64)
        .collect();
    let mut x = permute(&term.x, &order)?;
    for (at, letter) in all.iter().enumerate() {
        if !term.letters.contains(letter) {
            x = unsqueeze(&x, at as i64)?;
        }
    }
    Ok(x)
}

/// Two operands as one batched product of matrices, where no broadcasting is needed.
fn as_product(a: &Term, b: &Term, output: &[char]) -> Result<Option<Tensor>> {
    let size = |term: &Term, it: char| {
        term.letters.iter().position(|own| *own == it).map(|at| term.x.shape()[at])
    };
    let both = |it: &char| a.letters.contains(it) && b.letters.contains(it);
    let fits = a.letters.iter().filter(|it| both(it)).all(|&it| size(a, it) == size(b, it));
    let floats = a.x.dtype() == b.x.dtype() && a.x.dtype().is_float() && a.x.dtype() != DType::F16;
    let alone = |term: &Term| term.letters.iter().all(|it| both(it) || output.contains(it));
    if !(fits && floats && alone(a) && alone(b)) {
        return Ok(None);
    }
    let pick = |term: &Term, wanted: &dyn Fn(&char) -> bool| -> Vec<char> {
        term.letters.iter().copied().filter(|it| wanted(it)).collect()
    };
    let batch = pick(a, &|it| both(it) && output.contains(it));
    let inner = pick(a, &|it| both(it) && !output.contains(it));
    let rows = pick(a, &|it| !both(it));
    let columns = pick(b, &|it| !both(it));
    let n = |term: &Term, letters: &[char]| -> usize {
        letters.iter().filter_map(|it| size(term, *it)).product()
    };
    let (batches, depth) = (n(a, &batch), n(a, &inner));
    let left = spread(a, &[&batch[..], &rows, &inner].concat())?;
    let right = spread(b, &[&batch[..], &inner, &columns].concat())?;
    let product = matmul(
        &reshape(&left, &[batches, n(a, &rows), depth])?,
        &reshape(&right, &[batches, depth, n(b, &columns)])?,
    )?;
    let letters = [&batch[..], &rows, &columns].concat();
    let shape: Vec<usize> = letters.iter().filter_map(|it| size(a, *it).or(size(b, *it))).collect();
    spread(&Term { x: reshape(&product, &shape)?, letters }, output).map(Some)
}

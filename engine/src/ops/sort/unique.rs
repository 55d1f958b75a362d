//! `unique`: the different elements in order; with `return_inverse` where each element is among them, with `return_counts` how often it occurs.

use ndarray::Array1;
use smallvec::smallvec;

use crate::apply::place;
use crate::cpu::lane::cast;
use crate::cpu::order;
use crate::cpu::view::View;
use crate::functional::{
    cat, cumsum, full, gather, ne, reshape, scatter_add, select, slice, sub, sum, to,
};
use crate::meaning::{Array, Meaning, MeaningCx, Scalar, in_order};
use crate::op::{
    Body, ComposedCx, DTypeRule, Default, Form, Grad, InferCx, Is, Kernel, KernelCx, Onnx, Param,
    ParamKind, Surface, When,
};
use crate::ops::index::nonzero;
use crate::{
    Attr, Attrs, DType, Meta, Metas, OpDef, Outputs, Result, Shape, Tensor, apply, with_dtype,
    with_size,
};

pub static OP: OpDef = OpDef {
    name: "unique",
    doc: "The different elements in order; with `return_inverse` where each element is among them, with `return_counts` how often it occurs.",
    meaning: Meaning::each(meaning),
    params: &[
        Param::tensor("input"),
        Param::with("sorted", ParamKind::Bool, Default::Bool(true)),
        Param::with("return_inverse", ParamKind::Bool, Default::Bool(false)),
        Param::with("return_counts", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::new("unique.sort", run).composed_on_cuda(composed)]),
    grad: Grad::Stops("which elements are equal changes in jumps"),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        form: Some(Form::new("unique", When::At(4, "dim", Is::Given))),
        shapes: "[n], the number of different elements",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("unique(tensor([3, 1, 3]))", "tensor([1, 3])"),
        (
            "unique(tensor([[2.0, 1.0], [2.0, 2.0]]), return_counts=True)",
            "(tensor([1., 2.]), tensor([1, 3]))",
        ),
        ("unique(tensor([3, 1, 3]), return_inverse=True)", "(tensor([1, 3]), tensor([1, 0, 1]))"),
    ],
};

/// No NaN equals another.
fn meaning(cx: &MeaningCx<'_>) -> Vec<Array> {
    let flat = cx.input(0).reshaped(&[cx.input(0).shape().iter().product()]);
    let [values, inverse, counts] = match &flat {
        Array::Float(line) | Array::Complex(line, _) => {
            distinct(&line.iter().copied().collect::<Vec<_>>())
        }
        Array::Int(line) => distinct(&line.iter().copied().collect::<Vec<_>>()),
    };
    let mut res = vec![flat.moved(&[values.len()], |at| vec![values[at[0]] as usize])];
    let ints = |it: &[i64], shape: &[usize]| {
        Array::from(Array1::from(it.to_vec()).into_dyn()).reshaped(shape)
    };
    if cx.flag(1) {
        res.push(ints(&inverse, cx.shape(0)));
    }
    if cx.flag(2) {
        res.push(ints(&counts, &[counts.len()]));
    }
    res
}

/// Where each different value is first, which of them each element is, and how often it occurs.
fn distinct<T: Scalar>(line: &[T]) -> [Vec<i64>; 3] {
    let (mut firsts, mut ranks, mut counts) = (Vec::new(), vec![0; line.len()], Vec::new());
    for place in in_order(line, false) {
        if firsts.last().is_none_or(|it| line[*it as usize] != line[place]) {
            firsts.push(place as i64);
            counts.push(0);
        }
        let rank = firsts.len() - 1;
        ranks[place] = rank as i64;
        counts[rank] += 1;
    }
    [firsts, ranks, counts]
}

/// The shape depends on the elements, so a tensor without elements is refused.
fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let len = match cx.inputs[0].is_on_gpu() {
        true => counted_there(&cx.inputs[0])?,
        false => cx.inputs[0].with_view(|view| {
            let mut n_values = 0;
            for_each_place(&view, |_, is_new| n_values += usize::from(is_new));
            n_values
        })?,
    };
    let mut metas: Metas = smallvec![Meta::new(Shape::from([len]), cx.dtype(0))];
    if cx.flag(1) {
        metas.push(Meta::new(cx.shape(0).clone(), DType::I64));
    }
    if cx.flag(2) {
        metas.push(Meta::new(metas[0].shape.clone(), DType::I64));
    }
    Ok(metas)
}

/// Calls `body(place, whether it is the first of its value)` for all elements in sorted order. No NaN equals another.
fn for_each_place(view: &View<'_>, body: impl FnMut(usize, bool)) {
    with_dtype!(view.dtype(), T => order::for_each_value(&cast::<T>(view), body));
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (input, inverse, counts) = (cx.inputs[0], cx.flag(1), cx.flag(2));
    let mut ranks = vec![0_i64; input.shape().numel()];
    let mut found: Vec<(usize, i64)> = Vec::new();
    for_each_place(&input, |at, is_new| {
        match found.last_mut() {
            Some(last) if !is_new => last.1 += 1,
            _ => found.push((at, 1)),
        }
        ranks[at] = found.len() as i64 - 1;
    });
    with_size!(input.dtype(), T => {
        let line = input.to_slice::<T>();
        let values = cx.outputs[0].as_mut_slice::<T>();
        values.iter_mut().zip(&found).for_each(|(slot, it)| *slot = line[it.0]);
    });
    if inverse {
        cx.outputs[1].as_mut_slice::<i64>().copy_from_slice(&ranks);
    }
    if counts && let Some(out) = cx.outputs.last_mut() {
        out.as_mut_slice::<i64>().iter_mut().zip(&found).for_each(|(slot, it)| *slot = it.1);
    }
    Ok(())
}

/// The elements in order, where each was, and whether it is the first of its value.
struct Ranked {
    values: Tensor,
    places: Tensor,
    is_first: Tensor,
}

impl Ranked {
    fn of(x: &Tensor) -> Result<Self> {
        let n = x.numel() as i64;
        let flat = reshape(x, &Shape::from([x.numel()]))?;
        let attrs = smallvec![Attr::Int(0), Attr::Bool(false), Attr::Bool(true)];
        let parts = apply::apply(&super::sort::OP, &[flat], &attrs)?;
        let (values, places) = (parts[0].clone(), parts[1].clone());
        let last = n.saturating_sub(1);
        let differs = ne(&slice(&values, 0, 1, n, 1)?, &slice(&values, 0, 0, last, 1)?)?;
        let first = full(&Shape::from([x.numel().min(1)]), 1.0, DType::Bool)?;
        Ok(Self { values, places, is_first: cat(&[first, differs], 0)? })
    }
}

/// How many different elements there are, counted on the GPU where they are.
fn counted_there(x: &Tensor) -> Result<usize> {
    let count = || sum(&Ranked::of(x)?.is_first, &[], false);
    let found = place::as_one_step(x.device(), count)?;
    Ok(found.to_vec::<i64>()?[0] as usize)
}

/// By sorting, on a GPU.
fn composed(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let x = cx.input(0)?;
    let Ranked { values, places, is_first } = Ranked::of(x)?;
    let n = Shape::from([x.numel()]);
    let firsts = apply::apply_one(&nonzero::OP, std::slice::from_ref(&is_first), &Attrs::new())?;
    let firsts = select(&firsts, 1, 0)?;
    let mut res: Outputs = smallvec![gather(&values, 0, &firsts)?];
    if cx.flag(1) {
        let ranks = sub(&cumsum(&to(&is_first, DType::I64)?, 0)?, &Tensor::int_number(1))?;
        let inverse = scatter_add(&full(&n, 0.0, DType::I64)?, 0, &places, &ranks)?;
        res.push(reshape(&inverse, x.shape())?);
    }
    if cx.flag(2) {
        let end = full(&Shape::from([x.numel().min(1)]), x.numel() as f64, DType::I64)?;
        let ends = cat(&[slice(&firsts, 0, 1, firsts.numel() as i64, 1)?, end], 0)?;
        res.push(sub(&ends, &firsts)?);
    }
    Ok(res)
}

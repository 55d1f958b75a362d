//! `pad`: padded at both ends of the last dimensions: `pad` lists (before, after) from the last dimension on; negative values cut.

use std::ops::Range;

use smallvec::smallvec;

use super::cuda::Padded;
use crate::cpu::interrupt;
use crate::dtype::Number;
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Autocast, Body, CudaCx, DTypeRule, Default, Form, Grad, GradCx, InferCx, Is, Kernel, KernelCx,
    Onnx, Param, ParamKind, Saves, Surface, When,
};
use crate::storage::bits_of;
use crate::{
    Attr, Attrs, Error, Meta, Metas, OpDef, Result, Shape, Tensor, apply_one, functional, rules,
    with_size,
};

pub static OP: OpDef = OpDef {
    name: "pad",
    doc: "Padded at both ends of the last dimensions: `pad` lists (before, after) from the last dimension on; negative values cut. `mode` is constant, reflect, replicate or circular.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("input"),
        Param::required("pad", ParamKind::Ints),
        Param::with("mode", ParamKind::Str, Default::Str("constant")),
        Param::with("value", ParamKind::Float, Default::Float(0.0)),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::moving("pad.copy", run).on_cuda(on_cuda)]),
    grad: Grad::Rule(grad, Saves::Shapes),
    step: Some(|_| "ConstantPadNdBackward0"),
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        autocast: Autocast::Float32Where(is_lifted),
        form: Some(Form::new("pad", When::Arg("value", Is::None))),
        refuses: Some(refuse_edge),
        shapes: "the last dimension grows by the first two numbers, the one before by the next two, and so on",
        ..Surface::PLAIN
    },
    onnx: Onnx::written("Pad", super::onnx::pad),
    aliases: &["megengine.functional.nn.pad", "oneflow.nn.functional.pad"],
    examples: &[
        ("pad(tensor([1, 2]), (1, 2))", "tensor([0, 1, 2, 0, 0])"),
        (
            "pad(tensor([[1.0, 2.0, 3.0]]), (2, 2), \"reflect\")",
            "tensor([[3., 2., 1., 2., 3., 2., 1.]])",
        ),
        ("pad(tensor([[1.0, 2.0]]), (1, 1), \"replicate\")", "tensor([[1., 1., 2., 2.]])"),
        ("pad(tensor([1, 2, 3]), (-1, 0))", "tensor([2, 3])"),
    ],
};

/// Which pads PyTorch's list names: all that replicate, and reflections of at most two dimensions.
fn is_lifted(attrs: &Attrs) -> bool {
    let n_dims = crate::attr::ints(attrs, 0).map_or(0, |it| it.len() / 2);
    match attrs.get(1) {
        Some(Attr::Str("replicate" | "edge")) => true,
        Some(Attr::Str("reflect")) => n_dims < 3,
        _ => false,
    }
}

/// Each element comes from the position that it has in the input, or from where the mode puts that inside. Circular padding goes on
/// with what cutting has left.
fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (x, mut sides) = (cx.input(0), vec![[0; 2]; cx.input(0).rank()]);
    let pads = cx.ints(0).unwrap_or_default();
    sides.iter_mut().rev().zip(pads.chunks(2)).for_each(|(side, it)| *side = [it[0], it[1]]);
    let sizes = x.shape().iter().zip(&sides);
    let shape: Vec<usize> =
        sizes.map(|(&size, it)| (size as i64 + it[0] + it[1]) as usize).collect();
    x.moved_or(&shape, Number::Float(cx.float(2)), |at| {
        let from = |(dim, &at): (usize, &usize)| {
            let (size, [before, after]) = (x.shape()[dim] as i64, sides[dim]);
            let (at, last) = (at as i64 - before, size - 1);
            let (first, left) = ((-before).max(0), size + before.min(0) + after.min(0));
            match cx.word(1) {
                "circular" => usize::try_from(first + (at - first).rem_euclid(left)).ok(),
                "reflect" if at < 0 => Some(-at as usize),
                "reflect" if at > last => Some((2 * last - at) as usize),
                "replicate" | "edge" => Some(at.clamp(0, last) as usize),
                _ => usize::try_from(at).ok().filter(|it| *it < x.shape()[dim]),
            }
        };
        at.iter().enumerate().map(from).collect()
    })
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let (from, pads) = (cx.shape(0), cx.ints(0).unwrap_or_default());
    if pads.len() % 2 != 0 || pads.len() / 2 > from.rank() {
        return Err(
            cx.bad_shapes("pad takes two numbers per dimension, from the last dimension on")
        );
    }
    let mode = mode(cx.attrs)?;
    rules::check_fits(cx.op.name, "value", Number::Float(cx.float(2)), cx.dtype(0))?;
    let mut shape = from.clone();
    for (dim, before, after) in per_dim(&pads, from.rank()) {
        let size = from[dim] as i64;
        let limit = match mode {
            Mode::Circular => mode.limit(kept(size, before, after)),
            _ => mode.limit(0..size),
        };
        if before.max(after) > limit {
            return Err(cx.bad_shapes(format!(
                "padding of {} is more than {limit} for size {size}",
                before.max(after)
            )));
        }
        let padded = size.saturating_add(before).saturating_add(after);
        shape.dims_mut()[dim] =
            usize::try_from(padded).map_err(|_| cx.bad_shapes("more is cut than there is"))?;
    }
    Ok(smallvec![Meta::new(shape, cx.dtype(0))])
}

/// Where elements outside the input come from.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Constant,
    Reflect,
    Replicate,
    Circular,
}

impl Mode {
    /// Most padding for a dimension of which this range is kept.
    fn limit(self, kept: Range<i64>) -> i64 {
        let size = kept.end - kept.start;
        match self {
            Self::Constant => i64::MAX,
            Self::Reflect => (size - 1).max(0),
            Self::Replicate => {
                if size > 0 {
                    i64::MAX
                } else {
                    0
                }
            }
            Self::Circular => size,
        }
    }

    /// The index in the input for position `at`, which may lie outside. What is cut is still mirrored, but it does not come round.
    fn source(self, at: i64, size: i64, kept: Range<i64>) -> Option<usize> {
        let inside = (0..size).contains(&at);
        let res = match self {
            Self::Circular if kept.is_empty() => return None,
            _ if inside && self != Self::Circular => at,
            Self::Constant => return None,
            Self::Reflect => {
                if at < 0 {
                    -at
                } else {
                    2 * (size - 1) - at
                }
            }
            Self::Replicate => at.clamp(0, size - 1),
            Self::Circular => kept.start + (at - kept.start).rem_euclid(kept.end - kept.start),
        };
        usize::try_from(res).ok()
    }
}

fn mode(attrs: &Attrs) -> Result<Mode> {
    match attrs.get(1) {
        Some(Attr::Str("constant")) | None => Ok(Mode::Constant),
        Some(Attr::Str("reflect")) => Ok(Mode::Reflect),
        Some(Attr::Str("replicate" | "edge")) => Ok(Mode::Replicate),
        Some(Attr::Str("circular")) => Ok(Mode::Circular),
        Some(Attr::Str(other)) => Err(unrecognised(other)),
        _ => Err(unrecognised("")),
    }
}

fn unrecognised(mode: &str) -> Error {
    let text = format!(
        "Unrecognised padding mode {mode}; it must be constant, reflect, replicate or circular"
    );
    Error::Told { error: "NotImplementedError", text }
}

/// Programs that are written know no `edge`, files do.
fn refuse_edge(cx: &InferCx<'_>) -> Result<()> {
    match cx.attrs.get(1) {
        Some(Attr::Str("edge")) => Err(unrecognised("edge")),
        _ => Ok(()),
    }
}

/// (dimension, before, after) for each dimension that is padded.
fn per_dim(pads: &[i64], rank: usize) -> impl Iterator<Item = (usize, i64, i64)> {
    pads.chunks_exact(2).enumerate().map(move |(idx, it)| (rank - 1 - idx, it[0], it[1]))
}

/// The part of a dimension of `size` that negative padding leaves.
fn kept(size: i64, before: i64, after: i64) -> Range<i64> {
    before.saturating_neg().max(0)..size.saturating_sub(after.saturating_neg().max(0))
}

/// Positions of the input for each position of the output, per dimension.
fn sources(cx: &KernelCx<'_, '_>) -> Result<Vec<Vec<Option<usize>>>> {
    let (from, to) = (cx.inputs[0].shape(), cx.outputs[0].shape());
    let mode = mode(cx.attrs)?;
    let mut sides = vec![(0_i64, 0_i64); from.rank()];
    per_dim(&cx.ints(0).unwrap_or_default(), from.rank())
        .for_each(|(dim, before, after)| sides[dim] = (before, after));
    let of = |dim: usize| {
        let (size, (before, after)) = (from[dim] as i64, sides[dim]);
        let source = |it| mode.source(it - before, size, kept(size, before, after));
        (0..to[dim] as i64).map(source).collect()
    };
    Ok((0..from.rank()).map(of).collect())
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let sources = sources(cx)?;
    let input = cx.inputs[0];
    let value = bits_of(Number::Float(cx.float(2)), input.dtype());
    with_size!(input.dtype(), T => {
        let src = input.to_slice::<T>();
        let out = cx.outputs[0].as_mut_slice::<T>();
        fill(&src, input.shape(), out, &sources, value as T);
    });
    Ok(())
}

fn on_cuda(cx: &CudaCx<'_>) -> Result<()> {
    let (from, to) = (cx.shape(0), cx.outputs[0].shape());
    let mut dims: Vec<Padded> = from
        .iter()
        .zip(to.iter())
        .map(|(&from, &to)| {
            let from = from as i64;
            Padded { to: to as i64, from, before: 0, kept: 0..from }
        })
        .collect();
    for (dim, before, after) in per_dim(&cx.ints(0).unwrap_or_default(), from.rank()) {
        let size = from[dim] as i64;
        dims[dim] = Padded { before, kept: kept(size, before, after), ..dims[dim].clone() };
    }
    let mode = match mode(cx.attrs)? {
        Mode::Constant => "0",
        Mode::Reflect => "1",
        Mode::Replicate => "2",
        Mode::Circular => "3",
    };
    super::cuda::pad(cx, &dims, mode, bits_of(Number::Float(cx.float(2)), cx.dtype(0)))
}

/// Fills row by row; a row without a source is all `value`.
fn fill<T: Copy>(src: &[T], from: &Shape, out: &mut [T], sources: &[Vec<Option<usize>>], value: T) {
    let Some((last, outer)) = sources.split_last() else {
        interrupt::copy(out, src);
        return;
    };
    if last.is_empty() {
        return;
    }
    let strides = crate::shape::row_major(from);
    for (row_idx, row) in out.chunks_exact_mut(last.len()).enumerate() {
        let (mut rest, mut start) = (row_idx, Some(0));
        for (dim, sources) in outer.iter().enumerate().rev() {
            let at = sources[rest % sources.len()];
            rest /= sources.len();
            start = start.zip(at).map(|(start, at)| start + at * strides[dim] as usize);
        }
        match start {
            None => row.fill(value),
            Some(start) => row
                .iter_mut()
                .zip(last)
                .for_each(|(slot, at)| *slot = at.map_or(value, |at| src[start + at])),
        }
    }
}

/// Constant padding is cut off again; other modes send the edge gradients back to where they came from.
/// PyTorch writes circular padding as other ops, which are linear.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let dy = cx.output_grad()?;
    let (pads, mode) = (cx.ints(0).unwrap_or_default(), mode(cx.attrs)?);
    if mode == Mode::Constant {
        let pads = pads.iter().map(|it| -it).collect();
        let attrs = smallvec![Attr::Ints(pads), Attr::Str("constant"), Attr::Float(0.0)];
        return Ok(vec![Some(apply_one(&OP, &[dy], &attrs)?)]);
    }
    let mut dx = dy;
    for (dim, before, after) in per_dim(&pads, cx.input(0).rank()) {
        let size = cx.input(0).shape()[dim];
        let kept = kept(size as i64, before, after);
        let source = |it| mode.source(it - before, size as i64, kept.clone()).unwrap_or(0) as i64;
        let at: Vec<i64> = (0..dx.shape()[dim] as i64).map(source).collect();
        let at = Tensor::from_vec(&at, Shape::from([at.len()]))?;
        let mut shape = dx.shape().clone();
        shape.dims_mut()[dim] = size;
        let zeros = functional::full(&shape, 0.0, dx.dtype())?;
        dx = functional::index_add(&zeros, dim as i64, &at, &dx)?;
    }
    Ok(vec![Some(match mode {
        Mode::Circular => dx,
        _ => functional::locally_constant(dx, cx.input(0))?,
    })])
}

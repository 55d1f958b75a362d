//! Ops whose result goes where a tensor lies: `x.normal_()` and `torch.exp(x, out=y)` take no second buffer where nobody else can see the
//! old elements.

use smallvec::SmallVec;

use super::cuts::{Operand, apply_in_parts};
use super::in_place::within;
use super::pieces::{PIECE, Pieces};
use super::{autocast, complex, default_dtype, infer, is_watched, prepared};
use crate::cpu::interrupt;
use crate::cpu::view::OutView;
use crate::launch::run_to;
use crate::op::{Body, Case, InferCx, Kernel};
use crate::random::HOST;
use crate::{Attrs, Error, Layout, Meta, OpDef, Result, Shape, Tensor, admit, functional, lane};

/// Computes the one result of an op where the elements of `owner` are, under `seen` if not as the owner says.
///
/// False, with nothing changed, where [`super::apply`] has to be asked instead: if another handle sees the elements, the tape or a
/// trace must know of it, an operand is complex, the result is of another dtype or shape, the elements do not lie in row-major order, or the op may fail on
/// an element after others are written. An interrupt waits for the end.
pub fn apply_into(
    op: &'static OpDef,
    owner: &mut Tensor,
    seen: Option<&Layout>,
    inputs: &[Tensor],
    attrs: &Attrs,
) -> Result<bool> {
    let is_heard = is_watched(std::iter::once(&*owner).chain(inputs));
    if is_heard || !owner.is_owned() || autocast::wanted(op, attrs, inputs).is_some() {
        return Ok(false);
    }
    if owner.dtype().is_complex() || complex::occurs(inputs, attrs) {
        return Ok(false);
    }
    if default_dtype::said(op, inputs, attrs)?.is_some() {
        return Ok(false);
    }
    if let Some(other) = op.surface.instead.and_then(|it| it(inputs)) {
        return apply_into(other, owner, seen, &inputs[..1], &other.default_attrs());
    }
    if let Some(refuses) = op.surface.refuses {
        refuses(&InferCx { op, inputs, attrs })?;
    }
    let seen = seen.unwrap_or(owner.layout()).clone();
    match op.body {
        Body::Kernels(kernels) if kernels.iter().all(|it| it.admits.is_none()) => {
            let metas = infer(op, inputs, attrs)?;
            let fits = metas[..] == [Meta::new(seen.shape.clone(), owner.dtype())];
            match fits && seen.is_contiguous() {
                true => within(owner, seen, |it| computed(op, kernels, it, inputs, attrs)),
                false => Ok(false),
            }
        }
        ref body if body.is_elementwise() && !admit::may_fail(op, owner.dtype(), attrs) => {
            within(owner, seen, |it| lane::into(op, it, inputs, attrs))
        }
        _ if !op.surface.cuts.is_empty() => {
            let operands: SmallVec<[_; 4]> = inputs.iter().map(Operand::Other).collect();
            apply_in_parts(op, owner, &seen, &operands, attrs)
        }
        _ => Ok(false),
    }
}

/// Puts what `make` gives for a shape where the elements of `owner` are, under `seen` if not as the owner says: a piece after the other, in the
/// order in which the elements lie.
///
/// False, with nothing made, where another handle sees the elements, the tape or a trace must know of it, or they are on a GPU. An interrupt
/// waits for the end.
pub fn fill_in_order(
    owner: &mut Tensor,
    seen: Option<&Layout>,
    make: &mut dyn FnMut(&Shape) -> Result<Tensor>,
) -> Result<bool> {
    let seen = seen.unwrap_or(owner.layout()).clone();
    let is_watched = is_watched(std::iter::once(&*owner));
    if is_watched || !owner.is_owned() || owner.is_on_gpu() || seen.may_overlap() {
        return Ok(false);
    }
    let seen = seen.permute(&seen.order());
    let dtype = owner.dtype();
    Pieces::of(&seen, PIECE).each(|piece| {
        let here = piece.of(&seen);
        let made = functional::to(&make(&here.shape)?, dtype)?;
        owner.write(&here, None, &made)
    })
}

/// As [`apply_into`], of an op with kernels.
fn computed(
    op: &'static OpDef,
    kernels: &'static [Kernel],
    target: &mut Tensor,
    inputs: &[Tensor],
    attrs: &Attrs,
) -> Result<bool> {
    let (Meta { shape, dtype }, first) = (target.meta(), target.layout().offset);
    let Some(output) =
        target.own_bytes().and_then(|it| OutView::from_element(it, first, &shape, dtype))
    else {
        return Ok(false);
    };
    let n = shape.numel();
    prepared::with(kernels, &Case::new(op, inputs, attrs), |kernel| {
        let output = std::iter::once(Ok(output));
        let run = || HOST.with(|stream| run_to(op, kernel, inputs, attrs, output, stream));
        interrupt::unstopped(n, run).ok_or(Error::Interrupted)?
    })?;
    Ok(true)
}

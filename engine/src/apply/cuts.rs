//! Results that go part by part to where a tensor lies: `x.addmm_(a, b)` and `torch.mm(a, b, out=x)` make a part of the result at a time, of
//! the parts of the operands that it comes of.

use std::cell::Cell;

use smallvec::SmallVec;

use super::pieces::PIECE;
use super::{apply_one, autocast, complex};
use crate::cpu::interrupt;
use crate::op::Cut;
use crate::{Attrs, Error, Layout, OpDef, Result, Tensor};

/// Fewer rows are not multiplied at a time: the products of a few are added up in another order.
const LEAST_ROWS: usize = 64;

/// The result is made in so many parts, if it is large.
const PARTS: usize = 16;

thread_local! {
    static WHOLE: Cell<Option<usize>> = const { Cell::new(None) };
}

/// While parts of a product are made, the rows of the whole of it: kernels are chosen as for that, so that all bits are those of one product.
pub(super) fn whole_rows() -> Option<usize> {
    WHOLE.get()
}

/// The operand that is the elements of the owner, or any other.
pub(super) enum Operand<'a> {
    Owner,
    Other(&'a Tensor),
}

/// Along which dimension an operand is cut, if it is, and how all of it lies.
type Lies = (Option<usize>, Layout);

/// How the parts of a result are made.
struct Plan {
    cut: &'static Cut,
    /// Along which dimension of the result, and how large that is.
    dim: usize,
    size: usize,
    step: usize,
}

/// Puts the result where the elements of `owner` are, as they are `seen`. False, with nothing changed, where it is not made in parts.
pub(super) fn apply_in_parts(
    op: &'static OpDef,
    owner: &mut Tensor,
    seen: &Layout,
    operands: &[Operand<'_>],
    attrs: &Attrs,
) -> Result<bool> {
    let others: SmallVec<[Tensor; 2]> = operands
        .iter()
        .filter_map(|it| match it {
            Operand::Owner => None,
            Operand::Other(it) => Some((*it).clone()),
        })
        .collect();
    let is_plain = !owner.is_on_gpu() && !owner.dtype().is_complex() && !seen.repeats();
    if !is_plain
        || complex::occurs(&others, attrs)
        || autocast::wanted(op, attrs, std::iter::once(&*owner).chain(&others)).is_some()
    {
        return Ok(false);
    }
    drop(others);
    let Some(plan) = Plan::of(op, seen) else { return Ok(false) };
    let Some(layouts) = plan.layouts(seen, operands) else { return Ok(false) };
    let dtype = owner.dtype();
    let part = |owner: &mut Tensor, start: usize| -> Result<bool> {
        let len = plan.step.min(plan.size - start);
        let here = seen.slice(plan.dim, start, len, 1);
        let of = |at: usize| {
            let cut = |(dim, it): &Lies| match dim {
                Some(dim) => it.slice(*dim, start, len, 1),
                None => it.clone(),
            };
            let lies = cut(&layouts[at]);
            match operands[at] {
                Operand::Owner => owner.with_layout(lies),
                Operand::Other(it) if it.as_number().is_some() => it.clone(),
                Operand::Other(it) => it.with_layout(lies),
            }
        };
        // The operands are handles on the buffer, which go before it is written.
        let given: SmallVec<[Tensor; 3]> = (0..operands.len()).map(of).collect();
        let whole = plan.cut.is_of_rows().then_some(plan.size);
        let made = within(whole, || autocast::left_alone(|| apply_one(op, &given, attrs)))?;
        drop(given);
        let fits = *made.shape() == here.shape && made.dtype() == dtype;
        Ok(fits && owner.write(&here, None, &made)?)
    };
    let all = || {
        let mut starts = (0..plan.size).step_by(plan.step);
        starts.try_fold(true, |done, start| Ok::<bool, Error>(done && part(owner, start)?))
    };
    interrupt::unstopped(seen.shape.numel(), all).ok_or(Error::Interrupted)?
}

/// Calls `body` while it is known how many rows the whole has.
fn within<R>(whole: Option<usize>, body: impl FnOnce() -> R) -> R {
    let before = WHOLE.replace(whole);
    let res = body();
    WHOLE.set(before);
    res
}

impl Plan {
    /// The first way to cut the result that gives parts which are small enough.
    fn of(op: &'static OpDef, seen: &Layout) -> Option<Self> {
        let (shape, numel) = (&seen.shape, seen.shape.numel());
        if numel <= PIECE {
            return None;
        }
        op.surface.cuts.iter().find_map(|cut| {
            let dim = shape.rank().checked_sub(cut.result)?;
            let size = shape[dim];
            let fitting = (numel / PARTS).max(PIECE) / (numel / size);
            let least = if cut.is_of_rows() { LEAST_ROWS } else { 1 };
            let parts = size / fitting.max(least);
            (parts > 1).then(|| Self { cut, dim, size, step: size.div_ceil(parts) })
        })
    }

    /// How each operand lies, and along which dimension it is cut; `None` where one has another size there. The first may be broadcast to
    /// the result.
    fn layouts(&self, seen: &Layout, operands: &[Operand<'_>]) -> Option<SmallVec<[Lies; 3]>> {
        let one = |(at, it): (usize, &Operand<'_>)| {
            let layout = match it {
                Operand::Owner => seen.clone(),
                Operand::Other(it) if at == 0 && operands.len() > 2 => {
                    it.layout().broadcast_to(&seen.shape)?
                }
                Operand::Other(it) => it.layout().clone(),
            };
            let from_end = self.cut.operands[at];
            // What is written is read no more.
            if matches!(it, Operand::Owner) && from_end != Some(self.cut.result) {
                return None;
            }
            let Some(from_end) = from_end else { return Some((None, layout)) };
            let dim = layout.shape.rank().checked_sub(from_end)?;
            (layout.shape[dim] == self.size).then_some((Some(dim), layout))
        };
        operands.iter().enumerate().map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apply::{apply_in_place, apply_into};
    use crate::ops::matrix::{addbmm, addmm, addmv, addr, baddbmm, bmm, mm, mv, outer};
    use crate::{Attr, DType, Shape, functional};

    fn tensor(shape: &[usize], seed: usize) -> Tensor {
        let n: usize = shape.iter().product();
        let numbers: Vec<f32> =
            (0..n).map(|it| ((it * 31 + seed * 17) % 1009) as f32 / 511.0 - 1.0).collect();
        Tensor::from_vec(&numbers, Shape::new(shape)).unwrap()
    }

    fn weights(beta: f64, alpha: f64) -> Attrs {
        [Attr::Float(beta), Attr::Float(alpha)].into_iter().collect()
    }

    /// Bit by bit what one application gives, whatever algorithm that takes, in the buffer that was there.
    #[test]
    fn parts_have_the_bits_of_the_whole() {
        let turned = |it: Tensor| functional::transpose(&it, -1, -2).unwrap();
        let cases: Vec<(&'static OpDef, Vec<Tensor>)> = vec![
            (
                &addmm::OP,
                vec![tensor(&[700, 300], 1), tensor(&[700, 40], 2), tensor(&[40, 300], 3)],
            ),
            (
                &addmm::OP,
                vec![tensor(&[700, 300], 1), tensor(&[700, 1300], 2), tensor(&[1300, 300], 3)],
            ),
            (
                &addmm::OP,
                vec![
                    tensor(&[700, 300], 1),
                    turned(tensor(&[1300, 700], 2)),
                    turned(tensor(&[300, 1300], 3)),
                ],
            ),
            (
                &addmm::OP,
                vec![
                    tensor(&[8000, 30], 1),
                    tensor(&[8000, 600], 2),
                    turned(tensor(&[30, 600], 3)),
                ],
            ),
            (
                &baddbmm::OP,
                vec![tensor(&[3, 400, 100], 1), tensor(&[3, 400, 50], 2), tensor(&[3, 50, 100], 3)],
            ),
            (
                &baddbmm::OP,
                vec![
                    tensor(&[1, 700, 300], 1),
                    tensor(&[1, 700, 600], 2),
                    tensor(&[1, 600, 300], 3),
                ],
            ),
            (
                &addbmm::OP,
                vec![tensor(&[700, 300], 1), tensor(&[3, 700, 50], 2), tensor(&[3, 50, 300], 3)],
            ),
            (&addmv::OP, vec![tensor(&[150_000], 1), tensor(&[150_000, 9], 2), tensor(&[9], 3)]),
            (&addr::OP, vec![tensor(&[700, 300], 1), tensor(&[700], 2), tensor(&[300], 3)]),
        ];
        for (op, operands) in &cases {
            for (beta, alpha) in [(1.0, 1.0), (0.5, -2.0), (0.0, 3.0)] {
                let attrs = weights(beta, alpha);
                let expected = apply_one(op, operands, &attrs).unwrap();
                let mut own = functional::copy(&operands[0]).unwrap();
                let before = own.storage().unwrap();
                let address = std::sync::Arc::as_ptr(&before).addr();
                drop(before);
                assert!(
                    apply_in_place(op, &mut own, None, &operands[1..], &attrs).unwrap(),
                    "{}",
                    op.name
                );
                assert!(own.has_bits_of(&expected), "{} {beta} {alpha}", op.name);
                assert_eq!(std::sync::Arc::as_ptr(&own.storage().unwrap()).addr(), address);
                let mut out = functional::copy(&operands[0]).unwrap();
                assert!(apply_into(op, &mut out, None, operands, &attrs).unwrap(), "{}", op.name);
                assert!(out.has_bits_of(&expected), "{} {beta} {alpha}, out", op.name);
            }
        }
        for (op, operands) in [
            (&mm::OP, vec![tensor(&[700, 600], 2), tensor(&[600, 300], 3)]),
            (&bmm::OP, vec![tensor(&[3, 700, 60], 2), tensor(&[3, 60, 300], 3)]),
            (&mv::OP, vec![tensor(&[150_000, 9], 2), tensor(&[9], 3)]),
            (&outer::OP, vec![tensor(&[700], 2), tensor(&[300], 3)]),
        ] {
            let expected = apply_one(op, &operands, &Attrs::new()).unwrap();
            let mut out =
                functional::copy(&functional::mul(&expected, &expected).unwrap()).unwrap();
            assert!(apply_into(op, &mut out, None, &operands, &Attrs::new()).unwrap());
            assert!(out.has_bits_of(&expected), "{}", op.name);
        }
    }

    #[test]
    fn what_does_not_fit_changes_nothing() {
        let x = tensor(&[700, 300], 1);
        for (a, b) in [
            (tensor(&[1, 8], 2), tensor(&[8, 300], 3)),
            (tensor(&[700, 8], 2), tensor(&[8, 100], 3)),
            (tensor(&[700, 8], 2), tensor(&[9, 300], 3)),
            (tensor(&[700, 8], 2), functional::to(&tensor(&[8, 300], 3), DType::F64).unwrap()),
        ] {
            let mut own = functional::copy(&x).unwrap();
            let res = apply_in_place(&addmm::OP, &mut own, None, &[a, b], &weights(1.0, 1.0));
            assert!(!matches!(res, Ok(true)));
            assert!(own.has_bits_of(&x));
        }
        let mut own = functional::copy(&x).unwrap();
        let held = own.clone();
        let others = [tensor(&[700, 8], 2), tensor(&[8, 300], 3)];
        let attrs = weights(1.0, 1.0);
        assert!(!apply_in_place(&addmm::OP, &mut own, None, &others, &attrs).unwrap());
        drop(held);
    }
}

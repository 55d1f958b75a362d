//! Ops in place: `x += 1` and `x.scatter_(0, i, y)` take no second buffer where nobody else can see the old elements.

use smallvec::SmallVec;

use super::cuts::{Operand, apply_in_parts};
use super::pieces::{PIECE, Pieces};
use super::{apply_one, autocast, complex, infer, is_watched};
use crate::launch::update;
use crate::op::{Body, Case, InferCx, Kernel};
use crate::random::HOST;
use crate::{Attrs, DType, Layout, OpDef, Result, Tensor, admit, functional, lane};

/// Replaces the elements of an op's first operand by its results: of an elementwise op, or of one whose kernel changes parts of that
/// operand. They lie in the buffer of `owner`, under `seen` if not as the owner says.
///
/// False, with nothing changed, where [`super::apply`] has to be asked instead: if another handle sees the elements, the tape or a
/// trace must know of it, the results are of another shape or do not fit where the elements lie, or the op may fail on an
/// element after others are written. An interrupt waits for the end.
pub fn apply_in_place(
    op: &'static OpDef,
    owner: &mut Tensor,
    seen: Option<&Layout>,
    others: &[Tensor],
    attrs: &Attrs,
) -> Result<bool> {
    if let Some(refuses) = op.surface.refuses {
        let inputs = inputs(owner, seen, others);
        refuses(&InferCx { op, inputs: &inputs, attrs })?;
    }
    if is_watched(std::iter::once(&*owner).chain(others)) || !owner.is_owned() {
        return Ok(false);
    }
    let instead = op.surface.instead.and_then(|it| it(&inputs(owner, seen, others)));
    if let Some(other) = instead {
        return apply_in_place(other, owner, seen, &[], &other.default_attrs());
    }
    // Kernels compute real numbers alone.
    let is_complex = owner.dtype().is_complex() || complex::occurs(others, attrs);
    let is_composed = is_complex && complex::is_composed(op, &inputs(owner, seen, others), attrs);
    if let Body::Kernels([kernel]) = op.body {
        return Ok(!is_composed && updated(op, kernel, owner, seen, others, attrs)?);
    }
    let seen = seen.unwrap_or(owner.layout()).clone();
    if !op.surface.cuts.is_empty() {
        let others = others.iter().map(Operand::Other);
        let operands: SmallVec<[_; 4]> = std::iter::once(Operand::Owner).chain(others).collect();
        return apply_in_parts(op, owner, &seen, &operands, attrs);
    }
    if op.surface.by_element {
        return in_pieces(op, owner, &seen, others, attrs);
    }
    let fits = op.body.is_elementwise() && op.n_tensors() == 1 + others.len();
    if !fits || admit::may_fail(op, owner.dtype(), attrs) {
        return Ok(false);
    }
    let Some(order) = seen.dense_order() else {
        return placed(op, owner, &seen, others, attrs);
    };
    if seen.is_contiguous() {
        return replaced(op, is_composed, owner, seen, others, attrs);
    }
    let turned = |it: &Tensor| match it.rank() {
        0 => Some(it.clone()),
        _ => Some(it.with_layout(it.layout().broadcast_to(&seen.shape)?.permute(&order))),
    };
    let others: Option<SmallVec<[Tensor; 2]>> = others.iter().map(turned).collect();
    let Some(others) = others else { return Ok(false) };
    replaced(op, is_composed, owner, seen.permute(&order), &others, attrs)
}

/// As [`apply_in_place`], of an elementwise op, for elements that lie row-major and without gaps. An op that is composed on these operands
/// gives its results beside them: all at once if they are few.
fn replaced(
    op: &'static OpDef,
    is_composed: bool,
    owner: &mut Tensor,
    seen: Layout,
    others: &[Tensor],
    attrs: &Attrs,
) -> Result<bool> {
    let replace = |it: &mut Tensor| lane::replace(op, it, others, attrs);
    let is_replaced = !is_composed && within(owner, seen.clone(), replace)?;
    Ok(is_replaced
        || in_pieces(op, owner, &seen, others, attrs)?
        || is_composed && placed(op, owner, &seen, others, attrs)?)
}

/// As [`apply_in_place`], where the operands that are `None` are the elements themselves, and the others numbers: `x.mul_(x)`. What they were is
/// copied piece by piece.
pub fn apply_to_itself(
    op: &'static OpDef,
    owner: &mut Tensor,
    seen: Option<&Layout>,
    others: &[Option<Tensor>],
    attrs: &Attrs,
) -> Result<bool> {
    let layout = seen.unwrap_or(owner.layout()).clone();
    let are_numbers = others.iter().flatten().all(|it| it.rank() == 0);
    let is_elementwise = op.body.is_elementwise() && op.n_tensors() == 1 + others.len();
    let is_plain = !owner.is_on_gpu() && layout.is_contiguous();
    if !is_plain || !is_elementwise || !are_numbers || is_watched(std::iter::once(&*owner)) {
        return Ok(false);
    }
    Pieces::of(&layout, PIECE).each(|piece| {
        let part = piece.of(&layout);
        let copy = functional::copy(&owner.with_layout(part.clone()))?;
        let given: SmallVec<[Tensor; 2]> =
            others.iter().map(|it| it.clone().unwrap_or_else(|| copy.clone())).collect();
        apply_in_place(op, owner, Some(&part), &given, attrs)
    })
}

/// As [`apply_in_place`], for elements that lie apart in the buffer: the results are computed beside them, a piece at a time, and put there.
fn placed(
    op: &'static OpDef,
    owner: &mut Tensor,
    seen: &Layout,
    others: &[Tensor],
    attrs: &Attrs,
) -> Result<bool> {
    let (dtype, most) = (owner.dtype(), if owner.is_on_gpu() { usize::MAX } else { PIECE });
    Ok(!seen.repeats() && put(op, owner, (seen, most), others, attrs, &|it| it == dtype)?)
}

/// As [`apply_in_place`], of an op that works element by element where the results are of another dtype, or come of several steps: a piece of
/// them is computed at a time.
fn in_pieces(
    op: &'static OpDef,
    owner: &mut Tensor,
    seen: &Layout,
    others: &[Tensor],
    attrs: &Attrs,
) -> Result<bool> {
    if seen.shape.numel() <= PIECE || owner.is_on_gpu() || !seen.is_contiguous() {
        return Ok(false);
    }
    let dtype = owner.dtype();
    let holds = |it: DType| it == dtype || it == DType::Bool || it.is_float() && dtype.is_float();
    put(op, owner, (seen, PIECE), others, attrs, &holds)
}

/// Computes the results beside the elements, so many at a time, and puts them in their places, if such a dtype is held there.
fn put(
    op: &'static OpDef,
    owner: &mut Tensor,
    (seen, most): (&Layout, usize),
    others: &[Tensor],
    attrs: &Attrs,
    holds: &dyn Fn(DType) -> bool,
) -> Result<bool> {
    let spread = |it: &Tensor| it.layout().broadcast_to(&seen.shape);
    let Some(spread) = others.iter().map(spread).collect::<Option<SmallVec<[Layout; 2]>>>() else {
        return Ok(false);
    };
    let dtype = owner.dtype();
    Pieces::of(seen, most).each(|piece| {
        let here = piece.of(seen);
        let cut = |(it, layout): (&Tensor, &Layout)| match it.rank() {
            0 => it.clone(),
            _ => it.with_layout(piece.of(layout)),
        };
        let others: SmallVec<[Tensor; 2]> = others.iter().zip(&spread).map(cut).collect();
        // The operands are handles on the buffer, which go before it is written.
        let operands = inputs(owner, Some(&here), &others);
        let results = autocast::left_alone(|| apply_one(op, &operands, attrs))?;
        drop(operands);
        let fits = *results.shape() == here.shape && holds(results.dtype());
        Ok(fits && owner.write(&here, None, &functional::to(&results, dtype)?)?)
    })
}

/// The operands of the op.
fn inputs(owner: &Tensor, seen: Option<&Layout>, others: &[Tensor]) -> SmallVec<[Tensor; 4]> {
    let first = seen.map_or_else(|| owner.clone(), |it| owner.with_layout(it.clone()));
    std::iter::once(first).chain(others.iter().cloned()).collect()
}

/// As [`apply_in_place`], for an op with one kernel.
fn updated(
    op: &'static OpDef,
    kernel: &'static Kernel,
    owner: &mut Tensor,
    seen: Option<&Layout>,
    others: &[Tensor],
    attrs: &Attrs,
) -> Result<bool> {
    if !kernel.updates {
        return Ok(false);
    }
    let operands = inputs(owner, seen, others);
    infer(op, &operands, attrs)?;
    let Some(prepared) = kernel.prepare(&Case::new(op, &operands, attrs)) else { return Ok(false) };
    // No second handle while it is written.
    drop(operands);
    let seen = seen.unwrap_or(owner.layout()).clone();
    HOST.with(|stream| within(owner, seen, |it| update(op, &prepared, it, others, attrs, stream)))
}

/// Calls `body` with the owner as it is seen under a layout.
pub(super) fn within(
    owner: &mut Tensor,
    seen: Layout,
    body: impl FnOnce(&mut Tensor) -> Result<bool>,
) -> Result<bool> {
    if seen == *owner.layout() {
        return body(owner);
    }
    let dtype = owner.dtype();
    owner.under(dtype, seen, body).unwrap_or(Ok(false))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::ops::index::{index_add, scatter_add};
    use crate::ops::{binary, unary};
    use crate::storage::Element;
    use crate::{Attr, DType, Error, Shape, functional, tape};

    fn values() -> Tensor {
        tensor(&(0..600).map(|it| it as f32 - 300.5).collect::<Vec<_>>(), &[2, 300])
    }

    fn tensor<T: Element>(values: &[T], shape: &[usize]) -> Tensor {
        Tensor::from_vec(values, Shape::new(shape)).unwrap()
    }

    fn address(x: &Tensor) -> usize {
        Arc::as_ptr(&x.storage().unwrap()).addr()
    }

    /// What every op in place gives is what it gives otherwise, also with operands that are spread or strided.
    #[test]
    fn gives_what_the_op_gives() {
        let tall = functional::reshape(&values(), &Shape::from([300, 2])).unwrap();
        let others = [
            Tensor::number(3.0),
            values(),
            tensor(&[2.0_f32, -4.0], &[2, 1]),
            functional::transpose(&tall, 0, 1).unwrap(),
        ];
        for other in others {
            for op in [&binary::add::OP, &binary::div::OP, &binary::pow::OP, &binary::atan2::OP] {
                let expected = apply_one(op, &[values(), other.clone()], &Attrs::new()).unwrap();
                let mut own = values();
                let before = address(&own);
                let done =
                    apply_in_place(op, &mut own, None, std::slice::from_ref(&other), &Attrs::new())
                        .unwrap();
                assert!(done && address(&own) == before, "{}", op.name);
                let bits = |it: &Tensor| -> Vec<u32> {
                    it.to_vec::<f32>().unwrap().iter().map(|it| it.to_bits()).collect()
                };
                assert_eq!(bits(&own), bits(&expected), "{}", op.name);
            }
        }
    }

    /// Columns, blocks and diagonals.
    #[test]
    fn writes_where_elements_lie_apart() {
        let slice = |x: &Tensor, dim| functional::slice(x, dim, 0, 2, 1).unwrap();
        let column = functional::slice(&values(), 1, 7, 8, 1).unwrap().layout().clone();
        let block = slice(&slice(&values(), 0), 1).layout().clone();
        let stepped = functional::slice(&values(), 1, 1, 290, 3).unwrap().layout().clone();
        for seen in [column, block, stepped] {
            let mut own = values();
            let before = address(&own);
            let part = |x: &Tensor| x.with_layout(seen.clone());
            let two = [Tensor::number(2.0)];
            let expected = functional::mul(&part(&values()), &two[0]).unwrap();
            let none = Attrs::new();
            assert!(apply_in_place(&binary::mul::OP, &mut own, Some(&seen), &two, &none).unwrap());
            assert_eq!(address(&own), before);
            assert_eq!(part(&own).to_f64_vec().unwrap(), expected.to_f64_vec().unwrap());
            let sum = |x: &Tensor| x.to_f64_vec().unwrap().iter().sum::<f64>();
            let change = sum(&expected) - sum(&part(&values()));
            assert_eq!(sum(&own), sum(&values()) + change, "and nothing else");
        }
    }

    /// Many elements that lie apart are replaced a piece at a time.
    #[test]
    fn writes_many_elements_that_lie_apart() {
        let n = 600_000;
        let own = || tensor(&(0..n).map(|it| (it % 1013) as f32).collect::<Vec<_>>(), &[300, 2000]);
        let sides = |x: &Tensor, rows: (i64, i64, i64), columns: (i64, i64, i64)| {
            let x = functional::slice(x, 0, rows.0, rows.1, rows.2).unwrap();
            functional::slice(&x, 1, columns.0, columns.1, columns.2).unwrap()
        };
        let whole = own();
        let row = tensor(&(0..2000).map(|it| it as f32).collect::<Vec<_>>(), &[1, 2000]);
        for part in [
            sides(&whole, (0, 300, 1), (1, 2000, 1)),
            sides(&whole, (1, 300, 2), (0, 2000, 1)),
            sides(&whole, (0, 300, 1), (1, 2000, 2)),
            functional::transpose(&sides(&whole, (3, 299, 1), (5, 1999, 3)), 0, 1).unwrap(),
        ] {
            let seen = part.layout().clone();
            let along = part.shape()[1].min(2000);
            let others = [Tensor::number(3.0), sides(&row, (0, 1, 1), (0, along as i64, 1))];
            for other in others {
                let mut own = own();
                let part = own.with_layout(seen.clone());
                let expected = functional::mul(&part, &other).unwrap().to_f64_vec().unwrap();
                let rest: f64 = own.to_f64_vec().unwrap().iter().sum::<f64>()
                    - part.to_f64_vec().unwrap().iter().sum::<f64>();
                drop(part);
                let others = [other];
                let none = Attrs::new();
                assert!(
                    apply_in_place(&binary::mul::OP, &mut own, Some(&seen), &others, &none)
                        .unwrap()
                );
                let got = own.with_layout(seen.clone()).to_f64_vec().unwrap();
                assert_eq!(got, expected);
                let sum = own.to_f64_vec().unwrap().iter().sum::<f64>();
                assert_eq!(sum - got.iter().sum::<f64>(), rest, "and nothing else");
            }
        }
    }

    #[test]
    fn leaves_alone_what_others_see() {
        let (plus, none) = (&binary::add::OP, Attrs::new());
        let one = || vec![Tensor::number(1.0)];
        let mut x = values();
        let handle = x.clone();
        assert!(!apply_in_place(plus, &mut x, None, &one(), &none).unwrap());
        drop(handle);
        let view = functional::transpose(&x, 0, 1).unwrap();
        assert!(!apply_in_place(plus, &mut x, None, &one(), &none).unwrap());
        drop(view);
        let before = super::super::set_shapes_only(true);
        assert!(!apply_in_place(plus, &mut x, None, &one(), &none).unwrap());
        super::super::set_shapes_only(before);
        let mut leaf = values().leaf();
        assert!(!apply_in_place(plus, &mut leaf, None, &one(), &none).unwrap());
        let before = tape::set_enabled(false);
        assert!(
            apply_in_place(plus, &mut leaf, None, &one(), &none).unwrap() && leaf.requires_grad()
        );
        tape::set_enabled(before);
        assert!(apply_in_place(plus, &mut x, None, &one(), &none).unwrap());
        assert_eq!(x.to_vec::<f32>().unwrap()[0], -299.5);
    }

    #[test]
    fn leaves_alone_what_would_be_of_another_dtype_or_shape_or_may_fail() {
        let none = Attrs::new();
        let mut x = tensor(&[1_i64, 2], &[2]);
        let half = Tensor::number(0.5);
        assert!(!apply_in_place(&binary::add::OP, &mut x, None, &[half], &none).unwrap());
        assert!(!apply_in_place(&unary::exp::OP, &mut x, None, &[], &none).unwrap());
        let zero = tensor(&[1_i64, 0], &[2]);
        assert!(
            !apply_in_place(
                &binary::floor_divide::OP,
                &mut x,
                None,
                std::slice::from_ref(&zero),
                &none
            )
            .unwrap()
        );
        assert!(apply_in_place(&binary::mul::OP, &mut x, None, &[zero], &none).unwrap());
        assert_eq!(x.to_vec::<i64>().unwrap(), [1, 0]);
        let wide = tensor(&[1_i64, 2, 3, 4], &[2, 2]);
        assert!(!apply_in_place(&binary::add::OP, &mut x, None, &[wide], &none).unwrap());
        let short = tensor(&[1_i64, 2, 3], &[3]);
        assert!(apply_in_place(&binary::add::OP, &mut x, None, &[short], &none).is_err());
        assert_eq!((x.dtype(), x.to_vec::<i64>().unwrap()), (DType::I64, vec![1, 0]));
    }

    /// A part is written where it lies, and what is turned around in the order in which it lies.
    #[test]
    fn views_are_written_where_their_elements_lie() {
        let rows = || tensor(&(0..6).map(|it| it as f32).collect::<Vec<_>>(), &[2, 3]);
        let (plus, none) = (&binary::add::OP, Attrs::new());
        let mut x = rows();
        let row = x.layout().slice(0, 1, 1, 1);
        assert!(apply_in_place(plus, &mut x, Some(&row), &[rows_of(10.0)], &none).unwrap());
        assert_eq!(x.to_vec::<f32>().unwrap(), [0.0, 1.0, 2.0, 13.0, 15.0, 17.0]);
        let mut x = rows();
        let turned = x.layout().permute(&[1, 0]);
        let two = tensor(&[10.0_f32, 20.0], &[2]);
        assert!(apply_in_place(plus, &mut x, Some(&turned), &[two], &none).unwrap());
        assert_eq!(x.to_vec::<f32>().unwrap(), [10.0, 11.0, 12.0, 23.0, 24.0, 25.0]);
        assert_eq!(*x.layout(), *rows().layout());
        let spread = x.layout().slice(1, 0, 2, 2);
        let one = [Tensor::number(1.0)];
        assert!(apply_in_place(plus, &mut x, Some(&spread), &one, &none).unwrap());
        assert_eq!(x.to_vec::<f32>().unwrap(), [11.0, 11.0, 13.0, 24.0, 24.0, 26.0]);
        let wide = x.layout().slice(0, 1, 1, 1).broadcast_to(&Shape::from([4, 3])).unwrap();
        assert!(!apply_in_place(plus, &mut x, Some(&wide), &[Tensor::number(1.0)], &none).unwrap());
    }

    fn rows_of(first: f32) -> Tensor {
        tensor(&[first, first + 1.0, first + 2.0], &[1, 3])
    }

    #[test]
    fn places_are_updated_and_those_outside_change_nothing() {
        let (put, along) = (&index_add::OP, Attrs::from_elem(Attr::Int(0), 1));
        let add = |x: &mut Tensor, seen: Option<&Layout>, at: &[i32]| {
            let more = tensor(&vec![1.5_f32; at.len()], &[at.len()]);
            apply_in_place(put, x, seen, &[tensor(at, &[at.len()]), more], &along)
        };
        let mut x = tensor(&[0.0_f32; 5], &[5]);
        let behind = x.layout().slice(0, 2, 3, 1);
        assert!(
            add(&mut x, None, &[0, 1, 0]).unwrap() && add(&mut x, Some(&behind), &[2]).unwrap()
        );
        assert_eq!(x.to_vec::<f32>().unwrap(), [3.0, 1.5, 0.0, 0.0, 1.5]);
        let outside = add(&mut x, None, &[0, 5]);
        assert!(matches!(outside, Err(Error::IndexRange { index: 5, .. })), "{outside:?}");
        let handle = x.clone();
        assert!(!add(&mut x, None, &[0]).unwrap());
        drop(handle);
        let spread = x.layout().slice(0, 0, 3, 2);
        assert!(!add(&mut x, Some(&spread), &[0]).unwrap());
        assert_eq!(x.to_vec::<f32>().unwrap(), [3.0, 1.5, 0.0, 0.0, 1.5]);
    }

    /// As often as a byte can count and once more.
    #[test]
    fn bools_that_are_added_up_stay_true() {
        let many = 256;
        let mut x = Tensor::from_bools(&[false, false], Shape::from([2])).unwrap();
        let places = tensor(&vec![1_i64; many], &[many]);
        let more = Tensor::from_bools(&vec![true; many], Shape::from([many])).unwrap();
        let along = Attrs::from_elem(Attr::Int(0), 1);
        for op in [&index_add::OP, &scatter_add::OP] {
            let others = [places.clone(), more.clone()];
            assert!(apply_in_place(op, &mut x, None, &others, &along).unwrap());
            assert_eq!(x.to_vec::<u8>().unwrap(), [0, 1], "{}", op.name);
        }
    }

    /// One element takes the short way through the machine.
    #[test]
    fn one_element_is_replaced_too() {
        let mut x = tensor(&[3.0_f64], &[1, 1]);
        let limits: Attrs = [Attr::Float(-1.0), Attr::Float(2.5)].into_iter().collect();
        assert!(apply_in_place(&unary::clamp::OP, &mut x, None, &[], &limits).unwrap());
        assert!(
            apply_in_place(&binary::mul::OP, &mut x, None, &[Tensor::number(2.0)], &Attrs::new())
                .unwrap()
        );
        assert_eq!(x.to_vec::<f64>().unwrap(), [5.0]);
    }

    /// Results of another dtype, and of several steps, are computed piece by piece: the same, and where the elements lie.
    #[test]
    fn what_is_computed_in_pieces_is_what_all_at_once_is() {
        let count = 3 * PIECE + 7;
        let numbers: Vec<f32> = (0..count).map(|it| (it % 97) as f32 - 48.0).collect();
        let others: Vec<f32> = (0..count).map(|it| (it % 89) as f32 - 44.0).collect();
        let (other, attrs) = (tensor(&others, &[count]), Attrs::new());
        let double = functional::to(&other, DType::F64).unwrap();
        let [gt, add, dropout] = ["gt", "add", "dropout"].map(|it| crate::ops::find(it).unwrap());
        let given = dropout.default_attrs();
        for (op, others, attrs) in [
            (gt, vec![other.clone()], &attrs),
            (gt, vec![Tensor::number(3.0)], &attrs),
            (add, vec![double], &attrs),
            (dropout, vec![], &given),
        ] {
            let mut own = tensor(&numbers, &[count]);
            let all: Vec<Tensor> = std::iter::once(own.detach()).chain(others.clone()).collect();
            crate::random::seed(5);
            let expected =
                functional::to(&apply_one(op, &all, attrs).unwrap(), DType::F32).unwrap();
            drop(all);
            crate::random::seed(5);
            let before = std::sync::Arc::as_ptr(&own.storage().unwrap()).addr();
            assert!(apply_in_place(op, &mut own, None, &others, attrs).unwrap(), "{}", op.name);
            assert!(own.has_bits_of(&expected), "{}", op.name);
            assert_eq!(std::sync::Arc::as_ptr(&own.storage().unwrap()).addr(), before);
        }
        let mut own = tensor(&numbers, &[count]);
        let held = own.clone();
        assert!(!apply_in_place(gt, &mut own, None, &[other], &attrs).unwrap());
        drop(held);
    }
}

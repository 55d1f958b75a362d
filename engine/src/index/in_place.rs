//! Writing into the elements of a tensor that nobody else can see: `x[1:, 0] = y` costs what it writes.
//!
//! **Invariant:** whoever holds a handle on a value, or on another tensor in its buffer, never sees it change: then nothing is written here.

use std::iter::repeat_n;

use super::picked::Picked;
use super::{Index, Part, as_element, expand_ellipsis, find, is_there};
use crate::apply::pieces::{PIECE, Piece, Pieces};
use crate::apply::{apply_in_place, is_watched};
use crate::{Attrs, DType, Layout, Result, Shape, Tensor, functional};

/// Replaces elements, as [`super::set`] does, in the buffer of `owner`: those at `index` of what is seen under the layout `seen`, which
/// lies in that buffer. False, with nothing changed, where somebody else can see them, where the tape or a trace must know of it, or
/// where the index names new dimensions. A value that lies there already, as in `x[0] += 1`, is not written again.
pub fn set_in_place(
    owner: &mut Tensor,
    seen: &Layout,
    index: &[Index],
    value: &Tensor,
) -> Result<bool> {
    let picks = || index.iter().filter_map(Index::as_tensor);
    if is_watched([&*owner, value].into_iter().chain(picks())) || seen.repeats() {
        return Ok(false);
    }
    match picks().next() {
        None => set_part(owner, seen, index, value),
        Some(_) if !owner.is_owned() => Ok(false),
        Some(mask) if index.len() == 1 && value.numel() == 1 && is_mask(mask, seen) => {
            fill_masked(owner, seen, mask, value)
        }
        Some(_) => set_places(owner, seen, index, value),
    }
}

/// As [`super::write_through`], in a copy of `x`; `None` where the tape or a trace must know of it, or `view` sees no buffer of its operand.
pub(super) fn written_copy(
    x: &Tensor,
    value: &Tensor,
    view: &dyn Fn(&Tensor) -> Result<Tensor>,
) -> Result<Option<Tensor>> {
    if is_watched([x, value]) {
        return Ok(None);
    }
    let mut copy = functional::copy(x)?;
    let seen = view(&copy)?;
    if !seen.shares_buffer(&copy) || seen.dtype() != copy.dtype() {
        return Ok(None);
    }
    let layout = seen.layout().clone();
    drop(seen);
    let is_written = set_in_place(&mut copy, &layout, &[Index::Ellipsis], value)?;
    Ok(is_written.then_some(copy))
}

fn set_part(owner: &mut Tensor, seen: &Layout, index: &[Index], value: &Tensor) -> Result<bool> {
    let part = match index.iter().all(Index::is_plain) {
        true => Part::new(&seen.shape, &expand_ellipsis(&seen.shape, index)?)?,
        false => return Ok(false),
    };
    let target = part.within(seen);
    if value.shares_buffer(owner) && is_there(&part.fitted(value)?, owner, &target) {
        return Ok(true);
    }
    if !owner.is_owned() {
        return Ok(false);
    }
    if value.numel() <= PIECE || value.dtype() == owner.dtype() || owner.is_on_gpu() {
        let value = part.fitted(&as_element(value, owner.dtype())?)?;
        return owner.write(&target, None, &value);
    }
    let value = part.fitted(value)?;
    Pieces::of(&target, PIECE).each(|piece| {
        let few = value.with_layout(piece.of(value.layout()));
        owner.write(&piece.of(&target), None, &as_element(&few, owner.dtype())?)
    })
}

/// As [`set_in_place`], where the value is what lies in the same buffer as elements of a dtype, under a layout of them. False, with nothing
/// changed, also where what is written may be read behind that.
pub fn set_from_within(
    owner: &mut Tensor,
    seen: &Layout,
    index: &[Index],
    (dtype, from): (DType, &Layout),
) -> Result<bool> {
    let is_plain = index.iter().all(Index::is_plain);
    if is_watched([&*owner]) || !owner.is_owned() || owner.is_on_gpu() || !is_plain {
        return Ok(false);
    }
    let part = Part::new(&seen.shape, &expand_ellipsis(&seen.shape, index)?)?;
    let target = part.within(seen);
    let spread = from.broadcast_to(&part.shape).and_then(|it| it.reshape(&part.kept));
    let is_ascending = part.spans.iter().all(|it| it.step > 0);
    let Some(from) = spread.filter(|_| is_ascending && !target.may_overlap()) else {
        return Ok(false);
    };
    let here = owner.dtype();
    let write = |piece: &Piece| {
        let few = functional::copy(&owner.seen_as(dtype, piece.of(&from)))?;
        owner.write(&piece.of(&target), None, &as_element(&few, here)?)
    };
    let pieces = Pieces::of(&target, PIECE);
    let bytes =
        |layout: &Layout, dtype: DType| layout.lowest() * dtype.size()..layout.end() * dtype.size();
    let (read, written) = (bytes(&from, dtype), bytes(&target, here));
    // What lies at the same steps is read before it is written if that goes the right way.
    let lie_alike = dtype == here && from.strides == target.strides;
    let are_apart = read.end <= written.start || written.end <= read.start;
    match lie_alike && written.start > read.start {
        _ if are_apart => pieces.each(write),
        true => pieces.each_back(write),
        false if lie_alike => pieces.each(write),
        false => Ok(false),
    }
}

/// Whether a tensor is a mask over the leading dimensions of what is seen.
fn is_mask(mask: &Tensor, seen: &Layout) -> bool {
    mask.dtype() == DType::Bool && seen.shape.starts_with(mask.shape())
}

/// `x[mask] = number`.
fn fill_masked(owner: &mut Tensor, seen: &Layout, mask: &Tensor, value: &Tensor) -> Result<bool> {
    let spread = mask.shape().iter().copied().chain(repeat_n(1, seen.shape.rank() - mask.rank()));
    let mask = functional::reshape(mask, &spread.collect())?;
    let number = functional::reshape(&as_element(value, owner.dtype())?, &Shape::default())?;
    apply_in_place(find("masked_fill")?, owner, Some(seen), &[mask, number], &Attrs::new())
}

/// `x[i, :, j] = value`: tensors of places and masks, among numbers and slices.
fn set_places(owner: &mut Tensor, seen: &Layout, index: &[Index], value: &Tensor) -> Result<bool> {
    let Some(picked) = Picked::new(seen, index)? else { return Ok(false) };
    let value = picked.fitted(&as_element(value, owner.dtype())?)?;
    owner.write(&picked.target, Some((picked.dim, &picked.places)), &value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{get, set};
    use crate::{Shape, apply, functional, tape};

    fn whole(numel: usize, shape: &[usize]) -> Tensor {
        let values: Vec<f32> = (0..numel).map(|it| it as f32).collect();
        Tensor::from_vec(&values, Shape::new(shape)).unwrap()
    }

    fn slice(start: Option<i64>, stop: Option<i64>, step: Option<i64>) -> Index {
        Index::Slice { start, stop, step }
    }

    fn write(x: &mut Tensor, index: &[Index], value: &Tensor) -> Result<bool> {
        let seen = x.layout().clone();
        set_in_place(x, &seen, index, value)
    }

    fn address(x: &Tensor) -> usize {
        std::sync::Arc::as_ptr(&x.storage().unwrap()).addr()
    }

    #[test]
    fn writes_what_a_new_value_would_hold() {
        let indices = [
            vec![],
            vec![Index::Ellipsis],
            vec![Index::Int(-1)],
            vec![Index::Int(1), Index::Int(2), Index::Int(0)],
            vec![slice(None, None, Some(-2)), Index::Int(0)],
            vec![Index::Ellipsis, slice(Some(1), None, None)],
            vec![slice(Some(5), None, None)],
            vec![slice(None, None, None), slice(Some(2), Some(0), Some(-1)), Index::Int(1)],
        ];
        for index in indices {
            let x = whole(24, &[2, 4, 3]);
            let seen = get(&x, &index).unwrap();
            for value in
                [Tensor::number(-1.5), functional::mul(&seen, &Tensor::number(3.0)).unwrap()]
            {
                let expected = set(&x, &index, &value).unwrap().to_f64_vec().unwrap();
                let mut own = whole(24, &[2, 4, 3]);
                let before = address(&own);
                assert!(write(&mut own, &index, &value).unwrap());
                assert_eq!(own.to_f64_vec().unwrap(), expected, "{index:?}");
                assert_eq!(address(&own), before);
            }
        }
    }

    /// Indices with tensors of places and masks; that of each is made anew, since a handle on it would be seen.
    fn picking() -> Vec<Vec<Index>> {
        let places = |at: &[i64], shape: &[usize]| {
            Index::Tensor(Tensor::from_vec(at, Shape::new(shape)).unwrap())
        };
        let mask = |keeps: &[u8], shape: &[usize]| {
            let keeps = Tensor::from_vec(keeps, Shape::new(shape)).unwrap();
            Index::Tensor(functional::ne(&keeps, &Tensor::int_number(0)).unwrap())
        };
        let all = || slice(None, None, None);
        vec![
            vec![places(&[1, 0, -1], &[3])],
            vec![all(), places(&[3, -4, 3, 1], &[2, 2])],
            vec![Index::Int(1), places(&[2, 0], &[2]), slice(None, None, Some(-2))],
            vec![slice(None, None, Some(-1)), Index::Int(2), places(&[1], &[1])],
            vec![Index::Ellipsis, places(&[2], &[])],
            vec![places(&[], &[0]), Index::Int(0)],
            vec![mask(&[0, 1], &[2])],
            vec![all(), mask(&[1, 0, 1, 1], &[4])],
            vec![mask(&[1, 0, 0, 1, 1, 0, 0, 0], &[2, 4])],
            vec![mask(&[0; 2], &[2]), slice(Some(1), None, None)],
            vec![places(&[1, 0], &[2]), places(&[3, -1], &[2])],
            vec![places(&[1, 0], &[2, 1]), places(&[3, 0, 3], &[3]), slice(None, None, Some(-1))],
            vec![places(&[0, 1], &[2]), all(), places(&[2, 0], &[2])],
            vec![places(&[0, 1], &[2]), slice(None, None, Some(-2)), places(&[1], &[1])],
            vec![places(&[1], &[]), Index::Int(2), places(&[0, -1], &[2])],
            vec![all(), places(&[0, 3], &[2]), places(&[2, 0], &[2])],
            vec![slice(None, None, Some(-1)), mask(&[1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 1], &[4, 3])],
            vec![mask(&[1, 0, 0, 1, 0, 1, 0, 0], &[2, 4]), places(&[0, 2, 1], &[3])],
            vec![mask(&[1, 1], &[2]), all(), places(&[1, 2], &[2])],
            vec![Index::Ellipsis, places(&[0, 0], &[2]), places(&[1, 1], &[2])],
        ]
    }

    #[test]
    fn writes_to_places_and_masks_what_a_new_value_would_hold() {
        for at in 0..picking().len() {
            let index = || picking().swap_remove(at);
            let x = whole(24, &[2, 4, 3]);
            let seen = get(&x, &index()).unwrap();
            let several = functional::mul(&seen, &Tensor::number(3.0)).unwrap();
            for value in [Tensor::number(-1.5), several] {
                let expected = set(&x, &index(), &value).unwrap().to_f64_vec().unwrap();
                let mut own = whole(24, &[2, 4, 3]);
                let before = address(&own);
                assert!(write(&mut own, &index(), &value).unwrap());
                assert_eq!(own.to_f64_vec().unwrap(), expected, "{:?}", index());
                assert_eq!(address(&own), before);
            }
        }
    }

    #[test]
    fn places_of_a_view_are_written_where_they_lie() {
        let mut x = functional::transpose(&whole(6, &[2, 3]), 0, 1).unwrap();
        let rows = Index::Tensor(Tensor::from_vec(&[2_i64, 0], Shape::from([2])).unwrap());
        let value = Tensor::from_vec(&[8.0_f32, 9.0], Shape::from([2, 1])).unwrap();
        assert!(write(&mut x, &[rows], &value).unwrap());
        assert_eq!(x.to_f64_vec().unwrap(), [9.0, 9.0, 1.0, 4.0, 8.0, 8.0]);
    }

    #[test]
    fn places_outside_and_values_that_do_not_fit_change_nothing() {
        let mut x = whole(4, &[4]);
        let outside = Index::Tensor(Tensor::from_vec(&[0_i64, 4], Shape::from([2])).unwrap());
        assert!(!write(&mut x, &[outside], &Tensor::number(5.0)).unwrap());
        let two = Index::Tensor(Tensor::from_vec(&[0_i64, 1], Shape::from([2])).unwrap());
        assert!(write(&mut x, &[two], &whole(3, &[3])).is_err());
        assert_eq!(x.to_f64_vec().unwrap(), [0.0, 1.0, 2.0, 3.0]);
    }

    #[test]
    fn transposed_tensors_are_written_where_their_elements_lie() {
        let mut x = functional::transpose(&whole(6, &[2, 3]), 0, 1).unwrap();
        assert!(write(&mut x, &[Index::Int(2)], &Tensor::number(9.0)).unwrap());
        assert_eq!(x.to_f64_vec().unwrap(), [0.0, 3.0, 1.0, 4.0, 9.0, 9.0]);
    }

    #[test]
    fn what_others_can_see_is_not_written() {
        let one = [Index::Int(0)];
        let value = Tensor::number(5.0);
        let mut x = whole(4, &[4]);
        let handle = x.clone();
        assert!(!write(&mut x, &one, &value).unwrap());
        drop(handle);
        let view = get(&x, &[slice(Some(2), None, None)]).unwrap();
        assert!(!write(&mut x, &one, &value).unwrap());
        drop(view);
        let before = apply::set_shapes_only(true);
        assert!(!write(&mut x, &one, &value).unwrap());
        apply::set_shapes_only(before);
        assert!(write(&mut x, &one, &value).unwrap());
        let mut leaf = whole(4, &[4]).leaf();
        assert!(!write(&mut leaf, &one, &value).unwrap());
        assert!(tape_off(|| write(&mut leaf, &one, &value).unwrap()) && leaf.requires_grad());
        let mut wide = functional::expand(&whole(1, &[1]), &Shape::from([4])).unwrap();
        assert!(!write(&mut wide, &one, &value).unwrap());
        let mut row = whole(3, &[1, 3]);
        let seen = functional::expand(&row, &Shape::from([2, 3])).unwrap().layout().clone();
        assert!(!set_in_place(&mut row, &seen, &one, &value).unwrap());
        let mut number = Tensor::number(1.0);
        assert!(!write(&mut number, &[Index::Ellipsis], &value).unwrap());
    }

    #[test]
    fn what_lies_there_already_is_not_written() {
        let mut x = whole(6, &[2, 3]);
        let row = get(&x, &[Index::Int(1)]).unwrap();
        assert!(write(&mut x, &[Index::Int(1)], &row).unwrap());
        assert!(!write(&mut x, &[Index::Int(0)], &row).unwrap());
        assert_eq!(x.to_f64_vec().unwrap(), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    }

    #[test]
    fn what_does_not_fit_changes_nothing() {
        let mut x = whole(4, &[4]);
        assert!(write(&mut x, &[Index::Int(4)], &Tensor::number(5.0)).is_err());
        assert!(write(&mut x, &[Index::Ellipsis], &whole(3, &[3])).is_err());
        assert_eq!(x.to_f64_vec().unwrap(), [0.0, 1.0, 2.0, 3.0]);
    }

    fn tape_off<R>(body: impl FnOnce() -> R) -> R {
        let before = tape::set_enabled(false);
        let res = body();
        tape::set_enabled(before);
        res
    }
}

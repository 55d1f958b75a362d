//! Writing into the elements of a tensor that nobody else can see: `x[1:, 0] = y` costs what it writes.
//!
//! **Invariant:** whoever holds a handle on a value, or on another tensor in its buffer, never sees it change: then nothing is written here.

use super::{Index, Part, as_element, expand_ellipsis};
use crate::apply::is_watched;
use crate::{Layout, Result, Tensor};

/// Replaces elements, as [`super::set`] does, in the buffer of `owner`: those at `index` of what is seen under the layout `seen`, which
/// lies in that buffer. False, with nothing changed, where somebody else can see them, where the tape or a trace must know of it, or
/// where the index holds more than numbers and slices. A value that lies there already, as in `x[0] += 1`, is not written again.
pub fn set_in_place(
    owner: &mut Tensor,
    seen: &Layout,
    index: &[Index],
    value: &Tensor,
) -> Result<bool> {
    if is_watched([&*owner, value]) || !index.iter().all(Index::is_plain) || seen.repeats() {
        return Ok(false);
    }
    let part = Part::new(&seen.shape, &expand_ellipsis(&seen.shape, index)?)?;
    let target = part.within(seen);
    let is_there = value.shares_buffer(owner) && value.dtype() == owner.dtype();
    if is_there && lies_at(&part.fitted(value)?, &target) {
        return Ok(true);
    }
    if !owner.is_owned() {
        return Ok(false);
    }
    let value = part.fitted(&as_element(value, owner.dtype())?)?;
    owner.write(&target, &value)
}

/// Whether the elements of a tensor are those that a layout of the same shape addresses in its buffer.
fn lies_at(value: &Tensor, target: &Layout) -> bool {
    let is = value.layout();
    let mut sides = is.shape.iter().zip(is.strides.iter().zip(&target.strides));
    is.offset == target.offset && sides.all(|(&size, (a, b))| size == 1 || a == b)
}

impl Part {
    /// Where its elements lie.
    fn within(&self, whole: &Layout) -> Layout {
        let mut target = Layout { shape: self.kept.clone(), ..whole.clone() };
        for (dim, span) in self.spans.iter().enumerate() {
            let (start, _, step) = span.ascending();
            target.offset = target.offset.wrapping_add_signed(start as isize * whole.strides[dim]);
            target.strides[dim] *= step as isize;
        }
        target
    }
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

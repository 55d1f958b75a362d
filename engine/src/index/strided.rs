//! Writes through views whose elements lie at steps in what they are views of: one op, which names no place by its number.

use super::{Index, Part, as_element, expand_ellipsis, is_there};
use crate::apply::is_shapes_only;
use crate::apply::place::to_device;
use crate::ops::shape::as_strided_scatter;
use crate::{Attr, Layout, Result, Tensor, apply_one};

/// `x` with `view(x)[index]` replaced by `value`. `None` where the index has tensors, or the elements do not lie at positive steps in
/// row-major order of `x`, each for itself, which those of a part of an expanded view may do: then [`super::write_through`] does it.
pub fn set_strided(
    x: &Tensor,
    view: impl Fn(&Tensor) -> Result<Tensor>,
    index: &[Index],
    value: &Tensor,
) -> Result<Option<Tensor>> {
    let has_places = !x.is_abstract() && !is_shapes_only() && x.layout().is_contiguous();
    if !has_places || !index.iter().all(Index::is_plain) {
        return Ok(None);
    }
    let seen = view(&x.detach())?;
    if !seen.shares_buffer(x) || seen.dtype() != x.dtype() {
        return Ok(None);
    }
    let part = Part::new(seen.shape(), &expand_ellipsis(seen.shape(), index)?)?;
    let target = part.within(seen.layout());
    let Some(attrs) = places(&target, x.layout()) else { return Ok(None) };
    let value = to_device(&as_element(value, x.dtype())?, x.device())?;
    let inputs = [x.clone(), part.fitted(&value)?];
    if is_there(&inputs[1], x, &target) {
        return Ok(Some(x.detach()));
    }
    apply_one(&as_strided_scatter::OP, &inputs, &attrs.into_iter().collect()).map(Some)
}

/// What of a whole a part is: its sizes, its steps, and where it begins.
fn places(part: &Layout, whole: &Layout) -> Option<[Attr; 3]> {
    if part.may_overlap() || part.strides.iter().any(|it| *it < 0) {
        return None;
    }
    let start = part.offset.checked_sub(whole.offset)?;
    let sizes = part.shape.iter().map(|&it| it as i64).collect();
    let steps = part.strides.iter().map(|&it| it as i64).collect();
    Some([Attr::Ints(sizes), Attr::Ints(steps), Attr::Int(start as i64)])
}

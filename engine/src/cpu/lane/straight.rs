//! Copies of elements that lie apart from each other, each brought to where it is to lie: through slots they would be moved twice.

use super::geometry::Geometry;
use super::machine::CHUNK;
use super::{slots, stream};
use crate::cpu::pool::{Shared, for_each_chunk};
use crate::cpu::view::{OutView, View};

/// Copies a tensor to one of the same shape and dtype, on several threads if it is large; false, with nothing done, where its elements lie
/// one after the other already, or the copy is to go past the caches.
pub(crate) fn copy(input: &View<'_>, output: &mut OutView<'_>) -> bool {
    let (layout, size) = (input.layout(), input.dtype().size());
    let numel = layout.shape.numel();
    let is_same = input.shape() == output.shape() && input.dtype() == output.dtype();
    if !is_same || layout.is_contiguous() || numel * size >= stream::LEAST {
        return false;
    }
    if output.region().len() < numel * size {
        return false;
    }
    let geometry = Geometry::new(&layout.shape, std::slice::from_ref(layout));
    // SAFETY: a view's layout lies within its region, so its first element does.
    let base = Shared(unsafe { input.region().as_ptr().add(layout.offset * size) });
    let out = Shared(output.region().as_ptr());
    for_each_chunk(numel.div_ceil(CHUNK), &|chunk| {
        let low = chunk * CHUNK;
        let n = CHUNK.min(numel - low);
        // SAFETY: the geometry is that of the view, and there is room for all elements, each of which one chunk writes.
        unsafe {
            let to = out.get().add(low * size);
            slots::gather(to, base.get(), input.dtype().width(), &geometry, 0, low, n);
        }
    });
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::alloc::Bytes;
    use crate::cpu::typed;
    use crate::{DType, Layout, Shape};

    #[test]
    fn elements_are_copied_in_row_major_order() {
        let mut bytes = Bytes::zeroed(4 * 100_000).unwrap();
        let all = typed::slice_mut::<i32>(&mut bytes);
        (0..).zip(all).for_each(|(at, slot)| *slot = at);
        let dense = Layout::contiguous(Shape::from([10, 100, 100]));
        let layouts = [
            dense.slice(2, 99, 100, -1),
            dense.slice(1, 1, 50, 2),
            dense.slice(0, 9, 10, -1).permute(&[1, 0, 2]),
            Layout::contiguous(Shape::from([1, 100]))
                .broadcast_to(&Shape::from([700, 100]))
                .unwrap(),
        ];
        for layout in layouts {
            let view = View::new(&bytes, &layout, DType::I32).unwrap();
            let want = view.to_slice::<i32>().to_vec();
            let mut out = Bytes::zeroed(4 * want.len()).unwrap();
            let mut target = OutView::new(&mut out, &layout.shape, DType::I32).unwrap();
            assert!(copy(&view, &mut target));
            assert!(*target.as_mut_slice::<i32>() == want[..], "{layout:?}");
        }
        let view = View::new(&bytes, &dense, DType::I32).unwrap();
        let mut out = Bytes::zeroed(400_000).unwrap();
        assert!(!copy(&view, &mut OutView::new(&mut out, &dense.shape, DType::I32).unwrap()));
    }
}

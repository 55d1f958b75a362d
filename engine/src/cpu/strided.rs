//! Walks over strided layouts: dimensions are merged where they can be, then whole runs are handed out.

use smallvec::SmallVec;

use super::elements::Elements;
use super::interrupt;
use super::pool::{self, Shared};
use super::turned::Turned;
use super::typed::Plain;
use crate::{Layout, Shape};

/// Elements between two looks at whether the user has interrupted.
const PIECE: usize = 1 << 16;

/// Calls `body(starts, len, strides)` for each innermost run of layouts that share one shape, in row-major order; long runs come in
/// pieces. What is left when the user interrupts is left out.
pub fn for_each_run<const N: usize>(
    layouts: [&Layout; N],
    mut body: impl FnMut([usize; N], usize, [isize; N]),
) {
    if layouts[0].shape.numel() == 0 {
        return;
    }
    let (mut sizes, mut strides) = merge(layouts);
    let (len, step) = (sizes.pop().unwrap_or(1), strides.pop().unwrap_or([1; N]));
    let mut at = layouts.map(|it| it.offset as isize);
    let mut index: SmallVec<[usize; 6]> = SmallVec::from_elem(0, sizes.len());
    let mut done = 0;
    loop {
        let mut left = len;
        while left > 0 {
            let part = left.min(PIECE);
            let start = (len - left) as isize;
            body(std::array::from_fn(|n| (at[n] + start * step[n]) as usize), part, step);
            left -= part;
            done += part;
            if done >= PIECE {
                if interrupt::ends_here() {
                    return;
                }
                done = 0;
            }
        }
        let mut dim = sizes.len();
        loop {
            if dim == 0 {
                return;
            }
            dim -= 1;
            index[dim] += 1;
            (0..N).for_each(|n| at[n] += strides[dim][n]);
            if index[dim] < sizes[dim] {
                break;
            }
            (0..N).for_each(|n| at[n] -= strides[dim][n] * sizes[dim] as isize);
            index[dim] = 0;
        }
    }
}

/// Copies bytes, by several threads if they are many. What is left when the user interrupts is left out.
pub(crate) fn copy_bytes(out: &mut [u8], src: &[u8]) {
    let (len, out) = (src.len().min(out.len()), Shared(out.as_mut_ptr()));
    pool::for_each_range(len, 1, &|range| {
        // SAFETY: ranges lie inside of `out` and do not overlap.
        let out =
            unsafe { std::slice::from_raw_parts_mut(out.get().add(range.start), range.len()) };
        out.copy_from_slice(&src[range]);
    });
}

type Merged<const N: usize> = (SmallVec<[usize; 6]>, SmallVec<[[isize; N]; 6]>);

/// Sizes and strides without dimensions of size 1, neighbours joined where every layout allows it.
fn merge<const N: usize>(layouts: [&Layout; N]) -> Merged<N> {
    let mut sizes: SmallVec<[usize; 6]> = SmallVec::new();
    let mut strides: SmallVec<[[isize; N]; 6]> = SmallVec::new();
    for (dim, &size) in layouts[0].shape.iter().enumerate() {
        if size == 1 {
            continue;
        }
        let here = layouts.map(|it| it.strides[dim]);
        if let (Some(last_size), Some(last)) = (sizes.last_mut(), strides.last_mut())
            && (0..N).all(|n| last[n] == here[n] * size as isize)
        {
            (*last_size, *last) = (*last_size * size, here);
            continue;
        }
        sizes.push(size);
        strides.push(here);
    }
    (sizes, strides)
}

/// Copies the elements that `from` addresses to where `to` addresses; both have one shape.
pub fn copy<T: Plain>(src: &[T], from: &Layout, dst: &mut [T], to: &Layout) {
    if let Some(turned) = Turned::of(from, to) {
        return turned.copy(src, dst);
    }
    let sorted = as_they_lie(to).map(|dims| [from.permute(&dims), to.permute(&dims)]);
    let [from, to] = sorted.as_ref().map_or([from, to], |[from, to]| [from, to]);
    for_each_run([from, to], |[s, d], len, [s_step, d_step]| {
        copy_run(src, [s, d], [s_step, d_step], len, dst);
    });
}

/// The dimensions in the order in which elements lie, the nearest neighbours last; `None` where they are in that order, or some of the elements
/// are one.
fn as_they_lie(layout: &Layout) -> Option<SmallVec<[usize; 6]>> {
    let apart = |dim: usize| match layout.shape[dim] {
        1 => 0,
        _ => layout.strides[dim].unsigned_abs(),
    };
    let mut dims: SmallVec<[usize; 6]> = (0..layout.shape.rank()).collect();
    dims.retain(|dim| layout.shape[*dim] != 1);
    if dims.is_sorted_by_key(|&dim| std::cmp::Reverse(apart(dim))) {
        return None;
    }
    dims.sort_by_key(|&dim| std::cmp::Reverse(apart(dim)));
    let reach = |dim: usize| apart(dim) * layout.shape[dim].saturating_sub(1);
    let mut below = 0;
    for &dim in dims.iter().rev() {
        if apart(dim) <= below {
            return None;
        }
        below += reach(dim);
    }
    Some(dims)
}

/// Copies `len` elements, from and to which place and how far apart each.
#[inline(always)]
fn copy_run<T: Plain>(
    src: &[T],
    [s, d]: [usize; 2],
    [s_step, d_step]: [isize; 2],
    len: usize,
    dst: &mut [T],
) {
    match (s_step, d_step) {
        (1, 1) => copy_dense(&src[s..s + len], &mut dst[d..d + len]),
        (0, 1) => dst[d..d + len].fill(src[s]),
        (-1, 1) if len > 0 => copy_reversed(&src[s + 1 - len..=s], &mut dst[d..d + len]),
        _ => {
            let (mut s, mut d) = (s as isize, d as isize);
            for _ in 0..len {
                dst[d as usize] = src[s as usize];
                s += s_step;
                d += d_step;
            }
        }
    }
}

/// Copies elements that lie in a row, the last first.
#[inline(always)]
pub(crate) fn copy_reversed<T: Copy>(src: &[T], dst: &mut [T]) {
    dst.iter_mut().zip(src.iter().rev()).for_each(|(slot, it)| *slot = *it);
}

/// Bytes of a page, and of the stretches that are copied one by one where reads follow writes in it.
const PAGE: usize = 4096;
const SHORT: usize = 512;

/// Copies elements that lie in a row. Where `dst` begins just behind `src` but for whole pages, processors take each read for one of what was
/// written before it, and string instructions, which `memcpy` takes for long runs, a tenfold time; short ones go by registers.
#[inline(always)]
fn copy_dense<T: Plain>(src: &[T], dst: &mut [T]) {
    let behind = (dst.as_ptr() as usize).wrapping_sub(src.as_ptr() as usize) % PAGE;
    if !(1..64).contains(&behind) || size_of_val(src) <= SHORT {
        return dst.copy_from_slice(src);
    }
    let short = SHORT / size_of::<T>();
    for (dst, src) in dst.chunks_mut(short).zip(src.chunks(short)) {
        dst.copy_from_slice(src);
    }
}

/// Copies slices along `dim`, one after the other: each of `from` so many elements behind those of `to`, whose other sizes are the same.
pub fn copy_to_places<T: Plain>(
    src: &[T],
    from: &Layout,
    dst: &mut [T],
    to: &Layout,
    dim: usize,
    places: &[i64],
) {
    let slice = |it: &Layout| {
        let mut slice = it.clone();
        slice.shape.dims_mut()[dim] = 1;
        slice
    };
    let apart = from.strides[dim];
    for_each_run([&slice(from), &slice(to)], |[s, d], len, steps| {
        for (at, &place) in places.iter().enumerate() {
            let s = s.wrapping_add_signed(at as isize * apart);
            let d = d.wrapping_add_signed(place as isize);
            copy_run(src, [s, d], steps, len, dst);
        }
    });
}

/// A copy of the elements that `from` addresses in row-major order.
pub fn gather<T: Plain>(src: &[T], from: &Layout) -> Elements<'static, T> {
    Elements::written(from.shape.numel(), |out| {
        if let Some(turned) = Turned::of(from, &Layout::contiguous(from.shape.clone())) {
            return turned.copy(src, out);
        }
        let mut rest = out;
        for_each_run([from], |[start], len, [step]| {
            let (here, behind) = std::mem::take(&mut rest).split_at_mut(len);
            rest = behind;
            match step {
                1 => here.copy_from_slice(&src[start..start + len]),
                0 => here.fill(src[start]),
                -1 if len > 0 => copy_reversed(&src[start + 1 - len..=start], here),
                _ => {
                    let places = (0..len as isize).map(|it| (start as isize + it * step) as usize);
                    here.iter_mut().zip(places).for_each(|(slot, at)| *slot = src[at]);
                }
            }
        });
    })
}

/// A row-major shape seen as (before, size, after) of one dimension. A scalar is `(1, 1, 1)`.
pub fn around(shape: &Shape, dim: usize) -> (usize, usize, usize) {
    match shape.get(dim) {
        Some(&size) => (shape[..dim].iter().product(), size, shape[dim + 1..].iter().product()),
        None => (1, 1, 1),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn copies_transposed_and_flipped() {
        let src: Vec<i32> = (0..6).collect();
        let layout = Layout::contiguous(Shape::from([2, 3])).permute(&[1, 0]).slice(0, 2, 3, -1);
        assert_eq!(*gather(&src, &layout), [2, 5, 1, 4, 0, 3]);
    }

    #[test]
    fn copies_go_through_targets_as_they_lie() {
        let order = |sizes: [usize; 3], dims: [usize; 3]| {
            as_they_lie(&Layout::contiguous(Shape::from(sizes)).permute(&dims))
                .map(SmallVec::into_vec)
        };
        assert_eq!(order([2, 3, 4], [2, 0, 1]), Some(vec![1, 2, 0]));
        assert_eq!(order([2, 3, 4], [0, 1, 2]), None);
        assert_eq!(order([2, 1, 4], [2, 0, 1]), Some(vec![1, 0]));
        let mut twice = Layout::contiguous(Shape::from([2, 3])).permute(&[1, 0]);
        twice.strides[1] = 1;
        assert_eq!(as_they_lie(&twice), None, "the last of those that are written there stays");
        let src: Vec<i32> = (0..24).collect();
        let turned = |it: &Layout| it.permute(&[2, 0, 1]).slice(0, 3, 4, -1);
        let [from, to] =
            [[2, 3, 4], [2, 3, 4]].map(|it| turned(&Layout::contiguous(Shape::from(it))));
        let mut out = vec![0; 24];
        copy(&src, &from, &mut out, &to);
        assert_eq!(out, src);
        let mut one = from.clone();
        (one.offset, one.strides) = (0, one.strides.iter().map(|_| 0).collect());
        copy(&[7], &one, &mut out, &to);
        assert_eq!(out, [7; 24]);
    }

    #[test]
    fn a_long_run_comes_in_pieces_until_the_user_interrupts() {
        let flag = Arc::new(AtomicBool::new(false));
        let _watching = interrupt::watch(flag.clone());
        let layout = Layout::contiguous(Shape::from([3 * PIECE + 1])).slice(0, 0, 3 * PIECE + 1, 1);
        let mut starts = Vec::new();
        for_each_run([&layout], |[start], len, _| starts.push((start, len)));
        assert_eq!(starts, [(0, PIECE), (PIECE, PIECE), (2 * PIECE, PIECE), (3 * PIECE, 1)]);
        flag.store(true, Ordering::Relaxed);
        let mut count = 0;
        for_each_run([&layout], |_, _, _| count += 1);
        assert!(count == 1 && interrupt::take());
        flag.store(true, Ordering::Relaxed);
        let src = vec![1_i32; 3 * PIECE + 1];
        assert_eq!(gather(&src, &layout).len(), src.len());
        assert!(interrupt::take());
    }
}

//! Where elements come from and go to: what views, indexing and windows are defined on.

use ndarray::ArrayD;

use super::{Array, Scalar, by_index, index, of_kind};
use crate::attr::Attr;
use crate::dtype::Number;

impl Array {
    /// An array of `shape`, each element of which is the one at the place that `from` gives.
    pub(crate) fn moved(&self, shape: &[usize], from: impl Fn(&[usize]) -> Vec<usize>) -> Self {
        self.moved_or(shape, Number::Int(0), |at| Some(from(at)))
    }

    /// As [`moved`](Self::moved); what comes from nowhere is `other`.
    pub(crate) fn moved_or(
        &self,
        shape: &[usize],
        other: Number,
        from: impl Fn(&[usize]) -> Option<Vec<usize>>,
    ) -> Self {
        of_kind!(self, x => by_index(shape, |at| match from(at) {
            Some(from) => x[&from[..]],
            None => Scalar::from_number(other),
        }))
    }

    /// The same elements in row-major order under another shape.
    pub(crate) fn reshaped(&self, shape: &[usize]) -> Self {
        of_kind!(self, x => {
            let mut elements = x.iter().copied();
            ArrayD::from_shape_simple_fn(shape, || elements.next().unwrap_or(Scalar::ZERO))
        })
    }

    /// The same elements, a scalar as a vector of one.
    pub(crate) fn raised(&self) -> Self {
        if self.rank() == 0 { self.reshaped(&[1]) } else { self.clone() }
    }

    /// Stretched along sizes of 1 and new leading dimensions.
    pub(crate) fn expanded(&self, shape: &[usize]) -> Self {
        let own = self.shape();
        let lead = shape.len() - own.len();
        self.moved(shape, |at| {
            own.iter().zip(&at[lead..]).map(|(&size, &at)| if size == 1 { 0 } else { at }).collect()
        })
    }

    /// The array with each element of `values` placed at an index, or added there: `to` gives the index, if there is one, for that
    /// among the values. They come in row-major order.
    pub(crate) fn placed(
        &self,
        values: &Self,
        add: bool,
        to: impl Fn(&[usize]) -> Option<Vec<usize>>,
    ) -> Self {
        of_kind!(self, values, (x, values) => {
            let mut res = x.clone();
            for (at, &value) in values.indexed_iter() {
                if let Some(to) = to(index(&at)) {
                    let slot = &mut res[&to[..]];
                    *slot = if add { slot.added(value) } else { value };
                }
            }
            res
        })
    }
}

/// The shape that all broadcast to.
pub(crate) fn broadcast<'a>(shapes: impl IntoIterator<Item = &'a [usize]>) -> Vec<usize> {
    shapes.into_iter().fold(Vec::new(), |shared, shape| {
        let rank = shared.len().max(shape.len());
        let size = |of: &[usize], from_last: usize| {
            of.len().checked_sub(from_last + 1).map_or(1, |it| of[it])
        };
        let both = |it: usize| match (size(&shared, it), size(shape, it)) {
            (1, other) | (other, _) => other,
        };
        (0..rank).rev().map(both).collect()
    })
}

/// The places among `size` that Python's `start:stop:step` names; `None` as a bound is the end there.
pub(crate) fn slice_places(size: usize, bounds: [&Attr; 2], step: i64) -> Vec<usize> {
    let size = size as i64;
    let given = |bound: &Attr| match bound {
        Attr::Int(it) if *it < 0 => Some(it.saturating_add(size)),
        Attr::Int(it) => Some(*it),
        _ => None,
    };
    let [start, stop] = bounds.map(given);
    let forward = step > 0;
    let (least, most) = if forward { (0, size) } else { (-1, size - 1) };
    let mut at = start.unwrap_or(if forward { least } else { most }).clamp(least, most);
    let stop = stop.unwrap_or(if forward { most } else { least }).clamp(least, most);
    let mut places = Vec::new();
    while if forward { at < stop } else { at > stop } {
        places.push(at as usize);
        at = at.saturating_add(step);
    }
    places
}

//! Which keys queries see, so that blocks of which nobody sees anything are left out.

use std::collections::HashMap;

use super::{Matrices, Sizes};
use crate::cpu::element::Element;
use crate::cpu::typed::Plain;

/// Which keys the queries of an attention see: the first ones, as many as their place or the mask says.
pub(super) struct Seen {
    causal: bool,
    queries: usize,
    /// For each query of a mask the number of keys up to the last that it does not hide, at least one; empty without a mask.
    limits: Vec<usize>,
    /// For each attention the first of its queries there. Those that share a mask share them.
    starts: Vec<usize>,
}

impl Seen {
    pub(super) fn of<T: Element + Plain>(sizes: Sizes, mask: Option<&Matrices<'_, T>>) -> Self {
        let Sizes { causal, queries, keys, .. } = sizes;
        let (mut limits, mut starts) = (Vec::new(), Vec::new());
        if let Some(mask) = mask {
            let mut known = HashMap::new();
            starts.extend(mask.starts.iter().enumerate().map(|(at, start)| {
                *known.entry(*start).or_insert_with(|| {
                    let first = limits.len();
                    // All queries may have one row.
                    let rows = if mask.row == 0 { queries.min(1) } else { queries };
                    limits.extend((0..rows).map(|row| mask.last_seen(at, row, keys)));
                    limits.resize(first + queries, limits.last().copied().unwrap_or(1));
                    first
                })
            }));
        }
        Self { causal, queries, limits, starts }
    }

    /// Keys that the first `rows` queries from `row` on see of those from `key` on, of which there are `n`, in attention `at`.
    pub(super) fn count(&self, at: usize, [row, rows, key, n]: [usize; 4]) -> usize {
        let by_place = if self.causal { row + rows } else { usize::MAX };
        let by_mask = self.limits_of(at).map(|it| it[row..row + rows].iter().max());
        let limit = by_place.min(by_mask.flatten().copied().unwrap_or(usize::MAX));
        limit.saturating_sub(key).min(n)
    }

    /// How many of `rows` queries from `row` on come before the first that sees `key`.
    pub(super) fn blind(&self, at: usize, [row, rows]: [usize; 2], key: usize) -> usize {
        let by_place = if self.causal { key.saturating_sub(row).min(rows) } else { 0 };
        let sees = |it: &usize| *it > key;
        let by_mask = self.limits_of(at).map(|it| it[row..row + rows].iter().position(sees));
        by_place.max(by_mask.map_or(0, |it| it.unwrap_or(rows)))
    }

    fn limits_of(&self, at: usize) -> Option<&[usize]> {
        let first = *self.starts.get(at)?;
        Some(&self.limits[first..first + self.queries])
    }
}

impl<T: Element + Plain> Matrices<'_, T> {
    /// Elements of a row up to the last that is not minus infinity, at least one.
    fn last_seen(&self, at: usize, row: usize, keys: usize) -> usize {
        let start = self.starts[at] + row as isize * self.row;
        let hides = |key: usize| {
            let place = start + key as isize * self.column;
            self.elements[place as usize] == T::NEG_INFINITY
        };
        (1..=keys).rev().find(|it| !hides(it - 1)).unwrap_or(1)
    }
}

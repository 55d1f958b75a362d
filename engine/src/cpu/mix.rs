//! Sums of slices along a dimension, each picked by an index and weighed, as images of another size are made of their neighbours.

use super::number::Float;
use super::pool2d::for_each_plane;

/// What is picked along the dimension, and its weight: so many for each slice that is made, one behind the other.
#[derive(Clone, Copy)]
pub(crate) struct Picks<'a, T> {
    pub(crate) places: &'a [i64],
    pub(crate) weights: &'a [T],
    pub(crate) per_slice: usize,
}

impl<T: Float> Picks<'_, T> {
    /// Makes all slices of blocks `[size, inner]`, so many, on several threads if there is enough to do.
    ///
    /// Panics when a place does not lie in the dimension.
    pub(crate) fn mix(self, x: &[T], n_blocks: usize, inner: usize, out: &mut [T]) {
        for_each_plane(n_blocks, x, out, |_, x, out| match (inner, self.per_slice) {
            (1, 2) => self.neighbours(x, out),
            (1, _) => self.elements(x, out),
            _ => self.rows(x, inner, out),
        });
    }

    /// One element of a line for each slice, of two.
    fn neighbours(self, x: &[T], out: &mut [T]) {
        let (places, weights) = (self.places.as_chunks::<2>().0, self.weights.as_chunks::<2>().0);
        for ((slot, &[a, b]), &[p, q]) in out.iter_mut().zip(places).zip(weights) {
            *slot = x[a as usize] * p + x[b as usize] * q;
        }
    }

    fn elements(self, x: &[T], out: &mut [T]) {
        let places = self.places.chunks_exact(self.per_slice);
        let weights = self.weights.chunks_exact(self.per_slice);
        for ((slot, places), weights) in out.iter_mut().zip(places).zip(weights) {
            let terms = places.iter().zip(weights).map(|(&at, &weight)| x[at as usize] * weight);
            *slot = terms.reduce(|sum, it| sum + it).unwrap_or(T::ZERO);
        }
    }

    /// One row for each slice; two of those that it is made of are read at a time.
    fn rows(self, x: &[T], inner: usize, out: &mut [T]) {
        let row = |at: i64| &x[at as usize * inner..][..inner];
        let places = self.places.chunks_exact(self.per_slice);
        let weights = self.weights.chunks_exact(self.per_slice);
        for ((out, places), weights) in out.chunks_exact_mut(inner).zip(places).zip(weights) {
            let pairs = places.chunks(2).zip(weights.chunks(2));
            for (n, pair) in pairs.enumerate() {
                match pair {
                    (&[a, b], &[p, q]) if n == 0 => {
                        let both = out.iter_mut().zip(row(a)).zip(row(b));
                        both.for_each(|((slot, &x), &y)| *slot = x * p + y * q);
                    }
                    (&[a, b], &[p, q]) => {
                        let both = out.iter_mut().zip(row(a)).zip(row(b));
                        both.for_each(|((slot, &x), &y)| *slot = *slot + x * p + y * q);
                    }
                    (&[a, ..], &[p, ..]) if n == 0 => {
                        out.iter_mut().zip(row(a)).for_each(|(slot, &x)| *slot = x * p);
                    }
                    (&[a, ..], &[p, ..]) => {
                        out.iter_mut().zip(row(a)).for_each(|(slot, &x)| *slot += x * p);
                    }
                    _ => {}
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_weighed_sums() {
        for (blocks, size, inner, n, per_slice) in
            [(2, 5, 1, 7, 2), (3, 4, 1, 3, 3), (2, 5, 6, 7, 2), (1, 4, 3, 5, 5), (2, 3, 2, 4, 1)]
        {
            let x: Vec<f64> = (0..blocks * size * inner).map(|it| (it * 37 % 11) as f64).collect();
            let places: Vec<i64> = (0..n * per_slice).map(|it| (it * 7 % size) as i64).collect();
            let weights: Vec<f64> = (0..n * per_slice).map(|it| (it % 5) as f64 - 1.5).collect();
            let mut out = vec![f64::NAN; blocks * n * inner];
            let picks = Picks { places: &places, weights: &weights, per_slice };
            picks.mix(&x, blocks, inner, &mut out);
            for (at, got) in out.iter().enumerate() {
                let (block, slice, column) = (at / (n * inner), at / inner % n, at % inner);
                let term = |it: usize| {
                    let it = slice * per_slice + it;
                    x[(block * size + places[it] as usize) * inner + column] * weights[it]
                };
                assert_eq!(*got, (0..per_slice).map(term).sum::<f64>());
            }
        }
    }
}

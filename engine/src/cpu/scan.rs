//! Running sums and products, and where the largest element is, along one axis of a row-major block `[outer, n, inner]`.

use super::number::Num;

/// `out[.., i, ..]` combines `x[.., 0..=i, ..]` in `f64` for floats, wrapping for integers.
pub fn scan<T: Num>(
    x: &[T],
    (n, inner): (usize, usize),
    out: &mut [T],
    combine: impl Fn(T, T) -> T,
) {
    if n == 0 || inner == 0 {
        return;
    }
    for (src, dst) in x.chunks_exact(n * inner).zip(out.chunks_exact_mut(n * inner)) {
        dst[..inner].copy_from_slice(&src[..inner]);
        for at in inner..n * inner {
            dst[at] = combine(dst[at - inner], src[at]);
        }
    }
}

/// The running sum of floats, carried in `f64`.
pub fn float_sums<T: Num>(x: &[T], (n, inner): (usize, usize), out: &mut [T]) {
    if n == 0 || inner == 0 {
        return;
    }
    let mut sums = vec![0.0_f64; inner];
    for (src, dst) in x.chunks_exact(n * inner).zip(out.chunks_exact_mut(n * inner)) {
        sums.fill(0.0);
        for (src, dst) in src.chunks_exact(inner).zip(dst.chunks_exact_mut(inner)) {
            for ((sum, &x), slot) in sums.iter_mut().zip(src).zip(dst) {
                *sum += x.to_f64();
                *slot = T::from_f64(*sum);
            }
        }
    }
}

/// The best element along the axis and its first index; NaN beats everything.
pub fn best<T: Num>(
    x: &[T],
    (n, inner): (usize, usize),
    values: &mut [T],
    indices: &mut [i64],
    better: impl Fn(T, T) -> bool,
) {
    if n == 0 || inner == 0 {
        return;
    }
    let beats = |x: T, best: T| !best.is_nan() && (x.is_nan() || better(x, best));
    for (block, src) in x.chunks_exact(n * inner).enumerate() {
        let at = block * inner..(block + 1) * inner;
        let (values, indices) = (&mut values[at.clone()], &mut indices[at]);
        values.copy_from_slice(&src[..inner]);
        indices.fill(0);
        for (idx, row) in src.chunks_exact(inner).enumerate().skip(1) {
            for ((&x, value), index) in row.iter().zip(values.iter_mut()).zip(indices.iter_mut()) {
                if beats(x, *value) {
                    (*value, *index) = (x, idx as i64);
                }
            }
        }
    }
}

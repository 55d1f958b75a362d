//! What is left to choose of factors: signs of vectors that are unique up to these, and the scale in which numbers are safe.

use super::Real;

/// Whether a vector is turned around: so that of its elements, of those that are as large as the largest but for rounding, the first is
/// positive.
pub(super) fn is_turned<T: Real>(vector: &[T]) -> bool {
    let size = |it: &T| it.to_f64().abs();
    let most = vector.iter().map(size).fold(0.0, f64::max);
    vector.iter().find(|it| size(it) >= 0.99 * most).is_some_and(|it| it.to_f64() < 0.0)
}

/// Turns a vector around.
pub(super) fn turn<T: Real>(vector: &mut [T]) {
    vector.iter_mut().for_each(|it| *it = T::ZERO - *it);
}

/// The exponent of the largest number; 0 where squares of the numbers neither overflow nor vanish as they are, `None` if one is not finite.
pub(super) fn exponent<T: Real>(numbers: &[T]) -> Option<i32> {
    let mut most = T::ZERO;
    let mut all_finite = true;
    for it in numbers {
        let size = if *it < T::ZERO { T::ZERO - *it } else { *it };
        all_finite &= size.to_f64().is_finite();
        most = if size > most { size } else { most };
    }
    if !all_finite {
        return None;
    }
    let most = most.to_f64();
    let is_safe = most == 0.0 || (1e-6..=1e6).contains(&most);
    Some(if is_safe { 0 } else { most.log2().floor() as i32 })
}

/// Multiplies by a power of two, in two steps where it is none that the numbers have.
pub(super) fn scale<T: Real>(numbers: &mut [T], exponent: i32) {
    if exponent == 0 {
        return;
    }
    let half = exponent / 2;
    for step in [half, exponent - half] {
        let factor = T::power_of_two(step);
        numbers.iter_mut().for_each(|it| *it *= factor);
    }
}

/// Sets columns, or rows, of `len` elements to those of the identity.
pub(super) fn identity<T: Real>(columns: &mut [T], len: usize) {
    columns.fill(T::ZERO);
    columns.iter_mut().step_by(len + 1).for_each(|it| *it = T::ONE);
}

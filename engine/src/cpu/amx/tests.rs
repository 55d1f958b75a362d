//! Products of tiles against sums in double precision.

use half::bf16;

use super::*;
use crate::test_draws::Draws;

/// How a matrix lies: rows one behind the other, columns, or neither.
const WAYS: usize = 3;

fn strides(way: usize, [rows, columns]: [usize; 2]) -> [usize; 2] {
    [[columns.max(1), 1], [1, rows.max(1)], [2 * columns + 3, 2]][way]
}

fn elements(draws: &mut Draws, [rows, columns]: [usize; 2], [down, right]: [usize; 2]) -> Vec<u16> {
    let len = rows * down + columns * right + 1;
    (0..len).map(|_| bf16::from_f64(draws.below(2001) as f64 / 1000.0 - 1.0).to_bits()).collect()
}

fn number(bits: u16) -> f64 {
    bf16::from_bits(bits).to_f64()
}

/// What an element is, and the sum of the sizes of what is added up.
fn sum(k: usize, a: impl Fn(usize) -> u16, b: impl Fn(usize) -> u16) -> [f64; 2] {
    let products = (0..k).map(|it| number(a(it)) * number(b(it)));
    products.fold([0.0; 2], |[sum, size], it| [sum + it, size + it.abs()])
}

#[test]
fn all_sizes_and_ways_to_lie() {
    if !is_there() {
        return;
    }
    let mut draws = Draws(5);
    let sizes = [
        [1, 1, 1],
        [32, 32, 32],
        [16, 16, 64],
        [33, 31, 70],
        [100, 300, 129],
        [5, 64, 64],
        [64, 10, 128],
        [17, 49, 1],
        [40, 40, 0],
        [0, 40, 40],
        [40, 0, 40],
        [3, 96, 96],
        [70, 128, 1100],
        [600, 40, 1100],
    ];
    for (sizes, way) in sizes.iter().flat_map(|it| (0..WAYS * WAYS).map(move |way| (*it, way))) {
        let [m, n, k] = sizes;
        let (of_a, of_b) = (strides(way / WAYS, [m, k]), strides(way % WAYS, [k, n]));
        let (a, b) = (elements(&mut draws, [m, k], of_a), elements(&mut draws, [k, n], of_b));
        let bias: Vec<f32> = (0..n).map(|_| draws.below(100) as f32 / 10.0).collect();
        let mut out = vec![7; m * n];
        let sides =
            [Matrix { elements: &a, strides: of_a }, Matrix { elements: &b, strides: of_b }];
        multiply(sizes, sides, &Starts::ONE, Some(&bias), &mut out).unwrap();
        for (at, got) in out.iter().enumerate() {
            let (row, column) = (at / n, at % n);
            let [sum, size] = sum(
                k,
                |it| a[row * of_a[0] + it * of_a[1]],
                |it| b[it * of_b[0] + column * of_b[1]],
            );
            let want = sum + f64::from(bias[column]);
            let limit = want.abs() / 256.0 + 1e-6 * size;
            assert!(
                (number(*got) - want).abs() <= limit,
                "{sizes:?} {way} {at}: {} {want}",
                number(*got)
            );
        }
    }
}

/// Rows of a product have the same bits whatever else is computed with them, on any number of threads.
#[test]
fn rows_do_not_depend_on_others() {
    if !is_there() {
        return;
    }
    let (m, n, k) = (300, 520, 260);
    let mut draws = Draws(6);
    let (a, b) = (elements(&mut draws, [m, k], [k, 1]), elements(&mut draws, [k, n], [n, 1]));
    let product = |rows: usize| {
        let mut out = vec![0; rows * n];
        let sides =
            [Matrix { elements: &a, strides: [k, 1] }, Matrix { elements: &b, strides: [n, 1] }];
        multiply([rows, n, k], sides, &Starts::ONE, None, &mut out).unwrap();
        out
    };
    let whole = product(m);
    [1, 17, 64, 299].iter().for_each(|rows| assert_eq!(product(*rows), whole[..rows * n]));
}

#[test]
fn many_products_and_what_is_no_number() {
    if !is_there() {
        return;
    }
    let bits = |it: f32| bf16::from_f32(it).to_bits();
    let a = [[1.0, 2.0], [f32::NAN, 1.0], [f32::INFINITY, 1.0], [1e-40, 1.0]]
        .concat()
        .into_iter()
        .map(bits)
        .collect::<Vec<_>>();
    let b = [1.0, 1.0].map(bits);
    let sides =
        [Matrix { elements: &a, strides: [2, 1] }, Matrix { elements: &b, strides: [1, 1] }];
    let mut out = [0; 4];
    let starts = Starts::Even { count: 4, steps: [2, 0] };
    multiply([1, 1, 2], sides, &starts, None, &mut out).unwrap();
    assert_eq!([out[0], out[2], out[3]], [3.0, f32::INFINITY, 1.0].map(bits));
    assert!(bf16::from_bits(out[1]).is_nan());
}

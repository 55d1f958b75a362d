//! Sizes at which kernels of a GPU go another way: lines that several blocks sort, select or fold, and lines that many share one for.
//! Each against what the row means.

use smallvec::smallvec;

use super::gpus::{GPU, problem};
use super::odd_sizes::{along, case};
use super::tests::sent;
use super::tests::{Case, differs, report};
use super::walk::Spread;
use crate::apply::{self, place};
use crate::test_draws::Draws;
use crate::{Attr, Attrs, DType, Device, Shape, Tensor, functional};

/// Few different numbers, so that many are equal, with those that no order of numbers has.
const FEW: &[f64] =
    &[f64::NAN, f64::INFINITY, -f64::INFINITY, 0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, 100.0];

fn few(draws: &mut Draws, shape: &[usize]) -> Tensor {
    drawn(shape, |_| draws.one_of(FEW))
}

fn many(draws: &mut Draws, shape: &[usize]) -> Tensor {
    drawn(shape, |_| draws.below(1 << 20) as f64 / f64::from(1 << 10) - 512.0)
}

fn small(draws: &mut Draws, shape: &[usize]) -> Tensor {
    drawn(shape, |_| draws.below(2001) as f64 / 1000.0 - 1.0)
}

fn drawn(shape: &[usize], one: impl FnMut(usize) -> f64) -> Tensor {
    let shape = Shape::new(shape);
    Tensor::from_vec(&(0..shape.numel()).map(one).collect::<Vec<f64>>(), shape).unwrap()
}

fn hold(cases: &[Case], dtypes: &[DType], spread: Option<Spread>) {
    let each = |case| dtypes.iter().filter_map(move |&it| problem(case, it, spread));
    report(cases.iter().flat_map(each).collect());
}

fn sorts(x: &Tensor, dim: i64) -> [Case; 2] {
    let attrs = |descending| smallvec![Attr::Int(dim), Attr::Bool(descending), Attr::Bool(true)];
    [false, true].map(|it| case("sort", vec![x.clone()], attrs(it)))
}

#[test]
fn a_line_of_many_blocks_is_sorted() {
    let mut draws = Draws(1);
    let n = (1 << 16) + 1;
    hold(&sorts(&few(&mut draws, &[n]), 0)[1..], &[DType::F32], None);
    hold(&sorts(&many(&mut draws, &[n]), 0)[..1], &[DType::F32], None);
}

#[test]
fn lines_of_several_blocks_are_sorted() {
    let mut draws = Draws(2);
    let lines = [few(&mut draws, &[2, 8193]), many(&mut draws, &[2, 4097])];
    let cases: Vec<Case> = lines.iter().flat_map(|it| sorts(it, 1)).collect();
    hold(&cases, &[DType::F32, DType::BF16, DType::F16], None);
    hold(&sorts(&many(&mut draws, &[2, 4097]), 1), &[DType::F64, DType::I64, DType::U8], None);
    hold(&sorts(&few(&mut draws, &[4097, 2]), 0), &[DType::F32], None);
    hold(&sorts(&few(&mut draws, &[4097, 2]), 0)[1..], &[DType::F32], Some(Spread::Turned));
}

#[test]
fn lines_of_a_block_are_sorted() {
    let mut draws = Draws(3);
    let shapes = [[3, 513], [2, 1500], [1, 2048]];
    let lines = shapes.map(|it| few(&mut draws, &it));
    let cases: Vec<Case> = lines.iter().flat_map(|it| sorts(it, 1)).collect();
    hold(&cases, &[DType::F32, DType::F64, DType::BF16], None);
    let cases = sorts(&many(&mut draws, &[4096, 1]), 0);
    hold(&cases, &[DType::F32, DType::I32, DType::I16, DType::I8, DType::Bool], None);
    hold(&sorts(&few(&mut draws, &[600, 3]), 0), &[DType::F32], Some(Spread::Stepped));
}

#[test]
fn short_lines_share_a_block() {
    let mut draws = Draws(4);
    let shapes = [[300, 7], [5, 512], [9, 100], [2000, 1]];
    let lines = shapes.map(|it| few(&mut draws, &it));
    let cases: Vec<Case> = lines.iter().flat_map(|it| sorts(it, 1)).collect();
    hold(&cases, &[DType::F32, DType::F16, DType::F64], None);
    hold(&sorts(&many(&mut draws, &[33, 40]), 0), &[DType::I64, DType::U8], None);
}

/// The first `k` of lines, the largest and the smallest.
fn firsts(x: &Tensor, k: usize, dim: i64) -> [Case; 2] {
    let attrs = |largest| -> Attrs {
        smallvec![Attr::Int(k as i64), Attr::Int(dim), Attr::Bool(largest), Attr::Bool(true)]
    };
    [false, true].map(|it| case("topk", vec![x.clone()], attrs(it)))
}

#[test]
fn the_first_of_lines_are_selected() {
    let mut draws = Draws(5);
    let mut cases = Vec::new();
    for (k, shape) in [(8, [3, 1024]), (1, [2, 65]), (300, [2, 300]), (5, [40, 100])] {
        cases.extend(firsts(&few(&mut draws, &shape), k, 1));
        cases.extend(firsts(&many(&mut draws, &shape), k, 1));
    }
    hold(&cases, &[DType::F32, DType::BF16], None);
    let few = firsts(&few(&mut draws, &[1024, 2]), 9, 0);
    hold(&few, &[DType::F32, DType::F64], Some(Spread::Turned));
    hold(&firsts(&many(&mut draws, &[2, 2000]), 17, 1), &[DType::I64, DType::U8, DType::F64], None);
}

#[test]
fn the_first_of_long_lines_are_those_of_their_parts() {
    let mut draws = Draws(6);
    let n = (1 << 16) + 1;
    let mut cases = Vec::new();
    cases.extend(firsts(&few(&mut draws, &[n]), 10, 0));
    cases.extend(firsts(&many(&mut draws, &[n]), 700, 0));
    cases.extend(firsts(&drawn(&[2, 9000], |_| 3.0), 4, 1));
    hold(&cases, &[DType::F32], None);
    hold(&firsts(&many(&mut draws, &[2, 4100]), 1024, 1), &[DType::F64], None);
}

#[test]
fn many_of_a_line_are_sorted() {
    let mut draws = Draws(7);
    hold(&firsts(&few(&mut draws, &[2, 3000]), 1025, 1), &[DType::F32], None);
    hold(&firsts(&few(&mut draws, &[5000]), 5000, 0)[..1], &[DType::F32], None);
    hold(&firsts(&few(&mut draws, &[2, 5000]), 2000, 1)[..1], &[DType::F32], None);
}

fn folds(ops: &[&str], x: &Tensor, dim: i64) -> Vec<Case> {
    ops.iter().map(|it| case(it, vec![x.clone()], along(it, dim))).collect()
}

const FOLDS: &[&str] =
    &["sum", "mean", "amax", "max", "argmin", "std", "logsumexp", "prod", "any", "norm"];

#[test]
fn columns_are_folded_side_by_side() {
    let mut draws = Draws(8);
    let wide = small(&mut draws, &[300, 64]);
    hold(&folds(FOLDS, &wide, 0), &[DType::F32, DType::BF16], None);
    let long = small(&mut draws, &[1030, 264]);
    hold(&folds(&["sum", "max"], &long, 0), &[DType::F32, DType::F16, DType::F64], None);
    hold(&folds(&["sum", "mean"], &long, 0), &[DType::U8, DType::I64], None);
    // Columns that are no packs, and those of a view that begins between two.
    hold(&folds(&["sum", "amax"], &small(&mut draws, &[700, 10]), 0), &[DType::F32], None);
    hold(&folds(&["sum", "amax"], &wide, 0), &[DType::F32], Some(Spread::Stepped));
    hold(&folds(&["sum", "max"], &few(&mut draws, &[3, 200, 16]), 1), &[DType::F32], None);
}

#[test]
fn columns_over_two_dimensions_are_folded() {
    let x = small(&mut Draws(9), &[30, 3, 20, 16]);
    let over = |dims: &[i64]| {
        let mut attrs = along("sum", 0);
        attrs[0] = Attr::ints(dims);
        case("sum", vec![x.clone()], attrs)
    };
    hold(&[over(&[0, 2]), over(&[0, 1, 2]), over(&[0, 1])], &[DType::F32, DType::BF16], None);
}

#[test]
fn parts_of_a_line_are_folded() {
    let mut draws = Draws(10);
    let line = small(&mut draws, &[100_003]);
    hold(&folds(&["sum", "max", "std", "logsumexp"], &line, 0), &[DType::F32], None);
    hold(&folds(&["sum", "argmax"], &few(&mut draws, &[3, 20_000]), 1), &[DType::F32], None);
}

#[test]
fn lines_are_folded_up_to_each_element() {
    let mut draws = Draws(11);
    let ops = ["cumsum", "cummax", "cummin", "logcumsumexp"];
    for shape in [[2, 4104], [3, 1031], [70, 24]] {
        let x = small(&mut draws, &shape);
        hold(&folds(&ops, &x, 1), &[DType::F32, DType::F64], None);
        hold(&folds(&["cumsum", "cummax"], &x, 1), &[DType::BF16, DType::U8, DType::I64], None);
        // Products that no rounding changes.
        let powers = drawn(&shape, |at| [1.0, -1.0, 2.0, 0.5][(at % 2) * (1 + draws.below(3))]);
        hold(&folds(&["cumprod"], &powers, 1), &[DType::F32, DType::F64], None);
    }
    hold(&folds(&["cummax", "cummin"], &few(&mut draws, &[2, 2056]), 1), &[DType::F32], None);
    hold(&folds(&ops, &small(&mut draws, &[1100, 3]), 0), &[DType::F32], None);
}

#[test]
fn channels_of_several_blocks_are_normalized() {
    let mut draws = Draws(9);
    let mut cases = Vec::new();
    // Many planes for few channels, planes that no pack divides, and no planes at all.
    for shape in [&[40, 3, 16, 16][..], &[3, 5, 7, 7], &[2, 3, 2500], &[70, 40], &[900, 3], &[0, 3]]
    {
        let [x, dy] = [0, 1].map(|_| small(&mut draws, shape));
        let [weight, bias, mean, variance] = [0, 1, 2, 3].map(|_| small(&mut draws, &shape[1..2]));
        let variance = functional::mul(&variance, &variance).unwrap();
        let eps = Attr::Float(0.1);
        cases.push(case(
            "native_batch_norm",
            vec![x.clone(), weight.clone(), bias],
            smallvec![eps.clone()],
        ));
        for (wanted, weight) in [(true, Some(weight)), (false, None)] {
            let given = [&dy, &x, &mean, &variance].into_iter().cloned().chain(weight).collect();
            let attrs: Attrs = smallvec![eps.clone(), Attr::Bool(wanted)];
            cases.push(case("native_batch_norm_backward", given, attrs));
        }
    }
    hold(&cases, &[DType::F32, DType::F16, DType::F64], None);
    hold(&cases[..4], &[DType::F32], Some(Spread::Turned));
}

#[test]
fn kernels_that_see_one_position() {
    let mut draws = Draws(10);
    let mut cases = Vec::new();
    for (stride, groups, [channels, made], sides) in [
        (1, 1, [3, 5], [7, 9]),
        (1, 2, [4, 6], [4, 5]),
        (2, 1, [3, 4], [7, 6]),
        (1, 1, [40, 50], [2, 2]),
    ] {
        let [height, width] = sides;
        let reached = |it: usize| (it - 1) / stride + 1;
        let x = small(&mut draws, &[3, channels, height, width]);
        let w = small(&mut draws, &[made, channels / groups, 1, 1]);
        let dy = small(&mut draws, &[3, made, reached(height), reached(width)]);
        let steps = || {
            let [stride, none, one] = [stride as i64, 0, 1].map(|it| Attr::ints(&[it, it]));
            [stride, none, one, Attr::Int(groups as i64)]
        };
        let after = |size: [usize; 2]| std::iter::once(Attr::sizes(&size)).chain(steps()).collect();
        cases.push(case("convolution", vec![x.clone(), w.clone()], steps().into_iter().collect()));
        cases.push(case("conv2d_input_grad", vec![dy.clone(), w], after(sides)));
        cases.push(case("conv2d_weight_grad", vec![x, dy], after([1, 1])));
    }
    hold(&cases, &[DType::F32, DType::F16, DType::F64], None);
}

/// Operands along dimensions, whose neighbours are loaded together where lines are even enough.
#[test]
fn operands_along_dimensions_are_loaded_in_packs() {
    let mut draws = Draws(11);
    let mut cases = Vec::new();
    for area in [1, 3, 4, 8, 12, 16, 49] {
        let x = small(&mut draws, &[2, 3, area]);
        for other in [[1, 3, 1], [1, 1, area], [2, 1, area], [2, 3, 1], [1, 3, area]] {
            let operands = vec![x.clone(), small(&mut draws, &other)];
            cases.push(case("mul", operands, Attrs::new()));
        }
    }
    let dtypes = [DType::F32, DType::F64, DType::BF16, DType::U8];
    hold(&cases, &dtypes, None);
    hold(&cases, &dtypes[..3], Some(Spread::Stepped));
    hold(&cases, &dtypes[..1], Some(Spread::Turned));
}

/// The values of a matrix, and its vectors.
fn eigen(x: &Tensor) -> [Case; 2] {
    ["linalg_eig", "linalg_eigvals"].map(|it| case(it, vec![x.clone()], Attrs::new()))
}

/// A matrix by what stands at a row and a column.
fn square(n: usize, at: impl Fn(usize, usize) -> f64) -> Tensor {
    drawn(&[n, n], |it| at(it / n, it % n))
}

#[test]
fn eigenvalues_of_matrices_of_all_sizes() {
    let mut draws = Draws(12);
    let shapes =
        [&[1, 1][..], &[2, 2], &[1030, 3, 3], &[2, 17, 17], &[33, 33], &[0, 2, 2], &[3, 0, 0]];
    let all: Vec<Case> = shapes.iter().flat_map(|it| eigen(&small(&mut draws, it))).collect();
    hold(&all, &[DType::F32, DType::F64], None);
    hold(&all[6..8], &[DType::F32], Some(Spread::Turned));
}

#[test]
fn eigenvalues_of_matrices_of_all_kinds() {
    let is = |it: bool| f64::from(u8::from(it));
    // Those of a cycle are no nearer to each other after a step by two shifts.
    let cycle = |n: usize| square(n, |row, column| is(column == (row + 1) % n));
    let turn = |row: usize, column: usize| match (row % 2, column % 2) {
        (0, 1) => -1.0,
        (1, 0) => 1.0,
        _ => 0.0,
    };
    let all = [
        square(5, |_, _| 0.0),
        square(5, |row, column| 2.0 * is(row == column)),
        square(6, |row, column| if row >= column { (row + column) as f64 } else { 0.0 }),
        // One vector for all values.
        square(7, |row, column| 2.0 * is(row == column) + is(column == row + 1)),
        square(7, |row, column| 2.0 * is(row == column) + is(row == column + 1)),
        cycle(3),
        cycle(6),
        cycle(11),
        // Two pairs, and four that are one, with and without a vector for each.
        square(4, |row, column| {
            is(row / 2 == column / 2) * turn(row, column) * (1 + row / 2) as f64
        }),
        square(8, |row, column| is(row / 2 == column / 2) * turn(row, column)),
        square(8, |row, column| {
            is(row / 2 == column / 2) * turn(row, column) + is(row + 2 == column)
        }),
        square(4, |row, column| 1e30 * ((row * 7 + column * 3) % 5) as f64),
        square(4, |row, column| {
            1e-30 * ((row * 7 + column * 3) % 5) as f64 * turn(row, column + 1)
        }),
    ];
    let all: Vec<Case> = all.iter().flat_map(eigen).collect();
    hold(&all, &[DType::F32, DType::F64], None);
}

/// What is not finite has no eigenvalues, beside matrices that have.
#[test]
fn eigenvalues_that_are_not_found() {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    let x = [nan, 1.0, 0.0, 1.0, 1.0, 2.0, 0.0, 3.0, 1.0, 0.0, -inf, 1.0];
    let x = Tensor::from_vec(&x, Shape::from([3, 2, 2])).unwrap();
    for case in eigen(&x) {
        let run = |x: &Tensor| apply::apply(case.op, std::slice::from_ref(x), &case.attrs).unwrap();
        let got = place::making_on(GPU, || run(&sent(&x)));
        for (got, want) in got.iter().zip(run(&x)) {
            assert_eq!(differs(&got.moved_to(Device::Cpu).unwrap(), &want), None);
        }
    }
}

#[test]
fn products_of_bytes() {
    let mut draws = Draws(13);
    let mut bytes = |shape: [usize; 2]| {
        let whole = drawn(&shape, |_| draws.below(256) as f64 - 128.0);
        functional::to(&whole, DType::I8).unwrap()
    };
    let cases = [[70, 130, 67], [64, 64, 64], [1, 300, 5]].map(|[m, k, n]| {
        let (a, b) = (bytes([m, k]), bytes([k, n]));
        case("_int_mm", vec![a, b], Attrs::new())
    });
    hold(&cases, &[DType::I8], None);
    hold(&cases, &[DType::I8], Some(Spread::Turned));
}

/// A number beside float32 has another dtype.
#[test]
fn numbers_are_parts_of_complex_numbers() {
    let (x, zero) = (small(&mut Draws(14), &[3, 5]), Tensor::number(0.0));
    let of = |parts: [&Tensor; 2]| case("complex", parts.map(Clone::clone).to_vec(), Attrs::new());
    hold(&[of([&x, &zero]), of([&zero, &x])], &[DType::F32, DType::F64], None);
}

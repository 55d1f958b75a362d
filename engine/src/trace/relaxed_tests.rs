//! Passes that round in another way than eager execution: what they take, that results are near, and where they are not used.

use super::training_tests::{bits, op, tensor};
use super::*;
use crate::autograd::grad;
use crate::functional::{add, matmul, matrix_transpose, mul, num, select_where, sum};
use crate::passes::{EXACT, RELAXED};
use crate::{Attr, DType, Shape, apply_one, ops};

fn options(opt_level: u8) -> Options {
    Options { opt_level, ..Options::default() }
}

fn shares(scores: &Tensor) -> Tensor {
    let attrs = [Attr::Int(-1), Attr::None].into_iter().collect();
    apply_one(ops::find("softmax").unwrap(), std::slice::from_ref(scores), &attrs).unwrap()
}

/// Ones where a query does not see a key: those behind it.
fn behind(n: usize) -> Tensor {
    let hidden: Vec<f32> = (0..n * n).map(|at| f32::from(at % n > at / n)).collect();
    crate::functional::to(&Tensor::from_vec(&hidden, Shape::new(&[n, n])).unwrap(), DType::Bool)
        .unwrap()
}

/// How scores become those that the softmax is of.
type Between = fn(&Tensor) -> Tensor;

fn scaled(scores: &Tensor) -> Tensor {
    mul(scores, &num(0.25)).unwrap()
}

fn filled(scores: &Tensor) -> Tensor {
    let (scores, mask) = (op("div", &[scores, &num(4.0)]), behind(scores.shape()[2]));
    op("masked_fill", &[&scores, &mask, &num(f64::NEG_INFINITY)])
}

fn chosen(scores: &Tensor) -> Tensor {
    select_where(&behind(scores.shape()[2]), &num(f64::NEG_INFINITY), &scaled(scores)).unwrap()
}

fn added(scores: &Tensor) -> Tensor {
    let n = scores.shape()[2];
    add(&scaled(scores), &tensor(&[1, n, n], 9)).unwrap()
}

/// Attention by hand, then its gradients.
fn by_hand(args: &[Tensor], between: Between) -> Vec<Tensor> {
    let leaves: Vec<Tensor> = args.iter().map(|it| it.detach().leaf()).collect();
    let scores = matmul(&leaves[0], &matrix_transpose(&leaves[1]).unwrap()).unwrap();
    let out = matmul(&shares(&between(&scores)), &leaves[2]).unwrap();
    let loss = sum(&mul(&out, &mul(&out, &out).unwrap()).unwrap(), &[0, 1, 2], false).unwrap();
    let found = grad(&[(loss, None)], &leaves, false, false).unwrap();
    std::iter::once(out.detach()).chain(found.into_iter().map(Option::unwrap)).collect()
}

/// A function of tensors.
type Body<'a> = dyn Fn(&[Tensor]) -> Vec<Tensor> + 'a;

fn run(function: &Traced, args: &[Tensor], body: &Body<'_>) -> Vec<Tensor> {
    let call = function.begin(args).unwrap();
    let results = body(call.args());
    call.finish(&results).unwrap().results
}

fn near(got: &Tensor, want: &Tensor) -> bool {
    let (got, want) = (got.to_vec::<f32>().unwrap(), want.to_vec::<f32>().unwrap());
    let size = want.iter().fold(0.0_f32, |size, it| size.max(it.abs()));
    got.iter().zip(&want).all(|(a, b)| (a - b).abs() <= 1e-5 * size || (a.is_nan() && b.is_nan()))
}

#[test]
fn attention_by_hand_is_one_op_each_way() {
    let args = [1, 2, 3].map(|seed| tensor(&[3, 40, 16], seed));
    for between in [scaled as Between, filled, chosen, added] {
        let body = |args: &[Tensor]| by_hand(args, between);
        let eager = body(&args);
        let function = Traced::new(options(RELAXED));
        for _ in 0..3 {
            let results = run(&function, &args, &body);
            assert!(results.iter().zip(&eager).all(|it| near(it.0, it.1)));
        }
        let (graph, _) = function.optimized(0).unwrap();
        let names: Vec<&str> =
            graph.nodes().iter().filter_map(|it| it.op()).map(|it| it.name).collect();
        assert!(!names.iter().any(|it| it.starts_with("softmax")), "{names:?}");
        for name in ["native_attention", "native_attention_backward"] {
            assert_eq!(names.iter().filter(|it| **it == name).count(), 1, "{names:?}");
        }
        assert_eq!(function.stats().relaxed, ["fuse-attention"]);
    }
}

/// Minus infinity for all keys of the first query, -1e4 for all of the second.
fn added_to_rows(scores: &Tensor) -> Tensor {
    let n = scores.shape()[2];
    let of_row = |row: usize| [f32::NEG_INFINITY, -1e4, 0.0][row.min(2)];
    let rows: Vec<f32> = (0..n * n).map(|at| of_row(at / n)).collect();
    add(scores, &Tensor::from_vec(&rows, Shape::new(&[1, n, n])).unwrap()).unwrap()
}

/// Minus infinity in the place of the first query's scores.
fn filled_rows(scores: &Tensor) -> Tensor {
    let n = scores.shape()[2];
    let hidden: Vec<f32> = (0..n * n).map(|at| f32::from(at < n)).collect();
    let mask = Tensor::from_vec(&hidden, Shape::new(&[n, n])).unwrap();
    let mask = crate::functional::to(&mask, DType::Bool).unwrap();
    op("masked_fill", &[scores, &mask, &num(f64::NEG_INFINITY)])
}

/// Queries that see nothing give NaN, as do the gradients that they go into; large numbers that all keys have in common change nothing.
#[test]
fn odd_masks_give_what_eager_gives() {
    let args = [1, 2, 3].map(|seed| tensor(&[2, 6, 8], seed));
    for (at, between) in [added_to_rows as Between, filled_rows].into_iter().enumerate() {
        let body = |args: &[Tensor]| by_hand(args, between);
        let eager = body(&args);
        let function = Traced::new(options(RELAXED));
        for _ in 0..3 {
            let results = run(&function, &args, &body);
            for (which, it) in results.iter().zip(&eager).enumerate() {
                let (got, want) = (it.0.to_vec::<f32>().unwrap(), it.1.to_vec::<f32>().unwrap());
                let same = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-3 || a.is_nan() && b.is_nan();
                assert!(got.iter().zip(&want).all(same), "{at}, {which}: {got:?} {want:?}");
            }
        }
        assert_eq!(function.stats().relaxed, ["fuse-attention"], "{at}");
    }
}

#[test]
fn what_is_looked_at_stays() {
    let args = [1, 2, 3].map(|seed| tensor(&[2, 8, 4], seed));
    let scores = |args: &[Tensor]| matmul(&args[0], &matrix_transpose(&args[1]).unwrap()).unwrap();
    let shares_too = |args: &[Tensor]| {
        let shares = shares(&scores(args));
        vec![matmul(&shares, &args[2]).unwrap(), shares]
    };
    let scores_too = |args: &[Tensor]| {
        let scores = scores(args);
        vec![matmul(&shares(&scores), &args[2]).unwrap(), scores]
    };
    // All that a query sees may be filled, and then the number is what counts.
    let finite_fill = |args: &[Tensor]| {
        let filled = op("masked_fill", &[&scores(args), &behind(8), &num(-1e9)]);
        vec![matmul(&shares(&filled), &args[2]).unwrap()]
    };
    let mask_scaled = |args: &[Tensor]| {
        let masked = add(&scores(args), &tensor(&[8, 8], 5)).unwrap();
        vec![matmul(&shares(&scaled(&masked)), &args[2]).unwrap()]
    };
    let bodies: [&Body<'_>; 4] = [&shares_too, &scores_too, &finite_fill, &mask_scaled];
    for (at, body) in bodies.into_iter().enumerate() {
        let (function, eager) = (Traced::new(options(RELAXED)), body(&args));
        for _ in 0..2 {
            let results = run(&function, &args, body);
            let same = results.iter().zip(&eager).all(|it| bits(it.0) == bits(it.1));
            assert!(same, "body {at}");
        }
        assert!(function.stats().relaxed.is_empty(), "body {at}");
    }
}

#[test]
fn what_is_read_in_the_body_has_the_bits_of_eager() {
    let args = [1, 2, 3].map(|seed| tensor(&[3, 40, 16], seed));
    let body = |args: &[Tensor]| {
        let first = by_hand(args, filled);
        // Somebody reads it, and may go on in another way.
        let read = bits(&first[0]);
        assert_eq!(
            read,
            bits(&by_hand(&[1, 2, 3].map(|seed| tensor(&[3, 40, 16], seed)), filled)[0])
        );
        vec![add(&first[0], &num(1.0)).unwrap()]
    };
    let function = Traced::new(options(RELAXED));
    for _ in 0..3 {
        run(&function, &args, &body);
    }
    assert!(function.stats().relaxed.is_empty());
}

#[test]
fn batch_norm_goes_into_constant_weights() {
    let x = tensor(&[2, 3, 6, 6], 1);
    let by_channel = |seed| tensor(&[4, 1, 1], seed);
    let (shift, scale) = (by_channel(2), by_channel(3));
    let (weight, bias) = (tensor(&[4, 3, 3, 3], 4), tensor(&[4], 5));
    let body = |args: &[Tensor]| {
        let convolved = op("convolution", &[&args[0], &weight, &bias]);
        let bare = op("convolution", &[&args[0], &weight]);
        vec![
            op("relu", &[&op("addcmul", &[&shift, &convolved, &scale])]),
            op("addcmul", &[&shift, &bare, &scale]),
        ]
    };
    let eager = body(std::slice::from_ref(&x));
    let count = |level: u8, capture_as_const: bool| {
        let function = Traced::new(Options { capture_as_const, ..options(level) });
        for _ in 0..2 {
            let results = run(&function, std::slice::from_ref(&x), &body);
            assert!(results.iter().zip(&eager).all(|it| near(it.0, it.1)));
        }
        let (graph, _) = function.optimized(0).unwrap();
        graph.nodes().iter().filter(|it| it.op().is_some_and(|it| it.name == "addcmul")).count()
    };
    assert_eq!([count(RELAXED, true), count(EXACT, true), count(RELAXED, false)], [0, 2, 2]);
}

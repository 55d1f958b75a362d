//! The reverse walk on ops whose gradients are views and sums.

use super::*;
use crate::functional::{add, mul, reshape, slice, sum, transpose};
use crate::{Error, Result, Shape, Tensor};

fn leaf(values: &[f64], shape: &[usize]) -> Tensor {
    Tensor::from_vec(values, Shape::new(shape)).unwrap().leaf()
}

fn grads_of(root: &Tensor) -> Result<Vec<Vec<f64>>> {
    backward(&[(root.clone(), None)], None, false, false)?
        .iter()
        .map(|it| it.1.to_f64_vec())
        .collect()
}

#[test]
fn slices_and_sums_flow_back() {
    let x = leaf(&[1.0, 2.0, 3.0, 4.0], &[2, 2]);
    let y = sum(&slice(&transpose(&x, 0, 1).unwrap(), 0, 1, 2, 1).unwrap(), &[], false).unwrap();
    assert_eq!(y.to_f64_vec().unwrap(), [6.0]);
    assert_eq!(grads_of(&y).unwrap(), [[0.0, 1.0, 0.0, 1.0]]);
}

#[test]
fn second_walk_needs_retain_graph() {
    let x = leaf(&[1.0, 2.0], &[2]);
    let y = sum(&mul(&x, &x).unwrap(), &[], false).unwrap();
    backward(&[(y.clone(), None)], None, true, false).unwrap();
    assert!(!y.edge().unwrap().is_passed());
    assert_eq!(grads_of(&y).unwrap(), [[2.0, 4.0]]);
    let Err(error @ Error::Freed { op: "mul" }) = grads_of(&y) else {
        panic!("the second walk passed")
    };
    assert!(y.edge().unwrap().is_passed());
    assert!(error.to_string().contains("retain_graph=True"), "{error}");
}

/// As in PyTorch 2.15: `x.sum()` and `x + 3` save no elements.
#[test]
fn walks_through_what_saves_nothing_can_be_repeated() {
    let x = leaf(&[1.0, 2.0], &[2]);
    let y = sum(&add(&x, &Tensor::number(3.0)).unwrap(), &[], false).unwrap();
    for _ in 0..3 {
        assert_eq!(grads_of(&y).unwrap(), [[1.0, 1.0]]);
        assert!(!y.edge().unwrap().is_passed());
    }
}

#[test]
fn leaves_that_are_over_are_not_reached() {
    let (x, w) = (leaf(&[1.0], &[1]), leaf(&[2.0], &[1]));
    let y = mul(&x, &w).unwrap();
    let is_open = |it: &Tensor| reaches([it].into_iter(), |leaf, _| !leaf.is_over());
    assert!(is_open(&y));
    x.edge().unwrap().end();
    assert!(is_open(&y) && !is_open(&mul(&x, &x).unwrap()));
    w.edge().unwrap().end();
    assert!(!is_open(&y));
}

#[test]
fn refuses_roots_it_cannot_start_from() {
    let x = leaf(&[1.0, 2.0], &[2]);
    assert!(matches!(grads_of(&x), Err(Error::Backward { .. })));
    assert!(matches!(grads_of(&Tensor::number(1.0)), Err(Error::Backward { .. })));
}

#[test]
fn long_chains_do_not_exhaust_the_stack() {
    let mut y = leaf(&[1.0, 2.0], &[2]);
    for step in 0..100_000 {
        y = reshape(&y, &Shape::new(if step % 2 == 0 { &[1, 2] } else { &[2] })).unwrap();
    }
    let y = sum(&y, &[], false).unwrap();
    assert_eq!(grads_of(&y).unwrap(), [[1.0, 1.0]]);
}

#[test]
fn gives_gradients_of_intermediate_values() {
    let x = leaf(&[1.0, 2.0], &[2]);
    let middle = reshape(&x, &Shape::from([1, 2])).unwrap();
    let other = leaf(&[5.0], &[1]);
    let y = sum(&middle, &[], false).unwrap();
    let found = grad(&[(y, None)], &[middle, other], false, false).unwrap();
    assert_eq!(found[0].as_ref().unwrap().to_f64_vec().unwrap(), [1.0, 1.0]);
    assert!(found[1].is_none());
}

//! The reverse walk on ops whose gradients are views and sums.

use super::*;
use crate::functional::{reshape, slice, sum, transpose};
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
    let y = sum(&x, &[], false).unwrap();
    backward(&[(y.clone(), None)], None, true, false).unwrap();
    assert_eq!(grads_of(&y).unwrap(), [[1.0, 1.0]]);
    let Err(error @ Error::Freed { op: "sum" }) = grads_of(&y) else {
        panic!("the second walk passed")
    };
    assert!(error.to_string().contains("retain_graph=True"), "{error}");
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

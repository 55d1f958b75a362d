//! The reverse walk on ops whose gradients are views and sums.

use std::sync::Arc;

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
    let is_open = |it: &Tensor| reaches([it], |it| it.is_leaf() && !it.is_over());
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

/// Where a walk from `y` stops, and what it finds at the leaves: watchers double, and steps pass the sum of their gradients on.
fn stops(y: &Tensor) -> (Vec<String>, Vec<Vec<f64>>) {
    let mut stops = Vec::new();
    let how = How::default();
    let found = backward_with(&[(y.clone(), None)], how, |stop| match stop {
        Stop::Passing { watcher, grad } => {
            let name = watcher.downcast_ref::<&str>().unwrap();
            stops.push(format!("{name} {:?}", grad.to_f64_vec().unwrap()));
            Ok::<_, Error>(vec![Some(add(&grad, &grad)?)])
        }
        Stop::Step { edge, grads } => {
            let name = edge.kept().unwrap().downcast_ref::<&str>().unwrap();
            let count = grads.iter().flatten().count();
            stops.push(format!("{name}, {count} of {}", grads.len()));
            let sum = grads.into_iter().flatten().reduce(|a, b| add(&a, &b).unwrap());
            Ok(vec![sum, None])
        }
    });
    (stops, found.unwrap().iter().map(|it| it.1.to_f64_vec().unwrap()).collect())
}

#[test]
fn walks_stop_at_steps_that_are_no_ops_once_all_gradients_are_there() {
    let (x, w) = (leaf(&[1.0, 2.0], &[2]), leaf(&[5.0, 7.0], &[2]));
    let squares = mul(&x, &x).unwrap();
    let edge = Edge::of_foreign(&[squares, w], 3, Arc::new("step"));
    let output = |at: usize| x.detach().at_edge(Some(edge.output_at(at)));
    let ends = mul(&output(2), &Tensor::number(10.0)).unwrap();
    let y = sum(&add(&add(&output(0), &ends).unwrap(), &output(2)).unwrap(), &[], false).unwrap();
    // 1 and 11 at the outputs; nothing goes on to `w`.
    assert_eq!(stops(&y), (vec!["step, 2 of 3".to_owned()], vec![vec![24.0, 48.0]]));
    assert!(reaches([&y], |it| it.kept().is_some()) && !output(0).edge().unwrap().is_leaf());
    let y = sum(&output(1), &[], false).unwrap();
    let error = backward(&[(y, None)], None, false, false).map(drop).unwrap_err();
    assert!(error.to_string().contains("a step that is no op"), "{error}");
}

/// Whether a value was used before it is watched or after.
#[test]
fn walks_stop_at_values_that_are_watched() {
    let x = leaf(&[1.0, 2.0], &[2]);
    let middle = mul(&x, &Tensor::number(3.0)).unwrap();
    let y = sum(&mul(&middle, &middle).unwrap(), &[], false).unwrap();
    middle.edge().unwrap().watch(Arc::new("first"));
    middle.edge().unwrap().watch(Arc::new("middle"));
    y.edge().unwrap().watch(Arc::new("end"));
    let expected = ["end [1.0]", "middle [12.0, 24.0]"].map(str::to_owned).to_vec();
    assert_eq!(stops(&y), (expected, vec![vec![72.0, 144.0]]));
}

/// Gradients that are asked for are what watchers made of them, where the walk ends there.
#[test]
fn watched_places_that_are_wanted() {
    let x = leaf(&[1.0], &[1]);
    let middle = mul(&x, &Tensor::number(3.0)).unwrap();
    let y = sum(&middle, &[], false).unwrap();
    middle.edge().unwrap().watch(Arc::new("middle"));
    let found = |wanted: &[&Tensor]| {
        let edges: Vec<Edge> = wanted.iter().map(|it| it.edge().unwrap().clone()).collect();
        let how = How { wanted: Some(&edges), retain_graph: true, create_graph: false };
        let doubled = |stop| match stop {
            Stop::Passing { grad, .. } => Ok::<_, Error>(vec![Some(add(&grad, &grad)?)]),
            Stop::Step { .. } => Ok(Vec::new()),
        };
        let found = backward_with(&[(y.clone(), None)], how, doubled).unwrap();
        edges
            .iter()
            .map(|it| gradient_at(&found, it).unwrap().to_f64_vec().unwrap()[0])
            .collect::<Vec<_>>()
    };
    assert_eq!(found(&[&middle]), [2.0]);
    assert_eq!(found(&[&middle, &x]), [1.0, 6.0]);
}

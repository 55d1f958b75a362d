//! What is left when a traced call fails or is stopped: no value that eager code would have is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::training_tests::{bits, tensor};
use super::*;
use crate::autograd::{backward, no_grad};
use crate::cpu::interrupt;
use crate::functional::{add, linear, mul, num, sub};
use crate::{Error, test_ops};
use crate::{Shape, apply, ops};

fn cross_entropy(scores: &Tensor, classes: &Tensor) -> Result<Tensor> {
    let op = ops::find("softmax_cross_entropy").unwrap();
    Ok(apply(op, &[scores.clone(), classes.clone()], &op.default_attrs())?.remove(0))
}

fn classes(values: [i64; 4]) -> Tensor {
    Tensor::from_vec(&values, Shape::from([4])).unwrap()
}

/// A step of gradient descent on a matrix.
fn step(w: &mut Tensor, x: &Tensor, y: &Tensor) -> Result<Tensor> {
    let leaf = w.leaf();
    let loss = cross_entropy(&linear(x, &leaf, None)?, y)?;
    let grads = backward(&[(loss.clone(), None)], None, false, false)?;
    *w = no_grad(|| sub(&leaf.detach(), &mul(&grads[0].1, &num(0.1))?))?;
    Ok(loss.detach())
}

#[test]
fn a_class_out_of_range_is_found_at_the_op_and_nothing_changes() {
    let function = Traced::new(Options::default());
    let (mut eager, mut traced) = (tensor(&[3, 8], 1), tensor(&[3, 8], 1));
    for at in 0..6 {
        let x = tensor(&[4, 8], at);
        let y = classes(if at == 3 { [0, 1, 3, 1] } else { [0, 1, 2, 1] });
        let expected = step(&mut eager, &x, &y);
        let call = function.begin(&[x, y]).unwrap();
        let args = call.args().to_vec();
        match step(&mut traced, &args[0], &args[1]) {
            Ok(loss) => drop(call.finish(&[loss]).unwrap()),
            Err(error) => {
                call.abort();
                assert_eq!(Some(error), expected.err());
            }
        }
        assert_eq!(bits(&traced), bits(&eager), "call {at}");
    }
    assert_eq!(function.stats().branches, 1);
}

#[test]
fn values_of_a_stopped_call_are_computed_when_they_are_read() {
    let function = Traced::new(Options::default());
    let (mut eager, mut traced) = (tensor(&[3, 8], 1), tensor(&[3, 8], 1));
    let flag = Arc::new(AtomicBool::new(false));
    let _watching = interrupt::watch(flag.clone());
    for at in 0..6 {
        let (x, y) = (tensor(&[4, 8], at), classes([0, 1, 2, 1]));
        let expected = step(&mut eager, &x, &y).unwrap();
        let call = function.begin(&[x, y]).unwrap();
        let args = call.args().to_vec();
        let loss = step(&mut traced, &args[0], &args[1]).unwrap();
        flag.store(at == 3, Ordering::Relaxed);
        let finished = call.finish(std::slice::from_ref(&loss));
        assert_eq!(finished.err(), (at == 3).then_some(Error::Interrupted));
        // Stopped once more while it is read, and then not.
        flag.store(at == 3, Ordering::Relaxed);
        assert_eq!(loss.item().err(), (at == 3).then_some(Error::Interrupted));
        flag.store(false, Ordering::Relaxed);
        assert_eq!((bits(&loss), bits(&traced)), (bits(&expected), bits(&eager)), "call {at}");
    }
}

#[test]
fn of_a_failed_stretch_only_what_depends_on_the_failure_is_lost() {
    let function = Traced::new(Options::default());
    for (at, first) in [0.0_f32, 1.0, 5.0].into_iter().enumerate() {
        let x = Tensor::from_vec(&[first, 2.0], Shape::from([2])).unwrap();
        let expected = mul(&x, &num(2.0)).unwrap();
        let call = function.begin(&[x]).unwrap();
        let x = call.args()[0].clone();
        let failing = apply(test_ops::find("t_fail"), std::slice::from_ref(&x), &Attrs::new());
        let failing = failing.unwrap().remove(0);
        let doubled = mul(&x, &num(2.0)).unwrap();
        let finished = call.finish(&[failing.clone(), doubled.clone()]);
        assert_eq!(finished.is_err(), at == 2);
        assert_eq!(bits(&doubled), bits(&expected));
        let lost = failing.to_vec::<f32>().err().map(|it| it.to_string());
        assert_eq!(lost.is_some_and(|it| it.contains("out of memory: 5 bytes")), at == 2);
    }
}

#[test]
fn what_lacked_memory_is_computed_once_there_is_some() {
    let function = Traced::new(Options::default());
    let x = Tensor::from_vec(&[5.0_f32, 2.0], Shape::from([2])).unwrap();
    let run = |is_full: bool| {
        test_ops::set_full(is_full);
        let call = function.begin(std::slice::from_ref(&x)).unwrap();
        let op = test_ops::find("t_fail");
        let given = apply(op, &call.args()[..1], &Attrs::new()).unwrap().remove(0);
        let finished = call.finish(std::slice::from_ref(&given));
        assert_eq!(finished.is_err(), is_full);
        given
    };
    let expected = bits(&run(false));
    let given = run(true);
    for _ in 0..2 {
        let problem = given.to_vec::<f32>().unwrap_err().to_string();
        assert!(
            problem.contains("out of memory") && problem.contains("read it again"),
            "{problem}"
        );
    }
    test_ops::set_full(false);
    assert_eq!(bits(&given), expected);
    test_ops::set_full(true);
}

#[test]
fn classes_computed_in_the_call_are_looked_at_where_they_are_used() {
    let function = Traced::new(Options::default());
    for (at, shift) in [0, 0, 5, 0].into_iter().enumerate() {
        let (x, y) = (tensor(&[4, 3], at), classes([0, 1, 2, 1]));
        let shift = Tensor::from_vec(&[shift as i64], Shape::from([1])).unwrap();
        let moved = add(&y, &shift).unwrap();
        let expected = cross_entropy(&x, &moved);
        let call = function.begin(&[x, y, shift]).unwrap();
        let args = call.args().to_vec();
        let loss = cross_entropy(&args[0], &add(&args[1], &args[2]).unwrap());
        assert_eq!(loss.as_ref().err(), expected.as_ref().err());
        match (loss, expected) {
            (Ok(loss), Ok(expected)) => {
                call.finish(std::slice::from_ref(&loss)).unwrap();
                assert_eq!(bits(&loss), bits(&expected));
            }
            _ => call.abort(),
        }
        assert_eq!(function.stats().branches, 1, "call {at}");
    }
}

//! Calls that are compared with eager execution: right traces pass, and of one whose compiled stretch is spoiled on purpose the first op
//! that differs is named.

use std::cell::Cell;

use super::training_tests::{Trainer, bits, op, tensor};
use super::*;
use crate::autograd::backward;
use crate::functional::{add, mean, mul, num};
use crate::graph::{Graph, parse, text};
use crate::{Error, ops, random};

/// In a compiled stretch of this level or a higher one the first op is taken for the second.
type Spoiling = (u8, &'static str, &'static str);

thread_local! {
    static SPOILING: Cell<Option<Spoiling>> = const { Cell::new(None) };
}

/// What a stretch is compiled from on this thread.
pub(super) fn spoiled(graph: Graph, opt_level: u8) -> Graph {
    match SPOILING.get() {
        Some((level, op, other)) if opt_level >= level => {
            let listing = graph.to_string().replace(op, other);
            parse::parse(&listing, &text::constants(&graph)).unwrap()
        }
        _ => graph,
    }
}

fn checked() -> Traced {
    Traced::new(Options { check: true, ..Options::default() })
}

/// Two calls of `body`, the second under `spoiling`: what that one gives, and whether it could be finished.
fn second(spoiling: Spoiling, body: impl Fn(&Tensor) -> Tensor) -> (Tensor, Result<()>) {
    let function = checked();
    let mut last = None;
    for at in 0..2 {
        SPOILING.set((at == 1).then_some(spoiling));
        let call = function.begin(&[tensor(&[2, 3], at)]).unwrap();
        let result = body(&call.args()[0].clone());
        let finished = call.finish(std::slice::from_ref(&result)).map(|_| ());
        last = Some((result, finished));
    }
    SPOILING.set(None);
    last.unwrap()
}

fn message(outcome: Result<()>) -> String {
    outcome.unwrap_err().to_string()
}

#[test]
fn a_training_loop_passes() {
    let (mut eager, mut traced) = (Trainer::on(Device::Cpu), Trainer::on(Device::Cpu));
    let function = checked();
    for step in 0..8 {
        let (x, y) = (tensor(&[4, 8], step), tensor(&[4, 3], step + 50));
        let expected = eager.train(&x, &y);
        let call = function.begin(&[x, y]).unwrap();
        let args = call.args().to_vec();
        let loss = traced.train(&args[0], &args[1]);
        call.finish(std::slice::from_ref(&loss)).unwrap();
        assert_eq!(bits(&loss), bits(&expected), "step {step}");
    }
    assert_eq!((function.stats().branches, function.stats().walks), (1, 0));
}

#[test]
fn random_numbers_are_drawn_once() {
    let draw = |x: &Tensor| {
        let dropout = ops::find("dropout").unwrap();
        let mut attrs = dropout.default_attrs();
        attrs[0] = crate::Attr::Float(0.5);
        let first = crate::apply_one(dropout, std::slice::from_ref(x), &attrs).unwrap();
        add(&first, &crate::apply_one(dropout, std::slice::from_ref(x), &attrs).unwrap()).unwrap()
    };
    let function = checked();
    for step in 0..5 {
        let x = tensor(&[16, 16], step);
        random::seed(step as u64);
        let expected = (bits(&draw(&x)), random::word());
        random::seed(step as u64);
        let call = function.begin(&[x]).unwrap();
        let result = draw(&call.args()[0].clone());
        call.finish(std::slice::from_ref(&result)).unwrap();
        assert_eq!((bits(&result), random::word()), expected, "step {step}");
    }
}

#[test]
fn the_first_op_that_differs_is_named_and_the_eager_values_are_there() {
    let body = |x: &Tensor| op("sqrt", &[&op("exp", &[&mul(x, &num(2.0)).unwrap()])]);
    let (result, finished) = second((3, "exp(", "cosh("), body);
    let message = message(finished);
    assert!(message.contains("`exp` gives "), "{message}");
    assert!(message.contains("at [0, 0] (6 of 6 elements differ)"), "{message}");
    assert!(message.contains("with opt_level=2 it is as eager"), "{message}");
    assert_eq!(bits(&result), bits(&body(&tensor(&[2, 3], 1))));
}

#[test]
fn other_random_numbers_are_an_error() {
    let body = |x: &Tensor| {
        let dropout = ops::find("dropout").unwrap();
        let mut attrs = dropout.default_attrs();
        attrs[0] = crate::Attr::Float(0.5);
        crate::apply_one(dropout, std::slice::from_ref(x), &attrs).unwrap()
    };
    let (_, finished) = second((1, "p=0.5", "p=0.25"), body);
    let message = message(finished);
    assert!(message.contains("`dropout_mask` gives 1.3333334 where eager gives 2, "), "{message}");
}

#[test]
fn a_stretch_that_draws_another_count_of_random_numbers_is_an_error() {
    let body = |x: &Tensor| {
        // Nobody looks at it, but the random numbers go on.
        drop(op("bernoulli", &[&mul(x, &num(0.0)).unwrap()]));
        mul(x, &num(2.0)).unwrap()
    };
    let (result, finished) = second((1, "bernoulli(", "abs("), body);
    let message = message(finished);
    assert!(message.contains("leaves the random numbers at another place"), "{message}");
    assert_eq!(bits(&result), bits(&body(&tensor(&[2, 3], 1))));
}

#[test]
fn a_walk_that_is_not_what_is_known_of_it_is_an_error() {
    let function = checked();
    let run = |x: &Tensor| {
        let (a, b) = (tensor(&[2, 3], 7).leaf(), tensor(&[2, 3], 8).leaf());
        let product = mul(&mul(&a, x).unwrap(), &b).unwrap();
        let loss = mean(&product, &[0, 1], false).unwrap();
        backward(&[(loss, None)], None, false, false).unwrap()
    };
    // An event is kept where nothing is compared.
    let plain = Traced::new(Options::default());
    for (at, function) in [&plain, &plain, &plain, &function].into_iter().enumerate() {
        let x = tensor(&[2, 3], at);
        let call = function.begin(std::slice::from_ref(&x)).unwrap();
        run(&call.args()[0].clone());
        call.finish(&[]).unwrap();
    }
    let mut recorded = plain.0.borrow_mut();
    recorded.options.check = true;
    recorded.trees[0].steps.iter_mut().for_each(|it| it.events.spoil());
    drop(recorded);
    let call = plain.begin(&[tensor(&[2, 3], 9)]).unwrap();
    let grads = run(&call.args()[0].clone());
    let outcome = call.finish(&[]).map(|_| ());
    assert!(matches!(outcome, Err(Error::Trace { .. })));
    assert!(message(outcome).contains("a reverse walk went another way"));
    assert_eq!(grads.len(), 2);
}

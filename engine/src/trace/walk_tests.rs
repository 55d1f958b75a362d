//! Reverse walks inside traced calls: what was seen is one event, and nothing else is taken for it.

use super::training_tests::{bits, op, tensor};
use super::*;
use crate::autograd::backward;
use crate::functional::{add, matmul, mean, mul, num, sum};

/// What a walk over `w * x + b` may meet in one call; the ops of the forward pass are the same in all of them.
#[derive(Clone, Copy, Debug)]
enum Tape {
    Plain,
    /// `b` takes no part.
    Frozen,
    /// The product is cut off the tape.
    Detached,
    /// The graph is kept, and walked twice.
    Retained,
    /// A second walk without retaining the graph.
    Twice,
    /// The loss is read before the walk.
    Read,
    /// What the loss is made of is read.
    ReadEarly,
    /// Another number stands where 2 stood.
    Number,
}

type Outcome = std::result::Result<Vec<Vec<u32>>, String>;

/// Gradients of `w` and `b`, or the message.
fn walk_over(tape: Tape, w: &Tensor, b: &Tensor, x: &Tensor) -> Outcome {
    let w = w.leaf();
    let b = if matches!(tape, Tape::Frozen) { b.clone() } else { b.leaf() };
    let scale = if matches!(tape, Tape::Number) { 3.0 } else { 2.0 };
    let mut product = mul(&mul(&w, &num(scale)).unwrap(), x).unwrap();
    if matches!(tape, Tape::Detached) {
        product = product.detach();
    }
    let sum = op("tanh", &[&add(&product, &b).unwrap()]);
    if matches!(tape, Tape::ReadEarly) {
        sum.to_vec::<f32>().unwrap();
    }
    let loss = mean(&mul(&sum, &sum).unwrap(), &[0, 1], false).unwrap();
    if matches!(tape, Tape::Read) {
        loss.item().unwrap();
    }
    let walk = |retain| {
        let found = backward(&[(loss.clone(), None)], None, retain, false);
        let found = found.map_err(|it| it.to_string())?;
        let of =
            |leaf: &Tensor| found.iter().find(|it| leaf.edge().is_some_and(|at| at.id() == it.0.0));
        let grads = [&w, &b].into_iter().filter_map(of).map(|it| it.1.clone());
        Ok::<Vec<Tensor>, String>(grads.collect())
    };
    let mut grads = walk(matches!(tape, Tape::Retained))?;
    if matches!(tape, Tape::Retained | Tape::Twice) {
        grads.extend(walk(false)?);
    }
    Ok(grads.iter().map(bits).collect())
}

#[test]
fn a_walk_over_another_tape_is_not_taken_for_the_one_that_was_seen() {
    use Tape::*;
    let order = [
        Plain, Plain, Plain, Frozen, Frozen, Frozen, Plain, Detached, Detached, Detached, Plain,
        Retained, Retained, Retained, Twice, Twice, Twice, Read, Read, Read, ReadEarly, ReadEarly,
        ReadEarly, Plain, Plain, Number, Number, Plain, Plain, Frozen, Twice, Retained,
    ];
    let function = Traced::new(Options::default());
    for (step, tape) in order.into_iter().enumerate() {
        let (w, b) = (tensor(&[4, 8], step), tensor(&[8], step + 7));
        let x = tensor(&[4, 8], step + 50);
        let expected = walk_over(tape, &w, &b, &x);
        let call = function.begin(std::slice::from_ref(&x)).unwrap();
        let seen = call.args()[0].clone();
        let got = walk_over(tape, &w, &b, &seen);
        assert_eq!(got, expected, "step {step}, {tape:?}");
        call.finish(&[]).unwrap();
    }
}

#[test]
fn leaves_that_were_two_and_are_one_get_one_gradient() {
    let function = Traced::new(Options::default());
    let run = |shared: bool, x: &Tensor| {
        let a = tensor(&[6], 1).leaf();
        let b = if shared { a.clone() } else { a.detach().leaf() };
        let loss = sum(&add(&mul(&a, x).unwrap(), &b).unwrap(), &[], false).unwrap();
        let found = backward(&[(loss, None)], None, false, false).unwrap();
        found.iter().map(|it| bits(&it.1)).collect::<Vec<_>>()
    };
    for (step, shared) in
        [false, false, false, true, true, true, false, true].into_iter().enumerate()
    {
        let x = tensor(&[6], step);
        let expected = run(shared, &x);
        let call = function.begin(std::slice::from_ref(&x)).unwrap();
        let seen = call.args()[0].clone();
        assert_eq!(run(shared, &seen), expected, "step {step}");
        call.finish(&[]).unwrap();
    }
}

/// Gradients of `w` and `v` in `(w * x) + (v * y)`.
fn weigh(w: &Tensor, v: &Tensor, x: &Tensor, y: &Tensor, walk: bool) -> Vec<Vec<u32>> {
    let both = add(&mul(w, x).unwrap(), &mul(v, y).unwrap()).unwrap();
    let loss = sum(&both, &[], false).unwrap();
    if !walk {
        return Vec::new();
    }
    backward(&[(loss, None)], None, false, false).unwrap().iter().map(|it| bits(&it.1)).collect()
}

#[test]
fn values_that_were_one_by_chance_do_not_stay_one() {
    let (w, v) = (tensor(&[3], 1).leaf(), tensor(&[3], 2).leaf());
    let (a, b) = (tensor(&[3], 3), tensor(&[3], 4));
    // With arguments, then with tensors from outside.
    for captured in [false, true] {
        let function = Traced::new(Options::default());
        let calls =
            [(&b, false), (&a, true), (&a, true), (&b, true), (&b, true), (&b, true), (&a, true)];
        for (at, (y, walk)) in calls.into_iter().enumerate() {
            let expected = weigh(&w, &v, &a, y, walk);
            let args = if captured { Vec::new() } else { vec![a.clone(), y.clone()] };
            let call = function.begin(&args).unwrap();
            let seen = call.args().to_vec();
            let got = match captured {
                true => weigh(&w, &v, &a, y, walk),
                false => weigh(&w, &v, &seen[0], &seen[1], walk),
            };
            assert_eq!(got, expected, "call {at}, captured {captured}");
            call.finish(&[]).unwrap();
        }
    }
}

#[test]
fn views_that_a_walk_makes_can_be_made_again_after_it() {
    let function = Traced::new(Options::default());
    let w = tensor(&[4, 4], 1).leaf();
    let run = |x: &Tensor| {
        let hidden = op("tanh", &[&matmul(&matmul(x, &w).unwrap(), &w).unwrap()]);
        let loss = sum(&hidden, &[], false).unwrap();
        let grad = backward(&[(loss, None)], None, false, false).unwrap().remove(0).1;
        let turned = crate::functional::transpose(&w.detach(), 0, 1).unwrap();
        (grad, matmul(x, &turned).unwrap())
    };
    for step in 0..5 {
        let x = tensor(&[4, 4], step);
        let expected = run(&x);
        let call = function.begin(std::slice::from_ref(&x)).unwrap();
        let got = run(&call.args()[0].clone());
        let finished = call.finish(std::slice::from_ref(&got.1)).unwrap();
        assert_eq!((bits(&got.0), bits(&got.1)), (bits(&expected.0), bits(&expected.1)));
        assert_eq!((finished.stats.branches, finished.stats.departure), (1, None), "step {step}");
        assert_eq!(finished.stats.walks, usize::from(step > 1), "step {step}");
    }
}

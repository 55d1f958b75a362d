//! Runs without the body that write variables where they lie: the same bits as other runs, in the buffers that were there.

use super::alone_tests::{Descent, batch, eager_steps, recorded_with};
use super::training_tests::bits;
use super::*;
use crate::random;

fn address(x: &Tensor) -> usize {
    Arc::as_ptr(&x.storage().unwrap()).addr()
}

/// Its own handle on elements of its own.
fn own(x: &Tensor) -> Tensor {
    crate::functional::copy(&x.detach()).unwrap()
}

/// The graph of the step, the variables that it leaves as the first call did, and which of them it writes where they lie.
fn prepared(trained: &mut Descent) -> (Alone, Vec<Tensor>, Vec<usize>) {
    let (function, _) = recorded_with(trained, true);
    let graph = function.alone_onto(&batch(0), &|_| true).unwrap();
    let onto: Vec<usize> = graph.onto().collect();
    (graph, trained.variables().iter().map(own).collect(), onto)
}

type Answer = Result<Option<Ran>>;

/// A run to which these variables are lent.
fn run(graph: &Alone, at: usize, variables: &mut [Tensor], goes_on: bool) -> Answer {
    let onto: Vec<usize> = graph.onto().collect();
    let lend = |it: &usize| std::mem::replace(&mut variables[*it], Tensor::number(0.0));
    let mut lent: Vec<Tensor> = onto.iter().map(lend).collect();
    let now = |at: usize| variables.get(at).cloned();
    let ran = graph.run_onto(&batch(at), &Now::with(&now), &mut lent, &mut |_| goes_on);
    for (at, it) in onto.into_iter().zip(lent) {
        variables[at] = it;
    }
    ran
}

#[test]
fn a_training_step_writes_its_variables_where_they_lie() {
    let expected = eager_steps(3);
    random::seed(3);
    let mut trained = Descent::new();
    let (graph, mut variables, mut onto) = prepared(&mut trained);
    // The last one is the loss, which is an output too.
    onto.sort_unstable();
    assert_eq!(onto, [0, 1, 2, 3, 4, 5]);
    let before: Vec<usize> = variables.iter().map(address).collect();
    for (at, (loss, left)) in expected.iter().enumerate().skip(1) {
        let ran = run(&graph, at, &mut variables, true).unwrap().unwrap();
        assert_eq!(bits(&ran.results[0]), *loss, "loss of step {at}");
        assert_eq!(ran.stored.len(), 1);
        variables[6] = ran.stored[0].1.clone();
        assert_eq!(variables.iter().map(bits).collect::<Vec<_>>(), *left, "after step {at}");
    }
    assert_eq!(variables[..6].iter().map(address).collect::<Vec<_>>(), before[..6]);
}

#[test]
fn nothing_is_written_where_the_caller_says_no() {
    random::seed(4);
    let (graph, mut variables, _) = prepared(&mut Descent::new());
    let before: Vec<Vec<u32>> = variables.iter().map(bits).collect();
    let drawn = random::state();
    assert!(run(&graph, 1, &mut variables, false).unwrap().is_none());
    assert_eq!(variables.iter().map(bits).collect::<Vec<_>>(), before);
    assert!(random::state() == drawn, "and nothing is drawn");
}

#[test]
fn what_others_look_at_is_not_written() {
    let (graph, mut variables, onto) = prepared(&mut Descent::new());
    let before: Vec<Vec<u32>> = variables.iter().map(bits).collect();
    for at in onto {
        let handle = variables[at].clone();
        let problem = run(&graph, 1, &mut variables, true).unwrap_err().to_string();
        assert!(problem.contains("has to be lent them"), "{problem}");
        drop(handle);
    }
    assert_eq!(variables.iter().map(bits).collect::<Vec<_>>(), before);
}

#[test]
fn numbers_that_decide_are_there_before_anything_is_written() {
    let (graph, variables, onto) = prepared(&mut Descent::new());
    let mut lent: Vec<Tensor> = onto.iter().map(|it| own(&variables[*it])).collect();
    let now = |at: usize| variables.get(at).cloned();
    let mut seen = None;
    let mut decide = |first: &dyn Fn(usize) -> Option<crate::Number>| {
        seen = first(0);
        true
    };
    let ran = graph.run_onto(&batch(1), &Now::with(&now), &mut lent, &mut decide);
    let loss = ran.unwrap().unwrap().results[0].item().unwrap();
    assert_eq!(seen, Some(loss));
}

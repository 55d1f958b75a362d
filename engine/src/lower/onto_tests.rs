//! Plans that write where variables lie, held to what the same graphs give op by op.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::cpu::interrupt;
use crate::graph::parse::parse;
use crate::graph::{Graph, op_by_op};
use crate::{Attrs, Error, Number, Result, Tensor, apply_one, ops};

fn graph(text: &str) -> Graph {
    parse(text, &[]).unwrap()
}

/// Its own handle on elements of its own.
fn own(x: &Tensor) -> Tensor {
    apply_one(ops::find("clone").unwrap(), std::slice::from_ref(x), &Attrs::new()).unwrap()
}

fn bits(x: &Tensor) -> Vec<u64> {
    x.to_f64_vec().unwrap().iter().map(|it| it.to_bits()).collect()
}

/// Which stores are written where their variables lie, once a run has left what running the graph op by op leaves.
fn written(text: &str) -> Vec<usize> {
    let graph = graph(text);
    let inputs: Vec<Tensor> = (0..graph.inputs().len()).map(|at| input(&graph, at)).collect();
    let expected = op_by_op::run(&graph, &inputs).unwrap();
    let plan = compile_onto(&graph, true, &|_| true).unwrap();
    let mut lent: Vec<Tensor> = plan.onto().iter().map(|it| own(&inputs[it.input])).collect();
    let mut left = plan.run_onto(&inputs, &mut lent, &mut |_| true).unwrap().unwrap();
    let stores: Vec<usize> = plan.onto().iter().map(|it| it.store).collect();
    let mut by_store: Vec<(usize, Tensor)> = stores.iter().copied().zip(lent).collect();
    by_store.sort_by_key(|it| it.0);
    for (store, it) in by_store {
        left.insert(graph.outputs.len() + store, it);
    }
    assert_eq!(left.len(), expected.len());
    for (at, (got, expected)) in left.iter().zip(&expected).enumerate() {
        assert_eq!(bits(got), bits(expected), "result {at} of {text}\n{plan}");
    }
    let mut stores = stores;
    stores.sort_unstable();
    stores
}

fn input(graph: &Graph, at: usize) -> Tensor {
    let meta = &graph.node(graph.inputs()[at]).metas[0];
    let values: Vec<f32> =
        (0..meta.shape.numel()).map(|it| ((it * 7 + at * 3) % 23) as f32 * 0.21 + 0.3).collect();
    Tensor::from_vec(&values, meta.shape.clone()).unwrap()
}

#[test]
fn an_optimizer_step_is_one_launch_over_all_that_it_keeps() {
    let text = "graph(%0: f32[40, 9], %1: variable f32[40, 9], %2: variable f32[40, 9], %3: variable f32[40, 9]) {
      %4 = mul(%2, 0.9) : f32[40, 9]  %5 = mul(%0, 0.1) : f32[40, 9]  %6 = add(%4, %5) : f32[40, 9]
      %7 = mul(%3, 0.99) : f32[40, 9]  %8 = mul(%0, %0) : f32[40, 9]  %9 = add(%7, %8) : f32[40, 9]
      %10 = sqrt(%9) : f32[40, 9]  %11 = add(%10, 0.001) : f32[40, 9]  %12 = div(%6, %11) : f32[40, 9]
      %13 = sub(%1, %12) : f32[40, 9]
      store %1 = %13 store %2 = %6 store %3 = %9
      return %0 }";
    assert_eq!(written(text), [0, 1, 2]);
    let plan = compile_onto(&graph(text), true, &|_| true).unwrap();
    assert_eq!((plan.n_launches(), plan.memory().peak), (1, 0), "{plan}");
    let first = compile_onto(&graph(text), true, &|it| it == 0).unwrap();
    assert_eq!(first.onto().iter().map(|it| it.store).collect::<Vec<_>>(), [0]);
}

#[test]
fn what_is_read_later_is_overwritten_later() {
    let swapped = "graph(%0: variable f32[5], %1: variable f32[5]) {
      %2 = mul(%1, 2) : f32[5] %3 = exp(%2) : f32[5]
      %4 = mul(%0, 3) : f32[5] %5 = sum(%4; dim=[0], keepdim=true) : f32[1] %6 = add(%5, %4) : f32[5]
      store %0 = %3 store %1 = %6 return %5 }";
    assert_eq!(written(swapped), [0, 1]);
    let both = "graph(%0: variable f32[5], %1: variable f32[5, 1]) {
      %2 = t_reshape(%1; shape=[5]) : f32[5] %3 = add(%0, %2) : f32[5]
      %4 = t_reshape(%0; shape=[5, 1]) : f32[5, 1] %5 = mul(%1, %4) : f32[5, 1]
      store %0 = %3 store %1 = %5 return }";
    assert_eq!(written(both).len(), 1, "each is read when the other is written");
}

#[test]
fn values_that_others_get_too_take_a_buffer() {
    let outputs = "graph(%0: variable f32[5]) { %1 = exp(%0) : f32[5] store %0 = %1 return %1 }";
    assert_eq!(written(outputs), [0; 0]);
    let before = "graph(%0: variable f32[5]) { %1 = exp(%0) : f32[5] store %0 = %1 return %0 }";
    assert_eq!(written(before), [0; 0]);
    let twice = "graph(%0: variable f32[5], %1: variable f32[5]) { %2 = exp(%0) : f32[5] store %0 = %2 store %1 = %2 return }";
    assert_eq!(written(twice), [0; 0]);
    let turned = "graph(%0: variable f32[3, 3]) { %1 = t_t(%0) : f32[3, 3] %2 = add(%0, %1) : f32[3, 3] store %0 = %2 return }";
    assert_eq!(written(turned), [0; 0]);
    let read = "graph(%0: variable f32[5]) { %1 = exp(%0) : f32[5] %2 = sum(%1; dim=[0], keepdim=false) : f32[] store %0 = %1 return %2 }";
    assert_eq!(written(read), [0; 0], "what comes after the write may be stopped");
}

#[test]
fn parts_are_written_where_they_lie() {
    let put = "graph(%0: variable f32[6, 5], %1: f32[1, 5]) {
      %2 = neg(%1) : f32[1, 5] %3 = slice_scatter(%0, %2; dim=0, start=2, stop=3) : f32[6, 5]
      %4 = slice_scatter(%3, %1; dim=0, start=4, stop=5) : f32[6, 5]
      store %0 = %4 return %2 }";
    assert_eq!(written(put), [0]);
}

#[test]
fn what_may_be_refused_is_known_before_anything_is_written() {
    let text = "graph(%0: variable i64[4], %1: variable i64[4], %2: i64[4]) {
      %3 = add(%1, 1) : i64[4] %4 = floor_divide(%0, %2) : i64[4]
      store %0 = %4 store %1 = %3 return }";
    let graph = graph(text);
    let plan = compile_onto(&graph, true, &|_| true).unwrap();
    assert_eq!(plan.onto().iter().map(|it| it.store).collect::<Vec<_>>(), [1]);
    let whole = |it: [i64; 4]| Tensor::from_vec(&it, crate::Shape::from([4])).unwrap();
    let inputs = [whole([8, 6, 4, 2]), Tensor::number(0.0), whole([1, 0, 1, 1])];
    let mut lent = [whole([1, 2, 3, 4])];
    let refused: Result<Option<Vec<Tensor>>> = plan.run_onto(&inputs, &mut lent, &mut |_| true);
    assert!(matches!(refused.unwrap_err().apart().0, Error::Attr { op: "integer division", .. }));
    assert_eq!(lent[0].to_vec::<i64>().unwrap(), [1, 2, 3, 4]);
}

#[test]
fn numbers_are_told_before_anything_is_written() {
    let text = "graph(%0: variable f32[3]) { %1 = sum(%0; dim=[0], keepdim=false) : f32[] %2 = exp(%0) : f32[3] store %0 = %2 return %1 }";
    let plan = compile_onto(&graph(text), true, &|_| true).unwrap();
    let lent = Tensor::from_vec(&[1.0_f32, 2.0, 4.0], crate::Shape::from([3])).unwrap();
    let mut lent = [lent];
    let mut told = Vec::new();
    let mut decide = |first: &dyn Fn(usize) -> Option<Number>| {
        told.extend([first(0), first(1)]);
        false
    };
    assert!(plan.run_onto(&[Tensor::number(0.0)], &mut lent, &mut decide).unwrap().is_none());
    assert_eq!(told[0], Some(Number::Float(7.0)));
    assert_eq!(lent[0].to_vec::<f32>().unwrap(), [1.0, 2.0, 4.0]);
}

/// A result that has to be copied is, before anything is written; an interrupt that comes with it leaves all as it was.
#[test]
fn an_interrupt_comes_before_anything_is_written_or_after_all() {
    let text = "graph(%0: variable f32[300, 300], %1: f32[300, 300]) {
      %2 = mul(%0, 2) : f32[300, 300] %3 = t_t(%1) : f32[300, 300]
      store %0 = %2 return %3 }";
    let (graph, flag) = (graph(text), Arc::new(AtomicBool::new(false)));
    let plan = compile_onto(&graph, true, &|_| true).unwrap();
    let inputs = [input(&graph, 0), input(&graph, 1)];
    let mut lent = [own(&inputs[0])];
    let _watching = interrupt::watch(flag.clone());
    flag.store(true, Ordering::Relaxed);
    let stopped = plan.run_onto(&inputs, &mut lent, &mut |_| true);
    assert!(matches!(stopped, Err(Error::Interrupted)), "{stopped:?}");
    assert_eq!(bits(&lent[0]), bits(&inputs[0]));
    let mut late = |_: &dyn Fn(usize) -> Option<Number>| {
        flag.store(true, Ordering::Relaxed);
        true
    };
    let stopped = plan.run_onto(&inputs, &mut lent, &mut late);
    assert!(matches!(stopped, Err(Error::Interrupted)), "{stopped:?}");
    assert_eq!(bits(&lent[0]), bits(&inputs[0]));
    let ran = plan.run_onto(&inputs, &mut lent, &mut |_| true).unwrap().unwrap();
    assert_eq!(bits(&ran[0]), bits(&op_by_op::run(&graph, &inputs).unwrap()[0]));
    assert_ne!(bits(&lent[0]), bits(&inputs[0]));
}

/// What is read late is not changed before that.
#[test]
fn what_a_launch_that_comes_last_reads_is_changed_behind_it() {
    let text = "graph(%0: variable f32[6, 5], %1: variable f32[6, 5], %2: f32[1, 5]) {
      %3 = mul(%0, 0.9) : f32[6, 5] %4 = sum(%3; dim=[0], keepdim=true) : f32[1, 5] %5 = add(%3, %4) : f32[6, 5]
      %6 = t_cumsum(%5; dim=0) : f32[6, 5] %7 = add(%1, %6) : f32[6, 5]
      %8 = slice_scatter(%6, %2; dim=0, start=3, stop=4) : f32[6, 5]
      store %0 = %8 store %1 = %7 return %4 }"
        .replace("t_cumsum", "cumsum");
    assert_eq!(written(&text), [1]);
    let seen = text.replace("return %4", "return %4, %8");
    assert_eq!(written(&seen), [0; 0], "it would be changed before it is read");
}

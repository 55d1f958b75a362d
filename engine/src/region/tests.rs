//! Branches and loops: recorded, printed, parsed, verified, planned, differentiated, and held to what they mean.

use std::slice::from_ref;

use super::*;
use crate::functional::{self, add, gt, lt, mul, sub, sum};
use crate::graph::{Value, op_by_op, verify};
use crate::model::Model;
use crate::ops::control::{cond as branch, while_loop as looping};
use crate::{
    Attr, Attrs, DType, Device, Layout, OpDef, Shape, apply, apply_one, autograd, ops, oracle,
};

fn vector(values: &[f64]) -> Tensor {
    Tensor::from_vec(values, Shape::from([values.len()])).unwrap()
}

fn number(value: f64) -> Tensor {
    Tensor::number(value)
}

fn op(name: &str) -> &'static OpDef {
    ops::find(name).unwrap()
}

fn unary(name: &str, x: &Tensor) -> Tensor {
    apply_one(op(name), std::slice::from_ref(x), &Attrs::new()).unwrap()
}

fn recorded(body: impl FnOnce() -> Vec<Tensor>) -> Recorded {
    let recording = Recording::begin();
    let outputs = body();
    recording.finish(&outputs).unwrap()
}

fn total(x: &Tensor) -> Tensor {
    sum(x, &[], false).unwrap()
}

/// `sin(x * w) + x` where the sum of `x` is positive, else `x * x * w`.
fn chosen(x: &Tensor, w: &Tensor) -> Tensor {
    let condition = gt(&total(x), &number(0.0)).unwrap();
    let then = recorded(|| vec![add(&unary("sin", &mul(x, w).unwrap()), x).unwrap()]);
    let orelse = recorded(|| vec![mul(&mul(x, x).unwrap(), w).unwrap()]);
    cond(&condition, then, orelse).unwrap().remove(0)
}

/// The same without regions.
fn chosen_plainly(x: &Tensor, w: &Tensor) -> Tensor {
    match total(x).item().unwrap().as_f64() > 0.0 {
        true => add(&unary("sin", &mul(x, w).unwrap()), x).unwrap(),
        false => mul(&mul(x, x).unwrap(), w).unwrap(),
    }
}

/// `x = x * w + x` while the sum of `x` is below 100; how often is the second result.
fn grown(x: &Tensor, w: &Tensor) -> Vec<Tensor> {
    let zero: Attrs = [Attr::ints(&[]), Attr::Int(0), Attr::None].into_iter().collect();
    let initial = [x.clone(), apply_one(op("full"), &[], &zero).unwrap()];
    let parameters =
        |it: &Recording| initial.clone().map(|x| it.parameter(x.meta(), x.device(), true));
    let recording = Recording::begin();
    let [x, _] = parameters(&recording);
    let test = recording.finish(&[lt(&total(&x), &number(100.0)).unwrap()]).unwrap();
    let recording = Recording::begin();
    let [x, n] = parameters(&recording);
    let next = add(&mul(&x, w).unwrap(), &x).unwrap();
    let body = recording.finish(&[next, add(&n, &Tensor::int_number(1)).unwrap()]).unwrap();
    while_loop(&initial, &test, &body).unwrap()
}

fn grown_plainly(x: &Tensor, w: &Tensor) -> Vec<Tensor> {
    let (mut x, mut n) = (x.clone(), 0);
    while total(&x).item().unwrap().as_f64() < 100.0 {
        x = add(&mul(&x, w).unwrap(), &x).unwrap();
        n += 1;
    }
    vec![x, Tensor::from_vec(&[n as i64], Shape::default()).unwrap()]
}

fn bits(tensors: &[Tensor]) -> Vec<Vec<u64>> {
    tensors
        .iter()
        .map(|it| it.to_f64_vec().unwrap().into_iter().map(f64::to_bits).collect())
        .collect()
}

fn gradients(result: &Tensor, leaves: &[Tensor]) -> Vec<Tensor> {
    let root = [(total(result), None)];
    let found = autograd::grad(&root, leaves, true, true).unwrap();
    found.into_iter().map(Option::unwrap).collect()
}

const GPU: Device = Device::Cuda(0);

fn cases_on(device: Device) -> Vec<[Tensor; 2]> {
    cases().into_iter().map(|it| it.map(|it| it.moved_to(device).unwrap())).collect()
}

fn cases() -> Vec<[Tensor; 2]> {
    let w = [0.7, -1.3, 2.0];
    [[1.0, 2.0, 0.5], [-1.0, -2.0, 0.25], [3.0, -0.5, 4.0]].map(|x| [vector(&x), vector(&w)]).into()
}

#[test]
fn both_branches_give_what_the_code_gives() {
    for [x, w] in [Device::Cpu, GPU].into_iter().flat_map(cases_on) {
        let leaves = [x.leaf(), w.leaf()];
        let (got, want) = (chosen(&leaves[0], &leaves[1]), chosen_plainly(&leaves[0], &leaves[1]));
        assert_eq!(got.device(), x.device());
        assert_eq!(bits(from_ref(&got)), bits(from_ref(&want)));
        let (got, want) = (gradients(&got, &leaves), gradients(&want, &leaves));
        assert_eq!(bits(&got), bits(&want));
        // And once more.
        let again = |it: &[Tensor]| gradients(&mul(&it[0], &it[1]).unwrap(), &leaves);
        let differs = oracle::graphs::differs(&again(&got), &again(&want));
        assert_eq!(differs, None);
    }
}

/// Gradients by differences.
fn slopes(f: impl Fn(&[Tensor; 2]) -> Tensor, at: &[Tensor; 2]) -> Vec<Vec<f64>> {
    let step = 1e-6;
    let moved = |which: usize, idx: usize, by: f64| {
        let mut inputs = at.clone();
        let mut values = inputs[which].to_f64_vec().unwrap();
        values[idx] += by;
        inputs[which] = vector(&values);
        total(&f(&inputs)).item().unwrap().as_f64()
    };
    let slope = |which, idx| (moved(which, idx, step) - moved(which, idx, -step)) / (2.0 * step);
    (0..2).map(|which| (0..3).map(|idx| slope(which, idx)).collect()).collect()
}

#[test]
fn gradients_agree_with_differences() {
    type Function = fn(&[Tensor; 2]) -> Tensor;
    let functions: [Function; 2] =
        [|it| chosen(&it[0], &it[1]), |it| grown(&it[0], &it[1]).remove(0)];
    for f in functions {
        for at in cases().iter().filter(|it| it[0].to_f64_vec().unwrap()[0] > 0.0) {
            let leaves = at.clone().map(|it| it.leaf());
            let got = gradients(&f(&leaves), &leaves);
            for (got, want) in got.iter().zip(slopes(f, at)) {
                for (a, b) in got.to_f64_vec().unwrap().iter().zip(want) {
                    assert!((a - b).abs() <= 1e-4 * (1.0 + b.abs()), "{a} instead of {b}");
                }
            }
        }
    }
}

#[test]
fn a_loop_gives_what_the_code_gives() {
    let on_each = [Device::Cpu, GPU].into_iter().flat_map(cases_on);
    for [x, w] in on_each.filter(|it| it[0].to_f64_vec().unwrap()[0] > 0.0) {
        let leaves = [x.leaf(), w.leaf()];
        let got = grown(&leaves[0], &leaves[1]);
        let want = grown_plainly(&leaves[0], &leaves[1]);
        assert_eq!(got[0].device(), x.device());
        assert_eq!(bits(&got), bits(&want));
        assert!(want[1].item().unwrap().as_i64() > 2);
        let got = gradients(&got[0], &leaves);
        assert_eq!(bits(&got), bits(&gradients(&want[0], &leaves)));
        let again = autograd::grad(&[(total(&got[0]), None)], &leaves, true, true);
        assert!(again.is_err(), "a second derivative through a loop is refused");
    }
}

/// Of what a branch does not read the gradient is zero, and what it makes of nothing has none.
#[test]
fn gradients_of_branches_make_tensors_of_nothing() {
    for [x, w] in [Device::Cpu, GPU].into_iter().flat_map(cases_on) {
        let (x, w, device) = (x.leaf(), w.leaf(), x.device());
        let ones =
            || apply::place::making_on(device, || functional::full(x.shape(), 1.0, DType::F64));
        let wave = || mul(&unary("sin", &x), &ones().unwrap()).unwrap();
        let condition = gt(&total(&x), &number(0.0)).unwrap();
        let then = recorded(|| vec![mul(&x, &w).unwrap()]);
        let y = cond(&condition, then, recorded(|| vec![wave()])).unwrap().remove(0);
        let got = gradients(&y, &[x.clone(), w.clone()]);
        let want = match condition.item().unwrap().as_f64() > 0.0 {
            true => gradients(&mul(&x, &w).unwrap(), &[x.clone(), w.clone()]),
            false => {
                let zeros = functional::full(x.shape(), 0.0, DType::F64).unwrap();
                vec![gradients(&wave(), from_ref(&x)).remove(0), zeros]
            }
        };
        assert_eq!(bits(&got), bits(&want));
        assert!(got.iter().all(|it| it.device() == device));
    }
}

/// What a region computes is on one device, and a branch gives the same kind of tensor whichever way it goes.
#[test]
fn a_region_runs_on_one_device() {
    let [x, w] = cases()[0].clone();
    let far = w.moved_to(GPU).unwrap();
    let refused = |result: Result<Vec<Tensor>>, what: &str| {
        let message = result.unwrap_err().to_string();
        assert!(message.contains(what), "{message}");
    };
    let recording = Recording::begin();
    let _ = unary("sin", &x);
    let mixed = apply_one(op("sin"), from_ref(&far), &Attrs::new());
    refused(mixed.map(|it| vec![it]), "computes on cpu and on cuda:0");
    drop(recording);
    let recording = Recording::begin();
    let moved = apply::place::to_device(&x, GPU);
    refused(moved.map(|it| vec![it]), "bring it there before");
    drop(recording);
    let there = gt(&total(&far), &number(0.0)).unwrap();
    let near = || recorded(|| vec![unary("sin", &x)]);
    refused(
        cond(&there, near(), recorded(|| vec![unary("sin", &far)])),
        "on cpu and the other on cuda:0",
    );
    // A condition does not take to a GPU what is computed elsewhere, nor does a bound.
    refused(cond(&there, near(), recorded(|| vec![x.clone()])), "reads a value on cuda:0");
    let (bound, initial) = (total(&far), [x.clone(), total(&x)]);
    let parameters =
        |it: &Recording| initial.clone().map(|x| it.parameter(x.meta(), Device::Cpu, true));
    let recording = Recording::begin();
    let [_, n] = parameters(&recording);
    let test = recording.finish(&[lt(&n, &bound).unwrap()]).unwrap();
    let recording = Recording::begin();
    let [x, n] = parameters(&recording);
    let body = recording.finish(&[mul(&x, &number(2.0)).unwrap(), add(&n, &n).unwrap()]).unwrap();
    refused(while_loop(&initial, &test, &body), "reads a value on cuda:0");
}

#[test]
fn a_loop_may_take_no_turn() {
    let x = vector(&[1000.0, 0.0, 0.0]).leaf();
    let w = vector(&[1.0, 2.0, 3.0]).leaf();
    let got = grown(&x, &w);
    assert_eq!(bits(&got[..1]), bits(from_ref(&x)));
    let got = gradients(&got[0], &[x, w]);
    assert_eq!(got[0].to_f64_vec().unwrap(), [1.0; 3]);
    assert_eq!(got[1].to_f64_vec().unwrap(), [0.0; 3]);
}

/// A graph of a branch, and a loop on what it gives.
fn graph() -> Graph {
    let recording = Recording::begin();
    let [x, w] = cases()[0].clone().map(|it| recording.parameter(it.meta(), it.device(), false));
    let y = unary("abs", &chosen(&x, &w));
    let [y, n]: [Tensor; 2] = grown(&y, &unary("abs", &w)).try_into().map_err(|_| ()).unwrap();
    recording.finish(&[y, n]).unwrap().graph
}

#[test]
fn the_listing_nests_and_parses_back() {
    let graph = graph();
    let text = graph.to_string();
    verify::verify(&graph).unwrap();
    let again = parse(&text, &[]).unwrap();
    verify::verify(&again).unwrap();
    assert_eq!(parse(&again.to_string(), &[]).unwrap().to_string(), again.to_string());
    assert!(
        text.contains(
            " = cond(%4, %0, %1; then=graph(%0: f64[3], %1: f64[3]) {\n      %2 = mul(%0, %1) : f64[3]\n"
        ),
        "{text}"
    );
    assert!(text.contains("\n    }, n_state=2) : f64[3], i64[]\n"), "{text}");
    // Numbers in the text may be others, the regions are the same.
    let regions = |it: &Graph| -> Vec<Attr> {
        let attrs = it.nodes().iter().filter_map(|it| it.attrs().cloned()).flatten();
        attrs.filter(|it| matches!(it, Attr::Region(_))).collect()
    };
    assert_eq!(regions(&graph), regions(&again));
    assert_eq!(regions(&graph).len(), 4);
}

#[test]
fn plans_give_the_bits_of_op_by_op_and_what_the_graph_means() {
    let graph = graph();
    for inputs in cases() {
        let meant = oracle::evaluate(&graph, &inputs).unwrap();
        let one_by_one = op_by_op::run(&graph, &inputs).unwrap();
        assert_eq!(oracle::graphs::differs(&one_by_one, &meant), None);
        for level in [0, 3] {
            let optimized = passes::optimize(graph.clone(), level, &mut Log::default()).unwrap();
            let plan = lower::compile(&optimized, level > 0).unwrap();
            assert_eq!(bits(&plan.run(&inputs).unwrap()), bits(&one_by_one));
        }
        let want = grown_plainly(
            &unary("abs", &chosen_plainly(&inputs[0], &inputs[1])),
            &unary("abs", &inputs[1]),
        );
        assert_eq!(bits(&one_by_one), bits(&want));
    }
}

#[test]
fn gradients_of_loops_mean_what_they_give() {
    let [x, w] = cases()[0].clone();
    let found = |body: &dyn Fn(&[Tensor; 2]) -> Tensor| {
        let leaves = [x.leaf(), w.leaf()];
        gradients(&body(&leaves), &leaves)
    };
    type Body<'a> = &'a dyn Fn(&[Tensor; 2]) -> Tensor;
    let bodies: [Body<'_>; 2] =
        [&|it| grown(&it[0], &it[1]).remove(0), &|it| chosen(&it[0], &it[1])];
    for body in bodies {
        let meant = oracle::interpreted(|| found(body));
        assert_eq!(oracle::graphs::differs(&found(body), &meant), None);
    }
}

#[test]
fn a_model_file_keeps_branches_and_loops() {
    let mut model = Model::new(graph(), &[], &[]).unwrap();
    model.add_test_case(&cases()[0]).unwrap();
    let read = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    for inputs in cases() {
        assert_eq!(bits(&read.run(&inputs).unwrap()), bits(&model.run(&inputs).unwrap()));
    }
}

#[test]
fn hostile_text_is_an_error() {
    let refused = |text: &str, why: &str| match parse(text, &[]) {
        Ok(graph) => panic!("{graph}"),
        Err(error) => assert!(error.to_string().contains(why), "{error}"),
    };
    let with = |then: &str, orelse: &str| {
        format!(
            "graph(%0: bool[], %1: f32[2]) {{ %2 = cond(%0, %1; then={then}, orelse={orelse}) : f32[2] return %2 }}"
        )
    };
    let same = "graph(%0: f32[2]) { return %0 }";
    assert!(parse(&with(same, same), &[]).is_ok());
    refused(&with(same, "graph(%0: f32[3]) { return %0 }"), "takes f32[3] as its input 0, f32[2]");
    refused(&with(same, "graph() { return }"), "takes 0 tensors, 1 are given");
    refused(&with(same, "graph(%0: f32[2]) { return }"), "gives 0 values, `then` gives 1");
    refused(
        &with(same, "graph(%0: f32[2]) { %1 = gt(%0, 1) : bool[2] return %1 }"),
        "gives bool[2] as its output 0, `then` gives f32[2]",
    );
    refused(&with(same, "graph(%0: variable f32[2]) { return %0 }"), "holds no tensors, variables");
    refused(
        &with(same, "graph(%0: f32[2]) { %1 = const(0) : f32[2] return %1 }"),
        "no such constant",
    );
    refused(&with(same, "graph(%0: f32[2]) { return %1 }"), "%1 is not defined here");
    refused(&with(same, "7"), "`orelse` cannot be 7");
    refused(&with(same, "none"), "must be a graph");
    refused(&with(same, "graph(%0: f32[2]) { "), "`%` is expected");
    let mut deep = same.to_owned();
    for _ in 0..40 {
        deep = format!(
            "graph(%0: f32[2]) {{ %1 = cond(%0, %0; then={deep}, orelse={same}) : f32[2] return %1 }}"
        );
    }
    refused(&with(&deep, same), "no graph may stand here");
    let looped = |body: &str, n: &str| {
        format!(
            "graph(%0: f32[1]) {{ %1 = while_loop(%0; condition=graph(%0: f32[1]) {{ %1 = lt(%0, 9) : bool[1] return %1 }}, body={body}, n_state={n}) : f32[1] return %1 }}"
        )
    };
    let next = "graph(%0: f32[1]) { %1 = add(%0, 1) : f32[1] return %1 }";
    assert!(parse(&looped(next, "1"), &[]).is_ok());
    refused(&looped(next, "0"), "must lie between 1 and");
    refused(&looped(next, "-3"), "must lie between 1 and");
    refused(&looped("graph(%0: f32[1]) { return }", "1"), "gives 0 values for a state of 1");
    refused(
        &looped("graph(%0: f32[1]) { %1 = gt(%0, 1) : bool[1] return %1 }", "1"),
        "makes bool[1] of state 0, which is f32[1]",
    );
}

#[test]
fn what_is_off_the_tape_stays_off() {
    let w = vector(&[2.0, 3.0, 4.0]);
    let through = |stops: &dyn Fn(&Tensor) -> Tensor, w: &Tensor| {
        let then = recorded(|| vec![mul(&stops(&unary("exp", w)), w).unwrap()]);
        let orelse = recorded(|| vec![w.clone()]);
        cond(&number(1.0), then, orelse).unwrap().remove(0)
    };
    let ways: [&dyn Fn(&Tensor) -> Tensor; 2] =
        [&Tensor::detach, &|it| autograd::no_grad(|| mul(it, &number(1.0)).unwrap())];
    for stops in ways {
        let leaf = w.leaf();
        let want = gradients(&mul(&stops(&unary("exp", &leaf)), &leaf).unwrap(), from_ref(&leaf));
        let got = gradients(&through(stops, &leaf), from_ref(&leaf));
        assert_eq!(bits(&got), bits(&want));
    }
    let leaf = w.leaf();
    let then = recorded(|| vec![unary("exp", &leaf.detach())]);
    let orelse = recorded(|| vec![leaf.detach()]);
    assert!(!cond(&number(1.0), then, orelse).unwrap()[0].requires_grad());
}

#[test]
fn branches_draw_what_the_code_draws() {
    let draw = |x: &Tensor| {
        let drawn =
            apply_one(op("rand_like"), std::slice::from_ref(x), &op("rand_like").default_attrs());
        mul(&drawn.unwrap(), x).unwrap()
    };
    let x = vector(&[1.0, 2.0, 3.0]);
    for taken in [true, false] {
        crate::random::seed(3);
        let want = if taken { draw(&x) } else { x.clone() };
        let state = crate::random::state();
        crate::random::seed(3);
        let (then, orelse) = (recorded(|| vec![draw(&x)]), recorded(|| vec![x.clone()]));
        assert!(then.draws() && !orelse.draws());
        let condition = Tensor::from_bools(&[taken], Shape::default()).unwrap();
        let got = cond(&condition, then, orelse).unwrap();
        assert_eq!(bits(&got), bits(&[want]));
        assert!(crate::random::state() == state);
    }
    // Draws are not run again for a gradient.
    let leaf = x.leaf();
    let (then, orelse) = (recorded(|| vec![draw(&leaf)]), recorded(|| vec![leaf.clone()]));
    let got = cond(&number(1.0), then, orelse).unwrap().remove(0);
    let error = autograd::grad(&[(total(&got), None)], &[leaf], true, false).unwrap_err();
    assert!(error.to_string().contains("draw them before"), "{error}");
}

#[test]
fn a_branch_that_only_draws_runs() {
    let draw = || drop(apply_one(op("rand"), &[], &op("rand").default_attrs()));
    crate::random::seed(3);
    draw();
    let state = crate::random::state();
    for taken in [1.0, 0.0] {
        crate::random::seed(3);
        let before = crate::random::state();
        let then = recorded(|| {
            draw();
            Vec::new()
        });
        assert!(cond(&number(taken), then, recorded(Vec::new)).unwrap().is_empty());
        assert!(crate::random::state() == if taken == 1.0 { state.clone() } else { before });
    }
}

#[test]
fn a_loop_is_stopped_by_an_interrupt() {
    use std::sync::atomic::AtomicBool;
    let text = "graph(%0: f32[1]) { %1 = while_loop(%0; condition=graph(%0: f32[1]) { %1 = ge(%0, 0) : bool[1] return %1 }, body=graph(%0: f32[1]) { %1 = mul(%0, 1) : f32[1] return %1 }, n_state=1) : f32[1] return %1 }";
    let graph = parse(text, &[]).unwrap();
    let input = Tensor::from_vec(&[1.0_f32], Shape::from([1])).unwrap();
    let plan = lower::compile(&graph, true).unwrap();
    let _watching = crate::cpu::interrupt::watch(Arc::new(AtomicBool::new(true)));
    assert!(matches!(plan.run(&[input]), Err(Error::Interrupted)));
}

#[test]
fn equal_regions_are_one_node() {
    let mut graph = Graph::new();
    let x = graph.input(DType::F64, Layout::contiguous(Shape::from([3])));
    let condition = graph.input(DType::Bool, Layout::contiguous(Shape::default()));
    let region = || {
        Attr::Region(parse_region("graph(%0: f64[3]) { %1 = exp(%0) : f64[3] return %1 }").unwrap())
    };
    let mut apply = || {
        let attrs: Attrs = [region(), region()].into_iter().collect();
        graph.apply_one(&branch::OP, &[condition, x], &attrs).unwrap()
    };
    let (a, b): (Value, Value) = (apply(), apply());
    assert_eq!(a, b);
    assert_eq!(looping::OP.name, "while_loop");
    let outside = apply::infer(&branch::OP, &[vector(&[1.0, 2.0])], &Attrs::new());
    assert!(outside.unwrap_err().to_string().contains("reduce it with .any()"));
    let minus = sub(&vector(&[1.0]), &vector(&[1.0])).unwrap();
    assert_eq!(minus.to_f64_vec().unwrap(), [0.0]);
}

#[test]
fn passes_and_strategies_leave_regions_right() {
    use crate::fastrun::{Strategy, set_strategy};
    let graph = graph();
    let [optimized, again] =
        [2, 3].map(|level| passes::optimize(graph.clone(), level, &mut Log::default()).unwrap());
    verify::verify(&optimized).unwrap();
    assert_eq!(optimized.to_string(), again.to_string());
    let text = graph.to_string();
    let inner = text[text.find("then=").unwrap()..text.find(", orelse").unwrap()].to_owned();
    assert!(
        optimized.to_string().contains(&inner),
        "regions are optimised where they are compiled"
    );
    let inputs = &cases()[0];
    let want = op_by_op::run(&graph, inputs).unwrap();
    let before = set_strategy(Strategy { reproducible: true, ..Strategy::default() });
    let got = op_by_op::run(&graph, inputs).unwrap();
    set_strategy(before);
    assert_eq!(bits(&got), bits(&want));
}

#[test]
fn what_a_region_refuses_is_said_where_it_stands() {
    let x = vector(&[1.0, 2.0]).leaf();
    let recording = Recording::begin();
    let read = x.detach();
    let hidden = mul(&read, &number(2.0)).unwrap();
    let problem = total(&hidden).item().unwrap_err().to_string();
    assert!(problem.contains("built symbolically"), "{problem}");
    let walked = autograd::backward(&[(total(&mul(&x, &x).unwrap()), None)], None, false, false);
    assert!(walked.unwrap_err().to_string().contains("backward() cannot stand"));
    drop(recording);
    assert!(!is_recording() && x.to_f64_vec().is_ok());
    let (then, orelse) = (recorded(|| vec![x.clone()]), recorded(|| vec![total(&x)]));
    let error = cond(&number(1.0), then, orelse).unwrap_err().to_string();
    assert!(error.contains("gives f64[] as its output 0, `then` gives f64[2]"), "{error}");
}

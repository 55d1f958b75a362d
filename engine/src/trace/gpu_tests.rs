//! Traced calls on a GPU: they give the bits of the same code run eagerly there, launch by launch and by recordings.

use super::alone_tests::run_alone;
use super::training_tests::{Trainer, bits, op, tensor};
use super::*;
use crate::functional::{add, linear, mul, num, sum};
use crate::{Shape, apply, apply_one, cuda, ops};

const GPU: Device = Device::Cuda(0);

fn sent(tensor: &Tensor) -> Tensor {
    tensor.moved_to(GPU).unwrap()
}

/// What a body gives on these arguments, traced.
fn called(function: &Traced, args: &[Tensor], body: impl FnOnce(&[Tensor]) -> Tensor) -> Finished {
    let call = function.begin(args).unwrap();
    let result = body(call.args());
    call.finish(&[result]).unwrap()
}

/// How many runs of plans were one launch of a recording.
fn n_replayed(function: &Traced) -> usize {
    let recorded = function.0.borrow();
    let segments = recorded.trees.iter().flat_map(|it| &it.steps).flat_map(|it| &it.segments);
    segments.filter_map(|it| it.1.plan.n_replayed()).sum()
}

#[test]
fn a_training_loop_is_the_same_traced_and_eager() {
    let (mut eager, mut traced) = (Trainer::on(GPU), Trainer::on(GPU));
    let function = Traced::new(Options::default());
    for step in 0..40 {
        let [x, y] = [tensor(&[4, 8], step), tensor(&[4, 3], step + 50)].map(|it| sent(&it));
        let expected = eager.train(&x, &y);
        let finished = called(&function, &[x, y], |args| traced.train(&args[0], &args[1]));
        assert_eq!(finished.results[0].device(), GPU);
        assert_eq!(bits(&finished.results[0]), bits(&expected), "loss of step {step}");
        for (got, expected) in traced.params.iter().zip(&eager.params) {
            assert_eq!(bits(got), bits(expected), "step {step}");
        }
        if step > 1 {
            assert_eq!((finished.stats.recorded, finished.stats.segments), (0, 1));
        }
        assert_eq!(finished.stats.walks, usize::from(step > 2), "step {step}");
    }
    assert_eq!(function.stats().branches, 1);
    let n = n_replayed(&function);
    assert!(n >= 12, "{n} steps by a recording");
}

#[test]
fn a_body_may_change_devices() {
    let w = sent(&tensor(&[3, 4], 1));
    let body = |x: &Tensor| {
        let near = op("tanh", &[&mul(x, &num(3.0)).unwrap()]);
        let far = apply::place::to_device(&near, GPU).unwrap();
        let far = op("relu", &[&linear(&far, &w, None).unwrap()]);
        let near = op("exp", &[&apply::place::to_device(&far, Device::Cpu).unwrap()]);
        let both = apply::place::to_device(&near, GPU).unwrap();
        sum(&add(&both, &far).unwrap(), &[], false).unwrap()
    };
    let function = Traced::new(Options::default());
    for step in 0..5 {
        let x = tensor(&[2, 4], step);
        let finished = called(&function, std::slice::from_ref(&x), |args| body(&args[0]));
        assert_eq!(bits(&finished.results[0]), bits(&body(&x)), "step {step}");
    }
    assert_eq!(function.stats().branches, 1);
}

#[test]
fn tensors_of_two_devices_are_two_signatures() {
    let function = Traced::new(Options::default());
    let body = |x: &Tensor| op("exp", &[&op("tanh", &[&mul(x, x).unwrap()])]);
    for step in 0..8 {
        let near = tensor(&[7], step);
        let x = if step % 2 == 0 { sent(&near) } else { near };
        let finished = called(&function, std::slice::from_ref(&x), |args| body(&args[0]));
        assert_eq!(finished.results[0].device(), x.device());
        assert_eq!(bits(&finished.results[0]), bits(&body(&x)), "step {step}");
    }
    assert_eq!(function.paths().len(), 2);
}

#[test]
fn random_numbers_go_on_as_they_do_eagerly() {
    let dropout = ops::find("dropout").unwrap();
    let body = |x: &Tensor| {
        let drop = |x| apply(dropout, &[x], &dropout.default_attrs()).unwrap().remove(0);
        let hidden = op("tanh", &[&drop(op("exp", &[x]))]);
        sum(&mul(&drop(hidden), x).unwrap(), &[1], false).unwrap()
    };
    let x = sent(&tensor(&[40, 30], 3));
    let rand = ops::find("rand_like").unwrap();
    let draw = || apply_one(rand, std::slice::from_ref(&x), &rand.default_attrs()).unwrap();
    let along = |mut body: Box<dyn FnMut() -> Tensor + '_>| -> Vec<_> {
        cuda::seed(5);
        (0..7).map(|_| (bits(&body()), bits(&draw()))).collect()
    };
    // Other tests of this process may draw from the same stream in between.
    let found = (0..10).find_map(|_| {
        let eager = along(Box::new(|| body(&x)));
        let function = Traced::new(Options::default());
        let call = || called(&function, std::slice::from_ref(&x), |it| body(&it[0]));
        let traced = along(Box::new(|| call().results.remove(0)));
        (eager == traced).then_some(eager)
    });
    let eager = found.expect("the same numbers");
    assert_ne!(eager[0], eager[1]);
}

#[test]
fn what_a_recording_refuses_is_told_where_it_is_read() {
    let table = sent(&tensor(&[6, 3], 1));
    let body = |places: &Tensor| {
        let rows = op("embedding", &[places, &table]);
        sum(&op("exp", &[&op("tanh", &[&rows])]), &[0], false).unwrap()
    };
    let function = Traced::new(Options::default());
    for step in 0..8 {
        let last = if step == 6 { 9 } else { step % 6 };
        let places = sent(&Tensor::from_vec(&[0_i64, 5, last], Shape::from([3])).unwrap());
        let finished = called(&function, std::slice::from_ref(&places), |args| body(&args[0]));
        let read = finished.results[0].to_vec::<f32>();
        match step {
            6 => {
                let problem = read.unwrap_err().to_string();
                assert!(problem.contains("out of range"), "{problem}");
            }
            _ => assert_eq!(bits(&finished.results[0]), bits(&body(&places)), "step {step}"),
        }
    }
}

#[test]
fn a_function_runs_alone_on_a_gpu() {
    let function = Traced::new(Options { capture_as_const: true, ..Options::default() });
    let w = sent(&tensor(&[3, 4], 1));
    let body = |x: &Tensor| op("relu", &[&op("tanh", &[&linear(x, &w, None).unwrap()])]);
    let x = sent(&tensor(&[2, 4], 2));
    called(&function, std::slice::from_ref(&x), |args| body(&args[0]));
    for step in 0..5 {
        let x = sent(&tensor(&[2, 4], step));
        let ran = run_alone(&function, std::slice::from_ref(&x), &|_| None).unwrap();
        assert_eq!(bits(&ran.results[0]), bits(&body(&x)));
    }
}

#[test]
fn a_graph_built_without_running_is_one_for_the_gpu() {
    let function = Traced::new(Options { symbolic: true, ..Options::default() });
    let body = |x: &Tensor| op("exp", &[&op("tanh", &[&mul(x, x).unwrap()])]);
    for step in 0..3 {
        let x = sent(&tensor(&[7], step));
        let finished = called(&function, std::slice::from_ref(&x), |args| body(&args[0]));
        assert_eq!(bits(&finished.results[0]), bits(&body(&x)));
    }
    let moving = Traced::new(Options { symbolic: true, ..Options::default() });
    let call = moving.begin(&[tensor(&[7], 1)]).unwrap();
    let x = op("exp", &[&call.args()[0]]);
    let problem = apply::place::to_device(&x, GPU).unwrap_err().to_string();
    assert!(problem.contains("a graph stays on the device where it runs"), "{problem}");
}

/// A batch that is sent in the body comes from outside, and the numbers that follow go along.
#[test]
fn a_batch_may_be_sent_in_the_body() {
    let function = Traced::new(Options::default());
    for step in 0..6 {
        let x = tensor(&[3, 5], step);
        let run = |x: &Tensor| {
            let there = apply::place::to_device(x, GPU).unwrap();
            let scaled = mul(&there, &num(0.5 + step as f64)).unwrap();
            apply_one(
                ops::find("softmax").unwrap(),
                &[op("exp", &[&scaled])],
                &smallvec::smallvec![crate::Attr::Int(-1), crate::Attr::None],
            )
            .unwrap()
        };
        let finished = called(&function, &[], |_| run(&x));
        assert_eq!(bits(&finished.results[0]), bits(&run(&x)), "step {step}");
    }
    assert_eq!(function.stats().branches, 1);
}

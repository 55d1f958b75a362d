//! Whole training steps: forward, backward and update in one traced call, against the same code run eagerly.

use super::alone_tests::run_alone;
use super::*;
use crate::autograd::{Place, backward, grad};
use crate::functional::{add, linear, mean, mul, num, sub, sum};
use crate::{DType, Number, Shape, apply_one, ops};

pub(super) fn tensor(shape: &[usize], seed: usize) -> Tensor {
    let shape = Shape::new(shape);
    let value = |it: usize| (((it + 1) * (seed + 3) * 37) % 101) as f32 / 101.0 - 0.5;
    let values: Vec<f32> = (0..shape.numel()).map(value).collect();
    Tensor::from_vec(&values, shape).unwrap()
}

pub(super) fn op(name: &str, inputs: &[&Tensor]) -> Tensor {
    let op = ops::find(name).unwrap();
    let inputs: Vec<Tensor> = inputs.iter().map(|it| (*it).clone()).collect();
    apply_one(op, &inputs, &op.default_attrs()).unwrap()
}

/// Two layers with Adam.
#[derive(Clone)]
pub(super) struct Trainer {
    pub(super) params: Vec<Tensor>,
    means: Vec<Tensor>,
    squares: Vec<Tensor>,
    step: i32,
}

impl Trainer {
    fn new() -> Self {
        Self::on(Device::Cpu)
    }

    pub(super) fn on(device: Device) -> Self {
        let params = [tensor(&[16, 8], 1), tensor(&[16], 2), tensor(&[3, 16], 3), tensor(&[3], 4)];
        let params = params.map(|it| it.moved_to(device).unwrap());
        let zeros = |it: &Tensor| mul(it, &num(0.0)).unwrap();
        let means = params.iter().map(zeros).collect();
        let squares = params.iter().map(zeros).collect();
        let params = params.iter().map(Tensor::leaf).collect();
        Self { params, squares, means, step: 0 }
    }

    pub(super) fn train(&mut self, x: &Tensor, y: &Tensor) -> Tensor {
        let p = &self.params;
        let hidden = op("tanh", &[&linear(x, &p[0], Some(&p[1])).unwrap()]);
        let error = sub(&linear(&hidden, &p[2], Some(&p[3])).unwrap(), y).unwrap();
        let loss = mean(&mul(&error, &error).unwrap(), &[0, 1], false).unwrap();
        let grads = backward(&[(loss.clone(), None)], None, false, false).unwrap();
        self.step += 1;
        autograd_off(|| self.update(&grads));
        loss.detach()
    }

    fn update(&mut self, grads: &[(Place, Tensor)]) {
        let (b1, b2) = (0.9_f64, 0.999_f64);
        let (c1, c2) = (1.0 - b1.powi(self.step), 1.0 - b2.powi(self.step));
        for idx in 0..self.params.len() {
            let id = self.params[idx].edge().unwrap().id();
            let grad = &grads.iter().find(|it| it.0.0 == id).unwrap().1;
            let lerp = |old: &Tensor, new: &Tensor, b: f64| {
                add(&mul(old, &num(b)).unwrap(), &mul(new, &num(1.0 - b)).unwrap()).unwrap()
            };
            self.means[idx] = lerp(&self.means[idx], grad, b1);
            self.squares[idx] = lerp(&self.squares[idx], &mul(grad, grad).unwrap(), b2);
            let root = op("sqrt", &[&mul(&self.squares[idx], &num(1.0 / c2)).unwrap()]);
            let ratio = op("div", &[&self.means[idx], &add(&root, &num(1e-8)).unwrap()]);
            let step = mul(&ratio, &num(0.01 / c1)).unwrap();
            self.params[idx] = sub(&self.params[idx].detach(), &step).unwrap().leaf();
        }
    }
}

fn autograd_off<R>(body: impl FnOnce() -> R) -> R {
    crate::autograd::no_grad(body)
}

pub(super) fn bits(tensor: &Tensor) -> Vec<u32> {
    tensor.to_vec::<f32>().unwrap().iter().map(|it| it.to_bits()).collect()
}

#[test]
fn a_training_loop_is_the_same_traced_and_eager() {
    let (mut eager, mut traced) = (Trainer::new(), Trainer::new());
    let function = Traced::new(Options::default());
    for step in 0..20 {
        let (x, y) = (tensor(&[4, 8], step), tensor(&[4, 3], step + 50));
        let expected = eager.train(&x, &y);
        let call = function.begin(&[x, y]).unwrap();
        let args = call.args().to_vec();
        let loss = traced.train(&args[0], &args[1]);
        let finished = call.finish(&[loss]).unwrap();
        assert_eq!(bits(&finished.results[0]), bits(&expected), "loss of step {step}");
        for (got, expected) in traced.params.iter().zip(&eager.params) {
            assert_eq!(bits(got), bits(expected), "step {step}");
        }
        if step > 1 {
            assert_eq!((finished.stats.recorded, finished.stats.segments), (0, 1));
        }
        // One call replays the walk, the next takes it as one event.
        assert_eq!(finished.stats.walks, usize::from(step > 2), "step {step}");
    }
    let stats = function.stats();
    assert_eq!(stats.branches, 1, "the step count of Adam makes no branches");
}

#[test]
fn a_loss_read_in_the_body_ends_a_segment() {
    let (mut eager, mut traced) = (Trainer::new(), Trainer::new());
    let function = Traced::new(Options::default());
    for step in 0..6 {
        let (x, y) = (tensor(&[4, 8], step), tensor(&[4, 3], step + 50));
        let expected = eager.train(&x, &y);
        let call = function.begin(&[x, y]).unwrap();
        let args = call.args().to_vec();
        let loss = traced.train(&args[0], &args[1]);
        let Number::Float(seen) = loss.item().unwrap() else { panic!("a float") };
        let rest = sum(&loss, &[], false).unwrap();
        let finished = call.finish(&[rest]).unwrap();
        assert_eq!((seen as f32).to_bits(), bits(&expected)[0]);
        assert_eq!(bits(&finished.results[0]), bits(&expected));
        for (got, expected) in traced.params.iter().zip(&eager.params) {
            assert_eq!(bits(got), bits(expected), "step {step}");
        }
    }
    assert_eq!(function.stats().branches, 1);
}

#[test]
fn gradients_outside_the_call_use_what_it_saved() {
    let function = Traced::new(Options::default());
    for step in 0..4 {
        let x = tensor(&[5], step).leaf();
        let run = |x: &Tensor| op("tanh", &[&mul(&op("exp", &[x]), x).unwrap()]);
        let expected = grad(
            &[(sum(&run(&x), &[], false).unwrap(), None)],
            std::slice::from_ref(&x),
            false,
            false,
        );
        let call = function.begin(std::slice::from_ref(&x)).unwrap();
        let seen = call.args()[0].clone();
        let res = call.finish(&[run(&seen)]).unwrap().results.remove(0);
        let got = grad(&[(sum(&res, &[], false).unwrap(), None)], &[x], false, false);
        let (got, expected) =
            (got.unwrap().remove(0).unwrap(), expected.unwrap().remove(0).unwrap());
        assert_eq!(bits(&got), bits(&expected));
    }
    assert_eq!(function.stats().branches, 1);
}

#[test]
fn shapes_that_depend_on_values_run_eagerly() {
    let function = Traced::new(Options::default());
    for values in
        [[1.0, 0.0, 2.0], [3.0, 4.0, 5.0], [0.0, 0.0, 6.0], [1.0, 0.0, 2.0], [3.0, 4.0, 5.0]]
    {
        let x = Tensor::from_vec(&values, Shape::from([3])).unwrap();
        let call = function.begin(std::slice::from_ref(&x)).unwrap();
        let doubled = mul(&call.args()[0], &num(2.0)).unwrap();
        let at = op("nonzero", &[&doubled]);
        let res = add(&at, &Tensor::int_number(10)).unwrap();
        let res = call.finish(&[res]).unwrap().results.remove(0);
        let expected: Vec<f64> =
            (0..3).filter(|&it| values[it] != 0.0).map(|it| it as f64 + 10.0).collect();
        assert_eq!((res.to_f64_vec().unwrap(), res.dtype()), (expected, DType::I64));
    }
    assert_eq!(function.stats().branches, 3);
}

/// The example of MegEngine's documentation of `exclude_from_trace`.
#[test]
fn exclusion_example() {
    let function = Traced::new(Options::default());
    let mut shown = Vec::new();
    for i in 0..3 {
        let x = Tensor::from_vec(&[1_i32], Shape::from([1])).unwrap();
        let call = function.begin(&[x]).unwrap();
        let mut x = add(&call.args()[0], &Tensor::int_number(1)).unwrap();
        let guard = exclude().unwrap();
        if i % 2 == 0 {
            x = add(&x, &Tensor::int_number(1)).unwrap();
        }
        drop(guard);
        let res = call.finish(&[x]).unwrap().results.remove(0);
        shown.push(res.to_vec::<i32>().unwrap()[0]);
    }
    assert_eq!(shown, [3, 2, 3]);
}

#[test]
fn a_recorded_function_shows_its_stages_and_runs_alone() {
    let function = Traced::new(Options { capture_as_const: true, ..Options::default() });
    let (w, x) = (tensor(&[3, 4], 1), tensor(&[2, 4], 2));
    let body = |x: &Tensor| op("relu", &[&op("relu", &[&linear(x, &w, None).unwrap()])]);
    let call = function.begin(std::slice::from_ref(&x)).unwrap();
    let expected = body(&call.args()[0].clone());
    call.finish(std::slice::from_ref(&expected)).unwrap();
    assert_eq!(bits(&run_alone(&function, &[x], &|_| None).unwrap().results[0]), bits(&expected));
    let raw = function.graph(0).unwrap();
    let (optimized, log) = function.optimized(0).unwrap();
    assert!(raw.n_ops() > optimized.n_ops());
    assert!(log.entries.iter().any(|it| it.rule == "relu-relu"), "{log:?}");
    assert!(function.plan(0).unwrap().to_string().contains("then [relu]"));
    assert!(run_alone(&function, &[w], &|_| None).is_err());
}

/// A small convolutional network: forward, loss, backward, plain descent.
#[test]
fn a_convolutional_step_is_the_same_traced_and_eager() {
    let target = Tensor::from_vec(&[0_i64, 2, 1], Shape::from([3])).unwrap();
    let step = |params: &mut Vec<Tensor>, x: &Tensor| -> Tensor {
        let hidden = op("relu", &[&op("conv2d", &[x, &params[0], &params[1]])]);
        let flat = crate::functional::reshape(&hidden, &Shape::from([3, 4 * 36])).unwrap();
        let probs = op("cross_entropy", &[&linear(&flat, &params[2], None).unwrap(), &target]);
        let grads = backward(&[(probs.clone(), None)], None, false, false).unwrap();
        autograd_off(|| {
            for param in params.iter_mut() {
                let id = param.edge().unwrap().id();
                let grad = &grads.iter().find(|it| it.0.0 == id).unwrap().1;
                let change = mul(grad, &num(0.1)).unwrap();
                *param = sub(&param.detach(), &change).unwrap().leaf();
            }
        });
        probs.detach()
    };
    let fresh = || -> Vec<Tensor> {
        [tensor(&[4, 2, 3, 3], 1), tensor(&[4], 2), tensor(&[3, 4 * 36], 3)]
            .map(|it| it.leaf())
            .into()
    };
    let (mut eager, mut traced) = (fresh(), fresh());
    let function = Traced::new(Options::default());
    for at in 0..4 {
        let x = tensor(&[3, 2, 8, 8], at);
        let expected = step(&mut eager, &x);
        let call = function.begin(std::slice::from_ref(&x)).unwrap();
        let seen = call.args()[0].clone();
        let loss = step(&mut traced, &seen);
        let loss = call.finish(&[loss]).unwrap().results.remove(0);
        assert_eq!(bits(&loss), bits(&expected), "step {at}");
        for (got, expected) in traced.iter().zip(&eager) {
            assert_eq!(bits(got), bits(expected), "step {at}");
        }
    }
    assert_eq!(function.stats().branches, 1);
}

/// Passes decide for two sizes of a batch; from the third on they need not run, and what is computed has the bits of eager execution.
#[test]
fn steps_on_batches_of_many_sizes_share_what_the_passes_made() {
    for verifies in [true, false] {
        steps_on_batches_of_many_sizes(verifies);
    }
}

fn steps_on_batches_of_many_sizes(verifies: bool) {
    let traced = Traced::new(Options::default());
    if !verifies {
        traced.0.borrow().recipes.borrow_mut().trust();
    }
    let (mut eager, mut beside) = (Trainer::new(), Trainer::new());
    for rows in [20, 21, 22, 23, 24, 25] {
        for again in 0..3 {
            let (x, y) = (tensor(&[rows, 8], rows + again), tensor(&[rows, 3], again));
            let call = traced.begin(&[x.clone(), y.clone()]).unwrap();
            let loss = beside.train(&call.args()[0], &call.args()[1]);
            let loss = call.finish(&[loss]).unwrap().results.remove(0);
            assert!(loss.has_bits_of(&eager.train(&x, &y)), "{rows}");
        }
    }
    for (a, b) in eager.params.iter().zip(&beside.params) {
        assert!(a.has_bits_of(b));
    }
    let recorded = traced.0.borrow();
    assert_eq!((recorded.trees.len(), recorded.recipes.borrow().n_used()), (6, 4));
}

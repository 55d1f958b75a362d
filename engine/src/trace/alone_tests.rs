//! Training steps as graphs: they run without the body, read and write variables, and train as eager code does.

use super::training_tests::{bits, op, tensor};
use super::*;
use crate::autograd::{backward, no_grad};
use crate::functional::{add, linear, mean, mul, num, sub};
use crate::graph::{Graph, Kind, parse, text, verify};
use crate::{Shape, apply, ops, random};

/// Two layers with dropout, and descent with momentum.
pub(super) struct Descent {
    params: Vec<Tensor>,
    velocities: Vec<Tensor>,
    /// The gradients of the latest step.
    pub(super) grads: Vec<Tensor>,
    /// The loss of the step before; steps only write it.
    last: Tensor,
}

impl Descent {
    pub(super) fn new() -> Self {
        let shapes: [&[usize]; 3] = [&[16, 8], &[16], &[3, 16]];
        let made = |seed: usize| (seed..).zip(shapes).map(|(seed, it)| tensor(it, seed));
        Self {
            params: made(1).collect(),
            velocities: made(5).collect(),
            grads: Vec::new(),
            last: tensor(&[], 0),
        }
    }

    pub(super) fn variables(&self) -> Vec<Tensor> {
        self.params.iter().chain(&self.velocities).chain([&self.last]).cloned().collect()
    }

    fn set(&mut self, values: Vec<Tensor>) {
        let n = self.params.len();
        self.params = values[..n].to_vec();
        self.velocities = values[n..2 * n].to_vec();
        self.last = values[2 * n].clone();
    }

    pub(super) fn step(&mut self, x: &Tensor, y: &Tensor) -> Tensor {
        let leaves: Vec<Tensor> = self.params.iter().map(Tensor::leaf).collect();
        let hidden = op("tanh", &[&linear(x, &leaves[0], Some(&leaves[1])).unwrap()]);
        let dropout = ops::find("dropout").unwrap();
        let hidden = apply(dropout, &[hidden], &dropout.default_attrs()).unwrap().remove(0);
        let error = sub(&linear(&hidden, &leaves[2], None).unwrap(), y).unwrap();
        let loss = mean(&mul(&error, &error).unwrap(), &[0, 1], false).unwrap();
        let grads = backward(&[(loss.clone(), None)], None, false, false).unwrap();
        let grad = |leaf: &Tensor| {
            let id = leaf.edge().unwrap().id();
            grads.iter().find(|it| it.0.0 == id).unwrap().1.clone()
        };
        self.grads = leaves.iter().map(grad).collect();
        no_grad(|| {
            for (at, grad) in self.grads.iter().enumerate() {
                let kept = mul(&self.velocities[at], &num(0.9)).unwrap();
                self.velocities[at] = add(&kept, grad).unwrap();
                let change = mul(&self.velocities[at], &num(0.1)).unwrap();
                self.params[at] = sub(&self.params[at], &change).unwrap();
            }
        });
        self.last = loss.detach();
        self.last.clone()
    }
}

pub(super) fn batch(at: usize) -> [Tensor; 2] {
    [tensor(&[4, 8], at), tensor(&[4, 3], at + 50)]
}

/// The path for these arguments without its body.
pub(super) fn run_alone(
    function: &Traced,
    args: &[Tensor],
    variable: &dyn Fn(usize) -> Option<Tensor>,
) -> Result<Ran> {
    function.alone(args)?.run(args, &Now::with(variable))
}

/// These variables as a run without the body asks for them.
fn given(variables: &[Tensor]) -> impl Fn(usize) -> Option<Tensor> {
    move |at| variables.get(at).cloned()
}

/// The first step, recorded, and its loss.
fn recorded(trained: &mut Descent) -> (Traced, Tensor) {
    let (function, mut results) = recorded_with(trained, false);
    (function, results.remove(0))
}

/// The first step, recorded, its loss, and the gradients where they are results, too.
pub(super) fn recorded_with(trained: &mut Descent, grads: bool) -> (Traced, Vec<Tensor>) {
    let function = Traced::new(Options::default());
    let before: Vec<Place> = trained.variables().iter().map(Place::of).collect();
    let call = function.begin(&batch(0)).unwrap();
    let args = call.args().to_vec();
    let loss = trained.step(&args[0], &args[1]);
    let stores: Vec<_> = before.into_iter().zip(trained.variables()).collect();
    let mut results = vec![loss];
    results.extend(trained.grads.drain(..).filter(|_| grads));
    (function, call.finish_storing(&results, Some(&stores)).unwrap().results)
}

/// The losses of eight eager steps with random numbers from a seed, and what the variables hold after each.
pub(super) fn eager_steps(seed: u64) -> Vec<(Vec<u32>, Vec<Vec<u32>>)> {
    random::seed(seed);
    let mut eager = Descent::new();
    let step = |at| {
        let [x, y] = batch(at);
        (bits(&eager.step(&x, &y)), eager.variables().iter().map(bits).collect())
    };
    (0..8).map(step).collect()
}

#[test]
fn a_training_step_runs_without_its_body() {
    let expected = eager_steps(3);
    random::seed(3);
    let mut trained = Descent::new();
    let (function, mut loss) = recorded(&mut trained);
    for (at, (expected, variables)) in expected.iter().enumerate() {
        if at > 0 {
            let mut ran = run_alone(&function, &batch(at), &given(&trained.variables())).unwrap();
            trained.set(ran.stored.into_iter().map(|it| it.1).collect());
            loss = ran.results.remove(0);
        }
        assert_eq!(bits(&loss), *expected, "loss of step {at}");
        let now: Vec<Vec<u32>> = trained.variables().iter().map(bits).collect();
        assert_eq!(now, *variables, "after step {at}");
    }
}

#[test]
fn its_graph_holds_variables_and_stores() {
    let (function, _) = recorded(&mut Descent::new());
    for graph in [function.graph(0).unwrap(), function.optimized(0).unwrap().0] {
        verify::verify(&graph).unwrap();
        let is_variable = |id: &&u32| matches!(graph.node(**id).kind, Kind::Variable { .. });
        let variables: Vec<u32> = graph.inputs().iter().filter(is_variable).copied().collect();
        let mut stored: Vec<u32> = graph.stores.iter().map(|it| it.variable).collect();
        stored.sort_unstable();
        assert_eq!((graph.inputs().len(), variables.len(), stored), (9, 7, variables));
        let parsed = |it: &Graph| parse::parse(&it.to_string(), &text::constants(it)).unwrap();
        let again = parsed(&graph);
        assert_eq!((again.n_ops(), again.stores.len()), (graph.n_ops(), 7));
        assert_eq!(parsed(&again).to_string(), again.to_string());
    }
}

#[test]
fn what_cannot_run_alone_says_why() {
    let mut trained = Descent::new();
    let (function, _) = recorded(&mut trained);
    let problem = |args: &[Tensor], variables: &[Tensor]| {
        run_alone(&function, args, &given(variables)).unwrap_err().to_string()
    };
    let of_others = problem(&batch(1)[..1], &trained.variables());
    assert!(of_others.contains("nothing is recorded for these arguments"), "{of_others}");
    let missing = problem(&batch(1), &trained.variables()[..6]);
    assert!(
        missing.contains("each variable that it reads or stores to has to be given"),
        "{missing}"
    );
    let mut wrong = trained.variables();
    wrong.swap(0, 1);
    let wrong = problem(&batch(1), &wrong);
    assert!(wrong.contains("is f32[16, 8], got f32[16]"), "{wrong}");
    let other = Traced::new(Options::default());
    let call = other.begin(&batch(0)).unwrap();
    let args = call.args().to_vec();
    let loss = trained.step(&args[0], &args[1]);
    call.finish(&[loss]).unwrap();
    let captured = run_alone(&other, &batch(1), &given(&[])).unwrap_err().to_string();
    assert!(captured.contains("it uses tensors that are not known outside"), "{captured}");
}

/// A caller that did not look while a path was recorded may tell later; it is asked until then.
#[test]
fn a_later_call_may_tell_what_is_stored() {
    let function = Traced::new(Options::default());
    let mut state = tensor(&[4], 1);
    for at in 0..4 {
        let x = tensor(&[4], at + 2);
        let call = function.begin(std::slice::from_ref(&x)).unwrap();
        assert_eq!(call.asks_for_stores(), at < 3);
        let before = Place::of(&state);
        state = add(&state, &call.args()[0]).unwrap();
        let stores = [(before, state.clone())];
        call.finish_storing(&[], (at == 2).then_some(&stores[..])).unwrap();
        let ran =
            run_alone(&function, std::slice::from_ref(&x), &given(std::slice::from_ref(&state)));
        assert_eq!(ran.is_ok(), at >= 2);
        if let Ok(ran) = ran {
            assert_eq!(bits(&ran.stored[0].1), bits(&add(&state, &x).unwrap()));
        }
    }
}

/// An argument that the body writes is a variable, and so is one that gets a value of another shape: that is refused.
#[test]
fn arguments_may_be_variables() {
    let function = Traced::new(Options::default());
    let record = |x: &Tensor, after: fn(&Tensor) -> Tensor| {
        let call = function.begin(std::slice::from_ref(x)).unwrap();
        let seen = call.args()[0].clone();
        let stores = [(Place::of(&seen), after(&seen))];
        call.finish_storing(&[], Some(&stores)).unwrap();
    };
    let x = tensor(&[4], 1);
    record(&x, |x| add(x, &num(1.0)).unwrap());
    let ran = run_alone(&function, std::slice::from_ref(&x), &given(&[])).unwrap();
    assert_eq!(bits(&ran.stored[0].1), bits(&add(&x, &num(1.0)).unwrap()));
    let other = tensor(&[2], 1);
    record(&other, |x| op("sum", &[x]));
    let error = run_alone(&function, &[other], &given(&[])).unwrap_err().to_string();
    assert!(error.contains("is f32[2], but f32[] is stored to it"), "{error}");
}

/// What the body only reads is an input, what it does not see is none, and each next value comes with the place of its variable.
#[test]
fn variables_may_be_read_only_or_unused() {
    let function = Traced::new(Options::default());
    let (unused, scale) = (tensor(&[3], 7), tensor(&[4], 8));
    let mut state = tensor(&[4], 1);
    let x = tensor(&[4], 2);
    let call = function.begin(std::slice::from_ref(&x)).unwrap();
    let all = |state: &Tensor| [unused.clone(), scale.clone(), state.clone()];
    let before = all(&state).each_ref().map(Place::of);
    state = add(&state, &mul(&call.args()[0], &scale).unwrap()).unwrap();
    let stores: Vec<_> = before.into_iter().zip(all(&state)).collect();
    call.finish_storing(&[], Some(&stores)).unwrap();
    let other = tensor(&[4], 9);
    let variables = [unused, other.clone(), state.clone()];
    let asked = RefCell::new(Vec::new());
    let ran = run_alone(&function, std::slice::from_ref(&x), &|at| {
        asked.borrow_mut().push(at);
        Some(variables[at].clone())
    });
    let stored = ran.unwrap().stored;
    assert_eq!((stored.len(), stored[0].0, asked.into_inner()), (1, 2, vec![1, 2]));
    let expected = add(&state, &mul(&x, &other).unwrap()).unwrap();
    assert_eq!(bits(&stored[0].1), bits(&expected));
}

/// Two variables with the same elements at first may differ later, and no recording tells which of them was read.
#[test]
fn shared_elements_are_refused_where_one_is_stored_to() {
    let function = Traced::new(Options::default());
    let shared = tensor(&[4], 1);
    let call = function.begin(&[]).unwrap();
    let after = add(&shared, &num(1.0)).unwrap();
    let stores = [(Place::of(&shared), after.clone()), (Place::of(&shared), shared.clone())];
    call.finish_storing(&[], Some(&stores)).unwrap();
    let problem = run_alone(&function, &[], &|_| Some(shared.clone())).unwrap_err().to_string();
    assert!(problem.contains("whose elements another one shares"), "{problem}");
}

/// Of two paths the one runs that the latest call took.
#[test]
fn the_latest_path_runs() {
    let function = Traced::new(Options::default());
    let x = tensor(&[4], 1);
    for factor in [2.0, 3.0, 2.0] {
        let call = function.begin(std::slice::from_ref(&x)).unwrap();
        let seen = call.args()[0].clone();
        let res = match factor == 2.0 {
            true => op("tanh", &[&seen]),
            false => op("exp", &[&seen]),
        };
        call.finish_storing(std::slice::from_ref(&res), Some(&[])).unwrap();
        let ran = run_alone(&function, std::slice::from_ref(&x), &given(&[])).unwrap();
        assert_eq!(bits(&ran.results[0]), bits(&res));
    }
}

/// A body that is followed strictly may not read; the values that it asked for exist all the same once it has failed.
#[test]
fn a_read_in_a_body_that_is_followed_is_refused() {
    let x = tensor(&[4], 1);
    for strict in [true, false] {
        let function = Traced::new(Options::default());
        for at in 0..2 {
            let following = Following { world: 1, strict, numbers_vary: false };
            let call = function.follow(std::slice::from_ref(&x), following).unwrap();
            let res = op("tanh", &[&call.args()[0]]);
            let read = res.storage();
            assert_eq!(read.is_ok(), at == 0 || !strict);
            assert_eq!(call.refused().is_some(), at == 1);
            match read {
                Ok(_) => {
                    let finished = call.finish_storing(&[res], Some(&[])).unwrap();
                    assert!(!finished.confirmed);
                }
                Err(error) => {
                    assert!(error.to_string().contains("is read here"), "{error}");
                    call.abort();
                    assert_eq!(bits(&res), bits(&op("tanh", &[&x])));
                }
            }
        }
    }
}

/// A second call of one world confirms what the first found; numbers that differ between worlds are those of the call.
#[test]
fn numbers_are_those_of_the_world() {
    let function = Traced::new(Options::default());
    let x = tensor(&[4], 1);
    let mut graphs = Vec::new();
    for (world, factor) in [(1, 2.0), (1, 2.0), (2, 3.0), (2, 3.0), (1, 2.0), (1, 2.0)] {
        let following = Following { world, strict: true, numbers_vary: false };
        let call = function.follow(std::slice::from_ref(&x), following).unwrap();
        let made = Tensor::from_vec(&[factor as f32; 4], Shape::new(&[4])).unwrap();
        let res = add(&mul(&call.args()[0], &num(factor)).unwrap(), &made).unwrap();
        let finished = call.finish_storing(std::slice::from_ref(&res), Some(&[])).unwrap();
        if finished.confirmed {
            graphs.push((function.alone(std::slice::from_ref(&x)).unwrap(), bits(&res)));
        }
    }
    assert_eq!(graphs.len(), 3);
    for (graph, expected) in &graphs {
        let ran = graph.run(std::slice::from_ref(&x), &Now::with(&given(&[]))).unwrap();
        assert_eq!(bits(&ran.results[0]), *expected);
    }
}

/// Where the caller knows what numbers are computed from, they may be others in each call of one world.
#[test]
fn numbers_that_vary_are_given_to_each_run() {
    let function = Traced::new(Options::default());
    let x = tensor(&[4], 1);
    let mut graph = None;
    for (at, factor) in [2.0, 3.0, 5.0].into_iter().enumerate() {
        let following = Following { world: 1, strict: true, numbers_vary: true };
        let call = function.follow(std::slice::from_ref(&x), following).unwrap();
        let number = num(factor);
        let res = mul(&call.args()[0], &number).unwrap();
        let finished = call.finish_storing(&[res], Some(&[])).unwrap();
        assert_eq!(finished.fed.len(), usize::from(at > 0));
        assert!(finished.fed.iter().all(|it| it.same(&number)));
        assert_eq!(finished.confirmed, at == 2);
        graph = finished.confirmed.then(|| function.alone(std::slice::from_ref(&x)).unwrap());
    }
    let graph = graph.expect("the third call confirms the second");
    for factor in [5.0, 7.0] {
        let number = |_| Some(num(factor)).filter(|_| factor != 5.0);
        let now = Now { variable: &|_| None, number: &number };
        let ran = graph.run(std::slice::from_ref(&x), &now).unwrap();
        assert_eq!(bits(&ran.results[0]), bits(&mul(&x, &num(factor)).unwrap()));
    }
}

/// What a body makes of numbers has to be the same in each call of one world.
#[test]
fn what_a_body_makes_has_to_stay() {
    let function = Traced::new(Options::default());
    let x = tensor(&[4], 1);
    for (at, value) in [1.0, 1.0, 2.0].into_iter().enumerate() {
        let following = Following { world: 1, strict: false, numbers_vary: false };
        let call = function.follow(std::slice::from_ref(&x), following).unwrap();
        let made = Tensor::from_vec(&[value; 4], Shape::new(&[4])).unwrap();
        let res = add(&call.args()[0], &made).unwrap();
        let finished = call.finish_storing(&[res], Some(&[])).unwrap();
        assert_eq!(finished.confirmed, at == 1);
    }
}

/// A symbolic call knows the variables that an earlier one has recorded, and stores to them.
#[test]
fn a_symbolic_step_runs_without_its_body() {
    random::seed(3);
    let mut eager = Descent::new();
    let expected: Vec<Vec<u32>> =
        (0..6).map(batch).map(|[x, y]| bits(&eager.step(&x, &y))).collect();
    random::seed(3);
    let mut trained = Descent::new();
    let function = Traced::new(Options { symbolic: true, ..Options::default() });
    for (at, expected) in expected.iter().enumerate() {
        let loss = match at {
            0 | 1 => followed(&function, &mut trained, &batch(at), at == 1),
            _ => {
                let mut ran =
                    run_alone(&function, &batch(at), &given(&trained.variables())).unwrap();
                trained.set(ran.stored.into_iter().map(|it| it.1).collect());
                ran.results.remove(0)
            }
        };
        assert_eq!(bits(&loss), *expected, "loss of step {at}");
    }
    let now: Vec<Vec<u32>> = trained.variables().iter().map(bits).collect();
    assert_eq!(now, eager.variables().iter().map(bits).collect::<Vec<_>>());
}

/// A step whose body is followed.
fn followed(function: &Traced, trained: &mut Descent, args: &[Tensor], confirmed: bool) -> Tensor {
    let before: Vec<Place> = trained.variables().iter().map(Place::of).collect();
    let following = Following { world: 1, strict: true, numbers_vary: false };
    let call = function.follow(args, following).unwrap();
    let seen = call.args().to_vec();
    let loss = trained.step(&seen[0], &seen[1]);
    let stores: Vec<_> = before.into_iter().zip(trained.variables()).collect();
    let mut finished = call.finish_storing(&[loss], Some(&stores)).unwrap();
    assert_eq!(finished.confirmed, confirmed);
    finished.results.remove(0)
}

//! Steps of the tape that are written in the language: `autograd.Function`, and what functions of PyTorch are built of that are no op.
//!
//! A reverse walk stops at such a step, whose function says what gradients its inputs get.
//!
//! **Invariant:** a step lives as long as its node of the tape, and no borrow of the table is held while user code runs or a step
//! is dropped.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::apply::anomaly;
use engine::autograd::{self, Edge, How, Place, Root, Stop};
use engine::{Site, Tensor};
use rustc_hash::FxHashMap;

use super::{convert, gradients, hooks};
use crate::native::*;

/// One step.
struct Step {
    /// Shapes and dtypes of the outputs, and elements of those that `backward` wants to see.
    outputs: Vec<Tensor>,
    shown: Vec<usize>,
    /// Called with a tuple of gradients of the outputs, and one of the outputs that it wants to see, if there are any; gives the gradients of
    /// the inputs. None once a walk has freed it.
    backward: RefCell<Value>,
    /// Whether a walk that retains nothing frees it.
    once: bool,
    /// Whether gradients that did not come are zeros; else they are None.
    fills: bool,
    /// Where it was made: what errors say of it.
    site: Site,
}

/// What the node keeps: the number of its step.
struct Number {
    step: u64,
    name: String,
}

thread_local! {
    static STEPS: RefCell<FxHashMap<u64, Rc<Step>>> = RefCell::default();
    /// Steps on their way out: a chain of them is dropped one by one, not recursively.
    static DEAD: RefCell<Vec<Rc<Step>>> = RefCell::default();
    static DROPPING: Cell<bool> = const { Cell::new(false) };
}

static NEXT: AtomicU64 = AtomicU64::new(0);

impl Drop for Number {
    fn drop(&mut self) {
        // While a thread ends the tables may be gone already.
        let Ok(Some(step)) = STEPS.try_with(|it| it.borrow_mut().remove(&self.step)) else {
            return;
        };
        let pushed = DEAD.try_with(|it| it.borrow_mut().push(step)).is_ok();
        if !pushed || DROPPING.replace(true) {
            return;
        }
        while let Some(step) = DEAD.with_borrow_mut(Vec::pop) {
            drop(step);
        }
        DROPPING.set(false);
    }
}

/// What a step is made with, besides what it leads from and to.
pub struct Made<'a> {
    pub backward: Value,
    pub name: &'a str,
    /// Whether gradients that do not come are zeros for `backward`, else None.
    pub fills: bool,
    /// The outputs that `backward` is shown.
    pub shown: Vec<usize>,
    /// Whether `backward` holds what is freed by a walk that retains nothing.
    pub once: bool,
}

/// Puts a step on the tape that leads from `inputs` to `outputs`; gives the outputs as they are then.
pub fn attach(inputs: &[Tensor], outputs: &[Tensor], made: Made<'_>) -> Vec<Tensor> {
    let Made { backward, name, fills, shown, once } = made;
    let plain = |(at, it): (usize, &Tensor)| match shown.contains(&at) {
        true => it.detach(),
        false => Tensor::abstract_on(it.device(), it.meta()),
    };
    let plain = outputs.iter().enumerate().map(plain).collect();
    let step = NEXT.fetch_add(1, Ordering::Relaxed);
    let number = Arc::new(Number { step, name: name.to_owned() });
    let edge = Edge::of_foreign(inputs, outputs.len(), number);
    let (backward, site) = (RefCell::new(backward), Site::here());
    let row = Step { outputs: plain, shown, backward, once, fills, site };
    STEPS.with_borrow_mut(|it| it.insert(step, Rc::new(row)));
    let place = |(at, it): (usize, &Tensor)| it.at_edge(Some(edge.output_at(at)));
    outputs.iter().enumerate().map(place).collect()
}

/// Whether one of the values was made by way of a step of this kind.
pub fn reached<'a>(values: impl IntoIterator<Item = &'a Tensor>) -> bool {
    autograd::reaches(values, |it| it.kept().is_some())
}

/// Whether a value depends on a leaf whose gradient somebody may still ask for: one that no derivative of a function that is done was taken by.
pub fn is_followed(value: &Tensor) -> bool {
    autograd::reaches([value], |it| it.is_leaf() && !it.is_over())
}

/// The name of the step that made a value, if it was one of these.
pub fn name_of(edge: &Edge) -> Option<&str> {
    edge.kept()?.downcast_ref::<Number>().map(|it| it.name.as_str())
}

/// As `engine::autograd::backward`, through steps of both kinds and places with hooks.
pub fn backward(
    cx: &mut Cx,
    roots: &[Root],
    wanted: Option<&[Edge]>,
    retain_graph: bool,
    create_graph: bool,
) -> Result<Vec<(Place, Tensor)>, Raised> {
    let how = How { wanted, retain_graph, create_graph };
    autograd::backward_with(roots, how, |stop| {
        let before = autograd::set_enabled(create_graph);
        let found = match stop {
            Stop::Passing { watcher, grad } => hooks::pass(cx, &watcher, grad),
            Stop::Step { edge, grads } => pass(cx, &edge, grads, retain_graph || create_graph),
        };
        autograd::set_enabled(before);
        found
    })
}

/// Asks a step for the gradients of its inputs.
fn pass(
    cx: &mut Cx,
    edge: &Edge,
    grads: Vec<Option<Tensor>>,
    keep: bool,
) -> Result<Vec<Option<Tensor>>, Raised> {
    let number = edge.kept().and_then(|it| it.downcast_ref::<Number>());
    let step =
        number.and_then(|it| Some((it, STEPS.with_borrow(|all| all.get(&it.step).cloned())?)));
    let Some((number, step)) = step else { return Ok(Vec::new()) };
    let given = step.given(edge, &grads)?;
    let backward = step.backward.borrow().clone();
    if backward.is_none() {
        return Err(engine::Error::Freed { op: "a function" }.into());
    }
    let found = cx.call(&backward, &given)?;
    let found = cx.collect(&found)?;
    let inputs = edge.foreign_inputs();
    if found.len() != inputs.len() {
        return Err(runtime_error(format!(
            "a backward function gave {} gradients, but the step has {} inputs that need one",
            found.len(),
            inputs.len()
        )));
    }
    let of = |it: &Value| {
        if it.is_none() { Ok(None) } else { convert::variable(it).map(|it| Some(it.get())) }
    };
    let found: Vec<_> = found.iter().map(of).collect::<Result<_, Raised>>()?;
    let name = format!("{}Backward", number.name);
    anomaly::check_function(&name, step.site, &grads, inputs, &found)?;
    if step.once && !keep {
        step.backward.replace(Value::None);
    }
    let found = found.into_iter().zip(inputs).enumerate();
    found.map(|(at, (it, input))| it.map(|it| fitting(&name, at, it, input)).transpose()).collect()
}

/// A gradient that a step gave for an input, in the shape of it. Unless gradients get a history now, it has none.
fn fitting(name: &str, at: usize, grad: Tensor, input: &Tensor) -> Result<Tensor, Raised> {
    let grad = if autograd::enabled() { grad } else { grad.detach() };
    if grad.shape() == input.shape() {
        return Ok(grad);
    }
    if grad.shape().broadcast(input.shape()).as_ref() != Some(grad.shape()) {
        return Err(runtime_error(format!(
            "Function {name} returned an invalid gradient at index {at} - got {} but expected shape compatible with {}",
            grad.shape(),
            input.shape()
        )));
    }
    Ok(engine::functional::unbroadcast(&grad, input.shape())?)
}

impl Step {
    /// What the backward function is called with.
    fn given(&self, edge: &Edge, grads: &[Option<Tensor>]) -> Result<Vec<Value>, Raised> {
        let mut values = Vec::new();
        for (grad, output) in grads.iter().zip(&self.outputs) {
            values.push(match grad {
                Some(grad) => Value::tensor(grad.clone()),
                None if !self.fills => Value::None,
                None => Value::tensor(gradients::zeros_like(output)?),
            });
        }
        let mut given = vec![Value::tuple(values)];
        if !self.shown.is_empty() {
            let of =
                |&at: &usize| Value::tensor(self.outputs[at].at_edge(Some(edge.output_at(at))));
            given.push(Value::tuple(self.shown.iter().map(of).collect::<Vec<_>>()));
        }
        Ok(given)
    }
}

//! Steps of the tape that are written in the language: `autograd.Function`, and hooks, which are steps that change nothing.
//!
//! The engine sees the outputs of such a step as leaves. When a reverse walk has reached them, the step's own function says
//! what gradients its inputs get, and a further walk goes on from there. Steps are numbered as they are made, so the one with
//! the largest number has all its gradients.
//!
//! **Invariant:** a step lives as long as one of its outputs is on the tape, and no borrow of the table is held while user
//! code runs or a step is dropped.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::rc::{Rc, Weak};
use std::sync::{self, Arc, Mutex, PoisonError};

use engine::apply::anomaly;
use engine::autograd::{self, Edge, Place, Root};
use engine::{Site, Tensor};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{convert, retained};
use crate::native::*;
use crate::objects::tensor::TensorObj;

/// One step.
struct Step {
    inputs: Vec<Tensor>,
    /// Shapes and dtypes of the outputs, and elements of those that `backward` wants to see.
    outputs: Vec<Tensor>,
    /// Which ones those are, and what puts them on the tape again: the step must not hold itself.
    shown: Vec<usize>,
    number: sync::Weak<Number>,
    /// Called with a tuple of gradients of the outputs, and one of the outputs that it wants to see, if there are any; gives the gradients of
    /// the inputs.
    backward: Value,
    /// Whether gradients that did not come are zeros; else they are None.
    fills: bool,
    /// Its name, and where it was made: what errors say of it.
    name: String,
    site: Site,
}

/// What the leaf of an output keeps.
struct Output {
    /// The step lives as long as this number.
    _step: Arc<Number>,
    name: String,
}

/// The number of a step, and the leaves of its outputs.
struct Number {
    step: u64,
    leaves: Mutex<Vec<u64>>,
}

#[derive(Default)]
struct Table {
    steps: FxHashMap<u64, Rc<Step>>,
    /// Step and output of each leaf.
    leaves: FxHashMap<u64, (u64, usize)>,
    next: u64,
}

thread_local! {
    static TABLE: RefCell<Table> = RefCell::default();
    /// Steps on their way out: a chain of them is dropped one by one, not recursively.
    static DEAD: RefCell<Vec<Rc<Step>>> = RefCell::default();
    static DROPPING: Cell<bool> = const { Cell::new(false) };
}

impl Drop for Number {
    fn drop(&mut self) {
        let leaves =
            std::mem::take(&mut *self.leaves.lock().unwrap_or_else(PoisonError::into_inner));
        // While a thread ends the tables may be gone already.
        let step = TABLE.try_with(|it| {
            let mut table = it.borrow_mut();
            for leaf in &leaves {
                table.leaves.remove(leaf);
            }
            table.steps.remove(&self.step)
        });
        let Ok(Some(step)) = step else { return };
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
}

/// Puts a step on the tape that leads from `inputs` to `outputs`; gives the outputs as they are then.
pub fn attach(inputs: Vec<Tensor>, outputs: &[Tensor], made: Made<'_>) -> Vec<Tensor> {
    let Made { backward, name, fills, shown } = made;
    let plain = |(at, it): (usize, &Tensor)| match shown.contains(&at) {
        true => it.detach(),
        false => Tensor::abstract_of(it.detach().meta()),
    };
    let plain: Vec<_> = outputs.iter().enumerate().map(plain).collect();
    let step = TABLE.with_borrow_mut(|table| {
        table.next += 1;
        table.next
    });
    let number = Arc::new(Number { step, leaves: Mutex::default() });
    let (name, site) = (name.to_owned(), Site::here());
    let weak = Arc::downgrade(&number);
    let row = Step {
        inputs,
        outputs: plain,
        shown,
        number: weak,
        backward,
        fills,
        name: name.clone(),
        site,
    };
    TABLE.with_borrow_mut(|it| it.steps.insert(step, Rc::new(row)));
    let place = |(at, it): (usize, &Tensor)| placed(&number, &name, at, it);
    outputs.iter().enumerate().map(place).collect()
}

/// A tensor as an output of a step.
fn placed(number: &Arc<Number>, name: &str, at: usize, tensor: &Tensor) -> Tensor {
    let output = Output { _step: number.clone(), name: name.to_owned() };
    let leaf = tensor.detach().leaf_keeping(Arc::new(output));
    let id = leaf.edge().map_or(0, Edge::id);
    number.leaves.lock().unwrap_or_else(PoisonError::into_inner).push(id);
    TABLE.with_borrow_mut(|it| it.leaves.insert(id, (number.step, at)));
    leaf
}

impl Step {
    /// The outputs that the backward function wants to see, on the tape where they came from.
    fn shown(&self) -> Vec<Value> {
        let of = |&at: &usize| {
            let output = &self.outputs[at];
            Value::tensor(match self.number.upgrade() {
                Some(number) => placed(&number, &self.name, at, output),
                None => output.clone(),
            })
        };
        self.shown.iter().map(of).collect()
    }
}

/// Whether a walk from `roots` comes to steps of this kind.
pub fn reached(roots: &[Root]) -> bool {
    TABLE.with_borrow(|it| !it.steps.is_empty()) && autograd::reaches_kept(roots)
}

/// Whether a value depends on a leaf whose gradient somebody may still ask for: one that no derivative of a function that is done was taken by.
pub fn is_followed(value: &Tensor) -> bool {
    autograd::reaches([value].into_iter(), |leaf, rest| match inputs_of(leaf) {
        Some(inputs) => {
            rest.extend(inputs.into_iter().flatten());
            false
        }
        None => !leaf.is_over(),
    })
}

/// The name of the step that made a value, if it was one of these.
pub fn name_of(edge: &Edge) -> Option<&str> {
    edge.kept()?.downcast_ref::<Output>().map(|it| it.name.as_str())
}

/// Where the inputs of such a step came from; `None` if it is another.
pub(super) fn inputs_of(edge: &Edge) -> Option<Vec<Option<Edge>>> {
    TABLE.with_borrow(|table| {
        let (step, _) = table.leaves.get(&edge.id())?;
        let inputs = &table.steps.get(step)?.inputs;
        Some(inputs.iter().map(|it| it.edge().cloned()).collect())
    })
}

/// As `engine::autograd::backward`, through steps of both kinds.
pub fn backward(
    cx: &mut Cx,
    roots: &[Root],
    wanted: Option<&[Edge]>,
    retain: bool,
    create: bool,
) -> Result<Vec<(Place, Tensor)>, Raised> {
    cx.lint_walk(roots.iter().map(|it| &it.0), retain);
    if !reached(roots) {
        return Ok(autograd::backward(roots, wanted, retain, create)?);
    }
    let mut found: BTreeMap<Place, Tensor> = BTreeMap::new();
    let mut pending: BTreeMap<u64, Vec<Option<Tensor>>> = BTreeMap::new();
    let mut roots = roots.to_vec();
    loop {
        // What several walks pass must be kept until the last one.
        for (place, grad) in autograd::backward(&roots, wanted, true, create)? {
            let output = TABLE.with_borrow(|it| it.leaves.get(&place.0).copied());
            let Some((step, at)) = output else {
                sum_up(found.entry(place), grad)?;
                continue;
            };
            if wanted.is_some_and(|it| it.iter().any(|it| it.id() == place.0)) {
                sum_up(found.entry(place), grad.clone())?;
            }
            let grads = pending.entry(step).or_default();
            grads.resize(grads.len().max(at + 1), None);
            grads[at] = Some(match grads[at].take() {
                Some(sum) => engine::functional::add(&sum, &grad)?,
                None => grad,
            });
        }
        let Some((number, grads)) = pending.pop_last() else { break };
        roots = pass(cx, number, grads, create)?;
    }
    Ok(found.into_iter().collect())
}

fn sum_up(place: Entry<'_, Place, Tensor>, grad: Tensor) -> Result<(), Raised> {
    match place {
        Entry::Vacant(it) => drop(it.insert(grad)),
        Entry::Occupied(mut it) => {
            let sum = engine::functional::add(it.get(), &grad)?;
            it.insert(sum);
        }
    }
    Ok(())
}

/// Asks a step for the gradients of its inputs: the roots of the next walk.
fn pass(
    cx: &mut Cx,
    number: u64,
    mut grads: Vec<Option<Tensor>>,
    create: bool,
) -> Result<Vec<Root>, Raised> {
    let Some(step) = TABLE.with_borrow(|it| it.steps.get(&number).cloned()) else {
        return Ok(Vec::new());
    };
    grads.resize(step.outputs.len(), None);
    let mut values = Vec::new();
    for (grad, output) in grads.iter().zip(&step.outputs) {
        values.push(match grad {
            Some(grad) => Value::tensor(grad.clone()),
            None if !step.fills => Value::None,
            None => Value::tensor(engine::functional::full(output.shape(), 0.0, output.dtype())?),
        });
    }
    let mut given = vec![Value::tuple(values)];
    if !step.shown.is_empty() {
        given.push(Value::tuple(step.shown()));
    }
    let before = autograd::set_enabled(create);
    let res = cx.call(&step.backward, &given);
    autograd::set_enabled(before);
    let found = cx.collect(&res?)?;
    if found.len() != step.inputs.len() {
        return Err(runtime_error(format!(
            "a backward function gave {} gradients, but the step has {} inputs that need one",
            found.len(),
            step.inputs.len()
        )));
    }
    let of = |it: &Value| {
        if it.is_none() { Ok(None) } else { convert::variable(it).map(|it| Some(it.get())) }
    };
    let found: Vec<_> = found.iter().map(of).collect::<Result<_, Raised>>()?;
    // Hooks only look at what a step before them gave.
    if step.backward.downcast::<HookList>().is_none() {
        let name = format!("{}Backward", step.name);
        anomaly::check_function(&name, step.site, &grads, &step.inputs, &found)?;
    }
    let inputs = step.inputs.iter().zip(found);
    let roots = inputs.filter(|(input, grad)| grad.is_some() && input.requires_grad());
    Ok(roots.map(|(input, grad)| (input.clone(), grad)).collect())
}

/// Shows gradients to a function on their way through a variable: `hook((grad,))` gives `[grad]`.
pub fn hook(object: &Rc<TensorObj>, hook: Value) -> Result<(), Raised> {
    let value = object.get();
    let Some(edge) = value.edge() else {
        return Err(runtime_error(
            "cannot register a hook on a tensor that doesn't require gradient",
        ));
    };
    if edge.is_leaf() {
        object.add_hook(hook);
        return Ok(());
    }
    if let Some(hooks) = hooks_of(edge) {
        if let Some(it) = hooks.downcast::<HookList>() {
            it.add(hook);
        }
        return Ok(());
    }
    let name = name_of(edge).map_or_else(|| edge.op_name().unwrap_or("").to_owned(), str::to_owned);
    let hooks = Value::object(HookList(RefCell::new(vec![hook])));
    let made = Made { backward: hooks, name: &name, fills: true, shown: Vec::new() };
    let watched = attach(vec![value.clone()], std::slice::from_ref(&value), made);
    object.put_on_tape(&watched[0]);
    Ok(())
}

/// Whether a variable that is not a leaf has hooks.
pub fn has_hooks(object: &TensorObj) -> bool {
    object.get().edge().is_some_and(|it| hooks_of(it).is_some())
}

/// Whether a walk goes on from a place to another one that is asked for, by its number.
pub fn leads_to(edge: &Edge, is_it: impl Fn(u64) -> bool) -> bool {
    let before = |it: &Edge| inputs_of(it).unwrap_or_else(|| it.inputs()).into_iter().flatten();
    let (mut seen, mut rest) = (FxHashSet::default(), before(edge).collect::<Vec<_>>());
    while let Some(edge) = rest.pop() {
        if is_it(edge.id()) {
            return true;
        }
        if seen.insert(edge.id()) {
            rest.extend(before(&edge));
        }
    }
    false
}

/// The list of hooks of a step that consists of hooks.
fn hooks_of(edge: &Edge) -> Option<Value> {
    TABLE.with_borrow(|table| {
        let (step, _) = table.leaves.get(&edge.id())?;
        let backward = &table.steps.get(step)?.backward;
        backward.downcast::<HookList>().map(|_| backward.clone())
    })
}

/// Hooks of one variable, in the order in which they were added.
struct HookList(RefCell<Vec<Value>>);

impl HookList {
    /// Adds a hook at the end, but before what keeps the gradient, which is to see what the others made of it.
    fn add(&self, hook: Value) {
        let keeps = self.keeps_gradient();
        let mut hooks = self.0.borrow_mut();
        let at = hooks.len() - usize::from(keeps);
        hooks.insert(at, hook);
    }

    fn keeps_gradient(&self) -> bool {
        self.0.borrow().last().is_some_and(|it| it.downcast::<Keeper>().is_some())
    }
}

static HOOK_LIST: NativeType = NativeType::plain("hooks", "Functions that see a gradient.");

impl NativeObject for HookList {
    fn native_type(&self) -> &'static NativeType {
        &HOOK_LIST
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_callable(&self) -> bool {
        true
    }

    fn call(&self, cx: &mut Cx, _this: &Value, args: CallArgs<'_>) -> Res {
        let mut grads = args.positional[0].clone();
        let hooks = self.0.borrow().clone();
        for hook in &hooks {
            grads = cx.call(hook, &[grads])?;
        }
        Ok(grads)
    }
}

/// Keeps the gradient of a variable that is not a leaf in its `.grad`, as hooks have made it.
pub fn retain_grad(object: &Rc<TensorObj>) -> Result<(), Raised> {
    let value = object.get();
    let Some(edge) = value.edge().filter(|it| !it.is_leaf()) else { return Ok(()) };
    match below_hooks(edge) {
        edge if edge.op_name().is_some() => {
            retained::keep(object, &edge);
            Ok(())
        }
        _ => hook(object, Value::object(Keeper(Rc::downgrade(object)))),
    }
}

/// The place that hooks of a variable pass gradients to.
pub(super) fn below_hooks(edge: &Edge) -> Edge {
    let mut edge = edge.clone();
    while hooks_of(&edge).is_some() {
        let Some(below) = TABLE.with_borrow(|table| {
            let (step, _) = table.leaves.get(&edge.id())?;
            table.steps.get(step)?.inputs.first()?.edge().cloned()
        }) else {
            break;
        };
        edge = below;
    }
    edge
}

/// Whether a variable that is not a leaf keeps its gradient.
pub fn retains_grad(object: &TensorObj) -> bool {
    retained::keeps(object)
        || object
            .get()
            .edge()
            .and_then(hooks_of)
            .is_some_and(|it| it.downcast::<HookList>().is_some_and(|it| it.keeps_gradient()))
}

/// Puts a gradient into a variable. It does not keep the variable alive, which keeps it.
struct Keeper(Weak<TensorObj>);

static KEEPER: NativeType = NativeType::plain("retain_grad", "Keeps a gradient.");

impl NativeObject for Keeper {
    fn native_type(&self) -> &'static NativeType {
        &KEEPER
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_callable(&self) -> bool {
        true
    }

    fn call(&self, cx: &mut Cx, _this: &Value, args: CallArgs<'_>) -> Res {
        let grads = cx.collect(&args.positional[0])?;
        if let (Some(object), Some(Value::Tensor(grad))) = (self.0.upgrade(), grads.first()) {
            object.assign_grad(grad.clone());
        }
        Ok(args.positional[0].clone())
    }
}

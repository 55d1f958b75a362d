//! `trace(without_host=True)`: once a function is known to do nothing but compute with tensors, its graph runs without its body.
//!
//! A call is answered by the graph when everything that the body can find is what it was in a call whose body has been followed to
//! its end: its ops were answered from the recording, it read no value, and it left all that it found, but for tensors, as it was.
//! Where something differs, such as the learning rate, the body runs once more, and the graph is compiled anew. What a run without the
//! body would lose is refused at its line: calls of what acts outside, values read of tensors, and changes of what was made outside.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use engine::apply::anomaly::{self, Watch};
use engine::trace::{ArgSpec, Options, Place, Stats, Traced};
use engine::{Tensor, trace};

use super::template::{Filling, Maker, Template, refused_here, root_of, tensors};
use super::world::{Node, World};
use super::{Inputs, TracedFn};
use crate::native::*;
use crate::objects::tensor::TensorObj;
use crate::tensor::journal;
use crate::value::Value;

/// Worlds whose graphs are kept.
const MOST: usize = 8;

/// The graphs of a function that run without its body.
#[derive(Default)]
pub(super) struct Alone {
    /// The one that was used last stands last.
    variants: RefCell<Vec<Variant>>,
    /// What earlier calls left changed; it is a mistake if another call changes it.
    changing: RefCell<Vec<Node>>,
    /// Calls without the body.
    n_runs: Cell<usize>,
}

/// What was recorded in one world.
struct Variant {
    world: World,
    /// Which arguments share elements, among each other and with what the function finds.
    sharing: Vec<Shared>,
    traced: Traced,
    ways: Vec<Way>,
}

/// The first that an argument shares its elements with, and where in these it begins.
#[derive(Clone, Copy, PartialEq)]
enum Shared {
    No,
    Arg(usize, usize),
    Found(usize, usize),
}

/// A path that runs without the body, for arguments of one kind.
struct Way {
    signature: Vec<ArgSpec>,
    slots: Vec<Slot>,
    template: Template,
}

/// Where a variable of the graph is.
#[derive(Clone, Copy)]
enum Slot {
    /// A tensor that the function finds.
    Found(usize),
    /// The gradient of one; `replaced` when each call makes another object of it.
    Grad { of: usize, replaced: bool },
    /// An argument.
    Arg(usize),
}

/// One call: what it was made with.
struct Asked<'a> {
    args: CallArgs<'a>,
    inputs: Inputs,
    /// The tensors among the arguments, as objects.
    passed: Vec<Value>,
    roots: Vec<Value>,
}

impl<'a> Asked<'a> {
    fn new(function: &TracedFn, args: CallArgs<'a>) -> Result<Self, Raised> {
        let (mut passed, mut roots) = (Vec::new(), vec![function.func.clone()]);
        let named = args.keywords.iter().map(|(name, it)| (Value::str(name.as_str()), it));
        for (name, value) in args.positional.iter().map(|it| (Value::None, it)).chain(named) {
            roots.push(name);
            match value {
                Value::Tensor(it) if it.peek().requires_grad() => {
                    return Err(refused_here(format!(
                        "argument {} requires grad, and its gradient would be lost; \
                         make it outside, where the function finds it, or detach() it",
                        passed.len() + 1
                    )));
                }
                Value::Tensor(it) if it.grad().is_some() => {
                    return Err(refused_here(format!(
                        "argument {} has a gradient, which the graph does not see; detach() it",
                        passed.len() + 1
                    )));
                }
                Value::Tensor(it) => {
                    roots.push(Value::Bool(it.is_parameter()));
                    passed.push(value.clone());
                }
                other => roots.push(other.clone()),
            }
        }
        Ok(Self { args, inputs: Inputs::of(args), passed, roots })
    }

    fn object(&self, at: usize) -> Option<&Rc<TensorObj>> {
        match self.passed.get(at)? {
            Value::Tensor(it) => Some(it),
            _ => None,
        }
    }

    fn sharing(&self, world: &World) -> Vec<Shared> {
        let tensors = &self.inputs.tensors;
        let shared = |at: usize| {
            let earlier = tensors[..at].iter().position(|it| it.shares_buffer(&tensors[at]));
            let found = || {
                let root = root_of(self.object(at)?);
                world.tensors.iter().position(|it| Rc::ptr_eq(it, &root))
            };
            match earlier {
                Some(it) => Shared::Arg(it, tensors[at].layout().offset),
                None => {
                    found().map_or(Shared::No, |it| Shared::Found(it, tensors[at].layout().offset))
                }
            }
        };
        (0..tensors.len()).map(shared).collect()
    }
}

impl Variant {
    fn is_for(&self, asked: &Asked<'_>) -> bool {
        self.world.is(&asked.roots) && self.sharing == asked.sharing(&self.world)
    }

    fn way(&self, tensors: &[Tensor]) -> Option<&Way> {
        let is_it = |it: &&Way| {
            it.signature.len() == tensors.len()
                && it.signature.iter().zip(tensors).all(|(it, arg)| *it == ArgSpec::of(arg))
        };
        self.ways.iter().find(is_it)
    }

    /// All that the body may read or store to, and what it is now.
    fn slots(&self, asked: &Asked<'_>) -> Vec<(Slot, Tensor)> {
        let mut slots = Vec::new();
        for (at, object) in self.world.tensors.iter().enumerate() {
            if self.shows_another(object) {
                continue;
            }
            slots.push((Slot::Found(at), object.get()));
            if let Some(grad) = object.grad() {
                slots.push((Slot::Grad { of: at, replaced: false }, grad.get()));
            }
        }
        let args = asked.inputs.tensors.iter().cloned().enumerate();
        slots.extend(args.map(|(at, it)| (Slot::Arg(at), it)));
        slots.retain(|it| it.1.as_number().is_none());
        slots
    }

    /// Whether a tensor is a view that shows all of another one of the world as it is: then that one is the variable.
    fn shows_another(&self, object: &Rc<TensorObj>) -> bool {
        let Some((mut base, _)) = object.base_object() else { return false };
        let place = Place::of(&object.get());
        loop {
            if place.is(&base.get()) && self.world.tensors.iter().any(|it| Rc::ptr_eq(it, &base)) {
                return true;
            }
            match base.base_object() {
                Some((below, _)) => base = below,
                None => return false,
            }
        }
    }

    fn object(&self, asked: &Asked<'_>, slot: Slot) -> Option<Rc<TensorObj>> {
        match slot {
            Slot::Found(at) => self.world.tensors.get(at).cloned(),
            Slot::Grad { of, .. } => self.world.tensors.get(of)?.grad(),
            Slot::Arg(at) => asked.object(at).cloned(),
        }
    }

    fn run(&self, cx: &mut Cx, asked: &Asked<'_>, way: &Way) -> Res {
        let now = |at: usize| Some(self.object(asked, way.slots[at])?.get());
        let ran = self.traced.run_alone(&asked.inputs.tensors, &now)?;
        for (at, value) in ran.stored {
            self.store(asked, way.slots[at], value)?;
        }
        let results: Vec<Value> = ran.results.into_iter().map(Value::tensor).collect();
        let grad = |of: usize| self.world.tensors.get(of)?.grad().map(Value::Tensor);
        way.template.filled(cx, &Filling { args: &asked.passed, results: &results, grad: &grad })
    }

    fn store(&self, asked: &Asked<'_>, slot: Slot, value: Tensor) -> Result<(), Raised> {
        if let Slot::Grad { of, replaced: true } = slot {
            let owner = &self.world.tensors[of];
            journal::grad_changes(owner);
            owner.set_grad(Some(Rc::new(TensorObj::new(value))));
            return Ok(());
        }
        let Some(object) = self.object(asked, slot) else { return Ok(()) };
        // A view of what the function finds shows what is stored there.
        if matches!(slot, Slot::Arg(_)) || object.base_object().is_none() {
            journal::value_changes(&object);
            object.set_data(&value)?;
        }
        Ok(())
    }
}

impl Alone {
    /// Calls the function, without its body where that is known to be the same.
    pub(super) fn call(&self, cx: &mut Cx, function: &TracedFn, args: CallArgs<'_>) -> Res {
        if anomaly::watch() != Watch::Nothing {
            // What it looks for is named with the line that made it.
            return cx.call_with(&function.func, args);
        }
        let asked = Asked::new(function, args)?;
        let known = self.variants.borrow().iter().rposition(|it| it.is_for(&asked));
        let variant = match known {
            Some(at) => self.variants.borrow_mut().remove(at),
            None => {
                let world = World::of(asked.roots.clone())?;
                let sharing = asked.sharing(&world);
                let traced = Traced::new(function.traced.options());
                Variant { world, sharing, traced, ways: Vec::new() }
            }
        };
        match variant.way(&asked.inputs.tensors) {
            Some(way) => {
                let res = variant.run(cx, &asked, way);
                self.n_runs.set(self.n_runs.get() + 1);
                self.keep(variant);
                res
            }
            None => self.follow(cx, function, &asked, variant),
        }
    }

    /// What happened: the recordings of the worlds that are kept, and how often one ran without the body.
    pub(super) fn stats(&self) -> (Stats, usize) {
        let variants = self.variants.borrow();
        let mut all = Stats::default();
        for it in variants.iter().map(|it| it.traced.stats()) {
            all.calls += it.calls;
            all.segments += it.segments;
            all.branches += it.branches;
            all.recorded += it.recorded;
            all.replayed += it.replayed;
            all.walks += it.walks;
            all.compile_seconds += it.compile_seconds;
        }
        (all, self.n_runs.get())
    }

    /// What was recorded in the world of the latest call.
    pub(super) fn latest(&self) -> Option<Traced> {
        self.variants.borrow().last().map(|it| it.traced.clone())
    }

    /// Shows the objects that it keeps, for cycle collection.
    pub(super) fn traverse(&self, visit: &mut dyn FnMut(&Value)) {
        let (Ok(variants), Ok(changing)) = (self.variants.try_borrow(), self.changing.try_borrow())
        else {
            return;
        };
        variants.iter().for_each(|it| it.world.traverse(visit));
        changing.iter().for_each(|it| it.traverse(visit));
    }

    /// Lets go of all of them.
    pub(super) fn clear(&self) {
        let variants = self.variants.take();
        let changing = self.changing.take();
        drop((variants, changing));
    }

    fn keep(&self, variant: Variant) {
        let mut variants = self.variants.borrow_mut();
        if variants.len() >= MOST {
            variants.remove(0);
        }
        variants.push(variant);
    }

    /// Runs the body under the trace, and looks whether the graph could have done without it.
    fn follow(
        &self,
        cx: &mut Cx,
        function: &TracedFn,
        asked: &Asked<'_>,
        mut variant: Variant,
    ) -> Res {
        let call = variant.traced.begin(&asked.inputs.tensors)?;
        let (mut slots, before): (Vec<Slot>, Vec<Tensor>) =
            variant.slots(asked).into_iter().unzip();
        let places: Vec<Place> = before.iter().map(Place::of).collect();
        drop(before);
        let grads: Vec<_> = variant.world.tensors.iter().map(|it| it.grad()).collect();
        let symbolic = function.traced.options().symbolic && !call.is_inline();
        let (positional, keywords) = asked.inputs.replaced(asked.args, &call, symbolic);
        let watched = self.changing.borrow().iter().map(Node::again).collect();
        let args = CallArgs { positional: &positional, keywords: &keywords };
        let known = variant.world.len();
        let followed = cx.strictly(variant.world, watched, |cx| cx.call_with(&function.func, args));
        variant.world = followed.world;
        let refused = followed.refused.or_else(|| call.refused().map(Raised::from));
        let value = match (followed.res, refused) {
            (Ok(value), None) => value,
            (Ok(_), Some(refused)) => {
                call.abort();
                return Err(refused);
            }
            (Err(raised), refused) => {
                call.abort();
                return Err(instead(raised, refused));
            }
        };
        let mut maker = Maker { args: &positional, world: &variant.world, results: Vec::new() };
        let template = maker.template(&value);
        let results = tensors(&maker.results);
        let mut stores = Vec::with_capacity(slots.len());
        for (place, slot) in places.into_iter().zip(&mut slots) {
            if let Slot::Grad { of, replaced } = slot {
                *replaced = !is_same_grad(&grads[*of], &variant.world.tensors[*of].grad());
            }
            // What a call takes away comes to light as a change of what was found.
            let now = variant.object(asked, *slot).map_or(Tensor::number(0.0), |it| it.peek());
            stores.push((place, now));
        }
        let stats = call.finish_storing(&results, Some(&stores))?.stats;
        let template = template?;
        if variant.world.is(&asked.roots) {
            // What it has found on its way may hold variables that this call did not give to the graph.
            let is_known = variant.world.len() == known;
            if is_known && stats.recorded == 0 && stats.departure.is_none() {
                variant.traced.prepare_alone(&asked.inputs.tensors)?;
                let signature = asked.inputs.tensors.iter().map(ArgSpec::of).collect();
                variant.ways.push(Way { signature, slots, template });
            }
            self.keep(variant);
        } else {
            self.changing.borrow_mut().extend(variant.world.changed());
        }
        function.finished(asked.args, asked.inputs.tensors.clone(), stats);
        Ok(value)
    }
}

/// What was refused in place of the error that the body has made of it, at the same line.
fn instead(raised: Raised, refused: Option<Raised>) -> Raised {
    let Some(mut refused) = refused else { return raised };
    refused.set_marks(raised.marks().to_vec());
    refused
}

fn is_same_grad(a: &Option<Rc<TensorObj>>, b: &Option<Rc<TensorObj>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => Rc::ptr_eq(a, b),
        (None, None) => true,
        _ => false,
    }
}

/// Options of a function that is to run without its body.
pub(super) fn wants(options: &Options) -> bool {
    options.without_host && !trace::active()
}

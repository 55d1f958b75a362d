//! One world, and the graphs of the calls in it: what a call was made with, which variables its graph reads and stores to, and what it
//! gives.

use std::cell::{Cell, RefCell, RefMut};
use std::rc::Rc;

use engine::autograd::{Again, Edge};
use engine::lower::timing;
use engine::random::Everywhere;
use engine::trace::{ArgSpec, Now, Place, Ran};
use engine::{Number, Tensor};

use super::asked::{Asked, Shared};
use super::lend::Lent;
use super::numbers::Found;
use super::template::{Filling, Template};
use super::world::World;
use crate::native::*;
use crate::objects::tensor::{Look, TensorObj};
use crate::tensor::{journal, methods};
use crate::value::Value;

/// Calls of which it is kept what they have shown about numbers, until another one confirms it.
const MOST_SHOWN: usize = 4;

/// Ways that are run in one call, where what is read of tensors shows that the first is another one.
const MOST_TRIED: usize = 2;

/// What stood in the variables when a call began.
pub(super) struct Before {
    slots: Vec<Slot>,
    /// Their elements and the random numbers, for a rehearsal.
    values: Vec<Tensor>,
    drawn: Everywhere,
    places: Vec<Place>,
    grads: Vec<Option<Rc<TensorObj>>>,
}

/// What was recorded in one world.
pub(super) struct Variant {
    /// Another one for each world, and for each that has grown.
    pub(super) number: u64,
    pub(super) world: World,
    /// Which arguments share elements, among each other and with what the function finds.
    pub(super) sharing: Vec<Shared>,
    pub(super) ways: Vec<Way>,
    /// Whether a call was followed in it, which another one may confirm.
    pub(super) is_seen: bool,
    /// What such calls have shown about numbers.
    pub(super) numbers: Vec<Rc<Found>>,
    /// Which way the latest call went, and where what it gave is.
    pub(super) latest: Cell<usize>,
    pub(super) given: RefCell<Vec<Place>>,
}

/// A path that runs without the body, for arguments of one kind.
pub(super) struct Way {
    signature: Vec<ArgSpec>,
    pub(super) graph: engine::trace::Alone,
    pub(super) slots: Vec<Slot>,
    pub(super) template: Template,
    pub(super) made: Vec<Made>,
    pub(super) numbers: Rc<Found>,
}

/// What a result is besides its elements.
pub(super) struct Made {
    /// A spent step of the tape: a reverse walk has passed it, and what it saved is gone, or each walk from it comes to one like that.
    edge: Option<Edge>,
    look: Look,
}

impl Made {
    fn of(result: &Value, again: &mut Again) -> Made {
        let object = result.as_tensor();
        let look = object.map_or(Look::Tensor, |it| it.look());
        let edge = object.and_then(|it| it.peek().edge().map(|it| again.edge(it)));
        Made { edge, look }
    }

    fn object(&self, value: &Tensor, again: &mut Again) -> Value {
        let value = value.at_edge(self.edge.as_ref().map(|it| again.edge(it)));
        Value::Tensor(Rc::new(TensorObj::with_look(value, self.look)))
    }
}

/// Where a variable of the graph is.
#[derive(Clone, Copy)]
pub(super) enum Slot {
    /// A tensor that the function finds.
    Found(usize),
    /// The gradient of one.
    Grad { of: usize, fate: Fate },
    /// An argument.
    Arg(usize),
}

/// What each call does with a gradient.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Fate {
    /// It stays the object that it is, with other elements or the same.
    Stays,
    /// Another object takes its place, or the first one.
    Replaced,
    /// There is none any more.
    Removed,
}

impl Before {
    /// Whether a variable stays the object that it is, so that others who have that see what is written.
    pub(super) fn stays(&self, at: usize) -> bool {
        !matches!(self.slots[at], Slot::Grad { fate: Fate::Replaced | Fate::Removed, .. })
    }
}

impl Way {
    /// What a call has shown whose variables were these.
    pub(super) fn new(
        asked: &Asked<'_>,
        graph: engine::trace::Alone,
        before: Before,
        template: Template,
        results: &[Value],
        numbers: Rc<Found>,
    ) -> Self {
        let signature = asked.tensors().iter().map(ArgSpec::of).collect();
        let mut again = Again::default();
        let made = results.iter().map(|it| Made::of(it, &mut again)).collect();
        Self { signature, graph, slots: before.slots, template, made, numbers }
    }

    /// The tensors that it gives, with these elements.
    pub(super) fn objects(&self, results: &[Tensor]) -> Vec<Value> {
        let mut again = Again::default();
        let made = self.made.iter().zip(results);
        made.map(|(made, value)| made.object(value, &mut again)).collect()
    }
}

impl Variant {
    pub(super) fn is_for(&self, asked: &Asked<'_>) -> bool {
        self.world.is(&asked.roots)
            && self.sharing == asked.sharing(&self.world)
            && !asked.has_gradient_of(&self.world)
            && asked.is_apart_from(&self.world)
            && !asked.finds_chosen(&self.world)
    }

    /// What a call has shown about numbers, and whether an earlier one has shown the same.
    pub(super) fn note_numbers(&mut self, found: Found) -> (Rc<Found>, bool) {
        if let Some(known) = self.numbers.iter().find(|it| it.is(&found)) {
            return (known.clone(), true);
        }
        if self.numbers.len() == MOST_SHOWN {
            self.numbers.remove(0);
        }
        let found = Rc::new(found);
        self.numbers.push(found.clone());
        (found, false)
    }

    /// A way that a call may go, and the numbers that it computes before it: the one that the latest call went, if it may be that again.
    /// `tried` turned out to be none.
    fn way(
        &self,
        cx: &mut Cx,
        asked: &Asked<'_>,
        tried: Option<usize>,
    ) -> Option<(usize, Vec<Value>)> {
        let tensors = asked.tensors();
        let is_it = |it: &Way| {
            it.signature.len() == tensors.len()
                && it.signature.iter().zip(tensors.iter()).all(|(it, arg)| *it == ArgSpec::of(arg))
        };
        let latest = self.latest.get();
        let others = (0..self.ways.len()).filter(|it| *it != latest);
        let mut order = std::iter::once(latest).chain(others).filter(|it| Some(*it) != tried);
        order.find_map(|at| {
            let way = self.ways.get(at).filter(|it| is_it(it))?;
            Some((at, way.numbers.values(cx, &asked.numbers)?))
        })
    }

    /// All that the body may read or store to, and what it is now. In place of a gradient that there is none of yet its tensor,
    /// which is like it and not read.
    pub(super) fn slots(&self, asked: &Asked<'_>) -> Vec<(Slot, Tensor)> {
        let mut slots = Vec::new();
        for at in 0..self.world.n_tensors() {
            let Some(object) = self.world.tensor(at) else { continue };
            // Its gradient is its own.
            if !self.shows_another(&object) {
                slots.push((Slot::Found(at), object.get()));
            }
            if let Some(grad) = object.grad() {
                slots.push((Slot::Grad { of: at, fate: Fate::Stays }, grad.get()));
            }
        }
        let args = asked.tensors();
        slots.extend(args.iter().cloned().enumerate().map(|(at, it)| (Slot::Arg(at), it)));
        slots.retain(|it| it.1.as_number().is_none());
        let may_get_one = |at: usize| {
            let object = self.world.tensor(at)?;
            let is_bare = object.peek().requires_grad() && object.grad().is_none();
            let slot = Slot::Grad { of: at, fate: Fate::Replaced };
            is_bare.then(|| (slot, object.get()))
        };
        slots.extend((0..self.world.n_tensors()).filter_map(may_get_one));
        slots
    }

    /// The variables as a call begins; their elements too, where a rehearsal may follow. `drawn` are the random numbers.
    pub(super) fn before(&self, asked: &Asked<'_>, drawn: Everywhere) -> Before {
        let (slots, mut values): (Vec<Slot>, Vec<Tensor>) = self.slots(asked).into_iter().unzip();
        let grads = (0..self.world.n_tensors()).map(|at| self.grad(at)).collect();
        let place = |(slot, value): (&Slot, &Tensor)| match slot {
            Slot::Grad { fate: Fate::Replaced, .. } => Place::of(&Tensor::number(0.0)),
            _ => Place::of(value),
        };
        let places = slots.iter().zip(&values).map(place).collect();
        if !self.is_seen {
            values.clear();
        }
        Before { slots, values, drawn, places, grads }
    }

    /// Whether a graph gives what the body has given: its results, what is in all variables, and the random numbers it leaves. It may write
    /// over what stood in the variables before.
    pub(super) fn rehearses(
        &self,
        graph: &engine::trace::Alone,
        asked: &Asked<'_>,
        before: &mut Before,
        results: &[Tensor],
    ) -> bool {
        let left = before.drawn.clone().resume();
        let values = RefCell::new(std::mem::take(&mut before.values));
        let variable = |at: usize| values.borrow().get(at).cloned();
        let take = |at: usize| {
            let taken = values.borrow_mut();
            let mut place = RefMut::filter_map(taken, |it| it.get_mut(at)).ok()?;
            Some(std::mem::replace(&mut *place, Tensor::number(0.0)))
        };
        let ran = graph.rehearse(&asked.tensors(), &Now::with(&variable), &take);
        let drawn = left.clone().resume();
        before.values = values.into_inner();
        ran.is_ok_and(|it| drawn == left && self.is_left_by(it, asked, before, results))
    }

    /// Whether a run of the graph gives what the body has given: results, and what is in all variables now.
    fn is_left_by(
        &self,
        ran: Ran,
        asked: &Asked<'_>,
        before: &mut Before,
        results: &[Tensor],
    ) -> bool {
        let mut expected = std::mem::take(&mut before.values);
        for (at, value) in ran.stored {
            expected[at] = value;
        }
        let is_given = |(slot, value): (&Slot, &Tensor)| match self.object(asked, *slot) {
            // It shows what is in the variable that it is a view of.
            Some(it) if it.base_object().is_some() => true,
            Some(it) => it.get().detach().has_bits_of(value),
            None => true,
        };
        ran.results.len() == results.len()
            && ran.results.iter().zip(results).all(|(a, b)| a.has_bits_of(b))
            && before.slots.iter().zip(&expected).all(is_given)
    }

    /// What each was, and what it is as the call ends; gradients that there are still none of are forgotten.
    pub(super) fn stores(&self, asked: &Asked<'_>, before: &mut Before) -> Vec<(Place, Tensor)> {
        let mut stores = Vec::with_capacity(before.slots.len());
        let (places, mut slots) = (std::mem::take(&mut before.places), Vec::new());
        let values = std::mem::take(&mut before.values);
        let mut values = values.into_iter();
        for (place, slot) in places.into_iter().zip(std::mem::take(&mut before.slots)) {
            let value = values.next();
            let (slot, now) = match slot {
                Slot::Grad { of, .. } => {
                    let (had, has) = (&before.grads[of], self.grad(of));
                    let (fate, now) = match (had, has) {
                        (None, None) => continue,
                        (Some(had), None) => (Fate::Removed, had.peek()),
                        (Some(had), Some(has)) if Rc::ptr_eq(had, &has) => {
                            (Fate::Stays, has.peek())
                        }
                        (_, Some(has)) => (Fate::Replaced, has.peek()),
                    };
                    (Slot::Grad { of, fate }, now)
                }
                // What a call takes away comes to light as a change of what was found.
                slot => {
                    let now = self.object(asked, slot).map(|it| it.peek());
                    (slot, now.unwrap_or_else(|| Tensor::number(0.0)))
                }
            };
            stores.push((place, now));
            slots.push(slot);
            before.values.extend(value);
        }
        before.slots = slots;
        stores
    }

    /// Whether a graph can leave the gradients that the call has left: of each tensor of the world none, or one without a history that is no
    /// argument.
    pub(super) fn leaves_gradients(&self, asked: &Asked<'_>, before: &Before) -> bool {
        let is_left = |at: usize| {
            let has = self.grad(at);
            let is_slot = |it: &Slot| matches!(it, Slot::Grad { of, .. } if *of == at);
            let is_known = || before.slots.iter().any(is_slot);
            let is_passed = |it: &Rc<TensorObj>| {
                asked
                    .passed
                    .iter()
                    .any(|arg| arg.as_tensor().is_some_and(|arg| Rc::ptr_eq(arg, it)))
            };
            let is_plain =
                |it: &Rc<TensorObj>| it.peek().edge().is_none_or(Edge::is_leaf) && !is_passed(it);
            (before.grads[at].is_some() == has.is_some() || is_known())
                && has.as_ref().is_none_or(is_plain)
        };
        (0..before.grads.len()).all(is_left)
    }

    pub(super) fn grad(&self, of: usize) -> Option<Rc<TensorObj>> {
        self.world.tensor(of)?.grad()
    }

    /// Whether a tensor is a view that shows all of another one of the world as it is: then that one is the variable.
    fn shows_another(&self, object: &Rc<TensorObj>) -> bool {
        let Some((mut base, _)) = object.base_object() else { return false };
        let place = Place::of(&object.get());
        loop {
            if place.is(&base.get()) && self.world.number_of(&base).is_some() {
                return true;
            }
            match base.base_object() {
                Some((below, _)) => base = below,
                None => return false,
            }
        }
    }

    pub(super) fn object(&self, asked: &Asked<'_>, slot: Slot) -> Option<Rc<TensorObj>> {
        match slot {
            Slot::Found(at) => self.world.tensor(at),
            Slot::Grad { of, .. } => self.grad(of),
            Slot::Arg(at) => asked.object(at).cloned(),
        }
    }

    /// Tells the engine where the variables are now that the latest run has stored to.
    pub(super) fn settle(&self) {
        let Some(way) = self.ways.get(self.latest.get()) else { return };
        let place = |slot: &Slot| {
            let object = match *slot {
                Slot::Found(at) => self.world.tensor(at),
                Slot::Grad { of, .. } => self.grad(of),
                Slot::Arg(_) => None,
            };
            object.map(|it| Place::of(&it.get()))
        };
        let places: Vec<Option<Place>> = way.slots.iter().map(place).collect();
        way.graph.settle(&places, &self.given.borrow());
    }

    /// What the graph gives that is known for these arguments, the numbers of that, and which way it is; nothing is stored yet, but for what
    /// is written where it lies, if it may be (`onto`). `None` where none is known.
    pub(super) fn outcome(
        &self,
        cx: &mut Cx,
        asked: &Asked<'_>,
        onto: bool,
    ) -> engine::Result<Option<(usize, Vec<Value>, Ran)>> {
        let mut tried = None;
        for _ in 0..MOST_TRIED {
            let Some((at, mut numbers)) = self.way(cx, asked, tried) else { break };
            match self.ran(cx, asked, (at, onto), &mut numbers)? {
                Some(ran) => return Ok(Some((at, numbers, ran))),
                None => tried = Some(at),
            }
        }
        Ok(None)
    }

    /// What the graph gives, and the numbers that come of it; nothing is stored yet. `None` if they show that the call goes another way.
    fn ran(
        &self,
        cx: &mut Cx,
        asked: &Asked<'_>,
        (at, onto): (usize, bool),
        numbers: &mut [Value],
    ) -> engine::Result<Option<Ran>> {
        timing::without_body(|| self.ran_alone(cx, asked, (at, onto), numbers))
    }

    fn ran_alone(
        &self,
        cx: &mut Cx,
        asked: &Asked<'_>,
        (at, onto): (usize, bool),
        numbers: &mut [Value],
    ) -> engine::Result<Option<Ran>> {
        let way = &self.ways[at];
        if let Some(lent) = onto.then(|| Lent::of(self, asked, way)).flatten() {
            return self.ran_onto(cx, lent, way, numbers);
        }
        let drawn = (way.numbers.has_late() && way.graph.draws()).then(Everywhere::now);
        let ran = self.graph_ran(asked, way, numbers)?;
        let element = |it: &Tensor| it.item().ok();
        let reads = ran.results[way.made.len()..].iter().map(element);
        let is_it = way.numbers.add_late(cx, numbers, reads).is_some();
        if let Some(drawn) = drawn.filter(|_| !is_it) {
            drawn.resume();
        }
        Ok(is_it.then_some(ran))
    }

    fn graph_ran(&self, asked: &Asked<'_>, way: &Way, numbers: &[Value]) -> engine::Result<Ran> {
        let variable = |at: usize| match (way.slots[at], self.object(asked, way.slots[at])) {
            (Slot::Grad { of, .. }, None) => Some(self.world.tensor(of)?.get()),
            (_, object) => Some(object?.get()),
        };
        let number = |at: usize| way.numbers.fed(at, numbers);
        way.graph.run(&asked.tensors(), &Now { variable: &variable, number: &number })
    }

    /// As [`Variant::ran`], with variables that the graph writes where they lie, once it is known that the call goes this way.
    fn ran_onto(
        &self,
        cx: &mut Cx,
        mut lent: Lent<'_>,
        way: &Way,
        numbers: &mut [Value],
    ) -> engine::Result<Option<Ran>> {
        let fed: Vec<Option<Tensor>> = way.numbers.all_fed(numbers);
        let Lent { asked, tensors, others, .. } = &mut lent;
        let variable = |at: usize| others.get(at)?.clone();
        let number = |at: usize| fed.get(at).cloned().flatten();
        let now = Now { variable: &variable, number: &number };
        let n_results = way.graph.n_results();
        let mut decide = |first: &dyn Fn(usize) -> Option<Number>| {
            let reads = (way.made.len()..n_results).map(first);
            way.numbers.add_late(cx, numbers, reads).is_some()
        };
        let ran = way.graph.run_onto(&asked.tensors(), &now, tensors, &mut decide);
        if matches!(ran, Ok(Some(_))) {
            lent.are_written();
        }
        ran
    }

    /// Stores what the graph has given; what the function returns.
    pub(super) fn commit(
        &self,
        cx: &mut Cx,
        asked: &Asked<'_>,
        (at, numbers): (usize, &[Value]),
        ran: Ran,
    ) -> Res {
        let way = &self.ways[at];
        self.latest.set(at);
        way.graph.count();
        way.numbers.store(numbers);
        for (at, value) in ran.stored {
            self.store(asked, way.slots[at], value)?;
        }
        for slot in &way.slots {
            self.remove(*slot);
        }
        self.given.replace(ran.results.iter().map(Place::of).collect());
        let results = way.objects(&ran.results);
        let grad = |of: usize| self.grad(of).map(Value::Tensor);
        let complete = RefCell::default();
        let (args, results) = (&asked.passed[..], &results[..]);
        let filling = Filling { args, results, grad: &grad, numbers, complete: &complete };
        way.template.filled(cx, &filling)
    }

    fn remove(&self, slot: Slot) {
        if let Slot::Grad { of, fate: Fate::Removed } = slot
            && let Some(owner) = self.world.tensor(of)
        {
            journal::grad_changes(&owner);
            owner.set_grad(None);
        }
    }

    fn store(&self, asked: &Asked<'_>, slot: Slot, value: Tensor) -> Result<(), Raised> {
        if let Slot::Grad { of, fate: Fate::Replaced } = slot {
            let Some(owner) = self.world.tensor(of) else { return Ok(()) };
            journal::grad_changes(&owner);
            owner.set_grad(Some(Rc::new(TensorObj::new(value))));
            return Ok(());
        }
        let Some(object) = self.object(asked, slot) else { return Ok(()) };
        // A view of what the function finds shows what is stored there.
        let root = TensorObj::root(&object);
        let is_seen_there = !Rc::ptr_eq(&root, &object)
            && (!matches!(slot, Slot::Arg(_)) || self.world.number_of(&root).is_some());
        if !is_seen_there {
            journal::value_changes(&object);
            let layout = object.seen().layout().clone();
            object.set_data(methods::lying_as(value, &layout)?)?;
        }
        Ok(())
    }
}

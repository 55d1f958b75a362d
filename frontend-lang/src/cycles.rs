//! Freeing what only refers to itself: objects in reference cycles.
//!
//! Reference counts free everything else at once. The method is CPython's (`Modules/gcmodule.c`; it is the
//! trial deletion of Bacon and Rajan, "Concurrent Cycle Collection in Reference Counted Systems", ECOOP
//! 2001, done in one go): from the count of every object take the references that other objects hold;
//! what is left over comes from outside, and what cannot be reached from there is garbage.
//!
//! The last reference of a cycle is always stored into an object that exists already. So only an object into
//! which a container is stored is a *candidate*, and a cycle is found from one of its candidates. What does
//! not show a value it holds, or stands borrowed, keeps it alive: this errs on the side of not freeing.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use rustc_hash::FxHashMap;

use crate::native::NativeObject;
use crate::objects::class::{Class, Instance};
use crate::objects::function::{CellVar, Func};
use crate::objects::generator::{GenState, Generator, abandon};
use crate::table::{Dict, Set};
use crate::value::{Boxed, List, Value};

/// Fewest candidates at which a running program is interrupted for a collection.
const FEWEST: usize = 50_000;

/// An object that may be part of a cycle.
pub(crate) enum Candidate {
    List(Weak<List>),
    Dict(Weak<Dict>),
    Set(Weak<Set>),
    Func(Weak<Func>),
    Generator(Weak<Generator>),
    Cell(Weak<CellVar>),
    Class(Weak<Class>),
    Instance(Weak<Instance>),
    Object(Weak<Boxed>),
}

thread_local! {
    static CANDIDATES: RefCell<Vec<Candidate>> = const { RefCell::new(Vec::new()) };
    /// Number of candidates at which dead ones are swept, and perhaps a collection is asked for.
    static SWEEP_AT: Cell<usize> = const { Cell::new(FEWEST) };
    static FRESH: Cell<bool> = const { Cell::new(false) };
    static WANTED: Cell<bool> = const { Cell::new(false) };
    static ENABLED: Cell<bool> = const { Cell::new(true) };
}

/// True for values that hold others, through which a cycle can go.
#[inline]
pub(crate) fn holds(value: &Value) -> bool {
    use Value::*;
    !matches!(
        value,
        Unbound
            | None
            | Bool(_)
            | Int(_)
            | Float(_)
            | Ellipsis
            | NotImplemented
            | Str(_)
            | Range(_)
            | Native(_)
            | Tensor(_)
            | Module(_)
    )
}

/// Notes an object into which a container has been stored.
pub(crate) fn note(candidate: Candidate) {
    let _ = CANDIDATES.try_with(|it| {
        let Ok(mut all) = it.try_borrow_mut() else { return };
        all.push(candidate);
        FRESH.set(true);
        if all.len() >= SWEEP_AT.get() {
            all.retain(Candidate::lives);
            let crowded = all.len() * 2 > SWEEP_AT.get();
            if crowded && ENABLED.get() {
                WANTED.set(true);
            }
            SWEEP_AT.set((all.len() * 4).max(FEWEST));
        }
    });
}

/// True if a collection should run at the next safe place.
#[inline]
pub(crate) fn is_wanted() -> bool {
    WANTED.get()
}

/// Asks for a collection at the next safe place.
pub(crate) fn look_soon() {
    WANTED.set(true);
}

/// Turns collections on or off; `gc.collect()` works always.
pub fn set_enabled(on: bool) {
    ENABLED.set(on);
}

/// Whether collections run by themselves.
pub fn enabled() -> bool {
    ENABLED.get()
}

/// A collection at the end of a cell, if anything has been stored since the last one.
pub fn collect_after_cell() {
    if FRESH.get() && ENABLED.get() {
        collect();
    }
}

/// Frees all objects that only refer to one another; returns their number.
pub fn collect() -> usize {
    WANTED.set(false);
    FRESH.set(false);
    let garbage = Graph::of_candidates().garbage();
    let count = garbage.len();
    garbage.iter().for_each(clear);
    // Objects go one by one, each empty already.
    drop(garbage);
    CANDIDATES.with_borrow_mut(|all| {
        all.retain(Candidate::lives);
        SWEEP_AT.set((all.len() * 4).max(FEWEST));
    });
    count
}

impl Candidate {
    /// A weak reference to an object that holds others and can change.
    pub(crate) fn of(value: &Value) -> Option<Candidate> {
        Some(match value {
            Value::List(it) => Candidate::List(Rc::downgrade(it)),
            Value::Dict(it) => Candidate::Dict(Rc::downgrade(it)),
            Value::Set(it) => Candidate::Set(Rc::downgrade(it)),
            Value::Func(it) => Candidate::Func(Rc::downgrade(it)),
            Value::Generator(it) => Candidate::Generator(Rc::downgrade(it)),
            Value::Cell(it) => Candidate::Cell(Rc::downgrade(it)),
            Value::Class(it) => Candidate::Class(Rc::downgrade(it)),
            Value::Instance(it) => Candidate::Instance(Rc::downgrade(it)),
            Value::Object(it) => Candidate::Object(Rc::downgrade(it)),
            _ => return None,
        })
    }

    fn lives(&self) -> bool {
        0 < match self {
            Candidate::List(it) => it.strong_count(),
            Candidate::Dict(it) => it.strong_count(),
            Candidate::Set(it) => it.strong_count(),
            Candidate::Func(it) => it.strong_count(),
            Candidate::Generator(it) => it.strong_count(),
            Candidate::Cell(it) => it.strong_count(),
            Candidate::Class(it) => it.strong_count(),
            Candidate::Instance(it) => it.strong_count(),
            Candidate::Object(it) => it.strong_count(),
        }
    }

    /// The object, if it is still there.
    pub(crate) fn value(&self) -> Option<Value> {
        Some(match self {
            Candidate::List(it) => Value::List(it.upgrade()?),
            Candidate::Dict(it) => Value::Dict(it.upgrade()?),
            Candidate::Set(it) => Value::Set(it.upgrade()?),
            Candidate::Func(it) => Value::Func(it.upgrade()?),
            Candidate::Generator(it) => Value::Generator(it.upgrade()?),
            Candidate::Cell(it) => Value::Cell(it.upgrade()?),
            Candidate::Class(it) => Value::Class(it.upgrade()?),
            Candidate::Instance(it) => Value::Instance(it.upgrade()?),
            Candidate::Object(it) => Value::Object(it.upgrade()?),
        })
    }
}

/// The candidates and all that can be reached from them.
#[derive(Default)]
struct Graph {
    nodes: Vec<Node>,
    places: FxHashMap<usize, u32>,
}

struct Node {
    value: Value,
    /// References held by other nodes.
    inner: usize,
    reached: bool,
}

impl Graph {
    fn of_candidates() -> Graph {
        let mut graph = Graph::default();
        CANDIDATES.with_borrow(|all| {
            for value in all.iter().filter_map(Candidate::value) {
                graph.add(&value);
            }
        });
        let mut at = 0;
        while at < graph.nodes.len() {
            let value = graph.nodes[at].value.clone();
            children(&value, &mut |child| {
                if holds(child) {
                    let place = graph.add(child);
                    graph.nodes[place].inner += 1;
                }
            });
            at += 1;
        }
        graph
    }

    fn add(&mut self, value: &Value) -> usize {
        let address = value.address().unwrap_or(0);
        let next = self.nodes.len() as u32;
        let place = *self.places.entry(address).or_insert(next);
        if place == next {
            self.nodes.push(Node { value: value.clone(), inner: 0, reached: false });
        }
        place as usize
    }

    /// The objects that cannot be reached from outside.
    fn garbage(mut self) -> Vec<Value> {
        let mut waiting: Vec<u32> = Vec::new();
        for (place, node) in self.nodes.iter_mut().enumerate() {
            // One reference is the graph's own.
            if strong_count(&node.value) > node.inner + 1 {
                node.reached = true;
                waiting.push(place as u32);
            }
        }
        while let Some(place) = waiting.pop() {
            let value = self.nodes[place as usize].value.clone();
            children(&value, &mut |child| {
                let Some(place) = child.address().and_then(|it| self.places.get(&it)) else {
                    return;
                };
                let node = &mut self.nodes[*place as usize];
                if !std::mem::replace(&mut node.reached, true) {
                    waiting.push(*place);
                }
            });
        }
        self.nodes.into_iter().filter(|it| !it.reached).map(|it| it.value).collect()
    }
}

/// Shows every value that `value` holds a reference to.
pub(crate) fn children(value: &Value, visit: &mut dyn FnMut(&Value)) {
    match value {
        Value::List(it) => {
            if let Ok(items) = it.items.try_borrow() {
                items.iter().for_each(visit);
            }
        }
        Value::Tuple(it) => it.iter().for_each(visit),
        Value::Dict(it) => it.traverse(visit),
        Value::Set(it) => it.traverse(visit),
        Value::Slice(it) => [&it.start, &it.stop, &it.step].into_iter().for_each(visit),
        Value::Func(it) => it.traverse(visit),
        Value::Generator(it) => it.traverse(visit),
        Value::Cell(it) => {
            if let Ok(value) = it.try_borrow() {
                visit(&value);
            }
        }
        Value::Method(it) => {
            visit(&it.func);
            visit(&it.this);
        }
        Value::Class(it) => it.traverse(visit),
        Value::Instance(it) => it.traverse(visit),
        Value::Iter(it) => it.traverse(visit),
        Value::Object(it) => it.traverse(visit),
        _ => {}
    }
}

fn strong_count(value: &Value) -> usize {
    match value {
        Value::Tuple(it) => Rc::strong_count(it),
        Value::List(it) => Rc::strong_count(it),
        Value::Dict(it) => Rc::strong_count(it),
        Value::Set(it) => Rc::strong_count(it),
        Value::Slice(it) => Rc::strong_count(it),
        Value::Func(it) => Rc::strong_count(it),
        Value::Generator(it) => Rc::strong_count(it),
        Value::Cell(it) => Rc::strong_count(it),
        Value::Method(it) => Rc::strong_count(it),
        Value::Class(it) => Rc::strong_count(it),
        Value::Instance(it) => Rc::strong_count(it),
        Value::Iter(it) => Rc::strong_count(it),
        Value::Object(it) => Rc::strong_count(it),
        // Never garbage.
        _ => usize::MAX,
    }
}

/// Drops what an object holds, if it can change.
fn clear(value: &Value) {
    match value {
        Value::List(it) => it.clear(),
        Value::Dict(it) => it.let_go(),
        Value::Set(it) => it.clear(),
        Value::Func(it) => drop(it.attrs.try_borrow_mut().map(|mut it| std::mem::take(&mut *it))),
        Value::Generator(it) => {
            let state =
                it.state.try_borrow_mut().map(|mut it| std::mem::replace(&mut *it, GenState::Done));
            drop(state.map(abandon));
        }
        Value::Cell(it) => drop(it.try_borrow_mut().map(|mut it| std::mem::take(&mut *it))),
        Value::Class(it) => it.clear(),
        Value::Instance(it) => it.clear(),
        Value::Object(it) => NativeObject::clear(&***it),
        _ => {}
    }
}

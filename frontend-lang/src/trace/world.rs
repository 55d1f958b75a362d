//! What a function can find: every object that can be reached from it and from its arguments, as they are at one moment.
//!
//! A run without the body gives what the body would only while all of this is the same. Tensors count by identity, kind and place on
//! the tape, not by their elements: those are what a graph computes with. Code that comes with the language is taken to stay as it
//! is, but for attributes that programs set in its modules and classes, and for what is found in its modules when the body runs.

use std::cell::Cell;
use std::rc::{Rc, Weak};

use engine::apply::{autocast, default_dtype};
use engine::autograd;
use rustc_hash::FxHashSet;

use super::node::{Node, Row, can_change};
use super::slots::Beside;
use crate::error::Raised;
use crate::native::*;
use crate::objects::class::{self, with_article};
use crate::objects::module;
use crate::objects::tensor::{TensorObj, assigned_grads};
use crate::value::Value;

/// The objects that a function can find, with what each holds. It keeps none of them alive.
#[derive(Default)]
pub(super) struct World {
    /// The function and its arguments but for tensors; `None` until all that is found from them is known.
    roots: Option<Row>,
    settings: Settings,
    nodes: Vec<Node>,
    /// Where they are.
    addresses: FxHashSet<usize>,
    /// Places in all of them.
    n_places: usize,
    /// [`assigned_grads`] when the gradients were last looked at.
    assigned: Cell<u32>,
    /// Names that a body is called with or binds, which functions do not find.
    beside: Option<Beside>,
    /// Which of the nodes ask something for its length alone.
    counting: Vec<usize>,
    /// The tensors among them.
    tensors: Vec<Weak<TensorObj>>,
}

/// Settings of the session that say what ops do.
#[derive(PartialEq, Default)]
struct Settings {
    gradients: bool,
    autocast: [Option<engine::DType>; 2],
    default_dtype: Option<engine::DType>,
    classes: u32,
    modules: u32,
}

impl Settings {
    fn now() -> Settings {
        Settings {
            gradients: autograd::enabled(),
            autocast: autocast::halves(),
            default_dtype: Some(default_dtype::get()),
            classes: class::changes(),
            modules: module::changes(),
        }
    }
}

impl World {
    /// What is found from these roots now, but by functions in these names; an error names an object whose state cannot be seen.
    pub(super) fn of(roots: &[Value], beside: Option<Beside>) -> Result<World, Raised> {
        let mut world = World { settings: Settings::now(), beside, ..World::default() };
        let mut found = Vec::new();
        let row = Row::of(roots, &mut |it| found.push(it.clone()));
        found.into_iter().try_for_each(|it| world.grow(it))?;
        world.roots = Some(row);
        Ok(world)
    }

    /// Takes in an object that was found by another way, with all that is found from it.
    pub(super) fn grow(&mut self, found: Value) -> Result<(), Raised> {
        let n_tensors = self.tensors.len();
        let mut waiting = Vec::new();
        // What stands in a tuple or method is found with it.
        Row::of(&[found], &mut |it| waiting.push(it.clone()));
        while let Some(object) = waiting.pop() {
            let Some(address) = object.address().filter(|_| can_change(&object)) else { continue };
            if !self.addresses.insert(address) {
                continue;
            }
            let first = waiting.len();
            let node = match hidden(&object) {
                None => {
                    Node::beside(&object, self.beside.as_ref(), &mut |it| waiting.push(it.clone()))
                }
                Some(problem) => return Err(self.cannot_see(&object, problem)),
            };
            waiting[first..].reverse();
            if let Value::Tensor(it) = &object {
                self.tensors.push(Rc::downgrade(it));
            }
            if let Some(node) = node {
                self.n_places += node.len() + 1;
                if node.has_lengths() {
                    self.counting.push(self.nodes.len());
                }
                self.nodes.push(node);
            }
        }
        match self.tensors.len() == n_tensors || self.has_own_grads() {
            true => Ok(()),
            false => Err(refused(
                "the .grad of a tensor is a view of another tensor, or that of two, or found by another way too; give each a .grad of its own",
            )),
        }
    }

    /// How much there is to compare.
    pub(super) fn n_places(&self) -> usize {
        self.n_places
    }

    /// Whether it is still what is found from these roots.
    pub(super) fn is(&self, roots: &[Value]) -> bool {
        self.holds(roots, Node::is_unchanged)
    }

    /// The same, but for which tensors have gradients.
    pub(super) fn is_but_gradients(&self, roots: &[Value]) -> bool {
        self.holds(roots, Node::is_unchanged_but_gradient)
    }

    #[inline]
    fn holds(&self, roots: &[Value], is_unchanged: impl Fn(&Node) -> bool) -> bool {
        // The settings say that no attribute of a class has changed.
        self.settings == Settings::now()
            && self.roots.as_ref().is_some_and(|it| it.is(roots))
            && self.nodes.iter().all(|it| it.is_class() || is_unchanged(it))
            && (self.assigned.get() == assigned_grads() || self.has_own_grads())
    }

    /// Whether all of its objects are there, so that it can be the world again.
    pub(super) fn can_return(&self) -> bool {
        self.nodes.iter().all(|it| it.object().is_some())
    }

    /// Whether each gradient is that of one tensor, no view, and found by no other way.
    fn has_own_grads(&self) -> bool {
        let mut seen = FxHashSet::default();
        let mut is_own = |it: Rc<TensorObj>| {
            it.grad().is_none_or(|grad| {
                let address = Rc::as_ptr(&grad).addr();
                let is_found = self.addresses.contains(&address);
                !is_found && grad.base_object().is_none() && seen.insert(address)
            })
        };
        let all_own = self.tensors.iter().filter_map(Weak::upgrade).all(&mut is_own);
        if all_own {
            self.assigned.set(assigned_grads());
        }
        all_own
    }

    /// The objects, but for tensors, that hold other things now, as they are now.
    pub(super) fn changed(&self) -> impl Iterator<Item = Node> {
        let changed = self.nodes.iter().filter(|it| !it.is_unchanged());
        changed.filter(|it| !matches!(it.object(), Some(Value::Tensor(_)))).filter_map(Node::again)
    }

    /// All of its objects that are still there.
    pub(super) fn objects(&self) -> Vec<Value> {
        self.nodes.iter().filter_map(Node::object).collect()
    }

    /// Whether this object is part of it.
    pub(super) fn has(&self, object: &Value) -> bool {
        object.address().is_some_and(|it| self.addresses.contains(&it))
    }

    /// Whether a function in it asks this object for its length, and does not find it.
    pub(super) fn counts(&self, object: &Value) -> bool {
        self.counting.iter().any(|at| self.nodes[*at].counts(object))
    }

    /// How many tensors it has.
    pub(super) fn n_tensors(&self) -> usize {
        self.tensors.len()
    }

    /// Tensor `at`, if it is still there.
    pub(super) fn tensor(&self, at: usize) -> Option<Rc<TensorObj>> {
        self.tensors.get(at)?.upgrade()
    }

    /// The number of a tensor.
    pub(super) fn number_of(&self, object: &Rc<TensorObj>) -> Option<usize> {
        self.tensors.iter().position(|it| it.as_ptr() == Rc::as_ptr(object))
    }

    /// The tensor, by number, whose gradient this object is now.
    pub(super) fn whose_grad(&self, object: &Rc<TensorObj>) -> Option<usize> {
        let is_its = |at: &usize| {
            let grad = self.tensor(*at).and_then(|it| it.grad());
            grad.is_some_and(|it| Rc::ptr_eq(&it, object))
        };
        (0..self.tensors.len()).find(is_its)
    }

    fn cannot_see(&self, object: &Value, problem: &str) -> Raised {
        let kind = with_article(type_name(object));
        // Once the roots are known, the body itself has come by it.
        if self.roots.is_some() {
            return refused(&format!(
                "this finds {kind} in a module, {problem}; use it outside and pass what it gives, or trace without without_host"
            ));
        }
        let address = object.address().unwrap_or_default();
        let holder = self.nodes.iter().find(|it| it.holds(address));
        let place = match holder.and_then(Node::object) {
            Some(Value::Func(it)) => format!("what `{}` uses", it.code.name),
            Some(Value::Instance(it)) => {
                format!("the attributes of {}", with_article(it.class.name.as_str()))
            }
            Some(other) => with_article(type_name(&other)),
            None => "the arguments".to_owned(),
        };
        refused(&format!(
            "among {place} is {kind}, {problem}; make it inside the function, or trace without without_host"
        ))
    }
}

fn refused(problem: &str) -> Raised {
    Raised::new(&TRACE_ERROR, format!("without_host=True: {problem}"))
}

/// Why the state of an object cannot be seen.
fn hidden(object: &Value) -> Option<&'static str> {
    match object {
        Value::Generator(_) | Value::Iter(_) => Some("which gives other things each time"),
        Value::Tensor(it) if it.peek().edge().is_some_and(|it| !it.is_leaf()) => {
            Some("which has a history: its gradient would be lost (detach() it)")
        }
        Value::Object(it) if !it.is_constant() && !it.shows_state() => {
            Some("whose state a graph does not have")
        }
        _ => None,
    }
}

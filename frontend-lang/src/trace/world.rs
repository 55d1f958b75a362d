//! What a function can find: every object that can be reached from it and from its arguments, as they are at one moment.
//!
//! A run without the body gives what the body would only while all of this is the same. Tensors count by identity, kind and place on
//! the tape, not by their elements: those are what a graph computes with. Code that comes with the language is taken to stay as it
//! is, but for attributes that programs set in its modules and classes.

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use engine::apply::autocast;
use engine::autograd;
use rustc_hash::{FxHashSet, FxHasher};

use crate::bytecode::{Code, Op};
use crate::cycles;
use crate::error::Raised;
use crate::native::*;
use crate::objects::class::{class_version, with_article};
use crate::objects::module;
use crate::objects::tensor::{TensorObj, assigned_grads};
use crate::value::Value;
use crate::vm::import::is_built_in;

/// The objects that a function can find, with what each holds.
#[derive(Default)]
pub(super) struct World {
    /// The function and its arguments but for tensors.
    roots: Vec<Value>,
    settings: Settings,
    nodes: Vec<Node>,
    /// Where they are.
    addresses: FxHashSet<usize>,
    /// [`assigned_grads`] when the gradients were last looked at.
    assigned: Cell<u32>,
    /// The tensors among them.
    pub(super) tensors: Vec<Rc<TensorObj>>,
}

/// Settings of the session that say what ops do.
#[derive(PartialEq, Default)]
struct Settings {
    gradients: bool,
    autocast: Option<engine::DType>,
    classes: u32,
    modules: u32,
}

/// An object, and what it holds.
pub(crate) struct Node {
    object: Value,
    /// Global names of a function, by their slots.
    slots: Box<[u32]>,
    held: Vec<Value>,
}

impl Settings {
    fn now() -> Settings {
        Settings {
            gradients: autograd::enabled(),
            autocast: autocast::half(),
            classes: class_version(),
            modules: module::changes(),
        }
    }
}

impl World {
    /// What is found from these roots now; an error names an object whose state cannot be seen.
    pub(super) fn of(roots: Vec<Value>) -> Result<World, Raised> {
        let mut world = World { settings: Settings::now(), ..World::default() };
        roots.iter().try_for_each(|it| world.grow(it))?;
        world.roots = roots;
        Ok(world)
    }

    /// Takes in an object that was found by another way, with all that is found from it.
    pub(super) fn grow(&mut self, found: &Value) -> Result<(), Raised> {
        let mut waiting = vec![found.clone()];
        let n_tensors = self.tensors.len();
        while let Some(object) = waiting.pop() {
            let Some(address) =
                object.address().filter(|_| cycles::holds(&object) || is_open(&object))
            else {
                continue;
            };
            if self.addresses.contains(&address) || is_closed(&object) {
                continue;
            }
            if let Some(problem) = hidden(&object) {
                return Err(self.cannot_see(&object, problem));
            }
            self.addresses.insert(address);
            let node = Node::of(object);
            waiting.extend(node.held.iter().rev().cloned());
            if let Value::Tensor(it) = &node.object {
                self.tensors.push(it.clone());
            }
            self.nodes.push(node);
        }
        match self.tensors.len() == n_tensors || self.has_own_grads() {
            true => Ok(()),
            false => Err(refused(
                "the .grad of a tensor is a view of another tensor, or that of two; give each a .grad of its own",
            )),
        }
    }

    /// How many objects it has.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether it is still what is found from these roots.
    pub(super) fn is(&self, roots: &[Value]) -> bool {
        self.settings == Settings::now()
            && roots.len() == self.roots.len()
            && roots.iter().zip(&self.roots).all(|(a, b)| is_same(a, b))
            && self.nodes.iter().all(Node::is_unchanged)
            && (self.assigned.get() == assigned_grads() || self.has_own_grads())
    }

    /// Whether each gradient is that of one tensor, and no view.
    fn has_own_grads(&self) -> bool {
        let mut seen = FxHashSet::default();
        let is_own = |it: &Rc<TensorObj>| {
            it.grad().is_none_or(|grad| {
                grad.base_object().is_none() && seen.insert(Rc::as_ptr(&grad).addr())
            })
        };
        self.assigned.set(assigned_grads());
        self.tensors.iter().all(is_own)
    }

    /// The objects, but for tensors, that hold other things now, as they are now.
    pub(super) fn changed(&self) -> Vec<Node> {
        let changed = self.nodes.iter().filter(|it| !it.is_unchanged());
        let changed = changed.filter(|it| !matches!(it.object, Value::Tensor(_)));
        changed.map(|it| Node::of(it.object.clone())).collect()
    }

    /// Whether this object is part of it.
    pub(super) fn has(&self, object: &Value) -> bool {
        object.address().is_some_and(|it| self.addresses.contains(&it))
    }

    /// The tensor, by number, whose gradient this object is now.
    pub(super) fn whose_grad(&self, object: &Rc<TensorObj>) -> Option<usize> {
        let is_its = |it: &Rc<TensorObj>| it.grad().is_some_and(|grad| Rc::ptr_eq(&grad, object));
        self.tensors.iter().position(is_its)
    }

    /// Shows what it keeps alive.
    pub(super) fn traverse(&self, visit: &mut dyn FnMut(&Value)) {
        self.roots.iter().for_each(&mut *visit);
        self.nodes.iter().for_each(|it| it.traverse(visit));
    }

    fn cannot_see(&self, object: &Value, problem: &str) -> Raised {
        let kind = with_article(type_name(object));
        // Once the roots are known, the body itself has come by it.
        if !self.roots.is_empty() {
            return refused(&format!(
                "this finds {kind} in a module, {problem}; use it outside and pass what it gives, or trace without without_host"
            ));
        }
        let holder = self.nodes.iter().find(|it| it.held.iter().any(|held| held.is(object)));
        let place = match holder.map(|it| &it.object) {
            Some(Value::Func(it)) => format!("what `{}` uses", it.code.name),
            Some(Value::Instance(it)) => {
                format!("an attribute of {}", with_article(it.class.name.as_str()))
            }
            Some(other) => with_article(type_name(other)),
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

impl Node {
    fn of(object: Value) -> Node {
        let slots = match &object {
            Value::Func(it) => global_slots(&it.code),
            _ => Box::default(),
        };
        let mut held = Vec::new();
        parts(&object, &slots, &mut |it| held.push(it.clone()));
        Node { object, slots, held }
    }

    /// Shows what it keeps alive.
    pub(super) fn traverse(&self, visit: &mut dyn FnMut(&Value)) {
        visit(&self.object);
        self.held.iter().for_each(visit);
    }

    /// As it is now.
    pub(super) fn again(&self) -> Node {
        Node::of(self.object.clone())
    }

    /// Whether the object holds what it held.
    pub(super) fn is_unchanged(&self) -> bool {
        let mut held = self.held.iter();
        let mut same = true;
        parts(&self.object, &self.slots, &mut |it| {
            same = same && held.next().is_some_and(|had| is_same(had, it));
        });
        same && held.next().is_none()
    }

    /// What a program would call it: `a list`, `the globals that step uses`.
    pub(super) fn described(&self) -> String {
        match &self.object {
            Value::Func(it) => format!("a global name or attribute of `{}`", it.code.name),
            Value::Instance(it) => {
                format!("an attribute of {}", with_article(it.class.name.as_str()))
            }
            Value::Class(it) => format!("an attribute of the class {}", it.name),
            Value::Module(it) => format!("a name of the module {}", it.name),
            Value::Cell(_) => "a variable of an outer function".to_owned(),
            other => format!("{} made outside", with_article(type_name(other))),
        }
    }
}

/// Whether an object that cycles do not go through can hold others.
fn is_open(object: &Value) -> bool {
    matches!(object, Value::Tensor(_) | Value::Module(_))
}

/// Shows what an object holds, in order; marks stand for what are no values.
fn parts(object: &Value, slots: &[u32], visit: &mut dyn FnMut(&Value)) {
    match object {
        Value::Tensor(it) => tensor_parts(it, visit),
        Value::Module(it) => it.globals.slots.borrow().iter().for_each(|it| visit(&it.value)),
        Value::Func(it) => {
            it.traverse(visit);
            let globals = it.code.globals.slots.borrow();
            slots.iter().for_each(|&slot| visit(&globals[slot as usize].value));
        }
        Value::Instance(it) => {
            it.traverse(visit);
            if let Ok(attrs) = it.attrs.try_borrow() {
                visit(&mark(|hasher| attrs.keys().for_each(|it| it.hash(hasher))));
            }
        }
        _ => cycles::children(object, visit),
    }
}

fn tensor_parts(object: &Rc<TensorObj>, visit: &mut dyn FnMut(&Value)) {
    if let Some((base, _)) = object.base_object() {
        visit(&Value::Tensor(base));
    }
    object.hooks().iter().for_each(&mut *visit);
    let value = object.peek();
    visit(&mark(|hasher| {
        (value.dtype(), value.shape().as_ref(), value.layout().strides.as_ref()).hash(hasher);
        value.edge().map(|it| (it.is_leaf(), object.is_parameter())).hash(hasher);
        value.as_number().map(|it| format!("{it:?}")).hash(hasher);
        object.grad().map(|it| (it.peek().dtype(), it.peek().shape().to_vec())).hash(hasher);
    }));
}

fn mark(write: impl FnOnce(&mut FxHasher)) -> Value {
    let mut hasher = FxHasher::default();
    write(&mut hasher);
    Value::Int(hasher.finish() as i64)
}

/// Whether an object comes with the language and holds nothing else: it stays as it is, as the versions of classes and modules say.
fn is_closed(object: &Value) -> bool {
    match object {
        Value::Module(it) => is_built_in(&it.name),
        Value::Func(it) => {
            let mut open = it.code.sites != 0;
            it.traverse(&mut |it| open |= !holds_nothing(it));
            !open
        }
        Value::Class(it) => {
            let base = it.base.as_ref().is_none_or(|it| is_closed(&Value::Class(it.clone())));
            base && it.attrs.try_borrow().is_ok_and(|it| it.values().all(holds_nothing))
        }
        _ => false,
    }
}

/// Whether nothing that can change is found through a value.
fn holds_nothing(value: &Value) -> bool {
    match value.core() {
        it @ Value::Func(_) => is_closed(it),
        Value::Object(it) if it.is_constant() => {
            let mut open = false;
            it.traverse(&mut |it| open |= !holds_nothing(it));
            !open
        }
        other => !cycles::holds(other),
    }
}

/// The global names that code and the functions in it read or bind; none of code that comes with the language.
fn global_slots(code: &Code) -> Box<[u32]> {
    fn add(code: &Code, slots: &mut Vec<u32>) {
        slots.extend(code.ops.iter().filter_map(|it| match *it {
            Op::Global(slot) | Op::SetGlobal(slot) | Op::DelGlobal(slot) => Some(slot),
            _ => None,
        }));
        code.children.iter().for_each(|it| add(it, slots));
    }
    let mut slots = Vec::new();
    if code.sites != 0 {
        add(code, &mut slots);
    }
    slots.sort_unstable();
    slots.dedup();
    slots.into()
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

fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Str(a), Value::Str(b)) => Rc::ptr_eq(a, b) || a[..] == b[..],
        // Made anew wherever they are asked for.
        (Value::Method(a), Value::Method(b)) => {
            is_same(&a.func, &b.func) && is_same(&a.this, &b.this)
        }
        (Value::Cell(a), Value::Cell(b)) => Rc::ptr_eq(a, b),
        _ => match (a.address(), b.address()) {
            (Some(a), Some(b)) => a == b,
            _ => std::mem::discriminant(a) == std::mem::discriminant(b),
        },
    }
}

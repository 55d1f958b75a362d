//! One object that a function can find, and what it holds at one moment. Nothing here keeps an object alive: what is gone is another
//! world.

use std::hash::{Hash, Hasher};
use std::mem::Discriminant;
use std::rc::{Rc, Weak};

use rustc_hash::FxHasher;

use super::numbers::{is_tracked, kind_of};
use super::slots::{Beside, Shown, Slots};
use crate::cycles::{self, Candidate};
use crate::native::*;
use crate::objects::class::{Class, with_article};
use crate::objects::module::Module;
use crate::objects::tensor::TensorObj;
use crate::value::Value;
use crate::vm::import::is_built_in;

/// An object that may be gone by now; its address is not used again.
pub(super) enum Anchor {
    Holder(Candidate),
    Tensor(Weak<TensorObj>),
    Module(Weak<Module>),
    /// What cannot change itself, and stands so deep in others like it that it is an object of its own.
    Kept(Value),
}

/// Most levels of tuples, slices and methods that are taken as one value.
const DEEPEST: usize = 32;

/// An object, and what it holds.
pub(crate) struct Node {
    object: Anchor,
    /// Global names of a function.
    slots: Slots,
    held: Box<[Held]>,
}

/// What stands at one place.
enum Held {
    /// A value through which nothing is found that can change.
    Plain(Value),
    /// A number of this type, which differs from call to call.
    Number(Discriminant<Value>),
    /// The object at this address, which is a node of its own.
    At(usize),
    /// What cannot change itself: a tuple, a slice, a method. That many parts follow.
    Parts(usize),
}

/// What is seen at one place.
enum Seen<'a> {
    Value(&'a Value),
    Parts(usize),
}

impl Anchor {
    /// For objects that can change; `None` for others.
    pub(super) fn of(object: &Value) -> Option<Anchor> {
        match object {
            Value::Tensor(it) => Some(Anchor::Tensor(Rc::downgrade(it))),
            Value::Module(it) => Some(Anchor::Module(Rc::downgrade(it))),
            Value::Tuple(_) | Value::Method(_) | Value::Slice(_) => {
                Some(Anchor::Kept(object.clone()))
            }
            other => Candidate::of(other).map(Anchor::Holder),
        }
    }

    /// The object, if it is still there.
    pub(super) fn get(&self) -> Option<Value> {
        match self {
            Anchor::Holder(it) => it.value(),
            Anchor::Tensor(it) => it.upgrade().map(Value::Tensor),
            Anchor::Module(it) => it.upgrade().map(Value::Module),
            Anchor::Kept(it) => Some(it.clone()),
        }
    }
}

impl Node {
    /// As the object is now; shows the objects that it holds and that can change. `None` for one that cannot.
    pub(super) fn of(object: &Value, visit: &mut dyn FnMut(&Value)) -> Option<Node> {
        Node::beside(object, None, visit)
    }

    /// The same of what is found by a body that is called with these names or binds them.
    pub(super) fn beside(
        object: &Value,
        beside: Option<&Beside>,
        visit: &mut dyn FnMut(&Value),
    ) -> Option<Node> {
        Node::with(object, Slots::of(object, beside), visit)
    }

    fn with(object: &Value, slots: Slots, visit: &mut dyn FnMut(&Value)) -> Option<Node> {
        let anchor = Anchor::of(object)?;
        let mut held = Vec::new();
        parts(object, &slots, &mut |it| held.push(Held::of(it, visit)));
        Some(Node { object: anchor, slots, held: held.into() })
    }

    /// The object, if it is still there.
    pub(super) fn object(&self) -> Option<Value> {
        self.object.get()
    }

    /// As it is now.
    pub(super) fn again(&self) -> Option<Node> {
        Node::with(&self.object()?, self.slots.clone(), &mut |_| {})
    }

    /// Whether the object is there and holds what it held.
    pub(super) fn is_unchanged(&self) -> bool {
        self.object().is_some_and(|it| self.is_as_now(&it))
    }

    /// The same, but for the gradient of a tensor, which is its last part.
    pub(super) fn is_unchanged_but_gradient(&self) -> bool {
        let is_same =
            |it: Value| self.is_as_now_but(&it, usize::from(matches!(it, Value::Tensor(_))));
        self.object().is_some_and(is_same)
    }

    /// Whether it is a class, which is there.
    pub(super) fn is_class(&self) -> bool {
        matches!(&self.object, Anchor::Holder(Candidate::Class(it)) if it.strong_count() > 0)
    }

    /// Whether nobody can see a change of it.
    pub(super) fn is_unchanged_or_gone(&self) -> bool {
        self.object().is_none_or(|it| self.is_as_now(&it))
    }

    fn is_as_now(&self, object: &Value) -> bool {
        self.is_as_now_but(object, 0)
    }

    /// Whether it has as many parts, and all but so many at the end are the same.
    #[inline]
    fn is_as_now_but(&self, object: &Value, n_last: usize) -> bool {
        let compared = &self.held[..self.held.len().saturating_sub(n_last)];
        let (mut same, mut count) = (true, 0);
        parts(object, &self.slots, &mut |it| {
            same = same && compared.get(count).is_none_or(|had| had.is(&it));
            count += 1;
        });
        same && count == self.held.len()
    }

    /// Global names of a function that it finds the values of, by their slots.
    pub(super) fn slots(&self) -> &[u32] {
        self.slots.found()
    }

    /// Whether it is a function that asks something for its length, and for nothing else.
    pub(super) fn has_lengths(&self) -> bool {
        self.slots.has_lengths()
    }

    /// Whether it asks this object.
    pub(super) fn counts(&self, object: &Value) -> bool {
        let function = self.object();
        matches!(function, Some(Value::Func(it)) if self.slots.count(&it.code.globals, object))
    }

    /// How many places it has.
    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    /// Whether it holds the object at this address.
    pub(super) fn holds(&self, address: usize) -> bool {
        self.held.iter().any(|it| matches!(it, Held::At(at) if *at == address))
    }

    /// What a program would call it: `a list`, `the globals that step uses`.
    pub(super) fn described(&self) -> String {
        match self.object() {
            Some(Value::Func(it)) => format!("a global name or attribute of `{}`", it.code.name),
            Some(Value::Instance(it)) => {
                format!("an attribute of {}", with_article(it.class.name.as_str()))
            }
            Some(Value::Class(it)) => format!("an attribute of the class {}", it.name),
            Some(Value::Module(it)) => format!("a name of the module {}", it.name),
            Some(Value::Cell(_)) => "a variable of an outer function".to_owned(),
            Some(other) => format!("{} made outside", with_article(type_name(&other))),
            None => "an object made outside".to_owned(),
        }
    }
}

/// What some values are now, in order, to be compared later; shows the objects among them that can change.
pub(super) struct Row(Box<[Held]>);

impl Row {
    pub(super) fn of(values: &[Value], visit: &mut dyn FnMut(&Value)) -> Row {
        let mut held = Vec::with_capacity(values.len());
        values.iter().for_each(|it| spread(it, &mut |it| held.push(Held::of(it, visit))));
        Row(held.into())
    }

    /// Whether these are the same values.
    pub(super) fn is(&self, values: &[Value]) -> bool {
        let mut held = self.0.iter();
        let mut same = true;
        for value in values {
            spread(value, &mut |it| same = same && held.next().is_some_and(|had| had.is(&it)));
        }
        same && held.next().is_none()
    }
}

impl Held {
    fn of(seen: Seen<'_>, visit: &mut dyn FnMut(&Value)) -> Held {
        match seen {
            Seen::Parts(n) => Held::Parts(n),
            Seen::Value(value) if is_tracked(value) => {
                kind_of(value).map_or(Held::Parts(0), Held::Number)
            }
            Seen::Value(value) => match value.address().filter(|_| can_change(value)) {
                Some(address) => {
                    visit(value);
                    Held::At(address)
                }
                None => Held::Plain(value.clone()),
            },
        }
    }

    fn is(&self, seen: &Seen<'_>) -> bool {
        match (self, seen) {
            (Held::Plain(had), Seen::Value(it)) => is_same(had, it),
            (Held::Number(kind), Seen::Value(it)) => kind_of(it) == Some(*kind),
            (Held::At(address), Seen::Value(it)) => it.address() == Some(*address),
            (Held::Parts(n), Seen::Parts(now)) => n == now,
            _ => false,
        }
    }
}

/// Whether something that can change is found through a value, or it can change itself.
pub(super) fn can_change(value: &Value) -> bool {
    (cycles::holds(value) || matches!(value, Value::Tensor(_) | Value::Module(_)))
        && !is_closed(value)
}

/// Shows a value, or the parts of one that cannot change itself. Nearly all values are none of those, so they are shown here.
#[inline(always)]
fn spread(value: &Value, visit: &mut impl FnMut(Seen<'_>)) {
    match value {
        Value::Tuple(_) | Value::Method(_) | Value::Slice(_) => spread_parts(value, 0, visit),
        other => visit(Seen::Value(other)),
    }
}

/// The same of a value that stands so deep in others.
fn spread_parts(value: &Value, depth: usize, visit: &mut dyn FnMut(Seen<'_>)) {
    let below = depth + 1;
    match value {
        _ if depth > DEEPEST => visit(Seen::Value(value)),
        Value::Tuple(it) => {
            visit(Seen::Parts(it.len()));
            it.iter().for_each(|it| spread_parts(it, below, visit));
        }
        // Methods are made anew wherever they are asked for.
        Value::Method(it) => {
            visit(Seen::Parts(2));
            spread_parts(&it.func, below, visit);
            spread_parts(&it.this, below, visit);
        }
        Value::Slice(it) => {
            visit(Seen::Parts(3));
            let bounds = [&it.start, &it.stop, &it.step];
            bounds.into_iter().for_each(|it| spread_parts(it, below, visit));
        }
        other => visit(Seen::Value(other)),
    }
}

/// Shows what an object holds, in order; marks stand for what are no values.
fn parts(object: &Value, slots: &Slots, visit: &mut impl FnMut(Seen<'_>)) {
    let mut spread_to = |it: &Value| spread(it, visit);
    match object {
        Value::Tensor(it) => tensor_parts(it, &mut spread_to),
        Value::Module(it) => {
            it.globals.slots.borrow().iter().for_each(|it| spread_to(&it.value));
        }
        Value::Func(it) => {
            it.traverse(&mut spread_to);
            slots.show(&it.code.globals, &mut |it| match it {
                Shown::Value(it) => spread(it, visit),
                // No value looks so.
                Shown::Length(it) => {
                    visit(Seen::Parts(0));
                    visit(Seen::Value(&Value::Int(it)));
                }
            });
        }
        Value::Instance(it) => {
            it.traverse(&mut spread_to);
            if let Ok(attrs) = it.attrs.try_borrow() {
                spread_to(&mark(|hasher| attrs.keys().for_each(|it| it.hash(hasher))));
            }
        }
        _ => cycles::children(object, &mut spread_to),
    }
}

fn tensor_parts(object: &Rc<TensorObj>, visit: &mut dyn FnMut(&Value)) {
    if let Some((base, _)) = object.base_object() {
        visit(&Value::Tensor(base));
    }
    object.hooks().iter().for_each(&mut *visit);
    visit(&mark(|hasher| {
        let value = object.seen();
        (value.dtype(), &**value.shape(), &*value.layout().strides).hash(hasher);
        (object.look() as u8, value.edge().map(|it| it.is_leaf())).hash(hasher);
        value.as_number().map(|it| format!("{it:?}")).hash(hasher);
    }));
    visit(&mark(|hasher| {
        let grad = object.grad();
        grad.is_some().hash(hasher);
        if let Some(grad) = grad {
            let value = grad.seen();
            (value.dtype(), &**value.shape()).hash(hasher);
        }
    }));
}

fn mark(write: impl FnOnce(&mut FxHasher)) -> Value {
    let mut hasher = FxHasher::default();
    write(&mut hasher);
    Value::Int(hasher.finish() as i64)
}

/// Whether an object comes with the language and holds nothing else: it stays as it is, as the versions of classes and modules say.
fn is_closed(object: &Value) -> bool {
    is_closed_at(object, DEEPEST)
}

/// The same of one that holds so many levels at most.
fn is_closed_at(object: &Value, depth: usize) -> bool {
    let Some(below) = depth.checked_sub(1) else { return false };
    match object {
        Value::Module(it) => is_built_in(&it.name),
        Value::Func(it) => {
            let mut open = it.code.sites != 0;
            it.traverse(&mut |it| open = open || !holds_nothing(it, below));
            !open
        }
        Value::Class(it) => {
            let base = |it: &Rc<Class>| is_closed_at(&Value::Class(it.clone()), below);
            it.attrs.try_borrow().is_ok_and(|it| it.values().all(|it| holds_nothing(it, below)))
                && it.base.as_ref().is_none_or(base)
        }
        _ => false,
    }
}

/// Whether nothing that can change is found through a value.
fn holds_nothing(value: &Value, depth: usize) -> bool {
    let Some(below) = depth.checked_sub(1) else { return false };
    match value.core() {
        it @ Value::Func(_) => is_closed_at(it, below),
        Value::Object(it) if it.is_constant() => {
            let mut open = false;
            it.traverse(&mut |it| open = open || !holds_nothing(it, below));
            !open
        }
        other => !cycles::holds(other),
    }
}

pub(super) fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Str(a), Value::Str(b)) => Rc::ptr_eq(a, b) || a[..] == b[..],
        _ => match (a.address(), b.address()) {
            (Some(a), Some(b)) => a == b,
            (None, None) => std::mem::discriminant(a) == std::mem::discriminant(b),
            _ => false,
        },
    }
}

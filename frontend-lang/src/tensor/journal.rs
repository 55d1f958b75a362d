//! What a body does to variables: noted for the graph of its call, and undone after recordings whose ops never run, so that what they
//! store has no value.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use engine::Tensor;
use engine::trace::Place;

use crate::objects::tensor::TensorObj;

/// What was changed, and what stood there before.
enum Change {
    Value(Rc<TensorObj>, Tensor),
    Grad(Rc<TensorObj>, Option<Rc<TensorObj>>),
}

/// A variable, and what it was before a change.
type Write = (Weak<TensorObj>, Place);

thread_local! {
    static WRITES: RefCell<Option<Vec<Write>>> = const { RefCell::new(None) };
    static CHANGES: RefCell<Option<Vec<Change>>> = const { RefCell::new(None) };
}

/// While it exists, changes of variables are noted; when it is dropped they are undone.
pub struct Journal(Option<Vec<Change>>);

impl Journal {
    /// Begins to note.
    pub fn begin() -> Journal {
        Journal(CHANGES.replace(Some(Vec::new())))
    }
}

/// The variables that were changed since a journal began and `count` changes were noted, and how many changes there are now.
///
/// With each stands whether it was its gradient.
pub(crate) fn changed_since(count: usize) -> (Vec<(Rc<TensorObj>, bool)>, usize) {
    CHANGES.with_borrow(|it| {
        let all = it.as_deref().unwrap_or_default();
        let object = |it: &Change| match it {
            Change::Value(object, _) => (object.clone(), false),
            Change::Grad(object, _) => (object.clone(), true),
        };
        (all.iter().skip(count).map(object).collect(), all.len())
    })
}

impl Journal {
    /// Ends it with the changes left as they are.
    pub(crate) fn keep(mut self) {
        CHANGES.replace(self.0.take());
        std::mem::forget(self);
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        let changes = CHANGES.replace(self.0.take());
        for change in changes.into_iter().flatten().rev() {
            match change {
                Change::Value(object, value) => object.restore(value),
                Change::Grad(object, grad) => object.set_grad(grad),
            }
        }
    }
}

/// While it exists, it is noted which variables get other values.
pub struct Writes(Option<Vec<Write>>);

impl Writes {
    /// Begins to note.
    pub fn begin() -> Writes {
        Writes(WRITES.replace(Some(Vec::new())))
    }

    /// What each variable that is still there was at first, and what it is now.
    pub fn so_far(&self) -> Vec<(Place, Tensor)> {
        let mut seen: Vec<Rc<TensorObj>> = Vec::new();
        let mut first = |(object, place): &Write| {
            let object =
                object.upgrade().filter(|it| !seen.iter().any(|had| Rc::ptr_eq(had, it)))?;
            seen.push(object.clone());
            Some((place.clone(), object.peek()))
        };
        WRITES.with_borrow(|it| it.iter().flatten().filter_map(&mut first).collect())
    }
}

impl Drop for Writes {
    fn drop(&mut self) {
        WRITES.replace(self.0.take());
    }
}

/// Called before a variable gets another value. Views are written through the variable that they look at.
pub fn value_changes(object: &Rc<TensorObj>) {
    let is_written = WRITES.with_borrow(Option::is_some);
    if !is_written && !noting() {
        return;
    }
    let root = TensorObj::root(object);
    let value = root.peek();
    if is_written {
        let write = (Rc::downgrade(&root), Place::of(&value));
        WRITES.with_borrow_mut(|it| it.get_or_insert_default().push(write));
    }
    if noting() {
        note(Change::Value(root, value));
    }
}

/// Called before a variable gets another gradient.
pub fn grad_changes(object: &Rc<TensorObj>) {
    if noting() {
        note(Change::Grad(object.clone(), object.grad()));
    }
}

fn noting() -> bool {
    CHANGES.with_borrow(Option::is_some)
}

fn note(change: Change) {
    CHANGES.with_borrow_mut(|it| it.get_or_insert_default().push(change));
}

//! Undoing what a body did to variables: for recordings whose ops never run, so that what they store has no value.

use std::cell::RefCell;
use std::rc::Rc;

use engine::Tensor;

use crate::objects::tensor::TensorObj;

/// What was changed, and what stood there before.
enum Change {
    Value(Rc<TensorObj>, Tensor),
    Grad(Rc<TensorObj>, Option<Rc<TensorObj>>),
}

thread_local! {
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

/// Called before a variable gets another value. Views are written through the variable that they look at.
pub fn value_changes(object: &Rc<TensorObj>) {
    if !noting() {
        return;
    }
    let mut root = object.clone();
    while let Some((base, _)) = root.base_object() {
        root = base;
    }
    let value = root.peek();
    note(Change::Value(root, value));
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

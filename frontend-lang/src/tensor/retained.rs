//! Variables that are not leaves and keep their gradients: `retain_grad`, also after they were used.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use engine::autograd::{self, Edge};
use rustc_hash::FxHashMap;

use crate::objects::tensor::TensorObj;

thread_local! {
    /// Variables by the number under which walks report their place.
    static KEEPING: RefCell<FxHashMap<u64, Vec<Weak<TensorObj>>>> = RefCell::default();
}

/// Has gradients that come to a place on the tape added to the `.grad` of a variable, for as long as there is one.
pub(super) fn keep(object: &Rc<TensorObj>, edge: &Edge) {
    KEEPING.with_borrow_mut(|it| {
        it.retain(|_, objects| objects.iter().any(|it| it.strong_count() > 0));
        autograd::retain_only(|number| it.contains_key(&number));
        let objects = it.entry(autograd::retain(edge)).or_default();
        if !objects.iter().any(|it| std::ptr::eq(it.as_ptr(), Rc::as_ptr(object))) {
            objects.push(Rc::downgrade(object));
        }
    });
}

/// The variables that keep what is reported under a number.
pub(super) fn keeping(number: u64) -> Vec<Rc<TensorObj>> {
    KEEPING.with_borrow(|it| {
        it.get(&number).map_or_else(Vec::new, |it| it.iter().filter_map(Weak::upgrade).collect())
    })
}

/// Lets a variable keep nothing that comes to the places where it was; whether it did.
pub(super) fn leave(object: &TensorObj) -> bool {
    KEEPING.with_borrow_mut(|it| {
        let before: usize = it.values().map(Vec::len).sum();
        it.values_mut().for_each(|it| it.retain(|it| !std::ptr::eq(it.as_ptr(), object)));
        it.values().map(Vec::len).sum::<usize>() < before
    })
}

/// Whether a variable keeps its gradient.
pub(super) fn keeps(object: &TensorObj) -> bool {
    let is_it = |it: &Weak<TensorObj>| std::ptr::eq(it.as_ptr(), object);
    KEEPING.with_borrow(|it| it.values().flatten().any(is_it))
}

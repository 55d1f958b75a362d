//! Hooks: what sees the gradient of a variable before it goes on, and `retain_grad`, which keeps it.
//!
//! Those of a leaf lie in its variable, and see the whole gradient before it is added to `.grad`. Those of what was computed lie at its
//! place on the tape, where a reverse walk stops for them: it does not matter whether the value was used before they came.

use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::Tensor;
use engine::autograd::{Edge, Kept};
use rustc_hash::FxHashMap;

use super::{convert, gradients};
use crate::native::*;
use crate::objects::tensor::TensorObj;

/// What is to happen with gradients of one place.
#[derive(Default)]
struct Place {
    /// Functions, in the order in which they were added.
    hooks: Vec<Value>,
    /// Variables that keep in their `.grad` what the hooks made of it. They are not kept alive.
    keeping: Vec<Weak<TensorObj>>,
}

/// What the tape keeps: the number of a place.
struct Number(u64);

thread_local! {
    static PLACES: RefCell<FxHashMap<u64, Place>> = RefCell::default();
}

static NEXT: AtomicU64 = AtomicU64::new(0);

impl Drop for Number {
    fn drop(&mut self) {
        // While a thread ends the table may be gone already. What the place held is dropped after the borrow.
        drop(PLACES.try_with(|it| it.borrow_mut().remove(&self.0)));
    }
}

/// Changes what is to happen at a place.
fn at<R>(edge: &Edge, change: impl FnOnce(&mut Place) -> R) -> R {
    let known = edge.watcher().and_then(|it| number_of(&it));
    let number = known.unwrap_or_else(|| {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        edge.watch(Arc::new(Number(number)));
        number
    });
    PLACES.with_borrow_mut(|it| change(it.entry(number).or_default()))
}

fn number_of(watcher: &Kept) -> Option<u64> {
    watcher.downcast_ref::<Number>().map(|it| it.0)
}

/// Shows gradients to a function on their way through a variable: `hook((grad,))` gives `[grad]`.
pub(super) fn add(object: &TensorObj, hook: Value) -> Result<(), Raised> {
    let value = object.get();
    let Some(edge) = value.edge() else {
        return Err(runtime_error(
            "cannot register a hook on a tensor that doesn't require gradient",
        ));
    };
    if edge.is_leaf() {
        object.add_hook(hook);
    } else {
        at(edge, |it| it.hooks.push(hook));
    }
    Ok(())
}

/// Keeps the gradient of a variable that is not a leaf in its `.grad`, as hooks have made it.
pub(super) fn retain_grad(object: &Rc<TensorObj>) {
    let value = object.get();
    let Some(edge) = value.edge().filter(|it| !it.is_leaf()) else { return };
    at(edge, |it| {
        it.keeping.retain(|it| it.strong_count() > 0);
        if !it.keeping.iter().any(|it| is_it(it, object)) {
            it.keeping.push(Rc::downgrade(object));
        }
    });
}

fn is_it(weak: &Weak<TensorObj>, object: &TensorObj) -> bool {
    std::ptr::eq(weak.as_ptr(), object)
}

/// Whether a variable that is not a leaf keeps its gradient.
pub(super) fn retains_grad(object: &TensorObj) -> bool {
    let keeps = |it: &Place| it.keeping.iter().any(|it| is_it(it, object));
    PLACES.with_borrow(|it| it.values().any(keeps))
}

/// Lets a variable keep nothing that comes to the places where it was; whether it did.
pub(super) fn leave(object: &TensorObj) -> bool {
    PLACES.with_borrow_mut(|it| {
        let mut left = false;
        for place in it.values_mut() {
            let before = place.keeping.len();
            place.keeping.retain(|it| !is_it(it, object));
            left |= place.keeping.len() < before;
        }
        left
    })
}

/// What becomes of a gradient at a place that is watched: the one that the walk goes on with.
pub(super) fn pass(
    cx: &mut Cx,
    watcher: &Kept,
    grad: Tensor,
) -> Result<Vec<Option<Tensor>>, Raised> {
    let (hooks, keeping) = PLACES.with_borrow(|it| {
        let place = number_of(watcher).and_then(|number| it.get(&number));
        place.map_or_else(Default::default, |it| (it.hooks.clone(), it.keeping.clone()))
    });
    let grad = shown(cx, &hooks, grad)?;
    for object in keeping.iter().filter_map(Weak::upgrade) {
        gradients::add_to(&object, grad.clone())?;
    }
    Ok(vec![Some(grad)])
}

/// A gradient as hooks make it, one after another.
pub(super) fn shown(cx: &mut Cx, hooks: &[Value], mut grad: Tensor) -> Result<Tensor, Raised> {
    for hook in hooks {
        let shown = cx.call(hook, &[Value::tuple(vec![Value::tensor(grad.clone())])])?;
        if let [changed] = cx.collect(&shown)?.as_slice() {
            grad = convert::variable(changed)?.get();
        }
    }
    Ok(grad)
}

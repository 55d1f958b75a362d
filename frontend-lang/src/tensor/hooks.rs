//! Hooks: what sees the gradient of a variable before it goes on, and `retain_grad`, which keeps it.
//!
//! Those of a leaf lie in its variable, and see the whole gradient before it is added to `.grad`. Those of what was computed lie at its
//! place on the tape, where a reverse walk stops for them: it does not matter whether the value was used before they came. Both are a dict
//! of functions, in the order in which they were added, from which a handle takes its own away.

use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::Tensor;
use engine::autograd::{self, Edge, Kept};
use rustc_hash::FxHashMap;

use super::gradients;
use crate::native::*;
use crate::objects::tensor::TensorObj;

/// What is to happen with gradients that come to one place.
#[derive(Default)]
struct Watched {
    /// A dict of functions.
    hooks: Option<Value>,
    /// Variables that keep in their `.grad` what the hooks made of it. They are not kept alive.
    keeping: Vec<Weak<TensorObj>>,
}

/// What the tape keeps: the number of a place.
struct Number(u64);

thread_local! {
    static PLACES: RefCell<FxHashMap<u64, Watched>> = RefCell::default();
}

static NEXT: AtomicU64 = AtomicU64::new(0);

impl Drop for Number {
    fn drop(&mut self) {
        // While a thread ends the table may be gone already. What the place held is dropped after the borrow.
        drop(PLACES.try_with(|it| it.borrow_mut().remove(&self.0)));
    }
}

/// Changes what is to happen at a place.
fn at<R>(edge: &Edge, change: impl FnOnce(&mut Watched) -> R) -> R {
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

/// Shows gradients to a function on their way through a variable; what it gives that is not None goes on in their place. Gives the dict
/// that it lies in, and its key there.
pub(super) fn add(cx: &mut Cx, object: &TensorObj, hook: Value) -> Result<(Value, Value), Raised> {
    let value = object.get();
    let Some(edge) = value.edge() else {
        return Err(runtime_error(
            "cannot register a hook on a tensor that doesn't require gradient",
        ));
    };
    let table = match edge.is_leaf() {
        true => object.hook_table(),
        false => at(edge, |it| it.hooks.get_or_insert_with(Value::dict).clone()),
    };
    let key = Value::from(NEXT.fetch_add(1, Ordering::Relaxed) as usize);
    if let Some(hooks) = table.as_dict() {
        hooks.insert(cx, key.clone(), hook)?;
    }
    Ok((table, key))
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
    let edge = object.get().edge().cloned();
    let number = edge.and_then(|it| it.watcher()).and_then(|it| number_of(&it));
    PLACES.with_borrow(|places| {
        let place = number.and_then(|it| places.get(&it));
        place.is_some_and(|it| it.keeping.iter().any(|it| is_it(it, object)))
    })
}

/// Lets a variable keep nothing that comes to the place where it was; whether it did.
pub(super) fn leave(object: &TensorObj, before: Option<&Edge>) -> bool {
    let number = before.and_then(Edge::watcher).and_then(|it| number_of(&it));
    PLACES.with_borrow_mut(|places| {
        let Some(place) = number.and_then(|it| places.get_mut(&it)) else { return false };
        let before = place.keeping.len();
        place.keeping.retain(|it| !is_it(it, object));
        place.keeping.len() < before
    })
}

/// What becomes of a gradient at a place that is watched: the one that the walk goes on with.
pub(super) fn pass(
    cx: &mut Cx,
    watcher: &Kept,
    grad: Tensor,
) -> Result<Vec<Option<Tensor>>, Raised> {
    let Some(number) = number_of(watcher) else { return Ok(Vec::new()) };
    let hooks = PLACES.with_borrow(|it| it.get(&number).and_then(|it| it.hooks.clone()));
    let hooks = hooks.as_ref().and_then(Value::as_dict).map_or_else(Vec::new, |it| it.values());
    let grad = shown(cx, &hooks, grad)?;
    // Who keeps it is told afterwards: a hook may have changed that.
    let keeping = PLACES.with_borrow(|it| it.get(&number).map(|it| it.keeping.clone()));
    for object in keeping.unwrap_or_default().iter().filter_map(Weak::upgrade) {
        gradients::add_to(&object, grad.clone())?;
    }
    Ok(vec![Some(grad)])
}

/// A gradient as hooks make it, one after another. Unless gradients get a history now, it has none.
pub(super) fn shown(cx: &mut Cx, hooks: &[Value], mut grad: Tensor) -> Result<Tensor, Raised> {
    for hook in hooks {
        let given = cx.call(hook, &[Value::tensor(grad.clone())])?;
        if !given.is_none() {
            let given = given.as_tensor().ok_or_else(|| {
                let kind = type_name(&given);
                type_error(format!(
                    "a hook returned {kind}; return None, or a tensor that goes on in place of the gradient"
                ))
            })?;
            let given = given.get();
            fits(&grad, &given)?;
            grad = if autograd::enabled() { given } else { given.detach() };
        }
    }
    Ok(grad)
}

/// Whether a hook gave what can stand for the gradient that it was shown.
fn fits(grad: &Tensor, given: &Tensor) -> Result<(), Raised> {
    let (what, before, after) = if grad.dtype() != given.dtype() {
        ("type", grad.dtype().to_string(), given.dtype().to_string())
    } else if grad.shape() != given.shape() {
        ("size", grad.shape().to_string(), given.shape().to_string())
    } else {
        return Ok(());
    };
    Err(runtime_error(format!(
        "a hook has changed the {what} of a gradient from {before} to {after}; what it returns goes on in place of the gradient: give it the \
         same shape and dtype, or return None"
    )))
}

//! Looking for the first NaN or infinity, in what ops compute and in the gradients that go back through them.
//!
//! While something is looked for, traced functions run op by op.

use std::cell::{Cell, RefCell};

use crate::cpu::lane;
use crate::error::{Anomaly, NotFinite};
use crate::op::Body;
use crate::tape::{Edge, OpStep};
use crate::{Attr, Attrs, Error, OpDef, Result, Site, Tensor};

/// What is looked for on this thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Watch {
    #[default]
    Nothing,
    /// NaN in gradients, as PyTorch does; the first result or gradient that is not finite is noted.
    Gradients,
    /// NaN and infinities, in results and in gradients, where no operand has any.
    Everything,
}

thread_local! {
    static WATCH: Cell<Watch> = const { Cell::new(Watch::Nothing) };
    /// The first that was not finite while an error was made of NaN in gradients alone.
    static NOTED: RefCell<Option<Box<Anomaly>>> = const { RefCell::new(None) };
}

/// What is looked for.
#[inline]
pub fn watch() -> Watch {
    WATCH.get()
}

/// Sets what is looked for; gives what was set before.
pub fn set_watch(watch: Watch) -> Watch {
    WATCH.replace(watch)
}

/// The first result or gradient that was noted since the last call, and that no error has told of.
pub fn take_noted() -> Option<Box<Anomaly>> {
    NOTED.take()
}

/// What was found as an error: where everything is looked for, and NaN in a gradient. Else it is noted if it is the first.
fn raise_or_note(watch: Watch, found: Anomaly) -> Result<()> {
    let is_nan_in_gradient = found.gradient.is_some() && found.value == NotFinite::Nan;
    if watch == Watch::Everything || is_nan_in_gradient {
        return Err(Error::Anomaly(Box::new(Anomaly { earlier: take_noted(), ..found })));
    }
    NOTED.with_borrow_mut(|noted| {
        noted.get_or_insert_with(|| Box::new(found));
    });
    Ok(())
}

/// Looks whether a result is the first that is not finite.
pub(super) fn check_results(
    watch: Watch,
    op: &'static OpDef,
    inputs: &[Tensor],
    attrs: &Attrs,
    outputs: &[Tensor],
) -> Result<()> {
    // What only moves elements, or makes them of nothing, is not where they went wrong.
    if inputs.is_empty() || matches!(op.body, Body::View(_)) {
        return Ok(());
    }
    for output in outputs {
        let Some(found) = first(output)? else { continue };
        let mut had = attrs.iter().filter_map(of_attr).max();
        for input in inputs {
            had = had.max(first(input)?.map(|it| it.0));
        }
        if Some(found.0) > had {
            raise_or_note(watch, anomaly(op.name, None, found, output, inputs, Site::here()))?;
        }
    }
    Ok(())
}

/// An error if a gradient that goes on from a step is the first that is not finite.
pub(crate) fn check_gradients(
    watch: Watch,
    step: &OpStep,
    edge: &Edge,
    arrived: &[Option<Tensor>],
    inputs: &[Tensor],
    grads: &[Option<Tensor>],
) -> Result<()> {
    let Some((at, found, grad)) = worst_of(watch, arrived, grads)? else { return Ok(()) };
    let name = edge.step_name(None).unwrap_or_default().into_owned();
    raise_or_note(watch, anomaly(step.op.name, Some((name, at)), found, grad, inputs, step.site))
}

/// An error if a gradient that a function of the program has given is the first that is not finite, while that is looked for.
/// `name` is that of the step, which was made at `site`.
pub fn check_function(
    name: &str,
    site: Site,
    arrived: &[Option<Tensor>],
    inputs: &[Tensor],
    grads: &[Option<Tensor>],
) -> Result<()> {
    let watch = watch();
    if watch == Watch::Nothing {
        return Ok(());
    }
    let Some((at, found, grad)) = worst_of(watch, arrived, grads)? else { return Ok(()) };
    raise_or_note(
        watch,
        anomaly("a function", Some((name.to_owned(), at)), found, grad, inputs, site),
    )
}

/// The first gradient that is not finite where none was that arrived; NaN is an error of each step where gradients alone are looked at.
fn worst_of<'a>(
    watch: Watch,
    arrived: &[Option<Tensor>],
    grads: &'a [Option<Tensor>],
) -> Result<Option<(usize, Found, &'a Tensor)>> {
    for (at, grad) in grads.iter().enumerate() {
        let Some(grad) = grad else { continue };
        let Some(found) = first(grad)? else { continue };
        let is_error = watch == Watch::Gradients && found.0 == NotFinite::Nan;
        let mut had = None;
        for it in arrived.iter().flatten() {
            had = had.max(first(it)?.map(|it| it.0));
        }
        if is_error || Some(found.0) > had {
            return Ok(Some((at, found, grad)));
        }
    }
    Ok(None)
}

type Found = (NotFinite, usize);

fn anomaly(
    op: &'static str,
    gradient: Option<(String, usize)>,
    (value, at): Found,
    tensor: &Tensor,
    operands: &[Tensor],
    site: Site,
) -> Anomaly {
    let mut index = Vec::new();
    let mut rest = at;
    for size in tensor.shape().iter().rev() {
        index.insert(0, rest % size.max(&1));
        rest /= size.max(&1);
    }
    let operands = operands.iter().map(|it| (it.dtype(), it.shape().clone())).collect();
    let shape = tensor.shape().clone();
    Anomaly { op, gradient, value, index, shape, operands, site, earlier: None }
}

fn of_attr(attr: &Attr) -> Option<NotFinite> {
    match attr {
        Attr::Float(it) => NotFinite::of(*it),
        _ => None,
    }
}

/// The first NaN, or without one the first infinity, and its place in row-major order. Elements that nobody knows are finite.
fn first(tensor: &Tensor) -> Result<Option<Found>> {
    if !tensor.dtype().is_float() || !tensor.has_elements() {
        return Ok(None);
    }
    let find = |values: &[f64]| {
        let place = |it: fn(&f64) -> bool| values.iter().position(it);
        let nan = place(|it| it.is_nan()).map(|at| (NotFinite::Nan, at));
        nan.or_else(|| place(|it| it.is_infinite()).map(|at| (NotFinite::Infinite, at)))
    };
    match tensor.look(|view| find(&lane::cast::<f64>(&view))) {
        // A trace that only builds a graph has no values.
        Err(Error::Abstract | Error::Trace { .. }) => Ok(None),
        found => found,
    }
}

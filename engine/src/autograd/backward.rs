//! How back from roots to leaves, or to places that are asked for, over the gradient rules of the rows.

use crate::apply::anomaly::{self, Watch};
use crate::interpreter::{self, Interpreter};
use crate::tape::Edge;
use crate::{Error, Result, Tensor};

use super::walk::{Stop, Walk};

pub use crate::interpreter::Root;

/// A place on the tape: node id, output.
pub type Place = (u64, u32);

/// What a walk is told besides where it begins.
#[derive(Clone, Copy, Default)]
pub struct How<'a> {
    /// The places whose gradients are asked for; without them those of all leaves.
    pub wanted: Option<&'a [Edge]>,
    /// Keeps what the steps saved, which else is freed on the way.
    pub retain_graph: bool,
    /// Puts the gradients on the tape themselves; keeps what was saved, too.
    pub create_graph: bool,
}

/// How back from `roots` and returns the gradient of every leaf reached, or of the places that are wanted. Gradients have the dtype
/// of their leaf.
///
/// # Errors
///
/// [`Error::Backward`] where a root needs no gradient, or is no single number and comes with none, or where the walk would stop for
/// somebody; [`Error::Freed`] where an earlier walk took away what a step saved.
pub fn backward(
    roots: &[Root],
    wanted: Option<&[Edge]>,
    retain_graph: bool,
    create_graph: bool,
) -> Result<Vec<(Place, Tensor)>> {
    let how = How { wanted, retain_graph, create_graph };
    backward_with(roots, how, |_| Err::<_, Error>(Error::Backward { problem: NOBODY.into() }))
}

const NOBODY: &str =
    "a step that is no op, or a gradient that is watched, and nobody here answers for it";

/// As [`backward`], through what others have on the tape: where the walk stops, `answer` gives the gradients that it goes on with.
pub fn backward_with<E: From<Error>>(
    roots: &[Root],
    how: How<'_>,
    mut answer: impl FnMut(Stop) -> std::result::Result<Vec<Option<Tensor>>, E>,
) -> std::result::Result<Vec<(Place, Tensor)>, E> {
    let interpreter = interpreter::current();
    if how.wanted.is_none() && interpreter.is_some_and(Interpreter::records_only) {
        let problem = "a function that calls backward() cannot be made into a file: a model file holds the way \
                       from inputs to outputs; dump a function that only predicts";
        return Err(Error::Trace { problem: problem.into() }.into());
    }
    // A walk to all leaves may be one that a traced call has seen before.
    let is_plain = how.wanted.is_none()
        && !how.create_graph
        && anomaly::watch() == Watch::Nothing
        && roots.iter().all(|it| it.0.is_traced());
    let watcher = interpreter.filter(|_| is_plain);
    if let Some(watcher) = watcher
        && let Some(found) = watcher.take_walk(roots, how.retain_graph)?
    {
        return Ok(found.into_iter().map(|(id, grad)| ((id, 0), grad)).collect());
    }
    let begun = watcher.and_then(|it| Some((it, it.walk_begins()?)));
    let mut walk = Walk::begin(roots, how, begun.is_some())?;
    while let Some(stop) = walk.advance()? {
        walk.go_on_with(answer(stop)?)?;
    }
    let (found, passed) = walk.end();
    let mut res: Vec<_> = found.into_iter().collect();
    res.sort_by_key(|it| it.0);
    if let Some((watcher, begun)) = begun {
        let by_leaf: Vec<_> = res.iter().map(|((id, _), grad)| (*id, grad.clone())).collect();
        watcher.walk_ends(&*begun, roots, how.retain_graph, &passed, &by_leaf);
    }
    Ok(res)
}

/// The gradient of `roots` for each of `inputs`, leaves or not; `None` for an input they do not depend on. Errors as those of [`backward`].
pub fn grad(
    roots: &[Root],
    inputs: &[Tensor],
    retain_graph: bool,
    create_graph: bool,
) -> Result<Vec<Option<Tensor>>> {
    let edges = places_of(inputs)?;
    let found = backward(roots, Some(&edges), retain_graph, create_graph)?;
    Ok(edges.iter().map(|it| gradient_at(&found, it)).collect())
}

/// The places of tensors on the tape; an error where one is not on it.
pub fn places_of(inputs: &[Tensor]) -> Result<Vec<Edge>> {
    let place = |it: &Tensor| {
        it.edge().cloned().ok_or_else(|| Error::Backward {
            problem: "an input does not need gradients; make it with requires_grad=True".into(),
        })
    };
    inputs.iter().map(place).collect()
}

/// The gradient at a place, among those that a walk found.
pub fn gradient_at(found: &[(Place, Tensor)], edge: &Edge) -> Option<Tensor> {
    let at = found.binary_search_by_key(&edge.place(), |it| it.0).ok()?;
    Some(found[at].1.clone())
}

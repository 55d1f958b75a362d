//! Views: variables that look at the elements of another one.

use std::cell::Cell;
use std::rc::Rc;

use engine::autograd::{self, Edge};
use engine::index::Index;
use engine::{Attrs, Layout, OpDef, Tensor};

use super::TensorObj;

/// The variable that a view was taken from.
pub(super) struct Base {
    pub(super) object: Rc<TensorObj>,
    pub(super) view: View,
    /// Version of `object` that the view's value was computed from.
    pub(super) seen: Cell<u32>,
}

impl Base {
    pub(super) fn new(object: &Rc<TensorObj>, view: View) -> Box<Base> {
        object.views.set(object.views.get().wrapping_add(1));
        Box::new(Base { object: object.clone(), view, seen: Cell::new(object.version.get()) })
    }
}

impl Drop for Base {
    fn drop(&mut self) {
        self.object.views.set(self.object.views.get().wrapping_sub(1));
    }
}

/// How a view looks at its base.
#[derive(Clone)]
pub enum View {
    /// All elements, off the tape: `.data`, `detach()`, `numpy()`.
    Same,
    /// `base[index]`.
    Index(Vec<Index>),
    /// An output of a view op with these attributes.
    Op(&'static OpDef, Attrs, usize),
}

impl View {
    /// The view of `base`.
    pub(crate) fn apply(&self, base: &Tensor) -> engine::Result<Tensor> {
        match self {
            View::Same => Ok(base.detach()),
            View::Index(index) => engine::index::get(base, index),
            View::Op(op, attrs, output) => output_of(op, base, attrs, *output),
        }
    }

    /// `base` with the viewed elements replaced by `value`.
    pub(super) fn write(&self, base: &Tensor, value: &Tensor) -> engine::Result<Tensor> {
        match self {
            View::Same => Ok(value.at_edge(base.edge().cloned())),
            View::Index(index) => engine::index::set(base, index, value),
            View::Op(op, attrs, output) => engine::index::write_through(base, value, |positions| {
                output_of(op, positions, attrs, *output)
            }),
        }
    }
}

impl TensorObj {
    /// As [`TensorObj::set_in_place`] for a part that is seen under a layout; a view lets go of the buffer meanwhile.
    pub(super) fn write_through(
        &self,
        base: &Base,
        seen: &Layout,
        index: &[Index],
        value: &Tensor,
    ) -> engine::Result<bool> {
        let own = self.value.borrow().clone();
        let is_taped = autograd::enabled() && own.requires_grad();
        if is_taped || !own.shares_buffer(&base.object.value.borrow()) || value.same(&own) {
            return Ok(false);
        }
        let (layout, edge) = (own.layout().clone(), own.edge().cloned());
        drop(own);
        self.value.replace(Tensor::number(0.0));
        let done = match base.object.base.borrow().as_ref() {
            Some(further) => base.object.write_through(further, seen, index, value),
            None => {
                let mut whole = base.object.value.borrow_mut();
                let done = engine::index::set_in_place(&mut whole, seen, index, value);
                let version = &base.object.version;
                version.set(version.get().wrapping_add(matches!(done, Ok(true)).into()));
                done
            }
        };
        self.value.replace(base.object.value.borrow().seen_under(layout, edge));
        if matches!(done, Ok(true)) {
            base.seen.set(base.object.current_version());
        }
        done
    }
}

fn output_of(
    op: &'static OpDef,
    base: &Tensor,
    attrs: &Attrs,
    output: usize,
) -> engine::Result<Tensor> {
    let outputs = engine::apply(op, std::slice::from_ref(base), attrs)?;
    let missing = engine::Error::Arity { op: op.name, expected: output + 1, got: outputs.len() };
    outputs.into_iter().nth(output).ok_or(missing)
}

/// The value at its place of the tape if that is a leaf, which stays the same leaf.
pub(super) fn on_leaf(value: Tensor, edge: Option<&Edge>) -> Tensor {
    match edge.filter(|it| it.is_leaf()) {
        Some(leaf) => value.at_edge(Some(leaf.clone())),
        None => value,
    }
}

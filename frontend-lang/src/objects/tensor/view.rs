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
            View::Op(op, attrs, output) => {
                let view = |it: &Tensor| output_of(op, it, attrs, *output);
                match base.dtype().is_complex() == value.dtype().is_complex() {
                    true => engine::index::write_through(base, value, view),
                    false => engine::index::write_parts(base, value, view),
                }
            }
        }
    }
}

/// What writes into a buffer: gets its owner, and how the elements that are meant lie there if not as the owner says. False if it
/// may not, with nothing changed.
pub(super) type Change<'a> = dyn FnMut(&mut Tensor, Option<&Layout>) -> engine::Result<bool> + 'a;

impl TensorObj {
    /// The variable that a view looks at, through all views; itself where it is none.
    pub(crate) fn root(object: &Rc<TensorObj>) -> Rc<TensorObj> {
        let mut root = object.clone();
        while let Some((base, _)) = root.base_object() {
            root = base;
        }
        root
    }

    /// Lets the elements change where they are; a view lets go of the buffer meanwhile.
    pub(super) fn change(&self, change: &mut Change<'_>) -> engine::Result<bool> {
        self.look_again();
        match self.base.borrow().as_ref() {
            Some(base) => self.change_through(base, None, change),
            None => self.change_own(None, change),
        }
    }

    fn change_own(&self, seen: Option<&Layout>, change: &mut Change<'_>) -> engine::Result<bool> {
        let done = change(&mut self.value.borrow_mut(), seen);
        self.version.set(self.version.get().wrapping_add(matches!(done, Ok(true)).into()));
        done
    }

    /// As [`TensorObj::change`] for what is seen under a layout: that of a view of this view, or its own.
    fn change_through(
        &self,
        base: &Base,
        seen: Option<&Layout>,
        change: &mut Change<'_>,
    ) -> engine::Result<bool> {
        let own = self.value.borrow().clone();
        let is_taped = autograd::enabled() && own.requires_grad();
        // Parts of complex numbers are counted otherwise than these.
        let is_part = own.dtype() != base.object.value.borrow().dtype();
        if is_taped || is_part || !own.shares_buffer(&base.object.value.borrow()) {
            return Ok(false);
        }
        let (layout, edge) = (own.layout().clone(), own.edge().cloned());
        drop(own);
        self.value.replace(Tensor::number(0.0));
        let seen = seen.or(Some(&layout));
        let done = match base.object.base.borrow().as_ref() {
            Some(further) => base.object.change_through(further, seen, change),
            None => base.object.change_own(seen, change),
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

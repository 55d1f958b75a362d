//! Views: variables that look at the elements of another one.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use engine::autograd::{self, Edge};
use engine::index::Index;
use engine::{Attr, Attrs, DType, Layout, OpDef, Tensor};
use smallvec::SmallVec;

use super::{Look, TensorObj};

/// The views of a variable that may hold its elements.
pub(super) type Lookers = SmallVec<[Weak<TensorObj>; 2]>;

/// The variable that a view was taken from.
pub(super) struct Base {
    pub(super) object: Rc<TensorObj>,
    pub(super) view: View,
    /// It was taken of what has a history while nothing was recorded, and has none itself.
    pub(super) is_off_tape: bool,
    /// Version of `object` that the view's value was computed from.
    pub(super) seen: Cell<u32>,
    /// The view.
    of: Weak<TensorObj>,
    /// It stands among the lookers of `object`.
    is_listed: Cell<bool>,
    /// It has let go of its elements, since others were written.
    away: RefCell<Option<Away>>,
}

/// What a view that has let go of its elements finds them by.
enum Away {
    /// Where they lie, as long as the variable below all views has been given so many values.
    Under(u32, Box<Seen>),
    /// As the view says.
    Anywhere,
}

/// What a variable was before it got another shape: views that have let go of its elements may still find none in the new one.
#[derive(Default)]
pub(super) enum Former {
    /// No view has let go of its elements.
    #[default]
    Unasked,
    Asked,
    Value(Tensor),
}

impl Base {
    /// Gives what it is a view of these elements at its place. What is off the tape is written behind its back: that stays the leaf or the result
    /// that it is.
    pub(super) fn write(&self, value: &Tensor) -> engine::Result<()> {
        if matches!(self.view, View::Same) {
            let enabled = autograd::set_enabled(false);
            let done = self.object.set_data(value.detach());
            autograd::set_enabled(enabled);
            return done;
        }
        let whole = self.view.write(&self.object.get(), value)?;
        self.object.set(whole)
    }

    /// Of a view whose value is `value` now.
    pub(super) fn new(object: &Rc<TensorObj>, view: View, value: &Tensor) -> Box<Base> {
        object.views.set(object.views.get().wrapping_add(1));
        let seen = Cell::new(object.current_version());
        let (of, is_listed, away) = Default::default();
        let is_off_tape = !value.requires_grad() && object.value.borrow().requires_grad();
        Box::new(Base { object: object.clone(), view, is_off_tape, seen, of, is_listed, away })
    }

    #[inline]
    pub(super) fn is_away(&self) -> bool {
        self.away.borrow().is_some()
    }

    /// The view has a value, which may hold elements of its base.
    pub(super) fn looks(&self) {
        self.away.replace(None);
        if self.is_listed.replace(true) {
            return;
        }
        let mut lookers = self.object.lookers.borrow_mut();
        // Those that are gone stay until there are as many of them as of others.
        if lookers.len() > 2 * self.object.views.get() as usize + 2 {
            lookers.retain(|it| it.strong_count() > 0);
        }
        lookers.push(self.of.clone());
    }

    /// What the view sees of its base now; of one that has no such part any more, what there was.
    pub(super) fn apply(&self) -> engine::Result<Tensor> {
        let res = self.view.apply(&self.object.get());
        match &*self.object.former.borrow() {
            Former::Value(before) if res.is_err() && self.is_away() => self.view.apply(before),
            _ => res,
        }
    }

    /// Takes the view off the list of its base, if it stands last.
    fn unlist(&self) {
        if self.is_listed.replace(false) {
            let mut lookers = self.object.lookers.borrow_mut();
            if lookers.last().is_some_and(|it| it.ptr_eq(&self.of)) {
                lookers.pop();
            }
        }
    }
}

impl Drop for Base {
    fn drop(&mut self) {
        self.unlist();
        self.object.views.set(self.object.views.get().wrapping_sub(1));
    }
}

/// How a view looks at its base.
#[derive(Clone)]
pub enum View {
    /// All elements, off the tape: `.data`, `detach()`, `numpy()`. It has a history of its own once something with one is written to it.
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

    /// What the view sees, where `edge` is the view's own place of the tape: what is off the tape of its base keeps its own history, another view
    /// has that of its base, but stays the leaf that it is.
    pub(super) fn placed(&self, seen: Tensor, edge: Option<&Edge>) -> Tensor {
        match edge.filter(|it| it.is_leaf() || matches!(self, View::Same)) {
            Some(edge) => seen.at_edge(Some(edge.clone())),
            None => seen,
        }
    }

    /// Whether it shows conjugates, which do not lie in the buffer of the base.
    pub(super) fn conjugates(&self) -> bool {
        matches!(self, View::Op(op, ..) if op.name == "conj")
    }

    /// `base` with the viewed elements replaced by `value`.
    pub(super) fn write(&self, base: &Tensor, value: &Tensor) -> engine::Result<Tensor> {
        match self {
            View::Same => Ok(value.at_edge(base.edge().cloned())),
            View::Index(index) => engine::index::set(base, index, value),
            // The same bits, as they were.
            View::Op(op, ..) if op.name == "_view_dtype" => {
                let attrs = [Attr::DType(base.dtype())].into_iter().collect();
                output_of(op, value, &attrs, 0)
            }
            // Its own inverse, of all elements.
            View::Op(op, attrs, output) if self.conjugates() => {
                output_of(op, value, attrs, *output)
            }
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

impl TensorObj {
    /// Writes a part of what a view sees, which could not be written where it is, by giving the variable below all views another value. False,
    /// with nothing changed, where the tape has to know of each view, one is `.data`, `x[...]` itself says how, or the elements do not lie at
    /// steps.
    pub(crate) fn set_below(&self, index: &[Index], value: &Tensor) -> engine::Result<bool> {
        let Some((mut object, view)) = self.base_object() else { return Ok(false) };
        let mut views = vec![view];
        while let Some((below, view)) = object.base_object() {
            views.push(view);
            object = below;
        }
        let is_own = matches!(&views[..], [View::Index(_)]) && matches!(index, [Index::Ellipsis]);
        let root = object.get();
        let is_taped = autograd::enabled() && (root.requires_grad() || value.requires_grad());
        if is_own || is_taped || views.iter().any(|it| matches!(it, View::Same)) {
            return Ok(false);
        }
        // The check knows no places: a part of an expanded view may be written, and no shape depends on it.
        let is_whole = matches!(index, [Index::Ellipsis]);
        if root.is_abstract() && !is_whole && self.seen().numel() > root.numel() {
            engine::index::set(&self.get(), index, value)?;
            return Ok(true);
        }
        let seen = |root: &Tensor| {
            views.iter().rev().try_fold(root.clone(), |base, view| view.apply(&base))
        };
        let Some(written) = engine::index::set_strided(&root, seen, index, value)? else {
            return Ok(false);
        };
        object.set_data(written)?;
        // At once, so that a trace meets the same ops in each round.
        self.look_again();
        Ok(true)
    }
}

/// How elements lie in a buffer, and of what dtype they are there.
#[derive(Clone)]
pub(super) struct Seen {
    pub(super) dtype: DType,
    pub(super) layout: Layout,
}

impl Seen {
    pub(super) fn of(value: &Tensor) -> Seen {
        Seen { dtype: value.dtype(), layout: value.layout().clone() }
    }

    /// These elements in the buffer of `root`, at a place of the tape.
    pub(super) fn in_buffer_of(self, root: &Tensor, edge: Option<Edge>) -> Tensor {
        let seen = root.seen_as(self.dtype, self.layout);
        if edge.is_some() { seen.at_edge(edge) } else { seen }
    }

    /// Lets these elements of the buffer of `owner` change.
    fn change(&self, owner: &mut Tensor, change: &mut Change<'_>) -> engine::Result<bool> {
        if self.dtype == owner.dtype() {
            return change(owner, Some(&self.layout));
        }
        // As bits, or as parts of complex numbers.
        let under = owner.under(self.dtype, self.layout.clone(), |it| change(it, None));
        under.unwrap_or(Ok(false))
    }
}

/// What writes into a buffer: gets its owner, and how the elements that are meant lie there if not as the owner says. False if it
/// may not, with nothing changed.
pub(super) type Change<'a> = dyn FnMut(&mut Tensor, Option<&Layout>) -> engine::Result<bool> + 'a;

impl TensorObj {
    /// The variable that a view looks at, through all views; itself where it is none.
    pub(crate) fn root(object: &Rc<TensorObj>) -> Rc<TensorObj> {
        let mut root = object.clone();
        while let Some(base) = root.below() {
            root = base;
        }
        root
    }

    /// Whether it is a view of conjugates, or of a view of some.
    pub(super) fn shows_conjugates(&self) -> bool {
        let base = self.base.borrow();
        base.as_ref().is_some_and(|it| it.view.conjugates() || it.object.shows_conjugates())
    }

    fn below(&self) -> Option<Rc<TensorObj>> {
        self.base.borrow().as_ref().map(|it| it.object.clone())
    }

    /// Lets the elements change where they are; a view lets go of the buffer meanwhile.
    pub(super) fn change(&self, change: &mut Change<'_>) -> engine::Result<bool> {
        self.changed(None, change)
    }

    /// As [`TensorObj::change`], for what is seen in the buffer.
    pub(super) fn change_seen(&self, seen: &Seen, change: &mut Change<'_>) -> engine::Result<bool> {
        self.changed(Some(seen), change)
    }

    fn changed(&self, seen: Option<&Seen>, change: &mut Change<'_>) -> engine::Result<bool> {
        self.look_again();
        let mut gone = Vec::new();
        let done = match self.base.borrow().as_ref() {
            Some(base) => self.change_through(base, seen, change, &mut gone),
            None => self.change_own(seen, change, &mut gone),
        };
        // Not before each view that the change went through has its elements again: these look at them.
        if !matches!(done, Ok(true)) {
            gone.iter().for_each(|it| it.come_back());
        }
        done
    }

    /// As [`TensorObj::change`] of what is no view. Views of it keep nobody from writing: they let go of their elements, are added to `gone`, and
    /// look again.
    fn change_own(
        &self,
        seen: Option<&Seen>,
        change: &mut Change<'_>,
        gone: &mut Vec<Rc<TensorObj>>,
    ) -> engine::Result<bool> {
        let mut change = |owner: &mut Tensor| match seen {
            Some(seen) => seen.change(owner, change),
            None => change(owner, None),
        };
        let mut done = change(&mut self.value.borrow_mut());
        // What a trace hears of goes on being what it knows.
        let may = || !self.lookers.borrow().is_empty() && !self.value.borrow().is_on_gpu();
        if matches!(done, Ok(false)) && may() && !is_heard() {
            self.send_away((&self.value.borrow(), self.puts.get()), gone);
            if !gone.is_empty() {
                done = change(&mut self.value.borrow_mut());
            }
        }
        self.version.set(self.version.get().wrapping_add(matches!(done, Ok(true)).into()));
        done
    }

    /// Whether nobody else holds its elements once its views have let go of them, as they have then.
    pub(super) fn is_owned_without_views(&self) -> bool {
        if self.lookers.borrow().is_empty() || self.value.borrow().is_on_gpu() {
            return false;
        }
        let mut gone = Vec::new();
        self.send_away((&self.value.borrow(), self.puts.get()), &mut gone);
        let is_owned = self.value.borrow().is_owned();
        if !is_owned {
            gone.iter().for_each(|it| it.come_back());
        }
        is_owned
    }

    /// As [`TensorObj::change`] for what is seen under a layout: that of a view of this view, or its own.
    fn change_through(
        &self,
        base: &Base,
        seen: Option<&Seen>,
        change: &mut Change<'_>,
        gone: &mut Vec<Rc<TensorObj>>,
    ) -> engine::Result<bool> {
        // The one below is looked at first: it may have let go of its elements.
        base.object.come_back();
        let own = self.value.borrow().clone();
        let is_taped = autograd::enabled() && own.requires_grad();
        if is_taped || !own.shares_buffer(&base.object.value.borrow()) {
            return Ok(false);
        }
        let (own_seen, edge) = (Seen::of(&own), own.edge().cloned());
        drop(own);
        self.value.replace(Tensor::number(0.0));
        let seen = seen.or(Some(&own_seen));
        // What is off the tape is written behind its back.
        let enabled = autograd::enabled();
        autograd::set_enabled(enabled && !matches!(base.view, View::Same));
        let done = match base.object.base.borrow().as_ref() {
            Some(further) => base.object.change_through(further, seen, change, gone),
            None => base.object.change_own(seen, change, gone),
        };
        autograd::set_enabled(enabled);
        self.value.replace(own_seen.in_buffer_of(&base.object.value.borrow(), edge));
        base.looks();
        if matches!(done, Ok(true)) {
            base.seen.set(base.object.current_version());
        }
        done
    }

    /// Has the views of this variable let go of the elements of `root`, which lies below all views; those that did are added to `gone`.
    /// Views with a history keep theirs.
    fn send_away(&self, (root, puts): (&Tensor, u32), gone: &mut Vec<Rc<TensorObj>>) {
        self.lookers.borrow_mut().retain(|it| {
            let Some(view) = it.upgrade() else { return false };
            view.send_away((root, puts), gone);
            let base = view.base.borrow();
            let Some(base) = base.as_ref().filter(|it| std::ptr::eq(&*it.object, self)) else {
                return false;
            };
            let away = {
                let value = view.value.borrow();
                let is_current = base.seen.get() == self.current_version();
                if value.edge().is_some() {
                    return true;
                }
                match value.shares_buffer(root) && is_current {
                    true => Away::Under(puts, Box::new(Seen::of(&value))),
                    false if is_current => return true,
                    false => Away::Anywhere,
                }
            };
            let mut former = self.former.borrow_mut();
            if matches!(*former, Former::Unasked) {
                *former = Former::Asked;
            }
            base.away.replace(Some(away));
            base.is_listed.set(false);
            view.value.replace(Tensor::number(0.0));
            gone.push(view.clone());
            false
        });
    }

    /// Gives a view that has let go of its elements a value.
    #[inline]
    pub(super) fn come_back(&self) {
        if let Some(base) = self.base.borrow().as_ref() {
            self.come_back_to(base);
        }
    }

    fn come_back_to(&self, base: &Base) {
        if !base.is_away() || self.take_back(base) {
            return;
        }
        if !engine::apply::is_shapes_only() {
            return self.look_again();
        }
        // A check looks at no elements, and leaves those of programs alone.
        if let Ok(value) = base.view.apply(&base.object.peek()) {
            self.value.replace(value.detach());
        }
    }

    /// Finds the elements where they lay, if the variable was only written in place since.
    pub(super) fn take_back(&self, base: &Base) -> bool {
        let value = match &*base.away.borrow() {
            Some(Away::Under(puts, seen)) => {
                let mut root = base.object.clone();
                while let Some(object) = root.below() {
                    root = object;
                }
                if root.puts.get() != *puts {
                    return false;
                }
                Seen::clone(seen).in_buffer_of(&root.value.borrow(), None)
            }
            _ => return false,
        };
        self.value.replace(value);
        base.looks();
        base.seen.set(base.object.current_version());
        true
    }

    /// A view with a base that no other has.
    pub(super) fn looking(tensor: Tensor, mut base: Box<Base>, look: Look) -> Rc<TensorObj> {
        base.unlist();
        base.of = Weak::new();
        let object = Rc::new(TensorObj::make(tensor, Some(base), look));
        object.look_from_here();
        object
    }

    /// Has the base know this view.
    pub(super) fn look_from_here(self: &Rc<Self>) {
        if let Some(base) = self.base.borrow_mut().as_mut() {
            base.of = Rc::downgrade(self);
            base.looks();
        }
    }

    /// Gives the variable a value.
    pub(super) fn put(&self, value: Tensor) {
        let is_same_shape = self.value.borrow().shape() == value.shape();
        let before = self.value.replace(value);
        self.puts.set(self.puts.get().wrapping_add(1));
        let asked = !matches!(*self.former.borrow(), Former::Unasked);
        if asked && !is_same_shape {
            let views = self.views.get() > 0;
            self.former.replace(if views { Former::Value(before) } else { Former::Unasked });
        }
        if let Some(base) = self.base.borrow().as_ref() {
            base.looks();
        }
    }
}

/// Whether what happens to tensors is recorded, by a trace or for a branch or loop.
pub(super) fn is_heard() -> bool {
    engine::trace::active() || engine::region::is_recording()
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

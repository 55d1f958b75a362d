//! Elements that change where they are. Each of these is `false`, with nothing changed, where that cannot be: if another variable, the tape
//! or a trace can see them there. Then [`TensorObj::set`] gives the variable a value of its own.

use std::rc::Rc;

use engine::autograd;
use engine::cpu::interrupt;
use engine::index::Index;
use engine::{Attrs, Error, OpDef, Shape, Tensor};

use super::TensorObj;
use super::view::{Change, Seen, View, is_heard};
use crate::tensor::journal;

impl TensorObj {
    /// Writes a part of the elements where they are.
    pub(crate) fn set_in_place(&self, index: &[Index], value: &Tensor) -> engine::Result<bool> {
        let is_view = self.base.borrow().is_some();
        let is_taped = autograd::enabled() && value.requires_grad();
        if is_taped || is_view && value.same(&self.value.borrow()) {
            return Ok(false);
        }
        self.change(&mut |owner, seen| {
            let seen = seen.unwrap_or(owner.layout()).clone();
            engine::index::set_in_place(owner, &seen, index, value)
        })
    }

    /// As [`Self::set_in_place`], also of a value that lies in the buffer that is written: what it was is copied first, or piece by piece. Gives
    /// the value back where nothing was written.
    pub(crate) fn write_in_place(
        &self,
        index: &[Index],
        value: Tensor,
    ) -> engine::Result<Option<Tensor>> {
        // First, as it does not look at the conjugates.
        if self.set_conjugates(index, &value)? || self.set_in_place(index, &value)? {
            return Ok(None);
        }
        let Some(value) = self.set_from_within(index, value)? else { return Ok(None) };
        let Some(copy) = self.apart(&value)? else { return Ok(Some(value)) };
        drop(value);
        Ok(if self.set_in_place(index, &copy)? { None } else { Some(copy) })
    }

    /// A copy of a value that lies in the buffer of the variable, which could not be written there while the value is held.
    pub(crate) fn apart(&self, value: &Tensor) -> engine::Result<Option<Tensor>> {
        let lies_there = self.lies_in_buffer(value);
        lies_there.then(|| engine::functional::copy(&value.detach())).transpose()
    }

    /// Whether a value lies in the buffer of the variable, and nobody has to know if that is written.
    fn lies_in_buffer(&self, value: &Tensor) -> bool {
        let is_taped = |it: &Tensor| it.requires_grad() && autograd::enabled();
        let seen = self.seen();
        let could = !seen.is_on_gpu() && !is_taped(&seen) && !is_taped(value);
        value.shares_buffer(&seen) && could && !is_heard()
    }

    /// Writes a value that lies in the buffer that is written, without a copy of all of it. Gives the value back where nothing was written.
    fn set_from_within(&self, index: &[Index], value: Tensor) -> engine::Result<Option<Tensor>> {
        if !self.lies_in_buffer(&value) {
            return Ok(Some(value));
        }
        let from = Seen::of(&value);
        // No handle on the elements stays.
        drop(value);
        let done = self.change(&mut |owner, seen| {
            let seen = seen.unwrap_or(owner.layout()).clone();
            engine::index::set_from_within(owner, &seen, index, (from.dtype, &from.layout))
        })?;
        Ok(if done { None } else { Some(from.in_buffer_of(&self.seen(), None)) })
    }

    /// Writes a part of the elements where a view shows their conjugates, which are elements of its own: what is below the view is written.
    fn set_conjugates(&self, index: &[Index], value: &Tensor) -> engine::Result<bool> {
        if !self.shows_conjugates() {
            return Ok(false);
        }
        let Some((below, conj, views)) = self.conjugated() else { return Ok(false) };
        // No handle on the elements stays.
        let seen = {
            let own = below.get();
            let is_taped = autograd::enabled() && (own.requires_grad() || value.requires_grad());
            if is_taped || is_heard() || own.is_on_gpu() || own.is_abstract() {
                return Ok(false);
            }
            let seen = views.iter().rev().try_fold(own.clone(), |base, view| view.apply(&base))?;
            if !seen.shares_buffer(&own) || seen.dtype() != own.dtype() {
                return Ok(false);
            }
            Seen::of(&seen)
        };
        // Zeros keep their signs: of a real number the other part is a zero, too.
        let value = conj.apply(&engine::functional::to(value, seen.dtype)?)?;
        below.change_seen(&seen, &mut |owner, seen| {
            let seen = seen.unwrap_or(owner.layout()).clone();
            engine::index::set_in_place(owner, &seen, index, &value)
        })
    }

    /// The variable whose conjugates a view shows, by what, and the views of these.
    fn conjugated(&self) -> Option<(Rc<TensorObj>, View, Vec<View>)> {
        let (mut object, mut view) = self.base_object()?;
        let mut views = Vec::new();
        while !view.conjugates() {
            if matches!(view, View::Same) {
                return None;
            }
            views.push(view);
            (object, view) = object.base_object()?;
        }
        Some((object, view, views))
    }

    /// Puts what `make` gives where the elements lie, a piece after the other.
    pub(crate) fn fill_in_order(
        self: &Rc<Self>,
        make: &mut dyn FnMut(&Shape) -> engine::Result<Tensor>,
    ) -> engine::Result<bool> {
        self.replaced(&[], &mut |owner, seen| engine::apply::fill_in_order(owner, seen, make))
    }

    /// Replaces the elements by those of an op, whose first operand they are.
    pub(crate) fn apply_in_place(
        self: &Rc<Self>,
        op: &'static OpDef,
        others: &[Tensor],
        attrs: &Attrs,
    ) -> engine::Result<bool> {
        self.replaced(others, &mut |owner, seen| {
            engine::apply_in_place(op, owner, seen, others, attrs)
        })
    }

    /// As [`Self::apply_in_place`], where operands that are `None` are the elements themselves.
    pub(crate) fn apply_to_itself(
        self: &Rc<Self>,
        op: &'static OpDef,
        others: &[Option<Tensor>],
        attrs: &Attrs,
    ) -> engine::Result<bool> {
        self.replaced(&[], &mut |owner, seen| {
            engine::apply_to_itself(op, owner, seen, others, attrs)
        })
    }

    /// Replaces the elements by those of an op on others.
    pub(crate) fn apply_into(
        self: &Rc<Self>,
        op: &'static OpDef,
        inputs: &[Tensor],
        attrs: &Attrs,
    ) -> engine::Result<bool> {
        self.replaced(inputs, &mut |owner, seen| engine::apply_into(op, owner, seen, inputs, attrs))
    }

    fn replaced(
        self: &Rc<Self>,
        operands: &[Tensor],
        change: &mut Change<'_>,
    ) -> engine::Result<bool> {
        if self.refuses_in_place().is_some() {
            return Ok(false);
        }
        journal::value_changes(self);
        if autograd::enabled() && operands.iter().any(Tensor::requires_grad) {
            return Ok(false);
        }
        match self.change(change) {
            // Whoever does it otherwise now is stopped.
            Err(Error::Interrupted) => {
                interrupt::renew();
                Ok(false)
            }
            done => done,
        }
    }
}

impl TensorObj {
    /// Gives out its value, by the one handle on its elements, to be written where it lies; [`TensorObj::take_home`] has to follow, before
    /// any program runs. `None` where others can see the elements, or a trace listens. Views let go of theirs, and look again.
    pub(crate) fn lend(&self) -> Option<Tensor> {
        if self.base.borrow().is_some() || is_heard() {
            return None;
        }
        let is_owned = || self.value.borrow().is_owned();
        if !is_owned() && !self.is_owned_without_views() {
            return None;
        }
        let value = self.value.replace(Tensor::number(0.0)).into_own();
        value.map_err(|it| self.value.replace(it)).ok()
    }

    /// Takes a value back that was lent.
    pub(crate) fn take_home(&self, value: Tensor, is_written: bool) {
        self.value.replace(value);
        self.version.set(self.version.get().wrapping_add(is_written.into()));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use engine::{Shape, ops};

    use super::*;

    #[test]
    fn an_interrupt_is_not_lost_where_nothing_was_changed() {
        let x = Tensor::from_vec(&vec![2.0_f32; 1 << 20], Shape::from([1 << 20])).unwrap();
        let object = Rc::new(TensorObj::new(x));
        let flag = Arc::new(AtomicBool::new(true));
        let _watching = interrupt::watch(flag.clone());
        let neg = ops::find("neg").unwrap();
        assert_eq!(object.apply_in_place(neg, &[], &Attrs::new()), Ok(false));
        assert!(flag.swap(false, Ordering::Relaxed), "the next op ends");
        assert_eq!(object.apply_in_place(neg, &[], &Attrs::new()), Ok(true));
    }
}

//! Gradients of variables, and what sees them.

use std::cell::Cell;
use std::rc::Rc;

use super::TensorObj;
use crate::value::Value;

thread_local! {
    static ASSIGNED_GRADS: Cell<u32> = const { Cell::new(0) };
}

/// Changes whenever a program makes a tensor the gradient of another.
pub(crate) fn assigned_grads() -> u32 {
    ASSIGNED_GRADS.get()
}

impl TensorObj {
    /// The gradient collected so far.
    pub fn grad(&self) -> Option<Rc<TensorObj>> {
        self.grad.borrow().clone()
    }

    /// Replaces the gradient.
    pub fn set_grad(&self, grad: Option<Rc<TensorObj>>) {
        let is_gone = grad.is_none();
        if let Some(grad) = &grad {
            grad.was_grad.set(true);
        }
        let before = self.grad.replace(grad);
        self.grad_cleared.set(is_gone && (before.is_some() || self.grad_cleared.get()));
    }

    /// Whether it is the gradient of another tensor, or was.
    pub(crate) fn was_grad(&self) -> bool {
        self.was_grad.get()
    }

    /// Makes a tensor of the program the gradient: others may see it.
    pub(crate) fn assign_grad(&self, grad: Rc<TensorObj>) {
        ASSIGNED_GRADS.set(ASSIGNED_GRADS.get().wrapping_add(1));
        self.set_grad(Some(grad));
    }

    /// Whether there was a gradient and it was taken away, as `zero_grad()` does.
    pub fn is_grad_cleared(&self) -> bool {
        self.grad_cleared.get()
    }

    /// Takes over whether the gradient was taken away.
    pub(crate) fn set_grad_cleared(&self, cleared: bool) {
        self.grad_cleared.set(cleared);
    }

    /// The dict of functions that see the gradient of a leaf.
    pub(crate) fn hook_table(&self) -> Value {
        self.hooks.borrow_mut().get_or_insert_with(Value::dict).clone()
    }

    /// The functions that see the gradient of a leaf.
    pub fn hooks(&self) -> Vec<Value> {
        self.hooks
            .borrow()
            .as_ref()
            .and_then(Value::as_dict)
            .map_or_else(Vec::new, |it| it.values())
    }
}

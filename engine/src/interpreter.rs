//! Who sees ops before they run: a trace answers them from what it has recorded, or notes what they gave.
//!
//! This is the one door for another way of interpreting a program. `apply` and the reverse walk ask who stands there; they know no trace.

use std::any::Any;
use std::cell::Cell;
use std::sync::Arc;

use crate::tape::{Mark, Node};
use crate::tensor::Outputs;
use crate::{Attrs, Device, OpDef, Result, Tensor};

/// A root of a reverse walk with its gradient; without one the root must hold a single element and counts as 1.
pub type Root = (Tensor, Option<Tensor>);

/// What may answer ops in place of their kernels.
pub(crate) trait Interpreter {
    /// Called before an op runs on a device: its outputs, if they are known or will be.
    fn replay(
        &self,
        op: &'static OpDef,
        inputs: &[Tensor],
        attrs: &Attrs,
        device: Device,
    ) -> Result<Option<(Outputs, Mark)>>;

    /// Called after an op ran since it was not answered.
    fn record(
        &self,
        op: &'static OpDef,
        inputs: &[Tensor],
        attrs: &Attrs,
        device: Device,
        outputs: &Outputs,
    );

    /// Whether it is asked for an op that runs on a device.
    fn follows(&self, device: Device) -> bool;

    /// Called before elements go to another device, which is no op; an error where that must not be.
    fn moves(&self, to: Device) -> Result<()>;

    /// Whether it only builds a graph, for a file say, and computes nothing.
    fn records_only(&self) -> bool;

    /// Called as any reverse walk begins, and as it ends.
    fn walking(&self, begins: bool);

    /// Called before a reverse walk to all leaves: their gradients by number of the leaf, if they are known or will be.
    fn take_walk(&self, roots: &[Root], retain: bool) -> Result<Option<Vec<(u64, Tensor)>>>;

    /// Called before such a walk that was not answered; what it gives comes back with `walk_ends`.
    fn walk_begins(&self) -> Option<Box<dyn Any>>;

    /// Called after it, with the nodes that it went through in order and the gradients by leaf, ascending.
    fn walk_ends(
        &self,
        begun: &dyn Any,
        roots: &[Root],
        retain: bool,
        passed: &[Arc<Node>],
        found: &[(u64, Tensor)],
    );
}

thread_local! {
    static CURRENT: Cell<Option<&'static dyn Interpreter>> = const { Cell::new(None) };
}

/// The one in force on this thread.
pub(crate) fn current() -> Option<&'static dyn Interpreter> {
    CURRENT.get()
}

/// Whether there is one.
pub(crate) fn active() -> bool {
    CURRENT.get().is_some()
}

/// Runs `body`, whose ops nobody hears of: they are part of another.
pub(crate) fn silenced<R>(body: impl FnOnce() -> R) -> R {
    let before = CURRENT.replace(None);
    let res = body();
    CURRENT.set(before);
    res
}

/// Puts one in force on this thread, or none.
pub(crate) fn install(interpreter: Option<&'static dyn Interpreter>) {
    CURRENT.set(interpreter);
}

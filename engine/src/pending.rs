//! Values that are yet to come: whoever reads one has them made.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

use crate::sync::OnceLock;
use crate::{Buffer, Device, Error, Result};

/// The elements of a value that somebody has promised.
#[derive(Default)]
pub(crate) struct Pending {
    /// Where they will be.
    device: Device,
    cell: OnceLock<Arc<Buffer>>,
    /// How to come by them after the promise failed.
    owed: OnceLock<Box<dyn Owed>>,
}

/// Another way to come by elements that were promised.
pub(crate) trait Owed: Send + Sync {
    /// Computes and delivers them, or says why they cannot be had.
    fn compute(&self) -> Result<()>;
}

/// Who promises values on a thread.
#[derive(Clone, Copy)]
pub(crate) struct Promiser {
    /// Delivers all that is promised.
    pub(crate) flush: fn() -> Result<()>,
    /// Called before a program looks at the elements of any tensor, promised or not; an error forbids it.
    pub(crate) read: fn() -> Result<()>,
}

thread_local! {
    static PROMISER: Cell<Option<Promiser>> = const { Cell::new(None) };
}

/// Has `promiser` deliver what is promised on this thread; nobody if `None`.
pub(crate) fn install(promiser: Option<Promiser>) {
    PROMISER.set(promiser);
}

/// Called before a program looks at elements.
pub(crate) fn read() -> Result<()> {
    PROMISER.get().map_or(Ok(()), |it| (it.read)())
}

/// As [`install`]; gives who did so before.
pub(crate) fn replace(promiser: Option<Promiser>) -> Option<Promiser> {
    PROMISER.replace(promiser)
}

/// Delivers all values that are promised on this thread.
///
/// Callers that change what ops do (the random seed, say) call this first.
pub fn flush() -> Result<()> {
    PROMISER.get().map_or(Ok(()), |it| (it.flush)())
}

impl fmt::Debug for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("cell", &self.cell).finish_non_exhaustive()
    }
}

impl Pending {
    /// Elements that will be on a device.
    pub(crate) fn on(device: Device) -> Self {
        Self { device, ..Self::default() }
    }

    /// Where they will be.
    pub(crate) fn device(&self) -> Device {
        self.device
    }

    /// The elements; has them delivered when they are not there yet.
    pub(crate) fn force(&self) -> Result<&Arc<Buffer>> {
        if self.cell.get().is_none() {
            flush()?;
        }
        if let (None, Some(owed)) = (self.cell.get(), self.owed.get()) {
            owed.compute()?;
        }
        self.cell.get().ok_or_else(lost)
    }

    /// The elements, if they have been delivered.
    pub(crate) fn delivered(&self) -> Option<&Arc<Buffer>> {
        self.cell.get()
    }

    /// Delivers the elements; a second delivery is ignored.
    pub(crate) fn deliver(&self, buffer: Arc<Buffer>) {
        let _ = self.cell.set(buffer);
    }

    /// Says how to come by the elements otherwise; a second way is ignored.
    pub(crate) fn owe(&self, owed: impl Owed + 'static) {
        let _ = self.owed.set(Box::new(owed));
    }
}

fn lost() -> Error {
    Error::Trace { problem: "this value belongs to a trace that did not finish".into() }
}

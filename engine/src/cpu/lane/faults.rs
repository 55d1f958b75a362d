//! What a run of kernels refuses, whichever thread meets it.

use std::sync::atomic::{AtomicU8, Ordering};

use super::machine::RunError;
use crate::math::Fault;

/// What the threads of a run have refused.
#[derive(Default)]
pub(super) struct Faults(AtomicU8);

impl Faults {
    pub(super) fn note(&self, fault: Option<Fault>) {
        if let Some(fault) = fault {
            self.0.fetch_max(fault as u8 + 1, Ordering::Relaxed);
        }
    }

    /// One of them, the same whatever the order.
    pub(super) fn first(&self) -> Option<Fault> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            _ => Some(Fault::DivisionByZero),
        }
    }
}

pub(super) fn stopped_by(fault: Option<Fault>) -> Result<(), RunError> {
    fault.map_or(Ok(()), |fault| Err(RunError::Fault(fault)))
}

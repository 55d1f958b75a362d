//! Locks that outlive a panic: a bug in one request leaves the data as it was, and the kernel runs on.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, also after a panic in another holder.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

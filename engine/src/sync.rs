//! The locks of the engine: those of the standard library, and of nothing else.
//!
//! ThreadSanitizer sees an order between threads only where the code that makes it was compiled with its checks. The library that is
//! installed with the toolchain was not, and a contended lock is taken, and a first value noted, inside it. So under `cfg(sanitized)`
//! each lock has an atomic of ours beside it, which is written before the lock is given away and read after it is taken. It adds no
//! order that the lock does not make.

#[cfg(not(sanitized))]
pub(crate) use std::sync::{Mutex, MutexGuard, OnceLock};

#[cfg(sanitized)]
pub(crate) use seen::{Mutex, MutexGuard, OnceLock};

#[cfg(sanitized)]
mod seen {
    use std::ops::{Deref, DerefMut};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{self, LockResult, PoisonError};

    /// As that of the library.
    #[derive(Default)]
    pub(crate) struct Mutex<T> {
        mutex: sync::Mutex<T>,
        handed_on: AtomicBool,
    }

    /// As that of the library.
    pub(crate) struct MutexGuard<'a, T> {
        guard: sync::MutexGuard<'a, T>,
        handed_on: &'a AtomicBool,
    }

    impl<T> Mutex<T> {
        pub(crate) const fn new(value: T) -> Self {
            Self { mutex: sync::Mutex::new(value), handed_on: AtomicBool::new(false) }
        }

        pub(crate) fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
            let res = self.mutex.lock();
            self.handed_on.load(Ordering::Acquire);
            let guarded = |guard| MutexGuard { guard, handed_on: &self.handed_on };
            res.map(guarded).map_err(|it| PoisonError::new(guarded(it.into_inner())))
        }
    }

    impl<T> Drop for MutexGuard<'_, T> {
        fn drop(&mut self) {
            self.handed_on.store(true, Ordering::Release);
        }
    }

    impl<T> Deref for MutexGuard<'_, T> {
        type Target = T;

        fn deref(&self) -> &T {
            &self.guard
        }
    }

    impl<T> DerefMut for MutexGuard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            &mut self.guard
        }
    }

    /// As that of the library; whoever finds the value waits until the one who made it has noted so.
    #[derive(Debug)]
    pub(crate) struct OnceLock<T> {
        cell: sync::OnceLock<T>,
        made: AtomicBool,
    }

    impl<T> Default for OnceLock<T> {
        fn default() -> Self {
            Self::new()
        }
    }

    impl<T> OnceLock<T> {
        pub(crate) const fn new() -> Self {
            Self { cell: sync::OnceLock::new(), made: AtomicBool::new(false) }
        }

        pub(crate) fn get(&self) -> Option<&T> {
            let value = self.cell.get()?;
            while !self.made.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            Some(value)
        }

        pub(crate) fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
            let mut is_maker = false;
            let make = || {
                is_maker = true;
                make()
            };
            let value = self.cell.get_or_init(make);
            if is_maker {
                self.made.store(true, Ordering::Release);
            }
            self.get().unwrap_or(value)
        }

        pub(crate) fn set(&self, value: T) -> Result<(), T> {
            let mut value = Some(value);
            self.get_or_init(|| value.take().expect("the maker runs once"));
            value.map_or(Ok(()), Err)
        }
    }
}

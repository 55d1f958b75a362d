//! The locks of the engine and of what stands on it: those of the standard library, and of nothing else.
//!
//! ThreadSanitizer sees an order between threads only where the code that makes it was compiled with its checks. The library that is
//! installed with the toolchain was not, and a contended lock is taken, and a first value noted, inside it. So under `cfg(sanitized)`
//! each lock has an atomic of ours beside it, which is written before the lock is given away and read after it is taken. It adds no
//! order that the lock does not make.

#[cfg(not(sanitized))]
pub use std::sync::{Condvar, Mutex, MutexGuard, OnceLock};

#[cfg(sanitized)]
pub use seen::{Condvar, Mutex, MutexGuard, OnceLock};

#[cfg(sanitized)]
mod seen {
    use std::ops::{Deref, DerefMut};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{self, LockResult, PoisonError, WaitTimeoutResult};
    use std::time::Duration;

    /// As that of the library.
    #[derive(Debug, Default)]
    pub struct Mutex<T> {
        mutex: sync::Mutex<T>,
        handed_on: AtomicBool,
    }

    /// As that of the library. Fields are dropped in this order: the lock is handed on before it is given away.
    #[derive(Debug)]
    pub struct MutexGuard<'a, T> {
        hand_on: HandOn<'a>,
        guard: sync::MutexGuard<'a, T>,
    }

    /// Says at its end that the lock is handed on.
    #[derive(Debug)]
    struct HandOn<'a>(&'a AtomicBool);

    /// As that of the library.
    #[derive(Debug, Default)]
    pub struct Condvar(sync::Condvar);

    impl<T> Mutex<T> {
        /// As that of the library.
        pub const fn new(value: T) -> Self {
            Self { mutex: sync::Mutex::new(value), handed_on: AtomicBool::new(false) }
        }

        /// As that of the library.
        pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
            guarded(self.mutex.lock(), &self.handed_on)
        }

        /// As that of the library.
        pub fn into_inner(self) -> LockResult<T> {
            self.handed_on.load(Ordering::Acquire);
            self.mutex.into_inner()
        }
    }

    impl Condvar {
        /// As that of the library.
        pub const fn new() -> Self {
            Self(sync::Condvar::new())
        }

        /// As that of the library.
        pub fn notify_one(&self) {
            self.0.notify_one();
        }

        /// As that of the library.
        pub fn notify_all(&self) {
            self.0.notify_all();
        }

        /// As that of the library.
        pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
            let (guard, handed_on) = guard.hand_on();
            guarded(self.0.wait(guard), handed_on)
        }

        /// As that of the library.
        pub fn wait_timeout<'a, T>(
            &self,
            guard: MutexGuard<'a, T>,
            most: Duration,
        ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
            let (guard, handed_on) = guard.hand_on();
            let res = self.0.wait_timeout(guard, most);
            handed_on.load(Ordering::Acquire);
            let guarded = |(guard, it)| (MutexGuard { hand_on: HandOn(handed_on), guard }, it);
            res.map(guarded).map_err(|it| PoisonError::new(guarded(it.into_inner())))
        }
    }

    /// A lock that was just taken.
    fn guarded<'a, T>(
        taken: LockResult<sync::MutexGuard<'a, T>>,
        handed_on: &'a AtomicBool,
    ) -> LockResult<MutexGuard<'a, T>> {
        handed_on.load(Ordering::Acquire);
        let guarded = |guard| MutexGuard { hand_on: HandOn(handed_on), guard };
        taken.map(guarded).map_err(|it| PoisonError::new(guarded(it.into_inner())))
    }

    impl<'a, T> MutexGuard<'a, T> {
        /// The library's, which is about to be given away.
        fn hand_on(self) -> (sync::MutexGuard<'a, T>, &'a AtomicBool) {
            (self.guard, self.hand_on.0)
        }
    }

    impl Drop for HandOn<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Release);
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
    pub struct OnceLock<T> {
        cell: sync::OnceLock<T>,
        made: AtomicBool,
    }

    impl<T> Default for OnceLock<T> {
        fn default() -> Self {
            Self::new()
        }
    }

    impl<T> OnceLock<T> {
        /// As that of the library.
        pub const fn new() -> Self {
            Self { cell: sync::OnceLock::new(), made: AtomicBool::new(false) }
        }

        /// As that of the library.
        pub fn get(&self) -> Option<&T> {
            let value = self.cell.get()?;
            while !self.made.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            Some(value)
        }

        /// As that of the library.
        pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
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

        /// As that of the library.
        pub fn set(&self, value: T) -> Result<(), T> {
            let mut value = Some(value);
            self.get_or_init(|| value.take().expect("the maker runs once"));
            value.map_or(Ok(()), Err)
        }
    }
}

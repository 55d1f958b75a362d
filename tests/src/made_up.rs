//! Programs that tests put together from lines.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled", 2016).
pub struct Random(u64);

impl Random {
    /// The same numbers for the same program of the same seed.
    pub fn new(seed: usize, program: usize) -> Random {
        let mut random = Random((seed * 1_000_003 + program + 1) as u64);
        // Seeds that are near one another begin alike.
        (0..8).for_each(|_| {
            random.below(2);
        });
        random
    }

    /// A number from 0 on that is less than `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % bound
    }

    /// One of these.
    pub fn pick<'a>(&mut self, lines: &[&'a str]) -> &'a str {
        lines[self.below(lines.len())]
    }
}

/// One step of training `net` with `opt` on `y`.
pub const TRAINING: &[&str] =
    &["opt.zero_grad()", "loss = net(y).square().mean()", "loss.backward()", "opt.step()"];

/// The line after which a program makes its tensors on a GPU, which is an emulated one unless `NOTEGRAD_EMULATED_GPU` is 0.
pub fn on_a_gpu() -> &'static str {
    let _guard = GPU.write().unwrap_or_else(PoisonError::into_inner);
    HAS_GPU.store(true, Ordering::Relaxed);
    engine::cuda::emulate();
    "torch.set_default_device('cuda')\n"
}

/// A GPU, its random numbers too, is one for all threads of a process: tests whose programs use it run alone, and where there is one, those
/// that seed all devices.
static GPU: RwLock<()> = RwLock::new(());
static HAS_GPU: AtomicBool = AtomicBool::new(false);

/// Keeps other tests of this process from running beside one that uses a GPU.
pub enum Guard {
    /// Others run that use none, too.
    Shared(RwLockReadGuard<'static, ()>),
    /// No other runs.
    Alone(RwLockWriteGuard<'static, ()>),
}

impl Guard {
    /// For a test whose programs begin with this line, of [`on_a_gpu`] or none.
    pub fn of(first: &str) -> Guard {
        match first {
            "" if !HAS_GPU.load(Ordering::Relaxed) => {
                Guard::Shared(GPU.read().unwrap_or_else(PoisonError::into_inner))
            }
            _ => Guard::Alone(GPU.write().unwrap_or_else(PoisonError::into_inner)),
        }
    }
}

/// The number in an environment variable, or another one.
pub fn number(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(otherwise)
}

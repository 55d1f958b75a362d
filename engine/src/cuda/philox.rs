//! The stream of random numbers of a GPU: a seed, and how far it has got. The numbers themselves are made by kernels.
//!
//! Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011), laid out over threads as PyTorch does, so that a
//! seed gives its numbers on the same kind of device.

use super::driver::Address;

/// Where a stream stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Philox {
    pub(crate) seed: u64,
    /// Numbers that each thread has drawn so far, a multiple of 4.
    pub(crate) offset: u64,
}

impl Philox {
    /// Takes the next `n` numbers of each thread: where they begin.
    pub(crate) fn take(&mut self, n: u64) -> Self {
        let before = *self;
        self.offset += n.next_multiple_of(4);
        before
    }
}

/// Where the numbers of a launch begin: at `at`, or that far behind the seed and the offset that memory holds at `held`, if it is not 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    pub(crate) at: Philox,
    pub(crate) held: Address,
}

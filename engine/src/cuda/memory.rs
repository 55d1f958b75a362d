//! Memory of a device that is handed out in blocks: counters, budget, and the blocks that are kept for reuse.
//!
//! What is asked of a device happens in order, so a block may be handed out again as soon as its owner has gone: whatever still uses
//! it comes first.

use std::collections::{BTreeMap, BTreeSet};
use std::ptr::NonNull;
use std::sync::PoisonError;

use super::driver::{Address, Driver, Failure};
use crate::cpu::large::{self, Large};
use crate::cpu::memory::Stats;
use crate::sync::{Mutex, MutexGuard};
use crate::{DType, Shape};

/// Blocks are multiples of this many bytes, and begin at such.
const GRAIN: usize = 512;

/// Blocks of more bytes than this are multiples of it.
const COARSE: usize = 1 << 21;

/// Bytes above which a buffer is listed with what it holds and where it was made.
const LISTED: usize = 1 << 16;

/// The allocator of one device.
pub(crate) struct Memory {
    state: Mutex<State>,
    large: large::List,
    /// Bytes that the device has.
    whole: usize,
}

#[derive(Default)]
struct State {
    stats: Stats,
    /// Free blocks by size. The lowest is handed out first: a program that does the same again gets the same blocks, whatever the order is
    /// in which it has given them back.
    free: BTreeMap<usize, BTreeSet<Address>>,
}

/// What was asked for when there was no room.
pub(crate) struct NoRoom {
    pub(crate) bytes: usize,
    pub(crate) live: usize,
}

impl Memory {
    /// Memory of a device with so many bytes, of which nothing is handed out.
    pub(super) fn new(whole: usize) -> Self {
        Self { state: Mutex::default(), large: large::List::new(), whole }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A block for so many bytes, or how much room was missing; an error where the device has failed.
    pub(super) fn allocate(
        &self,
        driver: &dyn Driver,
        bytes: usize,
        what: Option<(DType, &Shape)>,
    ) -> Result<Result<Address, NoRoom>, Failure> {
        let size = size_of_block(bytes);
        let address = match self.take(size) {
            Err(no_room) => return Ok(Err(no_room)),
            Ok(Some(kept)) => Ok(kept),
            Ok(None) => driver.allocate(size).or_else(|failure| {
                // What is kept in other sizes may make room.
                self.trim(driver);
                if failure == Failure::NoMemory { driver.allocate(size) } else { Err(failure) }
            }),
        };
        match address {
            Ok(address) => {
                let mut state = self.state();
                state.stats.peak = state.stats.peak.max(state.stats.live);
                drop(state);
                self.begins(address, bytes, what);
                Ok(Ok(address))
            }
            Err(failure) => {
                let mut state = self.state();
                state.stats.live -= size;
                let no_room = NoRoom { bytes, live: state.stats.live };
                if failure == Failure::NoMemory { Ok(Err(no_room)) } else { Err(failure) }
            }
        }
    }

    /// Counts a block as live; gives one that is kept, if there is one.
    fn take(&self, size: usize) -> Result<Option<Address>, NoRoom> {
        let budget = self.budget();
        let mut state = self.state();
        if state.stats.live + size > budget {
            return Err(NoRoom { bytes: size, live: state.stats.live });
        }
        state.stats.live += size;
        state.stats.allocations += 1;
        let kept = state.free.get_mut(&size).and_then(BTreeSet::pop_first);
        if kept.is_some() {
            state.stats.cached -= size;
        }
        Ok(kept)
    }

    /// Takes a block back that was handed out for so many bytes.
    pub(super) fn take_back(&self, address: Address, bytes: usize) {
        let size = size_of_block(bytes);
        if bytes > LISTED
            && let Some(key) = key(address)
        {
            self.large.ends(key);
        }
        let mut state = self.state();
        state.stats.live -= size;
        state.stats.cached += size;
        state.free.entry(size).or_default().insert(address);
    }

    fn begins(&self, address: Address, bytes: usize, what: Option<(DType, &Shape)>) {
        if bytes > LISTED
            && let Some(key) = key(address)
        {
            self.large.begins(key, bytes, what);
        }
    }

    /// Gives what is kept for reuse back to the system.
    pub(super) fn trim(&self, driver: &dyn Driver) {
        let free = {
            let mut state = self.state();
            state.stats.cached = 0;
            std::mem::take(&mut state.free)
        };
        free.into_values().flatten().for_each(|it| driver.release(it));
        driver.trim();
    }

    /// The counters now.
    pub(crate) fn stats(&self) -> Stats {
        Stats { budget: self.budget(), ..self.state().stats }
    }

    /// Starts a new measurement of [`Stats::peak`].
    pub(crate) fn reset_peak(&self) {
        let mut state = self.state();
        state.stats.peak = state.stats.live;
    }

    /// The most bytes that may be in use; at first all that the device has.
    pub(crate) fn budget(&self) -> usize {
        match self.state().stats.budget {
            0 => self.whole,
            bytes => bytes,
        }
    }

    /// Sets the budget; 0 returns to the default.
    pub(crate) fn set_budget(&self, bytes: usize) {
        self.state().stats.budget = bytes;
    }

    /// What takes the most memory, the largest first.
    pub(crate) fn largest(&self, most: usize) -> Vec<Large> {
        self.large.largest(most)
    }
}

/// Bytes of the block for so many.
pub(super) fn size_of_block(bytes: usize) -> usize {
    let grain = if bytes > COARSE { COARSE } else { GRAIN };
    bytes.max(1).next_multiple_of(grain)
}

/// An address as the list of large buffers keeps it: a number that nobody follows.
fn key(address: Address) -> Option<NonNull<u8>> {
    NonNull::new(std::ptr::without_provenance_mut(address as usize))
}

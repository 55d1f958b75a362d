//! Work of a GPU that is noted once and done again and again, by one call of the driver (a CUDA graph).
//!
//! What is noted reads and writes at fixed addresses. So it is first done in memory that nobody else gets (a pool), and then noted in that
//! same memory, which stays with the recording. Recordings that are done one after the other may share it. What differs between two runs lies where the caller says: random numbers begin at what memory
//! holds, and whatever else changes is written there before.
//!
//! **Invariant:** while work is noted, nothing is allocated, sent, read or waited for: what asks for that cannot be recorded.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

use super::Gpu;
use super::driver::{Address, Answer, Failure, Replay};
use super::faults::{self, Lasting, Meaning, Meanings};
use super::memory::size_of_block;
use super::philox::{Philox, Start};
use crate::sync::Mutex;
use crate::{Result, Site};

/// Launches of a recording that may refuse elements.
const MOST_FAULTS: usize = 1024;

/// Work that was noted.
pub(crate) struct Recording {
    work: Box<dyn Replay>,
    gpu: &'static Gpu,
    faults: Option<Arc<Lasting>>,
    /// Random numbers that each thread of the device draws in a run.
    drawn: u64,
    /// Memory in which it works.
    _pool: Arc<Pool>,
}

/// Memory of recordings: blocks by size, of which some are free.
pub(crate) struct Pool {
    gpu: &'static Gpu,
    blocks: Mutex<Blocks>,
}

#[derive(Default)]
struct Blocks {
    free: BTreeMap<usize, Vec<Address>>,
    all: Vec<(Address, usize)>,
}

/// A recording that is being made on a thread.
struct Making {
    pool: Arc<Pool>,
    /// `None` while the work is done for the first time.
    noting: Option<Noting>,
}

/// What is noted besides launches.
struct Noting {
    meanings: Meanings,
    /// Where slots for faults begin.
    faults: Address,
    /// Where a seed and an offset lie.
    start: Address,
    drawn: u64,
}

thread_local! {
    static MAKING: RefCell<Option<Making>> = const { RefCell::new(None) };
}

impl Pool {
    /// A block for so many bytes.
    fn take(&self, bytes: usize) -> Option<Address> {
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        blocks.free.get_mut(&size_of_block(bytes)).and_then(Vec::pop)
    }

    /// Takes over a block of the device's memory that is handed out.
    pub(super) fn add(&self, address: Address, bytes: usize) {
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        blocks.all.push((address, bytes));
    }

    /// Takes a block back that it handed out.
    pub(super) fn take_back(&self, address: Address, bytes: usize) {
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        blocks.free.entry(size_of_block(bytes)).or_default().push(address);
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        blocks.all.iter().for_each(|&(at, bytes)| self.gpu.memory.take_back(at, bytes));
    }
}

/// Whether this thread notes work, so that nothing may be sent, read or waited for.
pub(super) fn is_noting() -> bool {
    MAKING.with_borrow(|it| it.as_ref().is_some_and(|it| it.noting.is_some()))
}

/// The failure of what cannot be recorded.
pub(super) fn refused() -> Failure {
    Failure::Broken("what a recording does must not wait, send or read".into())
}

/// The pool of the recording that this thread makes, with a block of it for so many bytes if it has one; an error where it must have.
pub(super) fn take(bytes: usize) -> Answer<Option<(Arc<Pool>, Option<Address>)>> {
    MAKING.with_borrow(|it| {
        let Some(Making { pool, noting }) = it else { return Ok(None) };
        match (pool.take(bytes), noting) {
            (None, Some(_)) => Err(refused()),
            (found, _) => Ok(Some((pool.clone(), found))),
        }
    })
}

/// A slot for what a noted launch refuses; `None` if this thread notes none.
pub(super) fn fault_slot(meaning: Meaning) -> std::result::Result<Answer<Address>, Meaning> {
    MAKING.with_borrow_mut(|it| {
        let Some(noting) = it.as_mut().and_then(|it| it.noting.as_mut()) else {
            return Err(meaning);
        };
        if noting.meanings.len() == MOST_FAULTS {
            return Ok(Err(refused()));
        }
        let at = noting.faults + (noting.meanings.len() * faults::SIZE) as Address;
        noting.meanings.push((Site::here(), meaning));
        Ok(Ok(at))
    })
}

/// Where the next `n` random numbers of each thread begin in a noted launch; `None` if this thread notes none.
pub(super) fn draw(n: u64) -> Option<Start> {
    MAKING.with_borrow_mut(|it| {
        let noting = it.as_mut()?.noting.as_mut()?;
        let offset = noting.drawn;
        noting.drawn += n.next_multiple_of(4);
        Some(Start { at: Philox { seed: 0, offset }, held: noting.start })
    })
}

/// Ends what this thread makes, whatever happens.
struct Ends;

impl Drop for Ends {
    fn drop(&mut self) {
        MAKING.set(None);
    }
}

impl Gpu {
    /// Memory for recordings.
    pub(crate) fn pool(&'static self) -> Arc<Pool> {
        Arc::new(Pool { gpu: self, blocks: Mutex::default() })
    }

    /// Has `body` ask for work, which is done, and then ask for the same again, which is noted: what does it again, if it can be. Its
    /// temporary memory is that of the pool. Seed and offset of the random numbers that it draws lie at `start` whenever it is done again.
    pub(crate) fn recorded(
        &'static self,
        pool: &Arc<Pool>,
        start: Address,
        mut body: impl FnMut() -> Result<()>,
    ) -> Result<Option<Recording>> {
        if MAKING.with_borrow(Option::is_some) {
            return body().map(|()| None);
        }
        let slots = self.block(MOST_FAULTS * faults::SIZE)?;
        self.clear(slots.address(), slots.len())?;
        MAKING.set(Some(Making { pool: pool.clone(), noting: None }));
        let _ends = Ends;
        body()?;
        let noting = Noting { meanings: Vec::new(), faults: slots.address(), start, drawn: 0 };
        MAKING.with_borrow_mut(|it| {
            if let Some(it) = it {
                it.noting = Some(noting);
            }
        });
        let alone = self.noting.lock();
        let driver = self.driver()?;
        if driver.note().is_err() {
            // The work is done; it only cannot be noted.
            return Ok(None);
        }
        let asked = body();
        let work = driver.noted();
        drop(alone);
        let noting = MAKING.take().and_then(|it| it.noting);
        let (Ok(()), Ok(work), Some(noting)) = (asked, work, noting) else { return Ok(None) };
        let Noting { meanings, drawn, .. } = noting;
        let faults = match meanings.is_empty() {
            true => None,
            false => Some(Arc::new(Lasting { slots, meanings })),
        };
        Ok(Some(Recording { work, gpu: self, faults, drawn, _pool: pool.clone() }))
    }

    /// Where the next `n` random numbers of each thread begin.
    pub(crate) fn draw(&self, n: u64) -> Start {
        let now = || {
            let mut random = self.random.lock().unwrap_or_else(PoisonError::into_inner);
            Start { at: random.take(n), held: 0 }
        };
        draw(n).unwrap_or_else(now)
    }
}

impl Recording {
    /// Takes the random numbers that a run draws: the seed and the offset that have to lie at its start; `None` if it draws none.
    pub(crate) fn draws(&self) -> Option<Philox> {
        (self.drawn > 0).then(|| self.gpu.draw(self.drawn).at)
    }

    /// Asks for all of it.
    pub(crate) fn run(&self) -> Result<()> {
        if let Some(faults) = &self.faults {
            self.gpu.opened()?.faults.again(faults);
        }
        self.work.run().map_err(|it| self.gpu.failed(it))
    }
}

//! Bytes on their way between main memory and a GPU.
//!
//! Few bytes go as the driver takes them. Many go by way of page-locked chunks, of which one is filled or emptied by the processor while
//! another is on the bus. What lies in page-locked memory goes from there, while the program goes on.
//!
//! **Invariant:** page-locked memory that is on the bus belongs to [`UnderWay`] until a mark behind it is passed, so it is neither given to
//! others nor written to: a buffer that anybody else holds is not.

use std::any::Any;
use std::collections::VecDeque;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::{Arc, PoisonError};

use super::driver::{Address, Answer, Driver, Mark};
use super::pinned::PINNED;
use super::{Block, Gpu};
use crate::cpu::alloc::Bytes;
use crate::cpu::{interrupt, strided, typed};
use crate::sync::Mutex;
use crate::{DType, Error, Result, Shape};

/// Bytes above which a copy goes by way of chunks.
const MANY: usize = 1 << 20;

/// Bytes of a chunk.
const CHUNK: usize = 4 << 20;

/// Chunks of one copy.
const CHUNKS: usize = 3;

/// Page-locked memory, and the mark behind which it is not needed any more.
type Held = (Box<dyn Mark>, Owner);

type Owner = Arc<dyn Any + Send + Sync>;

/// A mark that nobody could make: what is behind it stays.
struct Never;

impl Mark for Never {
    fn is_passed(&self) -> Answer<bool> {
        Ok(false)
    }
}

/// Page-locked memory that is on the bus.
#[derive(Default)]
pub(super) struct UnderWay(Mutex<VecDeque<Held>>);

impl UnderWay {
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Keeps memory until its mark is passed, and lets go of what has arrived.
    pub(super) fn keep(&self, new: impl IntoIterator<Item = Held>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend(new);
        // They are passed in order. After a failure nothing is known of any: it stays.
        while all.front().is_some_and(|it| it.0.is_passed() == Ok(true)) {
            all.pop_front();
        }
    }
}

/// The page-locked chunks of one copy. Those that are on the bus when it ends belong to [`UnderWay`].
struct Chunks<'a> {
    gpu: &'a Gpu,
    spare: Option<Bytes>,
    on_bus: VecDeque<Part>,
}

/// A chunk on the bus, with the place of its bytes among all.
struct Part {
    mark: Box<dyn Mark>,
    chunk: Bytes,
    place: Range<usize>,
}

impl<'a> Chunks<'a> {
    /// `None` if there is no page-locked memory.
    fn new(gpu: &'a Gpu) -> Option<Self> {
        let spare = Some(PINNED.uninit(CHUNK).ok()?);
        Some(Self { gpu, spare, on_bus: VecDeque::new() })
    }

    /// A chunk that is free; `empty` sees what one has brought that was on the bus.
    fn free(&mut self, empty: impl FnOnce(&Part)) -> Result<Bytes> {
        let more = self.on_bus.len() < CHUNKS;
        let another = || if more { PINNED.uninit(CHUNK).ok() } else { None };
        match self.spare.take().or_else(another) {
            Some(chunk) => Ok(chunk),
            None => match self.arrived()? {
                Some(part) => {
                    empty(&part);
                    Ok(part.chunk)
                }
                None => Ok(PINNED.uninit(CHUNK)?),
            },
        }
    }

    /// The chunk that has been on the bus longest, when it has arrived. An interrupt ends the waiting.
    fn arrived(&mut self) -> Result<Option<Part>> {
        let Some(first) = self.on_bus.front() else { return Ok(None) };
        while !first.mark.is_passed().map_err(|it| self.gpu.failed(it))? {
            if interrupt::take() {
                return Err(Error::Interrupted);
            }
            std::hint::spin_loop();
        }
        Ok(self.on_bus.pop_front())
    }

    /// Has `ask` put a chunk on the bus.
    fn put(
        &mut self,
        mut chunk: Bytes,
        place: Range<usize>,
        ask: impl FnOnce(&dyn Driver, NonNull<u8>) -> Answer<()>,
    ) -> Result<()> {
        let driver = self.gpu.driver()?;
        let start = NonNull::from(typed::slice_mut::<u8>(&mut chunk)).cast();
        ask(driver, start).map_err(|it| self.gpu.failed(it))?;
        match driver.mark() {
            Ok(mark) => self.on_bus.push_back(Part { mark, chunk, place }),
            Err(failure) => {
                self.gpu
                    .under_way
                    .keep([(Box::new(Never) as Box<dyn Mark>, Arc::new(chunk) as Owner)]);
                return Err(self.gpu.failed(failure));
            }
        }
        Ok(())
    }
}

impl Drop for Chunks<'_> {
    fn drop(&mut self) {
        let held = |it: Part| -> Held { (it.mark, Arc::new(it.chunk)) };
        self.gpu.under_way.keep(self.on_bus.drain(..).map(held));
    }
}

impl Gpu {
    /// A block with these bytes.
    pub(crate) fn upload(&'static self, bytes: &[u8], what: (DType, &Shape)) -> Result<Block> {
        let block = self.holding(bytes.len(), Some(what))?;
        self.write(&block, bytes)?;
        Ok(block)
    }

    /// Sends bytes to the start of a block.
    pub(crate) fn write(&self, block: &Block, bytes: &[u8]) -> Result<()> {
        debug_assert!(bytes.len() <= block.len);
        self.outside_recordings()?;
        if bytes.len() > MANY && self.write_in_parts(block.address, bytes)? {
            return Ok(());
        }
        if bytes.is_empty() {
            return Ok(());
        }
        self.driver()?.write(block.address, bytes).map_err(|it| self.failed(it))
    }

    /// A block with bytes of page-locked memory, which `owner` keeps. They are on their way when this returns.
    pub(crate) fn send(
        &'static self,
        bytes: &[u8],
        owner: Arc<dyn Any + Send + Sync>,
        what: (DType, &Shape),
    ) -> Result<Block> {
        self.outside_recordings()?;
        let block = self.holding(bytes.len(), Some(what))?;
        if !bytes.is_empty() {
            let driver = self.driver()?;
            let sent = driver.send(block.address, NonNull::from(bytes).cast(), bytes.len());
            sent.map_err(|it| self.failed(it))?;
            self.under_way.keep([(self.mark(&owner)?, owner)]);
        }
        Ok(block)
    }

    /// A mark behind what was asked so far; where there is none, `owner` keeps its memory for ever.
    fn mark(&self, owner: &Owner) -> Result<Box<dyn Mark>> {
        self.driver()?.mark().map_err(|failure| {
            self.under_way.keep([(Box::new(Never) as Box<dyn Mark>, owner.clone())]);
            self.failed(failure)
        })
    }

    /// Fills `to` with the bytes of a block from `start` on, when all is done that was asked before. Then it is also known what kernels
    /// have refused. An interrupt ends the waiting; the device goes on.
    pub(crate) fn download(&self, block: &Block, start: usize, to: &mut [u8]) -> Result<()> {
        self.settle()?;
        debug_assert!(start + to.len() <= block.len);
        let from = block.address + start as Address;
        if to.len() > MANY && self.read_in_parts(from, to)? {
            return Ok(());
        }
        if to.is_empty() {
            return Ok(());
        }
        self.driver()?.read(from, to).map_err(|it| self.failed(it))
    }

    /// Sends bytes chunk by chunk; false if there is no page-locked memory.
    fn write_in_parts(&self, to: Address, bytes: &[u8]) -> Result<bool> {
        let Some(mut chunks) = Chunks::new(self) else { return Ok(false) };
        for place in places(bytes.len()) {
            let (mut chunk, len) = (chunks.free(|_| ())?, place.len());
            strided::copy_bytes(&mut typed::slice_mut(&mut chunk)[..len], &bytes[place.clone()]);
            if interrupt::take() {
                return Err(Error::Interrupted);
            }
            let to = to + place.start as Address;
            chunks.put(chunk, place, |driver, from| driver.send(to, from, len))?;
        }
        Ok(true)
    }

    /// Fetches bytes chunk by chunk; false if there is no page-locked memory.
    fn read_in_parts(&self, from: Address, to: &mut [u8]) -> Result<bool> {
        let Some(mut chunks) = Chunks::new(self) else { return Ok(false) };
        let places = places(to.len());
        let mut empty = |part: &Part| {
            let bytes = &typed::slice(&part.chunk)[..part.place.len()];
            strided::copy_bytes(&mut to[part.place.clone()], bytes);
        };
        for place in places {
            let (chunk, len) = (chunks.free(&mut empty)?, place.len());
            let from = from + place.start as Address;
            chunks.put(chunk, place, |driver, to| driver.receive(from, to, len))?;
        }
        while let Some(part) = chunks.arrived()? {
            empty(&part);
        }
        if interrupt::take() { Err(Error::Interrupted) } else { Ok(true) }
    }
}

/// The places of chunks among so many bytes.
fn places(bytes: usize) -> impl Iterator<Item = Range<usize>> {
    (0..bytes).step_by(CHUNK).map(move |start| start..(start + CHUNK).min(bytes))
}

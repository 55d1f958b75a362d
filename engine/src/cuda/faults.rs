//! What kernels refuse in elements. They run later than the program asks for them, so each notes it in a slot of the device's memory; the
//! host looks at the slots whenever it waits for the device, and says then what was wrong, and where the op was applied.

use std::sync::{Arc, PoisonError};

use super::Block;
use super::driver::{Address, Answer, Driver};
use crate::sync::{Mutex, MutexGuard};
use crate::{Error, Site};

/// Launches that may be under way before the host looks.
const SLOTS: usize = 4096;

/// Bytes of a slot: `ng_fault` of the prelude.
pub(super) const SIZE: usize = 16;

/// The error for what a kernel has noted: bits that say how, and a number.
pub(crate) type Meaning = Box<dyn Fn(u32, i64) -> Error + Send + Sync>;

/// What the notes in slots one after the other mean, and where their launches were asked for.
pub(super) type Meanings = Vec<(Site, Meaning)>;

/// The slots of work that is done again and again.
pub(super) struct Lasting {
    pub(super) slots: Block,
    pub(super) meanings: Meanings,
}

/// The slots of one device.
pub(super) struct Faults {
    at: Address,
    waiting: Mutex<Meanings>,
    /// Those of work that was done since the host last looked.
    again: Mutex<Vec<Arc<Lasting>>>,
}

impl Faults {
    pub(super) fn new(driver: &dyn Driver) -> Answer<Self> {
        let at = driver.allocate(SLOTS * SIZE)?;
        driver.clear(at, SLOTS * SIZE)?;
        Ok(Self { at, waiting: Mutex::default(), again: Mutex::default() })
    }

    fn waiting(&self) -> MutexGuard<'_, Meanings> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is a slot for one more launch.
    pub(super) fn has_room(&self) -> bool {
        self.waiting().len() < SLOTS
    }

    /// The slot for a launch here, which says by `meaning` what it has refused.
    pub(super) fn slot(&self, meaning: Meaning) -> Address {
        let mut waiting = self.waiting();
        waiting.push((Site::here(), meaning));
        self.at + ((waiting.len() - 1).min(SLOTS - 1) * SIZE) as Address
    }

    /// Notes that work with slots of its own is done again.
    pub(super) fn again(&self, lasting: &Arc<Lasting>) {
        let mut again = self.again.lock().unwrap_or_else(PoisonError::into_inner);
        if !again.iter().any(|it| Arc::ptr_eq(it, lasting)) {
            again.push(lasting.clone());
        }
    }

    /// Waits for the device; a fault of the launches since the last time.
    pub(super) fn settle(&self, driver: &dyn Driver) -> Answer<Option<Error>> {
        let waiting = std::mem::take(&mut *self.waiting());
        let again = std::mem::take(&mut *self.again.lock().unwrap_or_else(PoisonError::into_inner));
        let mut found = noted(driver, self.at, &waiting)?;
        for it in again {
            found = found.or(noted(driver, it.slots.address(), &it.meanings)?);
        }
        Ok(found)
    }
}

/// The first fault that slots from an address on hold, which hold nothing then.
fn noted(driver: &dyn Driver, at: Address, meanings: &Meanings) -> Answer<Option<Error>> {
    if meanings.is_empty() {
        return Ok(None);
    }
    let mut notes = vec![0_u8; meanings.len().min(SLOTS) * SIZE];
    driver.read(at, &mut notes)?;
    if notes.iter().all(|it| *it == 0) {
        return Ok(None);
    }
    driver.clear(at, notes.len())?;
    let found = notes.chunks_exact(SIZE).zip(meanings).find_map(|(note, (site, meaning))| {
        let kind = u32::from_ne_bytes(note[..4].try_into().ok()?);
        let number = i64::from_ne_bytes(note[8..].try_into().ok()?);
        (kind != 0).then(|| meaning(kind, number).at(*site))
    });
    Ok(found)
}

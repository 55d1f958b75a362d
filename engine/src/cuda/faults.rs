//! What kernels refuse in elements. They run later than the program asks for them, so each notes it in a slot of the device's memory; the
//! host looks at the slots whenever it waits for the device, and says then what was wrong, and where the op was applied.

use std::sync::PoisonError;

use super::driver::{Address, Answer, Driver};
use crate::sync::{Mutex, MutexGuard};
use crate::{Error, Site};

/// Launches that may be under way before the host looks.
const SLOTS: usize = 4096;

/// Bytes of a slot: `ng_fault` of the prelude.
const SIZE: usize = 16;

/// The error for what a kernel has noted: bits that say how, and a number.
pub(crate) type Meaning = Box<dyn Fn(u32, i64) -> Error + Send>;

/// The slots of one device.
pub(super) struct Faults {
    at: Address,
    waiting: Mutex<Vec<(Site, Meaning)>>,
}

impl Faults {
    pub(super) fn new(driver: &dyn Driver) -> Answer<Self> {
        let at = driver.allocate(SLOTS * SIZE)?;
        driver.clear(at, SLOTS * SIZE)?;
        Ok(Self { at, waiting: Mutex::default() })
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<(Site, Meaning)>> {
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

    /// Waits for the device; the first fault of the launches since the last time.
    pub(super) fn settle(&self, driver: &dyn Driver) -> Answer<Option<Error>> {
        let waiting = std::mem::take(&mut *self.waiting());
        if waiting.is_empty() {
            return Ok(None);
        }
        let mut notes = vec![0_u8; waiting.len().min(SLOTS) * SIZE];
        driver.read(self.at, &mut notes)?;
        if notes.iter().all(|it| *it == 0) {
            return Ok(None);
        }
        driver.clear(self.at, notes.len())?;
        let found = notes.chunks_exact(SIZE).zip(&waiting).find_map(|(note, (site, meaning))| {
            let kind = u32::from_ne_bytes(note[..4].try_into().ok()?);
            let number = i64::from_ne_bytes(note[8..].try_into().ok()?);
            (kind != 0).then(|| meaning(kind, number).at(*site))
        });
        Ok(found)
    }
}

//! What kernels refuse in elements. They run later than the program asks for them, so each notes it in a slot of the device's memory; the
//! host looks at the slots whenever it waits for the device, and says then what was wrong, and where the op was applied.
//!
//! **Invariant:** what a thread has asked for is told to that thread; to any that waits, once it is gone.

use std::sync::{Arc, PoisonError, Weak};

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

/// A thread that asks for work, as long as it lives.
type Asker = Weak<()>;

thread_local! {
    static ASKER: Arc<()> = Arc::default();
}

/// This thread.
fn asker() -> Asker {
    ASKER.with(Arc::downgrade)
}

/// The slots of work that is done again and again.
pub(super) struct Lasting {
    pub(super) slots: Block,
    pub(super) meanings: Meanings,
}

/// The slots of one device.
pub(super) struct Faults {
    at: Address,
    waiting: Mutex<Waiting>,
    /// Those of work that was done again since the host last looked.
    again: Mutex<Vec<(Asker, Arc<Lasting>)>>,
    /// What was found, and not told yet.
    untold: Mutex<Vec<(Asker, Error)>>,
}

/// What the notes in the slots mean, and who has asked for each launch.
#[derive(Default)]
struct Waiting {
    meanings: Meanings,
    askers: Vec<Asker>,
}

impl Faults {
    pub(super) fn new(driver: &dyn Driver) -> Answer<Self> {
        let at = driver.allocate(SLOTS * SIZE)?;
        driver.clear(at, SLOTS * SIZE)?;
        Ok(Self {
            at,
            waiting: Mutex::default(),
            again: Mutex::default(),
            untold: Mutex::default(),
        })
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is a slot for one more launch.
    pub(super) fn has_room(&self) -> bool {
        self.waiting().askers.len() < SLOTS
    }

    /// The slot for a launch here, which says by `meaning` what it has refused.
    pub(super) fn slot(&self, meaning: Meaning) -> Address {
        let mut waiting = self.waiting();
        waiting.meanings.push((Site::here(), meaning));
        waiting.askers.push(asker());
        self.at + ((waiting.askers.len() - 1).min(SLOTS - 1) * SIZE) as Address
    }

    /// Notes that work with slots of its own is done again.
    pub(super) fn again(&self, lasting: &Arc<Lasting>) {
        let mut again = self.again.lock().unwrap_or_else(PoisonError::into_inner);
        if !again.iter().any(|it| Arc::ptr_eq(&it.1, lasting)) {
            again.push((asker(), lasting.clone()));
        }
    }

    /// Waits for the device; the first fault of what this thread has launched since the last time.
    pub(super) fn settle(&self, driver: &dyn Driver) -> Answer<Option<Error>> {
        let mut untold = self.untold.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = std::mem::take(&mut *self.waiting());
        let again = std::mem::take(&mut *self.again.lock().unwrap_or_else(PoisonError::into_inner));
        for (at, error) in noted(driver, self.at, &waiting.meanings)? {
            untold.push((waiting.askers[at].clone(), error));
        }
        for (asker, it) in again {
            let found = noted(driver, it.slots.address(), &it.meanings)?.into_iter();
            untold.extend(found.map(|(_, error)| (asker.clone(), error)));
        }
        let here = asker();
        let mut first_of = |is_it: &dyn Fn(&Asker) -> bool| {
            untold.extract_if(.., |it| is_it(&it.0)).map(|it| it.1).reduce(|first, _| first)
        };
        Ok(first_of(&|it| it.ptr_eq(&here)).or_else(|| first_of(&|it| it.strong_count() == 0)))
    }
}

/// The faults that slots from an address on hold, which hold nothing then: the number of each, and its error.
fn noted(driver: &dyn Driver, at: Address, meanings: &Meanings) -> Answer<Vec<(usize, Error)>> {
    if meanings.is_empty() {
        return Ok(Vec::new());
    }
    let mut notes = vec![0_u8; meanings.len().min(SLOTS) * SIZE];
    driver.read(at, &mut notes)?;
    if notes.iter().all(|it| *it == 0) {
        return Ok(Vec::new());
    }
    driver.clear(at, notes.len())?;
    let found = notes.chunks_exact(SIZE).zip(meanings).enumerate();
    let found = found.filter_map(|(place, (note, (site, meaning)))| {
        let kind = u32::from_ne_bytes(note[..4].try_into().ok()?);
        let number = i64::from_ne_bytes(note[8..].try_into().ok()?);
        (kind != 0).then(|| (place, meaning(kind, number).at(*site)))
    });
    Ok(found.collect())
}

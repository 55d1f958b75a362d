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
    slots: Mutex<Slots>,
    /// Those of work that was done again since its asker last looked.
    again: Mutex<Vec<(Asker, Arc<Lasting>)>>,
}

/// The launches that have slots, each until its asker has looked at it.
#[derive(Default)]
struct Slots {
    taken: Vec<Option<Launch>>,
    free: Vec<usize>,
    /// Launches so far.
    count: u64,
}

struct Launch {
    asker: Asker,
    number: u64,
    site: Site,
    meaning: Meaning,
}

impl Faults {
    pub(super) fn new(driver: &dyn Driver) -> Answer<Self> {
        let at = driver.allocate(SLOTS * SIZE)?;
        driver.clear(at, SLOTS * SIZE)?;
        Ok(Self { at, slots: Mutex::default(), again: Mutex::default() })
    }

    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The slot for a launch here, which says by `meaning` what it has refused; the meaning again where there is none left.
    pub(super) fn slot(&self, meaning: Meaning) -> Result<Address, Meaning> {
        let mut slots = self.slots();
        let place = match slots.free.pop() {
            Some(free) => free,
            None if slots.taken.len() == SLOTS => return Err(meaning),
            None => {
                slots.taken.push(None);
                slots.taken.len() - 1
            }
        };
        let number = slots.count;
        slots.count += 1;
        slots.taken[place] = Some(Launch { asker: asker(), number, site: Site::here(), meaning });
        Ok(self.at_of(place))
    }

    fn at_of(&self, place: usize) -> Address {
        self.at + (place * SIZE) as Address
    }

    /// Notes that work with slots of its own is done again.
    pub(super) fn again(&self, lasting: &Arc<Lasting>) {
        let mut again = self.again.lock().unwrap_or_else(PoisonError::into_inner);
        let here = asker();
        if !again.iter().any(|it| it.0.ptr_eq(&here) && Arc::ptr_eq(&it.1, lasting)) {
            again.push((here, lasting.clone()));
        }
    }

    /// Waits for the device; the first fault of what this thread has launched since the last time, or of a thread that is gone. What other
    /// threads have launched, or are about to, stays theirs.
    pub(super) fn settle(&self, driver: &dyn Driver) -> Answer<Option<Error>> {
        let here = asker();
        let is_gone = |it: &Asker| it.strong_count() == 0;
        let is_told = |it: &Asker| it.ptr_eq(&here) || is_gone(it);
        let mut found = self.first_of_slots(driver, &|it| it.ptr_eq(&here))?;
        if found.is_none() {
            found = self.first_of_slots(driver, &is_gone)?;
        }
        let again: Vec<_> = {
            let mut again = self.again.lock().unwrap_or_else(PoisonError::into_inner);
            again.extract_if(.., |it| is_told(&it.0)).collect()
        };
        for (_, it) in again {
            found = found.or(first_noted(driver, &it)?);
        }
        Ok(found)
    }

    fn first_of_slots(
        &self,
        driver: &dyn Driver,
        is_told: &dyn Fn(&Asker) -> bool,
    ) -> Answer<Option<Error>> {
        let mut slots = self.slots();
        let is_of = |it: &Option<Launch>| it.as_ref().is_some_and(|it| is_told(&it.asker));
        let Some(first) = slots.taken.iter().position(is_of) else { return Ok(None) };
        let end = slots.taken.iter().rposition(is_of).map_or(first, |it| it + 1);
        let mut notes = vec![0_u8; (end - first) * SIZE];
        driver.read(self.at_of(first), &mut notes)?;
        let mut found: Option<(u64, Error)> = None;
        for place in first..end {
            let Some(launch) = slots.taken[place].take_if(|it| is_told(&it.asker)) else {
                continue;
            };
            slots.free.push(place);
            let Some((kind, number)) = note(&notes[(place - first) * SIZE..][..SIZE]) else {
                continue;
            };
            driver.clear(self.at_of(place), SIZE)?;
            if found.as_ref().is_none_or(|it| launch.number < it.0) {
                found = Some((launch.number, (launch.meaning)(kind, number).at(launch.site)));
            }
        }
        if slots.free.len() == slots.taken.len() {
            slots.free.clear();
            slots.taken.clear();
        }
        Ok(found.map(|it| it.1))
    }
}

/// How a kernel has refused something, and a number; `None` if it has not.
fn note(bytes: &[u8]) -> Option<(u32, i64)> {
    let kind = u32::from_ne_bytes(bytes[..4].try_into().ok()?);
    let number = i64::from_ne_bytes(bytes[8..].try_into().ok()?);
    (kind != 0).then_some((kind, number))
}

/// The first fault that the slots of work that was done again hold, which hold nothing then.
fn first_noted(driver: &dyn Driver, lasting: &Lasting) -> Answer<Option<Error>> {
    let mut notes = vec![0_u8; lasting.meanings.len() * SIZE];
    driver.read(lasting.slots.address(), &mut notes)?;
    let noted = notes.chunks_exact(SIZE).zip(&lasting.meanings);
    let mut faults = noted.filter_map(|(it, meant)| Some((note(it)?, meant)));
    let Some(((kind, number), (site, meaning))) = faults.next() else { return Ok(None) };
    driver.clear(lasting.slots.address(), notes.len())?;
    Ok(Some(meaning(kind, number).at(*site)))
}

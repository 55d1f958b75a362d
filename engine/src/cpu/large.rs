//! The large buffers in use of one allocator: what they hold and where they were made, for whoever asks when memory runs out.
//!
//! Small ones are not listed, so that they cost nothing.

use std::ptr::NonNull;
use std::sync::PoisonError;

use rustc_hash::FxHashMap;

use crate::site::Site;
use crate::sync::{Mutex, MutexGuard, OnceLock};
use crate::{DType, Shape};

/// Buffers that one place has made, alike in what they hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Large {
    /// What each holds; `None` for memory that is no tensor by itself.
    pub holds: Option<(DType, Shape)>,
    /// Where they were made.
    pub site: Site,
    /// How many there are.
    pub count: usize,
    /// Bytes of all together.
    pub bytes: usize,
}

struct Entry {
    holds: Option<(DType, Shape)>,
    site: Site,
    bytes: usize,
}

/// What is listed, by address.
pub(crate) struct List(OnceLock<Mutex<FxHashMap<usize, Entry>>>);

impl List {
    pub(crate) const fn new() -> Self {
        Self(OnceLock::new())
    }

    fn entries(&self) -> MutexGuard<'_, FxHashMap<usize, Entry>> {
        self.0.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lists a buffer that begins to live.
    pub(crate) fn begins(&self, ptr: NonNull<u8>, bytes: usize, what: Option<(DType, &Shape)>) {
        let holds = what.map(|(dtype, shape)| (dtype, shape.clone()));
        let entry = Entry { holds, site: Site::here(), bytes };
        self.entries().insert(ptr.as_ptr().addr(), entry);
    }

    /// From now on what a buffer holds was made here.
    pub(crate) fn made_here(&self, ptr: NonNull<u8>) {
        if let Some(entry) = self.entries().get_mut(&ptr.as_ptr().addr()) {
            entry.site = Site::here();
        }
    }

    /// Takes a buffer off the list.
    pub(crate) fn ends(&self, ptr: NonNull<u8>) {
        self.entries().remove(&ptr.as_ptr().addr());
    }

    /// What takes the most memory, the largest first: buffers over 64 kB, those of one place, shape and dtype together.
    pub(crate) fn largest(&self, most: usize) -> Vec<Large> {
        type Key = (Site, Option<(DType, Shape)>);
        let mut groups: FxHashMap<Key, (usize, usize)> = FxHashMap::default();
        for entry in self.entries().values() {
            let (count, bytes) = groups.entry((entry.site, entry.holds.clone())).or_default();
            *count += 1;
            *bytes += entry.bytes;
        }
        let large = |((site, holds), (count, bytes))| Large { holds, site, count, bytes };
        let mut all: Vec<Large> = groups.into_iter().map(large).collect();
        all.sort_by_key(|it| (std::cmp::Reverse(it.bytes), it.site));
        all.truncate(most);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::memory::Memory;

    #[test]
    fn buffers_of_one_place_are_one_row() {
        let memory: &Memory = Box::leak(Box::new(Memory::new()));
        let find = || memory.largest(usize::MAX);
        let shape = Shape::from([100, 1000]);
        Site::new(7).enter();
        let pair = [(); 2].map(|()| memory.of(&shape, DType::F32).unwrap());
        let plain = memory.uninit(100_000).unwrap();
        let small = memory.of(&Shape::from([100]), DType::F32).unwrap();
        Site::NOWHERE.enter();
        let (site, holds) = (Site::new(7), Some((DType::F32, shape)));
        let both = Large { holds, site, count: 2, bytes: 800_000 };
        let other = Large { holds: None, site, count: 1, bytes: 100_000 };
        assert_eq!(find(), [both.clone(), other]);
        drop((plain, small));
        assert_eq!(find(), [both]);
        drop(pair);
        assert_eq!(find(), []);
    }
}

//! Which operations a check has run, in the code of cells, and since when. Modules are taken to do the same every time.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::bytecode::Code;

/// What has run, by code.
#[derive(Default)]
pub(super) struct Ran {
    codes: Vec<Entry>,
    /// Places in `codes`, by address of the code.
    places: FxHashMap<usize, usize>,
    /// The entry that was written last: operations of one code follow each other.
    latest: usize,
    clock: u32,
}

struct Entry {
    code: Rc<Code>,
    /// When each operation ran last, counted from 1; 0 for never. Empty for code of a module.
    when: Vec<u32>,
    /// The latest of them.
    latest: u32,
}

impl Ran {
    /// The moment now: what runs from here on has run since.
    pub(super) fn now(&mut self) -> u32 {
        self.clock += 1;
        self.clock
    }

    /// Operation `at` of the code runs; `of_cell` tells whether a cell holds the code.
    #[inline]
    pub(super) fn note(&mut self, code: &Rc<Code>, at: usize, of_cell: impl FnOnce() -> bool) {
        if !self.codes.get(self.latest).is_some_and(|it| Rc::ptr_eq(&it.code, code)) {
            self.latest = self.place(code, of_cell);
        }
        let now = self.clock + 1;
        let entry = &mut self.codes[self.latest];
        if let Some(when) = entry.when.get_mut(at) {
            (*when, entry.latest) = (now, now);
        }
    }

    fn place(&mut self, code: &Rc<Code>, of_cell: impl FnOnce() -> bool) -> usize {
        let codes = &mut self.codes;
        *self.places.entry(Rc::as_ptr(code).addr()).or_insert_with(|| {
            let when = if of_cell() { vec![0; code.ops.len()] } else { Vec::new() };
            codes.push(Entry { code: code.clone(), when, latest: 0 });
            codes.len() - 1
        })
    }

    /// Tells of each operation of the code whether it has run since that moment.
    pub(super) fn of(&self, code: &Rc<Code>, since: u32) -> impl Fn(usize) -> bool + use<'_> {
        let place = self.places.get(&Rc::as_ptr(code).addr());
        let when = place.map_or(&[][..], |it| &self.codes[*it].when);
        move |at| when.get(at).is_some_and(|it| *it > since)
    }

    /// All other code of cells that has run since that moment.
    pub(super) fn called<'a>(
        &'a self,
        since: u32,
        but: &'a Rc<Code>,
    ) -> impl Iterator<Item = &'a Rc<Code>> {
        let since_then = self.codes.iter().filter(move |it| it.latest > since);
        since_then.map(|it| &it.code).filter(move |it| !Rc::ptr_eq(it, but))
    }
}

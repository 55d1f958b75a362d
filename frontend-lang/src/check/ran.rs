//! Which operations a check has run, in the code of the cell and of all that it calls, and since when.

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
    /// When each operation ran last, counted from 1; 0 for never.
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

    /// Operation `at` of the code runs.
    pub(super) fn note(&mut self, code: &Rc<Code>, at: usize) {
        let known = self.codes.get(self.latest).is_some_and(|it| Rc::ptr_eq(&it.code, code));
        if !known {
            let codes = &mut self.codes;
            self.latest = *self.places.entry(Rc::as_ptr(code).addr()).or_insert_with(|| {
                codes.push(Entry { code: code.clone(), when: vec![0; code.ops.len()], latest: 0 });
                codes.len() - 1
            });
        }
        let now = self.clock + 1;
        let entry = &mut self.codes[self.latest];
        entry.latest = now;
        if let Some(when) = entry.when.get_mut(at) {
            *when = now;
        }
    }

    /// Tells of each operation of the code whether it has run since that moment.
    pub(super) fn of(&self, code: &Rc<Code>, since: u32) -> impl Fn(usize) -> bool + use<'_> {
        let place = self.places.get(&Rc::as_ptr(code).addr());
        let when = place.map_or(&[][..], |it| &self.codes[*it].when);
        move |at| when.get(at).is_some_and(|it| *it > since)
    }

    /// All other code that has run since that moment.
    pub(super) fn called<'a>(
        &'a self,
        since: u32,
        but: &'a Rc<Code>,
    ) -> impl Iterator<Item = &'a Rc<Code>> {
        let since_then = self.codes.iter().filter(move |it| it.latest > since);
        since_then.map(|it| &it.code).filter(move |it| !Rc::ptr_eq(it, but))
    }
}

//! Which value each register holds.

use std::ops::Range;

use super::vectors::MOST_REGISTERS;

/// The registers, by their numbers. A value that is pinned stays; one that is locked is an operand of what is being written.
pub(super) struct Registers {
    holds: [Option<u32>; MOST_REGISTERS],
    pinned: u64,
    locked: u64,
}

impl Registers {
    /// All of them, empty.
    pub(super) fn new() -> Self {
        Self { holds: [None; MOST_REGISTERS], pinned: 0, locked: 0 }
    }

    /// The register that holds a value.
    pub(super) fn of(&self, value: u32) -> Option<u8> {
        self.holds.iter().position(|it| *it == Some(value)).map(|it| it as u8)
    }

    /// Each value that is held, and in which register.
    pub(super) fn all(&self) -> impl Iterator<Item = (u8, u32)> {
        (0..).zip(&self.holds).filter_map(|(at, it)| Some((at, (*it)?)))
    }

    /// One of these that nothing is in.
    pub(super) fn free(&self, mut among: Range<u8>) -> Option<u8> {
        let is_free = |it: &u8| {
            self.holds[usize::from(*it)].is_none() && !self.is_locked(*it) && !self.is_pinned(*it)
        };
        among.find(is_free)
    }

    pub(super) fn hold(&mut self, register: u8, value: u32) {
        self.holds[usize::from(register)] = Some(value);
    }

    pub(super) fn pin(&mut self, register: u8, value: u32) {
        self.hold(register, value);
        self.pinned |= 1 << register;
    }

    pub(super) fn lock(&mut self, register: u8) {
        self.locked |= 1 << register;
    }

    pub(super) fn unlock_all(&mut self) {
        self.locked = 0;
    }

    pub(super) fn forget(&mut self, register: u8) {
        if !self.is_pinned(register) {
            self.holds[usize::from(register)] = None;
        }
    }

    /// Forgets all but what is pinned.
    pub(super) fn forget_all(&mut self) {
        (0..MOST_REGISTERS as u8).for_each(|it| self.forget(it));
    }

    pub(super) fn is_pinned(&self, register: u8) -> bool {
        self.pinned >> register & 1 == 1
    }

    pub(super) fn is_locked(&self, register: u8) -> bool {
        self.locked >> register & 1 == 1
    }

    /// How many of these are locked and hold no value: such as what is between two instructions.
    pub(super) fn n_between(&self, among: Range<u8>) -> usize {
        let is_between = |it: u8| self.holds[usize::from(it)].is_none() && self.is_locked(it);
        among.filter(|it| is_between(*it)).count()
    }
}

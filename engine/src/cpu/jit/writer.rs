//! From steps to instructions: what is the same for all elements, then the loop.
//!
//! Registers are given to values as the steps come (the value that is read latest is put by when there is none left, L. Belady, 1966), which is
//! best for straight-line code. Numbers for all elements and what was put by are read from memory where an instruction can.

use std::ops::Range;

use iced_x86::{Instruction, MemoryOperand, Register};

use super::Vectors;
use super::instructions::{self as table, Two, bits};
use super::memory::Memory;
use super::registers::Registers;
use super::text::{Arg, Text};
use super::values::{Kind, Origin, Values};
use super::vectors::{Lanes, low};
use crate::cpu::lane::Expansion;
use crate::math::recorded::{Action, Op};

/// Constants that instructions need besides those of the program.
const N_OWN: usize = 9;
/// Registers that are left free where numbers are pinned.
const SPARE: usize = 2;
/// Most bytes of slots on the stack, so that they lie within the page that guards its end.
const MOST_IN_SLOTS: usize = 3 << 10;

/// Code and where it begins.
pub(super) struct Written {
    pub(super) bytes: Vec<u8>,
    pub(super) entry: usize,
}

/// Writes the code of a program, twice: the first time tells how many registers there are for numbers to stay in. `None` where a step has no
/// instruction.
pub(super) fn write(expansion: &Expansion, values: &Values) -> Option<Written> {
    let trial = Writer::new(expansion, values).written(&[], 0)?;
    let wide = values.lanes().vectors.wide();
    let room = wide.len().saturating_sub(trial.most_in_use + SPARE);
    let mut numbers: Vec<u32> = values
        .origins()
        .filter(|it| matches!(it.1, Origin::Known(_) | Origin::Before))
        .map(|it| it.0)
        .filter(|it| values.n_reads(*it) > 0 && values.registers(*it) == wide)
        .collect();
    numbers.sort_by_key(|it| std::cmp::Reverse(values.n_reads(*it)));
    numbers.truncate(room);
    let mut n_slots = trial.n_slots;
    loop {
        let done = Writer::new(expansion, values).written(&numbers, n_slots)?;
        if done.n_slots <= n_slots {
            let (bytes, entry) = done.text.finished();
            return Some(Written { bytes, entry });
        }
        n_slots = done.n_slots;
    }
}

pub(super) struct Writer<'a> {
    pub(super) expansion: &'a Expansion,
    pub(super) values: &'a Values,
    pub(super) text: Text,
    pub(super) memory: Memory,
    pub(super) registers: Registers,
    /// For each step the slot of the stack that holds it.
    slots: Vec<Option<u32>>,
    pub(super) n_slots: u32,
    /// Numbers for all elements that the loop divides by, and the slots of their reciprocals.
    pub(super) divisors: Vec<(u32, u32)>,
    /// Most registers of vectors that held what is in no memory.
    most_in_use: usize,
}

impl<'a> Writer<'a> {
    fn new(expansion: &'a Expansion, values: &'a Values) -> Self {
        let known = |it: &(u32, Origin)| matches!(it.1, Origin::Known(_));
        let n_constants = values.origins().filter(known).count() + N_OWN;
        let streams = values.origins().filter(|it| matches!(it.1, Origin::Read(_))).count();
        Self {
            text: Text::new(values.lanes(), n_constants),
            memory: Memory::new(expansion, streams, values.lanes().vectors),
            registers: Registers::new(),
            slots: vec![None; expansion.ops.len()],
            n_slots: 0,
            divisors: Vec::new(),
            most_in_use: 0,
            expansion,
            values,
        }
    }

    /// Writes all of it, with these numbers in registers, and room for so many slots.
    fn written(mut self, pinned: &[u32], n_slots: u32) -> Option<Self> {
        let values = self.values;
        self.memory.enter(&mut self.text, n_slots)?;
        for (step, _) in values.origins().filter(|it| it.1 == Origin::Before) {
            self.before(step)?;
        }
        self.invert_divisors()?;
        self.registers.forget_all();
        for (register, &number) in (0..).zip(pinned.iter().rev()) {
            let register = self.vectors().wide().end - 1 - register;
            let home = self.home(number)?;
            self.text.load(register, Arg::Mem(home))?;
            self.registers.pin(register, number);
        }
        let reads = values.origins().filter_map(|it| match it.1 {
            Origin::Read(input) => Some(input),
            _ => None,
        });
        self.memory.point(&mut self.text, self.expansion, reads)?;
        let start = self.text.here();
        for (step, _) in values.origins().filter(|it| it.1 == Origin::Inside) {
            self.step(step)?;
        }
        for output in 0..self.expansion.outputs.len() {
            self.store(output)?;
        }
        self.memory.next(&mut self.text, values.lanes().count() as i32, start)?;
        self.memory.leave(&mut self.text)?;
        let in_slots = self.n_slots as usize * self.vectors().bytes();
        (in_slots <= MOST_IN_SLOTS).then_some(self)
    }

    /// A step that is computed once: its result goes to a slot.
    fn before(&mut self, step: u32) -> Option<()> {
        if self.values.kind(step) == Kind::Other {
            return Some(());
        }
        let op = self.op(step);
        match op.action {
            Action::Given(number) => self.bring(step, number as usize)?,
            Action::Convert if self.values.kind(op.operands[0]) == Kind::Other => {
                self.bring_converted(step, op.operands[0])?;
            }
            _ => self.step(step)?,
        }
        let register = self.registers.of(step)?;
        let slot = self.slot_of(step);
        self.registers.unlock_all();
        self.text.store(self.memory.slot(slot), register)
    }

    pub(super) fn lanes(&self) -> Lanes {
        self.values.lanes()
    }

    pub(super) fn vectors(&self) -> Vectors {
        self.values.lanes().vectors
    }

    fn op(&self, step: u32) -> &'a Op {
        &self.expansion.ops[step as usize]
    }

    /// One number from outside, in all lanes.
    fn bring(&mut self, step: u32, number: usize) -> Option<()> {
        let bytes = self.values.bytes();
        let register = self.take(step)?;
        let mem = self.expansion.inputs.get(number).copied();
        let from = self.memory.number(&mut self.text, self.expansion, number)?;
        match mem.filter(|it| it.size() != bytes) {
            None => {
                self.text.put(Instruction::with2(
                    table::broadcast(self.lanes()),
                    self.text.register(register),
                    from,
                ))?;
            }
            Some(mem) => {
                let code = table::load_general(mem)?;
                self.text.put(Instruction::with2(code, Register::EAX, from))?;
                let code = table::from_general(self.vectors());
                self.text.put(Instruction::with2(code, low(register), Register::EAX))?;
                self.spread(register)?;
            }
        }
        self.registers.hold(register, step);
        Some(())
    }

    /// One number from outside, of another width than a lane has, as a float in all lanes.
    fn bring_converted(&mut self, step: u32, from: u32) -> Option<()> {
        let given = self.op(from);
        let Action::Given(number) = given.action else { return None };
        let code = table::convert_one(given.ty, self.lanes())?;
        let register = self.take(step)?;
        let from = self.memory.number(&mut self.text, self.expansion, number as usize)?;
        self.text.put(Instruction::with3(code, low(register), low(register), from))?;
        self.spread(register)?;
        self.registers.hold(register, step);
        Some(())
    }

    fn spread(&mut self, register: u8) -> Option<()> {
        let code = table::spread(self.lanes());
        let to = self.text.register(register);
        self.text.put(Instruction::with2(code, to, low(register)))
    }

    /// A step of arithmetic, whose result stays in a register.
    fn step(&mut self, step: u32) -> Option<()> {
        let op = *self.op(step);
        let bytes = self.values.bytes();
        let [a, b, c] = op.operands.map(|it| self.values.resolved(it));
        let (a, b, c) = match op.operands() {
            [] => return None,
            [_] => (a, a, a),
            [_, _] => (a, b, b),
            _ => (a, b, c),
        };
        let (kind, lanes) = (self.values.kind(op.operands[0]), self.lanes());
        let reciprocal = (op.action == Action::Div).then(|| self.reciprocal(step, b)).flatten();
        let (and, xor) = (table::and(lanes.vectors), table::xor(lanes.vectors));
        let to = match op.action {
            Action::Neg => self.with_constant(step, xor, a, bits::sign(bytes))?,
            Action::Abs => self.with_constant(step, and, a, bits::magnitude(bytes))?,
            Action::Copysign => self.copysign(step, a, b)?,
            Action::MulAdd => self.mul_add(step, [a, b, c])?,
            Action::Select => self.select(step, [a, b, c])?,
            Action::Shl(_) | Action::Shr(_) => self.shift(step, op.action, a)?,
            Action::Div if reciprocal.is_some() => {
                self.divide_by_number(step, [a, b], reciprocal?)?
            }
            Action::FromHalf => self.widen_half(step, a)?,
            Action::ToHalf => self.round_to_half(step, a)?,
            action => match (table::one(action, kind, lanes), table::two(action, kind, lanes)) {
                (Some((code, imm)), _) => {
                    let from = self.arg(a, step)?;
                    let to = self.result(step)?;
                    self.text.one(code, to, from, imm)?;
                    to
                }
                (None, Some(with)) => self.two(step, with, a, b)?,
                (None, None) if action == Action::Not => {
                    self.with_constant(step, xor, a, bits::ALL)?
                }
                (None, None) => self.ordered(step, action, a, b)?,
            },
        };
        self.registers.hold(to, step);
        self.registers.unlock_all();
        Some(())
    }

    /// Gives the register of the result.
    fn two(&mut self, step: u32, with: Two, a: u32, b: u32) -> Option<u8> {
        let in_register = |it: &Self, value| it.registers.of(value).is_some();
        let swaps = with.commutes && !in_register(self, a) && in_register(self, b);
        let (a, b) = if swaps { (b, a) } else { (a, b) };
        let first = self.register(a, step)?;
        let second = self.arg(b, step)?;
        let to = self.result(step)?;
        self.text.two(with.code, to, first, second, with.imm)?;
        Some(to)
    }

    /// A comparison of whole numbers by the one that AVX2 has.
    fn ordered(&mut self, step: u32, action: Action, a: u32, b: u32) -> Option<u8> {
        let greater = table::greater(self.values.bytes());
        match action {
            Action::Less => self.two(step, greater, b, a),
            Action::AtMost => {
                let to = self.two(step, greater, a, b)?;
                let all = Arg::Mem(self.text.constant(bits::ALL)?);
                self.text.two(table::xor(self.vectors()).code, to, to, all, None)?;
                Some(to)
            }
            _ => None,
        }
    }

    fn with_constant(&mut self, step: u32, with: Two, a: u32, bits: u64) -> Option<u8> {
        let first = self.register(a, step)?;
        let second = Arg::Mem(self.text.constant(bits)?);
        let to = self.result(step)?;
        self.text.two(with.code, to, first, second, with.imm)?;
        Some(to)
    }

    fn shift(&mut self, step: u32, action: Action, a: u32) -> Option<u8> {
        let (code, count) = table::shift(action, self.lanes())?;
        let from = self.register(a, step)?;
        let to = self.result(step)?;
        self.text.one(code, to, Arg::Reg(from), Some(count))?;
        Some(to)
    }

    fn copysign(&mut self, step: u32, number: u32, sign: u32) -> Option<u8> {
        let bytes = self.values.bytes();
        let (number, sign) = (self.register(number, step)?, self.register(sign, step)?);
        let (to, between) = (self.take(step)?, self.take(step)?);
        let [and, or] = [table::and, table::or].map(|it| it(self.vectors()).code);
        let magnitude = Arg::Mem(self.text.constant(bits::magnitude(bytes))?);
        self.text.two(and, to, number, magnitude, None)?;
        let only_sign = Arg::Mem(self.text.constant(bits::sign(bytes))?);
        self.text.two(and, between, sign, only_sign, None)?;
        self.text.two(or, to, to, Arg::Reg(between), None)?;
        self.count();
        self.release(step);
        Some(to)
    }

    fn select(&mut self, step: u32, [mask, yes, no]: [u32; 3]) -> Option<u8> {
        let (mask, no) = (self.register(mask, step)?, self.register(no, step)?);
        let yes = self.arg(yes, step)?;
        let to = self.result(step)?;
        self.text.blend(to, no, yes, mask)?;
        Some(to)
    }

    /// Onto an operand that nothing reads later, or a copy of one.
    fn mul_add(&mut self, step: u32, [a, b, c]: [u32; 3]) -> Option<u8> {
        let lanes = self.lanes();
        let ends = |it: &Self, value: u32| {
            let register = it.registers.of(value)?;
            let others = [a, b, c].iter().filter(|it| **it == value).count() > 1;
            let is_read = it.values.next_read(value, step + 1).is_some();
            (!others && !is_read && !it.registers.is_pinned(register)).then_some(register)
        };
        let (code, to, second, third) = if let Some(to) = ends(self, c) {
            (table::sum_and_product(lanes), to, a, b)
        } else if let Some(to) = ends(self, a) {
            (table::product_and_sum(lanes), to, b, c)
        } else if let Some(to) = ends(self, b) {
            (table::product_and_sum(lanes), to, a, c)
        } else {
            let from = self.arg(c, step)?;
            let to = self.take(step)?;
            self.text.load(to, from)?;
            (table::sum_and_product(lanes), to, a, b)
        };
        self.registers.lock(to);
        let swaps = code == table::sum_and_product(lanes)
            && self.registers.of(second).is_none()
            && self.registers.of(third).is_some();
        let (second, third) = if swaps { (third, second) } else { (second, third) };
        let second = self.register(second, step)?;
        let third = self.arg(third, step)?;
        self.text.two(code, to, second, third, None)?;
        self.count();
        self.release(step);
        self.registers.forget(to);
        Some(to)
    }

    /// Writes an output from where it is to its elements.
    fn store(&mut self, output: usize) -> Option<()> {
        let (step, mem) = self.expansion.outputs[output];
        let end = self.expansion.ops.len() as u32;
        let from = self.register(self.values.resolved(step), end)?;
        if mem.size() == self.values.bytes() {
            let to = self.memory.output(&mut self.text, self.expansion, output)?;
            self.text.store(to, from)?;
        } else if let Some(code) = table::narrowed(mem, self.vectors()) {
            let to = self.memory.output(&mut self.text, self.expansion, output)?;
            self.text.put(Instruction::with2(code, to, self.text.register(from)))?;
        } else {
            let (narrow, upper) = (self.take(end)?, self.take(end)?);
            self.narrow(from, mem, narrow, upper)?;
            let to = self.memory.output(&mut self.text, self.expansion, output)?;
            let code = table::store_narrow(mem)?;
            self.text.put(Instruction::with2(code, to, low(narrow)))?;
        }
        self.registers.unlock_all();
        Some(())
    }

    /// A register for the result of a step, which may be that of an operand that nothing reads later.
    pub(super) fn result(&mut self, step: u32) -> Option<u8> {
        self.count();
        self.registers.unlock_all();
        self.release(step);
        self.take_of(self.values.registers(step), step)
    }

    /// Forgets what nothing reads after a step.
    pub(super) fn release(&mut self, step: u32) {
        let is_read = |value: u32| self.values.next_read(value, step + 1).is_some();
        let ended: Vec<u8> =
            self.registers.all().filter(|it| !is_read(it.1)).map(|it| it.0).collect();
        ended.into_iter().for_each(|it| self.registers.forget(it));
    }

    pub(super) fn count(&mut self) {
        let wide = self.vectors().wide();
        let is_nowhere =
            |it: &(u8, u32)| wide.contains(&it.0) && self.values.origin(it.1) == Origin::Inside;
        let in_use = self.registers.all().filter(is_nowhere).count();
        self.most_in_use = self.most_in_use.max(in_use + self.registers.n_between(wide.clone()));
    }

    /// A register for a new vector.
    pub(super) fn take(&mut self, at: u32) -> Option<u8> {
        self.take_of(self.vectors().wide(), at)
    }

    /// One of these registers for something new, which is locked. What it held is put by if it is read again.
    pub(super) fn take_of(&mut self, among: Range<u8>, at: u32) -> Option<u8> {
        let register = match self.registers.free(among.clone()) {
            Some(free) => free,
            None => self.put_by(&among, at)?,
        };
        self.registers.lock(register);
        Some(register)
    }

    fn put_by(&mut self, among: &Range<u8>, at: u32) -> Option<u8> {
        let values = self.values;
        let may_go = |it: &(u8, u32)| {
            let is_in_use = self.registers.is_locked(it.0) || self.registers.is_pinned(it.0);
            among.contains(&it.0) && !is_in_use
        };
        let later = |it: &(u8, u32)| values.next_read(it.1, at).unwrap_or(u32::MAX);
        let (register, value) = self.registers.all().filter(may_go).max_by_key(later)?;
        let is_inside = values.origin(value) == Origin::Inside;
        if is_inside
            && values.next_read(value, at).is_some()
            && self.slots[value as usize].is_none()
        {
            let slot = self.slot_of(value);
            self.text.store(self.memory.slot(slot), register)?;
        }
        self.registers.forget(register);
        Some(register)
    }

    fn slot_of(&mut self, step: u32) -> u32 {
        *self.slots[step as usize].get_or_insert_with(|| {
            self.n_slots += 1;
            self.n_slots - 1
        })
    }

    /// Where a value lies in memory as a whole vector.
    fn home(&mut self, value: u32) -> Option<MemoryOperand> {
        match self.values.origin(value) {
            Origin::Known(bits) => self.text.constant(bits),
            Origin::Before | Origin::Inside => {
                self.slots[value as usize].map(|it| self.memory.slot(it))
            }
            Origin::Read(input) if self.expansion.inputs[input].size() == self.values.bytes() => {
                self.memory.input(&mut self.text, self.expansion, input)
            }
            Origin::Read(_) | Origin::Same(_) | Origin::Unused => None,
        }
    }

    /// A register that holds a value, and is locked.
    pub(super) fn register(&mut self, value: u32, at: u32) -> Option<u8> {
        if let Some(register) = self.registers.of(value) {
            self.registers.lock(register);
            return Some(register);
        }
        let register = self.take_of(self.values.registers(value), at)?;
        match self.values.origin(value) {
            Origin::Read(input) if self.expansion.inputs[input].size() != self.values.bytes() => {
                let from = self.memory.input(&mut self.text, self.expansion, input)?;
                let code = table::load_narrow(self.expansion.inputs[input], self.vectors())?;
                self.text.put(Instruction::with2(code, self.text.register(register), from))?;
            }
            _ => {
                let home = self.home(value)?;
                self.text.load(register, Arg::Mem(home))?;
            }
        }
        self.registers.hold(register, value);
        Some(register)
    }

    /// A value as the last operand: where it lies, unless it is in a register or is read again and there is one left.
    pub(super) fn arg(&mut self, value: u32, at: u32) -> Option<Arg> {
        let held = self.registers.of(value);
        let is_read_again = self.values.next_read(value, at + 1).is_some();
        let registers = self.values.registers(value);
        let is_kept = held.is_some() || is_read_again && self.registers.free(registers).is_some();
        let is_whole = match self.values.origin(value) {
            Origin::Read(input) => self.expansion.inputs[input].size() == self.values.bytes(),
            // Masks in registers of their own are read from there.
            _ => self.values.kind(value) != Kind::Mask || !self.vectors().has_masks(),
        };
        if is_kept || !is_whole {
            return self.register(value, at).map(Arg::Reg);
        }
        self.home(value).map(Arg::Mem)
    }
}

//! From steps to instructions: what is the same for all elements, then the loop.
//!
//! Registers are given to values as the steps come (the value that is read latest is put by when there is none left, L. Belady, 1966), which is
//! best for straight-line code. Numbers for all elements and what was put by are read from memory where an instruction can.

use iced_x86::{Code, Instruction, MemoryOperand, Register};

use super::code::VECTOR;
use super::instructions::{self as table, Two, bits};
use super::memory::Memory;
use super::registers::{COUNT, Registers};
use super::text::{Arg, Text, low, wide};
use super::values::{Kind, Origin, Values};
use crate::cpu::lane::{Expansion, Mem};
use crate::math::recorded::{Action, Op};

/// Constants that instructions need besides those of the program.
const N_OWN: usize = 6;
/// Registers that are left free where numbers are pinned.
const SPARE: usize = 2;
/// Most slots on the stack, so that they lie within the page that guards its end.
const MOST_SLOTS: u32 = 96;

/// Code and where it begins.
pub(super) struct Written {
    pub(super) bytes: Vec<u8>,
    pub(super) entry: usize,
}

/// Writes the code of a program, twice: the first time tells how many registers there are for numbers to stay in. `None` where a step has no instruction.
pub(super) fn write(expansion: &Expansion, values: &Values) -> Option<Written> {
    let trial = Writer::new(expansion, values).written(&[], 0)?;
    let room = COUNT.saturating_sub(trial.most_in_use + SPARE);
    let mut numbers: Vec<u32> = values
        .origins()
        .filter(|it| matches!(it.1, Origin::Known(_) | Origin::Before))
        .map(|it| it.0)
        .filter(|it| values.n_reads(*it) > 0)
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

struct Writer<'a> {
    expansion: &'a Expansion,
    values: &'a Values,
    text: Text,
    memory: Memory,
    registers: Registers,
    /// For each step the slot of the stack that holds it.
    slots: Vec<Option<u32>>,
    n_slots: u32,
    /// Most registers that held what is in no memory.
    most_in_use: usize,
}

impl<'a> Writer<'a> {
    fn new(expansion: &'a Expansion, values: &'a Values) -> Self {
        let known = |it: &(u32, Origin)| matches!(it.1, Origin::Known(_));
        let n_constants = values.origins().filter(known).count() + N_OWN;
        let streams = values.origins().filter(|it| matches!(it.1, Origin::Read(_))).count();
        Self {
            text: Text::new(values.bytes(), n_constants),
            memory: Memory::new(expansion, streams),
            registers: Registers::default(),
            slots: vec![None; expansion.ops.len()],
            n_slots: 0,
            most_in_use: 0,
            expansion,
            values,
        }
    }

    /// Writes all of it, with these numbers in registers, and room for so many slots.
    fn written(mut self, pinned: &[u32], n_slots: u32) -> Option<Self> {
        let values = self.values;
        self.memory.enter(&mut self.text, n_slots * VECTOR as u32)?;
        for (step, _) in values.origins().filter(|it| it.1 == Origin::Before) {
            self.before(step)?;
        }
        self.registers.forget_all();
        for (register, &number) in (0..).zip(pinned.iter().rev()) {
            let register = COUNT as u8 - 1 - register;
            let home = self.home(number)?;
            self.text.load(register, home)?;
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
        self.memory.next(&mut self.text, values.lanes() as i32, start)?;
        self.memory.leave(&mut self.text)?;
        (self.n_slots <= MOST_SLOTS).then_some(self)
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
        self.text.store(Memory::slot(slot), register)
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
                self.text.put(Instruction::with2(table::broadcast(bytes), wide(register), from))?;
            }
            Some(mem) => {
                let code = table::load_general(mem)?;
                self.text.put(Instruction::with2(code, Register::EAX, from))?;
                let code = Code::VEX_Vmovd_xmm_rm32;
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
        let code = table::convert_one(given.ty, self.values.bytes())?;
        let register = self.take(step)?;
        let from = self.memory.number(&mut self.text, self.expansion, number as usize)?;
        self.text.put(Instruction::with3(code, low(register), low(register), from))?;
        self.spread(register)?;
        self.registers.hold(register, step);
        Some(())
    }

    fn spread(&mut self, register: u8) -> Option<()> {
        let code = table::spread(self.values.bytes());
        self.text.put(Instruction::with2(code, wide(register), low(register)))
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
        let kind = self.values.kind(op.operands[0]);
        let to = match op.action {
            Action::Neg => self.with_constant(step, table::xor(), a, bits::sign(bytes))?,
            Action::Abs => self.with_constant(step, table::and(), a, bits::magnitude(bytes))?,
            Action::Not => self.with_constant(step, table::xor(), a, bits::ALL)?,
            Action::Copysign => self.copysign(step, a, b)?,
            Action::MulAdd => self.mul_add(step, [a, b, c])?,
            Action::Select => self.select(step, [a, b, c])?,
            Action::Shl(_) | Action::Shr(_) => self.shift(step, op.action, a)?,
            Action::Less if kind == Kind::Int => self.two(step, table::greater(bytes), b, a)?,
            Action::AtMost if kind == Kind::Int => {
                let greater = self.two(step, table::greater(bytes), a, b)?;
                let all = self.text.constant(bits::ALL)?;
                self.text.two(table::xor().code, greater, greater, Arg::Mem(all), None)?;
                greater
            }
            action => match table::one(action, bytes) {
                Some((code, imm)) => {
                    let from = self.arg(a, step)?;
                    let to = self.result(step)?;
                    self.text.one(code, to, from, imm)?;
                    to
                }
                None => self.two(step, table::two(action, kind, bytes)?, a, b)?,
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

    fn with_constant(&mut self, step: u32, with: Two, a: u32, bits: u64) -> Option<u8> {
        let first = self.register(a, step)?;
        let second = Arg::Mem(self.text.constant(bits)?);
        let to = self.result(step)?;
        self.text.two(with.code, to, first, second, with.imm)?;
        Some(to)
    }

    fn shift(&mut self, step: u32, action: Action, a: u32) -> Option<u8> {
        let (code, count) = table::shift(action, self.values.bytes())?;
        let from = self.register(a, step)?;
        let to = self.result(step)?;
        self.text.one(code, to, Arg::Reg(from), Some(count))?;
        Some(to)
    }

    fn copysign(&mut self, step: u32, number: u32, sign: u32) -> Option<u8> {
        let bytes = self.values.bytes();
        let (number, sign) = (self.register(number, step)?, self.register(sign, step)?);
        let (to, between) = (self.take(step)?, self.take(step)?);
        let magnitude = Arg::Mem(self.text.constant(bits::magnitude(bytes))?);
        self.text.two(table::and().code, to, number, magnitude, None)?;
        let only_sign = Arg::Mem(self.text.constant(bits::sign(bytes))?);
        self.text.two(table::and().code, between, sign, only_sign, None)?;
        self.text.two(table::or().code, to, to, Arg::Reg(between), None)?;
        self.count();
        self.release(step);
        Some(to)
    }

    fn select(&mut self, step: u32, [mask, yes, no]: [u32; 3]) -> Option<u8> {
        let (mask, no) = (self.register(mask, step)?, self.register(no, step)?);
        let yes = self.arg(yes, step)?;
        let to = self.result(step)?;
        self.text.blend(table::blend(self.values.bytes()), to, no, yes, mask)?;
        Some(to)
    }

    /// Onto an operand that nothing reads later, or a copy of one.
    fn mul_add(&mut self, step: u32, [a, b, c]: [u32; 3]) -> Option<u8> {
        let bytes = self.values.bytes();
        let ends = |it: &Self, value: u32| {
            let register = it.registers.of(value)?;
            let others = [a, b, c].iter().filter(|it| **it == value).count() > 1;
            let is_read = it.values.next_read(value, step + 1).is_some();
            (!others && !is_read && !it.registers.is_pinned(register)).then_some(register)
        };
        let (code, to, second, third) = if let Some(to) = ends(self, c) {
            (table::sum_and_product(bytes), to, a, b)
        } else if let Some(to) = ends(self, a) {
            (table::product_and_sum(bytes), to, b, c)
        } else if let Some(to) = ends(self, b) {
            (table::product_and_sum(bytes), to, a, c)
        } else {
            let from = self.arg(c, step)?;
            let to = self.take(step)?;
            let copy = Code::VEX_Vmovups_ymm_ymmm256;
            self.text.one(copy, to, from, None)?;
            (table::sum_and_product(bytes), to, a, b)
        };
        self.registers.lock(to);
        let swaps = code == table::sum_and_product(bytes)
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

    /// The low bits of whole numbers of 32 bits, side by side.
    fn narrow(&mut self, from: u8, mem: Mem, to: u8, upper: u8) -> Option<()> {
        let kept = Arg::Mem(self.text.constant(if mem.size() == 1 { 0xff } else { 0xffff })?);
        self.text.two(table::and().code, to, from, kept, None)?;
        let code = Code::VEX_Vextracti128_xmmm128_ymm_imm8;
        self.text.put(Instruction::with3(code, low(upper), wide(to), 1_u32))?;
        let code = Code::VEX_Vpackusdw_xmm_xmm_xmmm128;
        self.text.put(Instruction::with3(code, low(to), low(to), low(upper)))?;
        if mem.size() == 1 {
            let code = Code::VEX_Vpackuswb_xmm_xmm_xmmm128;
            self.text.put(Instruction::with3(code, low(to), low(to), low(to)))?;
        }
        Some(())
    }

    /// A register for the result of a step, which may be that of an operand that nothing reads later.
    fn result(&mut self, step: u32) -> Option<u8> {
        self.count();
        self.registers.unlock_all();
        self.release(step);
        self.take(step)
    }

    /// Forgets what nothing reads after a step.
    fn release(&mut self, step: u32) {
        let is_read = |value: u32| self.values.next_read(value, step + 1).is_some();
        let ended: Vec<u8> =
            self.registers.all().filter(|it| !is_read(it.1)).map(|it| it.0).collect();
        ended.into_iter().for_each(|it| self.registers.forget(it));
    }

    fn count(&mut self) {
        let is_nowhere = |value: u32| self.values.origin(value) == Origin::Inside;
        let in_use = self.registers.all().filter(|it| is_nowhere(it.1)).count();
        self.most_in_use = self.most_in_use.max(in_use + self.registers.n_between());
    }

    /// A register for something new, which is locked. What it held is put by if it is read again.
    fn take(&mut self, at: u32) -> Option<u8> {
        let register = match self.registers.free() {
            Some(free) => free,
            None => self.put_by(at)?,
        };
        self.registers.lock(register);
        Some(register)
    }

    fn put_by(&mut self, at: u32) -> Option<u8> {
        let values = self.values;
        let may_go =
            |it: &(u8, u32)| !self.registers.is_locked(it.0) && !self.registers.is_pinned(it.0);
        let later = |it: &(u8, u32)| values.next_read(it.1, at).unwrap_or(u32::MAX);
        let (register, value) = self.registers.all().filter(may_go).max_by_key(later)?;
        let is_inside = values.origin(value) == Origin::Inside;
        if is_inside
            && values.next_read(value, at).is_some()
            && self.slots[value as usize].is_none()
        {
            let slot = self.slot_of(value);
            self.text.store(Memory::slot(slot), register)?;
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
            Origin::Before | Origin::Inside => self.slots[value as usize].map(Memory::slot),
            Origin::Read(input) if self.expansion.inputs[input].size() == self.values.bytes() => {
                self.memory.input(&mut self.text, self.expansion, input)
            }
            Origin::Read(_) | Origin::Same(_) | Origin::Unused => None,
        }
    }

    /// A register that holds a value, and is locked.
    fn register(&mut self, value: u32, at: u32) -> Option<u8> {
        if let Some(register) = self.registers.of(value) {
            self.registers.lock(register);
            return Some(register);
        }
        let register = self.take(at)?;
        match self.values.origin(value) {
            Origin::Read(input) if self.expansion.inputs[input].size() != self.values.bytes() => {
                let from = self.memory.input(&mut self.text, self.expansion, input)?;
                let code = table::load_narrow(self.expansion.inputs[input])?;
                self.text.put(Instruction::with2(code, wide(register), from))?;
            }
            _ => {
                let home = self.home(value)?;
                self.text.load(register, home)?;
            }
        }
        self.registers.hold(register, value);
        Some(register)
    }

    /// A value as the last operand: where it lies, unless it is in a register or is read again and there is one left.
    fn arg(&mut self, value: u32, at: u32) -> Option<Arg> {
        let held = self.registers.of(value);
        let is_read_again = self.values.next_read(value, at + 1).is_some();
        let is_kept = held.is_some() || is_read_again && self.registers.free().is_some();
        let is_whole = match self.values.origin(value) {
            Origin::Read(input) => self.expansion.inputs[input].size() == self.values.bytes(),
            _ => true,
        };
        if is_kept || !is_whole {
            return self.register(value, at).map(Arg::Reg);
        }
        self.home(value).map(Arg::Mem)
    }
}

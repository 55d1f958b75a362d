//! Instructions as bytes, with the constants that they read.

use iced_x86::{Code, Encoder, IcedError, Instruction, MemoryOperand, Register};
use rustc_hash::FxHashMap;

use super::instructions as table;
use super::vectors::Lanes;

/// What an instruction reads last: a register, or a vector in memory.
#[derive(Clone, Copy)]
pub(super) enum Arg {
    Reg(u8),
    Mem(MemoryOperand),
}

/// Machine code in the making. Constants stand before it, so that their places are known when they are read.
pub(super) struct Text {
    encoder: Encoder,
    bytes: Vec<u8>,
    /// Where the next instruction begins.
    at: u64,
    entry: usize,
    constants: FxHashMap<u64, usize>,
    lanes: Lanes,
}

impl Text {
    /// With room for so many constants.
    pub(super) fn new(lanes: Lanes, n_constants: usize) -> Self {
        let entry = n_constants * lanes.vectors.bytes();
        Self {
            encoder: Encoder::new(64),
            bytes: vec![0; entry],
            at: entry as u64,
            entry,
            constants: FxHashMap::default(),
            lanes,
        }
    }

    /// The bytes, and where the first instruction begins.
    pub(super) fn finished(mut self) -> (Vec<u8>, usize) {
        self.bytes.extend(self.encoder.take_buffer());
        (self.bytes, self.entry)
    }

    /// Where the next instruction begins.
    pub(super) fn here(&self) -> u64 {
        self.at
    }

    /// Writes an instruction; `None` where there is no such one.
    pub(super) fn put(&mut self, instruction: Result<Instruction, IcedError>) -> Option<()> {
        let len = self.encoder.encode(&instruction.ok()?, self.at).ok()?;
        self.at += len as u64;
        Some(())
    }

    /// A vector with these bits in each lane; `None` where there is no room for one more.
    pub(super) fn constant(&mut self, bits: u64) -> Option<MemoryOperand> {
        let (lane, vector) = (self.lanes.bytes, self.lanes.vectors.bytes());
        let bits = if lane == 4 { bits & u64::from(u32::MAX) } else { bits };
        let next = self.constants.len();
        let place = *self.constants.entry(bits).or_insert(next);
        let start = place * vector;
        let room = self.bytes[..self.entry].get_mut(start..start + vector)?;
        room.chunks_exact_mut(lane).for_each(|it| it.copy_from_slice(&bits.to_le_bytes()[..lane]));
        Some(MemoryOperand::with_base_displ_size(Register::RIP, start as i64, 8))
    }

    /// The register of a number.
    pub(super) fn register(&self, number: u8) -> Register {
        self.lanes.vectors.register(number)
    }

    /// `to = op(from)`.
    pub(super) fn one(&mut self, code: Code, to: u8, from: Arg, imm: Option<u32>) -> Option<()> {
        let to = self.register(to);
        let reg = |it| self.register(it);
        let instruction = match (from, imm) {
            (Arg::Reg(from), None) => Instruction::with2(code, to, reg(from)),
            (Arg::Mem(from), None) => Instruction::with2(code, to, from),
            (Arg::Reg(from), Some(imm)) => Instruction::with3(code, to, reg(from), imm),
            (Arg::Mem(from), Some(imm)) => Instruction::with3(code, to, from, imm),
        };
        self.put(instruction)
    }

    /// `to = op(a, b)`.
    pub(super) fn two(
        &mut self,
        code: Code,
        to: u8,
        a: u8,
        b: Arg,
        imm: Option<u32>,
    ) -> Option<()> {
        let instruction = self.of_two(code, to, a, b, imm);
        self.put(instruction)
    }

    /// The instruction `to = op(a, b)`.
    pub(super) fn of_two(
        &self,
        code: Code,
        to: u8,
        a: u8,
        b: Arg,
        imm: Option<u32>,
    ) -> Result<Instruction, IcedError> {
        let reg = |it| self.register(it);
        let (to, a) = (reg(to), reg(a));
        match (b, imm) {
            (Arg::Reg(b), None) => Instruction::with3(code, to, a, reg(b)),
            (Arg::Mem(b), None) => Instruction::with3(code, to, a, b),
            (Arg::Reg(b), Some(imm)) => Instruction::with4(code, to, a, reg(b), imm),
            (Arg::Mem(b), Some(imm)) => Instruction::with4(code, to, a, b, imm),
        }
    }

    /// Writes an instruction that acts where a mask in a register of its own is set, and elsewhere leaves what is there, or a mask that is not set.
    pub(super) fn masked(
        &mut self,
        instruction: Result<Instruction, IcedError>,
        mask: u8,
    ) -> Option<()> {
        let mut instruction = instruction.ok()?;
        instruction.set_op_mask(self.register(mask));
        self.put(Ok(instruction))
    }

    /// Writes an instruction that runs only where nothing is carried.
    pub(super) fn unless_carried(
        &mut self,
        instruction: Result<Instruction, IcedError>,
    ) -> Option<()> {
        let instruction = instruction.ok()?;
        let length = |it: &Instruction, at| Encoder::new(64).encode(it, at).ok();
        let jump = |to| Instruction::with_branch(Code::Jb_rel32_64, to).ok();
        let next = self.at + length(&jump(self.at)?, self.at)? as u64;
        let end = next + length(&instruction, next)? as u64;
        self.put(Ok(jump(end)?))?;
        self.put(Ok(instruction))
    }

    /// Of `yes` where `mask` is set, else of `no`.
    pub(super) fn blend(&mut self, to: u8, no: u8, yes: Arg, mask: u8) -> Option<()> {
        let code = table::blend(self.lanes);
        if self.lanes.vectors.has_masks() {
            let (to, no) = (self.register(to), self.register(no));
            let instruction = match yes {
                Arg::Reg(yes) => Instruction::with3(code, to, no, self.register(yes)),
                Arg::Mem(yes) => Instruction::with3(code, to, no, yes),
            };
            return self.masked(instruction, mask);
        }
        let (to, no, mask) = (self.register(to), self.register(no), self.register(mask));
        self.put(match yes {
            Arg::Reg(yes) => Instruction::with4(code, to, no, self.register(yes), mask),
            Arg::Mem(yes) => Instruction::with4(code, to, no, yes, mask),
        })
    }

    /// A whole vector, or a mask, from where it lies.
    pub(super) fn load(&mut self, to: u8, from: Arg) -> Option<()> {
        let is_mask = !self.lanes.vectors.wide().contains(&to);
        self.one(table::load(self.lanes.vectors, is_mask), to, from, None)
    }

    /// A whole vector, or a mask, to where it is to lie.
    pub(super) fn store(&mut self, to: MemoryOperand, from: u8) -> Option<()> {
        let is_mask = !self.lanes.vectors.wide().contains(&from);
        let code = table::store(self.lanes.vectors, is_mask);
        self.put(Instruction::with2(code, to, self.register(from)))
    }

    /// `to = op(to, imm)` or the like, on a general register.
    pub(super) fn general(&mut self, code: Code, to: Register, imm: i32) -> Option<()> {
        self.put(Instruction::with2(code, to, imm))
    }
}

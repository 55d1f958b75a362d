//! Instructions as bytes, with the constants that they read.

use iced_x86::{Code, Encoder, IcedError, Instruction, MemoryOperand, Register};
use rustc_hash::FxHashMap;

use super::code::VECTOR;

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
    /// Bytes of a lane.
    lane: usize,
}

impl Text {
    /// With room for so many constants.
    pub(super) fn new(lane: usize, n_constants: usize) -> Self {
        let entry = n_constants * VECTOR;
        Self {
            encoder: Encoder::new(64),
            bytes: vec![0; entry],
            at: entry as u64,
            entry,
            constants: FxHashMap::default(),
            lane,
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
        let lane = self.lane;
        let bits = if lane == 4 { bits & u64::from(u32::MAX) } else { bits };
        let next = self.constants.len();
        let place = *self.constants.entry(bits).or_insert(next);
        let start = place * VECTOR;
        let room = self.bytes[..self.entry].get_mut(start..start + VECTOR)?;
        room.chunks_exact_mut(lane).for_each(|it| it.copy_from_slice(&bits.to_le_bytes()[..lane]));
        Some(MemoryOperand::with_base_displ_size(Register::RIP, start as i64, 8))
    }

    /// `to = op(from)`.
    pub(super) fn one(&mut self, code: Code, to: u8, from: Arg, imm: Option<u32>) -> Option<()> {
        let to = wide(to);
        self.put(match (from, imm) {
            (Arg::Reg(from), None) => Instruction::with2(code, to, wide(from)),
            (Arg::Mem(from), None) => Instruction::with2(code, to, from),
            (Arg::Reg(from), Some(imm)) => Instruction::with3(code, to, wide(from), imm),
            (Arg::Mem(from), Some(imm)) => Instruction::with3(code, to, from, imm),
        })
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
        let (to, a) = (wide(to), wide(a));
        self.put(match (b, imm) {
            (Arg::Reg(b), None) => Instruction::with3(code, to, a, wide(b)),
            (Arg::Mem(b), None) => Instruction::with3(code, to, a, b),
            (Arg::Reg(b), Some(imm)) => Instruction::with4(code, to, a, wide(b), imm),
            (Arg::Mem(b), Some(imm)) => Instruction::with4(code, to, a, b, imm),
        })
    }

    /// Of `yes` where `mask` is set, else of `no`.
    pub(super) fn blend(&mut self, code: Code, to: u8, no: u8, yes: Arg, mask: u8) -> Option<()> {
        let (to, no, mask) = (wide(to), wide(no), wide(mask));
        self.put(match yes {
            Arg::Reg(yes) => Instruction::with4(code, to, no, wide(yes), mask),
            Arg::Mem(yes) => Instruction::with4(code, to, no, yes, mask),
        })
    }

    /// A whole vector from where it lies.
    pub(super) fn load(&mut self, to: u8, from: MemoryOperand) -> Option<()> {
        self.put(Instruction::with2(Code::VEX_Vmovups_ymm_ymmm256, wide(to), from))
    }

    pub(super) fn store(&mut self, to: MemoryOperand, from: u8) -> Option<()> {
        self.put(Instruction::with2(Code::VEX_Vmovups_ymmm256_ymm, to, wide(from)))
    }

    /// `to = op(to, imm)` or the like, on a general register.
    pub(super) fn general(&mut self, code: Code, to: Register, imm: i32) -> Option<()> {
        self.put(Instruction::with2(code, to, imm))
    }
}

/// A register of 256 bits.
pub(super) fn wide(register: u8) -> Register {
    Register::YMM0 + u32::from(register)
}

/// Its lower half.
pub(super) fn low(register: u8) -> Register {
    Register::XMM0 + u32::from(register)
}

//! Addresses: of inputs and outputs, of numbers, and of slots on the stack; what code does on its way in and out.
//!
//! `rdi` is where the addresses are, `rsi` how many elements there are, `rdx` where the numbers are, until the loop begins; `rcx` counts
//! elements, `rax` holds an address that no register is left for.

use iced_x86::{Code, Instruction, MemoryOperand, Register};

use super::Vectors;
use super::text::Text;
use crate::cpu::lane::Expansion;

/// Registers that hold addresses; the first may be overwritten, the caller's are in the others. `rdx` comes last of the first, as the
/// numbers are read by it before.
const FREE: [Register; 5] =
    [Register::R8, Register::R9, Register::R10, Register::R11, Register::RDX];
const SAVED: [Register; 5] =
    [Register::RBX, Register::R12, Register::R13, Register::R14, Register::R15];

/// Where what the loop reads and writes lies.
pub(super) struct Memory {
    /// Those of [`SAVED`] that hold addresses.
    saved: usize,
    /// For each input and then each output the register that holds its address.
    pointers: Vec<Option<Register>>,
    vectors: Vectors,
}

impl Memory {
    /// For a program of which the loop reads so many inputs.
    pub(super) fn new(expansion: &Expansion, n_read: usize, vectors: Vectors) -> Self {
        let n = n_read + expansion.outputs.len();
        let saved = n.saturating_sub(FREE.len()).min(SAVED.len());
        let pointers = vec![None; expansion.inputs.len() + expansion.outputs.len()];
        Self { saved, pointers, vectors }
    }

    /// The beginning, with so many slots.
    pub(super) fn enter(&self, text: &mut Text, n_slots: u32) -> Option<()> {
        text.put(Instruction::with1(Code::Push_r64, Register::RBP))?;
        text.put(Instruction::with2(Code::Mov_r64_rm64, Register::RBP, Register::RSP))?;
        for it in &SAVED[..self.saved] {
            text.put(Instruction::with1(Code::Push_r64, *it))?;
        }
        let vector = self.vectors.bytes() as i32;
        let bytes = i32::try_from(n_slots).ok()?.checked_mul(vector)?;
        text.general(Code::Sub_rm64_imm32, Register::RSP, bytes)?;
        text.general(Code::And_rm64_imm8, Register::RSP, -vector)
    }

    /// Puts the addresses of these inputs and of all outputs into registers, as far as there are any.
    pub(super) fn point(
        &mut self,
        text: &mut Text,
        expansion: &Expansion,
        inputs: impl Iterator<Item = usize>,
    ) -> Option<()> {
        let n = expansion.inputs.len();
        let outputs = n..n + expansion.outputs.len();
        // `rdx` gets the last one that has a register, when all numbers have been read.
        let registers = FREE.iter().chain(&SAVED[..self.saved]);
        for (place, &register) in inputs.chain(outputs).zip(registers) {
            let from = MemoryOperand::with_base_displ(Register::RDI, 8 * place as i64);
            text.put(Instruction::with2(Code::Mov_r64_rm64, register, from))?;
            self.pointers[place] = Some(register);
        }
        text.put(Instruction::with2(Code::Xor_r32_rm32, Register::ECX, Register::ECX))
    }

    /// Goes on with the next elements, so many, at `start`, or out of the loop.
    pub(super) fn next(&self, text: &mut Text, lanes: i32, start: u64) -> Option<()> {
        text.general(Code::Add_rm64_imm8, Register::RCX, lanes)?;
        text.put(Instruction::with2(Code::Cmp_r64_rm64, Register::RCX, Register::RSI))?;
        text.put(Instruction::with_branch(Code::Jb_rel32_64, start))
    }

    /// The end.
    pub(super) fn leave(&self, text: &mut Text) -> Option<()> {
        let saved = MemoryOperand::with_base_displ(Register::RBP, -8 * self.saved as i64);
        text.put(Instruction::with2(Code::Lea_r64_m, Register::RSP, saved))?;
        for it in SAVED[..self.saved].iter().rev() {
            text.put(Instruction::with1(Code::Pop_r64, *it))?;
        }
        text.put(Instruction::with1(Code::Pop_r64, Register::RBP))?;
        text.put(Ok(Instruction::with(Code::VEX_Vzeroupper)))?;
        text.put(Ok(Instruction::with(Code::Retnq)))
    }

    /// A slot of the stack.
    pub(super) fn slot(&self, slot: u32) -> MemoryOperand {
        let bytes = self.vectors.bytes() as i64;
        MemoryOperand::with_base_displ(Register::RSP, i64::from(slot) * bytes)
    }

    /// An input of which there is one element, or a number of the run, before the loop. What this gives is good for one instruction.
    pub(super) fn number(
        &self,
        text: &mut Text,
        expansion: &Expansion,
        number: usize,
    ) -> Option<MemoryOperand> {
        match number.checked_sub(expansion.inputs.len()) {
            Some(param) => Some(MemoryOperand::with_base_displ(Register::RDX, 8 * param as i64)),
            None => {
                let from = MemoryOperand::with_base_displ(Register::RDI, 8 * number as i64);
                text.put(Instruction::with2(Code::Mov_r64_rm64, Register::RAX, from))?;
                Some(MemoryOperand::with_base(Register::RAX))
            }
        }
    }

    /// The elements of an input that the loop has come to. What this gives is good for one instruction.
    pub(super) fn input(
        &self,
        text: &mut Text,
        expansion: &Expansion,
        input: usize,
    ) -> Option<MemoryOperand> {
        self.elements(text, input, expansion.inputs[input].size())
    }

    /// As [`input`](Self::input), of an output.
    pub(super) fn output(
        &self,
        text: &mut Text,
        expansion: &Expansion,
        output: usize,
    ) -> Option<MemoryOperand> {
        self.elements(text, expansion.inputs.len() + output, expansion.outputs[output].1.size())
    }

    fn elements(&self, text: &mut Text, place: usize, size: usize) -> Option<MemoryOperand> {
        let pointer = match self.pointers[place] {
            Some(pointer) => pointer,
            None => {
                let from = MemoryOperand::with_base_displ(Register::RDI, 8 * place as i64);
                text.put(Instruction::with2(Code::Mov_r64_rm64, Register::RAX, from))?;
                Register::RAX
            }
        };
        Some(MemoryOperand::with_base_index_scale(pointer, Register::RCX, size as u32))
    }
}

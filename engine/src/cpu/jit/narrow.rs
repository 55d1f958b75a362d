//! Elements that are narrower than a lane: halves, and the low bits of whole numbers side by side.

use iced_x86::{Code, Instruction};

use super::instructions as table;
use super::text::Arg;
use super::values::Origin;
use super::vectors::low;
use super::writer::Writer;
use crate::cpu::lane::Mem;

impl Writer<'_> {
    /// Halves, whose bits lie in lanes of 32, as floats.
    pub(super) fn widen_half(&mut self, step: u32, bits: u32) -> Option<u8> {
        let code = table::from_half(self.vectors());
        let is_read_again = self.values.next_read(bits, step + 1).is_some();
        let in_memory = match self.values.origin(bits) {
            Origin::Read(input) => (self.expansion.inputs[input] == Mem::F16).then_some(input),
            _ => None,
        };
        if let Some(input) = in_memory
            && self.registers.of(bits).is_none()
            && !is_read_again
        {
            let to = self.result(step)?;
            let from = self.memory.input(&mut self.text, self.expansion, input)?;
            self.text.put(Instruction::with2(code, self.text.register(to), from))?;
            return Some(to);
        }
        let from = self.register(bits, step)?;
        let (narrow, upper) = (self.take(step)?, self.take(step)?);
        self.narrow(from, Mem::F16, narrow, upper)?;
        let to = self.result(step)?;
        let half = self.vectors().half(narrow);
        self.text.put(Instruction::with2(code, self.text.register(to), half))?;
        Some(to)
    }

    /// The nearest halves of floats, whose bits lie in lanes of 32 then.
    pub(super) fn round_to_half(&mut self, step: u32, float: u32) -> Option<u8> {
        let from = self.register(float, step)?;
        let to = self.result(step)?;
        let (half, code) = (self.vectors().half(to), table::to_half(self.vectors()));
        let from = self.text.register(from);
        self.text.put(Instruction::with3(code, half, from, table::TO_NEAREST))?;
        let code = table::load_narrow(Mem::F16, self.vectors())?;
        self.text.put(Instruction::with2(code, self.text.register(to), half))?;
        Some(to)
    }

    /// The low bits of whole numbers of 32 bits, side by side.
    pub(super) fn narrow(&mut self, from: u8, mem: Mem, to: u8, upper: u8) -> Option<()> {
        if let Some(code) = table::narrowed(mem, self.vectors()) {
            let to = self.vectors().half(to);
            return self.text.put(Instruction::with2(code, to, self.text.register(from)));
        }
        let kept = Arg::Mem(self.text.constant(if mem.size() == 1 { 0xff } else { 0xffff })?);
        self.text.two(table::and(self.vectors()).code, to, from, kept, None)?;
        let code = Code::VEX_Vextracti128_xmmm128_ymm_imm8;
        self.text.put(Instruction::with3(code, low(upper), self.text.register(to), 1_u32))?;
        let code = Code::VEX_Vpackusdw_xmm_xmm_xmmm128;
        self.text.put(Instruction::with3(code, low(to), low(to), low(upper)))?;
        if mem.size() == 1 {
            let code = Code::VEX_Vpackuswb_xmm_xmm_xmmm128;
            self.text.put(Instruction::with3(code, low(to), low(to), low(to)))?;
        }
        Some(())
    }
}

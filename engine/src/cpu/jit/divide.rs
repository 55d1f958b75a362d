//! Division of all elements by one number, without the divider: it takes as long for the lanes of a vector of 512 bits as for those of two of 256,
//! while products go on beside it.
//!
//! With the rounded reciprocal `r` of the divisor `d`, `q = x * r` is near the quotient; `q + (x - q * d) * r`, both in one rounding, is a
//! faithful one, and the same again rounds as a division does (P. Markstein, "Computation of elementary functions on the IBM RISC System/6000
//! processor", 1990, theorem 8.1), as long as nothing leaves the normal numbers. Of 0, infinity and NaN `q` is the quotient. Where a
//! vector holds other numbers, or the divisor is none of [`bits::moderate`], it is divided.

use std::collections::BTreeSet;

use iced_x86::{Code, Instruction};

use super::instructions::{self as table, bits};
use super::text::Arg;
use super::values::{Kind, Origin};
use super::vectors::SOUND;
use super::writer::Writer;
use crate::math::recorded::Action;

impl Writer<'_> {
    /// Before the loop: a slot for the reciprocal of each number that the loop divides by, and the mask that says whether all are moderate.
    pub(super) fn invert_divisors(&mut self) -> Option<()> {
        if !self.vectors().has_masks() {
            return Some(());
        }
        let divisors = (0..).zip(&self.expansion.ops).filter_map(|(step, op)| {
            let divides = op.action == Action::Div && self.values.origin(step) == Origin::Inside;
            divides.then(|| self.values.resolved(op.operands[1]))
        });
        let is_number =
            |it: &u32| matches!(self.values.origin(*it), Origin::Known(_) | Origin::Before);
        let divisors: BTreeSet<u32> = divisors.filter(is_number).collect();
        if divisors.is_empty() {
            return Some(());
        }
        let (lanes, sound) = (self.lanes(), self.text.register(SOUND));
        self.text.put(Instruction::with3(Code::VEX_Kxnorw_kr_kr_kr, sound, sound, sound))?;
        let one = Arg::Mem(self.text.constant(bits::one(lanes.bytes))?);
        let divide = table::two(Action::Div, Kind::Float, lanes)?.code;
        for divisor in divisors {
            let (by, to) = (self.register(divisor, 0)?, self.take(0)?);
            self.text.load(to, one)?;
            self.text.two(divide, to, to, Arg::Reg(by), None)?;
            self.text.store(self.memory.slot(self.n_slots), to)?;
            self.divisors.push((divisor, self.n_slots));
            self.n_slots += 1;
            self.note_moderate(by, to, SOUND)?;
            self.registers.unlock_all();
        }
        Some(())
    }

    /// The slot of the reciprocal of the number that a step of the loop divides by.
    pub(super) fn reciprocal(&self, step: u32, divisor: u32) -> Option<u32> {
        let is_inside = self.values.origin(step) == Origin::Inside;
        let found = self.divisors.iter().find(|it| it.0 == divisor)?;
        is_inside.then_some(found.1)
    }

    /// `x / d`, with the reciprocal of `d` in this slot.
    pub(super) fn divide_by_number(
        &mut self,
        step: u32,
        [x, d]: [u32; 2],
        slot: u32,
    ) -> Option<u8> {
        let lanes = self.lanes();
        let (x, d) = (self.register(x, step)?, self.arg(d, step)?);
        let (to, left) = (self.take(step)?, self.take(step)?);
        let masks = self.vectors().masks();
        let (moderate, special) = (self.take_of(masks.clone(), step)?, self.take_of(masks, step)?);
        let reciprocal = Arg::Mem(self.memory.slot(slot));
        self.note_moderate(x, left, moderate)?;
        let (code, which) = table::special(lanes.bytes);
        let (mask, from) = (self.text.register(special), self.text.register(x));
        self.text.masked(Instruction::with3(code, mask, from, which), SOUND)?;
        let multiply = table::two(Action::Mul, Kind::Float, lanes)?.code;
        self.text.two(multiply, to, x, reciprocal, None)?;
        for _ in 0..2 {
            self.text.load(left, Arg::Reg(to))?;
            self.text.two(table::without_product(lanes), left, x, d, None)?;
            let code = table::sum_and_product(lanes);
            let nearer = self.text.of_two(code, to, left, reciprocal, None);
            self.text.masked(nearer, moderate)?;
        }
        let masks = [moderate, special].map(|it| self.text.register(it));
        self.text.put(Instruction::with2(table::covers(lanes.bytes), masks[0], masks[1]))?;
        let divide = table::two(Action::Div, Kind::Float, lanes)?.code;
        self.text.unless_carried(self.text.of_two(divide, to, x, d, None))?;
        self.count();
        self.release(step);
        Some(to)
    }

    /// Sets a mask where [`SOUND`] is set and floats are moderate; overwrites another register.
    fn note_moderate(&mut self, floats: u8, other: u8, mask: u8) -> Option<()> {
        let lanes = self.lanes();
        let (least, range) = bits::moderate(lanes.bytes);
        let [magnitude, least, range] = [bits::magnitude(lanes.bytes), least, range]
            .map(|it| self.text.constant(it).map(Arg::Mem));
        self.text.two(table::and(lanes.vectors).code, other, floats, magnitude?, None)?;
        let subtract = table::two(Action::Sub, Kind::Int, lanes)?.code;
        self.text.two(subtract, other, other, least?, None)?;
        let (code, predicate) = table::below(lanes.bytes);
        let below = self.text.of_two(code, mask, other, range?, Some(predicate));
        self.text.masked(below, SOUND)
    }
}

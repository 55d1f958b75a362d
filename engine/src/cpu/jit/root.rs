//! Square roots of floats of 32 bits without the divider, which takes as long for the lanes of a vector of 512 bits as for those of two of 256
//! and has the divisions of the loop to do: by products, which go on beside them.
//!
//! From an estimate `y` of `1 / sqrt(a)`, `g = a * y` and `h = y / 2` come nearer to `sqrt(a)` and `1 / (2 * sqrt(a))` by
//! `r = 1/2 - g * h`, `g += g * r`, `h += h * r`; then `g + (a - g * g) * h`, twice, is the rounded root (P. Markstein, "Computation of
//! elementary functions on the IBM RISC System/6000 processor", 1990, section 9). A test looks at all numbers from 1 to 4, which are all up to powers
//! of 4. The root of 0 is that 0; where a vector holds other numbers than such and moderate ones, the divider has the word.

use iced_x86::{Code, Instruction};

use super::instructions::{self as table, bits};
use super::text::Arg;
use super::values::Kind;
use super::writer::Writer;
use crate::math::recorded::Action;

/// A half.
const HALF: u64 = 0x3f00_0000;

impl Writer<'_> {
    /// Whether roots are computed so.
    pub(super) fn has_own_roots(&self) -> bool {
        self.vectors().has_masks() && self.lanes().bytes == 4
    }

    /// `sqrt(a)`.
    pub(super) fn root(&mut self, step: u32, a: u32) -> Option<u8> {
        let (lanes, by_divider) = (self.lanes(), table::root(self.lanes()));
        let a = self.register(a, step)?;
        let (root, half, left) = (self.take(step)?, self.take(step)?, self.take(step)?);
        let masks = self.vectors().masks();
        let (moderate, zero) = (self.take_of(masks.clone(), step)?, self.take_of(masks, step)?);
        let [multiply, subtract] = [(Action::Mul, Kind::Float), (Action::Sub, Kind::Int)]
            .map(|(action, kind)| table::two(action, kind, lanes).map(|it| it.code));
        let (minus, plus) = (table::minus_product(lanes), table::sum_and_product(lanes));
        let (one_half, by) = (Arg::Mem(self.text.constant(HALF)?), |it| Arg::Reg(it));
        self.note_range([a, left], subtract?, moderate)?;
        self.text.one(table::REVERSE_ROOT, root, by(a), None)?;
        self.text.two(multiply?, half, root, one_half, None)?;
        self.text.two(multiply?, root, root, by(a), None)?;
        self.text.load(left, one_half)?;
        self.text.two(minus, left, root, by(half), None)?;
        let onto = table::product_and_sum(lanes);
        self.text.two(onto, root, left, by(root), None)?;
        self.text.two(onto, half, left, by(half), None)?;
        for _ in 0..2 {
            self.text.load(left, by(a))?;
            self.text.two(minus, left, root, by(root), None)?;
            self.text.two(plus, root, left, by(half), None)?;
        }
        let [to, from, is_moderate, is_zero] =
            [root, a, moderate, zero].map(|it| self.text.register(it));
        let (code, which) = table::ZERO;
        self.text.put(Instruction::with3(code, is_zero, from, which))?;
        let load = table::load(lanes.vectors, false);
        self.text.masked(Instruction::with2(load, to, from), zero)?;
        self.text.put(Instruction::with2(table::covers(lanes.bytes), is_moderate, is_zero))?;
        self.text.unless_carried(Instruction::with2(by_divider, to, from))?;
        self.count();
        self.release(step);
        Some(root)
    }

    /// Sets a mask where floats are positive, and neither they nor what is left over by their roots leave the normal numbers; overwrites the
    /// second register.
    fn note_range(&mut self, [floats, other]: [u8; 2], subtract: Code, mask: u8) -> Option<()> {
        let [least, range] = bits::MODERATE_SQUARES.map(|it| self.text.constant(it).map(Arg::Mem));
        self.text.two(subtract, other, floats, least?, None)?;
        let (code, predicate) = table::below(self.lanes().bytes);
        self.text.two(code, mask, other, range?, Some(predicate))
    }
}

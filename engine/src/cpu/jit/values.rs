//! What the steps of a program are to code that is written: which hold one number for all elements, how each lies in a register, and
//! when it is read.

use std::ops::Range;

use super::Vectors;
use super::vectors::Lanes;
use crate::cpu::lane::{Expansion, Mem};
use crate::math::recorded::{Action, Op, Type};

/// How a value lies in a vector register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Floats as wide as a lane.
    Float,
    /// Whole numbers as wide as a lane. One of 64 bits is one of these in a lane of 32 where its range is known to be that of 32.
    Int,
    /// All bits where it is true, or a bit in a register of masks.
    Mask,
    /// In no register: a number from outside of another width, which is only converted.
    Other,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Nothing needs it.
    Unused,
    /// These bits in each lane.
    Known(u64),
    /// The bits of another step.
    Same(u32),
    /// Computed once, before the loop.
    Before,
    /// Read in the loop, from an input.
    Read(usize),
    /// Computed in the loop.
    Inside,
}

/// The steps of a program, sorted.
pub(super) struct Values {
    lanes: Lanes,
    origins: Vec<Origin>,
    kinds: Vec<Kind>,
    /// For each step the steps of the loop that read it, in order; an output is read behind the last.
    reads: Vec<Vec<u32>>,
}

impl Values {
    /// `None` where the steps are no arithmetic on lanes of one width.
    pub(super) fn of(expansion: &Expansion, held: u64, vectors: Vectors) -> Option<Self> {
        let fits =
            |bytes| Sorting { expansion, held, bytes, lanes: Lanes { vectors, bytes } }.sorted();
        fits(4).or_else(|| fits(8))
    }

    pub(super) fn lanes(&self) -> Lanes {
        self.lanes
    }

    /// Bytes of a lane.
    pub(super) fn bytes(&self) -> usize {
        self.lanes.bytes
    }

    /// The numbers of the registers that hold values of the kind of this one.
    pub(super) fn registers(&self, step: u32) -> Range<u8> {
        match self.kind(step) {
            Kind::Mask => self.lanes.vectors.masks(),
            Kind::Float | Kind::Int | Kind::Other => self.lanes.vectors.wide(),
        }
    }

    pub(super) fn kind(&self, step: u32) -> Kind {
        self.kinds[step as usize]
    }

    pub(super) fn origin(&self, step: u32) -> Origin {
        self.origins[step as usize]
    }

    pub(super) fn origins(&self) -> impl Iterator<Item = (u32, Origin)> {
        (0..).zip(self.origins.iter().copied())
    }

    /// The step whose bits a step has.
    pub(super) fn resolved(&self, mut step: u32) -> u32 {
        while let Origin::Same(other) = self.origin(step) {
            step = other;
        }
        step
    }

    /// The next step of the loop from `at` on that reads this one.
    pub(super) fn next_read(&self, step: u32, at: u32) -> Option<u32> {
        let reads = &self.reads[step as usize];
        reads.get(reads.partition_point(|it| *it < at)).copied()
    }

    /// How often the loop reads a step.
    pub(super) fn n_reads(&self, step: u32) -> usize {
        self.reads[step as usize].len()
    }
}

struct Sorting<'a> {
    expansion: &'a Expansion,
    held: u64,
    lanes: Lanes,
    bytes: usize,
}

impl Sorting<'_> {
    fn sorted(&self) -> Option<Values> {
        let ops = &self.expansion.ops;
        let mut needed = vec![false; ops.len()];
        self.expansion.outputs.iter().for_each(|it| needed[it.0 as usize] = true);
        for idx in (0..ops.len()).rev() {
            if needed[idx] {
                ops[idx].operands().iter().for_each(|it| needed[*it as usize] = true);
            }
        }
        let mut res = Values {
            lanes: self.lanes,
            origins: vec![Origin::Unused; ops.len()],
            kinds: vec![Kind::Other; ops.len()],
            reads: vec![Vec::new(); ops.len()],
        };
        for (idx, op) in ops.iter().enumerate().filter(|it| needed[it.0]) {
            let origin = self.origin(op, &res)?;
            let kind = self.kind(op, &res)?;
            if kind == Kind::Other && !matches!(origin, Origin::Before) {
                return None;
            }
            (res.origins[idx], res.kinds[idx]) = (origin, kind);
        }
        self.note_reads(&mut res);
        let stores = |&(step, mem): &(u32, Mem)| self.stores(res.kind(step), mem);
        self.expansion.outputs.iter().all(stores).then_some(res)
    }

    fn note_reads(&self, res: &mut Values) {
        for (idx, op) in (0..).zip(&self.expansion.ops) {
            if res.origin(idx) == Origin::Inside {
                for &operand in op.operands() {
                    let read = res.resolved(operand) as usize;
                    let reads = &mut res.reads[read];
                    if reads.last() != Some(&idx) {
                        reads.push(idx);
                    }
                }
            }
        }
        let end = self.expansion.ops.len() as u32;
        for &(step, _) in &self.expansion.outputs {
            let read = res.resolved(step) as usize;
            let reads = &mut res.reads[read];
            if reads.last() != Some(&end) {
                reads.push(end);
            }
        }
    }

    fn float(&self) -> Type {
        if self.bytes == 4 { Type::F32 } else { Type::F64 }
    }

    fn int(&self) -> Type {
        if self.bytes == 4 { Type::I32 } else { Type::I64 }
    }

    fn origin(&self, op: &Op, values: &Values) -> Option<Origin> {
        let n_inputs = self.expansion.inputs.len();
        Some(match op.action {
            Action::Given(number) => match number as usize {
                it if it < n_inputs && self.held >> it & 1 == 0 => Origin::Read(it),
                _ => Origin::Before,
            },
            Action::Known(bits) => Origin::Known(self.lane_of(bits, op.ty)?),
            Action::Bits | Action::Convert if self.is_same_bits(op, values) => {
                Origin::Same(op.operands[0])
            }
            _ => {
                let is_before = |it: &u32| match values.origin(values.resolved(*it)) {
                    Origin::Before | Origin::Known(_) => true,
                    Origin::Unused | Origin::Same(_) | Origin::Read(_) | Origin::Inside => false,
                };
                let before = op.operands().iter().all(is_before);
                if before { Origin::Before } else { Origin::Inside }
            }
        })
    }

    /// The bits of a lane that holds a number; `None` where it has no room.
    fn lane_of(&self, bits: u64, ty: Type) -> Option<u64> {
        match ty {
            Type::Bool => Some(if bits == 0 { 0 } else { u64::MAX }),
            ty if ty == self.float() || ty == self.int() => Some(bits),
            Type::I64 => {
                let number = i32::try_from(bits.cast_signed()).ok()?;
                Some(u64::from(number.cast_unsigned()))
            }
            Type::I32 | Type::F32 | Type::F64 => None,
        }
    }

    fn is_same_bits(&self, op: &Op, values: &Values) -> bool {
        let from = values.kind(op.operands[0]);
        match op.action {
            Action::Bits => matches!(from, Kind::Float | Kind::Int),
            _ => from == Kind::Int && matches!(op.ty, Type::I32 | Type::I64) && self.bytes == 4,
        }
    }

    /// How the result of a step lies; `None` where there is no way.
    fn kind(&self, op: &Op, values: &Values) -> Option<Kind> {
        let kinds = op.operands().iter().map(|it| values.kind(*it));
        let all = |kind: Kind| kinds.clone().all(|it| it == kind);
        // A whole number of 64 bits in a lane of 32, whose range no arithmetic on it may leave.
        let is_small = op.ty == Type::I64 && self.bytes == 4;
        let is_float = op.ty == self.float();
        let is_int = op.ty == self.int();
        match op.action {
            Action::Given(number) => self.given(number as usize, op.ty),
            Action::Known(_) => Some(match op.ty {
                Type::Bool => Kind::Mask,
                Type::F32 | Type::F64 => Kind::Float,
                Type::I32 | Type::I64 => Kind::Int,
            }),
            Action::Neg
            | Action::Div
            | Action::MulAdd
            | Action::Sqrt
            | Action::Abs
            | Action::Copysign
            | Action::Floor
            | Action::Ceil
            | Action::Trunc
            | Action::RoundTiesEven => (is_float && all(Kind::Float)).then_some(Kind::Float),
            Action::Add | Action::Sub if is_int => all(Kind::Int).then_some(Kind::Int),
            Action::Mul if is_int => {
                (self.lanes.has_whole() && all(Kind::Int)).then_some(Kind::Int)
            }
            Action::Add | Action::Sub | Action::Mul => {
                (is_float && all(Kind::Float)).then_some(Kind::Float)
            }
            Action::And | Action::Or | Action::Xor | Action::Not => match op.ty {
                Type::Bool => all(Kind::Mask).then_some(Kind::Mask),
                _ => ((is_int || is_small) && all(Kind::Int)).then_some(Kind::Int),
            },
            Action::Shl(_) => (is_int && all(Kind::Int)).then_some(Kind::Int),
            Action::Shr(_) => ((is_int || is_small) && self.lanes.has_whole() && all(Kind::Int))
                .then_some(Kind::Int),
            Action::Equals | Action::Less | Action::AtMost => {
                (all(Kind::Float) || all(Kind::Int)).then_some(Kind::Mask)
            }
            Action::Select => {
                let mut kinds = kinds;
                let (cond, yes, no) = (kinds.next()?, kinds.next()?, kinds.next()?);
                let is_lane = matches!(yes, Kind::Float | Kind::Int);
                (cond == Kind::Mask && yes == no && is_lane).then_some(yes)
            }
            Action::Bits => match values.kind(op.operands[0]) {
                Kind::Float if is_int => Some(Kind::Int),
                Kind::Int if is_float => Some(Kind::Float),
                Kind::Float | Kind::Int | Kind::Mask | Kind::Other => None,
            },
            Action::Convert => self.converted(op, values, is_float),
            // The bits of a half are a whole number of 32 bits.
            Action::FromHalf => (self.has_halves() && all(Kind::Int)).then_some(Kind::Float),
            Action::ToHalf => (self.has_halves() && all(Kind::Float)).then_some(Kind::Int),
            Action::Library(_)
            | Action::Library2(_)
            | Action::Quotient
            | Action::Remainder
            | Action::Power
            | Action::ShlBy
            | Action::ShrBy => None,
        }
    }

    fn converted(&self, op: &Op, values: &Values, is_float: bool) -> Option<Kind> {
        match values.kind(op.operands[0]) {
            Kind::Int if self.bytes == 4 => match op.ty {
                Type::F32 => Some(Kind::Float),
                Type::I32 | Type::I64 => Some(Kind::Int),
                Type::Bool | Type::F64 => None,
            },
            Kind::Int if self.lanes.has_whole() && is_float => Some(Kind::Float),
            Kind::Other if is_float => Some(Kind::Float),
            Kind::Float | Kind::Int | Kind::Mask | Kind::Other => None,
        }
    }

    fn has_halves(&self) -> bool {
        self.bytes == 4 && self.lanes.vectors.has_halves()
    }

    fn given(&self, number: usize, ty: Type) -> Option<Kind> {
        let is_held = self.held >> number.min(63) & 1 == 1;
        let mem = self.expansion.inputs.get(number).copied();
        if ty == self.float() {
            return Some(Kind::Float);
        }
        if ty == self.int() {
            // What is read as integers of 32 bits may be narrower in memory.
            return Some(Kind::Int);
        }
        // From here on only what is converted before the loop.
        let is_number = mem.is_none() || is_held;
        (is_number && matches!(ty, Type::F32 | Type::F64 | Type::I64)).then_some(Kind::Other)
    }

    /// Whether values of a kind are stored as elements like these.
    fn stores(&self, kind: Kind, mem: Mem) -> bool {
        match mem {
            Mem::F32 => self.bytes == 4 && kind == Kind::Float,
            Mem::F64 => self.bytes == 8 && kind == Kind::Float,
            Mem::I64 => self.bytes == 8 && kind == Kind::Int,
            Mem::U8 | Mem::I8 | Mem::I16 | Mem::U16 | Mem::I32 | Mem::F16 | Mem::BF16 => {
                self.bytes == 4 && kind == Kind::Int
            }
        }
    }
}

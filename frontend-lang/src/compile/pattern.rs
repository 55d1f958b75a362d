//! `match`: each pattern takes the top of the stack and jumps away if it does not fit.

use super::Compiler;
use crate::ast::*;
use crate::bytecode::Op;
use crate::operate::CompareOp;
use crate::sym::Sym;

impl<'a> Compiler<'a> {
    pub(super) fn match_stmt(&mut self, subject: &'a Expr, cases: &'a [Case]) {
        let slot = self.hidden_slot();
        self.expr(subject);
        self.emit(Op::SetLocal(slot));
        let mut done = Vec::new();
        for case in cases {
            self.at(case.pattern.range);
            self.emit(Op::Local(slot));
            let mut fails = Vec::new();
            self.pattern(&case.pattern, &mut fails);
            if let Some(guard) = &case.guard {
                fails.extend(self.jump_if_false(guard));
            }
            self.block(&case.body);
            done.push(self.emit(Op::Jump(0)));
            self.land_all(fails);
        }
        self.land_all(done);
        self.emit(Op::ClearLocal(slot));
    }

    /// Parts of the subject are kept in hidden slots, so that a failure leaves the stack clean.
    fn pattern(&mut self, pattern: &'a Pattern, fails: &mut Vec<usize>) {
        match &pattern.kind {
            PatternKind::Any => drop(self.emit(Op::Pop)),
            PatternKind::Capture(name) => self.store(*name),
            PatternKind::Value(value) => {
                self.expr(value);
                fails.push(self.emit(Op::CompareJump(CompareOp::Eq, 0)));
            }
            PatternKind::Constant(value) => {
                self.expr(value);
                self.emit(Op::Is);
                fails.push(self.emit(Op::JumpIfFalse(0)));
            }
            PatternKind::As(inner, name) => {
                let slot = self.keep();
                self.emit(Op::Local(slot));
                self.pattern(inner, fails);
                self.emit(Op::Local(slot));
                self.store(*name);
            }
            PatternKind::Or(items) => self.or_pattern(items, fails),
            PatternKind::Sequence(before, star, after) => {
                self.sequence_pattern(before, *star, after, fails);
            }
            PatternKind::Mapping { keys, values, rest } => {
                self.mapping_pattern(keys, values, *rest, fails);
            }
            PatternKind::Class { class, positional, keywords } => {
                self.class_pattern(class, positional, keywords, fails);
            }
        }
    }

    fn keep(&mut self) -> u32 {
        let slot = self.hidden_slot();
        self.emit(Op::SetLocal(slot));
        slot
    }

    fn or_pattern(&mut self, items: &'a [Pattern], fails: &mut Vec<usize>) {
        let slot = self.keep();
        let mut done = Vec::new();
        for (idx, item) in items.iter().enumerate() {
            self.emit(Op::Local(slot));
            if idx + 1 == items.len() {
                self.pattern(item, fails);
                break;
            }
            let mut next = Vec::new();
            self.pattern(item, &mut next);
            done.push(self.emit(Op::Jump(0)));
            self.land_all(next);
        }
        self.land_all(done);
    }

    fn sequence_pattern(
        &mut self,
        before: &'a [Pattern],
        star: Option<Option<Sym>>,
        after: &'a [Pattern],
        fails: &mut Vec<usize>,
    ) {
        let slot = self.keep();
        self.emit(Op::Local(slot));
        let len = (before.len() + after.len()) as u16;
        self.emit(Op::MatchSequence { len, star: star.is_some() });
        fails.push(self.emit(Op::JumpIfFalse(0)));
        for (idx, item) in before.iter().enumerate() {
            self.emit(Op::Local(slot));
            self.emit(Op::MatchItem(idx as i32));
            self.pattern(item, fails);
        }
        for (idx, item) in after.iter().enumerate() {
            self.emit(Op::Local(slot));
            self.emit(Op::MatchItem(idx as i32 - after.len() as i32));
            self.pattern(item, fails);
        }
        if let Some(Some(name)) = star {
            self.emit(Op::Local(slot));
            self.emit(Op::MatchRest(before.len() as u16, after.len() as u16));
            self.store(name);
        }
    }

    fn mapping_pattern(
        &mut self,
        keys: &'a [Expr],
        values: &'a [Pattern],
        rest: Option<Sym>,
        fails: &mut Vec<usize>,
    ) {
        let slot = self.keep();
        self.emit(Op::Local(slot));
        self.emit(Op::IsMapping);
        fails.push(self.emit(Op::JumpIfFalse(0)));
        for (key, value) in keys.iter().zip(values) {
            self.emit(Op::Local(slot));
            self.expr(key);
            self.emit(Op::MatchKey);
            fails.push(self.emit(Op::JumpIfFalse(0)));
            self.pattern(value, fails);
        }
        if let Some(name) = rest {
            self.emit(Op::Local(slot));
            keys.iter().for_each(|it| self.expr(it));
            self.emit(Op::Tuple(keys.len() as u32));
            self.emit(Op::MatchMappingRest);
            self.store(name);
        }
    }

    fn class_pattern(
        &mut self,
        class: &'a Expr,
        positional: &'a [Pattern],
        keywords: &'a [(Sym, Pattern)],
        fails: &mut Vec<usize>,
    ) {
        let slot = self.keep();
        self.expr(class);
        let class_slot = self.keep();
        self.emit(Op::Local(slot));
        self.emit(Op::Local(class_slot));
        self.emit(Op::IsInstance);
        fails.push(self.emit(Op::JumpIfFalse(0)));
        for (idx, item) in positional.iter().enumerate() {
            self.emit(Op::Local(slot));
            self.emit(Op::Local(class_slot));
            self.emit(Op::MatchPositional(idx as u16));
            fails.push(self.emit(Op::JumpIfFalse(0)));
            self.pattern(item, fails);
        }
        for (name, item) in keywords {
            self.emit(Op::Local(slot));
            self.emit(Op::MatchAttr(*name));
            fails.push(self.emit(Op::JumpIfFalse(0)));
            self.pattern(item, fails);
        }
    }
}

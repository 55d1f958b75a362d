//! Branches, loops, `with` and `try`.

use super::{Compiler, Flow};
use crate::ast::*;
use crate::bytecode::Op;

impl<'a> Compiler<'a> {
    /// Jumps taken when `test` is false; nothing stays on the stack.
    pub(super) fn jump_if_false(&mut self, test: &'a Expr) -> Vec<usize> {
        match &test.kind {
            ExprKind::Compare { first, rest } if rest.len() == 1 => {
                if let (Comparison::Rich(op), right) = &rest[0] {
                    self.expr(first);
                    self.expr(right);
                    return vec![self.emit_at(test.range, Op::CompareJump(*op, 0))];
                }
            }
            ExprKind::And(items) => {
                return items.iter().flat_map(|it| self.jump_if_false(it)).collect();
            }
            ExprKind::Not(inner) if !matches!(inner.kind, ExprKind::And(_) | ExprKind::Or(_)) => {
                self.expr(inner);
                return vec![self.emit_at(test.range, Op::JumpIfTrue(0))];
            }
            _ => {}
        }
        self.expr(test);
        vec![self.emit_at(test.range, Op::JumpIfFalse(0))]
    }

    pub(super) fn if_stmt(&mut self, test: &'a Expr, body: &'a [Stmt], orelse: &'a [Stmt]) {
        let skip = self.jump_if_false(test);
        self.block(body);
        if orelse.is_empty() {
            let end = self.here();
            self.note_branch(&skip, end, None, false);
            self.land_all(skip);
            return;
        }
        let done = self.emit(Op::Jump(0));
        self.land_all(skip.clone());
        self.block(orelse);
        self.land(done);
        let end = self.here();
        self.note_branch(&skip, end, None, false);
    }

    pub(super) fn while_stmt(&mut self, test: &'a Expr, body: &'a [Stmt], orelse: &'a [Stmt]) {
        let start = self.here();
        let endless = matches!(test.kind, ExprKind::Bool(true) | ExprKind::Int(1));
        let ends = if endless { Vec::new() } else { self.jump_if_false(test) };
        self.loop_body(start, false, body);
        let back = self.emit(Op::Loop(start)) as u32;
        self.note_branch(&ends, back + 1, Some((start, back)), false);
        self.land_all(ends);
        self.end_loop(orelse);
    }

    pub(super) fn for_stmt(
        &mut self,
        target: &'a Expr,
        iter: &'a Expr,
        body: &'a [Stmt],
        orelse: &'a [Stmt],
    ) {
        self.expr(iter);
        self.emit_at(iter.range, Op::Iter);
        let start = self.here();
        let end = self.emit_at(iter.range, Op::ForIter(0));
        self.target(target);
        self.loop_body(start, true, body);
        self.emit(Op::Loop(start));
        self.land(end);
        self.end_loop(orelse);
    }

    fn loop_body(&mut self, start: u32, has_iterator: bool, body: &'a [Stmt]) {
        self.unit().flow.push(Flow::Loop { start, breaks: Vec::new(), has_iterator });
        self.block(body);
    }

    fn end_loop(&mut self, orelse: &'a [Stmt]) {
        let Some(Flow::Loop { breaks, .. }) = self.unit().flow.pop() else { return };
        self.block(orelse);
        self.land_all(breaks);
    }

    pub(super) fn leave_loop(&mut self, range: Range, is_break: bool) {
        let found = self.unit().flow.iter().rposition(|it| matches!(it, Flow::Loop { .. }));
        let Some(at) = found else {
            let what =
                if is_break { "'break' outside loop" } else { "'continue' not properly in loop" };
            return self.report(range, what);
        };
        self.leave_to(at + 1, is_break);
        let Flow::Loop { start, has_iterator, .. } = self.unit().flow[at] else { return };
        if !is_break {
            self.emit(Op::Loop(start));
            return;
        }
        if has_iterator {
            self.emit(Op::Pop);
        }
        let jump = self.emit(Op::Jump(0));
        if let Flow::Loop { breaks, .. } = &mut self.unit().flow[at] {
            breaks.push(jump);
        }
    }

    pub(super) fn with_stmt(&mut self, items: &'a [(Expr, Option<Expr>)], body: &'a [Stmt]) {
        let Some(((context, target), rest)) = items.split_first() else {
            return self.block(body);
        };
        let slot = self.hidden_slot();
        self.expr(context);
        self.emit_at(context.range, Op::WithEnter(slot));
        // The entered value waits in a slot: a handler remembers how high the stack was.
        let entered = self.hidden_slot();
        self.emit(Op::SetLocal(entered));
        let handler = self.emit(Op::Try(0));
        self.unit().flow.push(Flow::With(slot));
        if let Some(target) = target {
            self.emit(Op::Local(entered));
            self.target(target);
        }
        self.emit(Op::ClearLocal(entered));
        self.with_stmt(rest, body);
        self.unit().flow.pop();
        self.emit(Op::EndTry);
        self.emit_at(context.range, Op::WithExit(slot));
        let done = self.emit(Op::Jump(0));
        self.leave_with_error(context, slot, handler);
        self.land(done);
    }

    fn leave_with_error(&mut self, context: &'a Expr, slot: u32, handler: usize) {
        self.land(handler);
        self.emit_at(context.range, Op::WithExitError(slot));
        let swallowed = self.emit(Op::JumpIfTrue(0));
        self.emit(Op::Reraise);
        self.land(swallowed);
        self.emit(Op::PopHandled);
    }

    /// A body that is run, or answered: then its slot says whether it would have left the loop by `break`.
    pub(super) fn step_stmt(&mut self, step: &'a Expr, body: &'a [Stmt], breaks: bool) {
        let slot = self.hidden_slot();
        self.expr(step);
        let answered = self.emit_at(step.range, Op::EnterStep(slot as u16, 0));
        let handler = self.emit(Op::Try(0));
        self.unit().flow.push(Flow::Step(slot));
        let mut cuts = Vec::with_capacity(body.len() + 1);
        for stmt in body {
            cuts.push(self.emit_at(stmt.range, Op::CutStep(slot as u16, 0)));
            self.block(std::slice::from_ref(stmt));
        }
        cuts.push(self.emit_at(step.range, Op::CutStep(slot as u16, 0)));
        self.unit().flow.pop();
        self.emit(Op::EndTry);
        self.emit_at(step.range, Op::LeaveStep(slot, false));
        let mut done = vec![self.emit(Op::Jump(0))];
        self.land(answered);
        self.land_all(cuts);
        if breaks {
            self.emit(Op::Local(slot));
            done.push(self.emit(Op::JumpIfFalse(0)));
            self.leave_loop(step.range, true);
        } else {
            done.push(self.emit(Op::Jump(0)));
        }
        self.leave_with_error(step, slot, handler);
        self.land_all(done);
    }

    pub(super) fn try_stmt(&mut self, it: &'a Try) {
        if it.finally.is_empty() {
            return self.try_except(it);
        }
        let handler = self.emit(Op::Try(0));
        self.unit().flow.push(Flow::Finally(&it.finally));
        if it.handlers.is_empty() {
            self.block(&it.body);
        } else {
            self.try_except(it);
        }
        self.unit().flow.pop();
        self.emit(Op::EndTry);
        self.block(&it.finally);
        let done = self.emit(Op::Jump(0));
        self.land(handler);
        self.emit(Op::Pop);
        self.unit().flow.push(Flow::Handling(None));
        self.block(&it.finally);
        self.unit().flow.pop();
        self.emit(Op::Reraise);
        self.land(done);
    }

    fn try_except(&mut self, it: &'a Try) {
        let handler = self.emit(Op::Try(0));
        self.unit().flow.push(Flow::Try);
        self.block(&it.body);
        self.unit().flow.pop();
        self.emit(Op::EndTry);
        self.block(&it.orelse);
        let mut done = vec![self.emit(Op::Jump(0))];
        self.land(handler);
        let mut next: Option<usize> = None;
        for handler in &it.handlers {
            if let Some(next) = next.take() {
                self.land(next);
            }
            if let Some(class) = &handler.class {
                self.expr(class);
                self.emit_at(class.range, Op::MatchException);
                next = Some(self.emit(Op::JumpIfFalse(0)));
            }
            self.handler(handler);
            done.push(self.emit(Op::Jump(0)));
            if handler.class.is_none() {
                break;
            }
        }
        if let Some(next) = next {
            self.land(next);
            self.emit(Op::Reraise);
        }
        self.land_all(done);
    }

    fn handler(&mut self, handler: &'a Handler) {
        match handler.name {
            Some(name) => self.store(name),
            None => drop(self.emit(Op::Pop)),
        }
        // The name goes away even when the handler itself fails.
        let cleanup = handler.name.map(|_| self.emit(Op::Try(0)));
        if cleanup.is_some() {
            self.unit().flow.push(Flow::Handling(handler.name));
            self.unit().flow.push(Flow::Try);
        } else {
            self.unit().flow.push(Flow::Handling(None));
        }
        self.block(&handler.body);
        if cleanup.is_some() {
            self.unit().flow.pop();
            self.emit(Op::EndTry);
        }
        self.unit().flow.pop();
        self.emit(Op::PopHandled);
        let (Some(cleanup), Some(name)) = (cleanup, handler.name) else { return };
        self.emit(Op::None);
        self.store(name);
        self.delete(name);
        let done = self.emit(Op::Jump(0));
        self.land(cleanup);
        self.emit(Op::Pop);
        self.emit(Op::None);
        self.store(name);
        self.delete(name);
        self.emit(Op::Reraise);
        self.land(done);
    }
}

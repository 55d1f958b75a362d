//! Statements, apart from control flow and definitions.

use super::{Compiler, Flow};
use crate::annotation::Signature;
use crate::ast::*;
use crate::bytecode::{CodeKind, Op};
use crate::operate::BinaryOp;
use crate::sym::Sym;
use crate::value::Value;

impl<'a> Compiler<'a> {
    pub(super) fn block(&mut self, stmts: &'a [Stmt]) {
        for stmt in stmts {
            self.at(stmt.range);
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
        match &stmt.kind {
            StmtKind::Expr(expr) => {
                if !matches!(expr.kind, ExprKind::Str(_)) {
                    self.expr(expr);
                    self.emit(Op::Pop);
                }
            }
            StmtKind::Assign { targets, value } => self.assign(targets, value),
            StmtKind::AugAssign { target, op, value } => self.aug_assign(target, *op, value),
            StmtKind::AnnAssign { target, annotation, value } => {
                if let Some(value) = value {
                    self.expr(value);
                    let shape = [(Sym::new("return"), annotation.clone())];
                    if let Some(found) = Signature::read(&shape, |_| None) {
                        let idx = self.constant(Value::object(found));
                        self.emit_at(value.range, Op::CheckValue(idx));
                    }
                    self.target(target);
                }
                self.annotate(target, annotation);
            }
            StmtKind::Delete(targets) => targets.iter().for_each(|it| self.delete_target(it)),
            StmtKind::Return(value) => self.return_stmt(value.as_ref()),
            StmtKind::If { test, body, orelse } => self.if_stmt(test, body, orelse),
            StmtKind::While { test, body, orelse } => self.while_stmt(test, body, orelse),
            StmtKind::For { target, iter, body, orelse } => {
                self.for_stmt(target, iter, body, orelse);
            }
            StmtKind::Break => self.leave_loop(stmt.range, true),
            StmtKind::Continue => self.leave_loop(stmt.range, false),
            StmtKind::Pass | StmtKind::Global(_) | StmtKind::Nonlocal(_) => {}
            StmtKind::Function { function, decorators } => {
                decorators.iter().for_each(|it| self.expr(it));
                self.function(function);
                self.apply_decorators(decorators);
                self.store(function.name);
            }
            StmtKind::Class(class) => self.class(class),
            StmtKind::Import(imports) => imports.iter().for_each(|it| self.import(it)),
            StmtKind::ImportFrom { module, names } => self.import_from(module, names),
            StmtKind::ImportStar { module } => {
                self.import_module(module, true);
                self.emit(Op::ImportStar);
            }
            StmtKind::With { items, body } => self.with_stmt(items, body),
            StmtKind::Step { step, body, breaks } => self.step_stmt(step, body, *breaks),
            StmtKind::Try(it) => self.try_stmt(it),
            StmtKind::Raise { exc, cause } => self.raise_stmt(exc.as_ref(), cause.as_ref()),
            StmtKind::Assert { test, message } => self.assert_stmt(test, message.as_ref()),
            StmtKind::Match { subject, cases } => self.match_stmt(subject, cases),
        }
    }

    fn assign(&mut self, targets: &'a [Expr], value: &'a Expr) {
        if let ([target], ExprKind::Tuple(values)) = (targets, &value.kind)
            && let ExprKind::Tuple(names) | ExprKind::List(names) = &target.kind
            && names.len() == values.len()
            && names.len() <= 3
            && names.iter().chain(values).all(|it| !matches!(it.kind, ExprKind::Starred(_)))
        {
            values.iter().for_each(|it| self.expr(it));
            // Python assigns from left to right.
            match names.as_slice() {
                [_, _] => drop(self.emit(Op::Rot2)),
                [_, _, _] => {
                    self.emit(Op::Rot3);
                    self.emit(Op::Rot3);
                    self.emit(Op::Rot2);
                    self.emit(Op::Rot3);
                }
                _ => {}
            }
            names.iter().for_each(|it| self.target(it));
            return;
        }
        self.expr(value);
        for (idx, target) in targets.iter().enumerate() {
            if idx + 1 < targets.len() {
                self.emit(Op::Dup);
            }
            self.target(target);
        }
    }

    /// Assigns the top of the stack.
    pub(super) fn target(&mut self, target: &'a Expr) {
        match &target.kind {
            ExprKind::Name(name) => self.store(*name),
            ExprKind::Attribute { value, name, .. } => {
                self.expr(value);
                let cache = self.cache();
                self.emit_at(target.range, Op::SetAttr { name: *name, cache });
            }
            ExprKind::Subscript { value, index } => {
                self.expr(value);
                self.expr(index);
                self.emit_at(target.range, Op::SetIndex);
            }
            ExprKind::Tuple(items) | ExprKind::List(items) => self.unpack(target, items),
            ExprKind::Starred(_) => {
                self.report(target.range, "starred assignment target must be in a list or tuple");
            }
            _ => self.report(target.range, "this cannot be assigned to"),
        }
    }

    fn unpack(&mut self, target: &'a Expr, items: &'a [Expr]) {
        let star = items.iter().position(|it| matches!(it.kind, ExprKind::Starred(_)));
        let op = match star {
            Some(at) => Op::UnpackStar(at as u16, (items.len() - at - 1) as u16),
            None => Op::Unpack(items.len() as u32),
        };
        self.emit_at(target.range, op);
        for (idx, item) in items.iter().enumerate() {
            match &item.kind {
                ExprKind::Starred(inner) if star == Some(idx) => self.target(inner),
                ExprKind::Starred(_) => {
                    self.report(item.range, "multiple starred expressions in assignment");
                }
                _ => self.target(item),
            }
        }
    }

    fn aug_assign(&mut self, target: &'a Expr, op: BinaryOp, value: &'a Expr) {
        match &target.kind {
            ExprKind::Name(name) => {
                self.load(*name);
                self.expr(value);
                self.emit(Op::Inplace(op));
                self.store(*name);
            }
            ExprKind::Attribute { value: object, name, .. } => {
                self.expr(object);
                self.emit(Op::Dup);
                let cache = self.cache();
                self.emit_at(target.range, Op::Attr { name: *name, cache });
                self.expr(value);
                self.emit(Op::Inplace(op));
                let cache = self.cache();
                self.emit_at(target.range, Op::PutAttr { name: *name, cache });
            }
            ExprKind::Subscript { value: object, index } => {
                self.expr(object);
                self.expr(index);
                self.emit(Op::Dup2);
                self.emit_at(target.range, Op::Index);
                self.expr(value);
                self.emit(Op::Inplace(op));
                self.emit_at(target.range, Op::PutIndex);
            }
            _ => self.report(target.range, "this cannot be the target of an augmented assignment"),
        }
    }

    fn annotate(&mut self, target: &'a Expr, annotation: &'a str) {
        let ExprKind::Name(name) = &target.kind else { return };
        if self.unit().kind == CodeKind::Class {
            let pair = Value::tuple([name.value(), Value::str(annotation)]);
            let idx = self.constant(pair);
            self.emit(Op::Annotate(idx));
        }
    }

    fn delete_target(&mut self, target: &'a Expr) {
        match &target.kind {
            ExprKind::Name(name) => self.delete(*name),
            ExprKind::Attribute { value, name, .. } => {
                self.expr(value);
                self.emit_at(target.range, Op::DelAttr(*name));
            }
            ExprKind::Subscript { value, index } => {
                self.expr(value);
                self.expr(index);
                self.emit_at(target.range, Op::DelIndex);
            }
            ExprKind::Tuple(items) | ExprKind::List(items) => {
                items.iter().for_each(|it| self.delete_target(it));
            }
            _ => self.report(target.range, "this cannot be deleted"),
        }
    }

    fn import_module(&mut self, module: &str, leaf: bool) {
        let idx = self.constant(Value::str(module));
        self.emit(if leaf { Op::ImportLeaf(idx) } else { Op::Import(idx) });
    }

    fn import(&mut self, import: &'a Import) {
        self.at(import.range);
        let first = import.module.split('.').next().unwrap_or(&import.module);
        self.import_module(&import.module, import.name.is_some());
        self.store(import.name.unwrap_or_else(|| Sym::new(first)));
    }

    fn import_from(&mut self, module: &str, names: &'a [ImportName]) {
        self.import_module(module, true);
        for it in names {
            self.emit_at(it.range, Op::ImportFrom(it.name));
            self.store(it.to);
        }
        self.emit(Op::Pop);
    }

    fn raise_stmt(&mut self, exc: Option<&'a Expr>, cause: Option<&'a Expr>) {
        match (exc, cause) {
            (Some(exc), Some(cause)) => {
                self.expr(exc);
                self.expr(cause);
                self.emit(Op::RaiseFrom);
            }
            (Some(exc), None) => {
                self.expr(exc);
                self.emit(Op::Raise);
            }
            _ => drop(self.emit(Op::RaiseAgain)),
        }
    }

    fn assert_stmt(&mut self, test: &'a Expr, message: Option<&'a Expr>) {
        if message.is_none()
            && let ExprKind::Compare { first, rest } = &test.kind
            && let [(Comparison::Rich(op), right)] = rest.as_slice()
        {
            self.expr(first);
            self.expr(right);
            self.emit(Op::Dup2);
            self.emit_at(test.range, Op::Compare(*op));
            let fail = self.emit(Op::JumpIfFalse(0));
            self.emit(Op::Pop);
            self.emit(Op::Pop);
            let done = self.emit(Op::Jump(0));
            self.land(fail);
            self.emit_at(test.range, Op::AssertCompare(*op));
            self.land(done);
            return;
        }
        self.expr(test);
        let done = self.emit(Op::JumpIfTrue(0));
        match message {
            Some(message) => {
                self.expr(message);
                self.emit_at(test.range, Op::AssertMessage);
            }
            None => drop(self.emit_at(test.range, Op::AssertFail)),
        }
        self.land(done);
    }

    fn return_stmt(&mut self, value: Option<&'a Expr>) {
        match value {
            Some(value) => self.expr(value),
            None => drop(self.emit(Op::None)),
        }
        if let (Some(value), Some((idx, slot))) = (value, self.unit().signature) {
            self.emit_at(value.range, Op::CheckResult(idx, slot));
        }
        self.leave_to(0, false);
        self.emit(Op::Return);
    }

    /// Leaves all constructs from the innermost down to number `keep`, not included; by `break`, or by another way.
    pub(super) fn leave_to(&mut self, keep: usize, breaks: bool) {
        let mut left = Vec::new();
        while self.unit().flow.len() > keep {
            let Some(flow) = self.unit().flow.pop() else { break };
            match &flow {
                Flow::Loop { .. } => {}
                Flow::Try => drop(self.emit(Op::EndTry)),
                Flow::Finally(body) => {
                    self.emit(Op::EndTry);
                    let body = *body;
                    self.block(body);
                }
                Flow::Handling(name) => {
                    self.emit(Op::PopHandled);
                    if let Some(name) = *name {
                        self.emit(Op::None);
                        self.store(name);
                        self.delete(name);
                    }
                }
                Flow::With(slot) => {
                    let slot = *slot;
                    self.emit(Op::EndTry);
                    self.emit(Op::WithExit(slot));
                }
                Flow::Step(slot) => {
                    let slot = *slot;
                    self.emit(Op::EndTry);
                    self.emit(Op::LeaveStep(slot, breaks));
                }
            }
            left.push(flow);
        }
        left.into_iter().rev().for_each(|it| self.unit().flow.push(it));
    }
}

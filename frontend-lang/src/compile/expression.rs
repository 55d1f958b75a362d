//! Expressions: each leaves one value on the stack.

use super::{Compiler, constant_of};
use crate::ast::*;
use crate::bytecode::{CodeKind, Convert, Op};
use crate::resolve::Place;
use crate::sym::Sym;
use crate::value::Value;

impl<'a> Compiler<'a> {
    pub(super) fn expr(&mut self, expr: &'a Expr) {
        let before = self.at(expr.range);
        self.expr_kind(expr);
        self.unit().place = before;
    }

    fn exprs(&mut self, items: &'a [Expr]) {
        items.iter().for_each(|it| self.expr(it));
    }

    fn expr_kind(&mut self, expr: &'a Expr) {
        match &expr.kind {
            ExprKind::None => drop(self.emit(Op::None)),
            ExprKind::Name(name) => self.load(*name),
            ExprKind::FString(parts) => self.f_string(parts),
            ExprKind::Attribute { value, name, .. } => self.attribute(value, *name),
            ExprKind::Subscript { value, index } => {
                self.expr(value);
                self.expr(index);
                self.emit(Op::Index);
            }
            ExprKind::Slice { start, stop, step } => {
                for part in [start, stop, step] {
                    match part {
                        Some(part) => self.expr(part),
                        None => drop(self.emit(Op::None)),
                    }
                }
                self.emit(Op::Slice);
            }
            ExprKind::Call { func, args } => self.call(func, args),
            ExprKind::Unary { op, value } => {
                self.expr(value);
                self.emit(Op::Unary(*op));
            }
            ExprKind::Not(value) => {
                self.expr(value);
                self.emit(Op::Not);
            }
            ExprKind::Binary { op, left, right } => {
                self.expr(left);
                self.expr(right);
                self.emit(Op::Binary(*op));
            }
            ExprKind::Compare { first, rest } => self.compare(first, rest),
            ExprKind::And(items) => self.short_circuit(items, Op::JumpIfFalseKeep(0)),
            ExprKind::Or(items) => self.short_circuit(items, Op::JumpIfTrueKeep(0)),
            ExprKind::IfElse { test, body, orelse } => {
                let skip = self.jump_if_false(test);
                self.expr(body);
                let done = self.emit(Op::Jump(0));
                self.land_all(skip.clone());
                self.expr(orelse);
                self.land(done);
                let end = self.here();
                self.note_branch(&skip, end, None, true);
            }
            ExprKind::Tuple(items) => match constant_of(expr) {
                Some(tuple) => self.emit_const(tuple),
                None => self.sequence(items, Op::Tuple(items.len() as u32)),
            },
            ExprKind::List(items) => self.sequence(items, Op::List(items.len() as u32)),
            ExprKind::Set(items) => self.sequence(items, Op::Set(items.len() as u32)),
            ExprKind::Dict(entries) => self.dict(entries),
            ExprKind::Starred(_) => self.report(expr.range, "can't use starred expression here"),
            ExprKind::Lambda(function) => self.function(function),
            ExprKind::Comprehension(it) => self.comprehension(expr.range, it),
            ExprKind::Walrus { name, value } => {
                self.expr(value);
                self.emit(Op::Dup);
                self.store(*name);
            }
            ExprKind::Yield(value) => {
                match value {
                    Some(value) => self.expr(value),
                    None => drop(self.emit(Op::None)),
                }
                self.emit(Op::Yield);
            }
            ExprKind::YieldFrom(value) => {
                self.expr(value);
                self.emit(Op::Iter);
                self.emit(Op::None);
                self.emit(Op::YieldFrom);
            }
            ExprKind::Bool(_)
            | ExprKind::Ellipsis
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Imaginary(_)
            | ExprKind::Str(_) => {
                let value = constant_of(expr).unwrap_or(Value::None);
                self.emit_const(value);
            }
        }
    }

    fn attribute(&mut self, value: &'a Expr, name: Sym) {
        if self.super_parts(value) {
            self.emit(Op::SuperAttr(name));
            return;
        }
        self.expr(value);
        let cache = self.cache();
        self.emit(Op::Attr { name, cache });
    }

    /// For `super()` without arguments: leaves the class and the object on the stack.
    fn super_parts(&mut self, value: &'a Expr) -> bool {
        let ExprKind::Call { func, args } = &value.kind else { return false };
        let ExprKind::Name(name) = &func.kind else { return false };
        if name.as_str() != "super" || !args.is_empty() || self.place(*name) != Place::Global {
            return false;
        }
        let function = self.units.iter().rev().find(|it| it.kind == CodeKind::Function);
        let this = function.and_then(|it| it.locals.first().copied());
        let (Some(this), true) = (this, self.place(Sym::CLASS) == Place::Free) else {
            self.report(value.range, "super() without arguments works only in a method of a class");
            return true;
        };
        self.load(Sym::CLASS);
        self.load(this);
        true
    }

    fn compare(&mut self, first: &'a Expr, rest: &'a [(Comparison, Expr)]) {
        self.expr(first);
        let mut fails = Vec::new();
        for (idx, (op, right)) in rest.iter().enumerate() {
            self.expr(right);
            let is_last = idx + 1 == rest.len();
            if !is_last {
                self.emit(Op::Dup);
                self.emit(Op::Rot3);
            }
            self.emit(comparison_op(*op));
            if !is_last {
                fails.push(self.emit(Op::JumpIfFalseKeep(0)));
            }
        }
        if fails.is_empty() {
            return;
        }
        let done = self.emit(Op::Jump(0));
        self.land_all(fails);
        // A failed chain has the next operand under its result.
        self.emit(Op::Rot2);
        self.emit(Op::Pop);
        self.land(done);
    }

    fn short_circuit(&mut self, items: &'a [Expr], jump: Op) {
        let mut jumps = Vec::new();
        for (idx, item) in items.iter().enumerate() {
            self.expr(item);
            if idx + 1 < items.len() {
                jumps.push(self.emit(jump));
            }
        }
        self.land_all(jumps);
    }

    fn sequence(&mut self, items: &'a [Expr], op: Op) {
        if !items.iter().any(|it| matches!(it.kind, ExprKind::Starred(_))) {
            self.exprs(items);
            self.emit(op);
            return;
        }
        let is_set = matches!(op, Op::Set(_));
        self.emit(if is_set { Op::Set(0) } else { Op::List(0) });
        for item in items {
            match &item.kind {
                ExprKind::Starred(inner) => {
                    self.expr(inner);
                    self.emit_at(item.range, if is_set { Op::SetUpdate } else { Op::ListExtend });
                }
                _ => {
                    self.expr(item);
                    self.emit(if is_set { Op::SetAdd(0) } else { Op::ListAppend(0) });
                }
            }
        }
        if matches!(op, Op::Tuple(_)) {
            self.emit(Op::ListToTuple);
        }
    }

    fn dict(&mut self, entries: &'a [(Option<Expr>, Expr)]) {
        if entries.iter().all(|(key, _)| key.is_some()) && entries.len() < 1000 {
            for (key, value) in entries {
                key.iter().for_each(|it| self.expr(it));
                self.expr(value);
            }
            self.emit(Op::Dict(entries.len() as u32));
            return;
        }
        self.emit(Op::Dict(0));
        for (key, value) in entries {
            match key {
                Some(key) => {
                    self.expr(key);
                    self.expr(value);
                    self.emit(Op::DictAdd(0));
                }
                None => {
                    self.expr(value);
                    self.emit_at(value.range, Op::DictUpdate);
                }
            }
        }
    }

    fn call(&mut self, func: &'a Expr, args: &'a [Arg]) {
        let plain = args.iter().all(|it| matches!(it, Arg::Positional(_) | Arg::Keyword(..)));
        let is_method = plain && self.callee(func);
        if !plain {
            self.expr(func);
            return self.star_call(args);
        }
        let keywords_last =
            args.windows(2).all(|pair| !matches!(pair, [Arg::Keyword(..), Arg::Positional(_)]));
        debug_assert!(keywords_last, "the parser refuses other orders");
        let mut names = Vec::new();
        for arg in args {
            match arg {
                Arg::Positional(it) => self.expr(it),
                Arg::Keyword(name, it) => {
                    if names.contains(name) {
                        self.report(it.range, format!("keyword argument repeated: {name}"));
                    }
                    names.push(*name);
                    self.expr(it);
                }
                _ => {}
            }
        }
        let count = args.len() - names.len();
        if names.is_empty() {
            let count = count as u32;
            self.emit(if is_method { Op::CallMethod(count) } else { Op::Call(count) });
            return;
        }
        self.unit().keywords.push(names.into());
        let names = self.unit().keywords.len() as u32 - 1;
        let count = count as u16;
        self.emit(if is_method {
            Op::CallMethodKw(count, names)
        } else {
            Op::CallKw(count, names)
        });
    }

    /// Leaves the callee on the stack; true if it takes two places, as methods do.
    fn callee(&mut self, func: &'a Expr) -> bool {
        match &func.kind {
            ExprKind::Attribute { value, name, .. } => {
                if self.super_parts(value) {
                    self.emit_at(func.range, Op::SuperMethod(*name));
                    return true;
                }
                self.expr(value);
                let cache = self.cache();
                self.emit_at(func.range, Op::Method { name: *name, cache });
                true
            }
            _ => {
                self.expr(func);
                false
            }
        }
    }

    fn star_call(&mut self, args: &'a [Arg]) {
        self.emit(Op::List(0));
        for arg in args {
            match arg {
                Arg::Positional(it) => {
                    self.expr(it);
                    self.emit(Op::ListAppend(0));
                }
                Arg::Star(it) => {
                    self.expr(it);
                    self.emit_at(it.range, Op::ListExtend);
                }
                _ => {}
            }
        }
        let has_keywords = args.iter().any(|it| matches!(it, Arg::Keyword(..) | Arg::StarStar(_)));
        if has_keywords {
            self.emit(Op::Dict(0));
            for arg in args {
                match arg {
                    Arg::Keyword(name, it) => {
                        self.emit_const(name.value());
                        self.expr(it);
                        self.emit(Op::Dict(1));
                        self.emit(Op::DictMerge);
                    }
                    Arg::StarStar(it) => {
                        self.expr(it);
                        self.emit_at(it.range, Op::DictMerge);
                    }
                    _ => {}
                }
            }
        }
        self.emit(Op::CallStar(has_keywords));
    }

    fn f_string(&mut self, parts: &'a [FPart]) {
        for part in parts {
            match part {
                FPart::Text(text) => self.emit_const(Value::str(text.as_str())),
                FPart::Value { value, conversion, spec } => {
                    self.expr(value);
                    let convert = match conversion {
                        Conversion::None => Convert::None,
                        Conversion::Str => Convert::Str,
                        Conversion::Repr => Convert::Repr,
                        Conversion::Ascii => Convert::Ascii,
                    };
                    if spec.is_empty() {
                        self.emit_at(value.range, Op::Format(convert));
                    } else {
                        match spec.as_slice() {
                            [FPart::Text(text)] => self.emit_const(Value::str(text.as_str())),
                            _ => self.f_string(spec),
                        }
                        self.emit_at(value.range, Op::FormatSpec(convert));
                    }
                }
            }
        }
        self.emit(Op::Concat(parts.len() as u32));
    }
}

fn comparison_op(op: Comparison) -> Op {
    match op {
        Comparison::Rich(op) => Op::Compare(op),
        Comparison::Is => Op::Is,
        Comparison::IsNot => Op::IsNot,
        Comparison::In => Op::In,
        Comparison::NotIn => Op::NotIn,
    }
}

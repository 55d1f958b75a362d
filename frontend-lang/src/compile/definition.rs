//! Functions, classes and comprehensions.

use std::rc::Rc;

use super::{Compiler, Unit};
use crate::annotation::Signature;
use crate::ast::*;
use crate::bytecode::{Capture, CodeKind, CodeParams, Op, flags};
use crate::resolve::Place;
use crate::source::Span;
use crate::sym::Sym;
use crate::value::Value;

impl<'a> Compiler<'a> {
    fn span_of(&self, range: Range) -> Span {
        Span { source: self.source, start: range.start, end: range.end }
    }

    /// Leaves a new function on the stack.
    pub(super) fn function(&mut self, function: &'a Rc<Function>) {
        let function: &'a Function = function;
        let bits = self.defaults(&function.params);
        let qualname = self.qualified(function.name);
        let span = self.span_of(function.range);
        self.open(CodeKind::Function, function.name, qualname, function.scope, span);
        self.parameters(function.scope, &function.params);
        let unit = self.unit();
        unit.is_generator = function.is_generator;
        unit.doc = function.doc.clone();
        unit.annotations = function.annotations.clone();
        self.signature(function);
        self.make_cells(function.scope);
        self.block(&function.body);
        self.add_child(bits);
    }

    /// The check of shapes in annotations, if there are any.
    fn signature(&mut self, function: &'a Function) {
        if function.annotations.is_empty() {
            return;
        }
        let names: Vec<Sym> = function.params.list.iter().map(|it| it.name).collect();
        let slot_of = |name| names.iter().position(|it| *it == name).map(|it| it as u32);
        let Some(found) = Signature::read(&function.annotations, slot_of) else { return };
        let has_result = found.result.is_some() && !function.is_generator;
        let idx = self.constant(Value::object(found));
        let slot = self.hidden_slot();
        let Ok(slot) = u16::try_from(slot) else { return };
        let start = function.range.start;
        self.emit_at(Range { start, end: start + 3 }, Op::CheckParams(idx, slot));
        if has_result {
            self.unit().signature = Some((idx, slot));
        }
    }

    fn add_child(&mut self, flags: u16) {
        let code = self.close();
        let unit = self.unit();
        unit.children.push(code);
        let child = unit.children.len() as u32 - 1;
        self.emit(Op::MakeFunction { child, flags });
    }

    fn parameters(&mut self, scope: usize, params: &'a Params) {
        for param in &params.list {
            self.slot(scope, param.name);
        }
        for star in [params.rest, params.keywords].into_iter().flatten() {
            self.slot(scope, star);
        }
        self.unit().params = CodeParams {
            names: params.list.iter().map(|it| it.name).collect(),
            positional_only: params.positional_only,
            positional: params.positional,
            has_rest: params.rest.is_some(),
            has_keywords: params.keywords.is_some(),
        };
    }

    /// Leaves the tuples of defaults that there are on the stack.
    fn defaults(&mut self, params: &'a Params) -> u16 {
        let mut bits = 0;
        let (positional, keyword_only) = params.list.split_at(params.positional);
        let given: Vec<&Expr> = positional.iter().filter_map(|it| it.default.as_ref()).collect();
        if !given.is_empty() {
            given.iter().for_each(|it| self.expr(it));
            self.emit(Op::Tuple(given.len() as u32));
            bits |= flags::DEFAULTS;
        }
        if keyword_only.iter().any(|it| it.default.is_some()) {
            for param in keyword_only {
                match &param.default {
                    Some(default) => self.expr(default),
                    None => self.emit_const(Value::Unbound),
                }
            }
            self.emit(Op::Tuple(keyword_only.len() as u32));
            bits |= flags::KEYWORD_DEFAULTS;
        }
        bits
    }

    pub(super) fn capture(&mut self, scope: usize, name: Sym) -> Capture {
        if self.units.is_empty() {
            return Capture::Free(0);
        }
        let outside = self.scopes.list[scope].parent;
        // A class body passes names of its surroundings on, not its own.
        match self.scopes.place(outside, name) {
            Place::Cell(owner) | Place::Local(owner) => Capture::Local(self.slot(owner, name)),
            Place::Class if name != Sym::CLASS => Capture::Free(self.free(name)),
            Place::Class => Capture::Local(self.slot(outside, name)),
            _ if name == Sym::CLASS && self.unit().kind == CodeKind::Class => {
                let owner = self.unit().scope;
                Capture::Local(self.slot(owner, name))
            }
            _ => Capture::Free(self.free(name)),
        }
    }

    pub(super) fn apply_decorators(&mut self, decorators: &'a [Expr]) {
        for decorator in decorators.iter().rev() {
            self.emit_at(decorator.range, Op::Call(1));
        }
    }

    pub(super) fn class(&mut self, class: &'a Rc<ClassDef>) {
        let class: &'a ClassDef = class;
        class.decorators.iter().for_each(|it| self.expr(it));
        match &class.base {
            Some(base) => self.expr(base),
            None => drop(self.emit(Op::None)),
        }
        for (name, value) in &class.keywords {
            self.emit_const(name.value());
            self.expr(value);
        }
        self.emit(Op::Dict(class.keywords.len() as u32));
        let qualname = self.qualified(class.name);
        let span = self.span_of(class.range);
        self.open(CodeKind::Class, class.name, qualname, class.scope, span);
        self.unit().doc = class.doc.clone();
        self.make_cells(class.scope);
        self.block(&class.body);
        self.add_child(0);
        let name = self.constant(class.name.value());
        let header = class.base.as_ref().map_or(class.name_range, |it| it.range);
        self.emit_at(header, Op::MakeClass(name));
        self.apply_decorators(&class.decorators);
        self.store(class.name);
    }

    pub(super) fn comprehension(&mut self, range: Range, it: &'a Comprehension) {
        if it.kind == ComprehensionKind::Generator {
            return self.generator_expression(range, it);
        }
        let outer = self.unit().inner;
        self.emit(match it.kind {
            ComprehensionKind::Set => Op::Set(0),
            ComprehensionKind::Dict => Op::Dict(0),
            _ => Op::List(0),
        });
        self.expr(&it.clauses[0].iter);
        self.emit_at(it.clauses[0].iter.range, Op::Iter);
        self.unit().inner = it.scope;
        self.make_cells(it.scope);
        self.clauses(it, 0);
        let bound: Vec<Sym> = self.scopes.list[it.scope].bound.iter().copied().collect();
        for name in bound {
            let slot = self.slot(it.scope, name);
            self.emit(Op::ClearLocal(slot));
        }
        self.unit().inner = outer;
    }

    fn generator_expression(&mut self, range: Range, it: &'a Comprehension) {
        self.expr(&it.clauses[0].iter);
        self.emit_at(it.clauses[0].iter.range, Op::Iter);
        let name = Sym::new("<genexpr>");
        let qualname = self.qualified(name);
        let span = self.span_of(range);
        self.open(CodeKind::Function, name, qualname, it.scope, span);
        let source = self.hidden_slot();
        let unit: &mut Unit<'_> = self.unit();
        unit.is_generator = true;
        unit.params =
            CodeParams { names: vec![Sym::EMPTY], positional: 1, ..CodeParams::default() };
        self.make_cells(it.scope);
        self.emit(Op::Local(source));
        self.clauses(it, 0);
        self.add_child(0);
        self.emit(Op::Rot2);
        self.emit(Op::Call(1));
    }

    /// Loops of a comprehension; the iterator of clause `idx` is on the stack.
    fn clauses(&mut self, it: &'a Comprehension, idx: usize) {
        let clause = &it.clauses[idx];
        let start = self.here();
        let end = self.emit_at(clause.iter.range, Op::ForIter(0));
        self.target(&clause.target);
        let mut skips: Vec<usize> = Vec::new();
        for test in &clause.tests {
            skips.extend(self.jump_if_false(test));
        }
        match it.clauses.get(idx + 1) {
            Some(next) => {
                self.expr(&next.iter);
                self.emit_at(next.iter.range, Op::Iter);
                self.clauses(it, idx + 1);
            }
            None => self.comprehension_item(it),
        }
        self.land_all(skips);
        self.emit(Op::Loop(start));
        self.land(end);
    }

    fn comprehension_item(&mut self, it: &'a Comprehension) {
        let depth = it.clauses.len() as u32;
        self.expr(&it.item);
        match it.kind {
            ComprehensionKind::List => drop(self.emit(Op::ListAppend(depth))),
            ComprehensionKind::Set => drop(self.emit(Op::SetAdd(depth))),
            ComprehensionKind::Dict => {
                if let Some(value) = &it.value {
                    self.expr(value);
                }
                self.emit(Op::DictAdd(depth));
            }
            ComprehensionKind::Generator => {
                self.emit(Op::Yield);
                self.emit(Op::Pop);
            }
        }
    }
}

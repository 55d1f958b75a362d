//! Tree to bytecode. One unit per frame: a cell, a function, a class body.

mod control;
mod definition;
mod expression;
mod join;
mod pattern;
mod statement;

use std::cell::Cell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::ast::{self, Expr, ExprKind, Range, Stmt, StmtKind};
use crate::bytecode::{Branch, Cache, Code, CodeKind, CodeParams, Op};
use crate::diagnostic::Diagnostic;
use crate::objects::complex::Complex;
use crate::objects::module::Globals;
use crate::resolve::{Place, ScopeKind, Scopes};
use crate::site;
use crate::source::{Held, Lines, SourceId, Span};
use crate::sym::Sym;
use crate::value::Value;

/// Compiles a resolved tree. The code returns the value of its last expression statement. With lines, its operations are numbered as
/// sites.
pub fn compile(
    module: &ast::Module,
    scopes: &Scopes,
    (source, held): (SourceId, Held),
    lines: Option<&Rc<Lines>>,
    globals: &Rc<Globals>,
    builtins: &FxHashMap<Sym, Value>,
    wants_value: bool,
) -> Result<Rc<Code>, Vec<Diagnostic>> {
    let end = module.body.last().map_or(0, |it| it.range.end);
    let (diagnostics, units) = (Vec::new(), Vec::new());
    let mut compiler =
        Compiler { scopes, source, held, lines, globals, builtins, diagnostics, units };
    let span = Span { source, start: 0, end };
    compiler.open(CodeKind::Module, Sym::new("<module>"), "<module>".into(), 0, span);
    compiler.module_body(&module.body, wants_value);
    let code = compiler.close();
    if compiler.diagnostics.is_empty() { Ok(code) } else { Err(compiler.diagnostics) }
}

struct Compiler<'a> {
    scopes: &'a Scopes,
    source: SourceId,
    held: Held,
    lines: Option<&'a Rc<Lines>>,
    globals: &'a Rc<Globals>,
    builtins: &'a FxHashMap<Sym, Value>,
    diagnostics: Vec<Diagnostic>,
    units: Vec<Unit<'a>>,
}

/// Code being made.
struct Unit<'a> {
    kind: CodeKind,
    name: Sym,
    qualname: String,
    span: Span,
    scope: usize,
    ops: Vec<Op>,
    places: Vec<(u32, u32)>,
    consts: Vec<Value>,
    children: Vec<Rc<Code>>,
    params: CodeParams,
    locals: Vec<Sym>,
    slots: FxHashMap<(usize, Sym), u32>,
    is_generator: bool,
    doc: Option<String>,
    annotations: Vec<(Sym, String)>,
    class_cell: Option<u32>,
    /// Where the signature stands that results are checked against.
    signature: Option<(u32, u16)>,
    n_caches: u16,
    keywords: Vec<Box<[Sym]>>,
    flow: Vec<Flow<'a>>,
    branches: Vec<Branch>,
    place: (u32, u32),
    /// The scope whose names are being compiled: the unit's, or a comprehension inside it.
    inner: usize,
}

/// What lies between the current place and the outside of the unit.
enum Flow<'a> {
    Loop {
        start: u32,
        breaks: Vec<usize>,
        has_iterator: bool,
    },
    /// A handler is in force.
    Try,
    /// A handler is in force, and a `finally` body must run on the way out.
    Finally(&'a [Stmt]),
    /// An exception is being handled; its name is unbound on the way out.
    Handling(Option<Sym>),
    /// A context manager in this slot must be left.
    With(u32),
    /// So must a traced step.
    Step(u32),
}

impl<'a> Compiler<'a> {
    fn open(&mut self, kind: CodeKind, name: Sym, qualname: String, scope: usize, span: Span) {
        self.units.push(Unit {
            kind,
            name,
            qualname,
            span,
            scope,
            ops: Vec::new(),
            places: Vec::new(),
            consts: Vec::new(),
            children: Vec::new(),
            params: CodeParams::default(),
            locals: Vec::new(),
            slots: FxHashMap::default(),
            is_generator: false,
            doc: None,
            annotations: Vec::new(),
            class_cell: None,
            signature: None,
            n_caches: 0,
            keywords: Vec::new(),
            flow: Vec::new(),
            branches: Vec::new(),
            place: (span.start, span.start),
            inner: scope,
        });
    }

    fn close(&mut self) -> Rc<Code> {
        self.emit(Op::None);
        self.emit(Op::Return);
        let Some(unit) = self.units.pop() else { unreachable!("open and close are paired") };
        let free: Vec<Sym> = self.scopes.list[unit.scope].free.iter().copied().collect();
        let captures = free.iter().map(|name| self.capture(unit.scope, *name)).collect();
        let mut ops = unit.ops;
        join::join(&mut ops, &unit.consts);
        let places = Rc::from(unit.places);
        let plain = unit.params.is_simple() && !unit.is_generator;
        Rc::new(Code {
            plain_count: plain.then_some(unit.params.positional as u32),
            kind: unit.kind,
            name: unit.name,
            qualname: unit.qualname,
            source: self.source,
            held: self.held.clone(),
            ops,
            sites: self.lines.map_or(0, |it| site::number(it, &places)),
            places,
            consts: unit.consts,
            children: unit.children,
            params: unit.params,
            locals: unit.locals,
            free,
            captures,
            is_generator: unit.is_generator,
            doc: unit.doc,
            annotations: unit.annotations,
            span: unit.span,
            globals: self.globals.clone(),
            class_cell: unit.class_cell,
            branches: unit.branches,
            keywords: unit.keywords,
            caches: (0..=unit.n_caches).map(|_| Cache::default()).collect(),
            short_lived: Cell::default(),
        })
    }

    fn unit(&mut self) -> &mut Unit<'a> {
        let last = self.units.len() - 1;
        &mut self.units[last]
    }

    fn report(&mut self, range: Range, message: impl Into<String>) {
        let span = Span { source: self.source, start: range.start, end: range.end };
        self.diagnostics.push(Diagnostic::error("syntax", span, message));
    }

    /// Operations from here on belong to this part of the source; returns the part before.
    fn at(&mut self, range: Range) -> (u32, u32) {
        std::mem::replace(&mut self.unit().place, (range.start, range.end))
    }

    fn emit(&mut self, op: Op) -> usize {
        let unit = self.unit();
        unit.ops.push(op);
        unit.places.push(unit.place);
        unit.ops.len() - 1
    }

    fn emit_at(&mut self, range: Range, op: Op) -> usize {
        let before = self.at(range);
        let idx = self.emit(op);
        self.unit().place = before;
        idx
    }

    fn here(&mut self) -> u32 {
        self.unit().ops.len() as u32
    }

    /// Makes a jump that was emitted before lead here.
    fn land(&mut self, jump: usize) {
        let target = self.here();
        if let Some(it) = self.unit().ops[jump].target_mut() {
            *it = target;
        }
    }

    /// Notes a branch or loop whose condition is one jump, and which ends here.
    fn note_branch(&mut self, tests: &[usize], end: u32, turn: Option<(u32, u32)>, gives: bool) {
        if let &[test] = tests {
            self.unit().branches.push(Branch { test: test as u32, end, turn, gives });
        }
    }

    fn land_all(&mut self, jumps: Vec<usize>) {
        jumps.into_iter().for_each(|it| self.land(it));
    }

    fn constant(&mut self, value: Value) -> u32 {
        let unit = self.unit();
        let same = |it: &Value| match (it, &value) {
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
            (Value::Str(a), Value::Str(b)) => ***a == ***b,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            _ => false,
        };
        if let Some(idx) = unit.consts.iter().rposition(same) {
            return idx as u32;
        }
        unit.consts.push(value);
        unit.consts.len() as u32 - 1
    }

    fn emit_const(&mut self, value: Value) {
        let idx = self.constant(value);
        self.emit(Op::Const(idx));
    }

    fn cache(&mut self) -> u16 {
        let unit = self.unit();
        unit.n_caches = unit.n_caches.saturating_add(1);
        unit.n_caches
    }

    /// The frame slot of a name of a scope.
    fn slot(&mut self, scope: usize, name: Sym) -> u32 {
        let unit = self.unit();
        if let Some(slot) = unit.slots.get(&(scope, name)) {
            return *slot;
        }
        let slot = unit.locals.len() as u32;
        unit.locals.push(name);
        unit.slots.insert((scope, name), slot);
        slot
    }

    /// A slot that no name has.
    fn hidden_slot(&mut self) -> u32 {
        let unit = self.unit();
        unit.locals.push(Sym::EMPTY);
        unit.locals.len() as u32 - 1
    }

    fn global(&mut self, name: Sym) -> u32 {
        let builtins = self.builtins;
        self.globals.slot(name, || builtins.get(&name).cloned().unwrap_or_default())
    }

    fn free(&mut self, name: Sym) -> u32 {
        let scope = self.unit().scope;
        self.scopes.list[scope].free.get_index_of(&name).unwrap_or(0) as u32
    }

    fn place(&mut self, name: Sym) -> Place {
        let inner = self.unit().inner;
        self.scopes.place(inner, name)
    }

    fn load(&mut self, name: Sym) {
        let op = match self.place(name) {
            Place::Local(scope) => Op::Local(self.slot(scope, name)),
            Place::Cell(scope) => Op::Cell(self.slot(scope, name)),
            Place::Free => Op::Free(self.free(name)),
            Place::Global => Op::Global(self.global(name)),
            Place::Class => {
                self.global(name);
                Op::ClassName(name)
            }
        };
        self.emit(op);
    }

    fn store(&mut self, name: Sym) {
        let op = match self.place(name) {
            Place::Local(scope) => Op::SetLocal(self.slot(scope, name)),
            Place::Cell(scope) => Op::SetCell(self.slot(scope, name)),
            Place::Free => Op::SetFree(self.free(name)),
            Place::Global => Op::SetGlobal(self.global(name)),
            Place::Class => Op::SetClassName(name),
        };
        self.emit(op);
    }

    fn delete(&mut self, name: Sym) {
        let op = match self.place(name) {
            Place::Local(scope) => Op::DelLocal(self.slot(scope, name)),
            Place::Cell(scope) => Op::DelCell(self.slot(scope, name)),
            Place::Free => Op::DelFree(self.free(name)),
            Place::Global => Op::DelGlobal(self.global(name)),
            Place::Class => Op::DelClassName(name),
        };
        self.emit(op);
    }

    /// Makes the cells of names that inner functions share, at the start of a scope.
    fn make_cells(&mut self, scope: usize) {
        let cells: Vec<Sym> = self.scopes.list[scope].cells.iter().copied().collect();
        for name in cells {
            let slot = self.slot(scope, name);
            self.emit(Op::MakeCell(slot));
            if self.scopes.list[scope].kind == ScopeKind::Class && name == Sym::CLASS {
                self.unit().class_cell = Some(slot);
            }
        }
    }

    fn module_body(&mut self, body: &'a [Stmt], wants_value: bool) {
        let Some((last, head)) = body.split_last() else { return };
        self.make_cells(0);
        self.block(head);
        match &last.kind {
            StmtKind::Expr(expr) if wants_value => {
                self.at(last.range);
                self.expr(expr);
                self.emit(Op::Return);
            }
            _ => self.block(std::slice::from_ref(last)),
        }
    }

    fn qualified(&mut self, name: Sym) -> String {
        let unit = self.unit();
        match unit.kind {
            CodeKind::Module => name.to_string(),
            CodeKind::Class => format!("{}.{name}", unit.qualname),
            CodeKind::Function => format!("{}.<locals>.{name}", unit.qualname),
        }
    }
}

/// The value of an expression that is a constant.
fn constant_of(expr: &Expr) -> Option<Value> {
    Some(match &expr.kind {
        ExprKind::Bool(it) => Value::Bool(*it),
        ExprKind::Ellipsis => Value::Ellipsis,
        ExprKind::Int(it) => Value::Int(*it),
        ExprKind::Float(it) => Value::Float(*it),
        ExprKind::Imaginary(it) => Complex { real: 0.0, imag: *it }.into(),
        ExprKind::Str(it) => Sym::new(it).value(),
        ExprKind::None => Value::None,
        ExprKind::Tuple(items) => {
            let items: Option<Vec<Value>> = items.iter().map(constant_of).collect();
            Value::tuple(items?)
        }
        _ => return None,
    })
}

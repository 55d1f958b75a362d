//! Names to places: which scope each name of a tree belongs to, and which are shared with inner
//! functions. Comprehensions are scopes inside the frame of their function.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use crate::ast::*;
use crate::diagnostic::Diagnostic;
use crate::source::{SourceId, Span};
use crate::sym::Sym;

/// Names in order of appearance.
pub type Names = IndexSet<Sym, FxBuildHasher>;

/// What a scope belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ScopeKind {
    #[default]
    Module,
    Function,
    Class,
    Comprehension,
}

/// The names of one scope.
#[derive(Default, Debug)]
pub struct Scope {
    pub kind: ScopeKind,
    pub parent: usize,
    /// A comprehension or generator expression.
    pub is_expression: bool,
    pub bound: Names,
    pub uses: Names,
    pub globals: Names,
    pub nonlocals: Names,
    /// Names bound here that inner functions use.
    pub cells: Names,
    /// Names of outer functions used here or further in.
    pub free: Names,
}

/// Where a name lives, seen from one scope.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// In the frame, bound by this scope.
    Local(usize),
    /// In the frame, in a cell shared with inner functions.
    Cell(usize),
    /// In a cell of an outer function.
    Free,
    Global,
    /// In the namespace of the class whose body runs.
    Class,
}

/// All scopes of a tree, by number.
pub struct Scopes {
    pub list: Vec<Scope>,
    pub diagnostics: Vec<Diagnostic>,
    source: SourceId,
}

/// Resolves a tree.
pub fn resolve(module: &Module, source: SourceId) -> Scopes {
    let list = (0..module.scopes).map(|_| Scope::default()).collect();
    let mut scopes = Scopes { list, diagnostics: Vec::new(), source };
    scopes.block(0, &module.body);
    scopes.link();
    scopes
}

impl Scopes {
    /// Global names that the source assigns.
    pub fn defs(&self) -> Vec<Sym> {
        let mut defs = self.list[0].bound.clone();
        for scope in &self.list {
            defs.extend(scope.globals.iter().filter(|it| scope.bound.contains(*it)));
        }
        defs.into_iter().collect()
    }

    /// Global names that the source reads, in functions too.
    pub fn uses(&self) -> Vec<Sym> {
        let mut uses = Names::default();
        for (number, scope) in self.list.iter().enumerate() {
            uses.extend(scope.uses.iter().filter(|it| self.place(number, **it) == Place::Global));
        }
        uses.into_iter().collect()
    }

    /// The scope whose frame holds the locals of `scope`.
    pub fn frame(&self, mut scope: usize) -> usize {
        while self.list[scope].kind == ScopeKind::Comprehension {
            scope = self.list[scope].parent;
        }
        scope
    }

    /// Where `name` lives, seen from `scope`.
    pub fn place(&self, scope: usize, name: Sym) -> Place {
        let mut at = scope;
        let mut crossed = false;
        loop {
            let it = &self.list[at];
            let is_start = at == scope;
            match it.kind {
                ScopeKind::Module => return Place::Global,
                ScopeKind::Class if name == Sym::CLASS && !is_start => {
                    return if crossed { Place::Free } else { Place::Cell(at) };
                }
                ScopeKind::Class if !is_start => {}
                _ if it.globals.contains(&name) => return Place::Global,
                _ if it.nonlocals.contains(&name) => {}
                ScopeKind::Class if it.bound.contains(&name) => return Place::Class,
                _ if it.bound.contains(&name) => {
                    return match (crossed, it.cells.contains(&name)) {
                        (true, _) => Place::Free,
                        (false, true) => Place::Cell(at),
                        (false, false) => Place::Local(at),
                    };
                }
                _ => {}
            }
            crossed |= it.kind != ScopeKind::Comprehension;
            at = it.parent;
        }
    }

    /// Finds the binding of every use, and marks cells and free names on the way.
    fn link(&mut self) {
        for scope in 0..self.list.len() {
            let names: Vec<Sym> =
                self.list[scope].uses.iter().chain(&self.list[scope].nonlocals).copied().collect();
            for name in names {
                self.link_name(scope, name);
            }
        }
    }

    fn link_name(&mut self, scope: usize, name: Sym) {
        if self.place(scope, name) != Place::Free {
            return;
        }
        let mut at = scope;
        loop {
            let it = &mut self.list[at];
            let owns = it.bound.contains(&name)
                && !it.nonlocals.contains(&name)
                && it.kind != ScopeKind::Class;
            let is_class_cell = name == Sym::CLASS && it.kind == ScopeKind::Class && at != scope;
            if owns || is_class_cell {
                it.cells.insert(name);
                return;
            }
            if it.kind != ScopeKind::Comprehension {
                it.free.insert(name);
            }
            at = it.parent;
        }
    }

    fn open(&mut self, scope: usize, kind: ScopeKind, parent: usize) {
        self.list[scope].kind = kind;
        self.list[scope].parent = parent;
    }

    fn bind(&mut self, scope: usize, name: Sym) {
        self.list[scope].bound.insert(name);
        self.list[scope].uses.insert(name);
    }

    fn block(&mut self, scope: usize, stmts: &[Stmt]) {
        for stmt in stmts {
            self.stmt(scope, stmt);
        }
    }

    fn stmt(&mut self, scope: usize, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Expr(it) => self.expr(scope, it),
            StmtKind::Assign { targets, value } => {
                self.expr(scope, value);
                targets.iter().for_each(|it| self.target(scope, it));
            }
            StmtKind::AugAssign { target, value, .. } => {
                self.expr(scope, target);
                self.expr(scope, value);
                self.target(scope, target);
            }
            StmtKind::AnnAssign { target, value, .. } => {
                value.iter().for_each(|it| self.expr(scope, it));
                self.target(scope, target);
            }
            StmtKind::Delete(targets) => targets.iter().for_each(|it| self.target(scope, it)),
            StmtKind::Return(value) => value.iter().for_each(|it| self.expr(scope, it)),
            StmtKind::If { test, body, orelse } | StmtKind::While { test, body, orelse } => {
                self.expr(scope, test);
                self.block(scope, body);
                self.block(scope, orelse);
            }
            StmtKind::For { target, iter, body, orelse } => {
                self.expr(scope, iter);
                self.target(scope, target);
                self.block(scope, body);
                self.block(scope, orelse);
            }
            StmtKind::Break | StmtKind::Continue | StmtKind::Pass => {}
            StmtKind::Function { function, decorators } => {
                decorators.iter().for_each(|it| self.expr(scope, it));
                self.bind(scope, function.name);
                self.function(scope, function);
            }
            StmtKind::Class(it) => self.class(scope, it),
            StmtKind::Import(imports) => {
                for it in imports {
                    let first = it.module.split('.').next().unwrap_or(&it.module);
                    self.bind(scope, it.name.unwrap_or_else(|| Sym::new(first)));
                }
            }
            StmtKind::ImportFrom { names, .. } => {
                names.iter().for_each(|it| self.bind(scope, it.to));
            }
            StmtKind::ImportStar { .. } => self.import_star(scope, stmt),
            StmtKind::Global(names) => {
                self.check_unused(scope, names, stmt, "global");
                self.list[scope].globals.extend(names);
            }
            StmtKind::Nonlocal(names) => {
                self.check_unused(scope, names, stmt, "nonlocal");
                self.nonlocal(scope, names, stmt);
            }
            StmtKind::With { items, body } => {
                for (context, target) in items {
                    self.expr(scope, context);
                    target.iter().for_each(|it| self.target(scope, it));
                }
                self.block(scope, body);
            }
            StmtKind::Step { step, body, .. } => {
                self.expr(scope, step);
                self.block(scope, body);
            }
            StmtKind::Try(it) => {
                self.block(scope, &it.body);
                for handler in &it.handlers {
                    handler.class.iter().for_each(|it| self.expr(scope, it));
                    handler.name.iter().for_each(|it| self.bind(scope, *it));
                    self.block(scope, &handler.body);
                }
                self.block(scope, &it.orelse);
                self.block(scope, &it.finally);
            }
            StmtKind::Raise { exc, cause } => {
                exc.iter().chain(cause).for_each(|it| self.expr(scope, it));
            }
            StmtKind::Assert { test, message } => {
                self.expr(scope, test);
                message.iter().for_each(|it| self.expr(scope, it));
            }
            StmtKind::Match { subject, cases } => {
                self.expr(scope, subject);
                for case in cases {
                    self.pattern(scope, &case.pattern);
                    case.guard.iter().for_each(|it| self.expr(scope, it));
                    self.block(scope, &case.body);
                }
            }
        }
    }

    fn import_star(&mut self, scope: usize, stmt: &Stmt) {
        if scope != 0 {
            self.report(stmt, "import * only allowed at module level");
        }
    }

    /// A name may not be used above the statement that says where it lives.
    fn check_unused(&mut self, scope: usize, names: &[Sym], stmt: &Stmt, kind: &str) {
        for name in names.iter().filter(|_| scope != 0) {
            let it = &self.list[scope];
            if it.bound.contains(name) {
                let what = format!("name '{name}' is assigned to before {kind} declaration");
                self.report(stmt, what);
            } else if it.uses.contains(name) {
                self.report(stmt, format!("name '{name}' is used prior to {kind} declaration"));
            }
        }
    }

    fn nonlocal(&mut self, scope: usize, names: &[Sym], stmt: &Stmt) {
        for name in names {
            self.list[scope].nonlocals.insert(*name);
            if self.place(scope, *name) != Place::Free && !self.is_bound_outside(scope, *name) {
                self.report(stmt, format!("no binding for nonlocal '{name}' found"));
            }
        }
    }

    /// A function may bind the name further down, so only the chain of functions counts.
    fn is_bound_outside(&self, scope: usize, _name: Sym) -> bool {
        let mut at = scope;
        while self.list[at].kind != ScopeKind::Module {
            at = self.list[at].parent;
            if self.list[at].kind == ScopeKind::Function {
                return true;
            }
        }
        false
    }

    fn report(&mut self, stmt: &Stmt, message: impl Into<String>) {
        let span = Span { source: self.source, start: stmt.range.start, end: stmt.range.end };
        self.diagnostics.push(Diagnostic::error("syntax", span, message));
    }

    fn function(&mut self, outer: usize, function: &Function) {
        let params = &function.params;
        for default in params.list.iter().filter_map(|it| it.default.as_ref()) {
            self.expr(outer, default);
        }
        let scope = function.scope;
        self.open(scope, ScopeKind::Function, outer);
        let names = params.list.iter().map(|it| it.name);
        for name in names.chain(params.rest).chain(params.keywords) {
            self.bind(scope, name);
        }
        self.block(scope, &function.body);
    }

    fn class(&mut self, outer: usize, class: &ClassDef) {
        class.decorators.iter().for_each(|it| self.expr(outer, it));
        class.base.iter().for_each(|it| self.expr(outer, it));
        class.keywords.iter().for_each(|(_, it)| self.expr(outer, it));
        self.bind(outer, class.name);
        self.open(class.scope, ScopeKind::Class, outer);
        self.block(class.scope, &class.body);
    }

    fn exprs(&mut self, scope: usize, exprs: &[Expr]) {
        exprs.iter().for_each(|it| self.expr(scope, it));
    }

    fn expr(&mut self, scope: usize, expr: &Expr) {
        match &expr.kind {
            ExprKind::Name(name) => {
                self.list[scope].uses.insert(*name);
                if name.as_str() == "super" {
                    self.list[scope].uses.insert(Sym::CLASS);
                }
            }
            ExprKind::FString(parts) => self.f_parts(scope, parts),
            ExprKind::Attribute { value, .. } => self.expr(scope, value),
            ExprKind::Subscript { value, index } => {
                self.expr(scope, value);
                self.expr(scope, index);
            }
            ExprKind::Slice { start, stop, step } => {
                [start, stop, step].into_iter().flatten().for_each(|it| self.expr(scope, it));
            }
            ExprKind::Call { func, args } => {
                self.expr(scope, func);
                for arg in args {
                    match arg {
                        Arg::Positional(it)
                        | Arg::Star(it)
                        | Arg::Keyword(_, it)
                        | Arg::StarStar(it) => self.expr(scope, it),
                    }
                }
            }
            ExprKind::Unary { value, .. } | ExprKind::Not(value) | ExprKind::Starred(value) => {
                self.expr(scope, value);
            }
            ExprKind::Binary { left, right, .. } => {
                self.expr(scope, left);
                self.expr(scope, right);
            }
            ExprKind::Compare { first, rest } => {
                self.expr(scope, first);
                rest.iter().for_each(|(_, it)| self.expr(scope, it));
            }
            ExprKind::And(items)
            | ExprKind::Or(items)
            | ExprKind::Tuple(items)
            | ExprKind::List(items)
            | ExprKind::Set(items) => self.exprs(scope, items),
            ExprKind::IfElse { test, body, orelse } => {
                [test, body, orelse].into_iter().for_each(|it| self.expr(scope, it));
            }
            ExprKind::Dict(entries) => {
                for (key, value) in entries {
                    key.iter().for_each(|it| self.expr(scope, it));
                    self.expr(scope, value);
                }
            }
            ExprKind::Lambda(it) => self.function(scope, it),
            ExprKind::Comprehension(it) => self.comprehension(scope, it),
            ExprKind::Walrus { name, value } => {
                self.expr(scope, value);
                self.walrus(scope, *name);
            }
            ExprKind::Yield(value) => value.iter().for_each(|it| self.expr(scope, it)),
            ExprKind::YieldFrom(value) => self.expr(scope, value),
            ExprKind::None
            | ExprKind::Bool(_)
            | ExprKind::Ellipsis
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Imaginary(_)
            | ExprKind::Str(_) => {}
        }
    }

    /// `:=` in a comprehension or generator expression binds in the scope around it.
    fn walrus(&mut self, scope: usize, name: Sym) {
        let mut owner = scope;
        let mut passed = Vec::new();
        while self.list[owner].is_expression {
            passed.push(owner);
            owner = self.list[owner].parent;
        }
        self.bind(owner, name);
        let is_global =
            self.list[owner].kind == ScopeKind::Module || self.list[owner].globals.contains(&name);
        for inner in passed {
            let it = &mut self.list[inner];
            it.uses.insert(name);
            if is_global {
                it.globals.insert(name)
            } else {
                it.nonlocals.insert(name)
            };
        }
    }

    fn f_parts(&mut self, scope: usize, parts: &[FPart]) {
        for part in parts {
            if let FPart::Value { value, spec, .. } = part {
                self.expr(scope, value);
                self.f_parts(scope, spec);
            }
        }
    }

    fn comprehension(&mut self, outer: usize, it: &Comprehension) {
        let lazy = it.kind == ComprehensionKind::Generator;
        let kind = if lazy { ScopeKind::Function } else { ScopeKind::Comprehension };
        self.open(it.scope, kind, outer);
        self.list[it.scope].is_expression = true;
        for (idx, clause) in it.clauses.iter().enumerate() {
            self.expr(if idx == 0 { outer } else { it.scope }, &clause.iter);
            self.target(it.scope, &clause.target);
            self.exprs(it.scope, &clause.tests);
        }
        self.expr(it.scope, &it.item);
        it.value.iter().for_each(|value| self.expr(it.scope, value));
    }

    fn target(&mut self, scope: usize, target: &Expr) {
        match &target.kind {
            ExprKind::Name(name) => self.bind(scope, *name),
            ExprKind::Tuple(items) | ExprKind::List(items) => {
                items.iter().for_each(|it| self.target(scope, it));
            }
            ExprKind::Starred(inner) => self.target(scope, inner),
            _ => self.expr(scope, target),
        }
    }

    fn pattern(&mut self, scope: usize, pattern: &Pattern) {
        match &pattern.kind {
            PatternKind::Any => {}
            PatternKind::Value(it) | PatternKind::Constant(it) => self.expr(scope, it),
            PatternKind::Capture(name) => self.bind(scope, *name),
            PatternKind::As(inner, name) => {
                self.pattern(scope, inner);
                self.bind(scope, *name);
            }
            PatternKind::Or(items) => items.iter().for_each(|it| self.pattern(scope, it)),
            PatternKind::Sequence(before, star, after) => {
                before.iter().chain(after).for_each(|it| self.pattern(scope, it));
                star.iter().flatten().for_each(|it| self.bind(scope, *it));
            }
            PatternKind::Mapping { keys, values, rest } => {
                self.exprs(scope, keys);
                values.iter().for_each(|it| self.pattern(scope, it));
                rest.iter().for_each(|it| self.bind(scope, *it));
            }
            PatternKind::Class { class, positional, keywords } => {
                self.expr(scope, class);
                positional.iter().for_each(|it| self.pattern(scope, it));
                keywords.iter().for_each(|(_, it)| self.pattern(scope, it));
            }
        }
    }
}

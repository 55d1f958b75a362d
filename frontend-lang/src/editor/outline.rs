//! Names that a text binds, and what they will mean, read from its tree: cells under edit and modules that nobody has imported.
//!
//! The tree is that of a text with mistakes, so all of this is a guess that is right for what stands there in full.

use std::cell::RefCell;
use std::sync::Arc;

use ruff_python_ast::{self as py, Expr, Stmt};

use super::infer::{self, Names, range};
use super::library;
use super::subject::{Members, Param, Snapshot, Subject};
use crate::params::Kind;

/// The tree of a text, over names that are known.
pub(super) struct Outline<'a> {
    text: &'a str,
    tree: py::Mod,
    known: &'a Snapshot,
    /// Whether what methods compute is left open: it would draw in module after module.
    is_library: bool,
}

/// Names of one scope while its statements are read.
struct Scope<'a> {
    outline: &'a Outline<'a>,
    outer: Option<&'a Scope<'a>>,
    names: RefCell<Members>,
}

impl Names for Scope<'_> {
    fn name(&self, name: &str) -> Option<Arc<Subject>> {
        let own = self.names.borrow().get(name).cloned();
        own.or_else(|| match self.outer {
            Some(outer) => outer.name(name),
            None => self.outline.known.name(name),
        })
    }
}

impl<'a> Outline<'a> {
    /// Reads a text.
    pub(super) fn new(text: &'a str, known: &'a Snapshot) -> Self {
        let tree = crate::adapter::read(text).into_syntax();
        Self { text, tree, known, is_library: false }
    }

    /// Reads a module that comes with the language.
    pub(super) fn of_library(text: &'a str, known: &'a Snapshot) -> Self {
        Self { is_library: true, ..Self::new(text, known) }
    }

    /// The text that the module opens with.
    pub(super) fn doc(&self) -> Option<String> {
        doc(self.body())
    }

    /// The names in `__all__`, if the module has it.
    pub(super) fn exports(&self) -> Option<Vec<&str>> {
        self.body().iter().find_map(|stmt| {
            let Stmt::Assign(it) = stmt else { return None };
            let target = it.targets.first()?.as_name_expr()?;
            let list = it.value.as_list_expr().filter(|_| target.id.as_str() == "__all__")?;
            let texts = list.elts.iter().filter_map(Expr::as_string_literal_expr);
            Some(texts.map(|it| it.value.to_str()).collect())
        })
    }

    /// Names that the module binds.
    pub(super) fn names(&self) -> Members {
        let scope = self.scope(None);
        scope.block(self.body());
        scope.names.into_inner()
    }

    /// Names that the text binds and that can be seen at a place of it.
    pub(super) fn names_at(&self, at: usize) -> Members {
        let mut found = Members::new();
        let scope = self.scope(None);
        scope.block(self.body());
        scope.descend(self.body(), at, &mut found);
        for (name, subject) in scope.names.into_inner() {
            found.entry(name).or_insert(subject);
        }
        found
    }

    fn scope(&'a self, outer: Option<&'a Scope<'a>>) -> Scope<'a> {
        Scope { outline: self, outer, names: RefCell::default() }
    }

    fn body(&self) -> &[Stmt] {
        match &self.tree {
            py::Mod::Module(it) => &it.body,
            py::Mod::Expression(_) => &[],
        }
    }

    fn slice(&self, node: &impl ruff_text_size::Ranged) -> &'a str {
        self.text.get(range(node)).unwrap_or_default()
    }

    /// Whether a place is inside a definition, or on a new line that is indented more.
    fn holds(&self, node: &impl ruff_text_size::Ranged, at: usize) -> bool {
        let range = range(node);
        if range.contains(&at) || range.end == at {
            return true;
        }
        let Some(gap) = self.text.get(range.end..at).filter(|it| it.trim().is_empty()) else {
            return false;
        };
        let column = |at: usize| at - self.text[..at].rfind('\n').map_or(0, |it| it + 1);
        gap.contains('\n') && column(at) > column(range.start)
    }
}

impl<'a> Scope<'a> {
    fn add(&self, name: &str, subject: impl Into<Arc<Subject>>) {
        self.names.borrow_mut().insert(name.to_owned(), subject.into());
    }

    fn block(&self, body: &[Stmt]) {
        body.iter().for_each(|it| self.stmt(it));
    }

    fn stmt(&self, stmt: &Stmt) {
        match stmt {
            Stmt::FunctionDef(it) => {
                let subject = self.function(it);
                self.add(it.name.as_str(), subject);
            }
            Stmt::ClassDef(it) => {
                let subject = self.class(it);
                self.add(it.name.as_str(), subject);
            }
            Stmt::Assign(it) => {
                let value = infer::infer(&it.value, self);
                it.targets.iter().for_each(|target| self.bind(target, value.clone()));
            }
            Stmt::AnnAssign(it) => {
                let value = it.value.as_ref().and_then(|it| infer::infer(it, self));
                self.bind(&it.target, value.or_else(|| self.annotated(&it.annotation)));
            }
            Stmt::AugAssign(it) => {
                let value = infer::infer(&it.target, self);
                self.bind(&it.target, value);
            }
            Stmt::Import(it) => it.names.iter().for_each(|it| self.import(it)),
            Stmt::ImportFrom(it) => self.import_from(it),
            Stmt::For(it) => {
                let item = infer::infer(&it.iter, self).and_then(|it| it.item.clone());
                self.bind(&it.target, item);
                self.block(&it.body);
                self.block(&it.orelse);
            }
            Stmt::While(it) => {
                self.block(&it.body);
                self.block(&it.orelse);
            }
            Stmt::If(it) => {
                self.block(&it.body);
                it.elif_else_clauses.iter().for_each(|it| self.block(&it.body));
            }
            Stmt::With(it) => {
                for item in &it.items {
                    if let Some(target) = &item.optional_vars {
                        self.bind(target, infer::infer(&item.context_expr, self));
                    }
                }
                self.block(&it.body);
            }
            Stmt::Try(it) => self.try_stmt(it),
            Stmt::Match(it) => it.cases.iter().for_each(|it| self.block(&it.body)),
            _ => {}
        }
    }

    fn try_stmt(&self, it: &py::StmtTry) {
        self.block(&it.body);
        for handler in &it.handlers {
            let py::ExceptHandler::ExceptHandler(handler) = handler;
            if let Some(name) = &handler.name {
                let class = handler.type_.as_ref().and_then(|it| infer::infer(it, self));
                let value = class.map(|it| Subject::instance_of(&it));
                self.add(name.as_str(), value.unwrap_or_else(|| Subject::of("instance")));
            }
            self.block(&handler.body);
        }
        self.block(&it.orelse);
        self.block(&it.finalbody);
    }

    fn bind(&self, target: &Expr, value: Option<Arc<Subject>>) {
        match target {
            Expr::Name(it) if !it.id.is_empty() => {
                self.add(
                    it.id.as_str(),
                    value.unwrap_or_else(|| Arc::new(Subject::of("instance"))),
                );
            }
            Expr::Tuple(it) => self.bind_all(&it.elts, value),
            Expr::List(it) => self.bind_all(&it.elts, value),
            Expr::Starred(it) => self.bind(&it.value, None),
            _ => {}
        }
    }

    fn bind_all(&self, targets: &[Expr], value: Option<Arc<Subject>>) {
        let item = value.and_then(|it| it.item.clone());
        targets.iter().for_each(|it| self.bind(it, item.clone()));
    }

    fn import(&self, alias: &py::Alias) {
        let name = alias.name.as_str();
        let (bound, module) = match &alias.asname {
            Some(own) => (own.as_str(), name),
            None => name.split_once('.').map_or((name, name), |it| (it.0, it.0)),
        };
        if let Some(found) = self.module(module) {
            self.add(bound, found);
        }
    }

    fn import_from(&self, it: &py::StmtImportFrom) {
        let Some(name) = it.module.as_ref().map(|it| it.as_str()) else { return };
        let module = self.outline.known.module(name);
        let members = module.map(|it| it.members()).unwrap_or_default();
        for alias in &it.names {
            let wanted = alias.name.as_str();
            if wanted == "*" {
                let public = members.iter().filter(|it| !it.0.starts_with('_'));
                public.for_each(|(name, it)| self.add(name, it.clone()));
                continue;
            }
            let found =
                members.get(wanted).cloned().or_else(|| self.module(&format!("{name}.{wanted}")));
            let bound = alias.asname.as_ref().unwrap_or(&alias.name);
            if !bound.is_empty() {
                self.add(
                    bound.as_str(),
                    found.unwrap_or_else(|| Arc::new(Subject::of("instance"))),
                );
            }
        }
    }

    fn module(&self, name: &str) -> Option<Arc<Subject>> {
        library::module_value(name).or_else(|| self.outline.known.modules.get(name).cloned())
    }

    fn function(&self, it: &py::StmtFunctionDef) -> Subject {
        Subject {
            name: it.name.to_string(),
            own_params: params(self.outline, &it.parameters),
            own_doc: doc(&it.body).unwrap_or_default(),
            source: self.outline.slice(it).into(),
            ..Subject::of("function")
        }
    }

    fn class(&self, it: &py::StmtClassDef) -> Subject {
        let base = it.arguments.as_ref().and_then(|it| it.args.first());
        let base = base.and_then(|it| infer::infer(it, self));
        let mut members = base.map(|it| (*it.members()).clone()).unwrap_or_default();
        let inside = Scope { outline: self.outline, outer: Some(self), names: RefCell::default() };
        inside.block(&it.body);
        for method in it.body.iter().filter_map(Stmt::as_function_def_stmt) {
            inside.attributes_set(method, &mut members);
            let is_property = method.decorator_list.iter().any(|it| {
                it.expression.as_name_expr().is_some_and(|it| it.id.as_str() == "property")
            });
            if is_property {
                let own_doc = doc(&method.body).unwrap_or_default();
                inside.add(method.name.as_str(), Subject { own_doc, ..Subject::of("property") });
            }
        }
        members.extend(inside.names.into_inner());
        Subject {
            name: it.name.to_string(),
            own_doc: doc(&it.body).unwrap_or_default(),
            source: self.outline.slice(it).into(),
            own_members: Arc::new(members),
            ..Subject::of("class")
        }
    }

    /// Attributes that a method gives to its first parameter.
    fn attributes_set(&self, method: &py::StmtFunctionDef, members: &mut Members) {
        let Some(this) = method.parameters.args.first().map(|it| it.parameter.name.as_str()) else {
            return;
        };
        let scope = Scope { outline: self.outline, outer: Some(self), names: RefCell::default() };
        if !self.outline.is_library {
            scope.parameters(&method.parameters, None);
        }
        let set = |target: &Expr, value: Option<Arc<Subject>>, members: &mut Members| {
            let Expr::Attribute(it) = target else { return };
            let is_own = it.value.as_name_expr().is_some_and(|it| it.id.as_str() == this);
            if is_own && !it.attr.is_empty() {
                let value = value.unwrap_or_else(|| Arc::new(Subject::of("instance")));
                members.insert(it.attr.to_string(), value);
            }
        };
        each_stmt(&method.body, &mut |stmt| match stmt {
            Stmt::Assign(it) => {
                let value = scope.value_in_method(&it.value);
                it.targets.iter().for_each(|target| {
                    set(target, value.clone(), members);
                    scope.bind(target, value.clone());
                });
            }
            Stmt::AnnAssign(it) => {
                let value = it.value.as_ref().and_then(|it| scope.value_in_method(it));
                set(&it.target, value, members);
            }
            _ => {}
        });
    }

    /// What a method computes; in the library only parameters of layers are told, by how they are written.
    fn value_in_method(&self, value: &Expr) -> Option<Arc<Subject>> {
        if !self.outline.is_library {
            return infer::infer(value, self);
        }
        self.outline.slice(value).starts_with("torch.Parameter(").then(infer::tensor)
    }

    fn parameters(&self, params: &py::Parameters, this: Option<Arc<Subject>>) {
        for (at, param) in params.iter().enumerate() {
            let parameter = param.as_parameter();
            let hinted = parameter.annotation.as_ref().and_then(|it| self.annotated(it));
            let default = param.default().and_then(|it| infer::infer(it, self));
            let this = this.clone().filter(|_| at == 0);
            let value = this.or(hinted).or(default);
            self.add(
                parameter.name.as_str(),
                value.unwrap_or_else(|| Arc::new(Subject::of("instance"))),
            );
        }
    }

    /// A value that an annotation describes: `Tensor["N", 3]`, `str`, a class.
    fn annotated(&self, annotation: &Expr) -> Option<Arc<Subject>> {
        let class = match annotation {
            Expr::Subscript(it) => &it.value,
            other => other,
        };
        let name = match class {
            Expr::Name(it) => it.id.as_str(),
            Expr::Attribute(it) => it.attr.as_str(),
            _ => return None,
        };
        if matches!(name, "Tensor" | "f32" | "f64" | "i64" | "i32") {
            return Some(infer::tensor());
        }
        let class = infer::infer(class, self).filter(|it| it.kind == "class")?;
        Some(Arc::new(Subject::instance_of(&class)))
    }

    /// Adds what the definitions around a place bind, innermost first.
    fn descend(&self, body: &[Stmt], at: usize, found: &mut Members) {
        each_stmt(body, &mut |stmt| match stmt {
            Stmt::FunctionDef(it) if self.outline.holds(it, at) => {
                self.inside_function(it, None, at, found);
            }
            Stmt::ClassDef(it) if self.outline.holds(it, at) => {
                let class = self.class(it);
                let methods = it.body.iter().filter_map(Stmt::as_function_def_stmt);
                let around = methods.filter(|it| self.outline.holds(*it, at)).last();
                match around {
                    Some(method) => {
                        let this = Arc::new(Subject::instance_of(&class));
                        self.inside_function(method, Some(this), at, found);
                    }
                    None => found.extend((*class.members()).clone()),
                }
            }
            _ => {}
        });
    }

    fn inside_function(
        &self,
        it: &py::StmtFunctionDef,
        this: Option<Arc<Subject>>,
        at: usize,
        found: &mut Members,
    ) {
        let scope = Scope { outline: self.outline, outer: Some(self), names: RefCell::default() };
        scope.parameters(&it.parameters, this);
        scope.block(&it.body);
        scope.descend(&it.body, at, found);
        for (name, subject) in scope.names.into_inner() {
            found.entry(name).or_insert(subject);
        }
    }
}

/// Statements of a body and of the blocks in it; not of the definitions in it.
fn each_stmt<'a>(body: &'a [Stmt], visit: &mut dyn FnMut(&'a Stmt)) {
    for stmt in body {
        visit(stmt);
        let mut blocks: Vec<&'a [Stmt]> = Vec::new();
        match stmt {
            Stmt::For(it) => blocks.extend([&it.body[..], &it.orelse[..]]),
            Stmt::While(it) => blocks.extend([&it.body[..], &it.orelse[..]]),
            Stmt::With(it) => blocks.push(&it.body),
            Stmt::If(it) => {
                blocks.push(&it.body);
                blocks.extend(it.elif_else_clauses.iter().map(|it| &it.body[..]));
            }
            Stmt::Try(it) => {
                blocks.extend([&it.body[..], &it.orelse[..], &it.finalbody[..]]);
                blocks.extend(it.handlers.iter().map(|it| {
                    let py::ExceptHandler::ExceptHandler(it) = it;
                    &it.body[..]
                }));
            }
            Stmt::Match(it) => blocks.extend(it.cases.iter().map(|it| &it.body[..])),
            _ => {}
        }
        blocks.into_iter().for_each(|it| each_stmt(it, visit));
    }
}

fn params(outline: &Outline<'_>, params: &py::Parameters) -> Vec<Param> {
    let param = |it: &py::Parameter, kind: Kind, default: Option<&Expr>| Param {
        name: it.name.to_string(),
        kind,
        hint: it.annotation.as_ref().map(|it| outline.slice(&**it).to_owned()).unwrap_or_default(),
        default: default.map(|it| outline.slice(it).to_owned()),
    };
    let with_default = |kind: Kind| {
        move |it: &py::ParameterWithDefault| param(&it.parameter, kind, it.default.as_deref())
    };
    let mut list: Vec<Param> =
        params.posonlyargs.iter().map(with_default(Kind::PositionalOnly)).collect();
    list.extend(params.args.iter().map(with_default(Kind::Both)));
    list.extend(params.vararg.iter().map(|it| param(it, Kind::Rest, None)));
    list.extend(params.kwonlyargs.iter().map(with_default(Kind::KeywordOnly)));
    list.extend(params.kwarg.iter().map(|it| param(it, Kind::Keywords, None)));
    list
}

/// The string that a body opens with.
fn doc(body: &[Stmt]) -> Option<String> {
    let text = body.first()?.as_expr_stmt()?.value.as_string_literal_expr()?;
    Some(text.value.to_str().to_owned())
}

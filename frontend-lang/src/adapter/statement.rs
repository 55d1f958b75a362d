//! Statements.

use std::rc::Rc;

use ruff_python_ast as py;

use super::Lower;
use super::expression::binary_op;
use crate::ast::*;
use crate::sym::Sym;

impl Lower<'_> {
    pub(super) fn block(&mut self, nodes: &[py::Stmt]) -> Vec<Stmt> {
        nodes.iter().filter_map(|it| self.stmt(it)).collect()
    }

    fn stmt(&mut self, node: &py::Stmt) -> Option<Stmt> {
        let kind = if self.descend(node) { self.stmt_kind(node) } else { None };
        self.ascend();
        Some(Stmt { range: self.range(node), kind: kind? })
    }

    fn stmt_kind(&mut self, node: &py::Stmt) -> Option<StmtKind> {
        Some(match node {
            py::Stmt::Expr(it) => StmtKind::Expr(self.expr(&it.value)),
            py::Stmt::Assign(it) => {
                let value = self.assigned(&it.targets, &it.value);
                StmtKind::Assign { value, targets: self.exprs(&it.targets) }
            }
            py::Stmt::AugAssign(it) => StmtKind::AugAssign {
                target: self.expr(&it.target),
                op: binary_op(it.op),
                value: self.expr(&it.value),
            },
            py::Stmt::AnnAssign(it) => StmtKind::AnnAssign {
                target: self.expr(&it.target),
                annotation: self.source_text(&*it.annotation),
                value: it.value.as_ref().map(|value| self.expr(value)),
            },
            py::Stmt::Delete(it) => StmtKind::Delete(self.exprs(&it.targets)),
            py::Stmt::Return(it) => {
                if self.yields.len() < 2 {
                    self.mistake(node, "'return' outside function");
                }
                StmtKind::Return(it.value.as_ref().map(|value| self.expr(value)))
            }
            py::Stmt::If(it) => self.if_stmt(it),
            py::Stmt::While(it) => StmtKind::While {
                test: self.expr(&it.test),
                body: self.block(&it.body),
                orelse: self.block(&it.orelse),
            },
            py::Stmt::For(it) => {
                self.refuse_async(it.is_async, node, "`async for` is", "use `for`");
                StmtKind::For {
                    target: self.expr(&it.target),
                    iter: self.expr(&it.iter),
                    body: self.block(&it.body),
                    orelse: self.block(&it.orelse),
                }
            }
            py::Stmt::Break(_) => StmtKind::Break,
            py::Stmt::Continue(_) => StmtKind::Continue,
            py::Stmt::Pass(_) => StmtKind::Pass,
            py::Stmt::FunctionDef(it) => self.function(it),
            py::Stmt::ClassDef(it) => StmtKind::Class(Rc::new(self.class(it))),
            py::Stmt::Import(it) => StmtKind::Import(
                it.names
                    .iter()
                    .map(|alias| Import {
                        module: alias.name.to_string(),
                        name: alias.asname.as_ref().map(|it| self.name(it)),
                        range: self.range(alias),
                    })
                    .collect(),
            ),
            py::Stmt::ImportFrom(it) => self.import_from(it),
            py::Stmt::Global(it) => {
                StmtKind::Global(it.names.iter().map(|it| self.name(it)).collect())
            }
            py::Stmt::Nonlocal(it) => {
                StmtKind::Nonlocal(it.names.iter().map(|it| self.name(it)).collect())
            }
            py::Stmt::With(it) => {
                self.refuse_async(it.is_async, node, "`async with` is", "use `with`");
                let items = it.items.iter().map(|item| {
                    let target = item.optional_vars.as_ref();
                    (self.expr(&item.context_expr), target.map(|it| self.expr(it)))
                });
                let items = items.collect();
                StmtKind::With { items, body: self.block(&it.body) }
            }
            py::Stmt::Try(it) => self.try_stmt(it),
            py::Stmt::Raise(it) => StmtKind::Raise {
                exc: it.exc.as_ref().map(|it| self.expr(it)),
                cause: it.cause.as_ref().map(|it| self.expr(it)),
            },
            py::Stmt::Assert(it) => StmtKind::Assert {
                test: self.expr(&it.test),
                message: it.msg.as_ref().map(|it| self.expr(it)),
            },
            py::Stmt::Match(it) => {
                let subject = self.expr(&it.subject);
                StmtKind::Match {
                    subject,
                    cases: it.cases.iter().map(|it| self.case(it)).collect(),
                }
            }
            py::Stmt::TypeAlias(_) => {
                self.refuse(
                    node,
                    "the `type` statement is",
                    "leave it out: annotations are free text",
                );
                return None;
            }
            py::Stmt::IpyEscapeCommand(it) => self.command(it)?,
        })
    }

    fn refuse_async(&mut self, is_async: bool, node: &py::Stmt, what: &str, help: &str) {
        if is_async {
            self.refuse(node, what, help);
        }
    }

    fn if_stmt(&mut self, node: &py::StmtIf) -> StmtKind {
        let test = self.expr(&node.test);
        let body = self.block(&node.body);
        let orelse = self.elif(&node.elif_else_clauses);
        StmtKind::If { test, body, orelse }
    }

    fn elif(&mut self, clauses: &[py::ElifElseClause]) -> Vec<Stmt> {
        let mut orelse = Vec::new();
        for clause in clauses.iter().rev() {
            let body = self.block(&clause.body);
            match &clause.test {
                None => orelse = body,
                Some(test) => {
                    let range = self.range(clause);
                    let kind = StmtKind::If { test: self.expr(test), body, orelse };
                    orelse = vec![Stmt { range, kind }];
                }
            }
        }
        orelse
    }

    fn import_from(&mut self, node: &py::StmtImportFrom) -> StmtKind {
        let name = node.module.as_ref().map(ToString::to_string).unwrap_or_default();
        let module = ".".repeat(node.level as usize) + &name;
        if module == "__future__" {
            return StmtKind::Pass;
        }
        if node.names.iter().any(|it| it.name.as_str() == "*") {
            return StmtKind::ImportStar { module };
        }
        let names = node.names.iter().map(|alias| ImportName {
            name: self.name(&alias.name),
            to: self.name(alias.asname.as_ref().unwrap_or(&alias.name)),
            range: self.range(alias),
        });
        StmtKind::ImportFrom { module, names: names.collect() }
    }

    fn try_stmt(&mut self, node: &py::StmtTry) -> StmtKind {
        if node.is_star {
            self.refuse(node, "`except*` is", "use `except`");
        }
        let handlers = node.handlers.iter().map(|handler| {
            let py::ExceptHandler::ExceptHandler(it) = handler;
            Handler {
                range: self.range(it),
                class: it.type_.as_ref().map(|it| self.expr(it)),
                name: it.name.as_ref().map(|it| self.name(it)),
                body: self.block(&it.body),
            }
        });
        let handlers = handlers.collect();
        StmtKind::Try(Box::new(Try {
            body: self.block(&node.body),
            handlers,
            orelse: self.block(&node.orelse),
            finally: self.block(&node.finalbody),
        }))
    }

    fn function(&mut self, node: &py::StmtFunctionDef) -> StmtKind {
        if node.is_async {
            self.refuse(&node.name, "`async def` is", "use `def`");
        }
        let decorators = self.decorators(&node.decorator_list);
        let scope = self.scope();
        let (params, mut annotations) = self.parameters(&node.parameters);
        if let Some(returns) = &node.returns {
            annotations.push((Sym::new("return"), self.source_text(&**returns)));
        }
        self.yields.push(false);
        let body = self.block(&node.body);
        let is_generator = self.yields.pop().unwrap_or(false);
        let function = Function {
            scope,
            name: self.name(&node.name),
            name_range: self.range(&node.name),
            range: self.range(node),
            params,
            doc: doc_of(&body),
            body,
            is_generator,
            annotations,
            type_params: self.type_params(&node.type_params),
        };
        StmtKind::Function { function: Rc::new(function), decorators }
    }

    fn type_params(&self, params: &Option<Box<py::TypeParams>>) -> Vec<Sym> {
        let params = params.iter().flat_map(|it| it.type_params.iter());
        let names = params.map(|it| match it {
            py::TypeParam::TypeVar(it) => self.name(&it.name),
            py::TypeParam::TypeVarTuple(it) => self.name(&it.name),
            py::TypeParam::ParamSpec(it) => self.name(&it.name),
        });
        names.collect()
    }

    fn decorators(&mut self, nodes: &[py::Decorator]) -> Vec<Expr> {
        nodes.iter().map(|it| self.expr(&it.expression)).collect()
    }

    pub(super) fn parameters(&mut self, node: &py::Parameters) -> (Params, Vec<(Sym, String)>) {
        let mut annotations = Vec::new();
        let mut params = Params {
            positional_only: node.posonlyargs.len(),
            positional: node.posonlyargs.len() + node.args.len(),
            ..Params::default()
        };
        for it in node.posonlyargs.iter().chain(&node.args).chain(&node.kwonlyargs) {
            let name = self.name(&it.parameter.name);
            if params.list.iter().any(|it| it.name == name) {
                self.mistake(it, format!("duplicate argument '{name}' in function definition"));
            }
            if let Some(annotation) = &it.parameter.annotation {
                annotations.push((name, self.source_text(&**annotation)));
            }
            let default = it.default.as_ref().map(|it| self.expr(it));
            params.list.push(Param { name, default });
        }
        for (star, slot) in [(&node.vararg, false), (&node.kwarg, true)] {
            let Some(it) = star else { continue };
            let name = self.name(&it.name);
            if let Some(annotation) = &it.annotation {
                // That of `*args` stands before those of keyword-only parameters.
                let positional = node.posonlyargs.iter().chain(&node.args);
                let before = positional.filter(|it| it.parameter.annotation.is_some()).count();
                let place = if slot { annotations.len() } else { before };
                annotations.insert(place, (name, self.source_text(&**annotation)));
            }
            *(if slot { &mut params.keywords } else { &mut params.rest }) = Some(name);
        }
        (params, annotations)
    }

    /// The base of a class, and whether square brackets may follow its name.
    fn base(&mut self, node: &py::StmtClassDef) -> (Option<Expr>, bool) {
        let for_types = |it: &&py::Expr| matches!(last_name(it), "Generic" | "Protocol");
        let bases: Vec<&py::Expr> = node.bases().iter().filter(|it| !for_types(it)).collect();
        let is_generic = node.type_params.is_some() || node.bases().iter().any(|it| for_types(&it));
        let base = match bases.as_slice() {
            [] => node.bases().first().map(|it| self.expr(it)),
            [one] => Some(self.expr(one)),
            [kind, constants]
                if matches!(last_name(kind), "str" | "int")
                    && matches!(last_name(constants), "Enum" | "Flag") =>
            {
                Some(self.mixed_base(kind, constants))
            }
            [_, second, ..] => {
                let help = "keep one base class, and hold an object of the other in an attribute";
                self.refuse(*second, "a second base class is", help);
                None
            }
        };
        (base, is_generic)
    }

    /// `str, Enum`: the enumeration says which class is both.
    fn mixed_base(&mut self, kind: &py::Expr, constants: &py::Expr) -> Expr {
        let range = self.range(constants);
        let value = Box::new(self.expr(constants));
        let name = Sym::new("_mixed_with");
        let func = Expr { range, kind: ExprKind::Attribute { value, name, name_range: range } };
        let args = vec![Arg::Positional(self.expr(kind))];
        Expr { range, kind: ExprKind::Call { func: Box::new(func), args } }
    }

    fn class(&mut self, node: &py::StmtClassDef) -> ClassDef {
        let decorators = self.decorators(&node.decorator_list);
        let scope = self.scope();
        let mut keywords = Vec::new();
        for keyword in node.keywords() {
            match &keyword.arg {
                Some(name) if name.as_str() == "metaclass" => {
                    self.refuse(keyword, "a metaclass is", "use a decorator on the class");
                }
                Some(name) => keywords.push((self.name(name), self.expr(&keyword.value))),
                None => self.refuse(keyword, "`**` in a class line is", "write the arguments out"),
            }
        }
        let (base, is_generic) = self.base(node);
        self.yields.push(false);
        let outside = std::mem::replace(&mut self.yields, vec![false]);
        self.classes.push(node.name.to_string());
        let mut body = self.block(&node.body);
        let doc = doc_of(&body);
        if is_generic {
            let range = self.range(&node.name);
            let target = Expr { range, kind: ExprKind::Name(Sym::TYPE_PARAMS) };
            let value = Expr { range, kind: ExprKind::Tuple(Vec::new()) };
            body.insert(0, Stmt { range, kind: StmtKind::Assign { targets: vec![target], value } });
        }
        self.classes.pop();
        self.yields = outside;
        self.yields.pop();
        ClassDef {
            scope,
            name: self.name(&node.name),
            range: self.range(node),
            name_range: self.range(&node.name),
            base,
            keywords,
            decorators,
            doc,
            body,
        }
    }
}

/// The last name of `Generic[T]`, `typing.Generic`, `Enum`.
fn last_name(base: &py::Expr) -> &str {
    match base {
        py::Expr::Name(it) => it.id.as_str(),
        py::Expr::Attribute(it) => it.attr.as_str(),
        py::Expr::Subscript(it) => last_name(&it.value),
        _ => "",
    }
}

/// The text of a string that opens a body.
fn doc_of(body: &[Stmt]) -> Option<String> {
    match &body.first()?.kind {
        StmtKind::Expr(Expr { kind: ExprKind::Str(text), .. }) => Some(text.clone()),
        _ => None,
    }
}

//! Where names of the session were bound last: the cell and the line.

use rustc_hash::FxHashMap;

use crate::ast::{Expr, ExprKind, Module, Range, Stmt, StmtKind};
use crate::source::{Sources, Span};
use crate::sym::Sym;

/// Where each global name was bound.
pub(crate) type Places = FxHashMap<Sym, Span>;

/// Global names that the statements of a cell bind, in their order.
pub(crate) fn bindings(module: &Module) -> Vec<(Sym, Range)> {
    let mut found = Vec::new();
    block(&module.body, &mut found);
    found
}

/// `In[3], line 2`.
pub(crate) fn place(sources: &Sources, span: Span) -> String {
    let Some(source) = sources.get(span.source) else { return String::new() };
    let (line, _) = source.line_column(span.start);
    format!("{}, line {line}", source.name)
}

fn block(body: &[Stmt], found: &mut Vec<(Sym, Range)>) {
    body.iter().for_each(|it| stmt(it, found));
}

fn stmt(stmt: &Stmt, found: &mut Vec<(Sym, Range)>) {
    match &stmt.kind {
        StmtKind::Assign { targets, .. } => targets.iter().for_each(|it| target(it, found)),
        StmtKind::AugAssign { target: it, .. } | StmtKind::AnnAssign { target: it, .. } => {
            target(it, found)
        }
        StmtKind::If { body, orelse, .. } | StmtKind::While { body, orelse, .. } => {
            block(body, found);
            block(orelse, found);
        }
        StmtKind::For { target: it, body, orelse, .. } => {
            target(it, found);
            block(body, found);
            block(orelse, found);
        }
        StmtKind::Function { function, .. } => found.push((function.name, function.name_range)),
        StmtKind::Class(class) => found.push((class.name, class.name_range)),
        StmtKind::Import(list) => {
            let first = |module: &str| Sym::new(module.split('.').next().unwrap_or(module));
            let name = |it: &crate::ast::Import| it.name.unwrap_or_else(|| first(&it.module));
            found.extend(list.iter().map(|it| (name(it), it.range)));
        }
        StmtKind::ImportFrom { names, .. } => {
            found.extend(names.iter().map(|it| (it.to, it.range)))
        }
        StmtKind::With { items, body } => {
            items.iter().filter_map(|it| it.1.as_ref()).for_each(|it| target(it, found));
            block(body, found);
        }
        StmtKind::Try(it) => {
            block(&it.body, found);
            it.handlers.iter().for_each(|it| block(&it.body, found));
            block(&it.orelse, found);
            block(&it.finally, found);
        }
        StmtKind::Match { cases, .. } => cases.iter().for_each(|it| block(&it.body, found)),
        _ => {}
    }
}

fn target(expr: &Expr, found: &mut Vec<(Sym, Range)>) {
    match &expr.kind {
        ExprKind::Name(name) => found.push((*name, expr.range)),
        ExprKind::Tuple(items) | ExprKind::List(items) => {
            items.iter().for_each(|it| target(it, found))
        }
        ExprKind::Starred(it) => target(it, found),
        _ => {}
    }
}

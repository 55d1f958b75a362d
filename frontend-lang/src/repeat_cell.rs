//! `%timeit`: a cell run many times, as the body of a loop in a function, where names are fast.
//!
//! The tree is rewritten, not the text, so that errors point at what the user wrote.

use std::rc::Rc;

use crate::ast::{Arg, Expr, ExprKind, Function, Module, Params, Range, Stmt, StmtKind};
use crate::sym::Sym;

/// Makes of a module one that runs its statements `count` times.
pub fn repeat(module: &mut Module, count: usize) {
    let mut body = std::mem::take(&mut module.body);
    if body.is_empty() {
        body.push(statement(StmtKind::Pass));
    }
    // The place of a call that is not the user's: empty, so tracebacks leave it out.
    let target = name("__run__");
    let iter = call("range", vec![Arg::Positional(expr(ExprKind::Int(count as i64)))]);
    let looped = statement(StmtKind::For { target, iter, body, orelse: Vec::new() });
    let function = Function {
        scope: module.scopes,
        name: Sym::new("<module>"),
        name_range: Range::default(),
        range: Range::default(),
        params: Params::default(),
        body: vec![looped],
        is_generator: false,
        doc: None,
        annotations: Vec::new(),
        type_params: Vec::new(),
    };
    module.scopes += 1;
    let lambda = expr(ExprKind::Lambda(Rc::new(function)));
    let run = ExprKind::Call { func: Box::new(lambda), args: Vec::new() };
    module.body.push(statement(StmtKind::Expr(expr(run))));
}

fn expr(kind: ExprKind) -> Expr {
    Expr { range: Range::default(), kind }
}

fn statement(kind: StmtKind) -> Stmt {
    Stmt { range: Range::default(), kind }
}

fn name(text: &str) -> Expr {
    expr(ExprKind::Name(Sym::new(text)))
}

fn call(function: &str, args: Vec<Arg>) -> Expr {
    expr(ExprKind::Call { func: Box::new(name(function)), args })
}

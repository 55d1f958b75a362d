//! `%trace` for a whole cell: the body of each innermost loop of the cell becomes one traced step.
//!
//! A step is an ordinary `with` statement around the body, so `break`, `continue` and exceptions end it as they should. What feeds
//! the loop (its iterator) stays outside and runs eagerly. A cell without a loop is one step as a whole.

use crate::ast::{Expr, ExprKind, Module, Range, Stmt, StmtKind};
use crate::sym::Sym;

/// The name that holds the value of the last expression of a cell that is one step.
pub const VALUE: &str = "__trace_value__";

/// The global name of step number `at`.
pub fn step_name(at: usize) -> String {
    format!("__trace_step_{at}__")
}

/// Puts the steps into a cell; gives the loop of each, `None` for a step that is the whole cell.
pub fn add_steps(module: &mut Module) -> Vec<Option<Range>> {
    let mut loops = Vec::new();
    add_to_block(&mut module.body, &mut loops);
    if loops.is_empty() && !module.body.is_empty() {
        whole(module);
        return vec![None];
    }
    loops.into_iter().map(Some).collect()
}

/// Looks for loops in a block of the cell itself; functions and classes keep theirs.
fn add_to_block(block: &mut [Stmt], loops: &mut Vec<Range>) {
    for stmt in block {
        match &mut stmt.kind {
            StmtKind::For { body, orelse, .. } | StmtKind::While { body, orelse, .. } => {
                let before = loops.len();
                add_to_block(body, loops);
                if loops.len() == before {
                    let range = stmt.range;
                    let inner = std::mem::take(body);
                    body.push(step(inner, range, before));
                    loops.push(range);
                }
                add_to_block(orelse, loops);
            }
            StmtKind::If { body, orelse, .. } => {
                add_to_block(body, loops);
                add_to_block(orelse, loops);
            }
            StmtKind::With { body, .. } => add_to_block(body, loops),
            StmtKind::Try(it) => {
                add_to_block(&mut it.body, loops);
                for handler in &mut it.handlers {
                    add_to_block(&mut handler.body, loops);
                }
                add_to_block(&mut it.orelse, loops);
                add_to_block(&mut it.finally, loops);
            }
            _ => {}
        }
    }
}

fn name(text: &str, range: Range) -> Expr {
    Expr { range, kind: ExprKind::Name(Sym::new(text)) }
}

/// `with step: body`. Errors of the `with` itself point at the first statement inside.
fn step(body: Vec<Stmt>, range: Range, at: usize) -> Stmt {
    let range = body.first().map_or(range, |it| it.range);
    let guard = name(&step_name(at), range);
    Stmt { range, kind: StmtKind::With { items: vec![(guard, None)], body } }
}

/// One step around everything; the value of a last expression is kept for the cell.
fn whole(module: &mut Module) {
    let mut body = std::mem::take(&mut module.body);
    let range = body.first().map(|it| it.range).unwrap_or_default();
    let last = body.last_mut().and_then(|it| match &mut it.kind {
        StmtKind::Expr(expr) => {
            let range = expr.range;
            let value = std::mem::replace(expr, name(VALUE, range));
            it.kind = StmtKind::Assign { targets: vec![name(VALUE, range)], value };
            Some(range)
        }
        _ => None,
    });
    module.body.push(step(body, range, 0));
    if let Some(range) = last {
        module.body.push(Stmt { range, kind: StmtKind::Expr(name(VALUE, range)) });
    }
}

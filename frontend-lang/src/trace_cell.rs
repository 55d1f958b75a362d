//! `%trace` for a whole cell: the body of each loop of the cell is a traced step.
//!
//! A step is a statement of its own around the body, which `break`, `continue` and exceptions end as they should. What feeds the loop
//! (its iterator) stays outside and runs eagerly. Of loops inside each other the outer one is the step, unless it spends its ops in the
//! inner one: see [`crate::trace::Step`]. A cell without a loop is one step as a whole.

use crate::ast::{Expr, ExprKind, Module, Range, Stmt, StmtKind};
use crate::sym::Sym;

/// The name that holds the value of the last expression of a cell that is one step.
pub const VALUE: &str = "__trace_value__";

/// A step of a cell.
pub struct StepOf {
    /// The loop whose body it is; `None` for one that is the whole cell.
    pub of_loop: Option<Range>,
    /// The step around it, by its number.
    pub outer: Option<usize>,
}

/// The global name of step number `at`.
pub fn step_name(at: usize) -> String {
    format!("__trace_step_{at}__")
}

/// Puts the steps into a cell.
pub fn add_steps(module: &mut Module) -> Vec<StepOf> {
    let mut steps = Vec::new();
    add_to_block(&mut module.body, None, &mut steps);
    if steps.is_empty() && !module.body.is_empty() {
        whole(module);
        return vec![StepOf { of_loop: None, outer: None }];
    }
    steps
}

/// Looks for loops in a block of the cell itself; functions and classes keep theirs.
fn add_to_block(block: &mut [Stmt], outer: Option<usize>, steps: &mut Vec<StepOf>) {
    for stmt in block {
        let range = stmt.range;
        if let StmtKind::For { body, .. } | StmtKind::While { body, .. } = &mut stmt.kind {
            let at = steps.len();
            steps.push(StepOf { of_loop: Some(range), outer });
            add_to_block(body, Some(at), steps);
            let inner = body.split_off(n_feeding(body));
            body.push(step(inner, range, at));
        }
        each_block(stmt, &mut |it| add_to_block(it, outer, steps));
    }
}

/// How many statements a body begins with that only take out what it works on: `x, y = X[i:i + 20], Y[i:i + 20]`. They are no part of the step:
/// that would be another graph in each round.
fn n_feeding(body: &[Stmt]) -> usize {
    let n = body.iter().take_while(|it| is_feeding(it)).count();
    if n < body.len() { n } else { 0 }
}

fn is_feeding(stmt: &Stmt) -> bool {
    let StmtKind::Assign { targets, value } = &stmt.kind else { return false };
    let is_name = |it: &Expr| matches!(it.kind, ExprKind::Name(_));
    let is_target = |it: &Expr| match &it.kind {
        ExprKind::Tuple(items) => items.iter().all(is_name),
        _ => is_name(it),
    };
    let is_part = |it: &Expr| match &it.kind {
        ExprKind::Subscript { value, index } => is_name(value) && has_name(index),
        _ => false,
    };
    let is_value = match &value.kind {
        ExprKind::Tuple(items) => items.iter().all(is_part),
        _ => is_part(value),
    };
    targets.iter().all(is_target) && is_value
}

/// Whether an index is computed from names, without a call.
fn has_name(index: &Expr) -> bool {
    match &index.kind {
        ExprKind::Name(_) => true,
        ExprKind::Slice { start, stop, step } => {
            [start, stop, step].into_iter().flatten().any(|it| has_name(it))
        }
        ExprKind::Binary { left, right, .. } => has_name(left) || has_name(right),
        ExprKind::Tuple(items) => items.iter().any(has_name),
        _ => false,
    }
}

/// The blocks of a statement that belong to its cell, but for the bodies of loops.
fn each_block(stmt: &mut Stmt, visit: &mut dyn FnMut(&mut Vec<Stmt>)) {
    match &mut stmt.kind {
        StmtKind::For { orelse, .. } | StmtKind::While { orelse, .. } => visit(orelse),
        StmtKind::If { body, orelse, .. } => {
            visit(body);
            visit(orelse);
        }
        StmtKind::With { body, .. } => visit(body),
        StmtKind::Try(it) => {
            visit(&mut it.body);
            it.handlers.iter_mut().for_each(|it| visit(&mut it.body));
            visit(&mut it.orelse);
            visit(&mut it.finally);
        }
        StmtKind::Match { cases, .. } => cases.iter_mut().for_each(|it| visit(&mut it.body)),
        _ => {}
    }
}

/// Whether a `break` in a block ends the loop whose body that is.
fn breaks(block: &mut [Stmt]) -> bool {
    let mut found = false;
    for stmt in block {
        found |= matches!(stmt.kind, StmtKind::Break);
        each_block(stmt, &mut |it| found |= breaks(it));
    }
    found
}

fn name(text: &str, range: Range) -> Expr {
    Expr { range, kind: ExprKind::Name(Sym::new(text)) }
}

/// The step around a body. Errors of it point at the first statement inside.
fn step(mut body: Vec<Stmt>, range: Range, at: usize) -> Stmt {
    let range = body.first().map_or(range, |it| it.range);
    let step = name(&step_name(at), range);
    let breaks = breaks(&mut body);
    Stmt { range, kind: StmtKind::Step { step, body, breaks } }
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

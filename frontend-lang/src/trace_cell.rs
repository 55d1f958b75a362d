//! `%trace` for a whole cell: the body of each loop of the cell is a traced step.
//!
//! A step is a statement of its own around the body, which `break`, `continue` and exceptions end as they should. What feeds the loop
//! (its iterator) stays outside and runs eagerly. Of loops inside each other the outer one is the step, unless it spends its ops in the
//! inner one: see [`crate::trace::Step`]. A cell without a loop is one step as a whole. Functions have steps in a version of their code
//! that only runs while steps are looked for in what a cell calls ([`add_to_functions`]).

use std::rc::Rc;

use crate::ast::{Expr, ExprKind, Module, Range, Stmt, StmtKind};
use crate::source::SourceId;
use crate::sym::Sym;

/// The name that holds the value of the last expression of a cell that is one step.
pub const VALUE: &str = "__trace_value__";

/// A step of a cell.
pub struct StepOf {
    /// The loop whose body it is; `None` for one that is the whole cell.
    pub of_loop: Option<Range>,
    /// The step around it, by its number.
    pub outer: Option<usize>,
    /// Whether the loop is one of a function.
    pub of_function: bool,
}

/// The steps that a tree gets.
struct Steps<'a> {
    list: Vec<StepOf>,
    /// The source whose functions get them, and whether what stands somewhere in it trains; `None` where a cell itself gets them.
    functions: Option<(SourceId, &'a dyn Fn(Range) -> bool)>,
}

/// The global name of step number `at`.
pub fn step_name(at: usize) -> String {
    format!("__trace_step_{at}__")
}

/// The global name of step number `at` of the functions in a source.
pub fn function_step_name(source: SourceId, at: usize) -> String {
    format!("__trace_step_{}_{at}__", source.0)
}

/// Puts the steps into a cell.
pub fn add_steps(module: &mut Module) -> Vec<StepOf> {
    let mut steps = Steps { list: Vec::new(), functions: None };
    steps.add_to_block(&mut module.body, None);
    if steps.list.is_empty() && !module.body.is_empty() {
        whole(module);
        return vec![StepOf { of_loop: None, outer: None, of_function: false }];
    }
    steps.list
}

/// Puts steps into the functions of a source, and of its classes: the bodies of loops that train. A loop that a `return` leaves is none.
pub fn add_to_functions(
    module: &mut Module,
    source: SourceId,
    trains: &dyn Fn(Range) -> bool,
) -> Vec<StepOf> {
    let mut steps = Steps { list: Vec::new(), functions: Some((source, trains)) };
    steps.add_to_functions(&mut module.body);
    steps.list
}

impl Steps<'_> {
    fn add_to_functions(&mut self, block: &mut [Stmt]) {
        for stmt in block {
            match &mut stmt.kind {
                StmtKind::Function { function, .. } => {
                    let Some(function) = Rc::get_mut(function) else { continue };
                    self.add_to_functions(&mut function.body);
                    if !function.is_generator {
                        self.add_to_block(&mut function.body, None);
                    }
                }
                StmtKind::Class(it) => {
                    if let Some(class) = Rc::get_mut(it) {
                        self.add_to_functions(&mut class.body);
                    }
                }
                StmtKind::For { body, .. } | StmtKind::While { body, .. } => {
                    self.add_to_functions(body);
                    each_block(stmt, &mut |it| self.add_to_functions(it));
                }
                _ => each_block(stmt, &mut |it| self.add_to_functions(it)),
            }
        }
    }

    /// Looks for loops in a block, but not in functions and classes that it makes.
    fn add_to_block(&mut self, block: &mut [Stmt], outer: Option<usize>) {
        for stmt in block {
            let range = stmt.range;
            if let StmtKind::For { body, .. } | StmtKind::While { body, .. } = &mut stmt.kind {
                let trains = self.functions.is_none_or(|it| it.1(range));
                if has_return(body) || !trains {
                    self.add_to_block(body, outer);
                } else {
                    self.add_to_loop(body, range, outer);
                }
            }
            each_block(stmt, &mut |it| self.add_to_block(it, outer));
        }
    }

    fn add_to_loop(&mut self, body: &mut Vec<Stmt>, range: Range, outer: Option<usize>) {
        let at = self.list.len();
        let of_function = self.functions.is_some();
        self.list.push(StepOf { of_loop: Some(range), outer, of_function });
        self.add_to_block(body, Some(at));
        let name = match self.functions {
            Some((source, _)) => function_step_name(source, at),
            None => step_name(at),
        };
        let inner = body.split_off(n_feeding(body));
        body.push(step(inner, range, &name));
    }
}

/// Whether a `return` leaves a block.
fn has_return(block: &mut [Stmt]) -> bool {
    block.iter_mut().any(|stmt| {
        let mut found = match &mut stmt.kind {
            StmtKind::Return(_) => true,
            StmtKind::For { body, .. } | StmtKind::While { body, .. } => has_return(body),
            _ => false,
        };
        each_block(stmt, &mut |it| found |= has_return(it));
        found
    })
}

/// How many statements a body begins with that only take out what it works on: `x, y = X[i:i + 20], Y[i:i + 20]`, `x, y = batch`,
/// `x = batch["x"]`. They are no part of the step: that would be another graph, or another container, in each round.
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
        ExprKind::Subscript { value, index } => {
            is_name(value) && (has_name(index) || matches!(index.kind, ExprKind::Str(_)))
        }
        _ => false,
    };
    let is_unpacked = targets.iter().all(|it| matches!(it.kind, ExprKind::Tuple(_)));
    let is_value = match &value.kind {
        ExprKind::Tuple(items) => items.iter().all(is_part),
        ExprKind::Name(_) => is_unpacked,
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
fn step(mut body: Vec<Stmt>, range: Range, own: &str) -> Stmt {
    let range = body.first().map_or(range, |it| it.range);
    let step = name(own, range);
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
    module.body.push(step(body, range, &step_name(0)));
    if let Some(range) = last {
        module.body.push(Stmt { range, kind: StmtKind::Expr(name(VALUE, range)) });
    }
}

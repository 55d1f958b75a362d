//! Magic lines and shell lines inside blocks, and on the right of `=`: calls of `get_ipython()`, which IPython makes of them, too.

use ruff_python_ast as py;

use super::Lower;
use crate::ast::*;
use crate::sym::Sym;

impl Lower<'_> {
    /// `%name rest` or `!command` as a statement.
    pub(super) fn command(&mut self, node: &py::StmtIpyEscapeCommand) -> Option<StmtKind> {
        let range = self.range(node);
        let text = |it: &str| text(range, it);
        let call = match node.kind {
            py::IpyEscapeKind::Magic => {
                let (name, rest) = name_and_rest(&node.value);
                call(range, "run_line_magic", vec![text(name), text(rest)])
            }
            py::IpyEscapeKind::Shell | py::IpyEscapeKind::ShCap => {
                call(range, "system", vec![text(&node.value)])
            }
            _ => {
                self.refuse(
                    node,
                    "such a line here is",
                    "ask for help on a line of its own, outside of blocks",
                );
                return None;
            }
        };
        Some(StmtKind::Expr(call))
    }

    /// The right side of `targets = %name rest` or `targets = !command`.
    pub(super) fn assigned(&mut self, targets: &[py::Expr], value: &py::Expr) -> Expr {
        let py::Expr::IpyEscapeCommand(node) = value else { return self.expr(value) };
        let range = self.range(node);
        let names: Vec<String> = targets.iter().map(|it| self.source_text(it)).collect();
        let names = names.join(" = ");
        let (name, rest) = name_and_rest(&node.value);
        let parts = match node.kind {
            py::IpyEscapeKind::Magic => ["%", name, rest],
            _ => ["!", "", &node.value],
        };
        let args = [names.as_str()].into_iter().chain(parts);
        call(range, "_assigned", args.map(|it| text(range, it)).collect())
    }
}

/// `get_ipython().method(args)`.
fn call(range: Range, method: &str, args: Vec<Expr>) -> Expr {
    let node = |kind| Expr { range, kind };
    let shell = node(ExprKind::Name(Sym::of("get_ipython")));
    let shell = node(ExprKind::Call { func: Box::new(shell), args: Vec::new() });
    let func =
        ExprKind::Attribute { value: Box::new(shell), name: Sym::new(method), name_range: range };
    let args = args.into_iter().map(Arg::Positional).collect();
    node(ExprKind::Call { func: Box::new(node(func)), args })
}

fn text(range: Range, text: &str) -> Expr {
    Expr { range, kind: ExprKind::Str(text.to_owned()) }
}

fn name_and_rest(line: &str) -> (&str, &str) {
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    (name, rest.trim())
}

//! Patterns of `match`.

use ruff_python_ast as py;

use super::Lower;
use crate::ast::*;
use crate::sym::Sym;

impl Lower<'_> {
    pub(super) fn case(&mut self, node: &py::MatchCase) -> Case {
        Case {
            pattern: self.pattern(&node.pattern),
            guard: node.guard.as_ref().map(|it| self.expr(it)),
            body: self.block(&node.body),
        }
    }

    fn pattern(&mut self, node: &py::Pattern) -> Pattern {
        let kind = if self.descend(node) { self.pattern_kind(node) } else { PatternKind::Any };
        self.ascend();
        Pattern { range: self.range(node), kind }
    }

    fn patterns(&mut self, nodes: &[py::Pattern]) -> Vec<Pattern> {
        nodes.iter().map(|it| self.pattern(it)).collect()
    }

    fn pattern_kind(&mut self, node: &py::Pattern) -> PatternKind {
        match node {
            py::Pattern::MatchValue(it) => PatternKind::Value(self.expr(&it.value)),
            py::Pattern::MatchSingleton(it) => {
                let kind = match it.value {
                    py::Singleton::None => ExprKind::None,
                    py::Singleton::True => ExprKind::Bool(true),
                    py::Singleton::False => ExprKind::Bool(false),
                };
                PatternKind::Constant(Expr { range: self.range(it), kind })
            }
            py::Pattern::MatchSequence(it) => self.sequence(&it.patterns),
            py::Pattern::MatchMapping(it) => PatternKind::Mapping {
                keys: self.exprs(&it.keys),
                values: self.patterns(&it.patterns),
                rest: it.rest.as_ref().map(|it| self.name(it)),
            },
            py::Pattern::MatchClass(it) => PatternKind::Class {
                class: self.expr(&it.cls),
                positional: self.patterns(&it.arguments.patterns),
                keywords: it
                    .arguments
                    .keywords
                    .iter()
                    .map(|it| (self.name(&it.attr), self.pattern(&it.pattern)))
                    .collect(),
            },
            py::Pattern::MatchStar(_) => {
                self.mistake(node, "a star pattern stands inside a sequence pattern");
                PatternKind::Any
            }
            py::Pattern::MatchAs(it) => {
                let name = it.name.as_ref().map(|it| self.name(it));
                match (&it.pattern, name) {
                    (Some(pattern), Some(name)) => {
                        PatternKind::As(Box::new(self.pattern(pattern)), name)
                    }
                    (None, Some(name)) => PatternKind::Capture(name),
                    _ => PatternKind::Any,
                }
            }
            py::Pattern::MatchOr(it) => PatternKind::Or(self.patterns(&it.patterns)),
        }
    }

    fn sequence(&mut self, nodes: &[py::Pattern]) -> PatternKind {
        let star = nodes.iter().position(|it| matches!(it, py::Pattern::MatchStar(_)));
        let Some(at) = star else {
            return PatternKind::Sequence(self.patterns(nodes), None, Vec::new());
        };
        let name: Option<Sym> = match &nodes[at] {
            py::Pattern::MatchStar(it) => it.name.as_ref().map(|it| self.name(it)),
            _ => None,
        };
        let before = self.patterns(&nodes[..at]);
        PatternKind::Sequence(before, Some(name), self.patterns(&nodes[at + 1..]))
    }
}

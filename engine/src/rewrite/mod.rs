//! Rewriting: passes are rows of rules; the driver alone edits graphs.

pub mod pattern;
pub mod run;

#[cfg(test)]
pub(crate) mod tests;

use crate::graph::{Graph, NodeId, Value};
use crate::{Attrs, Number, OpDef, Tensor};

/// One pass. Every pass also merges equal nodes and drops those that nothing needs, since the driver rebuilds the graph.
pub struct Pass {
    /// `kebab-case`, verb first.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub doc: &'static str,
    /// The least `opt_level` at which it runs.
    pub level: u8,
    /// Tried in order at every node.
    pub rules: &'static [Rule],
}

/// One rewriting rule.
pub struct Rule {
    /// `kebab-case`.
    pub name: &'static str,
    /// What it looks for and proposes.
    pub body: RuleBody,
}

/// How a rule is written.
pub enum RuleBody {
    /// `(neg (neg ?x))` becomes `?x`. Shapes and dtypes must come out the same, or the rule does not apply.
    Text { from: &'static str, to: &'static str },
    /// Proposes something in place of output 0 of the node.
    Code(fn(&Graph, NodeId) -> Option<Replacement>),
}

/// What a rule proposes.
pub enum Replacement {
    /// A value that is there already.
    Value(Value),
    /// A number.
    Number(Number),
    /// A tensor as part of the graph.
    Const(Tensor),
    /// An application.
    Apply { op: &'static OpDef, attrs: Attrs, inputs: Vec<Replacement> },
}

impl Rule {
    /// A rule in text.
    pub const fn new(name: &'static str, from: &'static str, to: &'static str) -> Self {
        Self { name, body: RuleBody::Text { from, to } }
    }

    /// A rule in code.
    pub const fn code(name: &'static str, rule: fn(&Graph, NodeId) -> Option<Replacement>) -> Self {
        Self { name, body: RuleBody::Code(rule) }
    }
}

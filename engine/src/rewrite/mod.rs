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
    /// Looks at the whole graph, with who uses what, and proposes something in place of these values. A proposal names values that come
    /// before the one it replaces.
    Whole(fn(&Graph) -> Vec<(Value, Replacement)>),
}

/// What a rule proposes.
#[derive(Clone)]
pub enum Replacement {
    /// A value that is there already.
    Value(Value),
    /// A number.
    Number(Number),
    /// A tensor as part of the graph.
    Const(Tensor),
    /// Output 0 of an application.
    Apply { op: &'static OpDef, attrs: Attrs, inputs: Vec<Replacement> },
    /// Another output of the application that this proposes.
    Output { of: Box<Replacement>, output: u32 },
}

impl Replacement {
    /// The same with other values in the place of its own; `None` if one has no other.
    fn moved(self, to: &impl Fn(Value) -> Option<Value>) -> Option<Self> {
        Some(match self {
            Self::Value(it) => Self::Value(to(it)?),
            Self::Number(_) | Self::Const(_) => self,
            Self::Apply { op, attrs, inputs } => {
                let inputs = inputs.into_iter().map(|it| it.moved(to)).collect::<Option<_>>()?;
                Self::Apply { op, attrs, inputs }
            }
            Self::Output { of, output } => Self::Output { of: Box::new(of.moved(to)?), output },
        })
    }
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

    /// A rule that looks at whole graphs.
    pub const fn whole(name: &'static str, rule: fn(&Graph) -> Vec<(Value, Replacement)>) -> Self {
        Self { name, body: RuleBody::Whole(rule) }
    }
}

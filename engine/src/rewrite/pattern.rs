//! Patterns: `(mul ?x 1)` as text, and matching them with graph nodes.
//!
//! Numbers match numbers of the language by exact value (`0` does not match -0.0). An op matches with default attributes.

use smallvec::SmallVec;

use super::Replacement;
use crate::graph::{Graph, Kind, Value, parse::find_op};
use crate::{Number, OpDef};

/// A parsed pattern.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// `?x`: anything; the same value wherever the name stands.
    Var(String),
    /// A number.
    Number(Number),
    /// An application.
    Op(&'static OpDef, Vec<Pattern>),
}

/// What the variables of a pattern stand for.
pub type Bindings = SmallVec<[(String, Value); 4]>;

impl Pattern {
    /// Parses a pattern; the error says what is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let spaced = text.replace('(', " ( ").replace(')', " ) ");
        let all: Vec<&str> = spaced.split_whitespace().collect();
        let mut tokens = all.as_slice();
        let pattern = one(&mut tokens)?;
        match tokens.first() {
            None => Ok(pattern),
            Some(it) => Err(format!("`{it}` follows the pattern `{text}`")),
        }
    }

    /// The variables for which the pattern is `value`.
    pub fn matches(&self, graph: &Graph, value: Value) -> Option<Bindings> {
        let mut bindings = Bindings::new();
        self.bind(graph, value, &mut bindings).then_some(bindings)
    }

    /// The pattern with its variables filled in.
    pub fn fill(&self, bindings: &Bindings) -> Option<Replacement> {
        Some(match self {
            Self::Var(name) => {
                Replacement::Value(bindings.iter().find(|it| &it.0 == name).map(|it| it.1)?)
            }
            Self::Number(number) => Replacement::Number(*number),
            Self::Op(op, args) => Replacement::Apply {
                op,
                attrs: op.default_attrs(),
                inputs: args.iter().map(|it| it.fill(bindings)).collect::<Option<_>>()?,
            },
        })
    }

    fn bind(&self, graph: &Graph, value: Value, bindings: &mut Bindings) -> bool {
        match (self, &graph.node(value.node).kind) {
            (Self::Var(name), _) => match bindings.iter().find(|it| &it.0 == name) {
                Some((_, bound)) => *bound == value,
                None => {
                    bindings.push((name.clone(), value));
                    true
                }
            },
            (Self::Number(want), Kind::Number(have)) => {
                want.as_f64().to_bits() == have.as_f64().to_bits()
            }
            (Self::Op(want, args), Kind::Op { op, attrs, inputs }) => {
                want == op
                    && value.output == 0
                    && args.len() == inputs.len()
                    && *attrs == op.default_attrs()
                    && args.iter().zip(inputs).all(|(arg, &it)| arg.bind(graph, it, bindings))
            }
            _ => false,
        }
    }
}

/// Takes one pattern off the front of the tokens.
fn one(tokens: &mut &[&str]) -> Result<Pattern, String> {
    let (token, rest) = tokens.split_first().ok_or("the pattern ends early")?;
    *tokens = rest;
    if *token == "(" {
        return application(tokens);
    }
    if let Some(name) = token.strip_prefix('?') {
        return Ok(Pattern::Var(name.to_owned()));
    }
    if let Ok(it) = token.parse::<i64>() {
        let negative_zero = it == 0 && token.starts_with('-');
        let number = if negative_zero { Number::Float(-0.0) } else { Number::Int(it) };
        return Ok(Pattern::Number(number));
    }
    let number = token.parse().map_err(|_| format!("`{token}` is no part of a pattern"))?;
    Ok(Pattern::Number(Number::Float(number)))
}

fn application(tokens: &mut &[&str]) -> Result<Pattern, String> {
    let (name, rest) = tokens.split_first().ok_or("the pattern ends early")?;
    *tokens = rest;
    let op = find_op(name).ok_or_else(|| format!("unknown op `{name}`"))?;
    let mut args = Vec::new();
    while tokens.first() != Some(&")") {
        args.push(one(tokens)?);
    }
    *tokens = &tokens[1..];
    Ok(Pattern::Op(op, args))
}

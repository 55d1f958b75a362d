//! Static graphs: nodes, their text form, what makes one legal, and a slow evaluator that gives them meaning.

pub mod describe;
pub mod node;
pub mod parse;
pub mod reference;
pub mod text;
pub mod verify;

#[cfg(test)]
mod tests;

pub use node::{Graph, Kind, Node, NodeId, Operands, Phase, Value};

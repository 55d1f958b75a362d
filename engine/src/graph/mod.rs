//! Static graphs: nodes, their text form, what makes one legal, and running one without a plan.

pub mod class;
pub mod describe;
pub mod node;
pub mod op_by_op;
pub mod parse;
pub mod sizes;
pub mod text;
pub mod verify;

#[cfg(test)]
mod tests;

pub use node::{Graph, Kind, Node, NodeId, Operands, Origin, Phase, Store, Value};

//! The passes, in run order: the pipeline from a recorded graph to one that is lowered.

pub mod drop_unused;
pub mod drop_views;
pub mod fold_constants;
pub mod fold_identities;
pub mod share_equal;

use crate::Result;
use crate::graph::Graph;
use crate::rewrite::Pass;
use crate::rewrite::run::{Log, run_all};

/// Every pass, in run order.
pub static ALL: &[&Pass] = &[
    &drop_unused::PASS,
    &share_equal::PASS,
    &fold_constants::PASS,
    &fold_identities::PASS,
    &drop_views::PASS,
];

/// Runs the passes that `opt_level` asks for.
pub fn optimize(graph: Graph, opt_level: u8, log: &mut Log) -> Result<Graph> {
    run_all(ALL, graph, opt_level, log)
}
